//! A group in numbers: topics and members by the bytes of their names, partitions by topic and number.

use super::{answer, in_byte_order};
use crate::Result;
use crate::assignors::topic_partitions::TopicPartitions;
use crate::assignors::{Assignment, Chance, Input};
use crate::index::{Indices, MemberIx, PartitionIx, TopicIx, indices, numbered};
use crate::java::strings::inverse;

/// The topics are those that somebody subscribes to and that the cluster has, because the leader asks only for these.
pub(super) struct Numbered<'a> {
    pub(super) input: &'a Input<'a>,
    /// The place of each member, in the order of its ID's bytes.
    pub(super) places: Vec<u32>,
    /// The number of each member, by its place.
    pub(super) numbers: Vec<MemberIx>,
    /// The place of each topic.
    pub(super) topics: Vec<u32>,
    /// The number of each topic by its place; `NONE` if it has none.
    topic_numbers: Vec<TopicIx>,
    pub(super) row: TopicPartitions,
    /// By member, its subscription in the order in which it was sent, without missing topics.
    pub(super) subscribed: Vec<Vec<TopicIx>>,
}

impl<'a> Numbered<'a> {
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`](crate::Error::TooManyPartitions) if members subscribe to more than
    /// [`MOST_PARTITIONS`](crate::assignors::MOST_PARTITIONS).
    pub(super) fn new(input: &'a Input<'a>) -> Result<Self> {
        let places = in_byte_order(&input.members);
        let mut is_read = vec![false; input.topics.len()];
        for &topic in &input.subscribed.values {
            is_read[topic as usize] = input.missing.get(topic as usize) != Some(&true);
        }
        let mut topics = in_byte_order(&input.topics);
        topics.retain(|&topic| is_read[topic as usize]);
        let row = TopicPartitions::of_counts(topics.iter().map(|&topic| input.partitions[topic as usize]))?;
        let mut topic_numbers = vec![TopicIx::NONE; input.topics.len()];
        for (topic, &place) in numbered(&topics) {
            topic_numbers[place as usize] = topic;
        }
        let number =
            |&topic: &u32| Some(topic_numbers[topic as usize]).filter(|&topic| topic != TopicIx::NONE);
        let subscribed = places
            .iter()
            .map(|&place| input.subscribed.get(place).iter().filter_map(number).collect())
            .collect();
        Ok(Self { input, numbers: inverse(&places), places, topics, topic_numbers, row, subscribed })
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        self.places.len()
    }

    /// Members in the order of their IDs.
    pub(super) fn by_id(&self) -> Indices<MemberIx> {
        indices(self.members())
    }

    /// A member's place in the input.
    pub(super) fn place(&self, member: MemberIx) -> usize {
        self.places[member] as usize
    }

    /// A member's ID.
    pub(super) fn id(&self, member: MemberIx) -> &'a str {
        self.input.members[self.place(member)]
    }

    /// The number of a partition of the input, if it exists.
    pub(super) fn partition(&self, (topic, number): (u32, i32)) -> Option<PartitionIx> {
        let topic = Some(self.topic_numbers[topic as usize]).filter(|&topic| topic != TopicIx::NONE)?;
        self.row.at(topic, number)
    }

    /// A partition in terms of the input.
    pub(super) fn pair(&self, partition: PartitionIx) -> (u32, i32) {
        (self.topics[self.row.topic(partition)], self.row.number(partition).cast_signed())
    }

    /// The assignment that gives each member, by its number, these partitions in this order.
    pub(super) fn answer(&self, lists: &[Vec<PartitionIx>], chance: Option<Chance>) -> Assignment {
        let of = |&member: &MemberIx| lists[member].iter().map(|&each| self.pair(each)).collect();
        answer(&self.numbers.iter().map(of).collect::<Vec<_>>(), chance)
    }
}
