//! Lists of lists in two flat vectors.

use std::collections::BinaryHeap;
use std::ops::Range;

use crate::index::{Ix, MemberIx, PartitionIx, numbered};

/// By member, its partitions.
pub(super) type MemberLists = Vec<Vec<PartitionIx>>;

/// List `i` is `values[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists<T> {
    /// Where each list begins, and where the last one ends.
    pub offsets: Vec<usize>,
    /// The lists, one after the other.
    pub values: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { offsets: vec![0], values: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One list.
    #[expect(private_bounds, reason = "a caller counts lists, and the core's own numbers are indices too")]
    pub fn get(&self, list: impl Ix) -> &[T] {
        &self.values[self.range(list)]
    }

    /// Where a list is among the values.
    pub(super) fn range(&self, list: impl Ix) -> Range<usize> {
        self.offsets[list.place()]..self.offsets[list.place() + 1]
    }

    /// Ends a list at the present end of `values`.
    pub fn end(&mut self) {
        self.offsets.push(self.values.len());
    }

    pub(super) fn of(lists: &[Vec<T>]) -> Self {
        let mut flat = Self::default();
        for list in lists {
            flat.values.extend_from_slice(list);
            flat.end();
        }
        flat
    }
}

/// Where each list of a row of lists begins, and where the last one ends, given their lengths.
pub(super) fn offsets(lengths: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let ends = lengths.into_iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Partitions one at a time from the member that has most left, the one with the greater number on ties. `next` takes one
/// out of that member's list, if the list has any.
pub(super) fn from_the_fullest(
    mut lists: MemberLists,
    mut next: impl FnMut(&mut Vec<PartitionIx>) -> Option<PartitionIx>,
) -> Vec<PartitionIx> {
    let mut taken = Vec::new();
    let mut fullest: BinaryHeap<(usize, MemberIx)> =
        numbered(&lists).map(|(member, list)| (list.len(), member)).collect();
    while let Some((_, member)) = fullest.pop() {
        if let Some(partition) = next(&mut lists[member]) {
            taken.push(partition);
            fullest.push((lists[member].len(), member));
        }
    }
    taken
}

/// Whose turn it is in a circle: the first of these places, in ascending order, from `next` on, or else the first of all.
/// `next` goes past it.
pub(super) fn take_turn<I: Ix>(places: &[I], next: &mut usize) -> I {
    let turn = places.partition_point(|place| place.place() < *next);
    let place = places[if turn < places.len() { turn } else { 0 }];
    *next = place.place() + 1;
    place
}

impl<T: Copy + Default> Lists<T> {
    /// Values added to lists one at a time, each list in the order of the additions.
    pub(super) fn dealt<I: Ix>(lists: usize, dealt: &[(I, T)]) -> Self {
        let mut lengths = vec![0; lists];
        for (list, _) in dealt {
            lengths[list.place()] += 1;
        }
        let offsets = offsets(lengths);
        let mut values = vec![T::default(); dealt.len()];
        let mut places = offsets.clone();
        for (list, value) in dealt {
            values[places[list.place()]] = *value;
            places[list.place()] += 1;
        }
        Self { offsets, values }
    }
}
