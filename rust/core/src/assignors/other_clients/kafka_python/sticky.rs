//! `StickyPartitionAssignor` and `CooperativeStickyAssignor`: the general algorithm of KIP-54 for every group.

use super::ClientRules;
use super::balance::KafkaPythonBalance;
use super::claims::{EarlierOwners, MemberClaims, owned_partitions, user_data};
use super::hash_order::HashOrder;
use crate::assignors::other_clients::holdings::Readers;
use crate::assignors::other_clients::numbered::Numbered;
use crate::assignors::{Assignment, Input};
use crate::index::{MemberIx, PartitionIx, TopicIx, indices, numbered};
use crate::{Error, Result};

/// `StickyPartitionAssignor.assign`.
pub(super) fn sticky(input: &Input<'_>, rules: ClientRules) -> Result<Assignment> {
    let group = numbered_group(input, rules)?;
    let (lists, hashes) = assigned(&group, &user_data(input), rules)?;
    Ok(group.answer(&lists, hashes.chance()))
}

/// `CooperativeStickyAssignor.assign`: what the last claimant does not keep is withheld from its new owner.
pub(super) fn cooperative(input: &Input<'_>, rules: ClientRules) -> Result<Assignment> {
    let mut group = numbered_group(input, rules)?;
    // Its metadata have the topics sorted.
    for topics in &mut group.subscribed {
        topics.sort_unstable();
    }
    let claims = owned_partitions(input);
    let (mut lists, hashes) = assigned(&group, &claims, rules)?;
    let mut owner = vec![None; group.row.len()];
    for (&member, claims) in group.numbers.iter().zip(&claims) {
        for partition in claims.partitions.iter().filter_map(|&pair| group.partition(pair)) {
            owner[partition] = Some(member);
        }
    }
    for (member, list) in numbered(&mut lists) {
        list.retain(|&partition| owner[partition].is_none_or(|owner| owner == member));
    }
    Ok(group.answer(&lists, hashes.chance()))
}

fn numbered_group<'a>(input: &'a Input<'a>, rules: ClientRules) -> Result<Numbered<'a>> {
    if input.members.is_empty() {
        let reason = "it has no members, upon which the client throws TypeError".to_owned();
        return Err(Error::ClientFails { assignor: rules.assignor, reason });
    }
    Numbered::new(input)
}

/// Each member's partitions by topic and number, before anything is withheld (`StickyAssignmentExecutor`).
fn assigned(
    group: &Numbered<'_>,
    claims: &[MemberClaims],
    rules: ClientRules,
) -> Result<(Vec<Vec<PartitionIx>>, HashOrder)> {
    let before = EarlierOwners::new(group, claims);
    let mut hashes = HashOrder::new(group.input.options.seed);
    let readers = readers_of(group);
    let sorted = sorted_partitions(group, &before, &readers, &mut hashes);
    let mut lists = KafkaPythonBalance::new(group, before, readers, hashes, rules).run(sorted)?;
    for list in &mut lists.0 {
        list.sort_unstable();
    }
    Ok(lists)
}

/// `_populate_sorted_partitions`.
fn sorted_partitions(
    group: &Numbered<'_>,
    before: &EarlierOwners,
    readers: &Readers,
    hashes: &mut HashOrder,
) -> Vec<PartitionIx> {
    let count = |partition: &PartitionIx| readers.of_topic[group.row.topic(*partition)].len();
    let mut all: Vec<PartitionIx> = indices(group.row.len()).collect();
    all.sort_by_key(count);
    if before.is_fresh || !are_identical(readers, group) {
        return all;
    }
    let mut lists = before.lists.clone();
    let mut sorted = Vec::with_capacity(all.len());
    let mut taken = vec![false; all.len()];
    let mut heap: std::collections::BinaryHeap<_> =
        numbered(&lists).map(|(member, list): (MemberIx, _)| (list.len(), member)).collect();
    while let Some((_, member)) = heap.pop() {
        let list = &mut lists[member];
        let back: Vec<PartitionIx> =
            list.iter().copied().filter(|&each| before.previous[each].is_some()).collect();
        let partition = match hashes.first(&back) {
            Some(partition) => {
                list.retain(|&other| other != partition);
                partition
            }
            None => match list.pop() {
                Some(partition) => partition,
                None => continue,
            },
        };
        taken[partition] = true;
        sorted.push(partition);
        heap.push((list.len(), member));
    }
    sorted.extend(all.into_iter().filter(|&partition| !taken[partition]));
    sorted
}

/// By topic, its readers in the order given; a topic that a member names twice counts twice.
fn readers_of(group: &Numbered<'_>) -> Readers {
    let mut of_topic = vec![Vec::new(); group.topics.len()];
    for &member in &group.numbers {
        for &topic in &group.subscribed[member] {
            of_topic[topic].push(member);
        }
    }
    let once = |topics: &Vec<TopicIx>| {
        let mut topics = topics.clone();
        topics.sort_unstable();
        topics.dedup();
        topics
    };
    let count = |topics: &Vec<TopicIx>| topics.iter().map(|&topic| group.row.of(topic).len()).sum();
    Readers {
        of_topic,
        topics: group.subscribed.iter().map(once).collect(),
        most: group.subscribed.iter().map(count).collect(),
    }
}

/// `_are_subscriptions_identical`: lists are compared, in the order in which topics were sent.
fn are_identical(readers: &Readers, group: &Numbered<'_>) -> bool {
    let has_partitions = |topic: &TopicIx| group.row.count(*topic) > 0;
    let existing = indices(group.topics.len()).filter(has_partitions);
    let mut topics = existing.map(|topic| &readers.of_topic[topic]);
    let mut members =
        group.subscribed.iter().map(|topics| topics.iter().filter(|topic| has_partitions(topic)));
    let first = topics.next();
    let Some(one) = members.next() else { return true };
    topics.all(|other| Some(other) == first) && members.all(|other| other.eq(one.clone()))
}
