//! The order in which the broker reads a member's map back from its log (`Assignment.fromRecord`): it depends on what
//! the assignor did to the map, and it decides what the member gives up in a later round.

use rustc_hash::FxHashMap;

use super::steps::Step;
use crate::java::hash_map::{FIRST_BINS, bin, spread};
use crate::java::hash_set::{bins_for_copy, walk_integers};
use crate::java::uuid::{IdWalker, TopicId};

/// A topic, as a place in the list of them, and a partition.
type Place = (u32, i32);

/// A topic of a member's map.
#[derive(Default)]
struct RecordTopic {
    /// How many partitions it had when the map was copied.
    copied: usize,
    /// Its partitions, each with the number of its insertion.
    numbers: FxHashMap<i32, usize>,
    came: usize,
}

impl RecordTopic {
    fn of(numbers: impl Iterator<Item = i32>) -> Self {
        let numbers: FxHashMap<i32, usize> = numbers.zip(0..).collect();
        Self { copied: numbers.len(), came: numbers.len(), numbers }
    }

    /// `add`: an existing partition stays where it is.
    fn add(&mut self, partition: i32) {
        self.numbers.entry(partition).or_insert(self.came);
        self.came += 1;
    }

    /// Its partitions in the order in which they are read back.
    fn read(&self) -> Vec<u32> {
        let mut came: Vec<_> =
            self.numbers.iter().map(|(number, came)| (came, number.cast_unsigned())).collect();
        came.sort_unstable();
        let came: Vec<u32> = came.into_iter().map(|(_, number)| number).collect();
        let written = walk_integers(bins_for_copy(self.copied), &came);
        walk_integers(bins_for_copy(written.len()), &written)
    }
}

/// Orders members' targets as `Assignment.fromRecord` does.
pub struct AssignmentRecords {
    walker: IdWalker,
    bins: Vec<usize>,
}

impl AssignmentRecords {
    /// For topics of these ids.
    pub fn new(ids: &[TopicId]) -> Self {
        let bins = ids.iter().map(|id| bin(spread(id.hash_code()), FIRST_BINS)).collect();
        Self { walker: IdWalker::new(ids), bins }
    }

    /// Whether sorted partitions may have several orders, because two topics, or two partitions of one, share a bin.
    pub fn are_ambiguous(&self, sorted: &[Place]) -> bool {
        let mut taken = [false; FIRST_BINS];
        sorted.chunk_by(|one, other| one.0 == other.0).any(|partitions| {
            let last = partitions[partitions.len() - 1].1.cast_unsigned() as usize;
            let shares_bin = std::mem::replace(&mut taken[self.bins[partitions[0].0 as usize]], true);
            shares_bin || last >= bins_for_copy(partitions.len())
        })
    }

    /// A member's partitions after the assignor's steps, in order, given `old`; `sorted` is the final set.
    pub fn after(
        &mut self,
        old: &[Place],
        steps: impl Iterator<Item = Step>,
        sorted: &[Place],
    ) -> Vec<Place> {
        // New ones are put before the others of their bin, so the last one put comes first.
        let (mut known, mut new) = (Vec::new(), Vec::new());
        let mut topics: FxHashMap<u32, RecordTopic> = FxHashMap::default();
        for partitions in old.chunk_by(|one, other| one.0 == other.0) {
            known.push(partitions[0].0);
            topics
                .insert(partitions[0].0, RecordTopic::of(partitions.iter().map(|&(_, partition)| partition)));
        }
        for Step { is_given, topic, partitions } in steps {
            if is_given {
                let held = topics.entry(topic).or_insert_with(|| {
                    new.push(topic);
                    RecordTopic::default()
                });
                partitions.for_each(|partition| held.add(partition));
            } else if let Some(held) = topics.get_mut(&topic) {
                partitions.for_each(|partition| {
                    held.numbers.remove(&partition);
                });
                if held.numbers.is_empty() {
                    topics.remove(&topic);
                    known.retain(|other| *other != topic);
                    new.retain(|other| *other != topic);
                }
            }
        }
        for (topic, held) in &mut topics {
            held.numbers.retain(|&partition, _| sorted.binary_search(&(*topic, partition)).is_ok());
        }
        new.reverse();
        new.append(&mut known);
        self.read(&new, &topics)
    }

    /// The partitions of a member that gets ranges of topics, in the order of these.
    pub fn of_ranges(&mut self, topics: &[u32], sorted: &[Place]) -> Vec<Place> {
        let ranges = sorted.chunk_by(|one, other| one.0 == other.0);
        let of = |range: &[Place]| {
            let numbers = RecordTopic::of(range.iter().map(|&(_, partition)| partition));
            (range[0].0, RecordTopic { copied: 0, ..numbers })
        };
        self.read(topics, &ranges.map(of).collect())
    }

    fn read(&mut self, order: &[u32], topics: &FxHashMap<u32, RecordTopic>) -> Vec<Place> {
        let has_partitions = |topic: &&u32| topics.get(topic).is_some_and(|held| !held.numbers.is_empty());
        let order: Vec<u32> = order.iter().filter(has_partitions).copied().collect();
        let mut read = Vec::new();
        for topic in self.walker.walk(&order) {
            let numbers = topics[&topic].read();
            read.extend(numbers.into_iter().map(|number| (topic, number.cast_signed())));
        }
        read
    }
}
