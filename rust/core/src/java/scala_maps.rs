//! The orders of Scala 2.11's `mutable.HashMap` and `immutable.HashMap`, which reach the answers of Kafka 0.10.

use std::cmp::Reverse;

use crate::index::Ix;

/// A `mutable.HashMap` has this many bins, and twice as many whenever more than three in four are taken.
const FIRST_BINS: usize = 16;
/// The number of bits by which hashes are rotated: the bits of the first table's last index.
const ROTATED: u32 = FIRST_BINS.trailing_zeros();
/// An immutable map with at most this many keys is a list of them.
const LONGEST_LIST: usize = 4;
/// A node of the trie uses this many bits of the hash.
const BITS: u32 = 5;

/// The walk over a `mutable.HashMap` into which keys, places in `hashes`, were put in this order: from the last bin to
/// the first, and in each bin from the latest key to the first. A growing table is walked, and its keys are put into
/// the larger one in that order.
pub(crate) fn mutable<I: Ix>(hashes: &[i32], inserted: &[I]) -> Vec<I> {
    let improved: Vec<_> =
        hashes.iter().map(|&hash| byteswap(hash.cast_unsigned()).rotate_right(ROTATED)).collect();
    let (mut bins, mut coming_later, mut table) = (FIRST_BINS, inserted, Vec::new());
    loop {
        // With one more key it grows.
        let (coming, left) =
            coming_later.split_at(coming_later.len().min((bins * 3 / 4 + 1).saturating_sub(table.len())));
        table.extend_from_slice(coming);
        let shift = 32 - bins.trailing_zeros();
        table.reverse();
        table.sort_by_key(|key: &I| Reverse(improved[key.place()] >> shift));
        if table.len() <= bins * 3 / 4 {
            return table;
        }
        (bins, coming_later) = (2 * bins, left);
    }
}

/// The walk over an immutable map of keys that were put into it in this order: a trie by the bits of their hashes, the
/// lowest first; keys with the same hash are in the order of insertion.
pub(crate) fn immutable<I: Ix>(hashes: &[i32], mut keys: Vec<I>) -> Vec<I> {
    if keys.len() > LONGEST_LIST {
        let digits =
            |hash: u32| (0..u32::BITS).step_by(BITS as usize).map(move |bit| hash >> bit & ((1 << BITS) - 1));
        let improved: Vec<_> = hashes.iter().map(|&hash| improve(hash.cast_unsigned())).collect();
        keys.sort_by(|&one, &other| digits(improved[one.place()]).cmp(digits(improved[other.place()])));
    }
    keys
}

/// `scala.util.hashing.byteswap32`.
fn byteswap(hash: u32) -> u32 {
    const GOLDEN: u32 = 0x9e37_75cd;
    hash.wrapping_mul(GOLDEN).swap_bytes().wrapping_mul(GOLDEN)
}

/// `immutable.HashMap.improve`.
fn improve(hash: u32) -> u32 {
    let hash = hash.wrapping_add(!(hash << 9));
    let hash = hash ^ hash >> 14;
    let hash = hash.wrapping_add(hash << 4);
    hash ^ hash >> 10
}
