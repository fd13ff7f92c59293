//! The strategies' golden files through the core: where Kafka's own producers put records, with their own draws.

use std::collections::BTreeMap;
use std::error::Error;
use std::num::ParseIntError;

use partwright_core::hashing::Client;
use partwright_core::producer::{Draws, Partition, Producer, Queues, Record, Settings, Strategy, Topic};
use serde::Deserialize;

type Outcome = Result<(), Box<dyn Error>>;
type Answer = partwright_core::Result<Option<i32>>;

/// For each file, who answered and about what.
const FILES: [(&str, &str, &[&str]); 5] = [
    (
        include_str!("../golden/strategies/client.jsonl"),
        "kafka-clients 4.4.0",
        &["round-robin", "sticky@4.4"],
    ),
    (
        include_str!("../golden/strategies/client-3.9.jsonl"),
        "kafka-clients 3.9.2",
        &["round-robin@3.9.2", "sticky@2.4", "sticky@3.3", "uniform-sticky@2.4"],
    ),
    (
        include_str!("../golden/strategies/client-2.8.jsonl"),
        "kafka-clients 2.8.2",
        &["round-robin@2.8", "sticky@2.4", "uniform-sticky@2.4"],
    ),
    (include_str!("../golden/strategies/client-2.3.jsonl"), "kafka-clients 2.3.1", &["default@2.3"]),
    (include_str!("../golden/strategies/old.jsonl"), "kafka_2.11 0.8.2.2", &["old-null-key"]),
];
const DRAWS: &str = include_str!("../golden/strategies/draws.json");

#[derive(Deserialize)]
struct Provenance {
    library: String,
    version: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    strategy: String,
    configs: Configs,
    brokers: Vec<Broker>,
    topics: BTreeMap<String, Vec<GivenPartition>>,
    #[serde(default)]
    counters: BTreeMap<String, i32>,
    #[serde(default)]
    events: Vec<Event>,
    #[serde(default)]
    records: Vec<Sent>,
    draws: Vec<i32>,
    client: Option<String>,
    #[serde(default)]
    results: Vec<Said>,
    #[serde(default)]
    placed: Vec<Said>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configs {
    #[serde(rename = "batch.size")]
    batch_size: Option<i32>,
    #[serde(rename = "partitioner.ignore.keys", default)]
    ignore_keys: bool,
    #[serde(rename = "partitioner.rack.aware", default)]
    rack_aware: bool,
    #[serde(rename = "client.rack")]
    rack: Option<String>,
    #[serde(rename = "topic.metadata.refresh.interval.ms")]
    refresh_ms: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Broker {
    id: i32,
    rack: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenPartition {
    id: i32,
    leader: Option<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "op", rename_all = "snake_case")]
enum Event {
    Partition {
        topic: String,
        key: Option<Key>,
        at_ms: Option<i64>,
    },
    OnNewBatch {
        topic: String,
        prev: i32,
    },
    NextPartition {
        topic: String,
        prev: i32,
    },
    Append {
        topic: String,
        bytes: i32,
        enable_switch: bool,
    },
    LoadStats {
        topic: String,
        queue_sizes: Option<Vec<i32>>,
        partition_ids: Vec<i32>,
        leader_racks: Option<Vec<Option<String>>>,
        length: i32,
    },
    Cluster {
        topic: String,
        partitions: Vec<GivenPartition>,
    },
}

/// A record: its topic, partition, key, how many bytes its value has, its time.
#[derive(Deserialize)]
struct Sent(String, Option<i32>, Option<Key>, Option<i32>, i64);

/// Bytes, in hex.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Key(Vec<u8>);

impl TryFrom<String> for Key {
    type Error = ParseIntError;

    fn try_from(hex: String) -> Result<Self, ParseIntError> {
        let pairs = (0..hex.len()).step_by(2);
        pairs.map(|at| u8::from_str_radix(&hex[at..at + 2], 16)).collect::<Result<_, _>>().map(Self)
    }
}

#[derive(Deserialize, Debug)]
#[serde(untagged)]
enum Said {
    Throws { error: String },
    Partition(Option<i32>),
}

#[derive(Deserialize)]
struct Drawn {
    seed: i64,
    draws: Vec<i32>,
}

/// A case's producer, and the names of its topics.
struct Asked<'a> {
    case: &'a Case,
    client: Client,
    names: Vec<String>,
    producer: Producer,
}

impl<'a> Asked<'a> {
    fn new(case: &'a Case) -> Result<Self, Box<dyn Error>> {
        let Configs { batch_size, ignore_keys, rack_aware, refresh_ms, .. } = case.configs;
        let standard = Settings::default();
        let settings = Settings {
            batch_size: batch_size.unwrap_or(standard.batch_size),
            refresh_ms: refresh_ms.unwrap_or(standard.refresh_ms),
            ignore_keys,
            rack_aware,
            ..standard
        };
        let topics = case.topics.iter().map(|(name, given)| case.topic(name, given));
        let topics = topics.collect::<Result<_, _>>()?;
        let draws = Draws::recorded(case.draws.clone());
        let strategy: Strategy = case.strategy.parse()?;
        let producer = Producer::new(strategy, settings, topics, draws)?;
        let names = case.topics.keys().cloned().collect();
        let client: Client = case.client.as_deref().unwrap_or("java").parse()?;
        let client = if strategy == Strategy::OldNullKey { client.of_kafka_0_8() } else { client };
        let mut asked = Self { case, client, names, producer };
        for (name, &counter) in &case.counters {
            let topic = asked.place_of(name)?;
            asked.producer.set_counter(topic, counter);
        }
        Ok(asked)
    }

