//! Indices of their own types: a member's number cannot be taken for a topic's or a partition's.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;
use std::iter::Zip;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

/// What a list is indexed by.
pub(crate) trait Ix: Copy + Debug + Default + Ord + Hash {
    /// The index with this number.
    fn new(number: u32) -> Self;

    /// Its number.
    fn number(self) -> u32;

    /// The same, as Rust counts.
    #[inline]
    fn place(self) -> usize {
        self.number() as usize
    }

    /// The index of a place in a list, which has fewer than 2^32.
    #[inline]
    fn at(place: usize) -> Self {
        Self::new(u32::try_from(place).unwrap_or(u32::MAX))
    }
}

impl Ix for u32 {
    #[inline]
    fn new(number: u32) -> Self {
        number
    }

    #[inline]
    fn number(self) -> u32 {
        self
    }
}

impl Ix for usize {
    #[inline]
    fn new(number: u32) -> Self {
        number as usize
    }

    #[inline]
    fn number(self) -> u32 {
        u32::try_from(self).unwrap_or(u32::MAX)
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
    ($($(#[$doc:meta])* $name:ident),+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            /// The index of nothing.
            pub(crate) const NONE: Self = Self(u32::MAX);
        }

        impl Ix for $name {
            #[inline]
            fn new(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }

        impl Ord for $name {
            #[inline]
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.cmp(&other.0)
            }
        }

        // What `derive` makes of `<` goes through `Ordering`; sorting compares the plain numbers.
        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }

            #[inline]
            fn lt(&self, other: &Self) -> bool {
                self.0 < other.0
            }
        }

        indices!(@of $name, [T]);
        indices!(@of $name, Vec<T>);
    )+};
}

indices! {
    /// A member of a group: its place in a list of members.
    MemberIx,
    /// A topic: its place in a list of topics.
    TopicIx,
    /// A partition: its place in a row of the partitions of all topics.
    PartitionIx
}

/// Consecutive indices.
#[derive(Clone, Debug)]
pub(crate) struct Indices<I> {
    numbers: Range<u32>,
    index: PhantomData<I>,
}

impl<I: Ix> Indices<I> {
    /// Those with these numbers.
    #[inline]
    pub(crate) fn new(numbers: Range<u32>) -> Self {
        Self { numbers, index: PhantomData }
    }

    /// The first ones of a list.
    #[inline]
    pub(crate) fn first(count: usize) -> Self {
        Self::new(0..u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// The first one.
    #[inline]
    pub(crate) fn start(&self) -> I {
        I::new(self.numbers.start)
    }

    /// The one at a place among them.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> I {
        I::at(self.numbers.start as usize + place)
    }

    /// The one after the last.
    #[inline]
    pub(crate) fn end(&self) -> I {
        I::new(self.numbers.end)
    }

    /// The part of a list that has these indices.
    #[inline]
    pub(crate) fn places(&self) -> Range<usize> {
        self.numbers.start as usize..self.numbers.end as usize
    }
}

impl<I: Ix> Iterator for Indices<I> {
    type Item = I;

    #[inline]
    fn next(&mut self) -> Option<I> {
        self.numbers.next().map(I::new)
    }

    #[inline]
    fn nth(&mut self, skipped: usize) -> Option<I> {
        self.numbers.nth(skipped).map(I::new)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl<I: Ix> DoubleEndedIterator for Indices<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I> {
        self.numbers.next_back().map(I::new)
    }
}

impl<I: Ix> ExactSizeIterator for Indices<I> {}

/// Items with their indices.
#[inline]
pub(crate) fn numbered<I: Ix, T: IntoIterator>(items: T) -> Zip<Indices<I>, T::IntoIter> {
    Indices::new(0..u32::MAX).zip(items)
}
