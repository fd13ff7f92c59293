//! A group as numbers: topics and members by the order of their names, partitions by topic and number.

use std::collections::BTreeMap;

use super::Assignment;
use super::java_order::{NONE, Walker, compare};
use super::lists::Lists;
use super::topic_id::TopicId;
use crate::{Error, Result};

/// As many partitions as one group may have: some gigabytes of numbers, and a hundred times a large cluster's.
pub const MOST_PARTITIONS: u32 = 1 << 27;

/// A group in columns, as a caller has it.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    /// The topics' names, each once, in the order in which a broker's metadata would list them.
    pub topics: Vec<&'a str>,
    /// How many partitions each topic has; none where the broker does not know it.
    pub partitions: Vec<u32>,
    /// By topic and partition, one topic behind the other, the racks of the replicas; no lists where there are none.
    pub racks: Lists<u32>,
    /// The members' ids, each once, in the order in which they are put into Java's map.
    pub members: Vec<&'a str>,
    /// Each member's `group.instance.id`.
    pub instance_ids: Vec<Option<&'a str>>,
    /// Each member's `client.rack`.
    pub member_racks: Vec<Option<u32>>,
    /// Each member's subscription, as places in `topics`.
    pub subscribed: Lists<u32>,
    /// Whether each member says at all what it owns.
    pub sends: Vec<bool>,
    /// What each member says that it owns: a place in `topics`, and a partition.
    pub owned: Lists<(u32, i32)>,
    /// The generation in which it came to own that, -1 where it does not know.
    pub generations: Vec<i32>,
    /// Of the one topic's partitions, the order in which `old-roundrobin` deals them; empty where the topic's own
    /// order counts.
    pub order: Vec<u32>,
    /// The topics' ids, for the broker's assignors alone.
    pub topic_ids: Vec<TopicId>,
    /// Whether each topic is not there at all, for the broker's assignors alone.
    pub missing: Vec<bool>,
}

/// A group in the core's own numbers. Topics that nobody subscribes to, or that have no partitions, have none here.
#[derive(Debug)]
pub struct Group<'a> {
    /// The names of topics, sorted as Java sorts them.
    pub(super) topics: Vec<&'a str>,
    /// The first partition of each topic, and the end of the last one's.
    pub(super) starts: Vec<u32>,
    /// The topic of each partition.
    pub(super) topic_of: Vec<u32>,
    /// Partitions that members own past a topic's count; they are numbered behind all others.
    beyond: Vec<(u32, i32)>,
    /// The order in which Java walks the map of members.
    pub(super) walk: Vec<u32>,
    /// The order in which it walks a map that was filled in the order of the first.
    pub(super) second_walk: Vec<u32>,
    /// Each member's subscription as it was given.
    pub(super) subscribed: Lists<u32>,
    /// What each member owns, in the order given: a topic, and a partition, or `NONE` where the topic is not there.
    pub(super) owned: Lists<(u32, u32)>,
    /// The partitions' numbers in their topics where those are not there, in the order of `owned`.
    pub(super) absent: Vec<i32>,
    pub(super) generations: Vec<i32>,
    pub(super) sends: Vec<bool>,
    /// The place of a member's instance id among all of them; equal ids have equal places.
    pub(super) instances: Vec<Option<u32>>,
    pub(super) member_racks: Vec<Option<u32>>,
    racks: Option<Lists<u32>>,
    /// Of the one topic's partitions, the order in which `old-roundrobin` deals them, if it is given.
    pub(super) order: Vec<u32>,
    given_topics: Vec<u32>,
    given_members: Vec<u32>,
}

