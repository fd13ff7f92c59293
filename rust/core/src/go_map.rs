//! Go's map (`internal/runtime/maps` of Go 1.24 and later): the order in which `range` walks it, given Go's random
//! choices.
//!
//! Up to eight keys are in the order of insertion, and a walk starts at one of the eight slots, chosen at random. More
//! keys are in tables by their hashes, whose seed is random. So not every order can happen, and if a client's answer
//! depends on a map's order, only the possible ones count.

use crate::index::Ix;
use crate::java::splittable_random::{SplittableRandom, mix64};

/// Slots in a group, and keys in a map that needs no table.
const GROUP: usize = 8;
/// The slots of the largest table; a full one is split.
const LARGEST_TABLE: usize = 1024;

/// Go's random choices, from a seed.
#[derive(Clone, Debug)]
pub(crate) struct GoDraws(SplittableRandom);

impl GoDraws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplittableRandom::new(seed))
    }

    fn draw(&mut self) -> u64 {
        self.0.next_long()
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.draw() % bound.max(1) as u64).unwrap_or(0)
    }
}

/// The keys of a map, as numbers.
#[derive(Clone, Debug)]
pub(crate) struct GoMap<I> {
    seed: u64,
    len: usize,
    /// The only group of a map without a table; empty as soon as there is a table.
    small: Vec<GoSlot<I>>,
    tables: Vec<GoTable<I>>,
    /// By the hash's first bits, the place of a table; empty if there is none.
    directory: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GoSlot<I> {
    Empty,
    Deleted,
    Key(I),
}

#[derive(Clone, Debug)]
struct GoTable<I> {
    slots: Vec<GoSlot<I>>,
    /// How many bits of the hash choose this table.
    depth: u32,
    /// How many keys it takes before it grows.
    room: usize,
}

impl<I: Ix> GoMap<I> {
    /// A map made for a given number of keys (`make(map[K]V, hint)`).
    pub(crate) fn new(draws: &mut GoDraws, hint: usize) -> Self {
        let mut map = Self {
            seed: draws.draw(),
            len: 0,
            small: vec![GoSlot::Empty; GROUP],
            tables: Vec::new(),
            directory: Vec::new(),
        };
        if hint > GROUP {
            let slots = hint * GROUP / (GROUP - 1);
            let tables = slots.div_ceil(LARGEST_TABLE).next_power_of_two();
            map.small.clear();
            map.tables = vec![GoTable::new(slots / tables, tables.trailing_zeros()); tables];
            map.directory = (0..tables).collect();
        }
        map
    }

