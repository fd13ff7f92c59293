//! The strategies: the class and the version of Kafka of each one, what it depends on, and the file with its rule.

use super::built_in::Stickiness;
use super::fallback::fall_back;
use super::record::Record;
use super::settings::Settings;
use super::state::{State, TopicState};
use super::{leader, old_round_robin, random};
use crate::names::named;
use crate::{Error, Result};

named! {
    /// How a producer chooses the partition of a record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Strategy {
        /// The record's own partition.
        Explicit = "explicit",
        /// The key's partition; none without a key.
        Key = "key",
        /// `RoundRobinPartitioner` of Kafka 4: one after the other, whatever the key.
        RoundRobin = "round-robin",
        /// Of Kafka 3.9.2: a new batch does not count twice.
        RoundRobin392 = "round-robin@3.9.2",
        /// Of Kafka 2.4 to 3.9.1: a new batch counts twice (KAFKA-9965).
        RoundRobin28 = "round-robin@2.8",
        /// Any, by a draw for each record.
        Random = "random",
        /// `DefaultPartitioner` of Kafka 2.4 to 3.2: the key's, otherwise the sticky one.
        Sticky24 = "sticky@2.4",
        /// `UniformStickyPartitioner`: the sticky one, whatever the key.
        UniformSticky24 = "uniform-sticky@2.4",
        /// `BuiltInPartitioner` (KIP-794).
        Sticky33 = "sticky@3.3",
        /// The same with racks, as of Kafka 4.4.
        Sticky44 = "sticky@4.4",
        /// `DefaultEventHandler` of Kafka 0.8: the key's, otherwise one that is kept until the metadata is refreshed.
        OldNullKey = "old-null-key",
        /// `DefaultPartitioner` of Kafka 0.9 to 2.3: the key's, otherwise round robin from a random start.
        OldRoundRobin = "default@2.3",
        /// One of those whose leader is where it should be.
        Leader = "leader",
        /// By a field of the record instead of its key.
        Field = "field",
    }
}

/// How the strategy learns about batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchRule {
    /// It does not: batches do not matter.
    Apart,
    /// A record that would begin a batch is not appended; the strategy is told, and asked again (`onNewBatch`).
    Told,
    /// The accumulator asks the built-in partitioner, and tells it the bytes.
    BuiltIn,
}

