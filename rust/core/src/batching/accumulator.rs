//! The queues of a topic, and the effect of a record on them (`RecordAccumulator.append`).

use std::collections::BTreeMap;

use super::bit_set::BitSet;
use super::brokers::Nodes;
use super::queue::{Queue, Queued};
use super::queue_order::Walk;
use super::report::{BatchEvent, EventReport, SwitchRow};
use super::scenario::Partition;
use crate::producer::append::{Appended, Appends};
use crate::producer::open_batches::OpenBatch;
use crate::producer::sizes::RecordSize;

/// The batches of a topic's partitions.
#[derive(Clone, Debug)]
pub(super) struct Accumulator {
    /// Those of the metadata, in its order, then others to which a record went.
    pub(super) queues: Vec<Queue>,
    /// The partition of each queue.
    ids: Vec<i32>,
    places: QueuePlaces,
    walk: Walk,
    /// By broker, its partitions whose queues hold anything, by their numbers among its partitions.
    holding: Vec<BitSet>,
    /// How many partitions the metadata has.
    known: usize,
    /// How many batches were opened.
    opened: u64,
    /// How often a queue became longer or shorter, or one was met.
    pub(super) changes: u64,
}

/// The place of each partition's queue. Its memory depends on how many partitions there are, not on how large their
/// numbers are.
#[derive(Clone, Debug)]
struct QueuePlaces {
    /// For the partitions from 0 on, as many as the metadata has; [`NOWHERE`] for one without a queue.
    first: Vec<u32>,
    /// For partitions with larger numbers.
    far: BTreeMap<i32, u32>,
}

const NOWHERE: u32 = u32::MAX;

impl QueuePlaces {
    #[inline]
    fn get(&self, partition: i32) -> Option<u32> {
        match self.first.get(partition.cast_unsigned() as usize) {
            Some(&NOWHERE) => None,
            Some(&place) => Some(place),
            None => self.far.get(&partition).copied(),
        }
    }

    fn put(&mut self, partition: i32, place: u32) {
        match self.first.get_mut(partition.cast_unsigned() as usize) {
            Some(first) => *first = place,
            None => {
                self.far.insert(partition, place);
            }
        }
    }
}

/// The effect of a record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AppendOutcome {
    /// The batch that it is in.
    pub(super) batch: u64,
    /// Whether the sender is woken up: `newBatchCreated || batchIsFull`.
    pub(super) wakes: bool,
    /// Whether any batch was opened, or was filled.
    pub(super) matters: bool,
}

impl Accumulator {
    pub(super) fn new(partitions: &[Partition], nodes: &Nodes) -> Self {
        let queue = |each: &Partition| Queue::new(each.id, each.leader.and_then(|id| nodes.place(id)));
        let mut queues: Vec<_> = partitions.iter().map(queue).collect();
        for node in &nodes.0 {
            for (number, &place) in node.partitions.iter().enumerate() {
                queues[place].number = Some(number);
            }
        }
        let mut new = Self {
            ids: Vec::new(),
            places: QueuePlaces { first: vec![NOWHERE; queues.len()], far: BTreeMap::new() },
            walk: Walk::default(),
            holding: nodes.0.iter().map(|node| BitSet::new(node.partitions.len())).collect(),
            known: queues.len(),
            opened: 0,
            changes: 0,
            queues: Vec::new(),
        };
        for queue in queues {
            new.add(queue);
        }
        new
    }

    /// The existing queues, in the order in which Java walks them.
    pub(super) fn walk(&self) -> impl ExactSizeIterator<Item = &Queue> {
        self.walk.order().iter().map(|&place| &self.queues[place as usize])
    }

    /// Those of them with batches.
    pub(super) fn holding(&self) -> impl Iterator<Item = &Queue> {
        self.walk.holding().map(|place| &self.queues[place as usize])
    }

    /// Whether every partition of the metadata, or as many others, have a queue.
    pub(super) fn has_met_all(&self) -> bool {
        self.walk.order().len() >= self.known
    }

    /// Adds a queue, and returns its place.
    fn add(&mut self, queue: Queue) -> u32 {
        let place = u32::try_from(self.queues.len()).unwrap_or(NOWHERE);
        self.places.put(queue.partition, place);
        self.ids.push(queue.partition);
        self.queues.push(queue);
        place
    }

