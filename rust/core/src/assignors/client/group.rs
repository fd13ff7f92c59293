//! A group as numbers: topics and members by the order of their names, partitions by topic and number.

use std::collections::BTreeMap;

use super::subscribed::Subscribed;
use crate::assignors::input::{Input, MOST_PARTITIONS, NONE};
use crate::assignors::{Assignment, Lists};
use crate::java::hash_map::Walker;
use crate::java::strings::{by, ranks, sorted};
use crate::{Error, Result};

/// A group in the core's own numbers. Topics without subscribers or without partitions have no number.
#[derive(Debug)]
pub struct JavaGroup<'a> {
    /// The names of topics, sorted as Java sorts them.
    pub(crate) topics: Vec<&'a str>,
    /// The first partition of each topic, and the end of the last topic.
    pub(crate) starts: Vec<u32>,
    /// The topic of each partition.
    pub(crate) topic_of: Vec<u32>,
    /// Partitions that members own beyond a topic's count; they are numbered after all others.
    beyond: Vec<(u32, i32)>,
    /// The order in which Java walks the map of members.
    pub(crate) walk: Vec<u32>,
    /// The order in which it walks a map that was filled in the order of the first.
    pub(crate) second_walk: Vec<u32>,
    /// Each member's subscription as it was given.
    pub(crate) subscribed: Subscribed,
    /// What each member owns, in the order given: a topic, and a partition, or `NONE` if the topic is missing.
    pub(crate) owned: Lists<(u32, u32)>,
    /// The partitions' numbers in topics that are missing, in the order of `owned`.
    pub(crate) absent: Vec<i32>,
    pub(crate) generations: Vec<i32>,
    pub(crate) sends: Vec<bool>,
    /// The place of a member's instance id among all of them; equal ids have equal places.
    pub(crate) instances: Vec<Option<u32>>,
    pub(crate) member_racks: Vec<Option<u32>>,
    racks: Option<Lists<u32>>,
    /// The order in which `old-roundrobin` deals the one topic's partitions, if it is given.
    pub(crate) order: Vec<u32>,
    topic_places: Vec<u32>,
    member_places: Vec<u32>,
}

impl<'a> JavaGroup<'a> {
    /// Takes a group and turns names into numbers.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`] if members subscribe to more than [`MOST_PARTITIONS`].
    pub fn new(input: &Input<'a>) -> Result<Self> {
        let (topic_places, topic) = sorted(&input.topics);
        let (member_places, member) = sorted(&input.members);
        let topics: Vec<_> = topic_places.iter().map(|&place| input.topics[place as usize]).collect();
        let members: Vec<_> = member_places.iter().map(|&place| input.members[place as usize]).collect();
        let mut walker = Walker::of_names(&members);
        let order = walker.walk(&member);
        let mut group = Self {
            second_walk: walker.walk(&order),
            walk: order,
            subscribed: Subscribed::new(input, &member_places, &topic),
            owned: Lists::default(),
            absent: Vec::new(),
            generations: by(&member_places, &input.generations),
            sends: by(&member_places, &input.sends),
            instances: ranks(&by(&member_places, &input.instance_ids)),
            member_racks: by(&member_places, &input.member_racks),
            racks: None,
            order: input.order.clone(),
            starts: vec![0],
            topic_of: Vec::new(),
            beyond: Vec::new(),
            topics,
            topic_places,
            member_places,
        };
        group.number_partitions(input)?;
        group.take_racks(input);
        group.take_owned(input, &topic);
        Ok(group)
    }

    fn number_partitions(&mut self, input: &Input<'_>) -> Result<()> {
        let mut is_read = vec![false; self.topics.len()];
        for &topic in self.subscribed.named() {
            is_read[topic as usize] = true;
        }
        let mut end = 0_u32;
        for (&place, is_read) in self.topic_places.iter().zip(is_read) {
            let count = if is_read { input.partitions[place as usize] } else { 0 };
            end = end
                .checked_add(count)
                .filter(|&end| end <= MOST_PARTITIONS)
                .ok_or(Error::TooManyPartitions { most: MOST_PARTITIONS })?;
            self.starts.push(end);
        }
        // Memory is allocated only now that their number was checked.
        self.topic_of.reserve(end as usize);
        for (number, &end) in (0..).zip(&self.starts[1..]) {
            self.topic_of.resize(end as usize, number);
        }
        Ok(())
    }

