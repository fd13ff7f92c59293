//! The order in which Java walks the partitions of its accumulator: a `HashMap` that is copied for each new one.

use super::bits::Bits;
use crate::assignors::java_order::{FIRST_BINS, Walker};

/// The queues that the accumulator has met, as `CopyOnWriteMap<Integer, Deque>` has them.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    /// The places of the queues.
    order: Vec<u32>,
    /// By the place of a queue, its step of the walk.
    steps: Vec<u32>,
    /// The steps whose queues hold anything.
    holds: Bits,
}

impl Walk {
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The places of the queues that hold anything.
    pub(super) fn holding(&self) -> impl Iterator<Item = u32> {
        self.holds.iter().map(|step| self.order[step])
    }

    /// A queue, which was met, holds something, or nothing any more.
    pub(super) fn set_holding(&mut self, place: usize, holds: bool) {
        self.holds.set(self.steps[place] as usize, holds);
    }

    /// A queue is new, and empty; `ids` are the partitions of all places.
    pub(super) fn put(&mut self, place: u32, ids: &[i32]) {
        let holding: Vec<_> = self.holding().collect();
        self.put_into_order(place, ids);
        self.steps.resize(ids.len(), 0);
        for (step, &place) in (0..).zip(&self.order) {
            self.steps[place as usize] = step;
        }
        self.holds = Bits::new(self.order.len());
        for place in holding {
            self.set_holding(place as usize, true);
        }
    }

    fn put_into_order(&mut self, place: u32, ids: &[i32]) {
        // A copy is as large as what it holds asks for; only a map's very first number finds it empty.
        let copied = if self.order.is_empty() { FIRST_BINS } else { bins(self.order.len()) };
        self.order.push(place);
        let largest = self.order.iter().map(|&place| ids[place as usize]).max().unwrap_or_default();
        // A number below 2^16 is its own hash, and with a bin for each they stand in their order.
        let bins = bins(self.order.len());
        if usize::try_from(largest).is_ok_and(|largest| largest < bins.min(1 << 16)) {
            self.order.sort_unstable_by_key(|&place| ids[place as usize]);
        } else {
            self.order = Walker::new(ids.iter().copied()).walk_from(copied, &self.order);
        }
    }
}

/// How many bins a map has for so many numbers: three in four may be taken.
fn bins(numbers: usize) -> usize {
    (numbers * 4).div_ceil(3).next_power_of_two().max(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(ids: &[i32]) -> Vec<i32> {
        let mut walk = Walk::default();
        for place in 0..ids.len() {
            walk.put(u32::try_from(place).unwrap_or_default(), ids);
        }
        walk.order().iter().map(|&place| ids[place as usize]).collect()
    }

    #[test]
    fn a_copied_map_is_smaller_than_a_new_one() {
        // `new HashMap<>()` has 16 bins for the first number, and its copy 4 for two.
        assert_eq!(walked(&[9]), [9]);
        assert_eq!(walked(&[9, 4]), [4, 9], "bins 0 and 1 of 4");
        assert_eq!(walked(&[9, 7]), [9, 7], "bins 1 and 3 of 4");
        assert_eq!(walked(&[9, 7, 4, 3]), [9, 3, 4, 7], "bins 1, 3, 4 and 7 of 8");
        assert_eq!(walked(&[8, 0]), [8, 0], "one bin: in the order of their coming");
    }

    #[test]
    fn queues_that_hold_anything_come_in_the_order_of_the_walk() {
        let ids: Vec<i32> = (0..200).map(|id| id * 7 % 200).collect();
        let mut walk = Walk::default();
        for place in 0..ids.len() {
            walk.put(u32::try_from(place).unwrap_or_default(), &ids);
            walk.set_holding(place, place % 3 == 0);
        }
        let those = walk.order().iter().copied().filter(|place| place % 3 == 0);
        assert_eq!(walk.holding().collect::<Vec<_>>(), those.collect::<Vec<_>>());
        (0..200).for_each(|place| walk.set_holding(place, [63, 64, 199].contains(&ids[place])));
        let partitions: Vec<_> = walk.holding().map(|place| ids[place as usize]).collect();
        assert_eq!(partitions, [63, 64, 199]);
    }

    #[test]
    fn numbers_with_a_bin_each_stand_in_their_order() {
        let ids: Vec<i32> = (0..100).rev().collect();
        let sorted: Vec<i32> = (0..100).collect();
        assert_eq!(walked(&ids), sorted);
    }
}
