//! What the strategy learns when a record is appended to a batch (`RecordAccumulator.RecordAppendResult`), whatever
//! holds the batches.

/// The batches of a topic's partitions, and a record to append to one of them.
pub(crate) trait Appends {
    /// Appends the record to the partition's last batch; `None` if that is full or the record does not fit, which
    /// closes the batch.
    fn append(&mut self, partition: i32) -> Option<Appended>;

    /// Begins a batch with the record.
    fn begin(&mut self, partition: i32) -> Appended;

    /// The strategy leaves its sticky partition for another one, or for the same one again.
    fn switched(&mut self, _from: i32, _to: i32) {}
}

/// The effect of a record on its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Appended {
    /// How many bytes it took, including those of a new batch.
    pub(crate) bytes: i32,
    /// Whether the batch takes no further records: `allBatchesFull`.
    pub(crate) is_full: bool,
}

/// Appends a record to its partition's last batch, or begins another.
#[inline]
pub(crate) fn append_or_begin(partition: i32, batches: &mut impl Appends) {
    if batches.append(partition).is_none() {
        batches.begin(partition);
    }
}
