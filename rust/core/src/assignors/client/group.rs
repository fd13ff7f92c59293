//! A group as numbers: topics and members by the order of their names, partitions by topic and number.

use std::collections::BTreeMap;

use super::subscribed::Subscribed;
use crate::Result;
use crate::assignors::topic_partitions::TopicPartitions;
use crate::assignors::{Assignment, Input, Lists};
use crate::index::{Indices, Ix, MemberIx, PartitionIx, TopicIx, indices, marked};
use crate::java::hash_map::Walker;
use crate::java::strings::{by, inverse, ranks, sort_static_first, sorted};

/// A group in the core's own numbers. Topics without subscribers or without partitions have no number.
#[derive(Debug)]
pub struct JavaGroup<'a> {
    /// The names of topics, sorted as Java sorts them.
    pub(crate) topics: Vec<&'a str>,
    /// The partitions of all topics; those beyond a topic's count come after all others.
    pub(crate) row: TopicPartitions,
    /// How many partitions exist.
    existing: usize,
    /// The numbers of the partitions that members own beyond a topic's count.
    beyond: Vec<i32>,
    /// The order in which Java walks the map of members.
    pub(crate) walk: Vec<MemberIx>,
    /// The order in which it walks a map that was filled in the order of the first.
    pub(crate) second_walk: Vec<MemberIx>,
    /// Each member's subscription as it was given.
    pub(crate) subscribed: Subscribed,
    /// What each member owns, in the order given: a topic, and a partition, or `NONE` if the topic is missing.
    pub(crate) owned: Lists<(TopicIx, PartitionIx)>,
    /// The partitions' numbers in topics that are missing, in the order of `owned`.
    pub(crate) absent: Vec<i32>,
    pub(crate) generations: Vec<i32>,
    pub(crate) sends: Vec<bool>,
    /// The place of a member's instance id among all of them; equal ids have equal places.
    pub(crate) instances: Vec<Option<u32>>,
    pub(crate) member_racks: Vec<Option<u32>>,
    racks: Option<Lists<u32>>,
    /// The order in which `old-roundrobin` deals the one topic's partitions, if it is given.
    pub(crate) order: Vec<PartitionIx>,
    topic_places: Vec<u32>,
    member_places: Vec<u32>,
}

impl<'a> JavaGroup<'a> {
    /// Takes a group and turns names into numbers.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`](crate::Error::TooManyPartitions) if members subscribe to more than
    /// [`MOST_PARTITIONS`](crate::assignors::MOST_PARTITIONS).
    pub fn new(input: &Input<'a>) -> Result<Self> {
        let (topic_places, topic) = sorted(&input.topics);
        let (member_places, member) = sorted(&input.members);
        let topics: Vec<_> = by(&topic_places, &input.topics);
        let mut walker = Walker::of_names(&by(&member_places, &input.members));
        let order = walker.walk(&member);
        let subscribed = Subscribed::new(input, &member_places, &topic);
        let is_read = marked(topics.len(), subscribed.named().iter().copied());
        let counts = topic_places.iter().zip(is_read);
        let counts = counts.map(|(place, is_read)| if is_read { input.partitions[place.place()] } else { 0 });
        let row = TopicPartitions::of_counts(counts)?;
        let mut group = Self {
            second_walk: walker.walk(&order),
            walk: order,
            subscribed,
            owned: Lists::default(),
            absent: Vec::new(),
            generations: by(&member_places, &input.generations),
            sends: by(&member_places, &input.sends),
            instances: ranks(&by(&member_places, &input.instance_ids)),
            member_racks: by(&member_places, &input.member_racks),
            racks: None,
            order: input.order.iter().copied().map(PartitionIx).collect(),
            existing: row.len(),
            row,
            beyond: Vec::new(),
            topics,
            topic_places,
            member_places,
        };
        group.take_racks(input);
        group.take_owned(input, &topic);
        Ok(group)
    }

    fn take_racks(&mut self, input: &Input<'_>) {
        if input.racks.is_empty() || self.member_racks.iter().all(Option::is_none) {
            return;
        }
        let first = input.first_partitions();
        let mut racks = Lists::default();
        for (topic, &place) in self.topic_places.iter().enumerate() {
            for partition in 0..self.row.count(TopicIx::at(topic)) as usize {
                let start = racks.values.len();
                for &rack in input.racks.get(first[place.place()] + partition) {
                    if !racks.values[start..].contains(&rack) {
                        racks.values.push(rack);
                    }
                }
                racks.end();
            }
        }
        self.racks = Some(racks);
    }