impl<'a> Group<'a> {
    /// Takes a group through the door: names become numbers.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`] where members subscribe to more than [`MOST_PARTITIONS`].
    pub fn new(given: &Given<'a>) -> Result<Self> {
        let (given_topics, topic) = sorted(&given.topics);
        let (given_members, member) = sorted(&given.members);
        let topics: Vec<_> = given_topics.iter().map(|&place| given.topics[place as usize]).collect();
        let members: Vec<_> = given_members.iter().map(|&place| given.members[place as usize]).collect();
        let mut walker = Walker::of_names(&members);
        let order = walker.walk(&member);
        let mut group = Self {
            second_walk: walker.walk(&order),
            walk: order,
            subscribed: Lists::default(),
            owned: Lists::default(),
            absent: Vec::new(),
            generations: by(&given_members, &given.generations),
            sends: by(&given_members, &given.sends),
            instances: ranks(&by(&given_members, &given.instance_ids)),
            member_racks: by(&given_members, &given.member_racks),
            racks: None,
            order: given.order.clone(),
            starts: vec![0],
            topic_of: Vec::new(),
            beyond: Vec::new(),
            topics,
            given_topics,
            given_members,
        };
        for &place in &group.given_members {
            let subscribed = given.subscribed.get(place as usize);
            group.subscribed.values.extend(subscribed.iter().map(|&place| topic[place as usize]));
            group.subscribed.end();
        }
        group.number_partitions(given)?;
        group.take_racks(given);
        group.take_owned(given, &topic);
        Ok(group)
    }

    fn number_partitions(&mut self, given: &Given<'_>) -> Result<()> {
        let mut wanted = vec![false; self.topics.len()];
        for &topic in &self.subscribed.values {
            wanted[topic as usize] = true;
        }
        let (mut end, mut number) = (0_u32, 0_u32);
        for (&place, wanted) in self.given_topics.iter().zip(wanted) {
            let count = if wanted { given.partitions[place as usize] } else { 0 };
            end = end
                .checked_add(count)
                .filter(|&end| end <= MOST_PARTITIONS)
                .ok_or(Error::TooManyPartitions { most: MOST_PARTITIONS })?;
            self.starts.push(end);
            self.topic_of.resize(end as usize, number);
            number += 1;
        }
        Ok(())
    }

    fn take_racks(&mut self, given: &Given<'_>) {
        if given.racks.is_empty() || self.member_racks.iter().all(Option::is_none) {
            return;
        }
        let mut first = vec![0];
        for &count in &given.partitions {
            first.push(first[first.len() - 1] + count as usize);
        }
        let mut racks = Lists::default();
        for (topic, &place) in self.given_topics.iter().enumerate() {
            for partition in 0..self.count(topic) as usize {
                let start = racks.values.len();
                for &rack in given.racks.get(first[place as usize] + partition) {
                    if !racks.values[start..].contains(&rack) {
                        racks.values.push(rack);
                    }
                }
                racks.end();
            }
        }
        self.racks = Some(racks);
    }

    fn take_owned(&mut self, given: &Given<'_>, topic: &[u32]) {
        let mut beyond = BTreeMap::new();
        self.owned.values.reserve(given.owned.values.len());
        for &place in &self.given_members {
            for &(place, partition) in given.owned.get(place as usize) {
                let topic = topic[place as usize];
                let (start, count) = (self.starts[topic as usize], self.count(topic as usize));
                let number = match u32::try_from(partition) {
                    _ if count == 0 => {
                        self.absent.push(partition);
                        NONE
                    }
                    Ok(partition) if partition < count => start + partition,
                    _ => *beyond.entry((topic, partition)).or_insert_with(|| {
                        self.beyond.push((topic, partition));
                        self.topic_of.push(topic);
                        u32::try_from(self.topic_of.len() - 1).unwrap_or(NONE)
                    }),
                };
                self.owned.values.push((topic, number));
            }
            self.owned.end();
        }
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        self.walk.len()
    }

    /// How many partitions a topic has.
    pub(super) fn count(&self, topic: usize) -> u32 {
        self.starts[topic + 1] - self.starts[topic]
    }

    /// How many partitions there are.
    pub(super) fn partitions(&self) -> u32 {
        self.starts[self.topics.len()]
    }

