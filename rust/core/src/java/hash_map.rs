//! The order of a `java.util.HashMap` that only grows, including trees in its bins (the same in JDK 8 to 25).

use super::strings::{by, hash_code, sorted};
use super::tree_bins::{NONE, Trees};
use crate::index::Ix;

/// A `new HashMap<>()` has this many bins, and twice as many whenever more than three in four would be taken.
pub(crate) const FIRST_BINS: usize = 16;
/// A bin with more keys than this becomes a tree once the table has [`TREE_BINS`] bins; before that, the table grows.
pub(crate) const LONGEST_LIST: usize = 8;
pub(crate) const TREE_BINS: usize = 64;
/// A tree with at most this many keys after the table has grown becomes a list again.
const SMALLEST_TREE: usize = 6;

/// The number of bins that `AssignorHelpers.newHashMap` and `newHashSet` make for a given size.
pub(crate) fn bins_for(size: usize) -> usize {
    ((size + 1) * 4 / 3 + 1).next_power_of_two()
}

/// A hash code as `HashMap` spreads it, so that the upper bits count in small tables too.
pub(crate) fn spread(hash: i32) -> i32 {
    hash ^ (hash.cast_unsigned() >> 16).cast_signed()
}

/// The bin of a spread hash in a table.
pub(crate) fn bin(spread: i32, bins: usize) -> usize {
    spread.cast_unsigned() as usize & (bins - 1)
}

/// The order in which Java walks a `new HashMap<>()` into which keys with these hash codes were put, each once and in
/// the order of `inserted`, whose numbers are places in `hashes`. In a bin that has become a tree, keys with the same
/// hash code are ordered by their numbers, which is right for comparable keys that are numbered in their order. Keys
/// that Java cannot compare, such as `TopicPartition`s, it orders by their memory addresses, differently every time;
/// this is one of those orders.
pub fn walk(hashes: &[i32], inserted: &[u32]) -> Vec<u32> {
    Walker::new(hashes.iter().copied()).walk(inserted)
}

/// The order in which Java walks a `new HashMap<>()` into which these names were put, each once: their places.
pub fn walk_names(names: &[&str]) -> Vec<u32> {
    let (places, numbers) = sorted::<u32>(names);
    let sorted = by(&places, names);
    by(&Walker::of_names(&sorted).walk(&numbers), &places)
}

/// `java.util.HashMap`, as far as it decides the order: a linked list or a tree per bin. One walker serves any number
/// of maps of the same keys, which are numbers: see [`walk`].
pub(crate) struct Walker {
    spread: Vec<i32>,
    trees: Trees,
    bins: Vec<Bin>,
    size: usize,
}

#[derive(Clone, Copy)]
struct Bin {
    first: u32,
    last: u32,
    keys: usize,
    /// The root, if the bin is a tree.
    root: u32,
}

const EMPTY: Bin = Bin { first: NONE, last: NONE, keys: 0, root: NONE };

impl Walker {
    pub(crate) fn new(hashes: impl Iterator<Item = i32>) -> Self {
        let spread: Vec<_> = hashes.map(spread).collect();
        Self { trees: Trees::new(spread.len()), spread, bins: Vec::new(), size: 0 }
    }

    /// For names that are numbered in the order of [`compare`].
    pub(crate) fn of_names(sorted: &[&str]) -> Self {
        Self::new(sorted.iter().map(|name| hash_code(name)))
    }

    /// The order of a map into which keys were `put`, each once.
    pub(crate) fn walk<I: Ix>(&mut self, inserted: &[I]) -> Vec<I> {
        self.walk_from(FIRST_BINS, inserted)
    }

    /// The same for a map that begins with a given number of bins.
    pub(crate) fn walk_from<I: Ix>(&mut self, bins: usize, inserted: &[I]) -> Vec<I> {
        self.begin_with(bins);
        for key in inserted {
            self.put(key.number());
        }
        self.walked()
    }

