//! The partitions of all topics in one row.

use std::ops::Range;

use super::MOST_PARTITIONS;
use crate::index::{Indices, Ix, PartitionIx, TopicIx, numbered};
use crate::{Error, Result};

/// Partitions that are numbered topic after topic, from each topic's first one on.
#[derive(Debug)]
pub(crate) struct TopicPartitions {
    /// The first partition of each topic, and the end of the last topic.
    starts: Vec<u32>,
    /// The topic of each partition.
    topic_of: Vec<TopicIx>,
}

impl TopicPartitions {
    /// For topics with these numbers of partitions.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`] for more than [`MOST_PARTITIONS`].
    pub(super) fn of_counts(counts: impl Iterator<Item = u32>) -> Result<Self> {
        let (mut starts, mut end) = (vec![0], 0_u32);
        for count in counts {
            end = end
                .checked_add(count)
                .filter(|&end| end <= MOST_PARTITIONS)
                .ok_or(Error::TooManyPartitions { most: MOST_PARTITIONS })?;
            starts.push(end);
        }
        // Memory is allocated only now that their number was checked.
        let mut topic_of = Vec::with_capacity(end as usize);
        for (topic, &end) in numbered(&starts[1..]) {
            topic_of.resize(end as usize, topic);
        }
        Ok(Self { starts, topic_of })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.topic_of.len()
    }

    /// All of them, each with its topic.
    pub(super) fn topics(&self) -> impl Iterator<Item = (PartitionIx, TopicIx)> {
        numbered(self.topic_of.iter().copied())
    }

    /// The partitions of a topic.
    #[inline]
    pub(super) fn of(&self, topic: TopicIx) -> Indices<PartitionIx> {
        self.numbers(topic).map(PartitionIx)
    }

    /// The same as plain numbers, of which some can be skipped at once.
    #[inline]
    pub(super) fn numbers(&self, topic: TopicIx) -> Range<u32> {
        self.starts[topic]..self.starts[topic.place() + 1]
    }

    /// How many partitions a topic has.
    #[inline]
    pub(super) fn count(&self, topic: TopicIx) -> u32 {
        self.starts[topic.place() + 1] - self.starts[topic]
    }

    /// A partition's topic.
    #[inline]
    pub(super) fn topic(&self, partition: PartitionIx) -> TopicIx {
        self.topic_of[partition]
    }

    /// A partition's number in its topic.
    #[inline]
    pub(super) fn number(&self, partition: PartitionIx) -> u32 {
        partition.0 - self.starts[self.topic(partition)]
    }

    /// The partition with a number in a topic, if the topic has it.
    pub(super) fn at(&self, topic: TopicIx, number: i32) -> Option<PartitionIx> {
        let number = u32::try_from(number).ok().filter(|&number| number < self.count(topic))?;
        Some(PartitionIx(self.starts[topic] + number))
    }

    /// One more partition of a topic, after all others.
    pub(super) fn push(&mut self, topic: TopicIx) -> PartitionIx {
        self.topic_of.push(topic);
        PartitionIx::at(self.topic_of.len() - 1)
    }
}
