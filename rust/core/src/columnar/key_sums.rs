//! Records added up by key and partition, batch after batch, in a hash table that stays between batches.

use std::cmp::Reverse;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, StructArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use rustc_hash::FxHasher;

use super::keys::key_column;
use super::slots::{NO_NUMBER, Slots, touch};
use super::timeline::struct_of;
use crate::hashing::murmur2;
use crate::{Error, Result};

/// A row for each pair of a key and a partition, in the order in which they were first seen.
///
/// | column | holds |
/// | --- | --- |
/// | `partition`: int64 | null for records in no partition |
/// | `key`: binary | the key's bytes; records without a key are left out |
/// | `rows`: int64 | how many records |
/// | `bytes`: int64 | the sum of their sizes |
/// | `first`, `last`: int64 | the earliest and the latest time |
/// | `first_offset`, `last_offset`: int64 | the smallest and the largest offset |
///
/// The last five are null if nothing is known of a pair.
///
/// ```
/// use arrow_array::{BinaryArray, Int64Array};
/// use partwright_core::columnar::{KeySums, Measures};
/// let mut sums = KeySums::default();
/// for _ in 0..2 {
///     let keys = BinaryArray::from(vec![&b"TT0124"[..], b"N14228", b"TT0124"]);
///     sums.add(&keys, &Int64Array::from(vec![10, 8, 10]), &Measures::default())?;
/// }
/// assert_eq!(sums.pairs(), 2);
/// assert_eq!(**sums.batches()?[0].column(2), Int64Array::from(vec![4, 2]));
/// # Ok::<(), partwright_core::Error>(())
/// ```
#[derive(Default)]
pub struct KeySums {
    /// The pairs' numbers.
    slots: Slots,
    pairs: Vec<Pair>,
    /// The bytes of all pairs' keys, one after the other.
    keys: Vec<u8>,
    /// In the order of [`SUMS`]; each as long as the pairs, or empty if no batch had such a column.
    sums: [Vec<Option<i64>>; 5],
}

/// The other columns of the rows, apart from keys and partitions, each as int64. Rows are records or sums of
/// records.
#[derive(Clone, Copy, Default)]
pub struct Measures<'a> {
    /// How many records a row stands for, never null; by default one.
    pub rows: Option<&'a dyn Array>,
    /// The values of the sums, in their order: a record's size, its time twice, its offset twice.
    pub sums: [Option<&'a dyn Array>; 5],
}

/// Without an `Option` it has 32 bytes, so that two share a cache line.
struct Pair {
    partition: i64,
    rows: i64,
    key_starts: usize,
    key_length: u32,
    is_in_partition: bool,
}

/// A partition, a key and how many records.
type SumRow<'a> = (Option<i64>, &'a [u8], i64);

/// How a record's value changes a sum.
type SumChange = fn(i64, i64) -> i64;

/// The sums by name.
const SUMS: [(&str, SumChange); 5] = [
    ("bytes", i64::wrapping_add),
    ("first", |sum, value| sum.min(value)),
    ("last", |sum, value| sum.max(value)),
    ("first_offset", |sum, value| sum.min(value)),
    ("last_offset", |sum, value| sum.max(value)),
];

/// A binary column has at most 2 GiB.
const MOST_BYTES: usize = 1 << 30;

/// This many rows are looked up before the first one is compared, so that their memory accesses overlap.
const AT_ONCE: usize = 256;

impl KeySums {
    /// How many pairs of a key and a partition there are.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// How many bytes their keys have.
    pub fn key_bytes(&self) -> usize {
        self.keys.len()
    }

    /// Takes some rows. After an error some of them have been taken.
    ///
    /// # Errors
    /// Those of [`key_column`], [`Error::Malformed`], and [`Error::KeyType`] for another column that is not int64 or
    /// has not as many rows as the keys.
    pub fn add(&mut self, keys: &dyn Array, partitions: &dyn Array, measures: &Measures) -> Result<()> {
        let partitions = numbers(partitions, keys.len())?;
        let rows = measures.rows.map(|rows| numbers(rows, keys.len())).transpose()?;
        let mut columns = [None; SUMS.len()];
        for (column, sums) in columns.iter_mut().zip(measures.sums) {
            *column = sums.map(|sums| numbers(sums, keys.len())).transpose()?;
        }
        let keys = key_column(keys, None)?;
        let (numbers, nulls) = (partitions.values(), partitions.nulls());
        let places = self.count_all(keys.rows(), |some, appended| {
            keys.each(some, |row, key| {
                let partition = nulls.is_none_or(|nulls| nulls.is_valid(row)).then(|| numbers[row]);
                appended.push(key.map(|key| (partition, key, rows.map_or(1, |rows| rows.value(row)))));
            })
        })?;
        for (sums, (column, (_, change))) in self.sums.iter_mut().zip(columns.into_iter().zip(SUMS)) {
            take(sums, self.pairs.len(), &places, column.map(Int64Array::iter), change);
        }
        Ok(())
    }

