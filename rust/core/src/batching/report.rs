//! What a simulation reports on the way.

use super::queue::Queued;

/// What happens in a simulation.
#[derive(Clone, Copy, Debug)]
pub enum BatchEvent<'a> {
    /// A record is in a batch of a partition.
    Placed {
        /// The partition.
        partition: i32,
        /// The batch's number.
        batch: u64,
        /// The record's time.
        at: i64,
    },
    /// A batch is opened with its first record.
    Opened(&'a Queued),
    /// A request is sent.
    Sent(&'a ProduceRequest),
    /// A request is answered, and its batches are complete (`true`) or come back.
    Answered(&'a ProduceRequest, bool),
    /// A batch never left.
    LeftOver(&'a Queued),
    /// With this record, the strategy leaves its sticky partition for another one, or for the same one again.
    Switched(SwitchRow),
}

/// A request to a broker, with its batches.
#[derive(Clone, Debug)]
pub struct ProduceRequest {
    /// Its number, in order of sending.
    pub id: u64,
    /// The number of its broker.
    pub node: i32,
    /// When it was sent.
    pub sent_ms: i64,
    /// When it is answered.
    pub done_ms: i64,
    /// Its batches in the order in which they were drained.
    pub batches: Vec<Queued>,
}

impl ProduceRequest {
    /// The size of its batches.
    pub fn bytes(&self) -> i64 {
        self.batches.iter().map(Queued::bytes).sum()
    }
}

/// A switch of the sticky partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchRow {
    /// The number of the record that caused it.
    pub record: u64,
    /// When.
    pub at_ms: i64,
    /// The partition before.
    pub from: i32,
    /// The partition since.
    pub to: i32,
}

/// Receives events when they happen.
pub trait EventReport {
    /// Whether batches count the times of their records.
    const COUNTS_TIMES: bool = false;

    /// Takes an event.
    fn take(&mut self, event: BatchEvent<'_>);
}

/// Two receivers.
impl<A: EventReport, B: EventReport> EventReport for (A, B) {
    const COUNTS_TIMES: bool = A::COUNTS_TIMES || B::COUNTS_TIMES;

    #[inline]
    fn take(&mut self, event: BatchEvent<'_>) {
        self.0.take(event);
        self.1.take(event);
    }
}

/// An optional receiver.
impl<R: EventReport> EventReport for Option<R> {
    const COUNTS_TIMES: bool = R::COUNTS_TIMES;

    #[inline]
    fn take(&mut self, event: BatchEvent<'_>) {
        if let Some(report) = self {
            report.take(event);
        }
    }
}
