//! The assignors' arithmetic over columns of whole numbers, in one pass: the column form of `assignors::Quota`.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, BooleanArray, downcast_integer_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

use super::layout::room;
use super::type_name::type_name;
use crate::assignors::Quota;
use crate::names::named;
use crate::{Error, Result};

/// This many rows at a time fit into the processor's nearest cache.
const BLOCK: usize = 1024;

named! {
    /// A question about partitions and members.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum QuotaRule {
        /// The number that every member has at least.
        MinQuota = "min_quota",
        /// The most that a member has.
        MaxQuota = "max_quota",
        /// Whether a member that owns a number of partitions has less than the least.
        UnderMinQuota = "under_min_quota",
        /// Whether it has more than the most.
        OverMaxQuota = "over_max_quota",
        /// Where the range of the member at a place begins.
        RangeStart = "range_start",
        /// How long it is.
        RangeLength = "range_length",
    }
}

/// A column of whole numbers of any width, or one number (a column of one row) for all rows.
#[derive(Clone, Copy, Debug)]
pub struct QuotaArgument<'a> {
    /// The column.
    pub values: &'a dyn Array,
    /// Whether its one row stands for all rows.
    pub is_one: bool,
}

/// A number out of range: the place of its argument, and its row. For the first argument, it may also be a place beyond
/// the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odd {
    /// The argument's place among the arguments.
    pub argument: usize,
    /// The row in the argument's column.
    pub row: usize,
}

/// A rule and its arguments, which are read once: what a member owns or its place, if the rule needs that, then
/// partitions and members. All columns have the same number of rows.
pub struct Quotas<'a> {
    rule: QuotaRule,
    arguments: Vec<Argument<'a>>,
    rows: usize,
}

/// An answer, or the first number out of range.
type Answered<T = ()> = std::result::Result<T, Odd>;

