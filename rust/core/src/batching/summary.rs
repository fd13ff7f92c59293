//! The summary of a simulation: counts and percentiles, in memory that does not grow with the records.

use std::collections::BTreeMap;

use super::queue::Queued;
use super::report::{BatchEvent, EventReport, ProduceRequest};

/// Counts of records, batches and bytes, and how long records take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchSummary {
    /// How many records there were.
    pub records: u64,
    /// How many batches were opened.
    pub batches: u64,
    /// How many requests were sent, for the first time or again.
    pub requests: u64,
    /// How many records are in batches that never leave.
    pub unsent: u64,
    /// By partition, the bytes of its batches.
    pub partitions: BTreeMap<i32, u64>,
    /// By broker, the bytes of the batches that it has acknowledged.
    pub brokers: BTreeMap<i32, u64>,
    /// From a record's time to when its batch was first sent.
    pub waited: Delays,
    /// From a record's time to when its batch was acknowledged.
    pub delay: Delays,
}

/// How many records took each number of milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    records: u64,
    /// For delays below [`SHORT`].
    short: Vec<u64>,
    long: BTreeMap<i64, u64>,
}

/// Delays below this have a counter each.
const SHORT: usize = 1 << 12;

impl Delays {
    fn add(&mut self, delay: i64, records: u64) {
        self.records += records;
        match usize::try_from(delay) {
            Ok(place) if place < SHORT => {
                if self.short.len() <= place {
                    self.short.resize(place + 1, 0);
                }
                self.short[place] += records;
            }
            _ => *self.long.entry(delay).or_default() += records,
        }
    }

    /// The smallest delay that a percentage of the records do not exceed; `None` without records.
    pub fn percentile(&self, percent: u64) -> Option<i64> {
        let needed = (u128::from(self.records) * u128::from(percent)).div_ceil(100).max(1);
        let short = (0..).zip(self.short.iter().copied());
        let long = self.long.iter().map(|(&delay, &records)| (delay, records));
        let mut met = 0;
        short.chain(long).find_map(|(delay, records)| {
            met += u128::from(records);
            (met >= needed).then_some(delay)
        })
    }
}

impl EventReport for BatchSummary {
    const COUNTS_TIMES: bool = true;

    #[inline]
    fn take(&mut self, event: BatchEvent<'_>) {
        match event {
            BatchEvent::Placed { .. } => self.records += 1,
            BatchEvent::Opened(_) => self.batches += 1,
            BatchEvent::Sent(request) => self.take_sent(request),
            BatchEvent::Answered(request, true) => self.take_answered(request),
            BatchEvent::Answered(_, false) | BatchEvent::Switched(_) => {}
            BatchEvent::LeftOver(batch) => self.take_left_over(batch),
        }
    }
}

impl BatchSummary {
    fn take_sent(&mut self, request: &ProduceRequest) {
        self.requests += 1;
        for batch in request.batches.iter().filter(|batch| batch.tries == 0) {
            *self.partitions.entry(batch.partition).or_default() += batch.bytes().unsigned_abs();
            for &(at, records) in &batch.times {
                self.waited.add(request.sent_ms - at, records.into());
            }
        }
    }

    fn take_answered(&mut self, request: &ProduceRequest) {
        for batch in &request.batches {
            *self.brokers.entry(request.node).or_default() += batch.bytes().unsigned_abs();
            for &(at, records) in &batch.times {
                self.delay.add(request.done_ms - at, records.into());
            }
        }
    }

    fn take_left_over(&mut self, batch: &Queued) {
        if batch.tries == 0 {
            *self.partitions.entry(batch.partition).or_default() += batch.bytes().unsigned_abs();
        }
        self.unsent += u64::from(batch.records().unsigned_abs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_least_delay_that_so_many_do_not_exceed() {
        let mut delays = Delays::default();
        assert_eq!(delays.percentile(50), None);
        (1..=100).for_each(|delay| delays.add(delay, 1));
        assert_eq!(
            [0, 1, 50, 99, 100].map(|percent| delays.percentile(percent)),
            [1, 1, 50, 99, 100].map(Some)
        );
        delays.add(1_000_000, 100);
        assert_eq!([50, 51].map(|percent| delays.percentile(percent)), [Some(100), Some(1_000_000)]);
    }
}