    /// The place of a partition's queue, which exists from now on: `computeIfAbsent`.
    #[inline]
    pub(super) fn meet(&mut self, partition: i32) -> usize {
        match self.places.get(partition) {
            Some(place) if self.queues[place as usize].is_met => place as usize,
            _ => self.meet_first(partition),
        }
    }

    #[cold]
    fn meet_first(&mut self, partition: i32) -> usize {
        let place = match self.places.get(partition) {
            Some(place) => place,
            None => self.add(Queue::new(partition, None)),
        };
        self.queues[place as usize].is_met = true;
        self.walk.put(place, &self.ids);
        self.changes += 1;
        place as usize
    }

    /// Puts a returned batch back: `reenqueue`.
    pub(super) fn put_back(&mut self, mut batch: Queued, now: i64) {
        batch.came_back(now);
        let place = self.meet(batch.partition);
        self.queues[place].batches.push_front(batch);
        self.changed(place);
    }

    /// The first of a broker's partitions from a number on whose queue holds anything.
    pub(super) fn next_holding(&self, leader: usize, from: usize) -> Option<usize> {
        self.holding[leader].next(from)
    }

    /// Takes the first batch of a queue.
    pub(super) fn take_first(&mut self, place: usize) -> Option<Queued> {
        let batch = self.queues[place].batches.pop_front()?;
        self.changed(place);
        Some(batch)
    }

    /// Notes that a queue got longer or shorter.
    fn changed(&mut self, place: usize) {
        let queue = &self.queues[place];
        let holds = !queue.batches.is_empty();
        self.walk.set_holding(place, holds);
        if let Some((leader, number)) = queue.leader.zip(queue.number) {
            self.holding[leader].set(number, holds);
        }
        self.changes += 1;
    }

    /// The answer for a partition arrived, so it may be drained again.
    pub(super) fn unmute(&mut self, partition: i32) {
        let place = self.meet(partition);
        self.queues[place].is_muted = false;
    }
}

/// A record on its way into the queues.
pub(super) struct Enqueuing<'a, R> {
    pub(super) accumulator: &'a mut Accumulator,
    pub(super) report: &'a mut R,
    pub(super) size: RecordSize,
    pub(super) at: i64,
    pub(super) batch_size: i32,
    /// The number of the record.
    pub(super) record: u64,
    pub(super) outcome: AppendOutcome,
}

impl<R: EventReport> Appends for Enqueuing<'_, R> {
    #[inline]
    fn append(&mut self, partition: i32) -> Option<Appended> {
        let place = self.accumulator.meet(partition);
        let queue = &mut self.accumulator.queues[place];
        let several = queue.has_several();
        let last = queue.batches.back_mut()?;
        let appended = last.append(self.size, self.at);
        if appended.is_none_or(|appended| appended.is_full) && last.closed_ms.is_none() {
            last.closed_ms = Some(self.at);
            self.outcome.matters = true;
        }
        if let Some(appended) = appended {
            self.outcome.batch = last.id;
            self.outcome.wakes = several || appended.is_full;
            if R::COUNTS_TIMES {
                last.count(self.at);
            }
        }
        appended
    }

    fn begin(&mut self, partition: i32) -> Appended {
        let batch = OpenBatch::begun(self.size, self.at, self.batch_size);
        let place = self.accumulator.meet(partition);
        let id = self.accumulator.opened;
        self.accumulator.opened += 1;
        let mut queued = Queued::new(id, partition, self.record, batch);
        if R::COUNTS_TIMES {
            queued.count(self.at);
        }
        self.report.take(BatchEvent::Opened(&queued));
        let queue = &mut self.accumulator.queues[place];
        queue.batches.push_back(queued);
        // Batches of partitions without a leader never leave, and need not be kept.
        if queue.leader.is_none()
            && let Some(before) = queue.batches.pop_front_if(|first| first.id != id)
        {
            queue.has_left_over = true;
            self.report.take(BatchEvent::LeftOver(&before));
        }
        self.accumulator.changed(place);
        self.outcome = AppendOutcome { batch: id, wakes: true, matters: true };
        batch.begins()
    }

    fn switched(&mut self, from: i32, to: i32) {
        let switch = SwitchRow { record: self.record, at_ms: self.at, from, to };
        self.report.take(BatchEvent::Switched(switch));
    }
}
