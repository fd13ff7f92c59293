//! The order of `java.lang.String`: `hashCode`, `compareTo`, and names as Java sorts them.

use std::cmp::Ordering;

use crate::index::{Ix, numbered};

/// `String.hashCode`: of the UTF-16 code units.
#[inline]
pub fn hash_code(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `String.compareTo`: by UTF-16 code units, where characters of four bytes in UTF-8 come before U+E000 to U+FFFF.
pub fn compare(one: &str, other: &str) -> Ordering {
    let key = |byte: u8| if byte == 0xee || byte == 0xef { byte | 0x10 } else { byte };
    match one.bytes().zip(other.bytes()).find(|(one, other)| one != other) {
        Some((one, other)) => key(one).cmp(&key(other)),
        None => one.len().cmp(&other.len()),
    }
}

/// The places of names in their sorted order, and each place's place in that order.
pub(crate) fn sorted<I: Ix>(names: &[&str]) -> (Vec<u32>, Vec<I>) {
    let mut places: Vec<u32> = (0..).take(names.len()).collect();
    places.sort_by(|&one, &other| compare(names[one.place()], names[other.place()]));
    let numbers = inverse(&places);
    (places, numbers)
}

/// The number of each place in an order of places.
pub(crate) fn inverse<I: Ix>(places: &[u32]) -> Vec<I> {
    let mut numbers = vec![I::default(); places.len()];
    for (number, place) in numbered(places) {
        numbers[place.place()] = number;
    }
    numbers
}

/// Values in another order.
pub(crate) fn by<I: Ix, T: Copy>(places: &[I], values: &[T]) -> Vec<T> {
    places.iter().map(|place| values[place.place()]).collect()
}

/// Sorts members as the assignors do that know static membership: first those with an instance ID, by that, then the others
/// by their IDs. Of members with the same instance ID, the first stays the first.
pub(crate) fn sort_static_first<M: Copy>(
    members: &mut [M],
    instance: impl Fn(M) -> Option<u32>,
    id: impl Fn(M) -> u32,
) {
    members.sort_by_key(|&member| {
        instance(member).map_or_else(|| (true, id(member)), |instance| (false, instance))
    });
}

/// Each ID's place in Java's sorted order; equal IDs have equal places.
pub(crate) fn ranks(ids: &[Option<&str>]) -> Vec<Option<u32>> {
    let mut known: Vec<&str> = ids.iter().copied().flatten().collect();
    known.sort_by(|one, other| compare(one, other));
    known.dedup();
    let rank = |id| known.binary_search_by(|other| compare(other, id)).ok();
    ids.iter().map(|id| id.and_then(rank).and_then(|rank| u32::try_from(rank).ok())).collect()
}
