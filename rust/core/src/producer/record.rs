//! The parts of a record that decide where it goes.

use super::sizes::RecordSize;

/// The parts of a record that decide where it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The place of its topic among the producer's.
    pub topic: usize,
    /// The partition that the record itself names.
    pub partition: Option<i32>,
    /// The partition of its key, or of its field.
    pub keyed: Option<i32>,
    /// How many bytes its key has, -1 for a null key.
    pub key_size: i32,
    /// How many bytes its value has, -1 for a null value.
    pub value_size: i32,
    /// How many bytes its headers take: [`headers_size`](super::headers_size); 0 for none.
    pub headers_size: i32,
    /// When it is sent, in milliseconds.
    pub at: i64,
}

impl Record {
    #[inline]
    pub(crate) fn size(&self) -> RecordSize {
        RecordSize::new(self.key_size, self.value_size, self.headers_size)
    }
}
