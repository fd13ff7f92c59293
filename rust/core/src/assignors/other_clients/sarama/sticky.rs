//! `sticky` and `cooperative-sticky` of sarama: the general algorithm of Java's 2.3 for every group, in the order of
//! Go's maps.

use crate::assignors::lists::MemberLists;
use std::collections::{BTreeMap, BTreeSet};

use super::claims::SaramaClaims;
use crate::assignors::lists::from_the_fullest;
use crate::assignors::movements::Movements;
use crate::assignors::other_clients::client_group::ClientGroup;
use crate::go_map::{GoDraws, GoMap};
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx, numbered};

/// After this many rounds over all partitions, a balancing is going in a circle.
const MOST_ROUNDS: usize = 1_000;

/// What each member reads in one of the possible orders of Go's maps; nothing if the client never ends.
pub(super) fn assign(group: &ClientGroup<'_>, cooperative: bool, draws: &mut GoDraws) -> Option<MemberLists> {
    let members = GoMap::of(draws, group.members(), group.joined.iter().copied());
    let mut topics = GoMap::new(draws, 0);
    for member in members.walk(draws) {
        for &topic in group.subscribed.get(member) {
            topics.put(topic);
        }
    }
    let claims = SaramaClaims::new(group, &members.walk(draws), cooperative, draws);
    let mut lists = SaramaBalance::new(group, &members, &topics, claims, draws).run(draws)?;
    if cooperative {
        adjust_cooperative(group, &mut lists);
    }
    Some(lists)
}

/// `adjustCooperativeAssignment`: what one member gains and another loses waits for the next rebalance.
fn adjust_cooperative(group: &ClientGroup<'_>, lists: &mut [Vec<PartitionIx>]) {
    let mut reader: Vec<Option<MemberIx>> = vec![None; group.row.len()];
    for (member, list) in numbered(lists.iter()) {
        for &partition in list {
            reader[partition] = Some(member);
        }
    }
    let (mut kept, mut lost) = (vec![false; reader.len()], vec![false; reader.len()]);
    for member in group.by_id() {
        for &(topic, number) in group.owned.get(member) {
            if let Some(partition) = group.row.at(topic, number) {
                let keeps = reader[partition].is_some_and(|reader| reader == member);
                kept[partition] |= keeps;
                lost[partition] |= !keeps;
            }
        }
    }
    for list in lists {
        list.retain(|&partition| kept[partition] || !lost[partition]);
    }
}

struct SaramaBalance<'a> {
    group: &'a ClientGroup<'a>,
    /// By topic, who may have its partitions; a member that names the topic twice is there twice.
    potential: Vec<Vec<MemberIx>>,
    /// By member, how many partitions it may have; a topic that it names twice counts twice.
    most: Vec<usize>,
    /// The members in `currentAssignment`, by how many partitions they have and their ids.
    by_load: BTreeSet<(usize, MemberIx)>,
    present: Vec<bool>,
    lists: MemberLists,
    /// By partition, who has it, or who had it last.
    owner: Vec<Option<MemberIx>>,
    previous: BTreeMap<PartitionIx, MemberIx>,
    /// The partitions to give away, in order.
    unassigned: Vec<PartitionIx>,
    /// The partitions in the order in which they may move.
    order: Vec<PartitionIx>,
}

impl<'a> SaramaBalance<'a> {
    fn new(
        group: &'a ClientGroup<'a>,
        members: &GoMap<MemberIx>,
        topics: &GoMap<TopicIx>,
        claims: SaramaClaims,
        draws: &mut GoDraws,
    ) -> Self {
        let SaramaClaims { mut owners, owned, previous } = claims;
        let fresh = owners.is_empty();
        let walked: Vec<_> = topics.walk(draws).into_iter().flat_map(|topic| group.row.of(topic)).collect();
        let partitions = GoMap::of(draws, 0, walked);
        let mut potential = vec![Vec::new(); group.topics().len()];
        let mut most = vec![0; group.members()];
        let mut consumers = GoMap::new(draws, group.members());
        for member in members.walk(draws) {
            consumers.put(member);
            for &topic in group.subscribed.get(member) {
                potential[topic].push(member);
                most[member] += group.row.count(topic) as usize;
            }
            owners.put(member);
        }
        let walked = partitions.walk(draws);
        let mut unvisited = GoMap::of(draws, walked.len(), walked);
        let mut balance = Self {
            group,
            potential,
            most,
            by_load: BTreeSet::new(),
            present: vec![true; group.members()],
            lists: vec![Vec::new(); group.members()],
            owner: vec![None; group.row.len()],
            previous,
            unassigned: Vec::new(),
            order: Vec::new(),
        };
        for member in owners.walk(draws) {
            for &partition in &owned[member] {
                if partition.place() >= group.row.len() {
                    continue;
                }
                let topic = group.row.topic(partition);
                unvisited.remove(partition);
                balance.owner[partition] = Some(member);
                if balance.reads(member, topic) {
                    balance.lists[member].push(partition);
                } else {
                    balance.unassigned.push(partition);
                }
            }
            balance.by_load.insert((balance.lists[member].len(), member));
        }
        balance.unassigned.extend(unvisited.walk(draws));
        balance.sort_partitions(&partitions, &consumers, fresh, draws);
        balance
    }

