//! What a simulation reports on the way.

use super::queue::Queued;
use super::request::ProduceRequest;

/// Receives events when they happen.
pub trait EventReport {
    /// Whether batches count the times of their records.
    const COUNTS_TIMES: bool = false;

    /// A record is in a batch of a partition.
    fn placed(&mut self, _partition: i32, _batch: u64, _at: i64) {}

    /// A batch is opened with its first record.
    fn opened(&mut self, _batch: &Queued) {}

    /// A request is sent.
    fn take_request(&mut self, _request: &ProduceRequest) {}

    /// A request is answered, and its batches are complete or come back.
    fn answered(&mut self, _request: &ProduceRequest, _is_ok: bool) {}

    /// A batch never left.
    fn left_over(&mut self, _batch: &Queued) {}

    /// With this record, the strategy leaves its sticky partition for another one, or for the same one again.
    fn switched(&mut self, _record: u64, _at: i64, _from: i32, _to: i32) {}
}

/// Two receivers.
impl<A: EventReport, B: EventReport> EventReport for (A, B) {
    const COUNTS_TIMES: bool = A::COUNTS_TIMES || B::COUNTS_TIMES;

    fn placed(&mut self, partition: i32, batch: u64, at: i64) {
        self.0.placed(partition, batch, at);
        self.1.placed(partition, batch, at);
    }

    fn opened(&mut self, batch: &Queued) {
        self.0.opened(batch);
        self.1.opened(batch);
    }

    fn take_request(&mut self, request: &ProduceRequest) {
        self.0.take_request(request);
        self.1.take_request(request);
    }

    fn answered(&mut self, request: &ProduceRequest, is_ok: bool) {
        self.0.answered(request, is_ok);
        self.1.answered(request, is_ok);
    }

    fn left_over(&mut self, batch: &Queued) {
        self.0.left_over(batch);
        self.1.left_over(batch);
    }

    fn switched(&mut self, record: u64, at: i64, from: i32, to: i32) {
        self.0.switched(record, at, from, to);
        self.1.switched(record, at, from, to);
    }
}

/// An optional receiver.
impl<R: EventReport> EventReport for Option<R> {
    const COUNTS_TIMES: bool = R::COUNTS_TIMES;

    fn placed(&mut self, partition: i32, batch: u64, at: i64) {
        if let Some(report) = self {
            report.placed(partition, batch, at);
        }
    }

    fn opened(&mut self, batch: &Queued) {
        if let Some(report) = self {
            report.opened(batch);
        }
    }

    fn take_request(&mut self, request: &ProduceRequest) {
        if let Some(report) = self {
            report.take_request(request);
        }
    }

    fn answered(&mut self, request: &ProduceRequest, is_ok: bool) {
        if let Some(report) = self {
            report.answered(request, is_ok);
        }
    }

    fn left_over(&mut self, batch: &Queued) {
        if let Some(report) = self {
            report.left_over(batch);
        }
    }

    fn switched(&mut self, record: u64, at: i64, from: i32, to: i32) {
        if let Some(report) = self {
            report.switched(record, at, from, to);
        }
    }
}
