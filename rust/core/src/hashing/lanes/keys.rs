//! The memory layouts of keys that lanes read: by offsets, in fixed widths, or by views.

use std::ops::Deref;

use super::group::{Apart, Even, Group, InARow};
use super::offset::Offset;

/// Keys by row: all that a kernel knows about a column.
pub(crate) trait Keys<'a>: Sync {
    /// The form of `L` keys for a kernel.
    type Group<const L: usize>: Group<L>;

    /// The bytes of one row's key; `None` if they would be outside their buffer, or the row is beyond the last one.
    fn key(&self, row: usize) -> Option<&'a [u8]>;

    /// The keys of `L` rows from `row` on; `None` if they are known not to be in order.
    fn group<const L: usize>(&self, row: usize) -> Option<Self::Group<L>>;
}

/// Which rows have a key: one bit each from the bit `offset` on, starting with a byte's lowest bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validity<'a> {
    pub(crate) bits: &'a [u8],
    pub(crate) offset: usize,
}

impl Validity<'_> {
    #[inline]
    pub(super) fn is_valid(self, row: usize) -> bool {
        let bit = self.offset + row;
        self.bits.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// Which of `L` rows from `row` on have a key; the lowest bit is the first row.
    #[inline]
    pub(super) fn bits<const L: usize>(self, row: usize) -> u32 {
        let bit = self.offset + row;
        match self.bits.get(bit / 8..bit / 8 + 4).and_then(|bytes| bytes.first_chunk()) {
            Some(bytes) => u32::from_le_bytes(*bytes) >> (bit % 8),
            None => (0..L).fold(0, |bits, lane| bits | u32::from(self.is_valid(row + lane)) << lane),
        }
    }
}

/// Each key from its offset to the next one, without its first `skip` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offsets<'a, O> {
    pub(crate) data: &'a [u8],
    pub(crate) places: &'a [O],
    pub(crate) skip: usize,
}

impl<'a, O: Offset> Keys<'a> for Offsets<'a, O> {
    type Group<const L: usize> = InARow<'a, O>;

    #[inline]
    fn key(&self, row: usize) -> Option<&'a [u8]> {
        let place = |row: usize| usize::try_from((*self.places.get(row)?).into()).ok();
        self.data.get(place(row)?..place(row + 1)?)?.get(self.skip..)
    }

    #[inline]
    fn group<const L: usize>(&self, row: usize) -> Option<Self::Group<L>> {
        InARow::new::<L>(self.data, self.places.get(row..)?, self.skip)
    }
}

/// Each key `width` bytes after the one before, without its first `skip` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) width: usize,
    pub(crate) skip: usize,
}

impl<'a> Keys<'a> for Fixed<'a> {
    type Group<const L: usize> = Even<'a>;

    #[inline]
    fn key(&self, row: usize) -> Option<&'a [u8]> {
        self.data.get(row * self.width..(row + 1) * self.width)?.get(self.skip..)
    }

    #[inline]
    fn group<const L: usize>(&self, row: usize) -> Option<Even<'a>> {
        Even::new::<L>(self.data.get(row * self.width..)?, self.width, self.skip)
    }
}

/// Arrow's views of 16 bytes: the low 4 are a key's length; up to 12 bytes of key follow, and a longer key is in a
/// buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Views<'a, B> {
    /// The views' own bytes.
    pub(crate) heads: &'a [u8],
    pub(crate) buffers: &'a [B],
    pub(crate) skip: usize,
}

const VIEW: usize = 16;
const INLINE: usize = 12;

impl<'a, B: Deref<Target = [u8]> + Sync> Views<'a, B> {
    /// The bytes readable from a key's first byte on, and the key's length.
    #[inline]
    fn window(&self, row: usize) -> Option<(&'a [u8], usize)> {
        let start = row * VIEW;
        let view: &[u8; VIEW] = self.heads.get(start..start + VIEW)?.try_into().ok()?;
        let field = |place: usize| {
            let bytes = [view[place], view[place + 1], view[place + 2], view[place + 3]];
            usize::try_from(i32::from_le_bytes(bytes)).ok()
        };
        let length = field(0)?;
        let window = if length <= INLINE {
            self.heads.get(start + VIEW - INLINE..)?
        } else {
            self.buffers.get(field(8)?)?.get(field(12)?..)?
        };
        Some((window.get(self.skip..)?, length.checked_sub(self.skip)?))
    }
}

impl<'a, B: Deref<Target = [u8]> + Sync> Keys<'a> for Views<'a, B> {
    type Group<const L: usize> = Apart<'a, L>;

    #[inline]
    fn key(&self, row: usize) -> Option<&'a [u8]> {
        let (window, length) = self.window(row)?;
        window.get(..length)
    }

    #[inline]
    fn group<const L: usize>(&self, row: usize) -> Option<Apart<'a, L>> {
        Apart::new(|lane| self.window(row + lane))
    }
}
