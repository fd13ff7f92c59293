//! A group in columns, as the caller passes it.

use super::lists::{Lists, offsets};
use crate::java::uuid::TopicId;

/// The most partitions of one group: some gigabytes of numbers, and a hundred times as many as a large cluster has.
pub const MOST_PARTITIONS: u32 = 1 << 27;

/// A group in columns, as a caller has it.
#[derive(Clone, Debug, Default)]
pub struct Input<'a> {
    /// The topics' names, each once, in the order in which a broker's metadata would list them.
    pub topics: Vec<&'a str>,
    /// How many partitions each topic has; none if the broker does not know it.
    pub partitions: Vec<u32>,
    /// By topic and partition, one topic after the other, the racks of the replicas; no lists if there are none.
    pub racks: Lists<u32>,
    /// In the same order, the rack of each partition's leader, for other clients' assignors; empty if there are none.
    pub leader_racks: Vec<Option<u32>>,
    /// The members' ids, each once, in the order of the `JoinGroup` response, in which they are put into Java's map.
    pub members: Vec<&'a str>,
    /// Each member's `group.instance.id`.
    pub instance_ids: Vec<Option<&'a str>>,
    /// Each member's `client.rack`.
    pub member_racks: Vec<Option<u32>>,
    /// How each member sends that it has no rack, as librdkafka's leader reads it; empty if all use the leader's own
    /// client.
    pub no_racks: Vec<NoRack>,
    /// Each member's subscription, as places in `topics`, in the order in which it is sent.
    pub subscribed: Lists<u32>,
    /// Whether each member says at all what it owns.
    pub sends: Vec<bool>,
    /// What each member says that it owns: a place in `topics`, and a partition.
    pub owned: Lists<(u32, i32)>,
    /// The generation in which it got that; -1 if it does not know.
    pub generations: Vec<i32>,
    /// The order in which `old-roundrobin` deals the one topic's partitions; empty if the topic's own order counts.
    pub order: Vec<u32>,
    /// The topics' IDs, only for the broker's assignors.
    pub topic_ids: Vec<TopicId>,
    /// Whether each topic is missing: the Metadata response does not have it.
    pub missing: Vec<bool>,
    /// Options for the assignors of other clients.
    pub options: Options,
}

impl Input<'_> {
    /// By topic, the place of its first partition in `racks` and `leader_racks`; and the end of the last one.
    pub(super) fn first_partitions(&self) -> Vec<usize> {
        offsets(self.partitions.iter().map(|&count| count as usize))
    }
}

/// How a member sends that it has no rack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoRack {
    /// By an empty text, as librdkafka does.
    #[default]
    Empty,
    /// By null, as Java and franz-go do.
    Null,
    /// Not at all: its subscription is of a version before 3.
    Unsaid,
}

/// The options of another client's assignor, in addition to the group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The seed for what the client leaves to chance.
    pub seed: u64,
    /// franz-go's `BalanceRacks`.
    pub balance_racks: bool,
    /// Whether generations and the orders of owned partitions are as the leader read them, from members of any client.
    /// Otherwise, for kafka-python, they are as its own members would send them.
    pub as_read: bool,
}
