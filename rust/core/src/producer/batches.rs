//! The batch that stands open for each partition, as far as a strategy asks: is it full, and is there room for one more
//! record (`RecordAccumulator`, `ProducerBatch`, `MemoryRecordsBuilder`; message format 2, no compression, no headers).

/// What a batch without records takes: `DefaultRecordBatch.RECORD_BATCH_OVERHEAD`.
const BATCH_OVERHEAD: i64 = 61;
/// The most that a record takes beside its key and value: `DefaultRecord.MAX_RECORD_OVERHEAD`.
const RECORD_OVERHEAD: i64 = 21;
/// What a record has that has no varint: its attributes, and how many headers it has, which is none.
const FIXED: i64 = 2;

/// The sizes of a record, each -1 for a null, and when it is appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) key: i32,
    pub(super) value: i32,
    pub(super) at: i64,
}

/// The open batches of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batches {
    /// The partitions met so far, ascending: as a rule 0 to n - 1, so that a partition is its own place.
    ids: Vec<i32>,
    open: Vec<Batch>,
}

/// A partition's last batch; without records there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    records: i32,
    bytes: i64,
    limit: i64,
    /// The time of its first record.
    opened: i64,
    /// Whether a record has not fitted in.
    closed: bool,
}

impl Batches {
    /// Room for these partitions, and for any other that will be met.
    pub(super) fn new(partitions: &[i32]) -> Self {
        let mut ids = partitions.to_vec();
        ids.sort_unstable();
        Self { open: vec![Batch::default(); ids.len()], ids }
    }

    /// A partition's last batch. What was opened longer than `linger` before is gone.
    #[inline]
    pub(super) fn of(&mut self, partition: i32, at: i64, linger: Option<i64>) -> &mut Batch {
        let place = match usize::try_from(partition) {
            Ok(place) if self.ids.get(place) == Some(&partition) => place,
            _ => self.place(partition),
        };
        let batch = &mut self.open[place];
        if linger.is_some_and(|linger| at > batch.opened.saturating_add(linger)) {
            *batch = Batch::default();
        }
        batch
    }

    fn place(&mut self, partition: i32) -> usize {
        self.ids.binary_search(&partition).unwrap_or_else(|place| {
            self.ids.insert(place, partition);
            self.open.insert(place, Batch::default());
            place
        })
    }
}

impl Batch {
    /// Whether nothing can be appended, so that a partition may be left: `allBatchesFull`.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.records == 0 || self.closed || self.bytes >= self.limit
    }

    /// Appends a record; how many bytes it takes, or `None` where it needs a new batch. This one is closed then.
    #[inline]
    pub(super) fn append(&mut self, size: Size) -> Option<i32> {
        if self.is_full() {
            return None;
        }
        let bytes = record(self.records, size.at.wrapping_sub(self.opened), size);
        if self.bytes + bytes > self.limit {
            self.closed = true;
            return None;
        }
        self.records += 1;
        self.bytes += bytes;
        Some(java_int(bytes))
    }

    /// Begins a new batch with a record, which fits into it however large it is; the bytes of both.
    #[inline]
    pub(super) fn begin(&mut self, size: Size, batch_size: i32) -> i32 {
        let most = BATCH_OVERHEAD + RECORD_OVERHEAD + of_bytes(size.key) + of_bytes(size.value) + 1;
        let bytes = BATCH_OVERHEAD + record(0, 0, size);
        let limit = most.max(batch_size.into());
        *self = Self { records: 1, bytes, limit, opened: size.at, closed: false };
        java_int(bytes)
    }
}

/// `DefaultRecord.sizeInBytes`.
fn record(offset: i32, time: i64, size: Size) -> i64 {
    let body = FIXED + varint(offset.into()) + varint(time) + of_bytes(size.key) + of_bytes(size.value);
    varint(body) + body
}

/// Bytes with their length before them; a null is the length -1.
fn of_bytes(length: i32) -> i64 {
    varint(length.into()) + i64::from(length.max(0))
}

/// How many bytes a number takes: zigzag, seven bits a byte (`ByteUtils.sizeOfVarlong`).
fn varint(number: i64) -> i64 {
    let zigzag = (number << 1) ^ (number >> 63);
    i64::from((70 - (zigzag | 1).leading_zeros()) / 7)
}

#[expect(clippy::cast_possible_truncation, reason = "Java's int")]
fn java_int(bytes: i64) -> i32 {
    bytes as i32
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
    }
}
