//! The order of Kafka's `CopyOnWriteMap` of whole numbers: a `java.util.HashMap` that is copied for each new number.

use super::hash_map::{FIRST_BINS, Walker};

/// A map whose keys are stored as places in a list of numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyOnWriteMap {
    order: Vec<u32>,
}

impl CopyOnWriteMap {
    /// The places in iteration order.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Puts the number at `place` of `ids`, which also has the other numbers.
    pub(crate) fn put(&mut self, place: u32, ids: &[i32]) {
        // A copy is as large as its contents need; only the very first number goes into an empty map.
        let copied = if self.order.is_empty() { FIRST_BINS } else { bins(self.order.len()) };
        self.order.push(place);
        let largest = self.order.iter().map(|&place| ids[place as usize]).max().unwrap_or_default();
        // A number below 2^16 is its own hash, so with a bin for each they are in numerical order.
        let bins = bins(self.order.len());
        if usize::try_from(largest).is_ok_and(|largest| largest < bins.min(1 << 16)) {
            self.order.sort_unstable_by_key(|&place| ids[place as usize]);
        } else {
            self.order = Walker::new(ids.iter().copied()).walk_from(copied, &self.order);
        }
    }
}

/// How many bins a map has for that many numbers: three in four may be taken.
fn bins(numbers: usize) -> usize {
    (numbers * 4).div_ceil(3).next_power_of_two().max(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(ids: &[i32]) -> Vec<i32> {
        let mut walk = CopyOnWriteMap::default();
        for place in 0..ids.len() {
            walk.put(u32::try_from(place).unwrap_or_default(), ids);
        }
        walk.order().iter().map(|&place| ids[place as usize]).collect()
    }

    #[test]
    fn a_copied_map_is_smaller_than_a_new_one() {
        // `new HashMap<>()` has 16 bins for the first number, and its copy with two numbers has 4.
        assert_eq!(walked(&[9]), [9]);
        assert_eq!(walked(&[9, 4]), [4, 9], "bins 0 and 1 of 4");
        assert_eq!(walked(&[9, 7]), [9, 7], "bins 1 and 3 of 4");
        assert_eq!(walked(&[9, 7, 4, 3]), [9, 3, 4, 7], "bins 1, 3, 4 and 7 of 8");
        assert_eq!(walked(&[8, 0]), [8, 0], "one bin: in the order of their coming");
    }

    #[test]
    fn numbers_with_a_bin_each_stand_in_their_order() {
        let ids: Vec<i32> = (0..100).rev().collect();
        let sorted: Vec<i32> = (0..100).collect();
        assert_eq!(walked(&ids), sorted);
    }
}
