//! The same before 1.22 (`graph.go`): a partition that a member had at first is taken first, and the search stops at
//! the first member out of a heap with an inconsistent order.

use super::balancer::Balancer;
use super::steal_graph::{Steal, StealGraph, ways};
use crate::index::{MemberIx, PartitionIx};

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

/// `findSteal`.
pub(super) fn path(balancer: &Balancer, graph: &StealGraph, member: MemberIx) -> Vec<Steal> {
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
            let reached: Vec<_> =
                heap.scores.iter().map(|score| score.map(|score| (score.parent, score.partition))).collect();
            return ways(&reached, member, current.node);
        }
        for &topic in &graph.reads[current.node] {
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

impl Heap {
    fn score(&self, place: usize) -> Option<Score> {
        self.nodes.get(place).and_then(|&node| self.scores[node])
    }

    /// `pathHeap.Less`: of two members that would take back their own, neither comes first.
    fn less(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.score(one), self.score(other)) else { return false };
        let key = |score: Score| (std::cmp::Reverse(score.level), score.distance, score.node);
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
