//! The sticky partition since Kafka 3.3 (`BuiltInPartitioner`, KIP-794; exact to 3.9.2, and with racks to 4.4.0).
//!
//! Records without a key go to one partition until it has got `batch.size` bytes and its batches are full, or twice as
//! many bytes; the next one is drawn, and may be the same. Partitions with a leader are equally likely, or weighted by
//! the lengths of their queues ([`Queues`]); since 4.4, only those of the producer's rack are drawn, if it has any. A
//! record with a key goes to its key's partition, unless `partitioner.ignore.keys` is set.

use super::append::Appends;
use super::draws::Draws;
use super::sizes::java_int;
use super::topic::Topic;
use crate::{Error, Result};

/// The state of a topic's built-in partitioner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BuiltIn {
    /// The partition to which keyless records go now, and how many bytes went there.
    sticky: Option<(i32, i32)>,
    load: Option<QueueLoad>,
}

/// How often each partition is drawn, by the length of its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
struct QueueLoad {
    all: WeightTable,
    /// The same for the partitions in the producer's rack; none if racks do not matter.
    near: Option<WeightTable>,
}

/// A cumulative frequency table: partition `ids[i]` has the numbers from `ends[i - 1]` to below `ends[i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WeightTable {
    ends: Vec<i32>,
    ids: Vec<i32>,
}

/// The queues of a topic's partitions, as the producer's sender sees them: `updatePartitionLoadStats`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queues {
    /// How many batches wait for each partition that has a leader.
    pub sizes: Vec<i32>,
    /// Their numbers.
    pub ids: Vec<i32>,
    /// Whether each one's leader is in the producer's rack; none if that is unknown.
    pub near: Option<Vec<bool>>,
    /// How many of them count; the others were too slow.
    pub length: i32,
}

/// Settings that do not change while a producer runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stickiness {
    /// `batch.size`, at least 1.
    pub(super) batch_size: i32,
    pub(super) rack_aware: bool,
}

impl BuiltIn {
    /// The partition of records without a key, drawn before the first one.
    pub(super) fn peek(&mut self, topic: &Topic, rules: Stickiness, draws: &mut Draws) -> Result<i32> {
        if let Some((partition, _)) = self.sticky {
            return Ok(partition);
        }
        let partition = self.next(topic, rules, draws)?;
        self.sticky = Some((partition, 0));
        Ok(partition)
    }

    /// A draw, which changes nothing and may be the same partition again.
    pub(super) fn next(&self, topic: &Topic, rules: Stickiness, draws: &mut Draws) -> Result<i32> {
        let number = draws.positive()?;
        let Some(load) = &self.load else {
            return match (&topic.available[..], &topic.near[..]) {
                ([], _) => topic.of_all(number),
                (_, near @ [_, ..]) if rules.rack_aware => Ok(Topic::one_of(near, number)),
                (available, _) => Ok(Topic::one_of(available, number)),
            };
        };
        let near = load.near.as_ref().filter(|table| !table.ends.is_empty());
        near.unwrap_or(&load.all).draw(number.cast_signed())
    }

    /// Appends a record to the sticky partition, which is the answer, as the accumulator does
    /// (`RecordAccumulator.append`). Before and after appending, it moves on from a partition that has enough bytes and
    /// full batches.
    pub(super) fn place<A: Appends>(
        &mut self,
        topic: &Topic,
        rules: Stickiness,
        draws: &mut Draws,
        batches: &mut A,
    ) -> Result<i32> {
        if rules.batch_size > i32::MAX / 2 {
            return Err(Error::Producer(format!(
                "with batch.size={} Kafka's own producer appends no record, ever: twice as much is no Java int",
                rules.batch_size
            )));
        }
        loop {
            let partition = self.peek(topic, rules, draws)?;
            let mut leaves = |bytes, enable_switch, batches: &mut A| -> Result<bool> {
                let next = self.update(bytes, enable_switch, topic, rules, draws)?;
                if let Some(next) = next {
                    batches.switched(partition, next);
                }
                Ok(next.is_some())
            };
            let appended = match batches.append(partition) {
                Some(appended) => appended,
                // All batches are full now, so a postponed switch is done.
                None if leaves(0, true, batches)? => continue,
                None => batches.begin(partition),
            };
            leaves(appended.bytes, appended.is_full, batches)?;
            return Ok(partition);
        }
    }

    /// Takes note of bytes appended to the sticky partition. It returns the next partition if it moves on: after
    /// `batch.size` bytes if that is enabled, and after twice as many in any case. The next one may be the same.
    pub(super) fn update(
        &mut self,
        bytes: i32,
        enable_switch: bool,
        topic: &Topic,
        rules: Stickiness,
        draws: &mut Draws,
    ) -> Result<Option<i32>> {
        let Some((_, produced)) = &mut self.sticky else { return Ok(None) };
        // Java's sums and products overflow: with a batch.size above 2^30 - 1 it moves on after every record.
        *produced = produced.wrapping_add(bytes);
        let enough = *produced >= rules.batch_size && enable_switch;
        if !enough && *produced < rules.batch_size.wrapping_mul(2) {
            return Ok(None);
        }
        let next = self.next(topic, rules, draws)?;
        self.sticky = Some((next, 0));
        Ok(Some(next))
    }

