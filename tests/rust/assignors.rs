//! The assignors' golden files through the core: what Kafka's own assignors said, list for list.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;

use partwright_core::assignors::{Assignment, Assignor, Given, Options};
use partwright_core::java::uuid::{TopicId, walk_ids};
use partwright_core::java::{hash_map, strings, topic_partition};
use serde::Deserialize;

type Outcome = Result<(), Box<dyn Error>>;

const GROUPS: [(&str, usize); 5] = [
    (include_str!("../golden/assignors/client.jsonl"), 4),
    (include_str!("../golden/assignors/client-2.8.jsonl"), 2),
    (include_str!("../golden/assignors/client-2.3.jsonl"), 1),
    (include_str!("../golden/assignors/old.jsonl"), 2),
    (include_str!("../golden/assignors/server.jsonl"), 3),
];
/// Of other clients; where chance has a say, with all answers that there are.
const CLIENT_GROUPS: [&str; 7] = [
    include_str!("../golden/assignors/sarama.jsonl"),
    include_str!("../golden/assignors/sarama-1.27.jsonl"),
    include_str!("../golden/assignors/franz-go.jsonl"),
    include_str!("../golden/assignors/franz-go-1.21.jsonl"),
    include_str!("../golden/assignors/franz-go-1.20.jsonl"),
    include_str!("../golden/assignors/kafka-go.jsonl"),
    include_str!("../golden/assignors/kafkajs.jsonl"),
];
const ORDERS: &str = include_str!("../golden/assignors/java_order.json");
const METADATA_ORDERS: [&str; 2] = [
    include_str!("../golden/strategies/metadata_order.json"),
    include_str!("../golden/strategies/metadata_order-2.8.json"),
];
const PARTITION_ORDERS: &str = include_str!("../golden/assignors/java_partition_order.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    assignor: String,
    topics: BTreeMap<String, u32>,
    #[serde(default)]
    racks: BTreeMap<String, Vec<Vec<Option<String>>>>,
    #[serde(default)]
    balance_racks: bool,
    members: Vec<Member>,
    #[serde(default)]
    assignment: BTreeMap<String, Vec<(String, i32)>>,
    /// All answers, where a client leaves something to chance.
    #[serde(default)]
    assignments: Vec<BTreeMap<String, Vec<(String, i32)>>>,
    error: Option<String>,
    /// Those that the group gives to its topics.
    #[serde(default)]
    topic_ids: BTreeMap<String, String>,
    /// Those that Java made for others.
    #[serde(default)]
    made_ids: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    id: String,
    topics: Vec<String>,
    owned: Option<Vec<(String, i32)>>,
    generation: Option<i32>,
    streams: Option<Streams>,
    instance_id: Option<String>,
    rack: Option<String>,
}

/// How many threads a member has: for all topics, or by topic.
#[derive(Deserialize)]
#[serde(untagged)]
enum Streams {
    All(usize),
    ByTopic(BTreeMap<String, usize>),
}

impl Streams {
    fn threads(&self) -> usize {
        match self {
            Self::All(streams) => *streams,
            Self::ByTopic(streams) => streams.values().copied().max().unwrap_or_default(),
        }
    }

