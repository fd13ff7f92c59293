//! A producer that places record after record: the order of preference, and what a strategy keeps between records.

use super::appending::Appends;
use super::batches::{Appending, Batches};
use super::built_in::{BuiltIn, Stickiness};
use super::runs::Placing;
use super::sizes::Size;
use super::sticky_cache::StickyCache;
use super::strategy::Batching;
use super::{Among, Draws, Otherwise, Queues, Settings, Strategy, Topic};
use crate::hashing::{Partitions, to_positive};
use crate::{Error, Result};

/// What is no partition.
const UNSET: i32 = -1;

/// What decides where a record goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The place of its topic among the producer's.
    pub topic: usize,
    /// The partition that the record itself names.
    pub partition: Option<i32>,
    /// The partition that its key has, or its field.
    pub keyed: Option<i32>,
    /// How many bytes its key has, -1 for a null key.
    pub key_size: i32,
    /// How many bytes its value has, -1 for a null value.
    pub value_size: i32,
    /// How many bytes its headers take: [`headers_size`](super::headers_size); 0 for none.
    pub headers_size: i32,
    /// When it is sent, in milliseconds.
    pub at: i64,
}

/// A strategy at work: what it keeps of each topic, and its draws.
///
/// ```
/// use partwright_core::producer::{Draws, Partition, Producer, Record, Settings, Strategy, Topic};
/// let partitions: Vec<_> = (0..3).map(|id| Partition { id, available: id != 1, near: false }).collect();
/// let topics = vec![Topic::new("orders", &partitions)?];
/// let mut producer = Producer::new(Strategy::RoundRobin, Settings::new(), topics, Draws::seeded(0))?;
/// let placed: Vec<_> = (0..3).map(|_| producer.place(&Record::default())).collect();
/// assert_eq!(placed, [Ok(Some(0)), Ok(Some(2)), Ok(Some(0))]);
/// # Ok::<(), partwright_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Producer {
    pub(super) strategy: Strategy,
    pub(super) settings: Settings,
    pub(super) topics: Vec<Kept>,
    /// The open batches of each topic.
    batches: Vec<Batches>,
    draws: Draws,
    /// `RoundRobinPartitioner` of 3.9.2: the topic and partition at which a batch was to begin, for the next record of its
    /// thread, whatever its topic.
    previous: Option<(usize, i32)>,
    /// When Kafka 0.8 last refreshed its metadata.
    refreshed: Option<i64>,
}

/// A topic, and what a strategy keeps of it.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) topic: Topic,
    pub(super) counter: Option<i32>,
    pub(super) sticky: StickyCache,
    pub(super) built_in: BuiltIn,
    /// The partition of Kafka 0.8.
    old: Option<i32>,
}

impl Kept {
    fn new(topic: Topic) -> Self {
        Self { topic, counter: None, sticky: StickyCache::default(), built_in: BuiltIn::default(), old: None }
    }
}

impl Producer {
    /// A producer that has sent nothing yet.
    ///
    /// # Errors
    /// [`Error::Producer`] for settings that Kafka refuses.
    pub fn new(strategy: Strategy, settings: Settings, topics: Vec<Topic>, draws: Draws) -> Result<Self> {
        settings.check()?;
        let batches = topics.iter().map(|topic| Batches::new(&topic.all)).collect();
        let topics = topics.into_iter().map(Kept::new).collect();
        Ok(Self { strategy, settings, topics, batches, draws, previous: None, refreshed: None })
    }

    /// How many draws were taken.
    pub fn drawn(&self) -> usize {
        self.draws.taken()
    }

    /// Lets a topic's round robin begin elsewhere than Kafka lets it.
    pub fn set_counter(&mut self, topic: usize, counter: i32) {
        self.topics[topic].counter = Some(counter);
    }

    /// New metadata of a topic, or a topic that was not there before; what is kept of it stays.
    pub fn set_topic(&mut self, place: usize, topic: Topic) {
        if let Some(kept) = self.topics.get_mut(place) {
            kept.topic = topic;
        } else {
            self.batches.push(Batches::new(&topic.all));
            self.topics.push(Kept::new(topic));
        }
    }

    /// How many partitions a topic has.
    pub fn partitions(&self, topic: usize) -> usize {
        self.topics[topic].topic.len()
    }

