//! Who may take a partition from whom (`graph.go` of 1.22): the shortest path from a member to one with two partitions
//! more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::balancer::{Balancer, NOBODY};

/// Members, the topics that they read, and who has which partitions of each topic.
pub(super) struct StealGraph {
    /// By member, the topics from which it may take.
    pub(super) reads: Vec<Vec<u32>>,
    /// By topic, the members that have or had partitions of it, with these partitions.
    owners: Vec<Vec<(u32, Vec<u32>)>>,
    /// By topic and member, its place there.
    places: BTreeMap<(u32, u32), usize>,
}

impl StealGraph {
    pub(super) fn new(balancer: &Balancer) -> Self {
        let mut graph = Self {
            reads: vec![Vec::new(); balancer.plan.len()],
            owners: vec![Vec::new(); balancer.subscribers.len()],
            places: BTreeMap::new(),
        };
        for (topic, subscribers) in (0..).zip(&balancer.subscribers) {
            for &member in subscribers {
                graph.reads[member as usize].push(topic);
            }
        }
        for (partition, owner) in (0..).zip(&balancer.owner) {
            if owner.member != NOBODY {
                graph.parts(balancer.topic_of[partition as usize], owner.member).push(partition);
            }
        }
        graph
    }

    fn parts(&mut self, topic: u32, member: u32) -> &mut Vec<u32> {
        let owners = &mut self.owners[topic as usize];
        let place = *self.places.entry((topic, member)).or_insert_with(|| {
            owners.push((member, Vec::new()));
            owners.len() - 1
        });
        &mut owners[place].1
    }

    /// A partition changes hands; its owner's last one takes its place.
    pub(super) fn change_owner(&mut self, topic_of: &[u32], partition: u32, from: u32, to: u32) {
        let topic = topic_of[partition as usize];
        let parts = self.parts(topic, from);
        if let Some(place) = parts.iter().position(|&other| other == partition) {
            parts.swap_remove(place);
        }
        self.parts(topic, to).push(partition);
    }

    /// `findSteal`: who takes which partition from whom, the most loaded first; empty if a member cannot get more.
    pub(super) fn path(&self, balancer: &Balancer, member: u32) -> Vec<(u32, u32, u32)> {
        let load = |member: u32| balancer.plan[member as usize].len();
        // By member, the previous member of the search, and the partition between them.
        let mut reached: Vec<Option<(u32, u32)>> = vec![None; balancer.plan.len()];
        let mut heap = BinaryHeap::from([(load(member), Reverse((0_usize, member)))]);
        while let Some((level, Reverse((distance, current)))) = heap.pop() {
            if level > load(member) + 1 {
                return ways(&reached, member, current);
            }
            for &topic in &self.reads[current as usize] {
                for (owner, parts) in &self.owners[topic as usize] {
                    if *owner != member
                        && let Some(&first) = parts.first()
                        && reached[*owner as usize].is_none()
                    {
                        reached[*owner as usize] = Some((current, first));
                        heap.push((load(*owner), Reverse((distance + 1, *owner))));
                    }
                }
            }
        }
        Vec::new()
    }
}

/// The way back from a member to the one from which the search came.
pub(super) fn ways(reached: &[Option<(u32, u32)>], to: u32, from: u32) -> Vec<(u32, u32, u32)> {
    let (mut ways, mut current) = (Vec::new(), from);
    while current != to
        && let Some((taker, partition)) = reached[current as usize]
    {
        ways.push((current, taker, partition));
        current = taker;
    }
    ways
}
