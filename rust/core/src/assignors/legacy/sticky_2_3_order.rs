//! The order in which the sticky assignor of Kafka 2.3 deals partitions (`StickyAssignor.sortPartitions`).

use std::collections::BTreeSet;

use super::owned_partitions::{LegacyClaims, Owners};
use crate::assignors::client::group::JavaGroup;
use crate::assignors::client::subscriptions::TopicReaders;

/// All partitions. If members own something and all subscribe to the same topics, owned partitions come first: starting
/// with the member that has most, and for each member first those that another one owned before.
pub(super) fn sorted(
    group: &JavaGroup<'_>,
    claims: &LegacyClaims,
    topics: &TopicReaders,
    owners: &Owners,
) -> Vec<u32> {
    if owners.walk.is_empty() || !identical(group, topics) {
        return topics.partitions(group);
    }
    let mut queues = queues(group, claims, owners);
    let mut by_count: BTreeSet<_> =
        queues.iter().zip(0_u32..).map(|(queue, member)| (queue.len(), member)).collect();
    let mut sorted = Vec::with_capacity(group.partitions() as usize);
    let mut is_sorted = vec![false; group.partitions() as usize];
    while let Some((count, member)) = by_count.pop_last() {
        if let Some(partition) = queues[member as usize].next() {
            sorted.push(partition);
            is_sorted[partition as usize] = true;
            by_count.insert((count - 1, member));
        }
    }
    sorted.extend(all(group, claims).into_iter().filter(|&partition| !is_sorted[partition as usize]));
    sorted
}

/// Whether all members read the same topics, ignoring missing ones.
fn identical(group: &JavaGroup<'_>, topics: &TopicReaders) -> bool {
    let same = |topic: u32| {
        let reads = topics.reads(0, topic);
        (1..).take(group.members().saturating_sub(1)).all(|member| topics.reads(member, topic) == reads)
    };
    (0..).take(group.topics.len()).all(same)
}

/// What each member owns: first what another one owned in the previous generation, then the rest, each in the order of
/// Java's map.
fn queues(group: &JavaGroup<'_>, claims: &LegacyClaims, owners: &Owners) -> Vec<std::vec::IntoIter<u32>> {
    let mut queues = vec![Vec::new(); group.members()];
    let had = |&partition: &u32| owners.previous[partition as usize].is_some();
    let disputed: Vec<_> = owners.walk.iter().copied().filter(had).collect();
    let others = owners.walk.iter().copied().filter(|partition| !had(partition));
    for partition in claims.walker().walk(&disputed).into_iter().chain(others) {
        if partition < group.partitions() {
            queues[owners.owner[partition as usize] as usize].push(partition);
        }
    }
    queues.into_iter().map(Vec::into_iter).collect()
}

/// All partitions in the order of Java's map of them, which is filled topic by topic.
fn all(group: &JavaGroup<'_>, claims: &LegacyClaims) -> Vec<u32> {
    let starts = &group.starts;
    let of_topic = |topic: u32| starts[topic as usize]..starts[topic as usize + 1];
    let inserted: Vec<_> = group.topic_walk().into_iter().flat_map(of_topic).collect();
    claims.walker().walk(&inserted)
}