    fn reads(&self, member: MemberIx, topic: TopicIx) -> bool {
        self.group.subscribed.get(member).contains(&topic)
    }

    fn topic(&self, partition: PartitionIx) -> TopicIx {
        self.group.row.topic(partition)
    }

    /// How many partitions a member has, as `currentAssignment` says.
    fn load(&self, member: MemberIx) -> usize {
        if self.present[member] { self.lists[member].len() } else { 0 }
    }

    /// `sortPartitions`.
    fn sort_partitions(
        &mut self,
        partitions: &GoMap<PartitionIx>,
        consumers: &GoMap<MemberIx>,
        fresh: bool,
        draws: &mut GoDraws,
    ) {
        let walked = partitions.walk(draws);
        if fresh || !self.identical(consumers, draws) {
            self.order = walked;
            let group = self.group;
            let potential = &self.potential;
            self.order
                .sort_unstable_by_key(|&partition| (potential[group.row.topic(partition)].len(), partition));
            return;
        }
        let mut left = GoMap::of(draws, walked.len(), walked);
        self.order = from_the_fullest(self.lists.clone(), |list| {
            let back = list.iter().position(|partition| self.previous.contains_key(partition));
            (!list.is_empty()).then(|| list.remove(back.unwrap_or(0)))
        });
        for &partition in &self.order {
            left.remove(partition);
        }
        self.order.extend(left.walk(draws));
    }

    /// `areSubscriptionsIdentical`, which compares all members with the first one that reads anything. A member that
    /// names a topic twice equals no other.
    fn identical(&self, consumers: &GoMap<MemberIx>, draws: &mut GoDraws) -> bool {
        let mut potential = self.potential.iter().filter(|members| !members.is_empty());
        let Some(first) = potential.next() else { return true };
        let alone = self.group.row.len() == 1 || each_once(first);
        if !alone || potential.any(|members| members != first) {
            return false;
        }
        let walked = consumers.walk(draws).into_iter();
        let mut subscribed = walked.map(|member| {
            let mut topics = self.group.subscribed.get(member).to_vec();
            topics.sort_unstable();
            topics
        });
        let first = subscribed.find(|topics| !topics.is_empty()).unwrap_or_default();
        subscribed.all(|topics| topics == first && each_once(&topics))
    }

    /// `balance`.
    fn run(mut self, draws: &mut GoDraws) -> Option<MemberLists> {
        let initializing = self.by_load.first().is_none_or(|&(load, _)| load == 0);
        for partition in std::mem::take(&mut self.unassigned) {
            let topic = self.group.row.topic(partition);
            let taker = self.by_load.iter().find(|&&(_, member)| self.reads(member, topic)).copied();
            if let Some((_, member)) = taker {
                self.give(partition, member);
            }
        }
        let order: Vec<PartitionIx> =
            self.order.iter().copied().filter(|&partition| self.can_move(partition)).collect();
        let fixed: Vec<MemberIx> = self.group.by_id().filter(|&member| self.is_fixed(member)).collect();
        let kept: MemberLists = fixed.iter().map(|&member| std::mem::take(&mut self.lists[member])).collect();
        for (&member, list) in fixed.iter().zip(&kept) {
            self.by_load.remove(&(list.len(), member));
            self.present[member] = false;
        }
        let before = self.score();
        let moved = self.reassign(&order, draws)?;
        // The result is reverted in a map that nobody reads; members that did not take part return only there.
        if initializing || !moved || self.score() < before {
            for (member, list) in fixed.into_iter().zip(kept) {
                self.lists[member] = list;
            }
        }
        Some(self.lists)
    }

