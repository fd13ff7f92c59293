//! Offsets as Arrow writes them, of either width.

/// Offsets of either width.
#[derive(Clone, Copy)]
pub(crate) enum Places<'a> {
    Narrow(&'a [i32]),
    Wide(&'a [i64]),
}

/// An offset into a buffer as Arrow writes it; in a broken column it may be negative.
pub(crate) trait Offset: Copy + Into<i64> + Sync {
    /// A slice of offsets, by their width.
    fn places(offsets: &[Self]) -> Places<'_>;

    /// The number of bytes from the buffer's beginning, if it is not negative.
    fn bytes(self) -> usize;
}

impl Offset for i32 {
    #[inline]
    fn places(offsets: &[Self]) -> Places<'_> {
        Places::Narrow(offsets)
    }

    #[inline]
    fn bytes(self) -> usize {
        self.cast_unsigned() as usize
    }
}

impl Offset for i64 {
    #[inline]
    fn places(offsets: &[Self]) -> Places<'_> {
        Places::Wide(offsets)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "lanes are for processors of 64 bits")]
    fn bytes(self) -> usize {
        self.cast_unsigned() as usize
    }
}
