//! The sticky partition of Kafka 2.4 to 3.2 (`StickyPartitionCache`, of `DefaultPartitioner` and `UniformStickyPartitioner`;
//! exact to 2.8.2).
//!
//! Records go to one partition, drawn among those with a leader, until one of them would begin a batch. Then another
//! one is drawn, and never the same one if several have a leader. `DefaultPartitioner` does this for records without a
//! key, `UniformStickyPartitioner` for all.

use super::draws::Draws;
use super::topic::Topic;
use crate::Result;

/// The partition with which a topic stays; none before the first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StickyCache(Option<i32>);

impl StickyCache {
    /// The partition; none before the first record.
    #[inline]
    pub(super) fn get(self) -> Option<i32> {
        self.0
    }

    /// The partition, drawn before the first record.
    #[inline]
    pub(super) fn partition(&mut self, topic: &Topic, draws: &mut Draws) -> Result<i32> {
        match self.0 {
            Some(partition) => Ok(partition),
            None => self.next(topic, -1, draws),
        }
    }

    /// Moves on, if the topic still has the partition at which a batch was begun: to another one if several have a
    /// leader, to any one if none has.
    pub(super) fn next(&mut self, topic: &Topic, previous: i32, draws: &mut Draws) -> Result<i32> {
        if let Some(partition) = self.0.filter(|&partition| partition != previous) {
            return Ok(partition);
        }
        let next = match topic.available[..] {
            [] => topic.of_all(draws.positive()?)?,
            [only] => only,
            ref several => loop {
                let other = Topic::one_of(several, draws.positive()?);
                if self.0 != Some(other) {
                    break other;
                }
            },
        };
        self.0 = Some(next);
        Ok(next)
    }
}
