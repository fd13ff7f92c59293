//! Which partitions have moved from whom to whom, so that none moves back and forth (`PartitionMovements`).

use std::collections::BTreeMap;

use crate::index::{MemberIx, PartitionIx, TopicIx};

/// The movements of one balancing. `S` is a client's own set of the partitions that went the same way.
#[derive(Clone, PartialEq)]
pub(super) struct Movements<S> {
    /// Topic, source and destination, and the partitions that went this way.
    ways: BTreeMap<(TopicIx, MemberIx, MemberIx), S>,
    /// By partition, where it came from and where it went.
    moved: Vec<Option<(MemberIx, MemberIx)>>,
}

impl<S> Movements<S> {
    pub(super) fn new(partitions: usize) -> Self {
        Self { ways: BTreeMap::new(), moved: vec![None; partitions] }
    }

    /// Those of a topic that came the opposite way of a partition that shall move; one of them moves instead.
    pub(super) fn opposite(
        &self,
        topic: TopicIx,
        partition: PartitionIx,
        from: MemberIx,
        to: MemberIx,
    ) -> Option<&S> {
        let from = self.moved[partition].map_or(from, |(source, _)| source);
        self.ways.get(&(topic, to, from))
    }

    /// Moves a partition; returns the set that it joins. If it goes back to where it came from, it counts as not moved.
    /// `leave` takes it from the set in which it was, and says whether that is empty now.
    pub(super) fn record(
        &mut self,
        topic: TopicIx,
        partition: PartitionIx,
        (from, to): (MemberIx, MemberIx),
        leave: impl FnOnce(&mut S) -> bool,
        new: impl FnOnce() -> S,
    ) -> Option<&mut S> {
        let before = self.moved[partition].take();
        if let Some((source, destination)) = before {
            let way = (topic, source, destination);
            if self.ways.get_mut(&way).is_some_and(leave) {
                self.ways.remove(&way);
            }
            if source == to {
                return None;
            }
        }
        let source = before.map_or(from, |(source, _)| source);
        self.moved[partition] = Some((source, to));
        Some(self.ways.entry((topic, source, to)).or_insert_with(new))
    }
}
