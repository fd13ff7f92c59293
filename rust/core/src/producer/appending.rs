//! How a record finds its batch: what a producer and its accumulator tell a strategy, by the versions of Kafka.

use super::strategy::{Batching, Strategy};
use super::{Producer, Record};
use crate::{Error, Result};

/// The batches of a topic's partitions, and a record that is to be appended to one of them.
pub(crate) trait Appends {
    /// Appends the record to the partition's last batch; `None` where that is full or the record does not fit, which closes
    /// the batch.
    fn append(&mut self, partition: i32) -> Option<Appended>;

    /// Begins a batch with the record.
    fn begin(&mut self, partition: i32) -> Appended;

    /// The strategy leaves its sticky partition for another, or for the same once more.
    fn switched(&mut self, _from: i32, _to: i32) {}
}

/// What a record did to its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Appended {
    /// How many bytes it took, those of a new batch among them.
    pub(crate) bytes: i32,
    /// Whether the batch takes no more records: `allBatchesFull`.
    pub(crate) is_full: bool,
}

/// Appends a record to its partition's last batch, or begins another.
#[inline]
pub(crate) fn append_or_begin(partition: i32, batches: &mut impl Appends) {
    if batches.append(partition).is_none() {
        batches.begin(partition);
    }
}

impl Producer {
    /// As [`Producer::place`], which also refuses a partition that is not there, but into these batches. A record of a strategy
    /// to which batches do not matter is appended to none.
    #[inline]
    pub(crate) fn place_in(&mut self, record: &Record, batches: &mut impl Appends) -> Result<Option<i32>> {
        match self.strategy().batching() {
            Batching::Apart => match record.partition {
                Some(partition) => Ok(Some(partition)),
                None => self.partition(record.topic, record.keyed, record.at),
            },
            Batching::BuiltIn => self.append_to(record, batches).map(Some),
            Batching::Told => self.told(record, batches).map(Some),
        }
    }

    /// The accumulator of Kafka 2.4 to 3.2, whose producer asks a strategy again before it begins a batch
    /// (`abortOnNewBatch`).
    #[inline]
    fn told(&mut self, record: &Record, batches: &mut impl Appends) -> Result<i32> {
        let previous = self.own_or_chosen(record)?;
        if batches.append(previous).is_some() {
            return Ok(previous);
        }
        // That of 2.8's round robin does nothing, and of an even number of partitions each record comes here (KAFKA-9965).
        if self.strategy() != Strategy::RoundRobin28 {
            let from = self.cached(record.topic);
            self.on_new_batch(record.topic, previous)?;
            if let (Some(from), Some(to)) = (from, self.cached(record.topic))
                && from != to
            {
                batches.switched(from, to);
            }
        }
        let partition = self.own_or_chosen(record)?;
        append_or_begin(partition, batches);
        Ok(partition)
    }

    #[inline]
    fn own_or_chosen(&mut self, record: &Record) -> Result<i32> {
        match record.partition {
            Some(partition) => Ok(partition),
            None => {
                self.partition(record.topic, record.keyed, record.at)?.ok_or_else(|| self.has_no("partition"))
            }
        }
    }

    /// The accumulator since Kafka 3.3 (`RecordAccumulator.append`). It moves on from a partition whose batches are full and
    /// that has got enough, before a record is appended and after it.
    fn append_to<A: Appends>(&mut self, record: &Record, batches: &mut A) -> Result<i32> {
        let keyed = record.keyed.filter(|_| !self.ignores_keys());
        if let Some(partition) = record.partition.or(keyed) {
            append_or_begin(partition, batches);
            return Ok(partition);
        }
        let (built_in, topic, rules, draws) = self.built_in(record.topic);
        if rules.batch_size > i32::MAX / 2 {
            return Err(Error::Producer(format!(
                "with batch.size={} Kafka's own producer appends no record, ever: twice as much is no Java int",
                rules.batch_size
            )));
        }
        loop {
            let partition = built_in.peek(topic, rules, draws)?;
            let mut leaves = |bytes, enable_switch, batches: &mut A| -> Result<bool> {
                let next = built_in.update(bytes, enable_switch, topic, rules, draws)?;
                if let Some(next) = next {
                    batches.switched(partition, next);
                }
                Ok(next.is_some())
            };
            let appended = match batches.append(partition) {
                Some(appended) => appended,
                // All batches are full by now: a switch that was put off is made up for.
                None if leaves(0, true, batches)? => continue,
                None => batches.begin(partition),
            };
            leaves(appended.bytes, appended.is_full, batches)?;
            return Ok(partition);
        }
    }
}
