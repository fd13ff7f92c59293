//! The assignors of librdkafka, and so of Confluent's .NET, Python, Go and JavaScript clients, rust-rdkafka and php-rdkafka.
//!
//! Exact to librdkafka 2.15.1 with glibc, whose `qsort` is a merge sort: its comparison of members is not transitive if
//! static and other members mix. Under `@VERSION` exact to 1.6.1, 2.1.1 and 2.6.0.

mod adjustment;
mod balance;
mod balance_check;
mod claims;
mod cooperative_sticky;
mod leader;
mod movements;
mod range;

use super::ClientAssignor;
use crate::assignors::{Assignment, Input};
use crate::{Error, Result};
use leader::Leader;

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("librdkafka:range", |input| range::assign(input, LibrdkafkaVersion::Today)),
    ClientAssignor::new("librdkafka:range@2.1", |input| range::assign(input, LibrdkafkaVersion::UpTo21)),
    ClientAssignor::new("librdkafka:roundrobin", round_robin),
    ClientAssignor::new("librdkafka:cooperative-sticky", |input| {
        cooperative_sticky::assign(input, LibrdkafkaVersion::Today)
    }),
    ClientAssignor::new("librdkafka:cooperative-sticky@2.6.0", |input| {
        cooperative_sticky::assign(input, LibrdkafkaVersion::UpTo260)
    }),
    ClientAssignor::new("librdkafka:cooperative-sticky@2.1", |input| {
        cooperative_sticky::assign(input, LibrdkafkaVersion::UpTo21)
    }),
    ClientAssignor::new("librdkafka:cooperative-sticky@1.6", |input| {
        cooperative_sticky::assign(input, LibrdkafkaVersion::UpTo16)
    }),
];

/// A version and the earlier ones, back to the version that the line above names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LibrdkafkaVersion {
    /// 1.6.0 and 1.6.1, the first ones with `cooperative-sticky`, whose leader ignores what members own.
    UpTo16,
    /// 1.7.0 to 2.1.1: without racks and generations.
    UpTo21,
    /// 2.2.0 to 2.6.0: the check of the balance loses its place among the members (librdkafka#4783).
    UpTo260,
    /// 2.6.1 and later.
    Today,
}

impl LibrdkafkaVersion {
    /// Whether members tell their racks and generations (KIP-881, KIP-792).
    fn has_racks(self) -> bool {
        self > Self::UpTo21
    }
}

/// The leader's process dies, as it does since the first version.
fn dies(reason: &str) -> Error {
    dies_since("1.6.0", reason)
}

/// The leader's process dies, as it does since a version.
fn dies_since(version: &str, reason: &str) -> Error {
    Error::client_fails(format!("{reason} and dies (since {version}, and 2.16.0 still does)"))
}

/// `roundrobin`: all partitions in turn (`rd_kafka_roundrobin_assignor_assign_cb`).
fn round_robin(input: &Input<'_>) -> Result<Assignment> {
    let leader = Leader::new(input, LibrdkafkaVersion::Today)?;
    let mut lists = vec![Vec::new(); leader.group.members()];
    let mut topics: Vec<_> = leader.topics.iter().map(|topic| topic.topic).collect();
    topics.sort_unstable();
    let mut turns = leader.sorted(&leader.members).into_iter().cycle();
    for topic in topics {
        for partition in leader.group.row.of(topic) {
            let member = turns.find(|&member| leader.subscribed[member].contains(&topic));
            if let Some(member) = member {
                lists[member].push(partition);
            }
        }
    }
    Ok(leader.group.answer(&lists, None))
}
