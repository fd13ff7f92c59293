//! The golden files of other clients' assignors through the core: what the real clients said, list for list.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::Path;

use partwright_core::assignors::{Assignment, Assignor, Given, Options};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

type Outcome = Result<(), Box<dyn Error>>;
type Lists = BTreeMap<String, Vec<(String, i32)>>;

/// What one run of a client gives by chance is looked for among as many of ours.
const SEEDS: u64 = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    assignor: String,
    topics: Ordered<u32>,
    #[serde(default)]
    racks: BTreeMap<String, Vec<Vec<Option<String>>>>,
    #[serde(default)]
    balance_racks: bool,
    members: Vec<Member>,
    assignment: Option<Lists>,
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

/// An object whose order counts.
struct Ordered<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Ordered<T>;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(std::marker::PhantomData))
    }
}

/// A name's place among those seen before, or the next.
fn place<'a>(names: &mut Vec<&'a str>, name: &'a str) -> u32 {
    let found = names.iter().position(|&other| other == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    u32::try_from(found).unwrap_or(u32::MAX)
}

fn assigned(case: &Case, seed: u64) -> Result<(Lists, bool), partwright_core::Error> {
    let (mut topics, mut racks) = (Vec::new(), Vec::new());
    let mut given = Given::default();
    for (topic, _) in &case.topics.0 {
        place(&mut topics, topic);
    }
    for member in &case.members {
        given.members.push(&member.id);
        given.instance_ids.push(member.instance_id.as_deref());
        let rack = member.rack.as_deref().filter(|rack| !rack.is_empty());
        given.member_racks.push(rack.map(|rack| place(&mut racks, rack)));
        given.generations.push(member.generation.unwrap_or(-1));
        given.sends.push(member.owned.is_some());
        given.subscribed.values.extend(member.topics.iter().map(|topic| place(&mut topics, topic)));
        given.subscribed.end();
        for (topic, partition) in member.owned.iter().flatten() {
            given.owned.values.push((place(&mut topics, topic), *partition));
        }
        given.owned.end();
    }
    for topic in &topics {
        let known = case.topics.0.iter().find(|(name, _)| name == topic);
        let count = known.map_or(0, |&(_, count)| count);
        given.partitions.push(count);
        given.missing.push(known.is_none());
        for partition in 0..count as usize {
            let replicas = case.racks.get(*topic).and_then(|racks| racks.get(partition));
            given
                .racks
                .values
                .extend(replicas.into_iter().flatten().flatten().map(|rack| place(&mut racks, rack)));
            given.racks.end();
        }
    }
    given.topics.clone_from(&topics);
    given.options = Options { seed, balance_racks: case.balance_racks, ..Options::default() };
    let Assignment { offsets, topics: numbers, partitions, chance } =
        case.assignor.parse::<Assignor>()?.assign(&given)?;
    let pair = |place: usize| (topics[numbers[place] as usize].to_owned(), partitions[place]);
    let list = |(member, id): (usize, &&str)| {
        ((*id).to_owned(), (offsets[member]..offsets[member + 1]).map(pair).collect())
    };
    Ok((given.members.iter().enumerate().map(list).collect(), chance.is_some()))
}

#[test]
fn each_client_assigns_the_same() -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/assignors/clients");
    let mut looked_at = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let file = file?.path();
        for (line, text) in std::fs::read_to_string(&file)?.lines().enumerate() {
            if !text.starts_with("{\"assignor\"") {
                // It says which client and version answers from here on.
                continue;
            }
            let case: Case = serde_json::from_str(text)?;
            *looked_at.entry(case.assignor.clone()).or_insert(0) += 1;
            let where_ = format!("{}, line {}, {}", file.display(), line + 1, case.assignor);
            match (assigned(&case, 0), &case.assignment, &case.error) {
                (Ok((lists, has_chance)), Some(said), None) => {
                    let reaches = || {
                        (1..SEEDS).any(|seed| assigned(&case, seed).is_ok_and(|(lists, _)| lists == *said))
                    };
                    if lists != *said && !(has_chance && reaches()) {
                        wrong.push(format!("{where_}: {lists:?}, but the client gives {said:?}: {text}"));
                    }
                }
                (Err(refused), None, Some(error)) if refused.to_string().contains(error) => {}
                (answer, ..) => wrong.push(format!("{where_}: {answer:?}: {text}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} answers differ, as {}", wrong.len(), wrong[0]);
    // What Go's clients and kafkajs said is in `assignors.rs`.
    let elsewhere = ["sarama:", "franz-go:", "kafka-go:", "kafkajs:"];
    let here = |name: &&str| !elsewhere.iter().any(|client| name.starts_with(client));
    for assignor in Assignor::of_other_clients().map(Assignor::name).filter(here) {
        assert!(looked_at.get(assignor).is_some_and(|&cases| cases > 60), "{assignor}: {looked_at:?}");
    }
    Ok(())
}
