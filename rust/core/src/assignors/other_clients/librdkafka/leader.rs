//! What librdkafka's leader reads: members that it can parse, the topics that they subscribe to, and racks.

use std::cmp::Ordering;

use super::LibrdkafkaVersion;
use crate::Result;
use crate::assignors::other_clients::client_group::ClientGroup;
use crate::assignors::other_clients::holdings::Readers;
use crate::assignors::{Input, NoRack};
use crate::index::{MemberIx, TopicIx};

/// A member that names more topics is left out.
const MOST_TOPICS: usize = 10_000;

/// A group as the leader reads it.
pub(super) struct Leader<'a> {
    pub(super) group: ClientGroup<'a>,
    pub(super) version: LibrdkafkaVersion,
    /// The members that are not left out, in the order of the `JoinGroup` response.
    pub(super) members: Vec<MemberIx>,
    /// The topics with their members, in the order of the Metadata response.
    pub(super) topics: Vec<ReadTopic>,
    /// By member, its subscription in the order in which it was sent, without missing topics.
    pub(super) subscribed: Vec<Vec<TopicIx>>,
    /// By topic, then by partition, the racks of its replicas, sorted and each once.
    racks: Vec<Vec<Vec<u32>>>,
}

/// A topic that somebody subscribes to (`rd_kafka_assignor_topic_t`).
pub(super) struct ReadTopic {
    pub(super) topic: TopicIx,
    pub(super) members: Vec<MemberIx>,
}

impl<'a> Leader<'a> {
    pub(super) fn new(input: &'a Input<'a>, version: LibrdkafkaVersion) -> Result<Self> {
        let group = ClientGroup::new(input)?;
        let is_read = |&place: &usize| (1..=MOST_TOPICS).contains(&input.subscribed.get(place).len());
        let members: Vec<_> = (0..group.members()).filter(is_read).map(|place| group.joined[place]).collect();
        let subscribed = group.existing_subscriptions();
        let mut topics: Vec<_> = group
            .topics()
            .map(|topic| ReadTopic {
                topic,
                members: members
                    .iter()
                    .copied()
                    .filter(|&member| subscribed[member].contains(&topic))
                    .collect(),
            })
            .filter(|topic| !topic.members.is_empty())
            .collect();
        topics.sort_by_key(|topic| group.topic_places[topic.topic]);
        Ok(Self { racks: racks(&group, version), group, version, members, topics, subscribed })
    }

    /// The racks of a partition's replicas.
    pub(super) fn racks(&self, topic: TopicIx, number: usize) -> &[u32] {
        self.racks[topic].get(number).map_or(&[], Vec::as_slice)
    }

    /// A member's `client.rack`, unless it is empty, null or missing.
    pub(super) fn rack(&self, member: MemberIx) -> Option<u32> {
        self.group.input.member_racks[self.group.place(member)]
    }

    /// How a member sends that it has no rack: librdkafka's own members send an empty one.
    pub(super) fn no_rack(&self, member: MemberIx) -> NoRack {
        let place = self.group.place(member);
        self.group.input.no_racks.get(place).copied().unwrap_or(NoRack::Empty)
    }

    /// How many partitions a topic has.
    pub(super) fn count(&self, topic: TopicIx) -> usize {
        self.group.row.of(topic).len()
    }

    /// Who may read what in a group of `cooperative-sticky`.
    pub(super) fn readers(&self) -> Readers {
        let mut readers = Readers {
            of_topic: vec![Vec::new(); self.group.topics().len()],
            topics: vec![Vec::new(); self.group.members()],
            most: vec![0; self.group.members()],
        };
        let mut topics: Vec<_> = self.topics.iter().collect();
        topics.sort_by_key(|topic| topic.topic);
        for topic in topics {
            for &member in &topic.members {
                readers.topics[member].push(topic.topic);
                readers.most[member] += self.count(topic.topic);
            }
            readers.of_topic[topic.topic].clone_from(&topic.members);
        }
        readers
    }

    /// `rd_kafka_group_member_cmp`: two static members by their instance IDs, all others by member ID.
    pub(super) fn compare(&self, one: MemberIx, other: MemberIx) -> Ordering {
        let instance = |member: MemberIx| self.group.input.instance_ids[self.group.place(member)];
        match (instance(one), instance(other)) {
            (Some(one), Some(other)) => one.cmp(other),
            _ => one.cmp(&other),
        }
    }

    /// Members as glibc's `qsort` leaves them.
    pub(super) fn sorted(&self, members: &[MemberIx]) -> Vec<MemberIx> {
        let mut sorted = members.to_vec();
        merge_sort(&mut sorted, &|one, other| self.compare(one, other));
        sorted
    }

    /// `rd_kafka_use_rack_aware_assignment`: whether racks matter to these topics.
    pub(super) fn has_racks(&self, topics: &[ReadTopic]) -> bool {
        let mut of_members: Vec<_> =
            topics.iter().flat_map(|topic| &topic.members).filter_map(|&member| self.rack(member)).collect();
        of_members.sort_unstable();
        let of_partitions = |topic: &ReadTopic| &self.racks[topic.topic];
        let mut all: Vec<_> = topics.iter().flat_map(of_partitions).flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut counts = topics.iter().flat_map(|topic| {
            (0..self.count(topic.topic)).map(|number| self.racks(topic.topic, number).len())
        });
        all.iter().any(|rack| of_members.binary_search(rack).is_ok())
            && counts.any(|count| count != all.len())
    }
}

fn racks(group: &ClientGroup<'_>, version: LibrdkafkaVersion) -> Vec<Vec<Vec<u32>>> {
    let input = group.input;
    if input.racks.is_empty() || !version.has_racks() {
        return vec![Vec::new(); group.topics().len()];
    }
    let first = input.first_partitions();
    let of_topic = |&place: &u32| {
        let place = place as usize;
        let once = |number| {
            let mut racks = input.racks.get(number).to_vec();
            racks.sort_unstable();
            racks.dedup();
            racks
        };
        (first[place]..first[place] + input.partitions[place] as usize).map(once).collect()
    };
    group.topic_places.iter().map(of_topic).collect()
}

/// glibc's `msort_with_tmp`, for a comparison that need not be transitive.
fn merge_sort(values: &mut [MemberIx], compare: &impl Fn(MemberIx, MemberIx) -> Ordering) {
    if values.len() <= 1 {
        return;
    }
    let half = values.len() / 2;
    merge_sort(&mut values[..half], compare);
    merge_sort(&mut values[half..], compare);
    let (left, right) = (values[..half].to_vec(), values[half..].to_vec());
    let (mut left, mut right) = (&left[..], &right[..]);
    for value in values {
        *value = match (left, right) {
            ([one, later @ ..], [other, ..]) if compare(*one, *other) != Ordering::Greater => {
                left = later;
                *one
            }
            ([one, later @ ..], []) => {
                left = later;
                *one
            }
            (_, [other, later @ ..]) => {
                right = later;
                *other
            }
            ([], []) => return,
        };
    }
}
