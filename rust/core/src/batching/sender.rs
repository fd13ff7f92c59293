//! How batches are drained into requests, and what follows (`ProducerSender.sendProducerData`, `RecordAccumulator.drain`).

use super::accumulator::Accumulator;
use super::brokers::Nodes;
use super::queue::Queued;
use super::ready_brokers::{ReadyCheck, ReportedQueues};
use super::report::{BatchEvent, EventReport, ProduceRequest};
use super::scenario::Scenario;
use crate::Result;
use crate::producer::Producer;

/// The sender, which runs at given times.
#[derive(Clone, Debug)]
pub(super) struct ProducerSender {
    pub(super) scenario: Scenario,
    pub(super) nodes: Nodes,
    reported: ReportedQueues,
    /// Whether `flush()` has begun.
    pub(super) flushing: bool,
    /// When it wants to run again.
    pub(super) timer: Option<i64>,
    requests: u64,
    /// Where draining continues in Kafka 2.8, which has one such place for all brokers.
    drain_index: usize,
    most_in_flight: usize,
    /// Whether its accumulator is that of Kafka 2.8.
    is_old: bool,
    /// Lists of batches for reuse.
    spare: Vec<Vec<Queued>>,
}

impl ProducerSender {
    pub(super) fn new(mut scenario: Scenario, nodes: Nodes) -> Self {
        // As KafkaProducer passes it on.
        scenario.settings.linger_ms = scenario.settings.linger_ms.min(i32::MAX.into());
        scenario.failed_requests.sort_unstable();
        Self {
            most_in_flight: usize::try_from(scenario.settings.max_in_flight).unwrap_or_default(),
            is_old: scenario.is_old(),
            scenario,
            nodes,
            reported: ReportedQueues::new(),
            flushing: false,
            timer: None,
            requests: 0,
            drain_index: 0,
            spare: Vec::new(),
        }
    }

    /// Whether a run would find what the last one found, as long as no batch is opened, filled or closed and no answer
    /// comes. Without that, only the time for which a broker has refused can change.
    pub(super) fn may_rest(&self) -> bool {
        self.is_old
            || self.scenario.settings.availability_timeout_ms == 0
            || !self.nodes.0.iter().any(|node| node.is_refused)
    }

    /// Sends what can be sent.
    pub(super) fn run(
        &mut self,
        now: i64,
        accumulator: &mut Accumulator,
        producer: &mut Producer,
        report: &mut impl EventReport,
    ) -> Result<()> {
        loop {
            let delay = self.check_ready(now, accumulator, producer)?;
            self.ask(now);
            let mut has_drained = false;
            for place in 0..self.nodes.0.len() {
                let node = &self.nodes.0[place];
                if node.is_ready && !node.is_refused {
                    has_drained |= self.request(place, now, accumulator, report);
                }
            }
            if !has_drained {
                // Events after the last instant never happen.
                self.timer = delay.and_then(|delay| now.checked_add(delay));
                return Ok(());
            }
        }
    }

    fn check_ready(
        &mut self,
        now: i64,
        accumulator: &Accumulator,
        producer: &mut Producer,
    ) -> Result<Option<i64>> {
        let settings = &self.scenario.settings;
        let check_ready = ReadyCheck { settings, now, flushing: self.flushing };
        if !self.scenario.is_adaptive() {
            return Ok(check_ready.ready(accumulator, &mut self.nodes));
        }
        check_ready.ready_and_report(accumulator, &mut self.nodes, &mut self.reported, producer)
    }

    /// Asks each ready broker whether it accepts a request, and notes the answer.
    fn ask(&mut self, now: i64) {
        let notes = !self.is_old && self.scenario.settings.availability_timeout_ms > 0;
        for node in self.nodes.0.iter_mut().filter(|node| node.is_ready) {
            let accepts = node.accepts(now, self.most_in_flight);
            node.is_refused = !accepts;
            if notes {
                node.was_ready(now, accepts);
            }
        }
    }

    /// Sends a request to a broker if there is anything to send.
    fn request(
        &mut self,
        place: usize,
        now: i64,
        accumulator: &mut Accumulator,
        report: &mut impl EventReport,
    ) -> bool {
        let mut batches = self.spare.pop().unwrap_or_default();
        self.drain(place, now, accumulator, &mut batches);
        if batches.is_empty() {
            self.spare.push(batches);
            return false;
        }
        if self.is_old {
            batches.sort_unstable_by_key(|batch| batch.id);
        }
        let node = &mut self.nodes.0[place];
        let request = ProduceRequest {
            id: self.requests,
            node: node.id,
            sent_ms: now,
            done_ms: node.answers(now),
            batches,
        };
        self.requests += 1;
        report.take(BatchEvent::Sent(&request));
        node.in_flight.push_back(request);
        true
    }

    /// Takes the first batch of each partition of a broker, up to `max.request.size` in total:
    /// `drainBatchesForOneNode`. It continues where it stopped: since Kafka 3.3 with the partition that it looked at
    /// last, before that with the next one.
    fn drain(&mut self, place: usize, now: i64, accumulator: &mut Accumulator, batches: &mut Vec<Queued>) {
        let settings = &self.scenario.settings;
        let node = &mut self.nodes.0[place];
        let count = node.partitions.len();
        let index = if self.is_old { &mut self.drain_index } else { &mut node.drain_index };
        let (start, mut bytes) = (*index % count, 0);
        // Where a whole round ends.
        *index = if self.is_old { start } else { (start + count - 1) % count };
        for (from, end) in [(start, count), (0, start)] {
            let mut next = from;
            while let Some(number) = accumulator.next_holding(place, next).filter(|&number| number < end) {
                next = number + 1;
                let at = node.partitions[number];
                let queue = &accumulator.queues[at];
                let Some(first) = queue.batches.front() else { continue };
                if queue.is_muted || first.backs_off(now, settings.retry_backoff_ms) {
                    continue;
                }
                if bytes + first.bytes() > settings.max_request_size.into() && !batches.is_empty() {
                    *index = if self.is_old { next % count } else { number };
                    return;
                }
                let Some(mut batch) = accumulator.take_first(at) else { continue };
                batch.leave(now, settings.linger_ms, self.flushing);
                bytes += batch.bytes();
                accumulator.queues[at].is_muted = self.most_in_flight == 1;
                batches.push(batch);
            }
        }
    }

    /// Takes the answers that have arrived; returns whether there were any.
    pub(super) fn answer(
        &mut self,
        now: i64,
        accumulator: &mut Accumulator,
        report: &mut impl EventReport,
    ) -> bool {
        let mut any = false;
        while let Some(mut request) = self.nodes.answered(now) {
            any = true;
            let is_ok = self.scenario.failed_requests.binary_search(&request.id).is_err();
            report.take(BatchEvent::Answered(&request, is_ok));
            for batch in request.batches.drain(..) {
                accumulator.unmute(batch.partition);
                if !is_ok {
                    accumulator.put_back(batch, now);
                }
            }
            self.spare.push(request.batches);
        }
        any
    }
}
