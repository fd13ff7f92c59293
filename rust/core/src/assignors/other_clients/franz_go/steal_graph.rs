//! Who may take a partition from whom (`graph.go` of 1.22): the shortest path from a member to one with two partitions
//! more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::balancer::{Balancer, NOBODY};
use crate::index::{MemberIx, PartitionIx, TopicIx, numbered};

/// A member that loses a partition, the one that takes it, and the partition.
pub(super) type Steal = (MemberIx, MemberIx, PartitionIx);

/// Members, the topics that they read, and who has which partitions of each topic.
pub(super) struct StealGraph {
    /// By member, the topics from which it may take.
    pub(super) reads: Vec<Vec<TopicIx>>,
    /// By topic, the members that have or had partitions of it, with these partitions.
    owners: Vec<Vec<(MemberIx, Vec<PartitionIx>)>>,
    /// By topic and member, its place there.
    places: BTreeMap<(TopicIx, MemberIx), usize>,
}

impl StealGraph {
    pub(super) fn new(balancer: &Balancer) -> Self {
        let mut graph = Self {
            reads: vec![Vec::new(); balancer.plan.len()],
            owners: vec![Vec::new(); balancer.subscribers.len()],
            places: BTreeMap::new(),
        };
        for (topic, subscribers) in numbered(&balancer.subscribers) {
            for &member in subscribers {
                graph.reads[member].push(topic);
            }
        }
        for (partition, owner) in numbered(&balancer.owner) {
            if owner.member != NOBODY {
                graph.parts(balancer.row.topic(partition), owner.member).push(partition);
            }
        }
        graph
    }

    fn parts(&mut self, topic: TopicIx, member: MemberIx) -> &mut Vec<PartitionIx> {
        let owners = &mut self.owners[topic];
        let place = *self.places.entry((topic, member)).or_insert_with(|| {
            owners.push((member, Vec::new()));
            owners.len() - 1
        });
        &mut owners[place].1
    }

    /// A partition changes hands; its owner's last one takes its place.
    pub(super) fn change_owner(
        &mut self,
        topic: TopicIx,
        partition: PartitionIx,
        from: MemberIx,
        to: MemberIx,
    ) {
        let parts = self.parts(topic, from);
        if let Some(place) = parts.iter().position(|&other| other == partition) {
            parts.swap_remove(place);
        }
        self.parts(topic, to).push(partition);
    }

    /// `findSteal`: who takes which partition from whom, the most loaded first; empty if a member cannot get more.
    pub(super) fn path(&self, balancer: &Balancer, member: MemberIx) -> Vec<Steal> {
        let load = |member: MemberIx| balancer.plan[member].len();
        // By member, the previous member of the search, and the partition between them.
        let mut reached: Vec<Option<(MemberIx, PartitionIx)>> = vec![None; balancer.plan.len()];
        let mut heap = BinaryHeap::from([(load(member), Reverse((0_usize, member)))]);
        while let Some((level, Reverse((distance, current)))) = heap.pop() {
            if level > load(member) + 1 {
                return ways(&reached, member, current);
            }
            for &topic in &self.reads[current] {
                for (owner, parts) in &self.owners[topic] {
                    if *owner != member
                        && let Some(&first) = parts.first()
                        && reached[*owner].is_none()
                    {
                        reached[*owner] = Some((current, first));
                        heap.push((load(*owner), Reverse((distance + 1, *owner))));
                    }
                }
            }
        }
        Vec::new()
    }
}

/// The way back from a member to the one from which the search came.
pub(super) fn ways(reached: &[Option<(MemberIx, PartitionIx)>], to: MemberIx, from: MemberIx) -> Vec<Steal> {
    let (mut ways, mut current) = (Vec::new(), from);
    while current != to
        && let Some((taker, partition)) = reached[current]
    {
        ways.push((current, taker, partition));
        current = taker;
    }
    ways
}
