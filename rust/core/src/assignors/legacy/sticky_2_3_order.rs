//! The order in which the sticky assignor of Kafka 2.3 deals partitions (`StickyAssignor.sortPartitions`).

use super::owned_partitions::{LegacyClaims, Owners};
use crate::assignors::client::group::JavaGroup;
use crate::assignors::client::subscriptions::TopicReaders;
use crate::assignors::lists::MemberLists;
use crate::assignors::lists::from_the_fullest;
use crate::index::{PartitionIx, TopicIx, marked};

/// All partitions. If members own something and all subscribe to the same topics, owned partitions come first: starting
/// with the member that has most, and for each member first those that another one owned before.
pub(super) fn sorted(
    group: &JavaGroup<'_>,
    claims: &LegacyClaims,
    topics: &TopicReaders,
    owners: &Owners,
) -> Vec<PartitionIx> {
    if owners.walk.is_empty() || !identical(group, topics) {
        return topics.partitions(group);
    }
    let mut sorted = from_the_fullest(queues(group, claims, owners), Vec::pop);
    let is_sorted = marked(group.partitions().len(), sorted.iter().copied());
    sorted.extend(all(group, claims).into_iter().filter(|&partition| !is_sorted[partition]));
    sorted
}

/// Whether all members read the same topics, ignoring missing ones.
fn identical(group: &JavaGroup<'_>, topics: &TopicReaders) -> bool {
    let same = |topic: TopicIx| {
        let mut reads = group.by_id().map(|member| topics.reads(member, topic));
        let first = reads.next();
        reads.all(|reads| Some(reads) == first)
    };
    group.by_name().all(same)
}

/// What each member owns, from the end on: first what another one owned in the previous generation, then the rest, each in
/// the order of Java's map.
fn queues(group: &JavaGroup<'_>, claims: &LegacyClaims, owners: &Owners) -> MemberLists {
    let mut queues = vec![Vec::new(); group.members()];
    let had = |&partition: &PartitionIx| owners.previous[partition].is_some();
    let disputed: Vec<_> = owners.walk.iter().copied().filter(had).collect();
    let others = owners.walk.iter().copied().filter(|partition| !had(partition));
    for partition in claims.walker().walk(&disputed).into_iter().chain(others) {
        if !group.is_beyond(partition) {
            queues[owners.owner[partition]].push(partition);
        }
    }
    for queue in &mut queues {
        queue.reverse();
    }
    queues
}

/// All partitions in the order of Java's map of them, which is filled topic by topic.
fn all(group: &JavaGroup<'_>, claims: &LegacyClaims) -> Vec<PartitionIx> {
    let inserted: Vec<_> = group.topic_walk().into_iter().flat_map(|topic| group.row.of(topic)).collect();
    claims.walker().walk(&inserted)
}
