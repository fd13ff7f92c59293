//! A group in numbers: topics and members by the bytes of their names, partitions by topic and number.

use super::{answer, in_byte_order};
use crate::assignors::input::{MOST_PARTITIONS, NONE};
use crate::assignors::{Assignment, Chance, Input};
use crate::{Error, Result};

/// The topics are those that somebody subscribes to and that the cluster has, because the leader asks only for these.
pub(super) struct Numbered<'a> {
    pub(super) input: &'a Input<'a>,
    /// The place of each member, in the order of its ID's bytes.
    pub(super) places: Vec<u32>,
    /// The number of each member, by its place.
    pub(super) numbers: Vec<u32>,
    /// The place of each topic.
    pub(super) topics: Vec<u32>,
    /// The number of each topic by its place; `NONE` if it has none.
    topic_numbers: Vec<u32>,
    /// The first partition of each topic, and the end of the last topic.
    pub(super) starts: Vec<u32>,
    /// The topic of each partition.
    pub(super) topic_of: Vec<u32>,
    /// By member, its subscription in the order in which it was sent, without missing topics.
    pub(super) subscribed: Vec<Vec<u32>>,
}

impl<'a> Numbered<'a> {
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`] if members subscribe to more than [`MOST_PARTITIONS`].
    pub(super) fn new(input: &'a Input<'a>) -> Result<Self> {
        let places = in_byte_order(&input.members);
        let mut group = Self {
            numbers: inverse(&places, input.members.len()),
            input,
            topics: in_byte_order(&input.topics),
            topic_numbers: Vec::new(),
            starts: vec![0],
            topic_of: Vec::new(),
            subscribed: Vec::new(),
            places,
        };
        let mut is_read = vec![false; input.topics.len()];
        for &topic in &input.subscribed.values {
            is_read[topic as usize] = input.missing.get(topic as usize) != Some(&true);
        }
        group.topics.retain(|&topic| is_read[topic as usize]);
        group.topic_numbers = inverse(&group.topics, input.topics.len());
        let mut end = 0_u32;
        for &topic in &group.topics {
            end = end
                .checked_add(input.partitions[topic as usize])
                .filter(|&end| end <= MOST_PARTITIONS)
                .ok_or(Error::TooManyPartitions { most: MOST_PARTITIONS })?;
            group.starts.push(end);
        }
        group.topic_of.reserve(end as usize);
        for (topic, &end) in (0..).zip(&group.starts[1..]) {
            group.topic_of.resize(end as usize, topic);
        }
        let number =
            |&topic: &u32| Some(group.topic_numbers[topic as usize]).filter(|&number| number != NONE);
        group.subscribed = group
            .places
            .iter()
            .map(|&place| input.subscribed.get(place as usize).iter().filter_map(number).collect())
            .collect();
        Ok(group)
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        self.places.len()
    }

    /// How many partitions there are.
    pub(super) fn partitions(&self) -> usize {
        self.topic_of.len()
    }

    /// The partitions of a topic.
    pub(super) fn of_topic(&self, topic: u32) -> std::ops::Range<u32> {
        self.starts[topic as usize]..self.starts[topic as usize + 1]
    }

    /// The number of a partition of the input, if it exists.
    pub(super) fn partition(&self, (topic, partition): (u32, i32)) -> Option<u32> {
        let topic = Some(self.topic_numbers[topic as usize]).filter(|&topic| topic != NONE)?;
        let partition = self.starts[topic as usize].checked_add(u32::try_from(partition).ok()?)?;
        self.of_topic(topic).contains(&partition).then_some(partition)
    }

    /// A partition in terms of the input.
    pub(super) fn pair(&self, partition: u32) -> (u32, i32) {
        let topic = self.topic_of[partition as usize] as usize;
        (self.topics[topic], (partition - self.starts[topic]).cast_signed())
    }

    /// The assignment that gives each member, by its number, these partitions in this order.
    pub(super) fn answer(&self, lists: &[Vec<u32>], chance: Option<Chance>) -> Assignment {
        let of = |&number: &u32| lists[number as usize].iter().map(|&each| self.pair(each)).collect();
        answer(&self.numbers.iter().map(of).collect::<Vec<_>>(), chance)
    }
}

/// The place of each value below `count`; `NONE` for missing ones.
fn inverse(values: &[u32], count: usize) -> Vec<u32> {
    let mut places = vec![NONE; count];
    for (place, &value) in (0..).zip(values) {
        places[value as usize] = place;
    }
    places
}
