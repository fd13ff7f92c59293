//! Many records at once: [`Producer::place_each`], which places most of them without asking the strategy about each.
//!
//! These are in runs: successive records about which nothing has to be decided, because they go into the open batch, or
//! because round robin just counts on. Most records of a column are in a run, and during a run the strategy's state is
//! in registers.

use super::append::{Appends, append_or_begin};
use super::open_batches::{Appending, OpenBatches, Stay};
use super::place::Producer;
use super::record::Record;
use super::state::TopicState;
use super::strategy::Strategy;
use crate::{Error, Result};

/// Records to place, and the receiver of their partitions, in the same order.
struct Placing<'a, P> {
    records: &'a [Record],
    placed: P,
    /// The first record that is not placed yet.
    next: usize,
}

impl<P: FnMut(Option<i32>)> Placing<'_, P> {
    /// Places a topic's records that neither name a partition nor have a key, up to the first for which `partition`
    /// returns none.
    #[inline]
    fn place_while(&mut self, topic: usize, mut partition: impl FnMut(&Record) -> Option<i32>) {
        let coming = &self.records[self.next..];
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
        self.next += coming.iter().map(stays).position(|stays| !stays).unwrap_or(coming.len());
    }
}

impl Producer {
    /// Places one record after the other, as [`Producer::place`] does; the partitions go to `placed`.
    ///
    /// # Errors
    /// The number of the first refused record, and why; those before it have been placed.
    pub fn place_each(
        &mut self,
        records: &[Record],
        placed: impl FnMut(Option<i32>),
    ) -> std::result::Result<(), (usize, Error)> {
        // Taken out once, not for each record.
        let mut batches = std::mem::take(&mut self.batches);
        let mut placing = Placing { records, placed, next: 0 };
        let outcome = self.place_rest(&mut placing, &mut batches).map_err(|error| (placing.next, error));
        self.batches = batches;
        outcome
    }

    fn place_rest<P>(&mut self, placing: &mut Placing<'_, P>, batches: &mut [OpenBatches]) -> Result<()>
    where
        P: FnMut(Option<i32>),
    {
        while let Some(record) = placing.records.get(placing.next) {
            (placing.placed)(self.place_into(record, batches)?);
            placing.next += 1;
            // After a record with a key or a partition, another such record usually follows, not a run.
            if record.keyed.is_none() && record.partition.is_none() {
                self.run(record.topic, placing, batches);
            }
        }
        Ok(())
    }

    /// Places a topic's next records as [`Producer::place`] does, up to one that needs a decision.
    // Not inlined, so that its loops have all registers to themselves.
    #[inline(never)]
    fn run<P>(&mut self, topic: usize, placing: &mut Placing<'_, P>, batches: &mut [OpenBatches])
    where
        P: FnMut(Option<i32>),
    {
        let (TopicState { topic: metadata, counter, sticky, built_in }, batches) =
            (&mut self.state.topics[topic], &mut batches[topic]);
        let settings = &self.settings;
        match self.strategy {
            Strategy::Sticky24 | Strategy::UniformSticky24 => {
                if let Some(partition) = sticky.get()
                    && let Some(batch) = batches.met(partition)
                {
                    let mut stay = Stay::new(batch, i64::MAX, settings);
                    placing.place_while(topic, |record| stay.takes(record).then_some(partition));
                    *batch = stay.batch;
                }
            }
            Strategy::Sticky33 | Strategy::Sticky44 => {
                if let Some((partition, room)) = built_in.room(self.strategy.stickiness(settings))
                    && let Some(batch) = batches.met(partition)
                {
                    let mut stay = Stay::new(batch, room, settings);
                    placing.place_while(topic, |record| stay.takes(record).then_some(partition));
                    built_in.take(stay.batch.bytes - batch.bytes);
                    *batch = stay.batch;
                }
            }
            Strategy::RoundRobin => {
                if let Some(mut turns) = counter.turns(metadata) {
                    placing.place_while(topic, |_| Some(turns.next()));
                }
            }
            // A batch begins where the record was to go at first, because the second question gets that answer. The
            // record before this run was also placed: no answer is pending.
            Strategy::RoundRobin392 => {
                if let Some(mut turns) = counter.turns(metadata) {
                    placing.place_while(topic, |record| {
                        let partition = turns.next();
                        append_or_begin(partition, &mut Appending::new(record, batches, settings));
                        Some(partition)
                    });
                }
            }
            // Here it is one partition further.
            Strategy::RoundRobin28 => {
                if let Some(mut turns) = counter.turns(metadata) {
                    placing.place_while(topic, |record| {
                        let mut batch = Appending::new(record, batches, settings);
                        let first = turns.next();
                        if batch.append(first).is_some() {
                            return Some(first);
                        }
                        let second = turns.next();
                        append_or_begin(second, &mut batch);
                        Some(second)
                    });
                }
            }
            _ => {}
        }
    }
}