impl<'a> Quotas<'a> {
    /// Takes the arguments.
    ///
    /// # Errors
    /// [`Error::KeyType`] if a column does not hold whole numbers, or there are too few or too many.
    pub fn new(rule: QuotaRule, arguments: &[QuotaArgument<'a>]) -> Result<Self> {
        let expected = if matches!(rule, QuotaRule::MinQuota | QuotaRule::MaxQuota) { 2 } else { 3 };
        if arguments.len() != expected {
            return Err(Error::KeyType(format!(
                "the rule asks for {expected} columns, not {}",
                arguments.len()
            )));
        }
        // Only the number of members must not be 0.
        let arguments = arguments.iter().enumerate().map(|(at, numbers)| {
            let least = i32::from(at + 1 == expected);
            Argument::of(*numbers, least)
        });
        let arguments: Vec<Argument<'a>> = arguments.collect::<Result<_>>()?;
        let column = arguments.iter().find(|argument| !argument.is_one);
        let rows = column.map_or(1, Argument::len);
        Ok(Self { rule, arguments, rows })
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Which rows have an answer: those in which no argument is null. `None` means all.
    #[must_use]
    pub fn valid(&self) -> Option<BooleanArray> {
        self.nulls().map(|nulls| BooleanArray::new(nulls.into_inner(), None))
    }

    fn nulls(&self) -> Option<NullBuffer> {
        self.arguments.iter().fold(None, |nulls, argument| {
            let own = match argument.nulls {
                Some(nulls) if argument.is_one => {
                    (nulls.null_count() > 0).then(|| NullBuffer::new_null(self.rows))
                }
                nulls => nulls.cloned(),
            };
            NullBuffer::union(nulls.as_ref(), own.as_ref())
        })
    }

    /// Whether a single number is out of range; a column without rows is not read.
    ///
    /// # Errors
    /// That number.
    pub fn check(&self) -> Answered {
        let odd = self.arguments.iter().any(|argument| argument.is_one && argument.number(0).is_none());
        if odd { Err(self.odd()) } else { Ok(()) }
    }

    /// Writes the answers of as many rows as `room` has, from a row on; nulls may get any number. It is for the rules
    /// that return numbers.
    ///
    /// # Errors
    /// The first number out of range.
    pub fn numbers(&self, from: usize, room: &mut [i32]) -> Answered {
        match self.rule {
            QuotaRule::MaxQuota => self.write(from, room, |_, quota| quota.most()),
            QuotaRule::RangeStart => self.write(from, room, |place, quota| quota.start(place)),
            QuotaRule::RangeLength => self.write(from, room, |place, quota| quota.length(place)),
            _ => self.write(from, room, |_, quota| quota.least),
        }
    }

    fn write(&self, from: usize, room: &mut [i32], rule: impl Fn(u32, Quota) -> u32) -> Answered {
        let mut blocks = Blocks::new(self);
        for (at, room) in room.chunks_mut(BLOCK).enumerate() {
            let block = blocks.read(from + at * BLOCK, room.len())?;
            for (room, (first, quota)) in room.iter_mut().zip(block.rows()) {
                *room = rule(first, quota).cast_signed();
            }
        }
        Ok(())
    }

    /// The answers of a rule that says yes or no.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room for them, and the first number out of range.
    pub fn flags(&self) -> Result<Answered<BooleanArray>> {
        let mut words: Vec<u64> = room(self.rows.div_ceil(64))?;
        let done = match self.rule {
            QuotaRule::OverMaxQuota => self.pack(&mut words, |owned, quota| owned > quota.most()),
            _ => self.pack(&mut words, |owned, quota| owned < quota.least),
        };
        let flags = || BooleanBuffer::new(Buffer::from_vec(words), 0, self.rows);
        Ok(done.map(|()| BooleanArray::new(flags(), self.nulls())))
    }

    fn pack(&self, words: &mut Vec<u64>, rule: impl Fn(u32, Quota) -> bool) -> Answered {
        let mut blocks = Blocks::new(self);
        for from in (0..self.rows).step_by(BLOCK) {
            let block = blocks.read(from, BLOCK.min(self.rows - from))?;
            let mut flags = [false; BLOCK];
            for (flag, (first, quota)) in flags.iter_mut().zip(block.rows()) {
                *flag = rule(first, quota);
            }
            for flags in flags[..block.members.len()].chunks(64) {
                let bits = flags.iter().enumerate().map(|(bit, &flag)| u64::from(flag) << bit);
                words.push(bits.fold(0, |word, bit| word | bit));
            }
        }
        Ok(())
    }

    /// The first number out of range, in the first argument that has one.
    fn odd(&self) -> Odd {
        for (at, argument) in self.arguments.iter().enumerate() {
            if let Some(row) = (0..argument.len()).find(|&row| argument.number(row).is_none()) {
                return Odd { argument: at, row };
            }
        }
        let row = (0..self.rows).find(|&row| self.is_no_place(row)).unwrap_or(0);
        Odd { argument: 0, row }
    }

    /// Whether a row's place is known, and beyond its members.
    fn is_no_place(&self, row: usize) -> bool {
        let known = |argument: &Argument<'_>| {
            let row = if argument.is_one { 0 } else { row };
            argument.number(row).filter(|_| !argument.is_null(row))
        };
        let places = matches!(self.rule, QuotaRule::RangeStart | QuotaRule::RangeLength);
        match &self.arguments[..] {
            [place, _, members] if places => {
                matches!((known(place), known(members)), (Some(place), Some(members)) if place >= members)
            }
            _ => false,
        }
    }
}

/// An argument, whose numbers are read a block at a time.
struct Argument<'a> {
    numbers: Numbers<'a>,
    nulls: Option<&'a NullBuffer>,
    is_one: bool,
    least: i32,
}

