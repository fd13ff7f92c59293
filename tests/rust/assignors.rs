//! The assignors' golden files through the core: what Kafka's own assignors said, list for list.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;

use partwright_core::assignors::{Assignment, Assignor, Given, Group, java_order};
use serde::Deserialize;

type Outcome = Result<(), Box<dyn Error>>;

const GROUPS: &str = include_str!("../golden/assignors/client.jsonl");
const ORDERS: &str = include_str!("../golden/assignors/java_order.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    assignor: String,
    topics: BTreeMap<String, u32>,
    #[serde(default)]
    racks: BTreeMap<String, Vec<Vec<Option<String>>>>,
    members: Vec<Member>,
    #[serde(default)]
    assignment: BTreeMap<String, Vec<(String, i32)>>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    id: String,
    topics: Vec<String>,
    owned: Option<Vec<(String, i32)>>,
    generation: Option<i32>,
    instance_id: Option<String>,
    rack: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    name: String,
    names: Vec<String>,
    hashes: Vec<i32>,
    walk: Vec<u32>,
    sorted: Vec<u32>,
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

fn assigned(case: &Case) -> Result<BTreeMap<String, Vec<(String, i32)>>, partwright_core::Error> {
    let (mut topics, mut racks) = (Numbers::default(), Numbers::default());
    let mut given = Given::default();
    for topic in case.topics.keys() {
        topics.of(topic);
    }
    for member in &case.members {
        given.members.push(&member.id);
        given.instance_ids.push(member.instance_id.as_deref());
        given
            .member_racks
            .push(member.rack.as_deref().filter(|rack| !rack.is_empty()).map(|rack| racks.of(rack)));
        given.generations.push(member.generation.unwrap_or(-1));
        given.sends.push(member.owned.is_some());
        given.subscribed.values.extend(member.topics.iter().map(|topic| topics.of(topic)));
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
        }
    }
    given.topics.clone_from(&topics.1);
    let Assignment { offsets, topics: numbers, partitions } =
        case.assignor.parse::<Assignor>()?.assign(&Group::new(&given)?)?;
    let pair = |place: usize| (topics.1[numbers[place] as usize].to_owned(), partitions[place]);
    Ok(given
        .members
        .iter()
        .enumerate()
        .map(|(member, id)| ((*id).to_owned(), (offsets[member]..offsets[member + 1]).map(pair).collect()))
        .collect())
}

#[test]
fn kafka_assigns_the_same() -> Outcome {
    let mut looked_at = BTreeMap::new();
    for (line, text) in GROUPS.lines().enumerate().skip(1) {
        let case: Case = serde_json::from_str(text)?;
        *looked_at.entry(case.assignor.clone()).or_insert(0) += 1;
        match (assigned(&case), &case.error) {
            (Ok(lists), None) => assert_eq!(lists, case.assignment, "line {line}: {text}"),
            (Err(refused), Some(exception)) => {
                assert!(refused.to_string().contains(exception), "line {line}: {refused}, not {exception}");
            }
            (answer, _) => panic!("line {line}: {answer:?}, but Kafka says {:?}: {text}", case.error),
        }
    }
    assert_eq!(looked_at.len(), 4);
    assert!(looked_at.values().all(|&cases| cases > 100), "{looked_at:?}");
    Ok(())
}

#[test]
fn java_walks_and_sorts_in_these_orders() -> Outcome {
    let orders: Vec<Order> = serde_json::from_str(ORDERS)?;
    assert!(orders.len() > 70);
    for Order { name, names, hashes, walk, sorted } in orders {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found: Vec<i32> = names.iter().map(|name| java_order::hash_code(name)).collect();
        assert_eq!(found, hashes, "{name}");
        let inserted: Vec<u32> = (0..).take(names.len()).collect();
        assert_eq!(java_order::walk(&names, &inserted), walk, "{name}");
        let mut found = inserted;
        found.sort_by(|&one, &other| java_order::compare(names[one as usize], names[other as usize]));
        assert_eq!(found, sorted, "{name}");
    }
    Ok(())
}
