//! Who may read what, from members' subscriptions as they were sent.

use crate::assignors::other_clients::numbered::Numbered;
use crate::index::{Indices, MemberIx, TopicIx};

/// Who may read what.
pub(super) struct SubscriptionReaders {
    /// By topic, its readers in the order given; a member that names it twice is there twice.
    pub(super) of_topic: Vec<Vec<MemberIx>>,
    /// By member, its topics, sorted, each once.
    pub(super) topics: Vec<Vec<TopicIx>>,
    /// By member, how many partitions its subscription has; a topic that it names twice counts twice.
    pub(super) most: Vec<usize>,
}

impl SubscriptionReaders {
    pub(super) fn new(group: &Numbered<'_>) -> Self {
        let mut of_topic = vec![Vec::new(); group.topics.len()];
        for &member in &group.numbers {
            for &topic in &group.subscribed[member] {
                of_topic[topic].push(member);
            }
        }
        let once = |topics: &Vec<TopicIx>| {
            let mut topics = topics.clone();
            topics.sort_unstable();
            topics.dedup();
            topics
        };
        let count = |topics: &Vec<TopicIx>| topics.iter().map(|&topic| group.of_topic(topic).len()).sum();
        Self {
            of_topic,
            topics: group.subscribed.iter().map(once).collect(),
            most: group.subscribed.iter().map(count).collect(),
        }
    }

    pub(super) fn reads(&self, member: MemberIx, topic: TopicIx) -> bool {
        self.topics[member].binary_search(&topic).is_ok()
    }

    /// `_are_subscriptions_identical`: lists are compared, in the order in which topics were sent.
    pub(super) fn are_identical(&self, group: &Numbered<'_>) -> bool {
        let has_partitions = |topic: &TopicIx| group.row.count(*topic) > 0;
        let mut topics =
            Indices::first(group.topics.len()).filter(has_partitions).map(|topic| &self.of_topic[topic]);
        let mut members =
            group.subscribed.iter().map(|topics| topics.iter().filter(|topic| has_partitions(topic)));
        let first = topics.next();
        let Some(one) = members.next() else { return true };
        topics.all(|other| Some(other) == first) && members.all(|other| other.eq(one.clone()))
    }
}
