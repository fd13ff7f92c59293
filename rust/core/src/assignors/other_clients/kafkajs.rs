//! `RoundRobinAssigner` of kafkajs 2.2.4: the leader's topics in turn over all members, whatever the others read.

use super::{ClientAssignor, answer};
use crate::assignors::{Assignment, Input, MOST_PARTITIONS};
use crate::java::strings::compare;
use crate::{Error, Result};

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] =
    &[ClientAssignor::new("kafkajs:RoundRobinAssigner", round_robin)];

/// The first member leads.
fn round_robin(input: &Input<'_>) -> Result<Assignment> {
    if input.members.is_empty() {
        return Ok(answer(&[], None));
    }
    let topics = in_an_object(input, input.subscribed.get(0_usize));
    let total: u64 = topics.iter().map(|&topic| u64::from(input.partitions[topic as usize])).sum();
    if total > u64::from(MOST_PARTITIONS) {
        return Err(Error::TooManyPartitions { most: MOST_PARTITIONS });
    }
    let mut members: Vec<u32> = (0..).take(input.members.len()).collect();
    // JavaScript sorts by UTF-16 units, as Java does.
    members.sort_by(|&one, &other| compare(input.members[one as usize], input.members[other as usize]));
    let mut turn = members.into_iter().cycle();
    let mut lists = vec![Vec::new(); input.members.len()];
    for topic in topics {
        for (number, member) in (0..input.partitions[topic as usize].cast_signed()).zip(turn.by_ref()) {
            lists[member as usize].push((topic, number));
        }
    }
    Ok(answer(&lists, None))
}

/// Topics as the keys of a JavaScript object: each once, and those that are array indices first, by their numbers.
fn in_an_object(input: &Input<'_>, subscribed: &[u32]) -> Vec<u32> {
    let mut seen = vec![false; input.topics.len()];
    let mut topics = subscribed.to_vec();
    topics.retain(|&topic| !std::mem::replace(&mut seen[topic as usize], true));
    topics.sort_by_key(|&topic| array_index(input.topics[topic as usize]).map_or(u64::MAX, u64::from));
    topics
}

/// A name's value as an array index: a number below 2^32 - 1, written as JavaScript writes it.
fn array_index(name: &str) -> Option<u32> {
    let index: u32 = name.parse().ok()?;
    (index < u32::MAX && index.to_string() == name).then_some(index)
}
