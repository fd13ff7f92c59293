//! Kafka 0.8: the key's partition, otherwise one with a leader that is kept until the metadata is refreshed
//! (`kafka.producer.async.DefaultEventHandler`; exact to `kafka_2.11` 0.8.2.2).
//!
//! Quirks: all records without a key go to one partition for ten minutes (`topic.metadata.refresh.interval.ms`). Before
//! each record, with a key or without, it checks whether a refresh is due, and a refresh forgets the partitions of all
//! topics. A draw goes through `Utils.abs`, its distance from 0, which is 0 for the smallest int.

use super::draws::Draws;
use super::topic::Topic;
use crate::{Error, Result, counted};

/// The state of all topics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OldNullKey {
    /// The partition for each topic's records without a key, by the topic's place; none beyond the end.
    kept: Vec<Option<i32>>,
    /// When the metadata was last refreshed.
    refreshed: Option<i64>,
}

impl OldNullKey {
    /// The partition of a record that is sent `at`; it is `keyed` if it has a key. `place` is its topic's place. There
    /// is no refresh if `refresh_ms` is below 0.
    #[inline(never)]
    pub(super) fn partition(
        &mut self,
        (place, topic): (usize, &Topic),
        keyed: Option<i32>,
        at: i64,
        refresh_ms: i64,
        draws: &mut Draws,
    ) -> Result<i32> {
        let refreshed = *self.refreshed.get_or_insert(at);
        if refresh_ms >= 0 && at.saturating_sub(refreshed) > refresh_ms {
            self.kept.clear();
            self.refreshed = Some(at);
        }
        let refused = |why: String, class: &str| {
            Error::Producer(format!("{why} of topic {:?} (Kafka's own throws {class})", topic.name))
        };
        let unknown = "UnknownTopicOrPartitionException";
        if topic.is_empty() {
            return Err(refused("there is no partition".to_owned(), unknown));
        }
        let partition = match keyed.or(self.kept.get(place).copied().flatten()) {
            Some(partition) => partition,
            None if topic.available.is_empty() => {
                return Err(refused("no leader for any partition".to_owned(), "LeaderNotAvailableException"));
            }
            None => self.keep(place, Topic::one_of(&topic.available, draws.distance()?)),
        };
        if usize::try_from(partition).is_ok_and(|partition| partition < topic.len()) {
            return Ok(partition);
        }
        let partitions = counted(topic.len(), "partition", "partitions");
        Err(refused(format!("partition {partition} is beyond the topic's {partitions}"), unknown))
    }

    fn keep(&mut self, place: usize, partition: i32) -> i32 {
        if self.kept.len() <= place {
            self.kept.resize(place + 1, None);
        }
        self.kept[place] = Some(partition);
        partition
    }
}
