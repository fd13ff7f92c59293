//! The sticky partition of Kafka 2.4 to 3.2 (`StickyPartitionCache`).

use super::{Draws, Topic};
use crate::Result;

/// The partition that a topic stays with; none before the first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StickyCache(Option<i32>);

impl StickyCache {
    /// The partition; none before the first record.
    pub(super) fn get(self) -> Option<i32> {
        self.0
    }

    /// The partition, drawn where there is none.
    pub(super) fn partition(&mut self, topic: &Topic, draws: &mut Draws) -> Result<i32> {
        match self.0 {
            Some(partition) => Ok(partition),
            None => self.next(topic, -1, draws),
        }
    }

    /// Moves on, if the topic has still the partition at which a batch was begun: to another one where several have
    /// a leader, and to any where none has.
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
