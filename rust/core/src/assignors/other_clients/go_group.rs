//! A group as Go's clients see it: names become numbers in the order of their bytes, which is Go's order of strings.

use super::{answer, in_byte_order};
use crate::Result;
use crate::assignors::topic_partitions::TopicPartitions;
use crate::assignors::{Assignment, Chance, Input, Lists};
use crate::go::draws::GoDraws;
use crate::index::{Indices, MemberIx, PartitionIx, TopicIx, indices, numbered};
use crate::java::strings::inverse;

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
    pub(super) joined: Vec<MemberIx>,
    pub(super) row: TopicPartitions,
    /// Each member's subscription as it was given.
    pub(super) subscribed: Lists<TopicIx>,
    /// What each member owns, in the order given: a topic and a partition's number in it.
    pub(super) owned: Lists<(TopicIx, i32)>,
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
    /// [`Error::TooManyPartitions`](crate::Error::TooManyPartitions) if members subscribe to more than
    /// [`MOST_PARTITIONS`](crate::assignors::MOST_PARTITIONS).
    pub(super) fn new(input: &'a Input<'a>) -> Result<Self> {
        let (topic_places, member_places) = (in_byte_order(&input.topics), in_byte_order(&input.members));
        let topic: Vec<TopicIx> = inverse(&topic_places);
        let mut is_read = vec![false; input.topics.len()];
        input.subscribed.values.iter().for_each(|&topic| is_read[topic as usize] = true);
        let count = |&place: &u32| if is_read[place as usize] { input.partitions[place as usize] } else { 0 };
        let row = TopicPartitions::of_counts(topic_places.iter().map(count))?;
        let mut instance_ids: Vec<_> = input.instance_ids.iter().flatten().collect();
        instance_ids.sort_unstable();
        instance_ids.dedup();
        let mut group = Self {
            input,
            joined: inverse(&member_places),
            subscribed: Lists::default(),
            owned: Lists::default(),
            generations: Vec::new(),
            instances: Vec::new(),
            member_racks: Vec::new(),
            leader_racks: vec![None; row.len()],
            row,
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
        group.take_racks();
        Ok(group)
    }

    fn take_racks(&mut self) {
        if self.input.leader_racks.is_empty() {
            return;
        }
        let first = self.input.first_partitions();
        for (topic, &place) in numbered(&self.topic_places) {
            for (number, partition) in self.row.of(topic).enumerate() {
                self.leader_racks[partition] = self.input.leader_racks[first[place as usize] + number];
            }
        }
    }

    /// Whether a leader of `cooperative-sticky` does not believe what a member of another client owns, because that
    /// sends no generation.
    pub(super) fn is_disbelieved(&self, member: MemberIx) -> bool {
        self.input.options.as_read && self.generations[member] < 0
    }

    pub(super) fn members(&self) -> usize {
        self.joined.len()
    }

    /// Members in the order of their IDs.
    pub(super) fn by_id(&self) -> Indices<MemberIx> {
        indices(self.members())
    }

    /// Topics in the order of their names.
    pub(super) fn topics(&self) -> Indices<TopicIx> {
        indices(self.topic_places.len())
    }

    /// Deals each topic by itself in ranges over its members. `bound` says where a place's range begins, given how many
    /// partitions and members there are.
    pub(super) fn in_ranges(
        &self,
        members: Vec<Vec<MemberIx>>,
        bound: impl Fn(usize, usize, usize) -> usize,
    ) -> Vec<Vec<PartitionIx>> {
        let mut lists = vec![Vec::new(); self.members()];
        for (topic, members) in numbered(members) {
            let mut partitions = self.row.of(topic);
            let bound = |place| bound(place, self.row.count(topic) as usize, members.len());
            for (place, &member) in members.iter().enumerate() {
                lists[member].extend(partitions.by_ref().take(bound(place + 1) - bound(place)));
            }
        }
        lists
    }

    pub(super) fn topic_name(&self, topic: TopicIx) -> &'a str {
        self.input.topics[self.topic_places[topic] as usize]
    }

    pub(super) fn member_name(&self, member: MemberIx) -> &'a str {
        self.input.members[self.member_places[member] as usize]
    }

    /// By topic, its subscribers by ID; a member that names the topic twice is there twice.
    pub(super) fn subscribers(&self) -> Vec<Vec<MemberIx>> {
        self.subscribers_of(self.by_id())
    }

    /// The same in another order of members.
    pub(super) fn subscribers_of(&self, members: impl Iterator<Item = MemberIx>) -> Vec<Vec<MemberIx>> {
        let mut subscribers = vec![Vec::new(); self.topics().len()];
        for member in members {
            for &topic in self.subscribed.get(member) {
                subscribers[topic].push(member);
            }
        }
        subscribers
    }

    /// Go's random choices, from the given seed.
    pub(super) fn draws(&self) -> GoDraws {
        GoDraws::new(self.input.options.seed)
    }

    /// An answer in the numbers of the input: by member, by topic's name, in the order of the member's list.
    pub(super) fn named(&self, lists: &[Vec<PartitionIx>], chance: Option<Chance>) -> Assignment {
        let pair = |partition: PartitionIx| {
            (self.topic_places[self.row.topic(partition)], self.row.number(partition).cast_signed())
        };
        let by_topic = |&member: &MemberIx| {
            let mut list = lists[member].clone();
            list.sort_by_key(|&partition| self.row.topic(partition));
            list.into_iter().map(pair).collect()
        };
        let lists: Vec<Vec<_>> = self.joined.iter().map(by_topic).collect();
        answer(&lists, chance)
    }
}