    fn take_racks(&mut self, input: &Input<'_>) {
        if input.racks.is_empty() || self.member_racks.iter().all(Option::is_none) {
            return;
        }
        let mut first = vec![0];
        for &count in &input.partitions {
            first.push(first[first.len() - 1] + count as usize);
        }
        let mut racks = Lists::default();
        for (topic, &place) in self.topic_places.iter().enumerate() {
            for partition in 0..self.count(topic) as usize {
                let start = racks.values.len();
                for &rack in input.racks.get(first[place as usize] + partition) {
                    if !racks.values[start..].contains(&rack) {
                        racks.values.push(rack);
                    }
                }
                racks.end();
            }
        }
        self.racks = Some(racks);
    }

    fn take_owned(&mut self, input: &Input<'_>, topic: &[u32]) {
        let mut beyond = BTreeMap::new();
        self.owned.values.reserve(input.owned.values.len());
        for &place in &self.member_places {
            for &(place, partition) in input.owned.get(place as usize) {
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
    pub(crate) fn members(&self) -> usize {
        self.walk.len()
    }

    /// Members by their IDs, in which order they are numbered.
    pub(crate) fn by_id(&self) -> Vec<u32> {
        (0..).take(self.members()).collect()
    }

    /// How many partitions a topic has.
    pub(crate) fn count(&self, topic: usize) -> u32 {
        self.starts[topic + 1] - self.starts[topic]
    }

    /// How many partitions there are.
    pub(crate) fn partitions(&self) -> u32 {
        self.starts[self.topics.len()]
    }

    /// The same, with those beyond a topic's count.
    pub(crate) fn partitions_and_beyond(&self) -> usize {
        self.topic_of.len()
    }

    /// Whether a partition is beyond its topic's count.
    pub(crate) fn is_beyond(&self, partition: u32) -> bool {
        partition >= self.partitions()
    }

    /// The partition's number in its topic.
    pub(crate) fn number(&self, partition: u32) -> i32 {
        if self.is_beyond(partition) {
            self.beyond[(partition - self.partitions()) as usize].1
        } else {
            (partition - self.starts[self.topic_of[partition as usize] as usize]).cast_signed()
        }
    }

    /// Whether members and replicas have racks.
    pub(crate) fn has_racks(&self) -> bool {
        self.racks.is_some()
    }

    /// The racks of a partition's replicas, each once.
    pub(crate) fn racks(&self, partition: u32) -> &[u32] {
        match &self.racks {
            Some(racks) if !self.is_beyond(partition) => racks.get(partition as usize),
            _ => &[],
        }
    }

    /// Members in the order of the assignors that know static membership (`MemberInfo`): first those with an instance
    /// ID, by that, then the others by their IDs.
    pub(crate) fn static_first(&self) -> Vec<u32> {
        let mut members = self.walk.clone();
        members.sort_by_key(|&member| match self.instances[member as usize] {
            Some(instance) => (false, instance),
            None => (true, member),
        });
        members
    }

    /// The order in which Java walks the map of topics with partitions, which is filled from the set of all subscribed
    /// topics.
    pub(crate) fn topic_walk(&self) -> Vec<u32> {
        let mut seen = vec![false; self.topics.len()];
        let mut inserted = Vec::new();
        let mut lists = vec![false; self.subscribed.distinct()];
        for &member in &self.walk {
            if std::mem::replace(&mut lists[self.subscribed.list(member)], true) {
                continue;
            }
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

    /// An assignment in the numbers of the input.
    pub(crate) fn named(&self, lists: &Lists<u32>) -> Assignment {
        let mut members = vec![0_u32; self.members()];
        for (member, &place) in (0..).zip(&self.member_places) {
            members[place as usize] = member;
        }
        let mut named = Assignment {
            offsets: vec![0],
            topics: Vec::with_capacity(lists.values.len()),
            partitions: Vec::with_capacity(lists.values.len()),
            chance: None,
        };
        for member in members {
            for &partition in lists.get(member as usize) {
                named.topics.push(self.topic_places[self.topic_of[partition as usize] as usize]);
                named.partitions.push(self.number(partition));
            }
            named.offsets.push(named.topics.len());
        }
        named
    }
}
