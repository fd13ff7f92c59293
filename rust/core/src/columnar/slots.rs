//! The slots of a hash table, whose loads from memory can overlap.

use std::hint::black_box;

/// Is never in a table.
pub(super) const NO_NUMBER: u32 = u32::MAX;

/// Numbers by hash, each in the slot that its hash chooses or in the next free one. At most half of the slots are taken.
///
/// The slots are in the order of the hashes. So a growing table goes through memory once, and a look needs only one
/// place in it, which [`Slots::fetch`] loads for many hashes at once. hashbrown's table has no such function: most of
/// the time of a new number was waiting for memory (`benches/rust/key_sums.rs` compares them).
#[derive(Default)]
pub(super) struct Slots {
    /// None, or a power of two.
    slots: Vec<Slot>,
    taken: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    number: u32,
}

const FREE: Slot = Slot { hash: 0, number: NO_NUMBER };

/// Reads numbers that lie far apart in memory. No read waits for another one, so the processor fetches many at once,
/// and who needs their surroundings next finds them in its cache. A safe program has no other way to prefetch.
pub(super) fn touch(numbers: impl Iterator<Item = u32>) {
    // The black box keeps the compiler from leaving out reads whose results nobody uses.
    black_box(numbers.fold(0, |all, number| all ^ number));
}

/// How many slots the smallest table has that is not empty.
const FEWEST: usize = 16;

impl Slots {
    /// Brings the slots of some hashes into the processor's cache.
    pub(super) fn fetch(&self, hashes: &[u32]) {
        touch(hashes.iter().filter_map(|hash| self.slots.get(self.first(*hash))).map(|slot| slot.number));
    }

    /// A number with this hash for which `is_it` is true.
    pub(super) fn find(&self, hash: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = self.first(hash);
        loop {
            let slot = self.slots.get(at).filter(|slot| slot.number != NO_NUMBER)?;
            if slot.hash == hash && is_it(slot.number) {
                return Some(slot.number);
            }
            at = self.after(at);
        }
    }

    /// Takes another number, which is not [`NO_NUMBER`].
    pub(super) fn insert(&mut self, hash: u32, number: u32) {
        if 2 * self.taken >= self.slots.len() {
            let slots = vec![FREE; (2 * self.slots.len()).max(FEWEST)];
            let before = std::mem::replace(self, Self { slots, taken: 0 });
            for slot in before.taken() {
                self.put(slot);
            }
        }
        self.put(Slot { hash, number });
    }

    /// Gives all numbers new ones, or drops them if they get none.
    pub(super) fn renumber(&mut self, number_of: impl Fn(u32) -> Option<u32>) {
        let slots = vec![FREE; self.slots.len()];
        let before = std::mem::replace(self, Self { slots, taken: 0 });
        for slot in before.taken() {
            if let Some(number) = number_of(slot.number) {
                self.put(Slot { number, ..slot });
            }
        }
    }

    /// Drops all numbers, but keeps the room.
    pub(super) fn clear(&mut self) {
        self.slots.fill(FREE);
        self.taken = 0;
    }

    fn put(&mut self, slot: Slot) {
        let mut at = self.first(slot.hash);
        while self.slots[at].number != NO_NUMBER {
            at = self.after(at);
        }
        self.slots[at] = slot;
        self.taken += 1;
    }

    fn taken(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().copied().filter(|slot| slot.number != NO_NUMBER)
    }

    fn first(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize
    }

    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hashes that are often equal, that choose one slot, and that choose the last slot, after which comes the first.
    fn some_hash() -> impl Strategy<Value = u32> {
        prop_oneof![0_u32..4, u32::MAX - 4..u32::MAX, Just(u32::MAX), any::<u32>()]
    }

    fn all_of(slots: &Slots, hash: u32) -> Vec<u32> {
        let mut numbers = Vec::new();
        slots.find(hash, |number| {
            numbers.push(number);
            false
        });
        numbers.sort_unstable();
        numbers
    }

    proptest! {
        #[test]
        fn a_number_is_found_by_its_hash_alone(
            hashes in prop::collection::vec(some_hash(), 0..70),
            clears in any::<bool>(),
        ) {
            let mut slots = Slots::default();
            if clears {
                for hash in &hashes {
                    slots.insert(*hash, 7);
                }
                slots.clear();
            }
            let mut expected: Vec<(u32, u32)> = hashes.iter().copied().zip(0..).collect();
            for &(hash, number) in &expected {
                slots.insert(hash, number);
            }
            for renumbers in [false, true] {
                if renumbers {
                    slots.renumber(|number| (number % 3 != 1).then_some(number + 1000));
                    expected.retain(|(_, number)| number % 3 != 1);
                    for (_, number) in &mut expected {
                        *number += 1000;
                    }
                }
                slots.fetch(&hashes);
                for &hash in hashes.iter().chain(&[9, u32::MAX / 2]) {
                    let numbers: Vec<u32> =
                        expected.iter().filter(|each| each.0 == hash).map(|each| each.1).collect();
                    prop_assert_eq!(all_of(&slots, hash), &numbers[..]);
                    let last = numbers.last().copied();
                    prop_assert_eq!(slots.find(hash, |number| Some(number) == last), last);
                }
                prop_assert!(2 * slots.taken <= slots.slots.len().max(FEWEST));
            }
        }
    }
}
