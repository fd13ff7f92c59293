//! The orders of Java's sets of names, of whole numbers and of topics' ids, and of its maps of partitions; how many bins they begin
//! with.

use super::group::{by, sorted};
use super::java_order::{FIRST_BINS, Walker, hash_code, partition_hash};
use super::topic_id::TopicId;

/// The order in which Java walks a `new HashMap<>()` into which these names were put, each once: their places.
pub fn walk_names(names: &[&str]) -> Vec<u32> {
    let (places, numbers) = sorted(names);
    let sorted = by(&places, names);
    by(&Walker::of_names(&sorted).walk(&numbers), &places)
}

/// The order in which Java walks a `new HashSet<>()` or `new HashMap<>()` of topics' ids, which are put in the order of
/// `inserted`, each once; its numbers are places in `ids`.
pub fn walk_ids(ids: &[TopicId], inserted: &[u32]) -> Vec<u32> {
    IdWalker::new(ids).walk(inserted)
}

/// A [`Walker`] of ids in any order, for it wants them in their own.
pub(super) struct IdWalker {
    walker: Walker,
    /// The places of the ids in their order, and each place's number in that order.
    places: Vec<u32>,
    numbers: Vec<u32>,
}

impl IdWalker {
    pub(super) fn new(ids: &[TopicId]) -> Self {
        let mut places: Vec<u32> = (0..).take(ids.len()).collect();
        places.sort_unstable_by_key(|&place| ids[place as usize]);
        let mut numbers = vec![0; ids.len()];
        for (number, &place) in (0..).zip(&places) {
            numbers[place as usize] = number;
        }
        let walker = Walker::new(places.iter().map(|&place| ids[place as usize].hash_code()));
        Self { walker, places, numbers }
    }

    /// The order of a map into which ids were `put`, each once.
    pub(super) fn walk(&mut self, inserted: &[u32]) -> Vec<u32> {
        self.walk_from(FIRST_BINS, inserted)
    }

    /// The same of a map that begins with so many bins.
    pub(super) fn walk_from(&mut self, bins: usize, inserted: &[u32]) -> Vec<u32> {
        let numbers: Vec<u32> = inserted.iter().map(|&place| self.numbers[place as usize]).collect();
        let walked = self.walker.walk_from(bins, &numbers);
        walked.into_iter().map(|number| self.places[number as usize]).collect()
    }
}

/// The order of a set of whole numbers from 0 that begins with so many bins; each number is `inserted` once.
pub(super) fn walk_integers(bins: usize, inserted: &[u32]) -> Vec<u32> {
    let most = *inserted.iter().max().unwrap_or(&0) as usize;
    if most < bins.max(inserted.len()).min(1 << 16) {
        // A table has a bin for each of these numbers: it never has fewer bins than numbers.
        let mut sorted = inserted.to_vec();
        sorted.sort_unstable();
        return sorted;
    }
    let places: Vec<u32> = (0..).take(inserted.len()).collect();
    let hashes = inserted.iter().map(|number| number.cast_signed());
    let walked = Walker::new(hashes).walk_from(bins, &places);
    walked.into_iter().map(|place| inserted[place as usize]).collect()
}

/// The bins of a `new HashSet<>(collection)` of so many.
pub(super) fn bins_for_copy(size: usize) -> usize {
    (size * 4 / 3 + 1).max(FIRST_BINS).next_power_of_two()
}

/// The bins that `AssignorHelpers.newHashMap` and `newHashSet` make for so many.
pub(super) fn bins_for(size: usize) -> usize {
    ((size + 1) * 4 / 3 + 1).next_power_of_two()
}

/// The order in which a client's metadata has the partitions of each topic, told of all of them in this order: the walk of
/// `new HashMap<TopicPartition, …>(size)` (`MetadataSnapshot`, before Kafka 3.7 `MetadataCache`).
pub fn walk_partitions(topics: &[(&str, &[i32])]) -> Vec<Vec<i32>> {
    let told = (0..).zip(topics).flat_map(|(topic, (_, ids))| ids.iter().map(move |&id| (topic, id)));
    let told: Vec<(usize, i32)> = told.collect();
    let codes: Vec<i32> = topics.iter().map(|(name, _)| hash_code(name)).collect();
    let hashes = told.iter().map(|&(topic, id)| partition_hash(codes[topic], id));
    let inserted: Vec<u32> = (0..).take(told.len()).collect();
    let mut walked: Vec<_> = topics.iter().map(|(_, ids)| Vec::with_capacity(ids.len())).collect();
    for place in Walker::new(hashes).walk_from(told.len().next_power_of_two(), &inserted) {
        let (topic, id) = told[place as usize];
        walked[topic].push(id);
    }
    walked
}
