//! Indices of their own types: a member's number cannot be taken for a topic's or a partition's.

use std::fmt::Debug;
use std::hash::Hash;
use std::iter::Map;
use std::ops::{Index, IndexMut, Range};

/// What a list is indexed by.
pub(crate) trait Ix: Copy + Debug + Default + Ord + Hash {
    /// The index with this number.
    fn new(number: u32) -> Self;

    /// Its number, as Rust counts.
    fn place(self) -> usize;

    /// The same as a number of 32 bits: lists have fewer than 2^32 places.
    #[inline]
    fn number(self) -> u32 {
        u32::try_from(self.place()).unwrap_or(u32::MAX)
    }

    /// The index of a place in a list.
    #[inline]
    fn at(place: usize) -> Self {
        Self::new(place.number())
    }
}

impl Ix for u32 {
    #[inline]
    fn new(number: u32) -> Self {
        number
    }

    #[inline]
    fn place(self) -> usize {
        self as usize
    }
}

impl Ix for usize {
    #[inline]
    fn new(number: u32) -> Self {
        number as usize
    }

    #[inline]
    fn place(self) -> usize {
        self
    }
}

macro_rules! indices {
    (@of $name:ident, $list:ty) => {
        impl<T> Index<$name> for $list {
            type Output = T;

            #[inline]
            fn index(&self, index: $name) -> &T {
                &self[index.0 as usize]
            }
        }

        impl<T> IndexMut<$name> for $list {
            #[inline]
            fn index_mut(&mut self, index: $name) -> &mut T {
                &mut self[index.0 as usize]
            }
        }
    };
    ($($(#[$doc:meta])* $vis:vis $name:ident),+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name($vis u32);

        impl $name {
            /// The index of nothing.
            $vis const NONE: Self = Self(u32::MAX);
        }

        impl Ix for $name {
            #[inline]
            fn new(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn place(self) -> usize {
                self.0 as usize
            }
        }

        indices!(@of $name, [T]);
        indices!(@of $name, Vec<T>);
    )+};
}

indices! {
    /// A member of a group: its place in a list of members.
    pub(crate) MemberIx,
    /// A topic: its place in a list of topics.
    pub(crate) TopicIx,
    /// A partition: its place in a row of the partitions of all topics.
    pub(crate) PartitionIx,
    /// A client of a simulated group, by its place in the script's list.
    pub Reader
}

/// Consecutive indices.
pub(crate) type Indices<I> = Map<Range<u32>, fn(u32) -> I>;

/// The indices of a list with so many places.
#[inline]
pub(crate) fn indices<I: Ix>(count: usize) -> Indices<I> {
    (0..count.number()).map(I::new)
}

/// For each index of a list with so many places, whether it is one of these.
pub(crate) fn marked<I: Ix>(count: usize, those: impl IntoIterator<Item = I>) -> Vec<bool> {
    let mut marks = vec![false; count];
    for index in those {
        marks[index.place()] = true;
    }
    marks
}

/// Items with their indices.
#[inline]
pub(crate) fn numbered<I: Ix, T: IntoIterator>(items: T) -> impl Iterator<Item = (I, T::Item)> {
    (0..).map(I::new).zip(items)
}
