//! The partitions that have moved from one member to another, as a `HashSet` of them
//! (`AbstractStickyAssignor.PartitionMovements`).

use crate::index::PartitionIx;
use crate::java::hash_map::{FIRST_BINS, LONGEST_LIST, TREE_BINS, bin};

/// A `HashSet<TopicPartition>`, of which only the first one matters. A bin with more than eight partitions of one topic
/// in a table of 64 or more, which becomes a tree in Java, stays a list here.
#[derive(Clone, PartialEq)]
pub(super) struct PartitionSet {
    partitions: Vec<(i32, PartitionIx)>,
    bins: usize,
}

impl PartitionSet {
    pub(super) fn new() -> Self {
        Self { partitions: Vec::new(), bins: FIRST_BINS }
    }

    pub(super) fn insert(&mut self, spread: i32, partition: PartitionIx) {
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
    pub(super) fn remove(&mut self, partition: PartitionIx) -> bool {
        self.partitions.retain(|&(_, other)| other != partition);
        self.partitions.is_empty()
    }

    pub(super) fn first(&self) -> Option<PartitionIx> {
        let place = |&&(spread, _): &&(i32, PartitionIx)| bin(spread, self.bins);
        self.partitions.iter().min_by_key(place).map(|&(_, partition)| partition)
    }
}
