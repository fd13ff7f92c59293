//! A topic as a producer's metadata shows it.

use std::collections::HashSet;

use crate::{Error, Result};

/// One partition of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its number.
    pub id: i32,
    /// Whether it has a leader.
    pub available: bool,
    /// Whether its leader is where the producer wants to write: in its rack, or as `leader` asks.
    pub near: bool,
}

/// A topic's partitions in the order of the metadata, which several strategies follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    pub(super) name: String,
    pub(super) all: Vec<i32>,
    /// Those with a leader: `Cluster.availablePartitionsForTopic`.
    pub(super) available: Vec<i32>,
    /// Those of them that are near.
    pub(super) near: Vec<i32>,
}

impl Topic {
    /// The partitions of a topic, in the order of the metadata.
    ///
    /// # Errors
    /// [`Error::Producer`] if a partition is there twice, or has a number below 0.
    pub fn new(name: &str, partitions: &[Partition]) -> Result<Self> {
        let mut seen = HashSet::new();
        for &Partition { id, .. } in partitions {
            if id < 0 {
                return Err(Error::Producer(format!("topic {name:?} cannot have the partition {id}")));
            }
            if !seen.insert(id) {
                return Err(Error::Producer(format!("topic {name:?} has the partition {id} twice")));
            }
        }
        let those = |belongs: fn(&Partition) -> bool| {
            partitions.iter().filter(|&partition| belongs(partition)).map(|partition| partition.id).collect()
        };
        Ok(Self {
            name: name.to_owned(),
            all: those(|_| true),
            available: those(|partition| partition.available),
            near: those(|partition| partition.available && partition.near),
        })
    }

    /// How many partitions it has, with a leader or without.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// If a topic has no available partition, Kafka takes the drawn or counted number as the partition's number,
    /// whether that exists or not.
    pub(super) fn of_all(&self, number: u32) -> Result<i32> {
        match u32::try_from(self.all.len()) {
            Ok(count @ 1..) => Ok((number % count).cast_signed()),
            _ => Err(Error::Producer(format!(
                "topic {:?} has no partitions (Kafka's own partitioner throws ArithmeticException: / by zero)",
                self.name
            ))),
        }
    }

    /// One of some of its partitions, which must not be empty.
    pub(super) fn one_of(among: &[i32], number: u32) -> i32 {
        // There are never more than fit into Java's int; a 32-bit division is faster.
        let count = u32::try_from(among.len()).unwrap_or(u32::MAX);
        among[(number % count) as usize]
    }

    /// One of those with a leader, or of all if none has one.
    pub(super) fn one(&self, number: u32) -> Result<i32> {
        if self.available.is_empty() {
            self.of_all(number)
        } else {
            Ok(Self::one_of(&self.available, number))
        }
    }
}
