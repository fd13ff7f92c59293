//! Who may read which topics, if members' subscriptions differ.

use super::group::JavaGroup;
use crate::assignors::lists::Lists;
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx, numbered};

/// Who may read which topics.
pub(crate) struct TopicReaders {
    /// Each member's existing topics, as often as it names them.
    pub(crate) of: Lists<TopicIx>,
    /// How often each topic is named.
    pub(crate) readers: Vec<usize>,
    /// By topic, bits: whether a member subscribes to it.
    subscribed: Vec<u64>,
    words: usize,
    /// Topics in the order in which they are dealt: those with few readers first.
    sorted: Vec<TopicIx>,
    /// Whether some member names a topic twice.
    pub(crate) named_twice: bool,
}

impl TopicReaders {
    pub(crate) fn new(group: &JavaGroup<'_>) -> Self {
        let words = group.members().div_ceil(64);
        let mut topics = Self {
            of: Lists::default(),
            readers: vec![0; group.topics.len()],
            subscribed: vec![0; group.topics.len() * words],
            words,
            sorted: Vec::new(),
            named_twice: false,
        };
        for member in group.by_id() {
            for &topic in group.subscribed.get(member) {
                if group.row.count(topic) > 0 {
                    topics.of.values.push(topic);
                    topics.readers[topic] += 1;
                    let word = &mut topics.subscribed[topic.place() * words + member.place() / 64];
                    topics.named_twice |= *word >> (member.0 % 64) & 1 == 1;
                    *word |= 1 << (member.0 % 64);
                }
            }
            topics.of.end();
        }
        topics.sorted =
            numbered(&topics.readers).filter(|(_, readers)| **readers > 0).map(|(topic, _)| topic).collect();
        topics.sorted.sort_by_key(|&topic| topics.readers[topic]);
        topics
    }

    pub(crate) fn reads(&self, member: MemberIx, topic: TopicIx) -> bool {
        self.readers_of(topic)[member.place() / 64] >> (member.0 % 64) & 1 == 1
    }

    /// Bits of the members that subscribe to a topic.
    pub(crate) fn readers_of(&self, topic: TopicIx) -> &[u64] {
        &self.subscribed[topic.place() * self.words..(topic.place() + 1) * self.words]
    }

    /// Whether a topic could be read by another member.
    pub(crate) fn shared(&self, topic: TopicIx) -> bool {
        self.readers[topic] >= 2
    }

    /// How many partitions a member could have at most, as Kafka counts.
    pub(crate) fn most(&self, group: &JavaGroup<'_>, member: MemberIx) -> usize {
        if self.of.get(member).len() == self.sorted.len() {
            return group.partitions().len();
        }
        self.named(group, member)
    }

    /// How many partitions a member's topics have, each topic counted as often as it is named.
    pub(crate) fn named(&self, group: &JavaGroup<'_>, member: MemberIx) -> usize {
        self.of.get(member).iter().map(|&topic| group.row.count(topic) as usize).sum()
    }

    /// All partitions, in the order in which they are dealt.
    pub(crate) fn partitions(&self, group: &JavaGroup<'_>) -> Vec<PartitionIx> {
        self.sorted.iter().flat_map(|&topic| group.row.of(topic)).collect()
    }
}
