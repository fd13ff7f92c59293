//! The order in which an accumulator walks its queues, and which of them hold anything.

use super::bit_set::BitSet;
use crate::java::copy_on_write_map::CopyOnWriteMap;

/// The accumulator's queues, in the order of `CopyOnWriteMap<Integer, Deque>`.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    /// The places of the queues.
    queues: CopyOnWriteMap,
    /// By the place of a queue, its step of the walk.
    steps: Vec<u32>,
    /// The steps whose queues hold anything.
    holds: BitSet,
}

impl Walk {
    pub(super) fn order(&self) -> &[u32] {
        self.queues.order()
    }

    /// The places of the queues that hold anything.
    pub(super) fn holding(&self) -> impl Iterator<Item = u32> {
        self.holds.iter().map(|step| self.order()[step])
    }

    /// An existing queue now holds something, or nothing.
    pub(super) fn set_holding(&mut self, place: usize, holds: bool) {
        self.holds.set(self.steps[place] as usize, holds);
    }

    /// Adds a new, empty queue; `ids` are the partitions of all places.
    pub(super) fn put(&mut self, place: u32, ids: &[i32]) {
        let holding: Vec<_> = self.holding().collect();
        self.queues.put(place, ids);
        self.steps.resize(ids.len(), 0);
        for (step, &place) in (0..).zip(self.queues.order()) {
            self.steps[place as usize] = step;
        }
        self.holds = BitSet::new(self.order().len());
        for place in holding {
            self.set_holding(place as usize, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