    /// The same, with those past a topic's count.
    pub(super) fn partitions_and_beyond(&self) -> usize {
        self.topic_of.len()
    }

    /// Whether a partition is past its topic's count.
    pub(super) fn is_beyond(&self, partition: u32) -> bool {
        partition >= self.partitions()
    }

    /// The partition's number in its topic.
    pub(super) fn number(&self, partition: u32) -> i32 {
        if self.is_beyond(partition) {
            self.beyond[(partition - self.partitions()) as usize].1
        } else {
            (partition - self.starts[self.topic_of[partition as usize] as usize]).cast_signed()
        }
    }

    /// Whether members and replicas have racks.
    pub(super) fn has_racks(&self) -> bool {
        self.racks.is_some()
    }

    /// The racks of a partition's replicas, each once.
    pub(super) fn racks(&self, partition: u32) -> &[u32] {
        match &self.racks {
            Some(racks) if !self.is_beyond(partition) => racks.get(partition as usize),
            _ => &[],
        }
    }

    /// Members as the assignors that know static membership sort them (`MemberInfo`): those with an instance id first
    /// and by it, the others by their ids.
    pub(super) fn static_first(&self) -> Vec<u32> {
        let mut members = self.walk.clone();
        members.sort_by_key(|&member| match self.instances[member as usize] {
            Some(instance) => (false, instance),
            None => (true, member),
        });
        members
    }

    /// The order in which Java walks the map of topics with partitions, which is filled from a set of all those that
    /// are subscribed to.
    pub(super) fn topic_walk(&self) -> Vec<u32> {
        let mut seen = vec![false; self.topics.len()];
        let mut inserted = Vec::new();
        for &member in &self.walk {
            for &topic in self.subscribed.get(member as usize) {
                if !std::mem::replace(&mut seen[topic as usize], true) {
                    inserted.push(topic);
                }
            }
        }
        let mut walker = Walker::of_names(&self.topics);
        let mut known = walker.walk(&inserted);
        known.retain(|&topic| self.count(topic as usize) > 0);
        walker.walk(&known)
    }

    /// An assignment in the numbers of what was given.
    pub(super) fn named(&self, lists: &Lists<u32>) -> Assignment {
        let mut members = vec![0_u32; self.members()];
        for (member, &place) in (0..).zip(&self.given_members) {
            members[place as usize] = member;
        }
        let mut named = Assignment {
            offsets: vec![0],
            topics: Vec::with_capacity(lists.values.len()),
            partitions: Vec::with_capacity(lists.values.len()),
        };
        for member in members {
            for &partition in lists.get(member as usize) {
                named.topics.push(self.given_topics[self.topic_of[partition as usize] as usize]);
                named.partitions.push(self.number(partition));
            }
            named.offsets.push(named.topics.len());
        }
        named
    }
}

/// The places of names in their sorted order, and each place's place in that order.
pub(super) fn sorted(names: &[&str]) -> (Vec<u32>, Vec<u32>) {
    let mut places: Vec<u32> = (0..).take(names.len()).collect();
    places.sort_by(|&one, &other| compare(names[one as usize], names[other as usize]));
    let mut numbers = vec![0; names.len()];
    for (number, &place) in (0..).zip(&places) {
        numbers[place as usize] = number;
    }
    (places, numbers)
}

/// Values in another order.
pub(super) fn by<T: Copy>(places: &[u32], values: &[T]) -> Vec<T> {
    places.iter().map(|&place| values[place as usize]).collect()
}

/// The place of each id among all of them, as Java sorts them; equal ids have equal places.
pub(super) fn ranks(ids: &[Option<&str>]) -> Vec<Option<u32>> {
    let mut known: Vec<&str> = ids.iter().copied().flatten().collect();
    known.sort_by(|one, other| compare(one, other));
    known.dedup();
    let rank = |id| known.binary_search_by(|other| compare(other, id)).ok();
    ids.iter().map(|id| id.and_then(rank).and_then(|rank| u32::try_from(rank).ok())).collect()
}
