//! The batches that wait for a partition (`ProducerBatch` in its `Deque`).

use std::collections::VecDeque;

use crate::names::named;
use crate::producer::append::Appended;
use crate::producer::open_batches::OpenBatch;
use crate::producer::sizes::RecordSize;

named! {
    /// Why a batch takes no further records.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Why {
        /// It reached its limit.
        Full = "full",
        /// The next record did not fit.
        NoRoom = "no-room",
        /// It had waited for `linger.ms`.
        Linger = "linger",
        /// The producer was flushed.
        Flush = "flush",
        /// Another partition of its broker was ready, and the batch left with it.
        BrokerNode = "node",
    }
}

/// A batch, from its first record to the answer of its broker.
#[derive(Clone, Debug)]
pub struct Queued {
    /// Its number, in order of creation.
    pub id: u64,
    /// Its partition.
    pub partition: i32,
    /// The number of its first record.
    pub first_record: u64,
    /// How often its request has failed: `attempts`.
    pub tries: u32,
    /// When it became full or had no room, or else was drained.
    pub closed_ms: Option<i64>,
    /// Why; `None` until it is drained.
    pub why: Option<Why>,
    /// The times of its records, and how many records have each, if the report counts them.
    pub(super) times: Vec<(i64, u32)>,
    /// When it was opened, or came back: `lastAttemptMs`.
    last_try: i64,
    batch: OpenBatch,
}

impl Queued {
    pub(super) fn new(id: u64, partition: i32, first_record: u64, batch: OpenBatch) -> Self {
        let closed_ms = batch.is_full().then_some(batch.opened);
        Self {
            id,
            partition,
            first_record,
            tries: 0,
            closed_ms,
            why: None,
            times: Vec::new(),
            last_try: batch.opened,
            batch,
        }
    }

    /// How many records it has.
    pub fn records(&self) -> i32 {
        self.batch.records
    }

    /// Its size in a request.
    pub fn bytes(&self) -> i64 {
        self.batch.bytes
    }

    /// The time of its first record.
    pub fn opened_ms(&self) -> i64 {
        self.batch.opened
    }

    pub(super) fn is_full(&self) -> bool {
        self.batch.is_full()
    }

    #[inline]
    pub(super) fn append(&mut self, size: RecordSize, at: i64) -> Option<Appended> {
        self.batch.append(size, at)
    }

    /// Notes a record of this time.
    pub(super) fn count(&mut self, at: i64) {
        match self.times.last_mut() {
            Some((last, records)) if *last == at => *records += 1,
            _ => self.times.push((at, 1)),
        }
    }

    /// How long it has waited, since it was opened or came back: `waitedTimeMs`.
    pub(super) fn waited(&self, now: i64) -> i64 {
        now.saturating_sub(self.last_try).max(0)
    }

    /// Whether it came back too short a time ago to be sent again: `shouldBackoff`.
    pub(super) fn backs_off(&self, now: i64, backoff: i64) -> bool {
        self.tries > 0 && self.waited(now) < backoff
    }

    /// `ProducerBatch.reenqueued`.
    pub(super) fn came_back(&mut self, now: i64) {
        self.tries += 1;
        self.last_try = now;
    }

    /// It leaves, for the first time or again, and takes no further records: `ProducerBatch.close`.
    pub(super) fn leave(&mut self, now: i64, linger: i64, flushing: bool) {
        if self.why.is_none() {
            self.why = Some(match () {
                () if self.batch.is_at_limit() => Why::Full,
                () if self.batch.closed => Why::NoRoom,
                () if self.waited(now) >= linger => Why::Linger,
                () if flushing => Why::Flush,
                () => Why::BrokerNode,
            });
        }
        self.closed_ms.get_or_insert(now);
        self.batch.closed = true;
    }
}

/// A partition and its batches.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    pub(super) partition: i32,
    /// The place of its leader among the brokers.
    pub(super) leader: Option<usize>,
    /// The partition's number among those that its leader leads.
    pub(super) number: Option<usize>,
    /// Whether the accumulator has a deque for it, which may be empty.
    pub(super) is_met: bool,
    /// Whether it waits for an answer, if at most one request may be in flight.
    pub(super) is_muted: bool,
    /// Whether there were batches that will never leave; only the last of them is kept.
    pub(super) has_left_over: bool,
    pub(super) batches: VecDeque<Queued>,
}

impl Queue {
    pub(super) fn new(partition: i32, leader: Option<usize>) -> Self {
        Self { partition, leader, ..Self::default() }
    }

    /// Whether there is another batch before the last one.
    pub(super) fn has_several(&self) -> bool {
        self.batches.len() > 1 || self.has_left_over
    }

    /// Whether its first batch may leave without lingering, because it is full or others follow.
    pub(super) fn has_full(&self) -> bool {
        self.batches.len() > 1 || self.batches.back().is_some_and(Queued::is_full)
    }
}
