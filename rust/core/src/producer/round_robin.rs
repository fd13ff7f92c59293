//! Round robin: one partition after the other, whatever the key (`RoundRobinPartitioner`, since Kafka 2.4).
//!
//! Each topic has a counter from 0 on, used without its sign: its remainder by the number of partitions with a leader
//! is the next one's place among them, in the metadata's order. If none has a leader, the remainder by all is the
//! partition's number. Records with and without a key get the same turns.
//!
//! | Kafka | a record that would begin a batch |
//! | --- | --- |
//! | 2.4 to 3.9.1 | is asked about twice and counts twice: of an even number of partitions every other one gets nothing (KAFKA-9965) |
//! | 3.9.2 | is asked about twice, and the second answer is the first one's, kept for the thread's next record: [`BegunAt`] |
//! | 4.0 on | is asked about once |

use super::topic::Topic;
use crate::Result;
use crate::hashing::to_positive;

/// A topic's counter; none before the first record. `leader` and `fallback` count by it, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counter(Option<i32>);

impl Counter {
    /// Continues from there.
    pub(super) fn set(&mut self, counter: i32) {
        self.0 = Some(counter);
    }

    /// Whether nothing was counted yet.
    pub(super) fn is_unset(self) -> bool {
        self.0.is_none()
    }

    /// The next number, without its sign.
    #[inline]
    pub(super) fn count(&mut self) -> u32 {
        let counter = self.0.get_or_insert(0);
        let number = to_positive(*counter);
        *counter = counter.wrapping_add(1);
        number
    }

    /// The next partition of a topic.
    #[inline]
    pub(super) fn partition(&mut self, topic: &Topic) -> Result<i32> {
        topic.one(self.count())
    }

    /// The next partitions of a topic, if something was counted and a partition has a leader.
    #[inline]
    pub(super) fn turns<'a>(&'a mut self, topic: &'a Topic) -> Option<Turns<'a>> {
        let counter = self.0.as_mut().filter(|_| !topic.available.is_empty());
        counter.map(|counter| Turns::new(&topic.available, counter))
    }
}

/// For 3.9.2: the topic and partition at which a batch was to begin, kept for the next record of its thread, whatever
/// its topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BegunAt(Option<(usize, i32)>);

impl BegunAt {
    /// A batch was to begin there.
    pub(super) fn keep(&mut self, topic: usize, partition: i32) {
        self.0 = Some((topic, partition));
    }

    /// The partition, once, if it belongs to this topic; for another topic it is forgotten.
    #[inline]
    pub(super) fn take(&mut self, topic: usize) -> Option<i32> {
        self.0.take().filter(|&(previous, _)| previous == topic).map(|(_, partition)| partition)
    }
}

/// Round robin's next partitions, without a division for each.
pub(super) struct Turns<'a> {
    among: &'a [i32],
    counter: &'a mut i32,
    place: usize,
}

impl<'a> Turns<'a> {
    /// The turns among these partitions, which must not be empty.
    #[inline]
    fn new(among: &'a [i32], counter: &'a mut i32) -> Self {
        let place = to_positive(*counter) as usize % among.len();
        Self { among, counter, place }
    }

    #[inline]
    pub(super) fn next(&mut self) -> i32 {
        let partition = self.among[self.place];
        *self.counter = self.counter.wrapping_add(1);
        self.place += 1;
        // Java's counter continues below 0, where its number without a sign begins with 0 again.
        if self.place == self.among.len() || to_positive(*self.counter) == 0 {
            self.place = 0;
        }
        partition
    }
}
