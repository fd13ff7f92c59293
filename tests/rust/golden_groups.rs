//! A group of the assignors' golden files, and the core's answer for it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use partwright_core::assignors::{Assignment, Assignor, Input, Options};
use partwright_core::java::uuid::TopicId;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

/// Each member's list.
pub(crate) type Lists = BTreeMap<String, Vec<(String, i32)>>;

/// A group with its assignor's answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) assignor: String,
    topics: Ordered<u32>,
    #[serde(default)]
    racks: BTreeMap<String, Vec<Vec<Option<String>>>>,
    #[serde(default)]
    balance_racks: bool,
    members: Vec<Member>,
    pub(crate) assignment: Option<Lists>,
    /// All answers, if a client leaves something to chance.
    #[serde(default)]
    pub(crate) assignments: Vec<Lists>,
    pub(crate) error: Option<String>,
    /// The IDs that the group gives its topics.
    #[serde(default)]
    pub(crate) topic_ids: BTreeMap<String, String>,
    /// The IDs that Java made for other topics.
    #[serde(default)]
    pub(crate) made_ids: BTreeMap<String, String>,
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

/// An object whose order matters.
struct Ordered<T>(Vec<(String, T)>);

impl<T> Ordered<T> {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

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

/// Numbers for names, in the order of their first appearance.
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

/// The core's answer, and whether it is one of several possible ones.
pub(crate) fn assigned(case: &Case, seed: u64) -> Result<(Lists, bool), partwright_core::Error> {
    let (mut topics, mut racks) = (Numbers::default(), Numbers::default());
    let options = Options { seed, balance_racks: case.balance_racks, ..Options::default() };
    let mut input = Input { options, ..Input::default() };
    for topic in case.topics.names() {
        topics.of(topic);
    }
    let members: Vec<_> = case.members.iter().flat_map(threads).collect();
    for (id, member, thread) in &members {
        input.members.push(id);
        input.instance_ids.push(member.instance_id.as_deref());
        input
            .member_racks
            .push(member.rack.as_deref().filter(|rack| !rack.is_empty()).map(|rack| racks.of(rack)));
        input.generations.push(member.generation.unwrap_or(-1));
        input.sends.push(member.owned.is_some());
        let reads = |topic: &&String| member.streams.as_ref().is_none_or(|each| each.has(*thread, topic));
        input.subscribed.values.extend(member.topics.iter().filter(reads).map(|topic| topics.of(topic)));
        input.subscribed.end();
        for (topic, partition) in member.owned.iter().flatten() {
            input.owned.values.push((topics.of(topic), *partition));
        }
        input.owned.end();
    }
    input.partitions = topics.1.iter().map(|topic| case.topics.get(topic).copied().unwrap_or(0)).collect();
    for (topic, &count) in topics.1.iter().zip(&input.partitions) {
        for partition in 0..count as usize {
            let replicas = case.racks.get(*topic).and_then(|racks| racks.get(partition));
            input.racks.values.extend(replicas.into_iter().flatten().flatten().map(|rack| racks.of(rack)));
            input.racks.end();
            let leader = replicas.and_then(|replicas| replicas.first()?.as_deref());
            input.leader_racks.push(leader.map(|rack| racks.of(rack)));
        }
    }
    input.topics.clone_from(&topics.1);
    input.missing = topics.1.iter().map(|topic| case.topics.get(topic).is_none()).collect();
    for topic in &topics.1 {
        input.topic_ids.push(match case.topic_ids.get(*topic) {
            Some(text) => text.parse()?,
            None => TopicId::of_name(topic),
        });
    }
    let Assignment { offsets, topics: numbers, partitions, chance } =
        case.assignor.parse::<Assignor>()?.assign(&input)?;
    let pair = |place: usize| (topics.1[numbers[place] as usize].to_owned(), partitions[place]);
    let list = |(member, id): (usize, &&str)| {
        ((*id).to_owned(), (offsets[member]..offsets[member + 1]).map(pair).collect())
    };
    Ok((input.members.iter().enumerate().map(list).collect(), chance.is_some()))
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
