//! Producers: strategies with their state, for one record or a batch of records.

use std::sync::Mutex;

use partwright_core::producer::{
    Draws, Partition, Producer as Core, Queues, Record, Settings, Strategy as Known, Topic,
};
use partwright_core::{columnar, hashing};
use pyo3::prelude::*;

use crate::arguments::{Client, Encoding, PartitionCount, Strategy, among, fallback};
use crate::arrow::{ArrowColumn, to_pyarrow};
use crate::error::{Returned, detached};
use crate::items::from_items;
use crate::threads::locked;

/// A partition as Python gives it: its number, whether it has a leader, and whether the leader is in the client's rack.
type PythonPartition = (i32, bool, bool);

from_items! {
    /// The settings as Python gives them.
    PythonStrategy: Settings {
        batch_size, linger_ms, ignore_keys, rack_aware, refresh_ms, available_only;
        among: among = "among", fallback: fallback = "otherwise"
    }
}

/// The state of a producer; its methods are those of the core.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct Producer {
    state: Mutex<Core>,
    client: hashing::Client,
}

impl Producer {
    /// The partition of a record's key, if the strategy asks for it.
    fn keyed(&self, state: &Core, topic: usize, key: Option<&[u8]>) -> Returned<Option<i32>> {
        match state.asks_key(topic, key.is_some())? {
            Some(partitions) => Ok(self.client.partition_for_key(key, partitions)?),
            None => Ok(None),
        }
    }
}

#[pymethods]
impl Producer {
    /// Makes a producer of topics. With recorded draws it draws no random numbers of its own.
    #[new]
    fn new(
        strategy: Strategy,
        client: Client,
        settings: PythonStrategy,
        topics: Vec<(String, Vec<PythonPartition>)>,
        draws: Option<Vec<i32>>,
        seed: i64,
    ) -> Returned<Self> {
        let topics =
            topics.iter().map(|(name, partitions)| topic(name, partitions)).collect::<Result<_, _>>()?;
        let draws = draws.map_or_else(|| Draws::seeded(seed), Draws::recorded);
        let state = Core::new(strategy.0, settings.0, topics, draws)?;
        let client = if strategy.0 == Known::OldNullKey { client.0.of_kafka_0_8() } else { client.0 };
        Ok(Self { state: Mutex::new(state), client })
    }

    /// The partition of each key, by the rule of this producer's client.
    fn partition_for_key(
        &self,
        py: Python<'_>,
        keys: ArrowColumn,
        n: PartitionCount,
        key_type: Option<Encoding>,
    ) -> Returned {
        let key_type = key_type.map(|key_type| key_type.0);
        keys.map(py, key_type, |keys| columnar::partition_for_key(keys, n.0, self.client, key_type))
    }

    /// The strategy's answer for a record.
    fn partition(&self, topic: usize, key: Option<&[u8]>, at: i64) -> Returned<Option<i32>> {
        let mut state = locked(&self.state);
        let keyed = self.keyed(&state, topic, key)?;
        Ok(state.partition(topic, keyed, at)?)
    }

    /// The partition of a record, which is added to its batch. The record names its own partition or has a key; the
    /// size of a null value is -1.
    fn place_record(
        &self,
        topic: usize,
        own: Option<i32>,
        key: Option<&[u8]>,
        value_size: i32,
        at: i64,
    ) -> Returned<Option<i32>> {
        let mut state = locked(&self.state);
        let keyed = if own.is_none() { self.keyed(&state, topic, key)? } else { None };
        let key_size = key.map_or(-1, |key| i32::try_from(key.len()).unwrap_or(i32::MAX));
        Ok(state.place(&Record {
            topic,
            partition: own,
            keyed,
            key_size,
            value_size,
            at,
            ..Record::default()
        })?)
    }

    /// Tells the strategy that a record would begin a batch.
    fn on_new_batch(&self, topic: usize, previous: i32) -> Returned<()> {
        Ok(locked(&self.state).on_new_batch(topic, previous)?)
    }

    /// Moves on to the next sticky partition.
    fn next_partition(&self, topic: usize, previous: i32) -> Returned<i32> {
        Ok(locked(&self.state).next_partition(topic, previous)?)
    }

    /// Counts bytes that were appended to the sticky partition.
    fn append(&self, topic: usize, produced: i32, enable_switch: bool) -> Returned<i32> {
        Ok(locked(&self.state).append(topic, produced, enable_switch)?)
    }

    /// Adds a record to its partition's batch, or to a new batch if that is allowed, and says whether it was added. The
    /// record is given by its topic, the sizes of its key and value (-1 for a null) and its time.
    fn append_record(&self, record: (usize, i32, i32, i64), partition: i32, begins: bool) -> bool {
        let (topic, key_size, value_size, at) = record;
        let record = Record { topic, key_size, value_size, at, ..Record::default() };
        locked(&self.state).append_record(&record, partition, begins)
    }

    /// Sets how much waits for each partition.
    fn load_stats(
        &self,
        topic: usize,
        sizes: Option<Vec<i32>>,
        ids: Vec<i32>,
        near: Option<Vec<bool>>,
        length: i32,
    ) -> Returned<()> {
        let queues = sizes.map(|sizes| Queues { sizes, ids, near, length });
        Ok(locked(&self.state).load_stats(topic, queues.as_ref())?)
    }

    /// Sets new metadata of a topic.
    fn set_topic(&self, place: usize, name: &str, partitions: Vec<PythonPartition>) -> Returned<()> {
        let topic = topic(name, &partitions)?;
        locked(&self.state).set_topic(place, topic);
        Ok(())
    }

    /// Sets where a topic's round robin begins.
    fn set_counter(&self, topic: usize, counter: i32) {
        locked(&self.state).set_counter(topic, counter);
    }

    /// The number of draws taken.
    fn drawn(&self) -> usize {
        locked(&self.state).drawn()
    }

    /// The partitions of a batch of records, whose columns are those of the core.
    fn place(&self, py: Python<'_>, records: ArrowColumn) -> Returned {
        let records = records.only();
        to_pyarrow(py, detached(py, || columnar::place(&mut locked(&self.state), &records))?)
    }
}

/// The names of the strategies, whether each takes records with keys, and whether it counts their bytes.
#[pyfunction]
pub(crate) fn strategies() -> Vec<(&'static str, &'static str, bool, bool)> {
    let row = |strategy: &Known| {
        (strategy.name(), strategy.source(), strategy.takes_keyed(), strategy.counts_bytes())
    };
    Known::ALL.iter().map(row).collect()
}

/// A strategy's own name, found by one of its other names or by a version of Kafka.
#[pyfunction]
pub(crate) fn strategy_name(name: Strategy) -> &'static str {
    name.0.name()
}

fn topic(name: &str, partitions: &[PythonPartition]) -> Returned<Topic> {
    let partition = |&(id, available, near): &PythonPartition| Partition { id, available, near };
    Ok(Topic::new(name, &partitions.iter().map(partition).collect::<Vec<_>>())?)
}