    fn take_owned(&mut self, input: &Input<'_>, topic: &[TopicIx]) {
        let mut beyond = BTreeMap::new();
        self.owned.values.reserve(input.owned.values.len());
        for &place in &self.member_places {
            for &(place, number) in input.owned.get(place) {
                let topic = topic[place.place()];
                let partition = match self.row.at(topic, number) {
                    Some(partition) => partition,
                    None if self.row.count(topic) == 0 => {
                        self.absent.push(number);
                        PartitionIx::NONE
                    }
                    None => *beyond.entry((topic, number)).or_insert_with(|| {
                        self.beyond.push(number);
                        self.row.push(topic)
                    }),
                };
                self.owned.values.push((topic, partition));
            }
            self.owned.end();
        }
    }

    /// How many members there are.
    pub(crate) fn members(&self) -> usize {
        self.walk.len()
    }

    /// Members by their IDs, in which order they are numbered.
    pub(crate) fn by_id(&self) -> Indices<MemberIx> {
        indices(self.members())
    }

    /// Topics by their names, in which order they are numbered.
    pub(crate) fn by_name(&self) -> Indices<TopicIx> {
        indices(self.topics.len())
    }

    /// The existing partitions.
    pub(crate) fn partitions(&self) -> Indices<PartitionIx> {
        indices(self.existing)
    }

    /// Whether a partition is beyond its topic's count.
    pub(crate) fn is_beyond(&self, partition: PartitionIx) -> bool {
        partition.place() >= self.existing
    }

    /// The partition's number in its topic.
    pub(crate) fn number(&self, partition: PartitionIx) -> i32 {
        match partition.place().checked_sub(self.existing) {
            Some(beyond) => self.beyond[beyond],
            None => self.row.number(partition).cast_signed(),
        }
    }

    /// Whether members and replicas have racks.
    pub(crate) fn has_racks(&self) -> bool {
        self.racks.is_some()
    }

    /// The racks of a partition's replicas, each once.
    pub(crate) fn racks(&self, partition: PartitionIx) -> &[u32] {
        match &self.racks {
            Some(racks) if !self.is_beyond(partition) => racks.get(partition),
            _ => &[],
        }
    }

    /// Members in the order of the assignors that know static membership (`MemberInfo`): first those with an instance
    /// ID, by that, then the others by their IDs.
    pub(crate) fn static_first(&self) -> Vec<MemberIx> {
        let mut members = self.walk.clone();
        sort_static_first(&mut members, |member| self.instances[member], |member| member.0);
        members
    }

    /// The order in which Java walks the map of topics with partitions, which is filled from the set of all subscribed
    /// topics.
    pub(crate) fn topic_walk(&self) -> Vec<TopicIx> {
        let mut seen = vec![false; self.topics.len()];
        let mut inserted = Vec::new();
        let mut lists = vec![false; self.subscribed.distinct()];
        for &member in &self.walk {
            if std::mem::replace(&mut lists[self.subscribed.list(member)], true) {
                continue;
            }
            for &topic in self.subscribed.get(member) {
                if !std::mem::replace(&mut seen[topic], true) {
                    inserted.push(topic);
                }
            }
        }
        let mut walker = Walker::of_names(&self.topics);
        let mut known = walker.walk(&inserted);
        known.retain(|&topic| self.row.count(topic) > 0);
        walker.walk(&known)
    }

    /// An assignment in the numbers of the input.
    pub(crate) fn named(&self, lists: &Lists<PartitionIx>) -> Assignment {
        let mut named = Assignment {
            offsets: vec![0],
            topics: Vec::with_capacity(lists.values.len()),
            partitions: Vec::with_capacity(lists.values.len()),
            chance: None,
        };
        for member in inverse::<MemberIx>(&self.member_places) {
            for &partition in lists.get(member) {
                named.topics.push(self.topic_places[self.row.topic(partition)]);
                named.partitions.push(self.number(partition));
            }
            named.offsets.push(named.topics.len());
        }
        named
    }
}
