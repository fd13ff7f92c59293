//! The clock: the events, and their order within one instant.

use super::accumulator::{Accumulator, AppendOutcome, Enqueuing};
use super::brokers::Nodes;
use super::report::{BatchEvent, EventReport};
use super::scenario::Scenario;
use super::sender::ProducerSender;
use crate::producer::append::append_or_begin;
use crate::producer::sizes::RecordSize;
use crate::producer::strategy::BatchRule;
use crate::producer::{Producer, Record};
use crate::{Error, Result};

/// A producer that runs, record by record.
///
/// At one instant, the answers that are due come first, then the records in their order, then the sender. Between the
/// times of records, the clock stops at answers, at the sender's timer, and when a broker is back.
///
/// ```
/// use partwright_core::batching::{Broker, Latency, Partition, Rows, Scenario, Settings, Simulation};
/// use partwright_core::producer::{Draws, Record, Strategy};
/// let scenario = Scenario {
///     strategy: Strategy::Sticky44,
///     settings: Settings::default(),
///     each_append: false,
///     brokers: vec![Broker { latency: Latency::Constant(1), ..Broker::default() }],
///     partitions: (0..3).map(|id| Partition { id, leader: Some(0) }).collect(),
///     flush_ms: None,
///     failed_requests: vec![],
///     draws: Draws::seeded(7),
///     seed: 7,
/// };
/// let (mut simulation, mut rows) = (Simulation::new(scenario)?, Rows::default());
/// for at in 0..9 {
///     simulation.append(&Record { key_size: -1, value_size: 100, at, ..Record::default() }, &mut rows)?;
/// }
/// simulation.finish(&mut rows)?;
/// let records: Vec<_> = rows.batches.iter().map(|batch| batch.records).collect();
/// assert_eq!(records, [6, 3], "it lingers for 5 ms");
/// # Ok::<(), partwright_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Simulation {
    producer: Producer,
    accumulator: Accumulator,
    sender: ProducerSender,
    /// Whether the strategy learns nothing about batches.
    is_apart: bool,
    /// When brokers are back, ascending, and how many of these times have passed.
    returns: Vec<i64>,
    returned: usize,
    /// The instant that is not over; none before the first record.
    now: Option<i64>,
    /// Whether the sender may have something to do at this instant.
    is_due: bool,
    /// How many records there were.
    records: u64,
}

impl Simulation {
    /// A producer that has sent nothing yet.
    ///
    /// # Errors
    /// [`Error::Producer`] for settings that Kafka refuses, and for partitions and brokers that do not fit together.
    pub fn new(scenario: Scenario) -> Result<Self> {
        scenario.check()?;
        let nodes = Nodes::new(&scenario);
        Ok(Self {
            producer: scenario.producer()?,
            accumulator: Accumulator::new(&scenario.partitions, &nodes),
            returns: nodes.returns(),
            returned: 0,
            is_apart: scenario.strategy.batching() == BatchRule::Apart,
            sender: ProducerSender::new(scenario, nodes),
            now: None,
            is_due: false,
            records: 0,
        })
    }

    /// Appends a record, whose time must not be before the last one: `KafkaProducer.send`.
    ///
    /// # Errors
    /// [`Error::Producer`] for a time that runs backwards or is below 0, a record larger than `max.request.size`, a
    /// missing partition, or if the recorded draws are used up.
    #[inline]
    pub fn append(&mut self, record: &Record, report: &mut impl EventReport) -> Result<()> {
        let size = record.size();
        self.check(record, size)?;
        if self.now != Some(record.at) {
            self.go_to(record.at, report)?;
        }
        let mut appending = Enqueuing {
            accumulator: &mut self.accumulator,
            report,
            size,
            at: record.at,
            batch_size: self.sender.scenario.settings.batch_size.max(1),
            record: self.records,
            outcome: AppendOutcome::default(),
        };
        let Some(partition) = self.producer.place_in(record, &mut appending)? else {
            return Err(Error::Producer("the strategy has no partition for the record".to_owned()));
        };
        if self.is_apart {
            append_or_begin(partition, &mut appending);
        }
        let outcome = appending.outcome;
        self.records += 1;
        report.take(BatchEvent::Placed { partition, batch: outcome.batch, at: record.at });
        self.is_due |= outcome.matters;
        if outcome.wakes && self.sender.scenario.each_append {
            self.send(record.at, report)?;
        }
        Ok(())
    }

