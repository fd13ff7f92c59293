//! Which brokers are ready (`RecordAccumulator.ready`), and what the built-in partitioner learns about the queues in
//! the same walk (`partitionReady`).

use super::accumulator::Accumulator;
use super::brokers::Nodes;
use super::queue::Queue;
use super::scenario::Settings;
use crate::Result;
use crate::producer::{Producer, Queues};

/// The input of the check, and its rules.
pub(super) struct ReadyCheck<'a> {
    pub(super) settings: &'a Settings,
    pub(super) now: i64,
    pub(super) flushing: bool,
}

/// The queues' lengths that were last reported.
#[derive(Clone, Debug)]
pub(super) struct ReportedQueues {
    now: Queues,
    before: Queues,
    /// How often the queues had changed by then; none if nothing was reported.
    changes: Option<u64>,
}

impl ReportedQueues {
    pub(super) fn new() -> Self {
        let none = Queues { sizes: Vec::new(), ids: Vec::new(), near: Some(Vec::new()), length: 0 };
        Self { now: none.clone(), before: none, changes: None }
    }
}

impl ReadyCheck<'_> {
    /// Finds the ready brokers; returns after how many milliseconds another one may be ready.
    pub(super) fn ready(&self, accumulator: &Accumulator, nodes: &mut Nodes) -> Option<i64> {
        let mut delay = None;
        nodes.forget();
        for queue in accumulator.holding() {
            self.check_queue(queue, nodes, &mut delay);
        }
        delay
    }

    /// The same, and tells the built-in partitioner how many batches wait for each partition.
    pub(super) fn ready_and_report(
        &self,
        accumulator: &Accumulator,
        nodes: &mut Nodes,
        reported: &mut ReportedQueues,
        producer: &mut Producer,
    ) -> Result<Option<i64>> {
        if !accumulator.has_met_all() {
            return Ok(self.ready(accumulator, nodes));
        }
        let timeout = self.settings.availability_timeout_ms;
        let is_same = reported.changes == Some(accumulator.changes) && timeout == 0;
        if !is_same {
            count(&mut reported.now, accumulator, nodes, timeout);
            if reported.changes.is_none() || reported.now != reported.before {
                producer.load_stats(0, Some(&reported.now))?;
                std::mem::swap(&mut reported.now, &mut reported.before);
            }
            reported.changes = Some(accumulator.changes);
        }
        Ok(self.ready(accumulator, nodes))
    }

    /// `batchReady`: a broker is ready as soon as one of its partitions is.
    fn check_queue(&self, queue: &Queue, nodes: &mut Nodes, delay: &mut Option<i64>) {
        let (Some(first), Some(leader)) = (queue.batches.front(), queue.leader) else { return };
        let node = &mut nodes.0[leader];
        if node.is_ready || queue.is_muted {
            return;
        }
        let (waited, backoff) = (first.waited(self.now), self.settings.retry_backoff_ms);
        let backs_off = first.backs_off(self.now, backoff);
        let wait = if backs_off { backoff } else { self.settings.linger_ms };
        if !backs_off && (queue.has_full() || waited >= wait || self.flushing) {
            node.is_ready = true;
        } else {
            let left = (wait - waited).max(0);
            *delay = Some(delay.map_or(left, |least| left.min(least)));
        }
    }
}

/// Writes the queues' lengths into Java's arrays. A partition with a leader takes a place. If the leader has refused for too
/// long, the place is given back, but the length written there stays: if the next partition's queue is empty, it seems to
/// have that length.
fn count(queues: &mut Queues, accumulator: &Accumulator, nodes: &Nodes, timeout: i64) {
    let (Queues { sizes, ids, near, length }, met) = (queues, accumulator.walk().len());
    let near = near.get_or_insert_default();
    for numbers in [&mut *sizes, &mut *ids] {
        numbers.clear();
        numbers.resize(met, 0);
    }
    near.clear();
    near.resize(met, false);
    let mut taken = 0;
    for queue in accumulator.walk() {
        let Some(leader) = queue.leader.map(|place| &nodes.0[place]) else { continue };
        ids[taken] = queue.partition;
        near[taken] = leader.is_near;
        if !queue.batches.is_empty() {
            sizes[taken] = i32::try_from(queue.batches.len()).unwrap_or(i32::MAX);
            if timeout > 0 && leader.is_unavailable(timeout) {
                continue;
            }
        }
        taken += 1;
    }
    *length = i32::try_from(taken).unwrap_or(i32::MAX);
}
