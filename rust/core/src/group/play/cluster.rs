//! The topics of a play's cluster.

use super::super::Set;
use crate::interned::Name;

/// The cluster's topics as they are now.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Each with its number of partitions; `None` if it does not exist.
    pub topics: Vec<(Name, Option<u32>)>,
    /// The topics that get no records.
    pub idle_topics: Set<u32>,
}

impl Cluster {
    /// Whether records come in a topic.
    pub(super) fn has_records(&self, topic: u32) -> bool {
        !self.idle_topics.contains(&topic) && self.topics[topic as usize].1.is_some()
    }

    /// The numbers of partitions that a client learns which asks for some of the topics.
    pub(super) fn counts(&self, asks_for: impl Fn(u32) -> bool) -> Vec<Option<u32>> {
        (0..).zip(&self.topics).map(|(topic, (_, count))| count.filter(|_| asks_for(topic))).collect()
    }
}
