//! The order of Kafka's `BaseHashTable`, the base of its `TimelineHashMap`, in which the coordinator keeps the members
//! of a KIP-848 group.
//!
//! Exact to `BaseHashTable` and `SnapshottableHashTable.CurrentIterator` of kafka-server-common 4.4.0: its
//! bins and its growth differ from Java's `HashMap`, and in a bin the newest name comes first.

use std::cmp::Reverse;
use std::sync::Arc;

use super::strings::hash_code;
use crate::interned::Name;

/// A table begins with two bins, which one bit tells apart.
const FIRST_BITS: u32 = 1;
/// Hash codes are multiplied by this, and the highest bits are the bin: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Names in a table that grows and never shrinks.
#[derive(Clone, Debug)]
pub(crate) struct TimelineHashMap {
    /// The names with their hash codes, in the order of insertion.
    names: Vec<(i32, Name)>,
    bits: u32,
}

impl Default for TimelineHashMap {
    fn default() -> Self {
        Self { names: Vec::new(), bits: FIRST_BITS }
    }
}

impl TimelineHashMap {
    /// Puts a new name. Kafka puts its value at least once more, and each time checks whether one more name would be
    /// too many, whether the name is new or not.
    pub(crate) fn put(&mut self, name: &Name) {
        self.names.push((hash_code(name), Arc::clone(name)));
        while (self.names.len() + 1) * 3 > 4 << self.bits {
            self.bits += 1;
        }
    }

    pub(crate) fn remove(&mut self, name: &Name) {
        self.names.retain(|(_, other)| other != name);
    }

    /// The names in Kafka's order.
    pub(crate) fn walk(&self) -> Vec<&Name> {
        let bin = |hash: i32| i64::from(hash).cast_unsigned().wrapping_mul(SPREAD) >> (u64::BITS - self.bits);
        let mut places: Vec<_> =
            (0..).zip(&self.names).map(|(place, (hash, _))| (bin(*hash), Reverse(place))).collect();
        places.sort_unstable();
        places.into_iter().map(|(_, Reverse(place)): (_, Reverse<usize>)| &self.names[place].1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::TimelineHashMap;

    fn put(order: &mut TimelineHashMap, names: &[&str]) {
        for &name in names {
            order.put(&name.into());
        }
    }

    fn walk(order: &TimelineHashMap) -> Vec<&str> {
        order.walk().into_iter().map(|name| &**name).collect()
    }

    #[test]
    fn what_came_last_of_a_bin_comes_first() {
        let mut order = TimelineHashMap::default();
        // Names of one hash code.
        put(&mut order, &["AaAa", "BBBB", "AaBB"]);
        assert_eq!(walk(&order), ["AaBB", "BBBB", "AaAa"]);
        order.remove(&"BBBB".into());
        put(&mut order, &["BBAa", "BBBB"]);
        assert_eq!(walk(&order), ["BBBB", "BBAa", "AaBB", "AaAa"]);
    }

    #[test]
    fn a_table_grows_one_name_early_and_never_shrinks() {
        let (mut order, mut bits) = (TimelineHashMap::default(), Vec::new());
        for number in 0..22 {
            put(&mut order, &[&number.to_string()]);
            bits.push(order.bits);
        }
        // 2, 4, 8 and 16 bins hold at most 1, 4, 9 and 20 names.
        let expected = [(1, 1), (2, 3), (3, 5), (4, 11), (5, 2)];
        let expected: Vec<u32> = expected.iter().flat_map(|&(bits, times)| vec![bits; times]).collect();
        assert_eq!(bits, expected);
        for number in 0..22 {
            order.remove(&number.to_string().as_str().into());
        }
        assert_eq!((walk(&order).len(), order.bits), (0, 5));
    }
}
