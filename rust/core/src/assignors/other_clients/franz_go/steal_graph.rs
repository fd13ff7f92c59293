//! Who may take a partition from whom (`graph.go`): a path from a member to one with two partitions more, since 1.22 the
//! shortest. Before, a partition that a member had at first is taken first, and the search stops at the first member out
//! of a heap with an inconsistent order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::FranzVersion;
use super::sticky::{Balancer, NOBODY};
use crate::index::{MemberIx, PartitionIx, TopicIx, numbered};

/// A member that loses a partition, the one that takes it, and the partition.
pub(super) type Steal = (MemberIx, MemberIx, PartitionIx);

/// Members, the topics that they read, and who has which partitions of each topic.
pub(super) struct StealGraph {
    /// By member, the topics from which it may take.
    reads: Vec<Vec<TopicIx>>,
    /// By topic, the members that have or had partitions of it, with these partitions.
    owners: Vec<Vec<(MemberIx, Vec<PartitionIx>)>>,
    /// By topic and member, its place there.
    places: BTreeMap<(TopicIx, MemberIx), usize>,
}

impl StealGraph {
    pub(super) fn new(balancer: &Balancer<'_>) -> Self {
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
    pub(super) fn path(&self, balancer: &Balancer<'_>, member: MemberIx) -> Vec<Steal> {
        if balancer.version < FranzVersion::V1_22 {
            return self.old_path(balancer, member);
        }
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

    /// The same before 1.22.
    fn old_path(&self, balancer: &Balancer<'_>, member: MemberIx) -> Vec<Steal> {
        let level = |member: MemberIx| balancer.plan[member].len();
        let mut heap = Heap { scores: vec![None; balancer.plan.len()], nodes: vec![member] };
        heap.scores[member] = Some(Score {
            node: member,
            distance: 0,
            partition: PartitionIx::NONE,
            level: level(member),
            parent: member,
            original: false,
            place: 0,
            done: true,
        });
        while let Some(current) = heap.pop() {
            if current.level > level(member) + 1 {
                let reached: Vec<_> = heap
                    .scores
                    .iter()
                    .map(|score| score.map(|score| (score.parent, score.partition)))
                    .collect();
                return ways(&reached, member, current.node);
            }
            for &topic in &self.reads[current.node] {
                for partition in balancer.row.of(topic) {
                    let owner = balancer.owner[partition];
                    let original = owner.original == current.node;
                    let known = heap.scores[owner.member];
                    let place = known.map_or(heap.nodes.len(), |score| score.place);
                    if known.is_none_or(|score| !score.done && !score.original && original) {
                        heap.scores[owner.member] = Some(Score {
                            node: owner.member,
                            distance: current.distance + 1,
                            partition,
                            level: level(owner.member),
                            parent: current.node,
                            original,
                            place,
                            done: false,
                        });
                        if known.is_none() {
                            heap.nodes.push(owner.member);
                            heap.up(place);
                        } else {
                            heap.fix(place);
                        }
                    }
                }
            }
        }
        Vec::new()
    }
}

/// The way back from a member to the one from which the search came.
fn ways(reached: &[Option<(MemberIx, PartitionIx)>], to: MemberIx, from: MemberIx) -> Vec<Steal> {
    let (mut ways, mut current) = (Vec::new(), from);
    while current != to
        && let Some((taker, partition)) = reached[current]
    {
        ways.push((current, taker, partition));
        current = taker;
    }
    ways
}

/// How a member was reached.
#[derive(Clone, Copy)]
struct Score {
    node: MemberIx,
    distance: usize,
    partition: PartitionIx,
    level: usize,
    parent: MemberIx,
    original: bool,
    place: usize,
    done: bool,
}

/// Members in a container/heap.
struct Heap {
    scores: Vec<Option<Score>>,
    nodes: Vec<MemberIx>,
}

impl Heap {
    fn score(&self, place: usize) -> Option<Score> {
        self.nodes.get(place).and_then(|&node| self.scores[node])
    }

    /// `pathHeap.Less`: of two members that would take back their own, neither comes first.
    fn less(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.score(one), self.score(other)) else { return false };
        let key = |score: Score| (Reverse(score.level), score.distance, score.node);
        !other.original && (one.original || key(one) < key(other))
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.nodes.swap(one, other);
        for place in [one, other] {
            let node = self.nodes[place];
            if let Some(score) = &mut self.scores[node] {
                score.place = place;
            }
        }
    }

    fn pop(&mut self) -> Option<Score> {
        let last = self.nodes.len().checked_sub(1)?;
        self.swap(0, last);
        self.down(0, last);
        let node = self.nodes.pop()?;
        let score = self.scores[node].as_mut()?;
        score.done = true;
        Some(*score)
    }

    fn up(&mut self, mut place: usize) {
        while place > 0 && self.less(place, (place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    /// Whether it has moved.
    fn down(&mut self, from: usize, len: usize) -> bool {
        let mut place = from;
        loop {
            let left = 2 * place + 1;
            if left >= len {
                break;
            }
            let child = if left + 1 < len && self.less(left + 1, left) { left + 1 } else { left };
            if !self.less(child, place) {
                break;
            }
            self.swap(place, child);
            place = child;
        }
        place > from
    }

    fn fix(&mut self, place: usize) {
        if !self.down(place, self.nodes.len()) {
            self.up(place);
        }
    }
}
