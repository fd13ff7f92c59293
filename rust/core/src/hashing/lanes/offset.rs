//! Offsets as Arrow writes them, of either width.

/// Offsets of either width.
#[derive(Clone, Copy)]
pub(crate) enum Places<'a> {
    Narrow(&'a [i32]),
    Wide(&'a [i64]),
}

/// A place in a buffer as Arrow writes it, which may be negative in a broken column.
pub(crate) trait Offset: Copy + Into<i64> + Sync {
    /// Some of them, by their width.
    fn places(offsets: &[Self]) -> Places<'_>;

    /// How many bytes it is from the buffer's begin, if it is in order.
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
