//! Runs: records one after the other about which nothing is to be decided, for they go into the batch that stands open, or
//! round robin counts them off. Most records of a column are in one, and what is kept of a strategy is in registers then.

use super::appending::{Appends, append_or_begin};
use super::batches::{Batch, Batches};
use super::records::{Kept, Producer, stickiness};
use super::strategy::Strategy;
use super::{Record, Settings};
use crate::hashing::to_positive;

/// Records on their way, and what takes the partitions of those that are placed, in the same order.
pub(super) struct Placing<'a, P> {
    pub(super) records: &'a [Record],
    pub(super) placed: P,
    /// The first record that is not placed yet.
    pub(super) next: usize,
}

impl<P: FnMut(Option<i32>)> Placing<'_, P> {
    /// Places a topic's records that neither name a partition nor have a key, up to the first that `partition` has none for.
    #[inline]
    fn place_while(&mut self, topic: usize, mut partition: impl FnMut(&Record) -> Option<i32>) {
        let rest = &self.records[self.next..];
        let stays = |record: &Record| {
            if record.topic != topic || record.partition.is_some() || record.keyed.is_some() {
                return false;
            }
            let partition = partition(record);
            if partition.is_some() {
                (self.placed)(partition);
            }
            partition.is_some()
        };
        self.next += rest.iter().map(stays).position(|stays| !stays).unwrap_or(rest.len());
    }
}

impl Producer {
    /// Places a topic's next records as [`Producer::place`] does, up to one about which there is something to decide.
    pub(super) fn run<P>(&mut self, topic: usize, placing: &mut Placing<'_, P>, batches: &mut [Batches])
    where
        P: FnMut(Option<i32>),
    {
        let (Kept { topic: metadata, counter, sticky, built_in, .. }, batches) =
            (&mut self.topics[topic], &mut batches[topic]);
        let settings = &self.settings;
        let turns = counter.as_mut().filter(|_| !metadata.available.is_empty());
        let mut turns = turns.map(|counter| Turns::new(&metadata.available, counter));
        match (self.strategy, &mut turns) {
            (Strategy::Sticky24 | Strategy::UniformSticky24, _) => {
                if let Some(partition) = sticky.get()
                    && let Some(batch) = batches.met(partition)
                {
                    let mut stay = Stay::new(batch, i64::MAX, settings);
                    placing.place_while(topic, |record| stay.takes(record).then_some(partition));
                    *batch = stay.batch;
                }
            }
            (Strategy::Sticky33 | Strategy::Sticky44, _) => {
                if let Some((partition, room)) = built_in.room(stickiness(self.strategy, settings))
                    && let Some(batch) = batches.met(partition)
                {
                    let mut stay = Stay::new(batch, room, settings);
                    placing.place_while(topic, |record| stay.takes(record).then_some(partition));
                    built_in.take(stay.batch.bytes - batch.bytes);
                    *batch = stay.batch;
                }
            }
            (Strategy::RoundRobin, Some(turns)) => placing.place_while(topic, |_| Some(turns.next())),
            // A batch is begun where the record was to go at first, for the second question is answered with that. The record
            // before this run has been, too: nothing is left to be answered.
            (Strategy::RoundRobin392, Some(turns)) => {
                placing.place_while(topic, |record| {
                    let partition = turns.next();
                    append_or_begin(partition, &mut record.beside(batches, settings));
                    Some(partition)
                });
            }
            // And here one further on.
            (Strategy::RoundRobin28, Some(turns)) => placing.place_while(topic, |record| {
                let mut batch = record.beside(batches, settings);
                let first = turns.next();
                if batch.append(first).is_some() {
                    return Some(first);
                }
                let second = turns.next();
                append_or_begin(second, &mut batch);
                Some(second)
            }),
            _ => {}
        }
    }
}

/// A batch while records go into it, none of which makes it full or is the last that its partition gets.
struct Stay {
    batch: Batch,
    /// The bytes that it does not reach.
    end: i64,
    linger: Option<i64>,
}

impl Stay {
    /// `room` is how many bytes the partition may get before the strategy leaves it.
    fn new(batch: &Batch, room: i64, settings: &Settings) -> Self {
        let end = if batch.is_full() { 0 } else { batch.limit.min(batch.bytes.saturating_add(room)) };
        Self { batch: *batch, end, linger: settings.linger_ms }
    }

    /// Appends a record, if it is one of those.
    #[inline]
    fn takes(&mut self, record: &Record) -> bool {
        let Self { batch, end, linger } = self;
        let bytes = batch.bytes + batch.bytes_of(record.size(), record.at);
        if bytes >= *end || batch.is_over(record.at, *linger) {
            return false;
        }
        batch.records += 1;
        batch.bytes = bytes;
        true
    }
}

/// Round robin's next partitions, without a division for each.
struct Turns<'a> {
    among: &'a [i32],
    counter: &'a mut i32,
    place: usize,
}

impl<'a> Turns<'a> {
    /// Among these, which must not be empty.
    fn new(among: &'a [i32], counter: &'a mut i32) -> Self {
        let place = to_positive(*counter) as usize % among.len();
        Self { among, counter, place }
    }

    #[inline]
    fn next(&mut self) -> i32 {
        let partition = self.among[self.place];
        *self.counter = self.counter.wrapping_add(1);
        self.place += 1;
        // Java's counter goes on below 0, where its positive number begins with 0 again.
        if self.place == self.among.len() || to_positive(*self.counter) == 0 {
            self.place = 0;
        }
        partition
    }
}