/// A column of int32, which is read in place, or of int64, like Python's whole numbers; one of another width is copied.
enum Numbers<'a> {
    Ints(&'a [i32]),
    Longs(Cow<'a, [i64]>),
}

impl<'a> Argument<'a> {
    fn of(argument: QuotaArgument<'a>, least: i32) -> Result<Self> {
        let QuotaArgument { values, is_one } = argument;
        let nulls = values.nulls();
        let numbers = if let Some(values) = values.as_primitive_opt::<Int32Type>() {
            Numbers::Ints(values.values())
        } else if let Some(values) = values.as_primitive_opt::<Int64Type>() {
            Numbers::Longs(Cow::Borrowed(values.values()))
        } else {
            // A number that does not even fit into a long is out of range as well.
            Numbers::Longs(downcast_integer_array!(
                values => values.values().iter().map(|&value| i64::try_from(i128::from(value)).unwrap_or(i64::MAX)).collect(),
                other => {
                    return Err(Error::KeyType(format!("a quota is of whole numbers, not {}", type_name(other))));
                }
            ))
        };
        Ok(Self { numbers, nulls, is_one, least })
    }

    fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Ints(numbers) => numbers.len(),
            Numbers::Longs(numbers) => numbers.len(),
        }
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// Its numbers in a block of rows, perhaps in `room`; none if one is out of range. A null may be any number in
    /// range.
    fn read<'r>(&'r self, from: usize, room: &'r mut [i32]) -> Option<&'r [i32]> {
        if self.is_one {
            room.fill(self.number(0)?);
            return Some(room);
        }
        let rows = from..from + room.len();
        if self.fit(rows.clone()) {
            match &self.numbers {
                Numbers::Ints(numbers) => return Some(&numbers[rows]),
                Numbers::Longs(numbers) => {
                    for (number, &value) in room.iter_mut().zip(&numbers[rows]) {
                        *number = int(value);
                    }
                }
            }
            return Some(room);
        }
        // Perhaps a null hides a number out of range, so each number is checked.
        for (row, number) in (from..).zip(&mut *room) {
            *number = self.number(row)?;
        }
        Some(room)
    }

    /// Whether the numbers of some rows are from `least` to the largest `int`.
    fn fit(&self, rows: Range<usize>) -> bool {
        match &self.numbers {
            // A set sign bit means a number below 0 or below `least`.
            Numbers::Ints(numbers) => {
                let numbers = numbers[rows].iter();
                numbers.fold(0, |signs, &number| signs | number | number.wrapping_sub(self.least)) >= 0
            }
            // If one of the two differences wraps around, the other one is negative.
            Numbers::Longs(numbers) => {
                let (least, most) = (i64::from(self.least), i64::from(i32::MAX));
                let outside = |number: i64| number.wrapping_sub(least) | most.wrapping_sub(number);
                numbers[rows].iter().fold(0, |signs, &number| signs | outside(number)) >= 0
            }
        }
    }

    /// One number, `least` for a null; none if it is out of range.
    fn number(&self, row: usize) -> Option<i32> {
        if self.is_null(row) {
            return Some(self.least);
        }
        self.fit(row..row + 1).then(|| match &self.numbers {
            Numbers::Ints(numbers) => numbers[row],
            Numbers::Longs(numbers) => int(numbers[row]),
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the numbers fit")]
fn int(number: i64) -> i32 {
    number as i32
}

/// The arguments, a block at a time, and the room for their numbers.
struct Blocks<'q, 'a> {
    quotas: &'q Quotas<'a>,
    first: [i32; BLOCK],
    partitions: [i32; BLOCK],
    members: [i32; BLOCK],
}

/// The arguments in a block of rows.
struct ArgumentBlock<'b> {
    first: &'b [i32],
    partitions: &'b [i32],
    members: &'b [i32],
}

impl<'q, 'a> Blocks<'q, 'a> {
    fn new(quotas: &'q Quotas<'a>) -> Self {
        Self { quotas, first: [0; BLOCK], partitions: [0; BLOCK], members: [0; BLOCK] }
    }

    /// Some rows from a row on, at most a block; all numbers are in range.
    fn read(&mut self, from: usize, rows: usize) -> Answered<ArgumentBlock<'_>> {
        let quotas = self.quotas;
        let (first, [partitions, members]) = match &quotas.arguments[..] {
            [first, partitions, members] => (Some(first), [partitions, members]),
            [partitions, members] => (None, [partitions, members]),
            _ => return Err(quotas.odd()),
        };
        let room = &mut self.first[..rows];
        let block = match first {
            Some(first) => first.read(from, room),
            None => Some(&*room),
        };
        let partitions = partitions.read(from, &mut self.partitions[..rows]);
        let members = members.read(from, &mut self.members[..rows]);
        let (Some(first), Some(partitions), Some(members)) = (block, partitions, members) else {
            return Err(quotas.odd());
        };
        let is_of_place = matches!(quotas.rule, QuotaRule::RangeStart | QuotaRule::RangeLength);
        if is_of_place
            && first.iter().zip(members).any(|(place, members)| place >= members)
            && (from..from + rows).any(|row| quotas.is_no_place(row))
        {
            return Err(quotas.odd());
        }
        Ok(ArgumentBlock { first, partitions, members })
    }
}

impl ArgumentBlock<'_> {
    fn rows(&self) -> impl Iterator<Item = (u32, Quota)> {
        let shared = self.partitions.iter().zip(self.members);
        self.first.iter().zip(shared).map(|(first, (partitions, members))| {
            (first.cast_unsigned(), Quota::of(partitions.cast_unsigned(), members.cast_unsigned()))
        })
    }
}
