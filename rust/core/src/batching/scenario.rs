//! The input of a simulation, apart from its records.

use std::collections::BTreeSet;

use super::latency::Latency;
use crate::producer::strategy::BatchRule;
use crate::producer::{self, Draws, Strategy, Topic};
use crate::{Error, Result};

/// The part of a producer's configuration that decides about batches, under Kafka's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `batch.size` in bytes.
    pub batch_size: i32,
    /// `linger.ms`.
    pub linger_ms: i64,
    /// `max.request.size` in bytes.
    pub max_request_size: i32,
    /// `max.in.flight.requests.per.connection`.
    pub max_in_flight: i32,
    /// `retry.backoff.ms`, which is always the same here.
    pub retry_backoff_ms: i64,
    /// `partitioner.ignore.keys`.
    pub ignore_keys: bool,
    /// `partitioner.adaptive.partitioning.enable`.
    pub adaptive: bool,
    /// `partitioner.availability.timeout.ms`; 0 is never.
    pub availability_timeout_ms: i64,
    /// `partitioner.rack.aware`.
    pub rack_aware: bool,
    /// `client.rack`.
    pub client_rack: String,
}

/// Kafka's defaults since 4.0.
impl Default for Settings {
    fn default() -> Self {
        Self {
            batch_size: 16_384,
            linger_ms: 5,
            max_request_size: 1_048_576,
            max_in_flight: 5,
            retry_backoff_ms: 100,
            ignore_keys: false,
            adaptive: true,
            availability_timeout_ms: 0,
            rack_aware: false,
            client_rack: String::new(),
        }
    }
}

impl Settings {
    fn check(&self) -> Result<()> {
        let bounds = [
            ("batch.size", i64::from(self.batch_size), 0),
            ("linger.ms", self.linger_ms, 0),
            ("max.request.size", self.max_request_size.into(), 0),
            ("max.in.flight.requests.per.connection", self.max_in_flight.into(), 1),
            ("retry.backoff.ms", self.retry_backoff_ms, 0),
            ("partitioner.availability.timeout.ms", self.availability_timeout_ms, 0),
        ];
        match bounds.into_iter().find(|(_, value, least)| value < least) {
            Some((field, value, least)) => Err(Error::Setting { field, least, value }),
            None => Ok(()),
        }
    }
}

/// A broker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Broker {
    /// Its number.
    pub id: i32,
    /// Its rack.
    pub rack: Option<String>,
    /// How long it takes to answer.
    pub latency: Latency,
    /// When it accepts no request: from the first of two times until just before the second.
    pub away: Vec<(i64, i64)>,
}

/// A partition of the topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its number.
    pub id: i32,
    /// The number of the broker that leads it, if one does.
    pub leader: Option<i32>,
}

/// The whole input, apart from the records.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// How partitions are chosen; see [`Scenario::STRATEGIES`].
    pub strategy: Strategy,
    /// The producer's configuration.
    pub settings: Settings,
    /// Whether the sender runs after each append that filled or opened a batch, not only after an instant's records.
    pub each_append: bool,
    /// The brokers.
    pub brokers: Vec<Broker>,
    /// The topic's partitions in the order of the metadata.
    pub partitions: Vec<Partition>,
    /// When `flush()` begins, once all records are there.
    pub flush_ms: Option<i64>,
    /// The requests, counted from 0, that fail and are tried again.
    pub failed_requests: Vec<u64>,
    /// The strategy's draws.
    pub draws: Draws,
    /// The seed of drawn latencies.
    pub seed: i64,
}

impl Scenario {
    /// The strategies whose batches are known.
    pub const STRATEGIES: [Strategy; 8] = [
        Strategy::Sticky44,
        Strategy::Sticky33,
        Strategy::RoundRobin,
        Strategy::Random,
        Strategy::RoundRobin392,
        Strategy::Sticky24,
        Strategy::UniformSticky24,
        Strategy::RoundRobin28,
    ];

    /// Whether the accumulator is that of Kafka 2.4 to 3.2.
    pub(super) fn is_old(&self) -> bool {
        matches!(self.strategy, Strategy::Sticky24 | Strategy::UniformSticky24 | Strategy::RoundRobin28)
    }

    /// Whether the strategy is told how many batches wait for each partition.
    pub(super) fn is_adaptive(&self) -> bool {
        self.settings.adaptive && self.strategy.batching() == BatchRule::BuiltIn
    }

    /// Refuses what Kafka refuses, and inconsistent input.
    pub(super) fn check(&self) -> Result<()> {
        if !Self::STRATEGIES.contains(&self.strategy) {
            return refused(format!(
                "the batches of the strategy {} are not known: take one of {}",
                self.strategy,
                Self::STRATEGIES.map(Strategy::name).join(", ")
            ));
        }
        self.settings.check()?;
        if self.strategy == Strategy::Sticky44
            && self.settings.rack_aware
            && self.settings.client_rack.is_empty()
        {
            return refused("client.rack must be set where partitioner.rack.aware is true".to_owned());
        }
        if self.partitions.is_empty() {
            return refused("the topic has no partitions: it needs at least one".to_owned());
        }
        let mut ids = BTreeSet::new();
        for broker in &self.brokers {
            check_broker(broker)?;
            if !ids.insert(broker.id) {
                return refused(format!("the broker {} is there twice", broker.id));
            }
        }
        let unknown = self.partitions.iter().find(|each| each.leader.is_some_and(|id| !ids.contains(&id)));
        match unknown {
            Some(Partition { id, leader: Some(leader) }) => refused(format!(
                "partition {id} is led by the broker {leader}, which is not among the brokers"
            )),
            _ => Ok(()),
        }
    }

    /// The strategy at work on the topic.
    pub(super) fn producer(&self) -> Result<producer::Producer> {
        let settings = producer::Settings {
            batch_size: self.settings.batch_size,
            ignore_keys: self.settings.ignore_keys,
            rack_aware: self.settings.rack_aware,
            ..producer::Settings::default()
        };
        let partitions: Vec<_> = self
            .partitions
            .iter()
            .map(|&Partition { id, leader }| producer::Partition {
                id,
                available: leader.is_some(),
                near: leader.is_some_and(|leader| self.is_near(leader)),
            })
            .collect();
        let topic = Topic::new("topic", &partitions)?;
        producer::Producer::new(self.strategy, settings, vec![topic], self.draws.clone())
    }

    /// Whether a broker is in the producer's rack.
    fn is_near(&self, leader: i32) -> bool {
        let broker = self.brokers.iter().find(|broker| broker.id == leader);
        broker.is_some_and(|broker| broker.rack.as_deref() == Some(&self.settings.client_rack))
    }
}

fn check_broker(broker: &Broker) -> Result<()> {
    let Broker { id, latency, away, .. } = broker;
    latency.check(*id)?;
    match away.iter().find(|(from, to)| from > to) {
        Some((from, to)) => refused(format!("the broker {id} is away from {from} to {to}, which is before")),
        None => Ok(()),
    }
}

fn refused<T>(reason: String) -> Result<T> {
    Err(Error::Producer(reason))
}
