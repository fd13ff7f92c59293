//! `RoundRobinAssigner` of kafkajs 2.2.4: the leader's topics in turn over all members, whatever the others read.

use super::{ClientAssignor, answer};
use crate::assignors::{Assignment, Given, MOST_PARTITIONS};
use crate::java::strings::compare;
use crate::{Error, Result};

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] =
    &[ClientAssignor::new("kafkajs:RoundRobinAssigner", round_robin)];

/// The first member leads.
fn round_robin(given: &Given<'_>) -> Result<Assignment> {
    if given.members.is_empty() {
        return Ok(answer(&[], None));
    }
    let topics = in_an_object(given, given.subscribed.get(0));
    let total: u64 = topics.iter().map(|&topic| u64::from(given.partitions[topic as usize])).sum();
    if total > u64::from(MOST_PARTITIONS) {
        return Err(Error::TooManyPartitions { most: MOST_PARTITIONS });
    }
    let mut members: Vec<u32> = (0..).take(given.members.len()).collect();
    // JavaScript sorts by UTF-16 units, as Java does.
    members.sort_by(|&one, &other| compare(given.members[one as usize], given.members[other as usize]));
    let mut turn = members.into_iter().cycle();
    let mut lists = vec![Vec::new(); given.members.len()];
    for topic in topics {
        for (number, member) in (0..given.partitions[topic as usize].cast_signed()).zip(turn.by_ref()) {
            lists[member as usize].push((topic, number));
        }
    }
    Ok(answer(&lists, None))
}

/// Topics as the keys of a JavaScript object: each once, and those that are array indices first, by their numbers.
fn in_an_object(given: &Given<'_>, subscribed: &[u32]) -> Vec<u32> {
    let mut seen = vec![false; given.topics.len()];
    let mut topics = subscribed.to_vec();
    topics.retain(|&topic| !std::mem::replace(&mut seen[topic as usize], true));
    topics.sort_by_key(|&topic| array_index(given.topics[topic as usize]).map_or(u64::MAX, u64::from));
    topics
}

/// A name's value as an array index: a number below 2^32 - 1, written as JavaScript writes it.
fn array_index(name: &str) -> Option<u32> {
    let index: u32 = name.parse().ok()?;
    (index < u32::MAX && index.to_string() == name).then_some(index)
}
