//! Each partition's open batch, as far as a strategy asks: is it full, and is there room for one more record
//! (`RecordAccumulator`, `ProducerBatch`, `MemoryRecordsBuilder`).

use super::append::{Appended, Appends};
use super::record::Record;
use super::settings::Settings;
use super::sizes::{BATCH_OVERHEAD, RecordSize, java_int};

/// The open batches of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenBatches {
    /// The partitions met so far, ascending: usually 0 to n - 1, so that a partition is its own place.
    ids: Vec<i32>,
    open: Vec<OpenBatch>,
}

/// A batch to which records are appended; one without records means that there is no batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenBatch {
    pub(crate) records: i32,
    /// `estimatedSizeInBytes`, which is exact without compression.
    pub(crate) bytes: i64,
    pub(super) limit: i64,
    /// The time of its first record.
    pub(crate) opened: i64,
    /// Whether a record did not fit in: `closeForRecordAppends`.
    pub(crate) closed: bool,
}

impl OpenBatches {
    /// Room for these partitions, and for any other that will be met.
    pub(super) fn new(partitions: &[i32]) -> Self {
        let mut ids = partitions.to_vec();
        ids.sort_unstable();
        Self { open: vec![OpenBatch::default(); ids.len()], ids }
    }

    /// A partition's last batch. Batches that were opened more than `linger` ago are gone.
    #[inline]
    fn of(&mut self, partition: i32, at: i64, linger: Option<i64>) -> &mut OpenBatch {
        let place = self.find(partition).unwrap_or_else(|place| self.meet(place, partition));
        let batch = &mut self.open[place];
        if batch.is_over(at, linger) {
            *batch = OpenBatch::default();
        }
        batch
    }

    /// The batch of a partition that was met before, however long ago it was opened.
    pub(super) fn met(&mut self, partition: i32) -> Option<&mut OpenBatch> {
        self.find(partition).ok().map(|place| &mut self.open[place])
    }

    #[cold]
    fn meet(&mut self, place: usize, partition: i32) -> usize {
        self.ids.insert(place, partition);
        self.open.insert(place, OpenBatch::default());
        place
    }

    /// A partition's place, or where it would be inserted.
    #[inline]
    fn find(&self, partition: i32) -> Result<usize, usize> {
        match usize::try_from(partition) {
            Ok(place) if self.ids.get(place) == Some(&partition) => Ok(place),
            _ => self.ids.binary_search(&partition),
        }
    }
}

impl OpenBatch {
    /// A batch that begins with a record, which fits however large it is.
    #[inline]
    pub(crate) fn begun(size: RecordSize, at: i64, batch_size: i32) -> Self {
        let limit = size.upper_bound().max(batch_size.into());
        let bytes = BATCH_OVERHEAD + size.in_batch(0, 0);
        Self { records: 1, bytes, limit, opened: at, closed: false }
    }

    /// Whether it has reached its limit.
    #[inline]
    pub(crate) fn is_at_limit(&self) -> bool {
        self.bytes >= self.limit
    }

    /// Whether nothing can be appended: `isFull`, or, without a batch, `allBatchesFull`.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.records == 0 || self.closed || self.is_at_limit()
    }

    /// The effect of its first record.
    #[inline]
    pub(crate) fn begins(&self) -> Appended {
        Appended { bytes: java_int(self.bytes), is_full: self.is_at_limit() }
    }

    /// Whether it was opened longer than `linger` ago.
    #[inline]
    pub(super) fn is_over(&self, at: i64, linger: Option<i64>) -> bool {
        linger.is_some_and(|linger| at > self.opened.saturating_add(linger))
    }

    /// How many bytes a record would take in it.
    #[inline]
    pub(super) fn bytes_of(&self, size: RecordSize, at: i64) -> i64 {
        size.in_batch(self.records, at.wrapping_sub(self.opened))
    }

    /// Appends a record; `None` if it needs a new batch, which closes this one.
    #[inline]
    pub(crate) fn append(&mut self, size: RecordSize, at: i64) -> Option<Appended> {
        if self.is_full() {
            return None;
        }
        let bytes = self.bytes_of(size, at);
        if self.bytes + bytes > self.limit {
            self.closed = true;
            return None;
        }
        self.records += 1;
        self.bytes += bytes;
        Some(Appended { bytes: java_int(bytes), is_full: self.is_at_limit() })
    }
}

/// A record on its way into one of the open batches.
pub(super) struct Appending<'a> {
    batches: &'a mut OpenBatches,
    size: RecordSize,
    at: i64,
    linger: Option<i64>,
    batch_size: i32,
}

impl<'a> Appending<'a> {
    /// Its topic's batches.
    #[inline]
    pub(super) fn new(record: &Record, batches: &'a mut OpenBatches, settings: &Settings) -> Self {
        Self {
            batches,
            size: record.size(),
            at: record.at,
            linger: settings.linger_ms,
            batch_size: settings.batch_size,
        }
    }

    #[inline]
    fn of(&mut self, partition: i32) -> &mut OpenBatch {
        self.batches.of(partition, self.at, self.linger)
    }
}

impl Appends for Appending<'_> {
    #[inline]
    fn append(&mut self, partition: i32) -> Option<Appended> {
        let (size, at) = (self.size, self.at);
        self.of(partition).append(size, at)
    }

    #[inline]
    fn begin(&mut self, partition: i32) -> Appended {
        let begun = OpenBatch::begun(self.size, self.at, self.batch_size);
        *self.of(partition) = begun;
        begun.begins()
    }
}

/// A batch during a run of records, none of which fills it or makes the strategy leave its partition.
pub(super) struct Stay {
    pub(super) batch: OpenBatch,
    /// The size that it must stay below.
    end: i64,
    linger: Option<i64>,
}

impl Stay {
    /// `room` is how many bytes the partition may get before the strategy leaves it.
    pub(super) fn new(batch: &OpenBatch, room: i64, settings: &Settings) -> Self {
        let end = if batch.is_full() { 0 } else { batch.limit.min(batch.bytes.saturating_add(room)) };
        Self { batch: *batch, end, linger: settings.linger_ms }
    }

    /// Appends a record, if it belongs to the run.
    #[inline]
    pub(super) fn takes(&mut self, record: &Record) -> bool {
        let Self { batch, end, linger } = self;
        let bytes = batch.bytes + batch.bytes_of(record.size(), record.at);
        if bytes >= *end || batch.is_over(record.at, *linger) {
            return false;
        }
        batch.records += 1;
        batch.bytes = bytes;
        true
    }
}
