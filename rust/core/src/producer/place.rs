//! A producer that places record after record, with Kafka's order of preference between a record's own partition, its
//! key and the strategy, and with the calls of Kafka's partitioners.

use super::append::{Appends, append_or_begin};
use super::built_in::Queues;
use super::draws::Draws;
use super::on_new_batch;
use super::open_batches::{Appending, OpenBatches};
use super::record::Record;
use super::settings::{Fallback, Settings};
use super::state::{State, TopicState};
use super::strategy::{BatchRule, Strategy};
use super::topic::Topic;
use crate::hashing::Partitions;
use crate::{Error, Result};

/// Sentinel: no partition.
const UNSET: i32 = -1;

/// A strategy at work: its state for each topic, and its draws.
///
/// ```
/// use partwright_core::producer::{Draws, Partition, Producer, Record, Settings, Strategy, Topic};
/// let partitions: Vec<_> = (0..3).map(|id| Partition { id, available: id != 1, near: false }).collect();
/// let topics = vec![Topic::new("orders", &partitions)?];
/// let mut producer = Producer::new(Strategy::RoundRobin, Settings::default(), topics, Draws::seeded(0))?;
/// let placed: Vec<_> = (0..3).map(|_| producer.place(&Record::default())).collect();
/// assert_eq!(placed, [Ok(Some(0)), Ok(Some(2)), Ok(Some(0))]);
/// # Ok::<(), partwright_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Producer {
    pub(super) strategy: Strategy,
    pub(super) settings: Settings,
    pub(super) state: State,
    /// The open batches of each topic.
    pub(super) batches: Vec<OpenBatches>,
}

impl Producer {
    /// A producer that has sent nothing yet.
    ///
    /// # Errors
    /// [`Error::Producer`] for settings that Kafka refuses.
    pub fn new(strategy: Strategy, settings: Settings, topics: Vec<Topic>, draws: Draws) -> Result<Self> {
        settings.check()?;
        let batches = topics.iter().map(|topic| OpenBatches::new(&topic.all)).collect();
        Ok(Self { strategy, settings, state: State::new(topics, draws), batches })
    }

    /// How many draws it has taken.
    pub fn drawn(&self) -> usize {
        self.state.draws.taken()
    }

    /// Lets a topic's round robin begin elsewhere than in Kafka.
    pub fn set_counter(&mut self, topic: usize, counter: i32) {
        self.state.topics[topic].counter.set(counter);
    }

    /// Takes a topic's new metadata, or a new topic; the topic's state stays.
    pub fn set_topic(&mut self, place: usize, topic: Topic) {
        if let Some(kept) = self.state.topics.get_mut(place) {
            kept.topic = topic;
        } else {
            self.batches.push(OpenBatches::new(&topic.all));
            self.state.topics.push(TopicState::new(topic));
        }
    }

    /// How many partitions a topic has.
    pub fn partitions(&self, topic: usize) -> usize {
        self.state.topics[topic].topic.len()
    }

    /// The number of partitions among which a record's key chooses; `None` if keys do not matter.
    ///
    /// # Errors
    /// [`Error::Producer`] if there is a key and the topic has no partitions, by whose number Kafka would divide.
    pub fn asks_key(&self, topic: usize, has_key: bool) -> Result<Option<Partitions>> {
        let topic = &self.state.topics[topic].topic;
        let ignored = self.settings.ignore_keys && self.strategy.batching() == BatchRule::BuiltIn;
        match i64::try_from(topic.len()) {
            _ if ignored || !self.strategy.asks_key() => Ok(None),
            // A null key needs no count, but Kafka 0.8 looks at the count before the key.
            Ok(0) if !has_key || self.strategy == Strategy::OldNullKey => Ok(None),
            Ok(0) => topic.of_all(0).map(|_| None),
            count => Partitions::new(count.unwrap_or(i64::MAX)).map(Some),
        }
    }

    /// The partition of a record, in Kafka's order of preference: its own, otherwise a configured strategy's, otherwise
    /// its key's, otherwise the strategy's for records without a key. The record is appended to its batch if batches
    /// matter. `None` if there is neither a key nor a strategy for records without one.
    ///
    /// # Errors
    /// [`Error::Producer`] if Kafka's own producer throws, or if the recorded draws are used up.
    #[inline]
    pub fn place(&mut self, record: &Record) -> Result<Option<i32>> {
        let mut batches = std::mem::take(&mut self.batches);
        let placed = self.place_into(record, &mut batches);
        self.batches = batches;
        placed
    }

    /// The partition of a record; this changes both the strategy and the batches, of which the strategy knows nothing.
    #[inline]
    pub(super) fn place_into(&mut self, record: &Record, batches: &mut [OpenBatches]) -> Result<Option<i32>> {
        match record.partition.filter(|&partition| partition != UNSET || !self.takes_unset()) {
            Some(partition) => self.check_own(record.topic, partition)?,
            None if self.strategy.batching() == BatchRule::Apart => {
                return self.strategy.partition(&mut self.state, &self.settings, record);
            }
            None => {}
        }
        self.place_in(record, &mut Appending::new(record, &mut batches[record.topic], &self.settings))
    }