    /// Takes another table's pairs whose keys have one of the `below` smallest of 2^32 hashes.
    ///
    /// # Errors
    /// [`Error::Memory`] if there are more pairs than 32-bit numbers, or a key has 4 GiB.
    pub fn merge(&mut self, other: &Self, below: u64) -> Result<()> {
        let places = self.count_all(other.pairs.len(), |some, appended| {
            appended.extend(other.pairs[some].iter().map(|pair| {
                let key = Some(pair.key(&other.keys)).filter(|key| is_below(key, below));
                key.map(|key| (pair.partition(), key, pair.rows))
            }));
            Ok(())
        })?;
        for ((sums, others), (_, change)) in self.sums.iter_mut().zip(&other.sums).zip(SUMS) {
            let values = (!others.is_empty()).then_some(others.iter().copied());
            take(sums, self.pairs.len(), &places, values, change);
        }
        Ok(())
    }

    /// Keeps the pairs whose keys have one of the `below` smallest of 2^32 hashes.
    pub fn keep(&mut self, below: u64) {
        let Self { slots, pairs, keys, sums } = self;
        // All in place: kept pairs and their keys' bytes move to the front, and their hashes are in the table.
        let (mut kept, mut key_starts) = (0, 0);
        let mut numbers = Vec::with_capacity(pairs.len());
        pairs.retain_mut(|pair| {
            let is_kept = is_below(pair.key(keys), below);
            numbers.push(if is_kept { kept } else { NO_NUMBER });
            if is_kept {
                keys.copy_within(pair.key_starts..pair.key_ends(), key_starts);
                pair.key_starts = key_starts;
                key_starts = pair.key_ends();
                kept += 1;
            }
            is_kept
        });
        keys.truncate(key_starts);
        for sums in sums {
            let mut numbers = numbers.iter();
            sums.retain(|_| numbers.next().is_some_and(|number| *number != NO_NUMBER));
        }
        slots.renumber(|pair| Some(numbers[pair as usize]).filter(|number| *number != NO_NUMBER));
    }