    /// Ends the records: requests in flight are answered, and batches that can leave do so.
    ///
    /// # Errors
    /// As [`Simulation::append`].
    pub fn finish(&mut self, report: &mut impl EventReport) -> Result<()> {
        if let Some(now) = self.now {
            let flush = self.sender.scenario.flush_ms;
            if flush.is_some_and(|flush| flush <= now) {
                self.flush();
            }
            self.send(now, report)?;
            if let Some(flush) = flush.filter(|&flush| flush > now) {
                self.run_to(Some(flush), report)?;
                self.begin(flush, report);
                self.flush();
                self.send(flush, report)?;
            }
            self.run_to(None, report)?;
        }
        for queue in &self.accumulator.queues {
            queue.batches.iter().for_each(|batch| report.take(BatchEvent::LeftOver(batch)));
        }
        Ok(())
    }

    fn flush(&mut self) {
        self.sender.flushing = true;
        self.is_due = true;
    }

    #[inline]
    fn check(&self, record: &Record, size: RecordSize) -> Result<()> {
        let refused = |reason: String| Err(Error::Producer(reason));
        let Record { at, partition, .. } = *record;
        match self.now {
            Some(now) if at < now => return refused(format!("time runs backwards, from {now} to {at} ms")),
            None if at < 0 => return refused(format!("a record has a time of 0 ms or more, not {at}")),
            _ => {}
        }
        if let Some(partition) = partition.filter(|&partition| !self.has(partition)) {
            return refused(format!("the record names partition {partition}, which the topic does not have"));
        }
        let (bytes, most) = (size.upper_bound(), self.sender.scenario.settings.max_request_size);
        if bytes > most.into() {
            return refused(format!(
                "the record is {bytes} bytes when serialized, and max.request.size is {most} (Kafka's own producer \
                 throws RecordTooLargeException)"
            ));
        }
        Ok(())
    }

    /// Whether a record may name a partition: one of the metadata, or a number below their count, which is all that
    /// Kafka's producer checks.
    fn has(&self, partition: i32) -> bool {
        let partitions = &self.sender.scenario.partitions;
        usize::try_from(partition).is_ok_and(|number| number < partitions.len())
            || partitions.iter().any(|each| each.id == partition)
    }

    /// Ends the present instant, and goes on to one with a record.
    fn go_to(&mut self, at: i64, report: &mut impl EventReport) -> Result<()> {
        match self.now {
            Some(now) => {
                self.send(now, report)?;
                self.run_to(Some(at), report)?;
            }
            None => self.returned = self.returns.partition_point(|&end| end <= at),
        }
        self.begin(at, report);
        Ok(())
    }

    /// Everything that happens before a time.
    fn run_to(&mut self, end: Option<i64>, report: &mut impl EventReport) -> Result<()> {
        while let Some(next) = self.next().filter(|&next| end.is_none_or(|end| next < end)) {
            self.begin(next, report);
            self.send(next, report)?;
        }
        Ok(())
    }

    /// The time of the next event other than a record.
    fn next(&self) -> Option<i64> {
        let back = self.returns.get(self.returned).copied();
        [self.sender.nodes.next_answer(), self.sender.timer, back].into_iter().flatten().min()
    }

    /// An instant begins: the answers that are due.
    fn begin(&mut self, now: i64, report: &mut impl EventReport) {
        self.now = Some(now);
        self.is_due |= self.sender.answer(now, &mut self.accumulator, report);
        self.is_due |= self.sender.timer.is_some_and(|timer| timer <= now);
        while self.returns.get(self.returned).is_some_and(|&end| end <= now) {
            self.returned += 1;
            self.is_due = true;
        }
    }

    /// The sender runs, if that can change anything.
    fn send(&mut self, now: i64, report: &mut impl EventReport) -> Result<()> {
        if self.is_due || !self.sender.may_rest() {
            self.sender.run(now, &mut self.accumulator, &mut self.producer, report)?;
        }
        self.is_due = false;
        Ok(())
    }
}