    /// The sticky partition, and how many bytes it may get before it is left whatever the state of its batches; none
    /// before the first record, and if Kafka's producer would fail before.
    pub(super) fn room(&self, rules: Stickiness) -> Option<(i32, i64)> {
        let (partition, produced) = self.sticky?;
        let most = rules.batch_size.checked_mul(2)?;
        Some((partition, i64::from(most) - i64::from(produced)))
    }

    /// Takes bytes of that room.
    pub(super) fn take(&mut self, bytes: i64) {
        if let Some((_, produced)) = &mut self.sticky {
            *produced = produced.wrapping_add(java_int(bytes));
        }
    }

    /// Takes the queues, by which the next partitions are drawn; without any, all are equally likely.
    pub(super) fn weigh(&mut self, queues: Option<&Queues>, rules: Stickiness) -> Result<()> {
        self.load = match queues {
            Some(queues) => QueueLoad::of(queues, rules.rack_aware)?,
            None => None,
        };
        Ok(())
    }
}

impl QueueLoad {
    /// None if there is nothing to weigh: one partition, or queues of equal length.
    fn of(queues: &Queues, rack_aware: bool) -> Result<Option<Self>> {
        let Queues { sizes, ids, near, length } = queues;
        let length = match usize::try_from(*length) {
            Ok(length @ 1..) if sizes.len() >= 2 => length,
            _ => return Ok(None),
        };
        let Some(counted) = sizes.get(..length) else {
            return Err(too_short("queue sizes", length));
        };
        let longest = counted.iter().copied().fold(counted[0], i32::max);
        if length == sizes.len() && counted.iter().all(|&size| size == longest) {
            return Ok(None);
        }
        let near = match near {
            _ if !rack_aware => None,
            Some(near) if near.len() >= length => {
                let places = (0..length).filter(|&place| near[place]);
                let near = places.map(|place| Some((counted[place], *ids.get(place)?)));
                let Some((sizes, mut ids)) = near.collect::<Option<(Vec<i32>, Vec<i32>)>>() else {
                    return Err(too_short("partition ids", length));
                };
                let longest = sizes.iter().copied().fold(-1, i32::max);
                // Java's array is longer than its table, and is read beyond the table's end if the sums overflow.
                ids.resize(length, 0);
                Some(WeightTable::of(&sizes, ids, longest))
            }
            Some(_) => return Err(too_short("leader racks", length)),
            None => {
                let reason = "load statistics of a rack-aware producer need leader_racks (Kafka's own throws NullPointerException)";
                return Err(Error::Producer(reason.to_owned()));
            }
        };
        Ok(Some(Self { all: WeightTable::of(counted, ids.clone(), longest), near }))
    }
}

fn too_short(what: &str, length: usize) -> Error {
    Error::Producer(format!(
        "the length {length} is more than there are {what} (Kafka's own throws ArrayIndexOutOfBoundsException)"
    ))
}

impl WeightTable {
    /// The longest queue has weight 1, an empty one its length plus 1.
    fn of(sizes: &[i32], ids: Vec<i32>, longest: i32) -> Self {
        let fold = |end: &mut i32, &size: &i32| {
            *end = longest.wrapping_add(1).wrapping_sub(size).wrapping_add(*end);
            Some(*end)
        };
        Self { ends: sizes.iter().scan(0, fold).collect(), ids }
    }

    /// The partition for a non-negative number. Only here does Kafka check whether there are enough partitions.
    fn draw(&self, drawn: i32) -> Result<i32> {
        let last = self.ends.last().copied().unwrap_or_default();
        let Some(number) = drawn.checked_rem(last) else {
            let reason = "queue sizes add up to nothing (Kafka's own throws ArithmeticException: / by zero)";
            return Err(Error::Producer(reason.to_owned()));
        };
        let place = match self.java_binary_search(number) {
            Ok(found) => found + 1,
            Err(place) => place,
        };
        self.ids.get(place).copied().ok_or_else(|| too_short("partition ids", place + 1))
    }

    /// `Arrays.binarySearch`, which finds something else than Rust's if the ends are not sorted, as after an overflow.
    fn java_binary_search(&self, number: i32) -> std::result::Result<usize, usize> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            // Java's `high` is the last place, not the one after it; this rounds the middle as Java does.
            let middle = usize::midpoint(low, high - 1);
            match self.ends[middle].cmp(&number) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }
}