    /// A topic's place; a topic that the case lacks has no partitions.
    fn place_of(&mut self, name: &str) -> partwright_core::Result<usize> {
        if let Some(place) = self.names.iter().position(|known| known == name) {
            return Ok(place);
        }
        self.names.push(name.to_owned());
        self.producer.set_topic(self.names.len() - 1, Topic::new(name, &[])?);
        Ok(self.names.len() - 1)
    }

    /// The partition of a key, if the key decides.
    fn keyed(&self, topic: usize, key: Option<&Key>) -> Answer {
        match self.producer.asks_key(topic, key.is_some())? {
            Some(partitions) => self.client.partition_for_key(key.map(|key| &key.0[..]), partitions),
            None => Ok(None),
        }
    }

    fn happens(&mut self, event: &Event) -> Answer {
        match event {
            Event::Partition { topic, key, at_ms } => {
                let topic = self.place_of(topic)?;
                let keyed = self.keyed(topic, key.as_ref())?;
                self.producer.partition(topic, keyed, at_ms.unwrap_or_default())
            }
            Event::OnNewBatch { topic, prev } => {
                let topic = self.place_of(topic)?;
                self.producer.on_new_batch(topic, *prev).map(|()| None)
            }
            Event::NextPartition { topic, prev } => {
                let topic = self.place_of(topic)?;
                self.producer.next_partition(topic, *prev).map(Some)
            }
            Event::Append { topic, bytes, enable_switch } => {
                let topic = self.place_of(topic)?;
                self.producer.append(topic, *bytes, *enable_switch).map(Some)
            }
            Event::LoadStats { topic, queue_sizes, partition_ids, leader_racks, length } => {
                let topic = self.place_of(topic)?;
                let is_near = |rack: &Option<String>| rack.is_some() && *rack == self.case.configs.rack;
                let queues = queue_sizes.as_ref().map(|sizes| Queues {
                    sizes: sizes.clone(),
                    ids: partition_ids.clone(),
                    near: leader_racks.as_ref().map(|racks| racks.iter().map(is_near).collect()),
                    length: *length,
                });
                self.producer.load_stats(topic, queues.as_ref()).map(|()| None)
            }
            Event::Cluster { topic, partitions } => {
                let place = self.place_of(topic)?;
                self.producer.set_topic(place, self.case.topic(topic, partitions)?);
                Ok(None)
            }
        }
    }