    /// The pairs with the most rows, at most `most`, and how many rows each of them has got less: as many as the first
    /// pair has for which there is no room. The other sums are left out.
    ///
    /// # Errors
    /// Those of [`KeySums::merge`].
    pub fn heaviest(&self, most: usize) -> Result<(i64, Self)> {
        let mut rows: Vec<i64> = self.pairs.iter().map(|pair| pair.rows).collect();
        let less = if rows.len() > most {
            *rows.select_nth_unstable_by_key(most, |rows| Reverse(*rows)).1
        } else {
            0
        };
        let heavy: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.rows > less).collect();
        let mut heaviest = Self::default();
        heaviest.count_all(heavy.len(), |some, appended| {
            let rows = heavy[some]
                .iter()
                .map(|pair| Some((pair.partition(), pair.key(&self.keys), pair.rows - less)));
            appended.extend(rows);
            Ok(())
        })?;
        Ok((less, heaviest))
    }

    /// Removes all pairs, but keeps their room.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.pairs.clear();
        self.keys.clear();
        self.sums.iter_mut().for_each(Vec::clear);
    }

    /// All pairs, in batches of at most 1 GiB of keys.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a single key is too long for a column.
    pub fn batches(&self) -> Result<Vec<StructArray>> {
        self.batches_of(MOST_BYTES)
    }

    fn batches_of(&self, most_bytes: usize) -> Result<Vec<StructArray>> {
        let (mut batches, mut from) = (Vec::new(), 0);
        while let Some(first) = self.pairs.get(from) {
            let starts = first.key_starts;
            let fits = |pair: &Pair| pair.key_ends() - starts <= most_bytes;
            // A longer key comes alone.
            let to = from + self.pairs[from..].partition_point(fits).max(1);
            let sums = self.sums.iter().map(|sums| sums.get(from..to));
            batches.push(batch(&self.pairs[from..to], &self.keys[starts..], starts, sums)?);
            from = to;
        }
        Ok(batches)
    }

    /// Brings some pairs and the beginnings of their keys into the processor's cache. With 100,000 pairs or more this
    /// saves a fifth to a third of the time.
    fn fetch(&self, likely: &[u32]) {
        let pairs = || likely.iter().filter_map(|likely| self.pairs.get(*likely as usize));
        touch(pairs().map(|pair| pair.key_length));
        touch(pairs().filter_map(|pair| self.keys.get(pair.key_starts)).map(|byte| (*byte).into()));
    }

    /// Counts rows, some of which at a time are appended to a list. Returns their pairs' numbers, [`NO_NUMBER`] for rows
    /// without a key.
    fn count_all<'a>(
        &mut self,
        rows: usize,
        mut append: impl FnMut(Range<usize>, &mut Vec<Option<SumRow<'a>>>) -> Result<()>,
    ) -> Result<Vec<u32>> {
        let mut places = Vec::with_capacity(rows);
        let (mut some, mut hashes, mut likely) = (Vec::new(), Vec::new(), Vec::new());
        for from in (0..rows).step_by(AT_ONCE) {
            some.clear();
            append(from..rows.min(from + AT_ONCE), &mut some)?;
            // First the memory that all of these rows need, step by step for all of them: their slots, then the pairs
            // in the slots, which mostly are theirs. Any hash will do for a row without a key.
            hashes.clear();
            hashes.extend(some.iter().map(|row| row.map_or(0, |(partition, key, _)| hash(partition, key))));
            self.slots.fetch(&hashes);
            likely.clear();
            likely.extend(hashes.iter().map(|hash| self.slots.find(*hash, |_| true).unwrap_or(NO_NUMBER)));
            self.fetch(&likely);
            for ((row, hash), likely) in some.iter().zip(&hashes).zip(&likely) {
                places.push(match *row {
                    Some((partition, key, rows)) => match self.pairs.get_mut(*likely as usize) {
                        Some(pair) if pair.is(partition, key, &self.keys) => {
                            pair.rows += rows;
                            *likely
                        }
                        _ => self.count(partition, key, rows, *hash)?,
                    },
                    None => NO_NUMBER,
                });
            }
        }
        Ok(places)
    }

    /// The number of a pair, which gets more rows.
    fn count(&mut self, partition: Option<i64>, key: &[u8], rows: i64, hash: u32) -> Result<u32> {
        let Self { slots, pairs, keys, .. } = self;
        if let Some(pair) = slots.find(hash, |pair| pairs[pair as usize].is(partition, key, keys)) {
            pairs[pair as usize].rows += rows;
            return Ok(pair);
        }
        let number = u32::try_from(pairs.len()).ok().filter(|number| *number != NO_NUMBER);
        let (pair, key_length) =
            number.zip(u32::try_from(key.len()).ok()).ok_or(Error::Memory { rows: pairs.len() })?;
        pairs.push(Pair {
            partition: partition.unwrap_or_default(),
            rows,
            key_starts: keys.len(),
            key_length,
            is_in_partition: partition.is_some(),
        });
        keys.extend_from_slice(key);
        slots.insert(hash, pair);
        Ok(pair)
    }
}

impl Pair {
    fn key<'a>(&self, keys: &'a [u8]) -> &'a [u8] {
        &keys[self.key_starts..self.key_ends()]
    }

    fn key_ends(&self) -> usize {
        self.key_starts + self.key_length as usize
    }

    fn is(&self, partition: Option<i64>, key: &[u8], keys: &[u8]) -> bool {
        self.partition() == partition && self.key(keys) == key
    }

    fn partition(&self) -> Option<i64> {
        self.is_in_partition.then_some(self.partition)
    }
}

/// A part of a pair's hash. A record in no partition may have the same as one in a partition.
fn hash(partition: Option<i64>, key: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write_i64(partition.unwrap_or(-1));
    hasher.write(key);
    (hasher.finish() >> 32) as u32
}

/// Whether a key has one of the `below` smallest of 2^32 hashes.
fn is_below(key: &[u8], below: u64) -> bool {
    // Signed, so zero is in the middle. Java's partitions depend on the low bits; these are the high ones.
    i64::from(murmur2(key)) + (1 << 31) < below.cast_signed()
}