    /// A map with these keys, put in this order.
    pub(crate) fn of(draws: &mut GoDraws, hint: usize, keys: impl IntoIterator<Item = I>) -> Self {
        let mut map = Self::new(draws, hint);
        for key in keys {
            map.put(key);
        }
        map
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn has(&self, key: I) -> bool {
        if self.directory.is_empty() {
            return self.small.contains(&GoSlot::Key(key));
        }
        let hash = self.hash(key);
        self.tables[self.table(hash)].find(hash, key).is_some()
    }

    /// Puts a key, if it is not there yet.
    pub(crate) fn put(&mut self, key: I) {
        if self.has(key) {
            return;
        }
        self.len += 1;
        if self.directory.is_empty() {
            if let Some(free) = self.small.iter_mut().find(|slot| !matches!(slot, GoSlot::Key(_))) {
                *free = GoSlot::Key(key);
                return;
            }
            let mut table = GoTable::new(2 * GROUP, 0);
            for slot in std::mem::take(&mut self.small) {
                if let GoSlot::Key(key) = slot {
                    table.put(self.hash(key), key);
                }
            }
            self.tables = vec![table];
            self.directory = vec![0];
        }
        let hash = self.hash(key);
        while !self.tables[self.table(hash)].has_room(hash) {
            self.grow(self.table(hash));
        }
        let table = self.table(hash);
        self.tables[table].put(hash, key);
    }

    pub(crate) fn remove(&mut self, key: I) {
        if !self.has(key) {
            return;
        }
        self.len -= 1;
        if self.directory.is_empty() {
            for slot in self.small.iter_mut().filter(|slot| **slot == GoSlot::Key(key)) {
                *slot = GoSlot::Empty;
            }
            return;
        }
        let hash = self.hash(key);
        let table = self.table(hash);
        self.tables[table].remove(hash, key);
    }

    /// The keys in the order of one `range`.
    pub(crate) fn walk(&self, draws: &mut GoDraws) -> Vec<I> {
        let mut keys = Vec::with_capacity(self.len);
        let mut walk = |slots: &[GoSlot<I>], from: usize| {
            for slot in slots[from..].iter().chain(&slots[..from]) {
                if let GoSlot::Key(key) = slot {
                    keys.push(*key);
                }
            }
        };
        if self.directory.is_empty() {
            let from = draws.below(GROUP);
            walk(&self.small, from);
            return keys;
        }
        let (offset, first) = (draws.draw(), draws.below(self.directory.len()));
        let first = self.directory.iter().position(|&table| table == self.directory[first]).unwrap_or(0);
        let mut last = None;
        for &table in self.directory[first..].iter().chain(&self.directory[..first]) {
            if last != Some(table) {
                let slots = &self.tables[table].slots;
                walk(slots, usize::try_from(offset % slots.len() as u64).unwrap_or(0));
            }
            last = Some(table);
        }
        keys
    }

    fn hash(&self, key: I) -> u64 {
        mix64(self.seed ^ u64::from(key.number()).wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    fn depth(&self) -> u32 {
        self.directory.len().trailing_zeros()
    }

    /// The place of the table that has a hash.
    fn table(&self, hash: u64) -> usize {
        let first_bits = hash.checked_shr(64 - self.depth()).unwrap_or(0);
        self.directory[usize::try_from(first_bits).unwrap_or(0)]
    }

    /// A table becomes twice as large, or two tables.
    fn grow(&mut self, place: usize) {
        let old = self.tables[place].clone();
        let keys = || {
            old.slots.iter().filter_map(|slot| if let GoSlot::Key(key) = slot { Some(*key) } else { None })
        };
        if 2 * old.slots.len() <= LARGEST_TABLE {
            let mut grown = GoTable::new(2 * old.slots.len(), old.depth);
            for key in keys() {
                grown.put(self.hash(key), key);
            }
            self.tables[place] = grown;
            return;
        }
        let depth = old.depth + 1;
        let mut halves = [GoTable::new(LARGEST_TABLE, depth), GoTable::new(LARGEST_TABLE, depth)];
        for key in keys() {
            let hash = self.hash(key);
            halves[usize::from(hash >> (64 - depth) & 1 == 1)].put(hash, key);
        }
        if old.depth == self.depth() {
            self.directory = self.directory.iter().flat_map(|&table| [table; 2]).collect();
        }
        let [left, right] = halves;
        self.tables[place] = left;
        self.tables.push(right);
        let bit = self.depth() - depth;
        for (first_bits, table) in self.directory.iter_mut().enumerate() {
            if *table == place && first_bits >> bit & 1 == 1 {
                *table = self.tables.len() - 1;
            }
        }
    }
}

impl<I: Ix> GoTable<I> {
    fn new(slots: usize, depth: u32) -> Self {
        let slots = slots.max(GROUP).next_power_of_two();
        let room = if slots == GROUP { GROUP - 1 } else { slots / GROUP * (GROUP - 1) };
        Self { slots: vec![GoSlot::Empty; slots], depth, room }
    }

    /// The first slots of the groups in which a hash may be.
    fn groups(&self, hash: u64) -> impl Iterator<Item = usize> + use<I> {
        let groups = self.slots.len() / GROUP;
        let mut group = usize::try_from((hash >> 7) % groups as u64).unwrap_or(0);
        (1..=groups).map(move |step| {
            let here = group * GROUP;
            group = (group + step) % groups;
            here
        })
    }

    fn find(&self, hash: u64, key: I) -> Option<usize> {
        for group in self.groups(hash) {
            let slots = &self.slots[group..group + GROUP];
            if let Some(place) = slots.iter().position(|&slot| slot == GoSlot::Key(key)) {
                return Some(group + place);
            }
            if slots.contains(&GoSlot::Empty) {
                return None;
            }
        }
        None
    }

    /// The slot for a new key: the first deleted one before an empty one, otherwise the empty one.
    fn free(&self, hash: u64) -> Option<usize> {
        let mut deleted = None;
        for group in self.groups(hash) {
            let slots = &self.slots[group..group + GROUP];
            let Some(free) = slots.iter().position(|slot| !matches!(slot, GoSlot::Key(_))) else { continue };
            if slots[free] == GoSlot::Empty {
                return deleted.or(Some(group + free));
            }
            deleted = deleted.or(Some(group + free));
        }
        deleted
    }

    fn has_room(&self, hash: u64) -> bool {
        self.room > 0 || self.free(hash).is_some_and(|free| self.slots[free] == GoSlot::Deleted)
    }

    fn put(&mut self, hash: u64, key: I) {
        if let Some(free) = self.free(hash) {
            if self.slots[free] == GoSlot::Empty {
                self.room = self.room.saturating_sub(1);
            }
            self.slots[free] = GoSlot::Key(key);
        }
    }

    fn remove(&mut self, hash: u64, key: I) {
        let Some(place) = self.find(hash, key) else { return };
        let group = place / GROUP * GROUP;
        if self.slots[group..group + GROUP].contains(&GoSlot::Empty) {
            self.slots[place] = GoSlot::Empty;
            self.room += 1;
        } else {
            self.slots[place] = GoSlot::Deleted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_eight_keys_are_walked_in_a_circle() {
        let mut draws = GoDraws::new(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..500 {
            let mut map = GoMap::of(&mut draws, 0, [5_u32, 3, 9, 7]);
            map.remove(3);
            seen.insert(map.walk(&mut draws));
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [[5, 9, 7], [7, 5, 9], [9, 7, 5]]);
    }

    #[test]
    fn a_map_has_each_key_once() {
        for keys in [9_u32, 100, 900, 5_000] {
            for hint in [0, keys] {
                let mut draws = GoDraws::new(u64::from(keys));
                let mut map = GoMap::of(&mut draws, hint as usize, (0..keys).chain(0..keys));
                for key in (0..keys).step_by(3) {
                    map.remove(key);
                }
                for key in (0..keys).step_by(6) {
                    map.put(key);
                }
                let walked = map.walk(&mut draws);
                assert_ne!(walked, map.walk(&mut draws));
                let mut sorted = walked;
                sorted.sort_unstable();
                let expected: Vec<_> = (0..keys).filter(|key| key % 3 != 0 || key % 6 == 0).collect();
                assert_eq!(sorted, expected);
                assert!(!map.is_empty() && map.has(1) && !map.has(3));
            }
        }
    }
}