    /// As [`Producer::place`], but into these batches, and without refusing a missing partition. If batches do not
    /// matter to the strategy, the record is appended to none.
    #[inline]
    pub(crate) fn place_in(&mut self, record: &Record, batches: &mut impl Appends) -> Result<Option<i32>> {
        let Self { strategy, settings, state, .. } = self;
        match strategy.batching() {
            BatchRule::Apart => match record.partition {
                Some(partition) => Ok(Some(partition)),
                None => strategy.partition(state, settings, record),
            },
            BatchRule::BuiltIn => {
                let keyed = record.keyed.filter(|_| !settings.ignore_keys);
                if let Some(partition) = record.partition.or(keyed) {
                    append_or_begin(partition, batches);
                    return Ok(Some(partition));
                }
                let TopicState { topic, built_in, .. } = &mut state.topics[record.topic];
                let rules = strategy.stickiness(settings);
                built_in.place(topic, rules, &mut state.draws, batches).map(Some)
            }
            BatchRule::Told => on_new_batch::place(*strategy, state, settings, record, batches).map(Some),
        }
    }

    /// Whether -1 means that a record names no partition: kafka-go's balancers have no other way to say so, and its
    /// round robin then places such records. `ProducerRecord` refuses it.
    fn takes_unset(&self) -> bool {
        self.strategy == Strategy::Explicit && self.settings.fallback != Fallback::Fail
    }

    /// Refuses a record's own partition if its topic does not have it.
    fn check_own(&self, topic: usize, partition: i32) -> Result<()> {
        let topic = &self.state.topics[topic].topic;
        if usize::try_from(partition).is_ok_and(|partition| partition < topic.len()) {
            return Ok(());
        }
        Err(Error::Producer(format!(
            "the record names partition {partition}, and topic {:?} has {} (from 0 on)",
            topic.name,
            topic.len()
        )))
    }

    /// The strategy's answer for a record, without appending it: `Partitioner.partition`.
    ///
    /// # Errors
    /// As [`Producer::place`].
    #[inline]
    pub fn partition(&mut self, topic: usize, keyed: Option<i32>, at: i64) -> Result<Option<i32>> {
        let record = Record { topic, keyed, at, ..Record::default() };
        self.strategy.partition(&mut self.state, &self.settings, &record)
    }

    /// A record would begin a batch: `Partitioner.onNewBatch`.
    ///
    /// # Errors
    /// As [`Producer::place`].
    pub fn on_new_batch(&mut self, topic: usize, previous: i32) -> Result<()> {
        self.strategy.on_new_batch(&mut self.state, topic, previous)
    }

    /// The next sticky partition: `StickyPartitionCache.nextPartition`, which changes nothing if the topic's partition
    /// is no longer `previous`, or `BuiltInPartitioner.nextPartition`, which does not keep its draw.
    ///
    /// # Errors
    /// As [`Producer::place`]; also if the strategy is not sticky.
    pub fn next_partition(&mut self, topic: usize, previous: i32) -> Result<i32> {
        let State { topics, draws, .. } = &mut self.state;
        let TopicState { topic, sticky, built_in, .. } = &mut topics[topic];
        match self.strategy {
            Strategy::Sticky24 | Strategy::UniformSticky24 => sticky.next(topic, previous, draws),
            Strategy::Sticky33 | Strategy::Sticky44 => {
                built_in.next(topic, self.strategy.stickiness(&self.settings), draws)
            }
            _ => Err(self.strategy.has_no("next_partition")),
        }
    }

    /// Appends bytes to the sticky partition, which is the answer; afterwards another one may be sticky:
    /// `BuiltInPartitioner.updatePartitionInfo`.
    ///
    /// # Errors
    /// As [`Producer::place`]; also if the strategy is not the built-in partitioner.
    pub fn append(&mut self, topic: usize, bytes: i32, enable_switch: bool) -> Result<i32> {
        if self.strategy.batching() != BatchRule::BuiltIn {
            return Err(self.strategy.has_no("append"));
        }
        let rules = self.strategy.stickiness(&self.settings);
        let State { topics, draws, .. } = &mut self.state;
        let TopicState { topic, built_in, .. } = &mut topics[topic];
        let partition = built_in.peek(topic, rules, draws)?;
        built_in.update(bytes, enable_switch, topic, rules, draws)?;
        Ok(partition)
    }

    /// Takes the number of batches that wait for each partition: `BuiltInPartitioner.updatePartitionLoadStats`.
    ///
    /// # Errors
    /// As [`Producer::append`].
    pub fn load_stats(&mut self, topic: usize, queues: Option<&Queues>) -> Result<()> {
        if self.strategy.batching() != BatchRule::BuiltIn {
            return Err(self.strategy.has_no("load_stats"));
        }
        let rules = self.strategy.stickiness(&self.settings);
        self.state.topics[topic].built_in.weigh(queues, rules)
    }

    /// Appends a record to its partition's batch, or to a new one if that is allowed, and returns whether it did. A
    /// batch without room for it is closed.
    pub fn append_record(&mut self, record: &Record, partition: i32, begins: bool) -> bool {
        let mut batches = std::mem::take(&mut self.batches);
        let mut appending = Appending::new(record, &mut batches[record.topic], &self.settings);
        let fits = appending.append(partition).is_some();
        if !fits && begins {
            appending.begin(partition);
        }
        self.batches = batches;
        fits || begins
    }
}