/// Changes the sums of some pairs by values, of which there are as many as places. Sums stay empty until there are
/// values.
fn take(
    sums: &mut Vec<Option<i64>>,
    pairs: usize,
    places: &[u32],
    values: Option<impl Iterator<Item = Option<i64>>>,
    change: SumChange,
) {
    if values.is_some() || !sums.is_empty() {
        sums.resize(pairs, None);
    }
    for (place, value) in places.iter().zip(values.into_iter().flatten()) {
        if let Some(sum) = sums.get_mut(*place as usize) {
            *sum = changed(*sum, value, change);
        }
    }
}

/// A sum with one more value; an unknown value changes nothing.
fn changed(sum: Option<i64>, value: Option<i64>, change: SumChange) -> Option<i64> {
    match (sum, value) {
        (Some(sum), Some(value)) => Some(change(sum, value)),
        (known, None) | (None, known) => known,
    }
}

/// A column of whole numbers with this many rows.
pub(super) fn numbers(column: &dyn Array, rows: usize) -> Result<&Int64Array> {
    let column = column.as_any().downcast_ref::<Int64Array>().filter(|column| column.len() == rows);
    column.ok_or_else(|| {
        Error::KeyType("what is summed up are columns of int64 as long as the keys".to_owned())
    })
}

fn batch<'a>(
    pairs: &[Pair],
    keys: &[u8],
    starts: usize,
    sums: impl Iterator<Item = Option<&'a [Option<i64>]>>,
) -> Result<StructArray> {
    let too_long = |_| Error::TooLarge { rows: pairs.len() };
    let ends = pairs.iter().map(|pair| i32::try_from(pair.key_ends() - starts).map_err(too_long));
    let offsets = std::iter::once(Ok(0)).chain(ends).collect::<Result<Vec<i32>>>()?;
    let length = pairs.last().map_or(0, |pair| pair.key_ends() - starts);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let keys = BinaryArray::new(offsets, Buffer::from(&keys[..length]), None);
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("partition", Arc::new(pairs.iter().map(Pair::partition).collect::<Int64Array>())),
        ("key", Arc::new(keys)),
        ("rows", Arc::new(Int64Array::from_iter_values(pairs.iter().map(|pair| pair.rows)))),
    ];
    for ((name, _), sums) in SUMS.into_iter().zip(sums) {
        let column =
            sums.map_or_else(|| Int64Array::new_null(pairs.len()), |sums| sums.iter().copied().collect());
        columns.push((name, Arc::new(column)));
    }
    Ok(struct_of(columns))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Summed = BTreeMap<(Option<i64>, Vec<u8>), Vec<Option<i64>>>;

    fn summed(batches: &[StructArray]) -> Summed {
        let mut by_key = Summed::new();
        for batch in batches {
            let keys: &BinaryArray = batch.column(1).as_any().downcast_ref().unwrap();
            let numbers: Vec<&Int64Array> = [0, 2, 3, 4, 5, 6, 7]
                .map(|column| batch.column(column).as_any().downcast_ref().unwrap())
                .to_vec();
            let value = |column: usize, row| numbers[column].iter().nth(row).flatten();
            for row in 0..batch.len() {
                let sums = (1..7).map(|column| value(column, row)).collect();
                assert!(by_key.insert((value(0, row), keys.value(row).to_vec()), sums).is_none());
            }
        }
        by_key
    }

    /// Keys some of which are the beginning of another one, and some in several partitions or in none.
    fn records(from: i64, to: i64) -> (BinaryArray, Int64Array, Int64Array) {
        let key = |row: i64| {
            (row % 13 != 12).then(|| {
                b"abcdefghijklmnopqrst"
                    .iter()
                    .copied()
                    .take((row.unsigned_abs() % 20).try_into().unwrap_or(0))
                    .collect()
            })
        };
        let keys: Vec<Option<Vec<u8>>> = (from..to).map(key).collect();
        (
            keys.iter().map(Option::as_deref).collect(),
            (from..to).map(|row| (row % 7 != 3).then_some(row % 3)).collect(),
            (from..to).map(|row| (row % 5 != 1).then_some(row * 7 % 31)).collect(),
        )
    }

    fn expected(rows: i64) -> Summed {
        let (keys, partitions, values) = records(0, rows);
        let mut by_key = Summed::new();
        for ((key, partition), value) in keys.iter().zip(&partitions).zip(&values) {
            let Some(key) = key else { continue };
            let sums = by_key
                .entry((partition, key.to_vec()))
                .or_insert_with(|| vec![Some(0), None, None, None, None, None]);
            sums[0] = sums[0].map(|rows| rows + 1);
            for (sum, (_, change)) in sums[1..].iter_mut().zip(SUMS) {
                *sum = changed(*sum, value, change);
            }
        }
        by_key
    }

    fn added(sums: &mut KeySums, from: i64, to: i64) -> Result<()> {
        let (keys, partitions, values) = records(from, to);
        let measures = Measures { rows: None, sums: [Some(&values); 5] };
        sums.add(&keys, &partitions, &measures)
    }

    #[test]
    fn batches_of_any_size_give_what_a_map_gives() -> Result<()> {
        let rows = 3 * i64::try_from(AT_ONCE).unwrap_or(0) + 5;
        for step in [1, 7, 511, 512, 513, rows] {
            let mut sums = KeySums::default();
            for from in (0..rows).step_by(usize::try_from(step).unwrap_or(1)) {
                added(&mut sums, from, rows.min(from + step))?;
            }
            assert_eq!(summed(&sums.batches()?), expected(rows), "{step}");
            // Keys of at most this many bytes, or a single longer one.
            for most in [0, 1, 19, 100] {
                let parts = sums.batches_of(most)?;
                assert!(parts.len() > 3);
                assert_eq!(summed(&parts), expected(rows));
            }
        }
        Ok(())
    }

    #[test]
    fn parts_merge_and_what_is_kept_goes_by_the_hash() -> Result<()> {
        let (mut one, mut other, mut whole) = (KeySums::default(), KeySums::default(), KeySums::default());
        added(&mut one, 0, 1000)?;
        added(&mut other, 1000, 2000)?;
        added(&mut whole, 0, 2000)?;
        let mut kept = KeySums::default();
        kept.merge(&whole, 1 << 31)?;
        one.merge(&other, 1 << 32)?;
        assert_eq!(summed(&one.batches()?), expected(2000));
        one.keep(1 << 31);
        let half = |(key, _): &(&(Option<i64>, Vec<u8>), _)| murmur2(&key.1) < 0;
        let halved = expected(2000);
        let halved: Summed =
            halved.iter().filter(half).map(|(key, sums)| (key.clone(), sums.clone())).collect();
        assert!(!halved.is_empty() && halved.len() < expected(2000).len());
        assert_eq!(summed(&one.batches()?), halved);
        // A pair that was kept is found again.
        for sums in [&mut one, &mut kept] {
            sums.merge(&whole, 1 << 31)?;
        }
        assert_eq!(one.pairs(), halved.len());
        assert_eq!(one.batches()?, kept.batches()?);
        one.clear();
        assert_eq!((one.pairs(), one.key_bytes(), one.batches()?.len()), (0, 0, 0));
        added(&mut one, 0, 2000)?;
        assert_eq!(summed(&one.batches()?), expected(2000));
        Ok(())
    }

    #[test]
    fn the_heaviest_have_less_by_the_first_that_has_no_room() -> Result<()> {
        let mut sums = KeySums::default();
        let keys = BinaryArray::from(vec![&b"a"[..], b"b", b"c", b"d"]);
        let rows = Int64Array::from(vec![5, 9, 5, 7]);
        let sizes: &dyn Array = &rows;
        sums.add(
            &keys,
            &Int64Array::from(vec![Some(4), None, Some(4), Some(8)]),
            &Measures { rows: Some(&rows), sums: [Some(sizes); 5] },
        )?;
        for (most, less, left) in [
            (0, 9, &[][..]),
            (1, 7, &[(None, "b", 2)]),
            (2, 5, &[(None, "b", 4), (Some(8), "d", 2)]),
            (3, 5, &[(None, "b", 4), (Some(8), "d", 2)]),
            (4, 0, &[(Some(4), "a", 5), (None, "b", 9), (Some(4), "c", 5), (Some(8), "d", 7)]),
        ] {
            let (taken, heaviest) = sums.heaviest(most)?;
            let expected: Summed = left
                .iter()
                .map(|&(partition, key, rows)| {
                    ((partition, key.into()), vec![Some(rows), None, None, None, None, None])
                })
                .collect();
            assert_eq!((taken, summed(&heaviest.batches()?)), (less, expected), "{most}");
        }
        Ok(())
    }

    /// Two pairs with the same part of a hash are told apart.
    #[test]
    fn pairs_of_the_same_hash_are_two() -> Result<()> {
        let mut sums = KeySums::default();
        for key in [b"a", b"b", b"a"] {
            sums.count(None, key, 1, 7)?;
        }
        assert_eq!(sums.pairs.iter().map(|pair| pair.rows).collect::<Vec<_>>(), [2, 1]);
        Ok(())
    }
}
