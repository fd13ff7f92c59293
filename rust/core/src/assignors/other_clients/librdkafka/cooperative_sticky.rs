//! `cooperative-sticky`: the general algorithm of KIP-54 for every group.

use super::LibrdkafkaVersion;
use super::adjustment::adjust;
use super::balance::LibrdkafkaBalance;
use super::claims::LibrdkafkaClaims;
use super::leader::Leader;
use super::{dies, dies_since};
use crate::Result;
use crate::assignors::lists::from_the_fullest;
use crate::assignors::other_clients::answer;
use crate::assignors::other_clients::holdings::Readers;
use crate::assignors::{Assignment, Input, NoRack};
use crate::index::{Ix, MemberIx, PartitionIx, indices, marked};

/// `rd_kafka_sticky_assignor_assign_cb` and the adjustment.
pub(super) fn assign(input: &Input<'_>, version: LibrdkafkaVersion) -> Result<Assignment> {
    let leader = Leader::new(input, version)?;
    if leader.members.is_empty() {
        return Err(dies(
            "no member has a subscription that it can read, upon which librdkafka reads past its list",
        ));
    }
    if let Some(member) = without_rack_field(&leader) {
        let member = leader.group.member_name(member);
        let reason = format!(
            "racks matter to this group and member {member:?} sends a subscription of a version before 3, which has no \
             rack, upon which librdkafka follows a null pointer"
        );
        return Err(dies_since("2.2.0", &reason));
    }
    let mut claims = LibrdkafkaClaims::new(&leader);
    let readers = leader.readers();
    let sorted = sorted_partitions(&leader, &mut claims, &readers);
    let lists = LibrdkafkaBalance::new(&leader, &claims, readers).run(sorted)?;
    let adjusted = adjust(&leader, &claims, &lists);
    let pair = |&partition: &PartitionIx| match (partition.place()).checked_sub(leader.group.row.len()) {
        Some(absent) => claims.absent[absent],
        None => leader.group.pair(partition),
    };
    let of = |&number: &MemberIx| adjusted[number].iter().map(pair).collect();
    Ok(answer(&leader.group.joined.iter().map(of).collect::<Vec<_>>(), None))
}

/// A member that reads some topic and sends no rack, if racks matter (`rd_kafka_rack_info_new`).
fn without_rack_field(leader: &Leader<'_>) -> Option<MemberIx> {
    let mut members = leader.topics.iter().flat_map(|topic| &topic.members).copied();
    let found =
        members.find(|&member| leader.rack(member).is_none() && leader.no_rack(member) == NoRack::Unsaid);
    found.filter(|_| leader.has_racks(&leader.topics))
}

/// `areSubscriptionsIdentical`, for topics that have partitions.
fn are_identical(leader: &Leader<'_>) -> bool {
    let mut existing = leader.topics.iter().filter(|topic| leader.count(topic.topic) > 0);
    existing.all(|topic| topic.members.len() == leader.members.len())
}

/// `sortPartitions`: the order in which partitions are considered.
fn sorted_partitions(
    leader: &Leader<'_>,
    claims: &mut LibrdkafkaClaims,
    readers: &Readers,
) -> Vec<PartitionIx> {
    let group = &leader.group;
    if !are_identical(leader) {
        let mut all: Vec<_> = indices(group.row.len()).collect();
        all.sort_by_key(|&partition| readers.of_topic[group.row.topic(partition)].len());
        return all;
    }
    let is_there = |partition: &PartitionIx| partition.place() < group.row.len();
    let owned = claims.lists.iter_mut().map(|list| {
        list.sort_unstable();
        list.iter().copied().filter(is_there).collect()
    });
    let mut sorted = from_the_fullest(owned.collect(), |list| {
        let back = list.iter().position(|partition| claims.previous.contains_key(partition));
        (!list.is_empty()).then(|| list.remove(back.unwrap_or(0)))
    });
    let taken = marked(group.row.len(), sorted.iter().copied());
    let was_empty = sorted.is_empty();
    // Its map was filled in the order of the Metadata response's topics, and is walked newest entry first.
    for topic in leader.topics.iter().rev() {
        sorted.extend(group.row.of(topic.topic).rev().filter(|&partition| !taken[partition]));
    }
    if was_empty {
        sorted.sort_unstable();
    }
    sorted
}
