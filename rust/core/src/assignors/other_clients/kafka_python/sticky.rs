//! `StickyPartitionAssignor` and `CooperativeStickyAssignor`: the general algorithm of KIP-54 for every group.

use super::balance::KafkaPythonBalance;
use super::claims::{EarlierOwners, MemberClaims, owned_partitions, user_data};
use crate::assignors::lists::MemberLists;
use crate::assignors::lists::from_the_fullest;
use crate::assignors::other_clients::client_group::ClientGroup;
use crate::assignors::other_clients::holdings::Readers;
use crate::assignors::{Assignment, Chance, Input};
use crate::index::{PartitionIx, TopicIx, indices, marked, numbered};
use crate::java::splittable_random::{GAMMA, mix64};
use crate::{Error, Result};

/// `StickyPartitionAssignor.assign`.
pub(super) fn sticky(input: &Input<'_>, undoes_both: bool) -> Result<Assignment> {
    let group = numbered_group(input)?;
    let (lists, hashes) = assigned(&group, &group.existing_subscriptions(), &user_data(input), undoes_both)?;
    Ok(group.answer(&lists, hashes.chance()))
}

/// `CooperativeStickyAssignor.assign`: what the last claimant does not keep is withheld from its new owner.
pub(super) fn cooperative(input: &Input<'_>, undoes_both: bool) -> Result<Assignment> {
    let group = numbered_group(input)?;
    // Its metadata have the topics sorted.
    let mut subscribed = group.existing_subscriptions();
    for topics in &mut subscribed {
        topics.sort_unstable();
    }
    let claims = owned_partitions(input);
    let (mut lists, hashes) = assigned(&group, &subscribed, &claims, undoes_both)?;
    let mut owner = vec![None; group.row.len()];
    for (&member, claims) in group.joined.iter().zip(&claims) {
        for partition in claims.partitions.iter().filter_map(|&pair| group.partition(pair)) {
            owner[partition] = Some(member);
        }
    }
    for (member, list) in numbered(&mut lists) {
        list.retain(|&partition| owner[partition].is_none_or(|owner| owner == member));
    }
    Ok(group.answer(&lists, hashes.chance()))
}

fn numbered_group<'a>(input: &'a Input<'a>) -> Result<ClientGroup<'a>> {
    if input.members.is_empty() {
        let reason = "it has no members, upon which the client throws TypeError".to_owned();
        return Err(Error::client_fails(reason));
    }
    ClientGroup::new(input)
}

/// Each member's partitions by topic and number, before anything is withheld (`StickyAssignmentExecutor`).
fn assigned(
    group: &ClientGroup<'_>,
    subscribed: &[Vec<TopicIx>],
    claims: &[MemberClaims],
    undoes_both: bool,
) -> Result<(MemberLists, HashOrder)> {
    let before = EarlierOwners::new(group, claims);
    let mut hashes = HashOrder::new(group.input.options.seed);
    let readers = readers_of(group, subscribed);
    let by_readers = before.is_fresh || !are_identical(&readers, group, subscribed);
    let sorted = sorted_partitions(group, &before, by_readers, &readers, &mut hashes);
    let mut lists = KafkaPythonBalance::new(group, before, readers, hashes, undoes_both).run(sorted)?;
    for list in &mut lists.0 {
        list.sort_unstable();
    }
    Ok(lists)
}

/// `_populate_sorted_partitions`.
fn sorted_partitions(
    group: &ClientGroup<'_>,
    before: &EarlierOwners,
    by_readers: bool,
    readers: &Readers,
    hashes: &mut HashOrder,
) -> Vec<PartitionIx> {
    let count = |partition: &PartitionIx| readers.of_topic[group.row.topic(*partition)].len();
    let mut all: Vec<PartitionIx> = indices(group.row.len()).collect();
    all.sort_by_key(count);
    if by_readers {
        return all;
    }
    let mut sorted = from_the_fullest(before.lists.clone(), |list| {
        let back: Vec<PartitionIx> =
            list.iter().copied().filter(|&each| before.previous[each].is_some()).collect();
        let Some(partition) = hashes.first(&back) else { return list.pop() };
        list.retain(|&other| other != partition);
        Some(partition)
    });
    let taken = marked(all.len(), sorted.iter().copied());
    sorted.extend(all.into_iter().filter(|&partition| !taken[partition]));
    sorted
}

/// By topic, its readers in the order given; a topic that a member names twice counts twice.
fn readers_of(group: &ClientGroup<'_>, subscribed: &[Vec<TopicIx>]) -> Readers {
    let mut of_topic = vec![Vec::new(); group.topics().len()];
    for &member in &group.joined {
        for &topic in &subscribed[member] {
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
        topics: subscribed.iter().map(once).collect(),
        most: subscribed.iter().map(count).collect(),
    }
}

/// `_are_subscriptions_identical`: lists are compared, in the order in which topics were sent.
fn are_identical(readers: &Readers, group: &ClientGroup<'_>, subscribed: &[Vec<TopicIx>]) -> bool {
    let has_partitions = |topic: &TopicIx| group.row.count(*topic) > 0;
    let existing = group.topics().filter(has_partitions);
    let mut topics = existing.map(|topic| &readers.of_topic[topic]);
    let mut members = subscribed.iter().map(|topics| topics.iter().filter(|topic| has_partitions(topic)));
    let first = topics.next();
    let Some(one) = members.next() else { return true };
    topics.all(|other| Some(other) == first) && members.all(|other| other.eq(one.clone()))
}

/// The order of Python's sets of partitions for a seed; it differs from process to process (PYTHONHASHSEED).
pub(super) struct HashOrder {
    seed: u64,
    has_chosen: bool,
}

impl HashOrder {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, has_chosen: false }
    }

    /// The partition that a set of these yields first.
    pub(super) fn first(&mut self, set: &[PartitionIx]) -> Option<PartitionIx> {
        self.has_chosen |= set.len() > 1;
        set.iter().copied().min_by_key(|&partition| self.hash(partition))
    }

    /// What was left to chance.
    pub(super) fn chance(&self) -> Option<Chance> {
        let why = "the order of Python's sets, which PYTHONHASHSEED decides";
        self.has_chosen.then_some(Chance { why, same: &[] })
    }

    fn hash(&self, partition: PartitionIx) -> u64 {
        mix64(self.seed.wrapping_add((u64::from(partition.0) + 1).wrapping_mul(GAMMA)))
    }
}