    /// Whether a thread subscribes to a topic of its member.
    fn has(&self, thread: usize, topic: &str) -> bool {
        match self {
            Self::All(_) => true,
            Self::ByTopic(streams) => streams.get(topic).is_some_and(|&streams| thread < streams),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    name: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    ids: Vec<String>,
    hashes: Vec<i32>,
    walk: Vec<u32>,
    sorted: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartitionOrder {
    name: String,
    partitions: Vec<(String, i32)>,
    hashes: Vec<i32>,
    walk: Vec<u32>,
}

/// One of the cases; the first line says who answered.
#[derive(Deserialize)]
#[serde(untagged)]
enum MetadataOrder {
    Case { rounds: Vec<Vec<(String, i32)>>, order: BTreeMap<String, Vec<i32>> },
    Provenance { program: String },
}

/// Numbers for names, in the order in which they are first seen.
#[derive(Default)]
struct Numbers<'a>(HashMap<&'a str, u32>, Vec<&'a str>);

impl<'a> Numbers<'a> {
    fn of(&mut self, name: &'a str) -> u32 {
        let next = u32::try_from(self.1.len()).unwrap_or(u32::MAX);
        let known = &mut self.1;
        *self.0.entry(name).or_insert_with(|| {
            known.push(name);
            next
        })
    }
}

fn assigned(case: &Case, seed: u64) -> Result<BTreeMap<String, Vec<(String, i32)>>, partwright_core::Error> {
    let (mut topics, mut racks) = (Numbers::default(), Numbers::default());
    let options = Options { seed, balance_racks: case.balance_racks, ..Options::default() };
    let mut given = Given { options, ..Given::default() };
    for topic in case.topics.keys() {
        topics.of(topic);
    }
    let members: Vec<_> = case.members.iter().flat_map(threads).collect();
    for (id, member, thread) in &members {
        given.members.push(id);
        given.instance_ids.push(member.instance_id.as_deref());
        given
            .member_racks
            .push(member.rack.as_deref().filter(|rack| !rack.is_empty()).map(|rack| racks.of(rack)));
        given.generations.push(member.generation.unwrap_or(-1));
        given.sends.push(member.owned.is_some());
        let reads = |topic: &&String| member.streams.as_ref().is_none_or(|each| each.has(*thread, topic));
        given.subscribed.values.extend(member.topics.iter().filter(reads).map(|topic| topics.of(topic)));
        given.subscribed.end();
        for (topic, partition) in member.owned.iter().flatten() {
            given.owned.values.push((topics.of(topic), *partition));
        }
        given.owned.end();
    }
    given.partitions = topics.1.iter().map(|topic| case.topics.get(*topic).copied().unwrap_or(0)).collect();
    for (topic, &count) in topics.1.iter().zip(&given.partitions) {
        for partition in 0..count as usize {
            let replicas = case.racks.get(*topic).and_then(|racks| racks.get(partition));
            given.racks.values.extend(replicas.into_iter().flatten().flatten().map(|rack| racks.of(rack)));
            given.racks.end();
            let leader = replicas.and_then(|replicas| replicas.first()?.as_deref());
            given.leader_racks.push(leader.map(|rack| racks.of(rack)));
        }
    }
    given.topics.clone_from(&topics.1);
    given.missing = topics.1.iter().map(|topic| !case.topics.contains_key(*topic)).collect();
    for topic in &topics.1 {
        given.topic_ids.push(match case.topic_ids.get(*topic) {
            Some(text) => text.parse()?,
            None => TopicId::of_name(topic),
        });
    }
    let Assignment { offsets, topics: numbers, partitions, .. } =
        case.assignor.parse::<Assignor>()?.assign(&given)?;
    let pair = |place: usize| (topics.1[numbers[place] as usize].to_owned(), partitions[place]);
    Ok(given
        .members
        .iter()
        .enumerate()
        .map(|(member, id)| ((*id).to_owned(), (offsets[member]..offsets[member + 1]).map(pair).collect()))
        .collect())
}

/// A member, once for each of its threads, with the thread's number.
fn threads(member: &Member) -> Vec<(String, &Member, usize)> {
    match &member.streams {
        None => vec![(member.id.clone(), member, 0)],
        Some(streams) => {
            (0..streams.threads()).map(|thread| (format!("{}-{thread}", member.id), member, thread)).collect()
        }
    }
}

#[test]
fn kafka_assigns_the_same() -> Outcome {
    for (groups, assignors) in GROUPS {
        let mut looked_at = BTreeMap::new();
        for (line, text) in groups.lines().enumerate().skip(1) {
            let case: Case = serde_json::from_str(text)?;
            *looked_at.entry(case.assignor.clone()).or_insert(0) += 1;
            match (assigned(&case, 0), &case.error) {
                (Ok(lists), None) => assert_eq!(lists, case.assignment, "line {line}: {text}"),
                (Err(refused), Some(exception)) => {
                    assert!(
                        refused.to_string().contains(exception),
                        "line {line}: {refused}, not {exception}"
                    );
                }
                (answer, _) => panic!("line {line}: {answer:?}, but Kafka says {:?}: {text}", case.error),
            }
            for (name, text) in &case.made_ids {
                assert_eq!(&TopicId::of_name(name).to_string(), text, "{name}");
            }
            for text in case.topic_ids.values() {
                assert_eq!(&text.parse::<TopicId>()?.to_string(), text);
            }
        }
        assert_eq!(looked_at.len(), assignors);
        assert!(looked_at.values().all(|&cases| cases > 60), "{looked_at:?}");
    }
    Ok(())
}

#[test]
fn other_clients_assign_the_same() -> Outcome {
    for groups in CLIENT_GROUPS {
        let mut looked_at = 0;
        for (line, text) in groups.lines().enumerate().skip(1) {
            let case: Case = serde_json::from_str(text)?;
            looked_at += 1;
            for seed in 0..10 {
                match (assigned(&case, seed), &case.error) {
                    (Ok(lists), None) => assert!(
                        lists == case.assignment || case.assignments.contains(&lists),
                        "line {line}, seed {seed}: {lists:?}, not {text}"
                    ),
                    (Err(_), Some(_)) => {}
                    (answer, _) => panic!("line {line}: {answer:?}, not {text}"),
                }
            }
        }
        assert!(looked_at > 40);
    }
    Ok(())
}

#[test]
fn an_id_that_kafka_does_not_write_is_refused() {
    for text in [
        "",
        "t",
        "qqLWNgD3cE5N4Q9mk2oxj",
        "qqLWNgD3cE5N4Q9mk2oxjQ=",
        "qqLWNgD3cE5N4Q9mk2oxj+",
        "qqLWNgD3cE5N4Q9mk2oxj\u{e9}",
    ] {
        let refused = text.parse::<TopicId>().expect_err(text);
        assert!(refused.to_string().contains("is no topic id"), "{refused}");
    }
}

#[test]
fn java_walks_and_sorts_ids_in_these_orders() -> Outcome {
    let orders: Vec<Order> = serde_json::from_str(ORDERS)?;
    let orders: Vec<Order> = orders.into_iter().filter(|order| order.name.starts_with("ids/")).collect();
    assert!(orders.len() > 25);
    for Order { name, ids, hashes, walk, sorted, .. } in orders {
        let ids: Vec<TopicId> = ids.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        let found: Vec<i32> = ids.iter().map(|id| id.hash_code()).collect();
        assert_eq!(found, hashes, "{name}");
        let inserted: Vec<u32> = (0..).take(ids.len()).collect();
        assert_eq!(walk_ids(&ids, &inserted), walk, "{name}");
        let mut found = inserted;
        found.sort_by_key(|&place| ids[place as usize]);
        assert_eq!(found, sorted, "{name}");
    }
    Ok(())
}

#[test]
fn java_walks_and_sorts_in_these_orders() -> Outcome {
    let orders: Vec<Order> = serde_json::from_str(ORDERS)?;
    let orders: Vec<Order> = orders.into_iter().filter(|order| !order.name.starts_with("ids/")).collect();
    assert!(orders.len() > 70);
    for Order { name, names, hashes, walk, sorted, .. } in orders {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found: Vec<i32> = names.iter().map(|name| strings::hash_code(name)).collect();
        assert_eq!(found, hashes, "{name}");
        let mut found: Vec<u32> = (0..).take(names.len()).collect();
        found.sort_by(|&one, &other| strings::compare(names[one as usize], names[other as usize]));
        assert_eq!(found, sorted, "{name}");
        assert_eq!(walked(&hashes, &sorted), walk, "{name}");
    }
    Ok(())
}

/// The walk of keys that are put in their order, of which `sorted` says how they compare.
fn walked(hashes: &[i32], sorted: &[u32]) -> Vec<u32> {
    let hashes: Vec<_> = sorted.iter().map(|&place| hashes[place as usize]).collect();
    let mut numbers: Vec<(u32, u32)> = sorted.iter().copied().zip(0..).collect();
    numbers.sort_unstable();
    let inserted: Vec<_> = numbers.into_iter().map(|(_, number)| number).collect();
    hash_map::walk(&hashes, &inserted).into_iter().map(|number| sorted[number as usize]).collect()
}

#[test]
fn java_walks_partitions_in_these_orders() -> Outcome {
    let orders: Vec<PartitionOrder> = serde_json::from_str(PARTITION_ORDERS)?;
    assert!(orders.len() > 15);
    for PartitionOrder { name, partitions, hashes, walk } in orders {
        let hash = |(topic, number): &(String, i32)| {
            topic_partition::partition_hash(strings::hash_code(topic), *number)
        };
        assert_eq!(partitions.iter().map(hash).collect::<Vec<_>>(), hashes, "{name}");
        let inserted: Vec<u32> = (0..).take(hashes.len()).collect();
        assert_eq!(hash_map::walk(&hashes, &inserted), walk, "{name}");
    }
    Ok(())
}

#[test]
fn a_clients_metadata_has_partitions_in_these_orders() -> Outcome {
    for orders in METADATA_ORDERS {
        let mut programs = Vec::new();
        let mut cases = 0;
        for line in serde_json::from_str::<Vec<MetadataOrder>>(orders)? {
            let (rounds, order) = match line {
                MetadataOrder::Case { rounds, order } => (rounds.concat(), order),
                MetadataOrder::Provenance { program } => {
                    programs.push(program);
                    continue;
                }
            };
            let ids: Vec<Vec<i32>> = rounds.iter().map(|&(_, count)| (0..count).collect()).collect();
            let topics: Vec<_> =
                rounds.iter().zip(&ids).map(|((name, _), ids)| (name.as_str(), ids.as_slice())).collect();
            let wanted: Vec<_> = rounds.iter().map(|(name, _)| order[name].clone()).collect();
            assert_eq!(topic_partition::walk_partitions(&topics), wanted, "{rounds:?}");
            cases += 1;
        }
        assert_eq!(programs.len(), 1);
        assert!(cases > 90);
    }
    Ok(())
}
