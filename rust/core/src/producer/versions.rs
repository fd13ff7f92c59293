//! Which strategy a name means: a strategy's own name, a class of Kafka's, or a name with a version of Kafka
//! (`sticky@3.9`).

use std::str::FromStr;

use super::strategy::Strategy;
use crate::{Error, Result};

/// Other names of the same strategies; a name without a version is the newest Kafka's that has it.
const ALIASES: [(&str, Strategy); 6] = [
    ("sticky", Strategy::Sticky44),
    ("default", Strategy::Sticky44),
    ("uniform-sticky", Strategy::UniformSticky24),
    ("org.apache.kafka.clients.producer.RoundRobinPartitioner", Strategy::RoundRobin),
    ("org.apache.kafka.clients.producer.UniformStickyPartitioner", Strategy::UniformSticky24),
    ("org.apache.kafka.clients.producer.internals.DefaultPartitioner", Strategy::Sticky24),
];

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let aliases = ALIASES.into_iter().find(|(alias, _)| *alias == name).map(|(_, strategy)| strategy);
        if let Some(strategy) = Self::named(name).or(aliases) {
            return Ok(strategy);
        }
        if let Some((base, version)) = name.split_once('@').filter(|(base, _)| VERSIONED.contains(base)) {
            return of_version(base, version);
        }
        let own = Self::ALL.iter().map(|strategy| strategy.name());
        Err(Error::unknown("strategy", name, ["sticky"].into_iter().chain(own)))
    }
}

/// The strategies by versions of Kafka.
const VERSIONED: [&str; 4] = ["default", "round-robin", "sticky", "uniform-sticky"];

/// The strategy of one version of Kafka under a name; `default` is what it does with nothing configured.
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