    /// Of how many partitions a record's key may choose one; `None` where nothing is asked about keys.
    ///
    /// # Errors
    /// [`Error::Producer`] where there is a key, and Kafka divides by the number of partitions, which is 0.
    pub fn asks_key(&self, topic: usize, has_key: bool) -> Result<Option<Partitions>> {
        let topic = &self.topics[topic].topic;
        let ignored = self.settings.ignore_keys && self.strategy.batching() == Batching::BuiltIn;
        match i64::try_from(topic.len()) {
            _ if ignored || !self.strategy.asks_key() => Ok(None),
            // A null key needs no count, and Kafka 0.8 looks at the count before it looks at the key.
            Ok(0) if !has_key || self.strategy == Strategy::OldNullKey => Ok(None),
            Ok(0) => topic.of_all(0).map(|_| None),
            count => Partitions::new(count.unwrap_or(i64::MAX)).map(Some),
        }
    }

    /// The partition of a record, in Kafka's order of preference: its own, else what a configured strategy says, else its
    /// key's, else the strategy's. The record is appended to its batch where batches matter. `None` where there is neither
    /// a key nor a strategy for records without.
    ///
    /// # Errors
    /// [`Error::Producer`] where Kafka's own producer throws, and where recorded draws are at their end.
    #[inline]
    pub fn place(&mut self, record: &Record) -> Result<Option<i32>> {
        let mut batches = std::mem::take(&mut self.batches);
        let placed = self.place_beside(record, &mut batches);
        self.batches = batches;
        placed
    }

    /// The same for one record after the other; the partitions go to `placed`.
    ///
    /// # Errors
    /// The number of the first record that is refused, and why: those before it have been placed.
    pub fn place_each(
        &mut self,
        records: &[Record],
        placed: impl FnMut(Option<i32>),
    ) -> std::result::Result<(), (usize, Error)> {
        // Taken out once, and not for each record.
        let mut batches = std::mem::take(&mut self.batches);
        let mut placing = Placing { records, placed, next: 0 };
        let outcome = self.place_rest(&mut placing, &mut batches).map_err(|error| (placing.next, error));
        self.batches = batches;
        outcome
    }

