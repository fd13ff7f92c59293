//! Everything that a simulation reports, as rows.

use super::queue::{Queued, Why};
use super::report::{BatchEvent, EventReport, ProduceRequest, SwitchRow};

/// All rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The partition, the batch and the time of each record.
    pub placed: Vec<(i32, u64, i64)>,
    /// The batches in order of creation.
    pub batches: Vec<BatchRow>,
    /// The requests in order of sending.
    pub requests: Vec<RequestRow>,
    /// The switches in their order.
    pub switches: Vec<SwitchRow>,
}

/// A batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchRow {
    /// Its partition.
    pub partition: i32,
    /// The number of its first record.
    pub first_record: u64,
    /// How many records it has.
    pub records: i32,
    /// Its size in a request.
    pub bytes: i64,
    /// The time of its first record.
    pub opened_ms: i64,
    /// When it became full, had no room, or was drained; `None` if it never left.
    pub closed_ms: Option<i64>,
    /// Why it was closed; `None` if it never left.
    pub why: Option<Why>,
    /// The number and the time of each request that it was in.
    pub sends: Vec<(u64, i64)>,
    /// When it was acknowledged.
    pub acked_ms: Option<i64>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// The number of its broker.
    pub node: i32,
    /// When it was sent.
    pub sent_ms: i64,
    /// When it was answered.
    pub done_ms: i64,
    /// Whether its batches were then complete.
    pub is_ok: bool,
    /// The size of its batches.
    pub bytes: i64,
    /// Its batches, in the order in which they were drained.
    pub batches: Vec<u64>,
}

impl EventReport for Rows {
    #[inline]
    fn take(&mut self, event: BatchEvent<'_>) {
        match event {
            BatchEvent::Placed { partition, batch, at } => self.placed.push((partition, batch, at)),
            BatchEvent::Opened(batch) => self.batches.push(BatchRow {
                partition: batch.partition,
                first_record: batch.first_record,
                opened_ms: batch.opened_ms(),
                ..BatchRow::default()
            }),
            BatchEvent::Sent(request) => self.take_sent(request),
            BatchEvent::Answered(request, is_ok) => self.take_answered(request, is_ok),
            BatchEvent::LeftOver(batch) => {
                self.batch(batch);
            }
            BatchEvent::Switched(switch) => self.switches.push(switch),
        }
    }
}

impl Rows {
    fn batch(&mut self, batch: &Queued) -> Option<&mut BatchRow> {
        let row = self.batches.get_mut(place(batch.id))?;
        (row.records, row.bytes) = (batch.records(), batch.bytes());
        Some(row)
    }

    fn take_sent(&mut self, request: &ProduceRequest) {
        for batch in &request.batches {
            if let Some(row) = self.batch(batch) {
                (row.closed_ms, row.why) = (batch.closed_ms, batch.why);
                row.sends.push((request.id, request.sent_ms));
            }
        }
        self.requests.push(RequestRow {
            node: request.node,
            sent_ms: request.sent_ms,
            done_ms: request.done_ms,
            is_ok: true,
            bytes: request.bytes(),
            batches: request.batches.iter().map(|batch| batch.id).collect(),
        });
    }

    fn take_answered(&mut self, request: &ProduceRequest, is_ok: bool) {
        if let Some(row) = self.requests.get_mut(place(request.id)) {
            row.is_ok = is_ok;
        }
        for batch in request.batches.iter().filter(|_| is_ok) {
            if let Some(row) = self.batch(batch) {
                row.acked_ms = Some(request.done_ms);
            }
        }
    }
}

/// A number's row.
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
