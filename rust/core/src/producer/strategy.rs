//! The strategies by their names: which class of which Kafka each one is, and what it goes by.

use std::fmt;
use std::str::FromStr;

use crate::names::nearest;
use crate::{Error, Result};

/// How a producer chooses the partition of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The record's own partition.
    Explicit,
    /// The key's, and none where there is no key.
    Key,
    /// `RoundRobinPartitioner` of Kafka 4: one after the other, whatever the key.
    RoundRobin,
    /// Of Kafka 3.9.2: a new batch does not count twice.
    RoundRobin392,
    /// Of Kafka 2.4 to 3.9.1: a new batch counts twice (KAFKA-9965).
    RoundRobin28,
    /// Any, by a draw for each record.
    Random,
    /// `DefaultPartitioner` of Kafka 2.4 to 3.2: the key's, else the sticky one.
    Sticky24,
    /// `UniformStickyPartitioner`: the sticky one, whatever the key.
    UniformSticky24,
    /// `BuiltInPartitioner` (KIP-794).
    Sticky33,
    /// The same with racks, as of Kafka 4.4.
    Sticky44,
    /// `DefaultEventHandler` of Kafka 0.8: the key's, else one that is kept until the metadata is refreshed.
    OldNullKey,
    /// `DefaultPartitioner` of Kafka 0.9 to 2.3: the key's, else round robin from a random start.
    OldRoundRobin,
    /// One of those whose leader is where it should be.
    Leader,
    /// By a field of the record instead of its key.
    Field,
}

/// What tells of the batches that records are put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batching {
    /// Nothing: they do not matter.
    Apart,
    /// A record that would begin a batch is not appended: the strategy is told of it, and asked once more (`onNewBatch`).
    Told,
    /// The accumulator asks the built-in partitioner, and tells it of the bytes.
    BuiltIn,
}

impl Strategy {
    /// Each of them.
    pub const ALL: [Self; 14] = [
        Self::Explicit,
        Self::Key,
        Self::RoundRobin,
        Self::RoundRobin392,
        Self::RoundRobin28,
        Self::Random,
        Self::Sticky24,
        Self::UniformSticky24,
        Self::Sticky33,
        Self::Sticky44,
        Self::OldNullKey,
        Self::OldRoundRobin,
        Self::Leader,
        Self::Field,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Key => "key",
            Self::RoundRobin => "round-robin",
            Self::RoundRobin392 => "round-robin@3.9.2",
            Self::RoundRobin28 => "round-robin@2.8",
            Self::Random => "random",
            Self::Sticky24 => "sticky@2.4",
            Self::UniformSticky24 => "uniform-sticky@2.4",
            Self::Sticky33 => "sticky@3.3",
            Self::Sticky44 => "sticky@4.4",
            Self::OldNullKey => "old-null-key",
            Self::OldRoundRobin => "default@2.3",
            Self::Leader => "leader",
            Self::Field => "field",
        }
    }

    /// What it is exact to.
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

    /// Whether it stands for a configured `partitioner.class`, which is asked about records with keys, too.
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

    /// Whether it ever asks for the partition of a record's key, or of its field.
    pub fn asks_key(self) -> bool {
        !self.takes_keyed() || matches!(self, Self::Leader | Self::Field)
    }

    /// Whether its choices hang on the bytes of the records before.
    pub fn counts_bytes(self) -> bool {
        self.batching() != Batching::Apart
    }

    pub(crate) fn batching(self) -> Batching {
        match self {
            Self::Sticky33 | Self::Sticky44 => Batching::BuiltIn,
            Self::Sticky24 | Self::UniformSticky24 | Self::RoundRobin28 | Self::RoundRobin392 => {
                Batching::Told
            }
            _ => Batching::Apart,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Other names of the same.
const ALIASES: [(&str, Strategy); 4] = [
    ("sticky", Strategy::Sticky44),
    ("org.apache.kafka.clients.producer.RoundRobinPartitioner", Strategy::RoundRobin),
    ("org.apache.kafka.clients.producer.UniformStickyPartitioner", Strategy::UniformSticky24),
    ("org.apache.kafka.clients.producer.internals.DefaultPartitioner", Strategy::Sticky24),
];

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let aliases = ALIASES.into_iter().find(|(alias, _)| *alias == name).map(|(_, strategy)| strategy);
        let named = Self::ALL.into_iter().find(|strategy| strategy.name() == name);
        if let Some(strategy) = named.or(aliases) {
            return Ok(strategy);
        }
        if let Some((base, version)) = name.split_once('@').filter(|(base, _)| VERSIONED.contains(base)) {
            return of_version(base, version);
        }
        Err({
            let known: Vec<_> = ["sticky"].into_iter().chain(Self::ALL.map(Self::name)).collect();
            let nearest = nearest(name, &known);
            Error::UnknownStrategy { name: name.to_owned(), known, nearest }
        })
    }
}

/// What there is by versions of Kafka.
const VERSIONED: [&str; 4] = ["default", "round-robin", "sticky", "uniform-sticky"];

/// What one version of Kafka has under a name; `default` is what it does where nothing is configured.
fn of_version(name: &str, version: &str) -> Result<Strategy> {
    let mut parts = version.split('.').map(str::parse::<u32>);
    let number = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor)), None, None) => (major, minor, 0),
        (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch)), None) => (major, minor, patch),
        _ => {
            let reason = format!("{name}@{version} names no version of Kafka: write it like {name}@2.8");
            return Err(Error::Producer(reason));
        }
    };
    let is_built_in = number >= (3, 3, 0);
    Ok(match name {
        "default" if number < (0, 8, 0) => return Err(missing(name, version)),
        "default" if number < (0, 9, 0) => Strategy::OldNullKey,
        "default" if number < (2, 4, 0) => Strategy::OldRoundRobin,
        _ if number < (2, 4, 0) => return Err(missing(name, version)),
        "round-robin" if number < (3, 9, 2) => Strategy::RoundRobin28,
        "round-robin" if number < (4, 0, 0) => Strategy::RoundRobin392,
        "round-robin" => Strategy::RoundRobin,
        "uniform-sticky" if number < (4, 0, 0) => Strategy::UniformSticky24,
        "uniform-sticky" => return Err(missing(name, version)),
        _ if !is_built_in => Strategy::Sticky24,
        _ if number < (4, 4, 0) => Strategy::Sticky33,
        _ => Strategy::Sticky44,
    })
}

fn missing(name: &str, version: &str) -> Error {
    let since = match name {
        "default" => "Kafka's versions begin with 0.8",
        "uniform-sticky" => "Kafka has its UniformStickyPartitioner from 2.4 to 3.9",
        "round-robin" => "Kafka has its RoundRobinPartitioner since 2.4",
        _ => "Kafka's producers are sticky since 2.4",
    };
    Error::Producer(format!("there is no {name}@{version}: {since}"))
}