    fn place(&mut self, Sent(name, partition, key, value_size, at): &Sent) -> Answer {
        let topic = self.place_of(name)?;
        let size =
            |length: Option<usize>| length.map_or(-1, |length| i32::try_from(length).unwrap_or(i32::MAX));
        self.producer.place(&Record {
            topic,
            partition: *partition,
            keyed: self.keyed(topic, key.as_ref())?,
            key_size: size(key.as_ref().map(|key| key.0.len())),
            value_size: value_size.unwrap_or(-1),
            at: *at,
            ..Record::default()
        })
    }
}

impl Case {
    fn topic(&self, name: &str, given: &[GivenPartition]) -> partwright_core::Result<Topic> {
        let rack_of = |leader| self.brokers.iter().find(|broker| broker.id == leader)?.rack.as_ref();
        let partition = |given: &GivenPartition| Partition {
            id: given.id,
            available: given.leader.is_some(),
            near: given.leader.and_then(rack_of).is_some_and(|rack| Some(rack) == self.configs.rack.as_ref()),
        };
        Topic::new(name, &given.iter().map(partition).collect::<Vec<_>>())
    }
}

fn agrees(found: &Answer, said: &Said) -> bool {
    match (found, said) {
        (Ok(found), Said::Partition(said)) => found == said,
        (Err(refused), Said::Throws { error }) => refused.to_string().contains(error),
        _ => false,
    }
}

#[test]
fn kafka_puts_records_there_too() -> Outcome {
    for (file, library, strategies) in FILES {
        let provenance: Provenance = serde_json::from_str(file.lines().next().unwrap_or_default())?;
        assert_eq!(format!("{} {}", provenance.library, provenance.version), library);
        let mut looked_at: BTreeMap<&str, (usize, usize, usize, usize)> = BTreeMap::new();
        let cases: Vec<Case> = file.lines().skip(1).map(serde_json::from_str).collect::<Result<_, _>>()?;
        for (line, case) in cases.iter().enumerate() {
            let mut asked = Asked::new(case)?;
            let found: Vec<_> = case.events.iter().map(|event| asked.happens(event)).collect();
            let placed: Vec<_> = case.records.iter().map(|record| asked.place(record)).collect();
            for (found, said) in [(&found, &case.results), (&placed, &case.placed)] {
                assert_eq!(found.len(), said.len(), "line {line}");
                for (number, (found, said)) in found.iter().zip(said).enumerate() {
                    assert!(agrees(found, said), "line {line}, {number}: {found:?}, but Kafka: {said:?}");
                }
            }
            assert_eq!(asked.producer.drawn(), case.draws.len(), "line {line}");
            let counts = looked_at.entry(&case.strategy).or_default();
            counts.0 += found.len();
            counts.1 += placed.len();
            counts.2 += found.iter().filter(|found| found.is_err()).count();
            counts.3 += case.draws.iter().filter(|&&drawn| drawn < 0).count();
        }
        assert_eq!(looked_at.keys().copied().collect::<Vec<_>>(), strategies);
        for (strategy, (events, records, refused, negative)) in looked_at {
            assert!(events > 200 && refused > 5, "{strategy}: {events} events, {refused} refused");
            assert!(records > 200 || strategy == "old-null-key", "{strategy}: {records} records");
            assert!(
                negative > 10 || strategy.starts_with("round-robin"),
                "{strategy}: {negative} negative draws"
            );
        }
    }
    Ok(())
}

#[test]
fn a_seed_draws_what_java_draws() -> Outcome {
    let seeds: Vec<Drawn> = serde_json::from_str(DRAWS)?;
    assert!(seeds.iter().any(|drawn| drawn.seed < 0) && seeds.len() > 10);
    for Drawn { seed, draws } in seeds {
        let mut seeded = Draws::seeded(seed);
        let found: Vec<i32> = draws.iter().map(|_| seeded.next_int()).collect::<Result<_, _>>()?;
        assert_eq!(found, draws, "{seed}");
        assert_eq!(seeded.taken(), draws.len());
    }
    Ok(())
}

/// `DefaultEventHandler.handle` looks at the clock before it looks at any record's key.
#[test]
fn a_keyed_record_refreshes_the_oldest_producers_metadata() -> Outcome {
    let partitions: Vec<_> = (0..5).map(|id| Partition { id, available: true, near: false }).collect();
    let topic = Topic::new("t", &partitions)?;
    let settings = Settings { refresh_ms: 1000, ..Settings::default() };
    let draws = Draws::recorded(vec![2, 4]);
    let mut producer = Producer::new("old-null-key".parse()?, settings, vec![topic], draws)?;
    assert_eq!(producer.partition(0, Some(1), 0)?, Some(1));
    assert_eq!(producer.partition(0, None, 1000)?, Some(2));
    assert_eq!(producer.partition(0, Some(1), 1001)?, Some(1));
    assert_eq!(producer.partition(0, None, 1001)?, Some(4));
    assert_eq!(producer.partition(0, None, 2001)?, Some(4));
    Ok(())
}