    /// `canTopicPartitionParticipateInReassignment`.
    fn can_move(&self, partition: PartitionIx) -> bool {
        self.potential[self.topic(partition)].len() >= 2
    }

    /// Not `canConsumerParticipateInReassignment`.
    fn is_fixed(&self, member: MemberIx) -> bool {
        let list = &self.lists[member];
        list.len() >= self.most[member] && !list.iter().any(|&partition| self.can_move(partition))
    }

    /// `getBalanceScore`: the sum of the differences of all pairs.
    fn score(&self) -> usize {
        // The members come sorted by load, so each is the larger one in its pairs with all before it.
        let mut sum = 0;
        self.by_load.iter().enumerate().fold(0, |score, (place, &(load, _))| {
            let score = score + place * load - sum;
            sum += load;
            score
        })
    }

    /// `isBalanced`.
    fn is_balanced(&self) -> bool {
        let (Some(&(least, _)), Some(&(most, _))) = (self.by_load.first(), self.by_load.last()) else {
            return true;
        };
        if least + 1 >= most {
            return true;
        }
        // By topic, the two largest loads among the owners of its partitions, and the owner with the largest.
        let mut largest = vec![(0, None, 0); self.group.topics().len()];
        for &(load, member) in &self.by_load {
            for &partition in &self.lists[member] {
                let topic = self.topic(partition);
                let (first, owner, _) = largest[topic];
                if owner != Some(member) {
                    largest[topic] = (load, Some(member), first);
                }
            }
        }
        self.by_load.iter().all(|&(load, member)| {
            load == self.most[member]
                || self.group.subscribed.get(member).iter().all(|&topic| {
                    let (first, owner, second) = largest[topic];
                    load >= if owner == Some(member) { second } else { first }
                })
        })
    }

    /// `performReassignments`: returns whether something has moved.
    fn reassign(&mut self, order: &[PartitionIx], draws: &mut GoDraws) -> Option<bool> {
        let mut movements: Movements<GoMap<PartitionIx>> = Movements::new(self.group.row.len());
        let mut performed = false;
        for _ in 0..MOST_ROUNDS {
            let mut modified = false;
            for &partition in order {
                if self.is_balanced() {
                    break;
                }
                let load = self.owner[partition].map_or(0, |owner| self.load(owner));
                let previous = self.previous.get(&partition).copied();
                let taker = previous.filter(|&previous| load > self.load(previous) + 1).or_else(|| {
                    let potential = &self.potential[self.topic(partition)];
                    let better = potential.iter().any(|&other| load > self.load(other) + 1);
                    let topic = self.group.row.topic(partition);
                    let mut takers = self.by_load.iter().map(|&(_, member)| member);
                    takers.find(|&member| better && self.reads(member, topic))
                });
                if let (Some(taker), Some(owner)) = (taker, self.owner[partition]) {
                    // The last one in the map of those that went the opposite way.
                    let topic = self.topic(partition);
                    let opposite = movements.opposite(topic, partition, owner, taker);
                    let moved = opposite.and_then(|set| set.walk(draws).pop()).unwrap_or(partition);
                    if let Some(from) = self.owner[moved] {
                        let leave = |set: &mut GoMap<_>| {
                            set.remove(moved);
                            set.is_empty()
                        };
                        let new = || GoMap::new(draws, 0);
                        if let Some(set) = movements.record(topic, moved, (from, taker), leave, new) {
                            set.put(moved);
                        }
                        self.take(moved, from);
                    }
                    self.give(moved, taker);
                    (performed, modified) = (true, true);
                }
            }
            if !modified {
                return Some(performed);
            }
        }
        None
    }

    fn take(&mut self, partition: PartitionIx, from: MemberIx) {
        let load = self.load(from);
        self.by_load.remove(&(load, from));
        self.present[from] = true;
        let list = &mut self.lists[from];
        if let Some(place) = list.iter().position(|&other| other == partition) {
            list.remove(place);
        }
        self.by_load.insert((list.len(), from));
    }

    fn give(&mut self, partition: PartitionIx, to: MemberIx) {
        let load = self.load(to);
        self.by_load.remove(&(load, to));
        self.present[to] = true;
        self.lists[to].push(partition);
        self.by_load.insert((load + 1, to));
        self.owner[partition] = Some(to);
    }
}

/// Whether no two neighbours in a list are equal.
fn each_once<I: PartialEq>(values: &[I]) -> bool {
    values.windows(2).all(|pair| pair[0] != pair[1])
}
