//! A group as other clients see it: names become numbers in the order of their bytes, by which C, Go and Python sort.

use super::{answer, in_byte_order};
use crate::Result;
use crate::assignors::lists::MemberLists;
use crate::assignors::topic_partitions::TopicPartitions;
use crate::assignors::{Assignment, Chance, Input, Lists};
use crate::go_map::GoDraws;
use crate::index::{Indices, MemberIx, PartitionIx, TopicIx, indices, numbered};
use crate::java::strings::{by, inverse};

/// Why an answer is one of several.
pub(super) const MAP_ORDER: &str = "Go walks its maps in an order that it draws anew each time";

/// A group in numbers. A topic that nobody reads or that the brokers do not know has no partitions.
#[derive(Debug)]
pub(super) struct ClientGroup<'a> {
    pub(super) input: &'a Input<'a>,
    /// By topic, its place in the input.
    pub(super) topic_places: Vec<u32>,
    /// By a topic's place in the input, its number.
    topic_numbers: Vec<TopicIx>,
    /// By member, its place in the input.
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

impl<'a> ClientGroup<'a> {
    /// Takes a group and turns names into numbers.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`](crate::Error::TooManyPartitions) if members subscribe to more than
    /// [`MOST_PARTITIONS`](crate::assignors::MOST_PARTITIONS).
    pub(super) fn new(input: &'a Input<'a>) -> Result<Self> {
        let (topic_places, member_places) = (in_byte_order(&input.topics), in_byte_order(&input.members));
        let topic_numbers: Vec<TopicIx> = inverse(&topic_places);
        let mut is_read = vec![false; input.topics.len()];
        for &topic in &input.subscribed.values {
            is_read[topic as usize] = input.missing.get(topic as usize) != Some(&true);
        }
        let count = |&place: &u32| if is_read[place as usize] { input.partitions[place as usize] } else { 0 };
        let row = TopicPartitions::of_counts(topic_places.iter().map(count))?;
        let mut instance_ids: Vec<_> = input.instance_ids.iter().flatten().collect();
        instance_ids.sort_unstable();
        instance_ids.dedup();
        let instance = |id: Option<&str>| {
            let place = instance_ids.binary_search(&&id?).ok()?;
            u32::try_from(place).ok()
        };
        let (mut subscribed, mut owned) = (Lists::default(), Lists::default());
        for &place in &member_places {
            subscribed
                .values
                .extend(input.subscribed.get(place).iter().map(|&topic| topic_numbers[topic as usize]));
            subscribed.end();
            let claims = input.owned.get(place).iter();
            owned.values.extend(claims.map(|&(topic, number)| (topic_numbers[topic as usize], number)));
            owned.end();
        }
        let mut group = Self {
            input,
            joined: inverse(&member_places),
            subscribed,
            owned,
            generations: by(&member_places, &input.generations),
            instances: by(&member_places, &input.instance_ids).into_iter().map(instance).collect(),
            member_racks: by(&member_places, &input.member_racks),
            leader_racks: vec![None; row.len()],
            row,
            topic_places,
            topic_numbers,
            member_places,
        };
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
    ) -> MemberLists {
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

    /// A member's place in the input.
    pub(super) fn place(&self, member: MemberIx) -> usize {
        self.member_places[member] as usize
    }

    /// By member, its subscription in the order in which it was sent, without missing topics.
    pub(super) fn existing_subscriptions(&self) -> Vec<Vec<TopicIx>> {
        let exists =
            |&&topic: &&TopicIx| self.input.missing.get(self.topic_places[topic] as usize) != Some(&true);
        self.by_id()
            .map(|member| self.subscribed.get(member).iter().filter(exists).copied().collect())
            .collect()
    }

    /// The number of a partition of the input, if it exists.
    pub(super) fn partition(&self, (topic, number): (u32, i32)) -> Option<PartitionIx> {
        self.row.at(self.topic_numbers[topic as usize], number)
    }

    /// A partition in terms of the input.
    pub(super) fn pair(&self, partition: PartitionIx) -> (u32, i32) {
        (self.topic_places[self.row.topic(partition)], self.row.number(partition).cast_signed())
    }

    /// An answer in the numbers of the input: by member, in the order of the member's list.
    pub(super) fn answer(&self, lists: &[Vec<PartitionIx>], chance: Option<Chance>) -> Assignment {
        let pairs =
            |&member: &MemberIx| lists[member].iter().map(|&partition| self.pair(partition)).collect();
        answer(&self.joined.iter().map(pairs).collect::<Vec<_>>(), chance)
    }

    /// The same, with each member's partitions by topic's name first.
    pub(super) fn named(&self, mut lists: MemberLists, chance: Option<Chance>) -> Assignment {
        for list in &mut lists {
            list.sort_by_key(|&partition| self.row.topic(partition));
        }
        self.answer(&lists, chance)
    }
}
