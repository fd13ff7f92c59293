//! The sizes of records and batches in bytes: message format 2, no compression (`DefaultRecord`, `DefaultRecordBatch`).

/// The size of a batch without records: `DefaultRecordBatch.RECORD_BATCH_OVERHEAD`.
pub(crate) const BATCH_OVERHEAD: i64 = 61;
/// The most that a record takes in addition to its key, value and headers: `DefaultRecord.MAX_RECORD_OVERHEAD`.
const RECORD_OVERHEAD: i64 = 21;
/// A record's attributes, and the count of its headers if there are fewer than 64.
const ATTRIBUTES: i64 = 1;
const NO_HEADERS: i64 = 1;

/// The part of a record's size that is the same in each batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordSize {
    /// The key, the value and the headers, with their lengths before them.
    content: i64,
}

impl RecordSize {
    /// From the sizes of a key and a value, each -1 for a null, and of the headers, see [`headers_size`].
    #[inline]
    pub(crate) fn new(key: i32, value: i32, headers: i32) -> Self {
        Self { content: of_bytes(key) + of_bytes(value) + NO_HEADERS + i64::from(headers) }
    }

    /// A record's size, given its offset in the batch and its time since the first record: `DefaultRecord.sizeInBytes`.
    #[inline]
    pub(crate) fn in_batch(self, before: i32, after: i64) -> i64 {
        let body = ATTRIBUTES + varint(before.into()) + varint(after) + self.content;
        varint(body) + body
    }

    /// The largest size of a batch with only this record: `AbstractRecords.estimateSizeInBytesUpperBound`.
    #[inline]
    pub(crate) fn upper_bound(self) -> i64 {
        BATCH_OVERHEAD + RECORD_OVERHEAD + self.content
    }
}

/// How many bytes headers take, in addition to the byte that an empty list takes; given each one's length of name and
/// of value (-1 for a null).
///
/// ```
/// use partwright_core::producer::headers_size;
/// assert_eq!(headers_size([]), 0);
/// assert_eq!(headers_size([(2, 26), (2, -1)]), 3 + 27 + 3 + 1);
/// ```
pub fn headers_size(headers: impl IntoIterator<Item = (i32, i32)>) -> i64 {
    let (mut count, mut bytes) = (0, 0);
    for (name, value) in headers {
        count += 1;
        bytes += of_bytes(name) + of_bytes(value);
    }
    varint(count) - NO_HEADERS + bytes
}

/// Bytes with their length in front; a null has the length -1.
fn of_bytes(length: i32) -> i64 {
    varint(length.into()) + i64::from(length.max(0))
}

/// A size as Java's accumulator passes it on.
#[expect(clippy::cast_possible_truncation, reason = "Java's int")]
pub(super) fn java_int(bytes: i64) -> i32 {
    bytes as i32
}

/// How many bytes a number takes: zigzag, seven bits per byte (`ByteUtils.sizeOfVarlong`).
fn varint(number: i64) -> i64 {
    let zigzag = (number << 1) ^ (number >> 63);
    let bits = 64 - i64::from((zigzag | 1).leading_zeros());
    // Bits by 7, rounded up, for up to 64 bits.
    (bits * 9 + 64) >> 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_takes_a_byte_for_each_seven_bits() {
        let sizes = [
            (0, 1),
            (-1, 1),
            (63, 1),
            (64, 2),
            (-64, 1),
            (-65, 2),
            (8191, 2),
            (8192, 3),
            (i64::MAX, 10),
            (i64::MIN, 10),
        ];
        for (number, size) in sizes {
            assert_eq!(varint(number), size, "{number}");
        }
        for bits in 1..=63 {
            assert_eq!(varint(-1 << (bits - 1)), (bits + 6) / 7, "{bits} bits");
        }
    }

    #[test]
    fn a_record_grows_with_its_place_its_time_and_its_headers() {
        let size = RecordSize::new(3, -1, 0);
        // Length, attributes, offset, time, key with its length, the null value and the count of headers.
        assert_eq!(size.in_batch(0, 0), 1 + 1 + 1 + 1 + 4 + 1 + 1);
        assert_eq!(size.in_batch(64, 0), 11);
        assert_eq!(size.in_batch(0, 8192), 12);
        assert_eq!(RecordSize::new(3, -1, 40).in_batch(0, 0), 50);
        assert_eq!(RecordSize::new(3, -1, 54).in_batch(0, 0), 64);
        assert_eq!(RecordSize::new(3, -1, 55).in_batch(0, 0), 66, "a length of 64 takes two bytes");
        assert_eq!(size.upper_bound(), 61 + 21 + 4 + 1 + 1);
    }

    #[test]
    fn the_count_of_headers_is_a_number_of_its_own() {
        assert_eq!(headers_size([(2, 26), (2, 19)]), 3 + 27 + 3 + 20);
        assert_eq!(headers_size([(2, 64)]), 3 + 2 + 64);
        assert_eq!(headers_size((0..63).map(|_| (2, -1))), 63 * 4);
        assert_eq!(headers_size((0..64).map(|_| (2, -1))), 64 * 4 + 1);
    }
}