    /// A new map with a given number of bins.
    pub(crate) fn begin_with(&mut self, bins: usize) {
        self.bins.clear();
        self.bins.resize(bins, EMPTY);
        self.size = 0;
    }

    /// `put` of a new key: after the others of its bin; the table grows as soon as it is too full.
    fn put(&mut self, key: u32) {
        let place = bin(self.spread[key as usize], self.bins.len());
        if self.bins[place].root == NONE {
            self.append(place, key);
            if self.bins[place].keys > LONGEST_LIST {
                self.shorten(place);
            }
        } else {
            self.insert(place, key);
        }
        self.size += 1;
        if self.is_too_full() {
            self.grow();
        }
    }

    /// `computeIfAbsent` of a new or a known key. Unlike `put`, it first checks whether the table must grow, even for a
    /// known key; it puts a new key before the others of its bin; and a list becomes a tree one key sooner.
    pub(crate) fn compute_if_absent(&mut self, key: impl Ix, new: bool) {
        let key = key.number();
        if self.is_too_full() {
            self.grow();
        }
        if !new {
            return;
        }
        let place = bin(self.spread[key as usize], self.bins.len());
        if self.bins[place].root == NONE {
            self.prepend(place, key);
            if self.bins[place].keys >= LONGEST_LIST {
                self.shorten(place);
            }
        } else {
            self.insert(place, key);
        }
        self.size += 1;
    }

    fn is_too_full(&self) -> bool {
        self.size > self.bins.len() / 4 * 3
    }

    /// Into a tree.
    fn insert(&mut self, place: usize, key: u32) {
        let Bin { first, root, .. } = self.bins[place];
        let (first, root) = self.trees.insert(&self.spread, key, first, root);
        let bin = &mut self.bins[place];
        (bin.first, bin.root, bin.keys) = (first, root, bin.keys + 1);
    }

    /// Handles a list that is too long.
    fn shorten(&mut self, place: usize) {
        if self.bins.len() < TREE_BINS { self.grow() } else { self.plant(place) }
    }

    fn prepend(&mut self, place: usize, key: u32) {
        let first = self.bins[place].first;
        if first == NONE {
            self.append(place, key);
        } else {
            self.trees.link_before(first, key);
            self.bins[place].first = key;
            self.bins[place].keys += 1;
        }
    }

    fn append(&mut self, place: usize, key: u32) {
        let bin = &mut self.bins[place];
        self.trees.link(bin.last, key);
        if bin.first == NONE {
            bin.first = key;
        }
        (bin.last, bin.keys) = (key, bin.keys + 1);
    }

    /// Makes a tree of a bin's list.
    fn plant(&mut self, place: usize) {
        let (first, root) = self.trees.plant(&self.spread, self.bins[place].first);
        (self.bins[place].first, self.bins[place].root) = (first, root);
    }

    /// Doubles the table: each bin's keys go to one of two bins, in the order that they had.
    fn grow(&mut self) {
        let half = self.bins.len();
        let old = std::mem::replace(&mut self.bins, vec![EMPTY; 2 * half]);
        for (place, before) in old.into_iter().enumerate() {
            let mut key = before.first;
            while key != NONE {
                let next = self.trees.next(key);
                self.append(bin(self.spread[key as usize], 2 * half), key);
                key = next;
            }
            if before.root == NONE {
                continue;
            }
            let moved = self.bins[place].keys.min(self.bins[place + half].keys);
            for place in [place, place + half] {
                if self.bins[place].keys <= SMALLEST_TREE {
                    continue;
                }
                if moved == 0 {
                    self.bins[place].root = before.root;
                } else {
                    self.plant(place);
                }
            }
        }
    }

    /// The map's keys in the order of its walk.
    pub(crate) fn walked<I: Ix>(&self) -> Vec<I> {
        let mut walked = Vec::with_capacity(self.size);
        for bin in &self.bins {
            let mut key = bin.first;
            while key != NONE {
                walked.push(I::new(key));
                key = self.trees.next(key);
            }
        }
        walked
    }
}
