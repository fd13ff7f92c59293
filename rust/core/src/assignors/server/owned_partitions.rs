//! A member's partitions in the order in which Java walks them: a `HashMap` by topic ID with a `HashSet` of partitions
//! each, as `Assignment.fromRecord` makes them.

use crate::index::TopicIx;
use crate::java::hash_set::{bins_for_copy, walk_integers};
use crate::java::uuid::IdWalker;
use crate::java::uuid::TopicId;

/// Walks the partitions of one member after the other.
pub(super) struct OwnedWalk {
    walker: IdWalker,
    /// By topic, the position of its partitions in the present member's list.
    places: Vec<(usize, usize)>,
}

impl OwnedWalk {
    pub(super) fn new(ids: &[TopicId]) -> Self {
        Self { walker: IdWalker::new(ids), places: vec![(0, 0); ids.len()] }
    }

    /// Topics with the member's partitions, in the order of its map; the partitions as they were given.
    pub(super) fn topics<'a>(&mut self, owned: &'a [(TopicIx, u32)]) -> Vec<(TopicIx, &'a [(TopicIx, u32)])> {
        let mut topics = Vec::new();
        let mut start = 0;
        for partitions in owned.chunk_by(|one, other| one.0 == other.0) {
            let (topic, end) = (partitions[0].0, start + partitions.len());
            topics.push(topic);
            self.places[topic] = (start, end);
            start = end;
        }
        let places = &self.places;
        let partitions = |topic: TopicIx| {
            let (start, end) = places[topic];
            (topic, &owned[start..end])
        };
        self.walker.walk(&topics).into_iter().map(partitions).collect()
    }
}

/// The numbers of one topic's partitions, in the order of the member's set.
pub(super) fn walked(partitions: &[(TopicIx, u32)]) -> Vec<u32> {
    let numbers: Vec<u32> = partitions.iter().map(|&(_, partition)| partition).collect();
    walk_integers(bins_for_copy(numbers.len()), &numbers)
}
