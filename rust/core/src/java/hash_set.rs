//! The order of `java.util.HashSet`, for names and for whole numbers.

use super::hash_map::{FIRST_BINS, Walker};
use super::strings::{by, sorted};

/// The order in which Java walks a `new HashSet<>(collection)` of these names, each once and in the order of the
/// collection: their places.
pub fn walk_copied_names(names: &[&str]) -> Vec<u32> {
    let (places, numbers) = sorted::<u32>(names);
    let sorted = by(&places, names);
    by(&Walker::of_names(&sorted).walk_from(bins_for_copy(names.len()), &numbers), &places)
}

/// The order of a set of whole numbers from 0 that begins with so many bins; each number is `inserted` once.
pub(crate) fn walk_integers(bins: usize, inserted: &[u32]) -> Vec<u32> {
    let most = *inserted.iter().max().unwrap_or(&0) as usize;
    if most < bins.max(inserted.len()).min(1 << 16) {
        // Each of these numbers has a bin of its own: a table never has fewer bins than numbers.
        let mut sorted = inserted.to_vec();
        sorted.sort_unstable();
        return sorted;
    }
    let places: Vec<u32> = (0..).take(inserted.len()).collect();
    let hashes = inserted.iter().map(|number| number.cast_signed());
    let walked = Walker::new(hashes).walk_from(bins, &places);
    walked.into_iter().map(|place| inserted[place as usize]).collect()
}

/// The number of bins of a `new HashSet<>(collection)` of that size.
pub(crate) fn bins_for_copy(size: usize) -> usize {
    (size * 4 / 3 + 1).max(FIRST_BINS).next_power_of_two()
}
