//! A request to a broker, with its batches.

use super::queue::Queued;

/// A request to a broker.
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
