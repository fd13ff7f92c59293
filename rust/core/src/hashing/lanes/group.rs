//! As many keys as a register has lanes, of which it is known how far they may be read.

use std::marker::PhantomData;
use std::ptr;

use super::offset::{Offset, Places};

/// So many bytes are loaded at once from each key.
pub(super) const LOAD: usize = 16;
/// So many bytes are a block of the hash.
pub(super) const WORD: usize = 4;
/// So many bytes may be loaded at once from keys that lie closely: four of them.
pub(super) const FOUR: usize = 64;

/// `L` keys, none longer than 2^31-1 bytes.
///
/// # Safety
/// If [`Group::lengths`] is in order, [`Group::room`] bytes can be read from each [`Group::start`] on, and
/// [`Group::distances`], if there are any, lead there. The kernels rely on it.
pub(crate) unsafe trait Group<const L: usize> {
    /// Where a key begins.
    fn start(&self, lane: usize) -> *const u8;

    /// How long the keys are.
    fn lengths(&self) -> Lengths<'_, L>;

    /// How many bytes can be read from where any of them begins.
    fn room(&self) -> usize;

    /// How far each key begins behind the one before, if they lie in one buffer and are all as long as the first.
    fn stride(&self) -> Option<usize>;

    /// A place and how far from it each key begins, if 32 bits say how far.
    fn distances(&self) -> Option<(*const u8, &[i32; L])>;

    /// How many bytes the keys have together, and what lies between them.
    fn span(&self) -> usize;
}

/// How long the keys of a group are.
pub(crate) enum Lengths<'a, const L: usize> {
    /// All as long as this.
    One(i32),
    /// As long as each of these, none of which is negative.
    Each(&'a [i32; L]),
    /// From each of `L + 1` offsets to the next, less the `skip`. In order if the last offset is not larger than the
    /// data and neither an offset nor what is between two of them, with the `skip` or without, is negative.
    Between { offsets: Places<'a>, skip: i32, data: usize },
}

/// Keys one after the other in one buffer, by `L + 1` offsets of which each is a key's end and the next one's begin.
pub(crate) struct InARow<'a, O> {
    data: &'a [u8],
    offsets: &'a [O],
    skip: i32,
}

impl<'a, O> InARow<'a, O> {
    /// Keys of which each goes from its offset, and `skip` bytes more, to the next one's.
    #[inline]
    pub(super) fn new<const L: usize>(data: &'a [u8], offsets: &'a [O], skip: usize) -> Option<Self> {
        Some(Self { data, offsets: offsets.get(..=L)?, skip: i32::try_from(skip).ok()? })
    }
}

// SAFETY: if the lengths are in order, so are the offsets: no key begins behind the last one's end, and no room ends
// behind the data's.
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

/// Keys of one length in one buffer, as far from each other.
pub(crate) struct Even<'a> {
    data: &'a [u8],
    width: i32,
    skip: i32,
}

impl<'a> Even<'a> {
    /// Keys that begin `width` bytes apart, the first of them `skip` bytes behind where the data begins.
    #[inline]
    pub(super) fn new<const L: usize>(data: &'a [u8], width: usize, skip: usize) -> Option<Self> {
        let end = width.checked_mul(L)?;
        let (width, skip) = (i32::try_from(width).ok()?, i32::try_from(skip).ok()?);
        (end <= data.len() && skip <= width).then_some(Self { data, width, skip })
    }
}

// SAFETY: no key begins behind the last one's end, and the room ends with the data.
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
    fn distances(&self) -> Option<(*const u8, &[i32; L])> {
        None
    }

    #[inline]
    fn span(&self) -> usize {
        bytes(self.width) * L
    }
}

/// Keys that lie anywhere.
pub(crate) struct Apart<'a, const L: usize> {
    starts: [*const u8; L],
    lengths: [i32; L],
    room: usize,
    span: usize,
    buffers: PhantomData<&'a [u8]>,
}

impl<'a, const L: usize> Apart<'a, L> {
    /// By what can be read from each key's start on, and the key's length.
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

// SAFETY: no window is shorter than the room.
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
    fn stride(&self) -> Option<usize> {
        None
    }

    #[inline]
    fn distances(&self) -> Option<(*const u8, &[i32; L])> {
        None
    }

    #[inline]
    fn span(&self) -> usize {
        self.span
    }
}

/// A number of bytes that has been seen not to be negative.
#[inline]
pub(super) fn bytes(number: i32) -> usize {
    number.cast_unsigned() as usize
}
