//! A group as Go's clients see it: names become numbers in the order of their bytes, which is Go's order of strings.

use super::{answer, in_byte_order};
use crate::assignors::{Assignment, Chance, Input, Lists, MOST_PARTITIONS};
use crate::go::draws::GoDraws;
use crate::{Error, Result};

/// Why an answer is one of several.
pub(super) const MAP_ORDER: &str = "Go walks its maps in an order that it draws anew each time";

/// A group in numbers. A topic that nobody reads or that the brokers do not know has no partitions.
#[derive(Debug)]
pub(super) struct GoGroup<'a> {
    input: &'a Input<'a>,
    /// By topic, its place in the input.
    topic_places: Vec<u32>,
    /// By member, the same.
    member_places: Vec<u32>,
    /// Members in the order of the `JoinGroup` response.
    pub(super) joined: Vec<u32>,
    /// The first partition of each topic, and the end of the last topic.
    pub(super) starts: Vec<u32>,
    /// The topic of each partition.
    pub(super) topic_of: Vec<u32>,
    /// Each member's subscription as it was given.
    pub(super) subscribed: Lists<u32>,
    /// What each member owns, in the order given: a topic and a partition's number in it.
    pub(super) owned: Lists<(u32, i32)>,
    pub(super) generations: Vec<i32>,
    /// The place of a member's instance id among all of them.
    pub(super) instances: Vec<Option<u32>>,
    pub(super) member_racks: Vec<Option<u32>>,
    /// By partition, the rack of its leader.
    pub(super) leader_racks: Vec<Option<u32>>,
}

impl<'a> GoGroup<'a> {
    /// Takes a group and turns names into numbers.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`] if members subscribe to more than [`MOST_PARTITIONS`].
    pub(super) fn new(input: &'a Input<'a>) -> Result<Self> {
        let (topic_places, topic) = sorted(&input.topics);
        let (member_places, joined) = sorted(&input.members);
        let mut instance_ids: Vec<_> = input.instance_ids.iter().flatten().collect();
        instance_ids.sort_unstable();
        instance_ids.dedup();
        let mut group = Self {
            input,
            joined,
            starts: vec![0],
            topic_of: Vec::new(),
            subscribed: Lists::default(),
            owned: Lists::default(),
            generations: Vec::new(),
            instances: Vec::new(),
            member_racks: Vec::new(),
            leader_racks: Vec::new(),
            topic_places,
            member_places,
        };
        for &place in &group.member_places {
            let place = place as usize;
            let subscribed = input.subscribed.get(place).iter().map(|&name| topic[name as usize]);
            group.subscribed.values.extend(subscribed);
            group.subscribed.end();
            let owned = input.owned.get(place).iter().map(|&(name, number)| (topic[name as usize], number));
            group.owned.values.extend(owned);
            group.owned.end();
            group.generations.push(input.generations[place]);
            group.member_racks.push(input.member_racks[place]);
            let instance = input.instance_ids[place].and_then(|id| instance_ids.binary_search(&&id).ok());
            group.instances.push(instance.and_then(|instance| u32::try_from(instance).ok()));
        }
        group.number_partitions()?;
        group.take_racks();
        Ok(group)
    }

    fn number_partitions(&mut self) -> Result<()> {
        let mut is_read = vec![false; self.topic_places.len()];
        for &topic in &self.subscribed.values {
            is_read[topic as usize] = true;
        }
        let mut end = 0_u32;
        for (&place, is_read) in self.topic_places.iter().zip(is_read) {
            let count = if is_read { self.input.partitions[place as usize] } else { 0 };
            end = end
                .checked_add(count)
                .filter(|&end| end <= MOST_PARTITIONS)
                .ok_or(Error::TooManyPartitions { most: MOST_PARTITIONS })?;
            self.starts.push(end);
        }
        // Memory is allocated only now that their number was checked.
        for (topic, &end) in (0..).zip(&self.starts[1..]) {
            self.topic_of.resize(end as usize, topic);
        }
        Ok(())
    }

    fn take_racks(&mut self) {
        self.leader_racks = vec![None; self.topic_of.len()];
        if self.input.leader_racks.is_empty() {
            return;
        }
        let mut first = vec![0];
        for &count in &self.input.partitions {
            first.push(first[first.len() - 1] + count as usize);
        }
        for (topic, &place) in self.topic_places.iter().enumerate() {
            let first = first[place as usize];
            for (number, partition) in self.partitions(topic).enumerate() {
                self.leader_racks[partition as usize] = self.input.leader_racks[first + number];
            }
        }
    }

    /// Whether a leader of `cooperative-sticky` does not believe what a member of another client owns, because that
    /// sends no generation.
    pub(super) fn is_disbelieved(&self, member: u32) -> bool {
        self.input.options.as_read && self.generations[member as usize] < 0
    }

    pub(super) fn members(&self) -> usize {
        self.joined.len()
    }

    pub(super) fn topics(&self) -> usize {
        self.topic_places.len()
    }

    /// The partitions of a topic.
    pub(super) fn partitions(&self, topic: usize) -> std::ops::Range<u32> {
        self.starts[topic]..self.starts[topic + 1]
    }

    pub(super) fn topic_name(&self, topic: u32) -> &'a str {
        self.input.topics[self.topic_places[topic as usize] as usize]
    }

    pub(super) fn member_name(&self, member: u32) -> &'a str {
        self.input.members[self.member_places[member as usize] as usize]
    }

    /// A partition's number in its topic.
    pub(super) fn number(&self, partition: u32) -> u32 {
        partition - self.starts[self.topic_of[partition as usize] as usize]
    }

    /// The partition with a number in a topic, if the topic has it.
    pub(super) fn partition(&self, topic: u32, number: i32) -> Option<u32> {
        let partitions = self.partitions(topic as usize);
        let partition = partitions.start.checked_add(u32::try_from(number).ok()?)?;
        partitions.contains(&partition).then_some(partition)
    }

    /// By topic, its subscribers by ID; a member that names the topic twice is there twice.
    pub(super) fn subscribers(&self) -> Vec<Vec<u32>> {
        let mut subscribers = vec![Vec::new(); self.topics()];
        for member in 0..self.members() {
            for &topic in self.subscribed.get(member) {
                subscribers[topic as usize].extend(u32::try_from(member));
            }
        }
        subscribers
    }

    /// Go's random choices, from the given seed.
    pub(super) fn draws(&self) -> GoDraws {
        GoDraws::new(self.input.options.seed)
    }

    /// An answer in the numbers of the input: by member, by topic's name, in the order of the member's list.
    pub(super) fn named(&self, lists: &[Vec<u32>], chance: Option<Chance>) -> Assignment {
        let pair = |partition: u32| {
            let place = self.topic_places[self.topic_of[partition as usize] as usize];
            (place, self.number(partition).cast_signed())
        };
        let by_topic = |&member: &u32| {
            let mut list = lists[member as usize].clone();
            list.sort_by_key(|&partition| self.topic_of[partition as usize]);
            list.into_iter().map(pair).collect()
        };
        let lists: Vec<Vec<_>> = self.joined.iter().map(by_topic).collect();
        answer(&lists, chance)
    }
}

/// The places of names in the order of their bytes, and each place's place in that order.
fn sorted(names: &[&str]) -> (Vec<u32>, Vec<u32>) {
    let places = in_byte_order(names);
    let mut numbers = vec![0; names.len()];
    for (number, &place) in (0..).zip(&places) {
        numbers[place as usize] = number;
    }
    (places, numbers)
}