    fn place_rest<P>(&mut self, placing: &mut Placing<'_, P>, batches: &mut [Batches]) -> Result<()>
    where
        P: FnMut(Option<i32>),
    {
        while let Some(record) = placing.records.get(placing.next) {
            (placing.placed)(self.place_beside(record, batches)?);
            placing.next += 1;
            // After a key or a partition there is as a rule another, and no run.
            if record.keyed.is_none() && record.partition.is_none() {
                self.run(record.topic, placing, batches);
            }
        }
        Ok(())
    }

    /// The partition of a record; the strategy and the batches, which it knows nothing of, are both changed on the way.
    #[inline]
    fn place_beside(&mut self, record: &Record, batches: &mut [Batches]) -> Result<Option<i32>> {
        match record.partition.filter(|&partition| partition != UNSET || !self.takes_unset()) {
            Some(partition) => self.check_own(record.topic, partition)?,
            None if self.strategy.batching() == Batching::Apart => {
                return self.partition(record.topic, record.keyed, record.at);
            }
            None => {}
        }
        self.place_in(record, &mut self.appending(record, batches))
    }

    /// Whether a record may say by -1 that it names no partition: a balancer of kafka-go sees no other way, whose round robin
    /// places these then. `ProducerRecord` refuses it.
    fn takes_unset(&self) -> bool {
        self.strategy == Strategy::Explicit && self.settings.otherwise != Otherwise::Fail
    }

    /// The record on its way into the open batches of its topic.
    fn appending<'a>(&self, record: &Record, batches: &'a mut [Batches]) -> Appending<'a> {
        record.beside(&mut batches[record.topic], &self.settings)
    }

    /// Refuses a record's own partition that its topic does not have.
    fn check_own(&self, topic: usize, partition: i32) -> Result<()> {
        let topic = &self.topics[topic].topic;
        if usize::try_from(partition).is_ok_and(|partition| partition < topic.len()) {
            return Ok(());
        }
        Err(Error::Producer(format!(
            "the record names partition {partition}, and topic {:?} has {} (from 0 on)",
            topic.name,
            topic.len()
        )))
    }

    /// What the strategy says of a record, which is not appended: `Partitioner.partition`.
    ///
    /// # Errors
    /// As [`Producer::place`].
    #[inline]
    pub fn partition(&mut self, topic: usize, keyed: Option<i32>, at: i64) -> Result<Option<i32>> {
        let kept = &mut self.topics[topic];
        let draws = &mut self.draws;
        match self.strategy {
            Strategy::Key => return Ok(keyed),
            Strategy::Explicit => self.otherwise(topic, "it names no partition"),
            Strategy::Field => match keyed {
                Some(partition) => Ok(partition),
                None => self.otherwise(topic, "its field is null"),
            },
            Strategy::RoundRobin | Strategy::RoundRobin28 => self.round_robin(topic),
            Strategy::RoundRobin392 => match self.previous.take() {
                Some((previous, partition)) if previous == topic => Ok(partition),
                _ => self.round_robin(topic),
            },
            Strategy::Random => {
                let number = draws.positive()?;
                let topic = &kept.topic;
                match (self.settings.available_only, &topic.all[..]) {
                    (false, all @ [_, ..]) => Ok(Topic::one_of(all, number)),
                    _ => topic.one(number),
                }
            }
            Strategy::Sticky24 => match keyed {
                Some(partition) => Ok(partition),
                None => kept.sticky.partition(&kept.topic, draws),
            },
            Strategy::UniformSticky24 => kept.sticky.partition(&kept.topic, draws),
            Strategy::Sticky33 | Strategy::Sticky44 => match keyed.filter(|_| !self.settings.ignore_keys) {
                Some(partition) => Ok(partition),
                None => kept.built_in.peek(&kept.topic, stickiness(self.strategy, &self.settings), draws),
            },
            Strategy::OldNullKey => self.old(topic, keyed, at),
            Strategy::OldRoundRobin => match (keyed, kept.counter) {
                (Some(partition), _) => Ok(partition),
                (None, Some(_)) => self.round_robin(topic),
                (None, None) => {
                    kept.counter = Some(draws.next_int()?);
                    self.round_robin(topic)
                }
            },
            Strategy::Leader => self.leader(topic, keyed),
        }
        .map(Some)
    }

    /// A record would begin a batch: `Partitioner.onNewBatch`.
    ///
    /// # Errors
    /// As [`Producer::place`].
    pub fn on_new_batch(&mut self, topic: usize, previous: i32) -> Result<()> {
        match self.strategy {
            Strategy::Sticky24 | Strategy::UniformSticky24 => {
                let kept = &mut self.topics[topic];
                kept.sticky.next(&kept.topic, previous, &mut self.draws)?;
            }
            Strategy::RoundRobin392 => self.previous = Some((topic, previous)),
            _ => {}
        }
        Ok(())
    }

    /// The next sticky partition: `StickyPartitionCache.nextPartition`, which stays where the topic's partition is no more
    /// `previous`, and `BuiltInPartitioner.nextPartition`, which does not keep what it draws.
    ///
    /// # Errors
    /// As [`Producer::place`]; and where the strategy is not sticky.
    pub fn next_partition(&mut self, topic: usize, previous: i32) -> Result<i32> {
        let kept = &mut self.topics[topic];
        match self.strategy {
            Strategy::Sticky24 | Strategy::UniformSticky24 => {
                kept.sticky.next(&kept.topic, previous, &mut self.draws)
            }
            Strategy::Sticky33 | Strategy::Sticky44 => {
                kept.built_in.next(&kept.topic, stickiness(self.strategy, &self.settings), &mut self.draws)
            }
            _ => Err(self.has_no("next_partition")),
        }
    }

    /// Bytes are appended to the sticky partition, which is the answer; another may be sticky after it:
    /// `BuiltInPartitioner.updatePartitionInfo`.
    ///
    /// # Errors
    /// As [`Producer::place`]; and where the strategy is not the built-in partitioner.
    pub fn append(&mut self, topic: usize, bytes: i32, enable_switch: bool) -> Result<i32> {
        if self.strategy.batching() != Batching::BuiltIn {
            return Err(self.has_no("append"));
        }
        let rules = stickiness(self.strategy, &self.settings);
        let kept = &mut self.topics[topic];
        let partition = kept.built_in.peek(&kept.topic, rules, &mut self.draws)?;
        kept.built_in.update(bytes, enable_switch, &kept.topic, rules, &mut self.draws)?;
        Ok(partition)
    }

    /// What waits for each partition: `BuiltInPartitioner.updatePartitionLoadStats`.
    ///
    /// # Errors
    /// As [`Producer::append`].
    pub fn load_stats(&mut self, topic: usize, queues: Option<&Queues>) -> Result<()> {
        if self.strategy.batching() != Batching::BuiltIn {
            return Err(self.has_no("load_stats"));
        }
        self.topics[topic].built_in.weigh(queues, stickiness(self.strategy, &self.settings))
    }

    pub(super) fn has_no(&self, call: &str) -> Error {
        Error::Producer(format!("the strategy {} has no {call}", self.strategy))
    }

    fn round_robin(&mut self, topic: usize) -> Result<i32> {
        let kept = &mut self.topics[topic];
        let counter = kept.counter.get_or_insert(0);
        let number = to_positive(*counter);
        *counter = counter.wrapping_add(1);
        kept.topic.one(number)
    }

    fn otherwise(&mut self, topic: usize, why: &str) -> Result<i32> {
        match self.settings.otherwise {
            Otherwise::RoundRobin => self.round_robin(topic),
            Otherwise::Random => {
                let drawn = self.draws.positive()?;
                self.topics[topic].topic.one(drawn)
            }
            Otherwise::Fail => Err(Error::Producer(format!(
                "the strategy {} has no partition for a record: {why}; set the config otherwise to round-robin or random",
                self.strategy
            ))),
        }
    }

    fn leader(&mut self, topic: usize, keyed: Option<i32>) -> Result<i32> {
        let near = self.topics[topic].topic.near.len();
        if near == 0 {
            return self.otherwise(topic, "no leader is where it should be");
        }
        let number = match (self.settings.among, keyed) {
            (Among::First, _) => 0,
            (Among::Random, _) => self.draws.positive()?,
            (Among::Key, Some(keyed)) => keyed.cast_unsigned(),
            (Among::RoundRobin | Among::Key, _) => {
                let counter = self.topics[topic].counter.get_or_insert(0);
                let number = to_positive(*counter);
                *counter = counter.wrapping_add(1);
                number
            }
        };
        Ok(Topic::one_of(&self.topics[topic].topic.near, number))
    }

    /// Kafka 0.8 (`DefaultEventHandler`): the key's partition, else one with a leader, kept until the metadata is
    /// refreshed. Whether it is time for that is asked before each record, with a key or without.
    fn old(&mut self, topic: usize, keyed: Option<i32>, at: i64) -> Result<i32> {
        let refreshed = *self.refreshed.get_or_insert(at);
        if self.settings.refresh_ms >= 0 && at.saturating_sub(refreshed) > self.settings.refresh_ms {
            self.topics.iter_mut().for_each(|kept| kept.old = None);
            self.refreshed = Some(at);
        }
        let Kept { topic, old, .. } = &mut self.topics[topic];
        let refused = |why: String, class: &str| {
            Error::Producer(format!("{why} of topic {:?} (Kafka's own throws {class})", topic.name))
        };
        let unknown = "UnknownTopicOrPartitionException";
        if topic.is_empty() {
            return Err(refused("there is no partition".to_owned(), unknown));
        }
        let partition = match keyed.or(*old) {
            Some(partition) => partition,
            None if topic.available.is_empty() => {
                return Err(refused("no leader for any partition".to_owned(), "LeaderNotAvailableException"));
            }
            None => *old.insert(Topic::one_of(&topic.available, self.draws.distance()?)),
        };
        if usize::try_from(partition).is_ok_and(|partition| partition < topic.len()) {
            return Ok(partition);
        }
        Err(refused(format!("partition {partition} is beyond the {} partitions", topic.len()), unknown))
    }

    /// Appends a record to its partition's batch, or to a new one if that is allowed; whether it did. A batch that has no
    /// room for it is closed.
    pub fn append_record(&mut self, record: &Record, partition: i32, begins: bool) -> bool {
        let mut batches = std::mem::take(&mut self.batches);
        let mut appending = self.appending(record, &mut batches);
        let fits = appending.append(partition).is_some();
        if !fits && begins {
            appending.begin(partition);
        }
        self.batches = batches;
        fits || begins
    }

    pub(super) fn strategy(&self) -> Strategy {
        self.strategy
    }

    pub(super) fn ignores_keys(&self) -> bool {
        self.settings.ignore_keys
    }

    /// A topic's built-in partitioner, with what it asks for.
    pub(super) fn built_in(&mut self, topic: usize) -> (&mut BuiltIn, &Topic, Stickiness, &mut Draws) {
        let rules = stickiness(self.strategy, &self.settings);
        let Kept { topic, built_in, .. } = &mut self.topics[topic];
        (built_in, topic, rules, &mut self.draws)
    }

    /// The partition that a topic's strategy stays with, of Kafka 2.4 to 3.2.
    pub(super) fn cached(&self, topic: usize) -> Option<i32> {
        self.topics[topic].sticky.get()
    }
}

impl Record {
    #[inline]
    pub(crate) fn size(&self) -> Size {
        Size::new(self.key_size, self.value_size, self.headers_size)
    }

    /// On its way into one of these batches, its topic's.
    #[inline]
    pub(super) fn beside<'a>(&self, batches: &'a mut Batches, settings: &Settings) -> Appending<'a> {
        Appending {
            batches,
            size: self.size(),
            at: self.at,
            linger: settings.linger_ms,
            batch_size: settings.batch_size,
        }
    }
}

pub(super) fn stickiness(strategy: Strategy, settings: &Settings) -> Stickiness {
    Stickiness {
        // As KafkaProducer hands it on.
        batch_size: settings.batch_size.max(1),
        rack_aware: settings.rack_aware && strategy == Strategy::Sticky44,
    }
}
