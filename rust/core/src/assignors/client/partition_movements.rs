//! Which partitions have moved from whom to whom, so that none moves back and forth
//! (`AbstractStickyAssignor.PartitionMovements`).

use std::collections::BTreeMap;

use super::group::JavaGroup;
use crate::index::{MemberIx, PartitionIx, TopicIx};
use crate::java::hash_map::{FIRST_BINS, LONGEST_LIST, TREE_BINS, bin, spread};
use crate::java::strings::hash_code;
use crate::java::topic_partition::partition_hash;

/// The movements of one balancing.
#[derive(Clone, PartialEq)]
pub(crate) struct Movements {
    /// Topic, source and destination, and the partitions that went this way.
    ways: BTreeMap<(TopicIx, MemberIx, MemberIx), PartitionSet>,
    /// By partition, where it came from and where it went.
    moved: Vec<Option<(MemberIx, MemberIx)>>,
    /// By topic, the hash code of its name.
    hashes: Vec<i32>,
}

/// A `HashSet<TopicPartition>`, of which only the first one matters. A bin with more than eight partitions of one topic
/// in a table of 64 or more, which becomes a tree in Java, stays a list here.
#[derive(Clone, PartialEq)]
struct PartitionSet {
    partitions: Vec<(i32, PartitionIx)>,
    bins: usize,
}

impl Movements {
    pub(crate) fn new(group: &JavaGroup<'_>) -> Self {
        Self {
            ways: BTreeMap::new(),
            moved: vec![None; group.partitions_and_beyond()],
            hashes: group.topics.iter().map(|topic| hash_code(topic)).collect(),
        }
    }

    /// The partition that moves instead of this one: one of the same topic that came the opposite way, if there is one.
    pub(crate) fn instead(
        &self,
        group: &JavaGroup<'_>,
        partition: PartitionIx,
        from: MemberIx,
        to: MemberIx,
    ) -> PartitionIx {
        let from = self.moved[partition].map_or(from, |(source, _)| source);
        let topic = group.topic(partition);
        self.ways.get(&(topic, to, from)).and_then(PartitionSet::first).unwrap_or(partition)
    }

    /// Moves a partition. If it goes back to where it came from, it counts as not moved.
    pub(crate) fn record(
        &mut self,
        group: &JavaGroup<'_>,
        partition: PartitionIx,
        from: MemberIx,
        to: MemberIx,
    ) {
        let topic = group.topic(partition);
        let before = self.moved[partition].take();
        if let Some((source, destination)) = before {
            let way = (topic, source, destination);
            if self.ways.get_mut(&way).is_some_and(|set| set.remove(partition)) {
                self.ways.remove(&way);
            }
            if source == to {
                return;
            }
        }
        let source = before.map_or(from, |(source, _)| source);
        self.moved[partition] = Some((source, to));
        let spread = spread(partition_hash(self.hashes[topic], group.number(partition)));
        self.ways.entry((topic, source, to)).or_insert_with(PartitionSet::new).insert(spread, partition);
    }
}

impl PartitionSet {
    fn new() -> Self {
        Self { partitions: Vec::new(), bins: FIRST_BINS }
    }

    fn insert(&mut self, spread: i32, partition: PartitionIx) {
        let place = bin(spread, self.bins);
        let beside = |&&(other, _): &&(i32, PartitionIx)| bin(other, self.bins) == place;
        if self.partitions.len() >= LONGEST_LIST
            && self.bins < TREE_BINS
            && self.partitions.iter().filter(beside).count() >= LONGEST_LIST
        {
            self.bins *= 2;
        }
        self.partitions.push((spread, partition));
        if self.partitions.len() > self.bins / 4 * 3 {
            self.bins *= 2;
        }
    }

    /// Removes a partition; returns whether the set is now empty.
    fn remove(&mut self, partition: PartitionIx) -> bool {
        self.partitions.retain(|&(_, other)| other != partition);
        self.partitions.is_empty()
    }

    fn first(&self) -> Option<PartitionIx> {
        let place = |&&(spread, _): &&(i32, PartitionIx)| bin(spread, self.bins);
        self.partitions.iter().min_by_key(place).map(|&(_, partition)| partition)
    }
}