impl Strategy {
    /// The version for which it is exact.
    pub fn source(self) -> &'static str {
        match self {
            Self::Explicit => "ProducerRecord.partition",
            Self::Key => "BuiltInPartitioner.partitionForKey, or the client that is named",
            Self::RoundRobin => "RoundRobinPartitioner (kafka-clients 4.4.0)",
            Self::RoundRobin392 => "RoundRobinPartitioner (kafka-clients 3.9.2)",
            Self::RoundRobin28 => "RoundRobinPartitioner (kafka-clients 2.8.2)",
            Self::Random | Self::Leader | Self::Field => "partwright",
            Self::Sticky24 => "DefaultPartitioner, StickyPartitionCache (kafka-clients 2.8.2)",
            Self::UniformSticky24 => "UniformStickyPartitioner, StickyPartitionCache (kafka-clients 2.8.2)",
            Self::Sticky33 => "BuiltInPartitioner, RecordAccumulator (kafka-clients 3.9.2)",
            Self::Sticky44 => "BuiltInPartitioner, RecordAccumulator (kafka-clients 4.4.0)",
            Self::OldNullKey => "kafka.producer.async.DefaultEventHandler (kafka_2.11 0.8.2.2)",
            Self::OldRoundRobin => "DefaultPartitioner (kafka-clients 2.3.1)",
        }
    }

    /// Whether it is a configured `partitioner.class`, which is asked about records with keys as well.
    pub fn takes_keyed(self) -> bool {
        matches!(
            self,
            Self::RoundRobin
                | Self::RoundRobin392
                | Self::RoundRobin28
                | Self::Random
                | Self::UniformSticky24
                | Self::Leader
                | Self::Field
        )
    }

    /// Whether it ever needs the partition of a record's key or field.
    pub fn asks_key(self) -> bool {
        !self.takes_keyed() || matches!(self, Self::Leader | Self::Field)
    }

    /// Whether its choices depend on the bytes of the records before.
    pub fn counts_bytes(self) -> bool {
        self.batching() != BatchRule::Apart
    }

    pub(crate) fn batching(self) -> BatchRule {
        match self {
            Self::Sticky33 | Self::Sticky44 => BatchRule::BuiltIn,
            Self::Sticky24 | Self::UniformSticky24 | Self::RoundRobin28 | Self::RoundRobin392 => {
                BatchRule::Told
            }
            _ => BatchRule::Apart,
        }
    }

    /// Its answer for a record, without appending it: `Partitioner.partition`.
    ///
    /// # Errors
    /// As [`Producer::place`](super::Producer::place).
    #[inline]
    pub(super) fn partition(
        self,
        state: &mut State,
        settings: &Settings,
        record: &Record,
    ) -> Result<Option<i32>> {
        let Record { topic, keyed, at, .. } = *record;
        let State { topics, draws, begun_at, old_null_key } = state;
        let TopicState { topic: metadata, counter, sticky, built_in } = &mut topics[topic];
        match self {
            Self::Key => return Ok(keyed),
            Self::Explicit => {
                let why = ("explicit", "it names no partition");
                fall_back(settings.fallback, why, counter, metadata, draws)
            }
            Self::Field => keyed.map_or_else(
                || fall_back(settings.fallback, ("field", "its field is null"), counter, metadata, draws),
                Ok,
            ),
            Self::RoundRobin | Self::RoundRobin28 => counter.partition(metadata),
            Self::RoundRobin392 => match begun_at.take(topic) {
                Some(partition) => Ok(partition),
                None => counter.partition(metadata),
            },
            Self::Random => random::partition(metadata, settings.available_only, draws),
            Self::Sticky24 => match keyed {
                Some(partition) => Ok(partition),
                None => sticky.partition(metadata, draws),
            },
            Self::UniformSticky24 => sticky.partition(metadata, draws),
            Self::Sticky33 | Self::Sticky44 => match keyed.filter(|_| !settings.ignore_keys) {
                Some(partition) => Ok(partition),
                None => built_in.peek(metadata, self.stickiness(settings), draws),
            },
            Self::OldNullKey => {
                old_null_key.partition((topic, metadata), keyed, at, settings.refresh_ms, draws)
            }
            Self::OldRoundRobin => old_round_robin::partition(keyed, counter, metadata, draws),
            Self::Leader => leader::partition(keyed, counter, metadata, settings, draws),
        }
        .map(Some)
    }

    /// A record would begin a batch: `Partitioner.onNewBatch`. For 2.8's round robin this does nothing.
    ///
    /// # Errors
    /// As [`Strategy::partition`].
    pub(super) fn on_new_batch(self, state: &mut State, topic: usize, previous: i32) -> Result<()> {
        match self {
            Self::Sticky24 | Self::UniformSticky24 => {
                let TopicState { topic, sticky, .. } = &mut state.topics[topic];
                sticky.next(topic, previous, &mut state.draws)?;
            }
            Self::RoundRobin392 => state.begun_at.keep(topic, previous),
            _ => {}
        }
        Ok(())
    }

    /// The built-in partitioner's settings.
    #[inline]
    pub(super) fn stickiness(self, settings: &Settings) -> Stickiness {
        Stickiness {
            // As KafkaProducer passes it on.
            batch_size: settings.batch_size.max(1),
            rack_aware: settings.rack_aware && self == Self::Sticky44,
        }
    }

    pub(super) fn has_no(self, call: &str) -> Error {
        Error::Producer(format!("the strategy {self} has no {call}"))
    }
}
