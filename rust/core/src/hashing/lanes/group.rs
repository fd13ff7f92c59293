//! As many keys as a register has lanes, with the number of bytes that may be read from each.

use std::marker::PhantomData;
use std::ptr;

use super::offset::{Offset, Places};

/// This many bytes are loaded at once from each key.
pub(super) const LOAD: usize = 16;
/// A block of the hash has this many bytes.
pub(super) const WORD: usize = 4;
/// From keys that are close together, four are loaded at once, which may read this many bytes.
pub(super) const FOUR: usize = 64;

/// `L` keys, none longer than 2^31-1 bytes.
///
/// # Safety
/// If [`Group::lengths`] is in order, [`Group::room`] bytes can be read from each [`Group::start`] on, and
/// [`Group::distances`], if there are any, lead there. The kernels rely on it.
pub(crate) unsafe trait Group<const L: usize> {
    /// The address where a key begins.
    fn start(&self, lane: usize) -> *const u8;

    /// The keys' lengths.
    fn lengths(&self) -> Lengths<'_, L>;

    /// How many bytes can be read from the beginning of each key.
    fn room(&self) -> usize;

    /// The distance between the beginnings of two keys, if all are in one buffer and have the same length.
    #[inline]
    fn stride(&self) -> Option<usize> {
        None
    }

    /// An address and each key's distance from it, if 32 bits can hold the distances.
    #[inline]
    fn distances(&self) -> Option<(*const u8, &[i32; L])> {
        None
    }

    /// The bytes from the first key to the end of the last one.
    fn span(&self) -> usize;
}

/// The lengths of a group's keys.
pub(crate) enum Lengths<'a, const L: usize> {
    /// All have this length.
    One(i32),
    /// These lengths, none of which is negative.
    Each(&'a [i32; L]),
    /// From each of `L + 1` offsets to the next, minus the `skip`. They are in order if the last offset is not beyond
    /// the data, and no offset and no difference between two of them, with or without the `skip`, is negative.
    Between { offsets: Places<'a>, skip: i32, data: usize },
}

/// Keys one after the other in one buffer, by `L + 1` offsets; each is the end of one key and the beginning of the
/// next.
pub(crate) struct InARow<'a, O> {
    data: &'a [u8],
    offsets: &'a [O],
    skip: i32,
}

impl<'a, O> InARow<'a, O> {
    /// Keys that go from their offset plus `skip` bytes to the next offset.
    #[inline]
    pub(super) fn new<const L: usize>(data: &'a [u8], offsets: &'a [O], skip: usize) -> Option<Self> {
        Some(Self { data, offsets: offsets.get(..=L)?, skip: i32::try_from(skip).ok()? })
    }
}

// SAFETY: if the lengths are in order, so are the offsets: no key begins after the end of the last one, and no room
// ends after the data.
unsafe impl<const L: usize, O: Offset> Group<L> for InARow<'_, O> {
    #[inline]
    fn start(&self, lane: usize) -> *const u8 {
        self.data.as_ptr().wrapping_add(bytes(self.skip)).wrapping_add(self.offsets[lane].bytes())
    }

    #[inline]
    fn lengths(&self) -> Lengths<'_, L> {
        Lengths::Between { offsets: O::places(self.offsets), skip: self.skip, data: self.data.len() }
    }

    #[inline]
    fn room(&self) -> usize {
        self.data.len().saturating_sub(self.offsets[L].bytes())
    }

    #[inline]
    fn stride(&self) -> Option<usize> {
        Some(self.offsets[1].bytes().wrapping_sub(self.offsets[0].bytes()))
    }

    #[inline]
    fn distances(&self) -> Option<(*const u8, &[i32; L])> {
        match O::places(self.offsets) {
            Places::Narrow(offsets) => {
                Some((self.data.as_ptr().wrapping_add(bytes(self.skip)), offsets.first_chunk()?))
            }
            Places::Wide(_) => None,
        }
    }

    #[inline]
    fn span(&self) -> usize {
        self.offsets[L].bytes().wrapping_sub(self.offsets[0].bytes())
    }
}

/// Keys of one length in one buffer, at equal distances.
pub(crate) struct Even<'a> {
    data: &'a [u8],
    width: i32,
    skip: i32,
}

impl<'a> Even<'a> {
    /// Keys that begin `width` bytes apart, the first one `skip` bytes after the beginning of the data.
    #[inline]
    pub(super) fn new<const L: usize>(data: &'a [u8], width: usize, skip: usize) -> Option<Self> {
        let end = width.checked_mul(L)?;
        let (width, skip) = (i32::try_from(width).ok()?, i32::try_from(skip).ok()?);
        (end <= data.len() && skip <= width).then_some(Self { data, width, skip })
    }
}

// SAFETY: no key begins after the end of the last one, and the room ends with the data.
unsafe impl<const L: usize> Group<L> for Even<'_> {
    #[inline]
    fn start(&self, lane: usize) -> *const u8 {
        self.data.as_ptr().wrapping_add(lane * bytes(self.width) + bytes(self.skip))
    }

    #[inline]
    fn lengths(&self) -> Lengths<'_, L> {
        Lengths::One(self.width - self.skip)
    }

    #[inline]
    fn room(&self) -> usize {
        self.data.len() - bytes(self.width) * L
    }

    #[inline]
    fn stride(&self) -> Option<usize> {
        Some(bytes(self.width))
    }

    #[inline]
    fn span(&self) -> usize {
        bytes(self.width) * L
    }
}

/// Keys anywhere in memory.
pub(crate) struct Apart<'a, const L: usize> {
    starts: [*const u8; L],
    lengths: [i32; L],
    room: usize,
    span: usize,
    buffers: PhantomData<&'a [u8]>,
}

impl<'a, const L: usize> Apart<'a, L> {
    /// From the bytes readable from each key's start, and the key's length.
    #[inline]
    pub(super) fn new(window: impl Fn(usize) -> Option<(&'a [u8], usize)>) -> Option<Self> {
        let (mut starts, mut lengths, mut room, mut span) = ([ptr::null(); L], [0; L], usize::MAX, 0);
        for lane in 0..L {
            let (window, length) = window(lane)?;
            (starts[lane], lengths[lane]) = (window.as_ptr(), i32::try_from(length).ok()?);
            (room, span) = (room.min(window.len()), length.saturating_add(span));
        }
        Some(Self { starts, lengths, room, span, buffers: PhantomData })
    }
}

// SAFETY: no readable window is shorter than the room.
unsafe impl<const L: usize> Group<L> for Apart<'_, L> {
    #[inline]
    fn start(&self, lane: usize) -> *const u8 {
        self.starts[lane]
    }

    #[inline]
    fn lengths(&self) -> Lengths<'_, L> {
        Lengths::Each(&self.lengths)
    }

    #[inline]
    fn room(&self) -> usize {
        self.room
    }

    #[inline]
    fn span(&self) -> usize {
        self.span
    }
}

/// A number of bytes that was checked not to be negative.
#[inline]
pub(super) fn bytes(number: i32) -> usize {
    number.cast_unsigned() as usize
}
