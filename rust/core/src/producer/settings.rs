//! The part of a producer's configuration that decides where a record goes.

use std::str::FromStr;

use crate::names::{listed, named};
use crate::{Error, Result};

/// A producer's configuration; by default Kafka's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `batch.size` in bytes.
    pub batch_size: i32,
    /// `linger.ms`: how long a batch stays open, if records have times.
    pub linger_ms: Option<i64>,
    /// `partitioner.ignore.keys`: whether the built-in partitioner treats records with keys like those without.
    pub ignore_keys: bool,
    /// `partitioner.rack.aware`: whether it prefers partitions that are near.
    pub rack_aware: bool,
    /// `topic.metadata.refresh.interval.ms` of Kafka 0.8; below 0 means never.
    pub refresh_ms: i64,
    /// Whether `random` draws only from the partitions with a leader.
    pub available_only: bool,
    /// How `leader` chooses among several.
    pub among: Among,
    /// What happens to records for which `explicit`, `field` or `leader` have no answer.
    pub fallback: Fallback,
}

named! {
    /// How one of several partitions is chosen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Among {
        /// The first in the metadata's order.
        First = "first",
        /// By a draw.
        Random = "random",
        /// One after the other.
        RoundRobin = "round-robin",
        /// By the key's partition modulo their number; without a key, one after the other.
        Key = "key",
    }
}

named! {
    /// What happens if a strategy has no answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fallback {
        /// The record is refused.
        Fail = "error",
        /// One partition after the other, as `round-robin`.
        RoundRobin = "round-robin",
        /// By a draw, from those with a leader if there are any.
        Random = "random",
    }
}

/// Kafka's own defaults.
impl Default for Settings {
    fn default() -> Self {
        Self {
            batch_size: 16_384,
            linger_ms: None,
            ignore_keys: false,
            rack_aware: false,
            refresh_ms: 600_000,
            available_only: false,
            among: Among::Random,
            fallback: Fallback::Fail,
        }
    }
}

impl Settings {
    /// Refuses what Kafka refuses.
    ///
    /// # Errors
    /// [`Error::Setting`] for a size or a time below 0.
    pub fn check(&self) -> Result<()> {
        if self.batch_size < 0 {
            return Err(Error::Setting { field: "batch.size", least: 0, value: self.batch_size.into() });
        }
        match self.linger_ms {
            Some(linger @ ..=-1) => Err(Error::Setting { field: "linger.ms", least: 0, value: linger }),
            _ => Ok(()),
        }
    }
}

impl FromStr for Among {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let what = "way to choose among several partitions";
        Self::named(name).ok_or_else(|| unknown(what, name, Self::ALL.iter().map(|known| known.name())))
    }
}

impl FromStr for Fallback {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let what = "way out for a record that the strategy has nothing to go by for";
        Self::named(name).ok_or_else(|| unknown(what, name, Self::ALL.iter().map(|known| known.name())))
    }
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = &'static str>) -> Error {
    Error::Producer(format!("there is no {what} {name:?}: it is {}", listed(&known.collect::<Vec<_>>())))
}
