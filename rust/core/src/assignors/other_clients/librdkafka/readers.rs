//! Who may read what in a group of `cooperative-sticky`.

use super::leader::Leader;
use crate::index::{MemberIx, TopicIx};

/// Who may read what.
pub(super) struct LibrdkafkaReaders {
    /// By topic, its readers in the order of members.
    pub(super) of_topic: Vec<Vec<MemberIx>>,
    /// By member, its topics, sorted, each once.
    pub(super) topics: Vec<Vec<TopicIx>>,
    /// By member, how many partitions its topics have.
    pub(super) most: Vec<usize>,
}

impl LibrdkafkaReaders {
    pub(super) fn new(leader: &Leader<'_>) -> Self {
        let mut readers = Self {
            of_topic: vec![Vec::new(); leader.group.topics.len()],
            topics: vec![Vec::new(); leader.group.members()],
            most: vec![0; leader.group.members()],
        };
        let mut topics: Vec<_> = leader.topics.iter().collect();
        topics.sort_by_key(|topic| topic.topic);
        for topic in topics {
            for &member in &topic.members {
                readers.topics[member].push(topic.topic);
                readers.most[member] += leader.count(topic.topic);
            }
            readers.of_topic[topic.topic].clone_from(&topic.members);
        }
        readers
    }

    pub(super) fn reads(&self, member: MemberIx, topic: TopicIx) -> bool {
        self.topics[member].binary_search(&topic).is_ok()
    }
}
