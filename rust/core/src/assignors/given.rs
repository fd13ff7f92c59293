//! A group as a caller has it, in columns.

use super::lists::Lists;
use crate::java::uuid::TopicId;

/// As many partitions as one group may have: some gigabytes of numbers, and a hundred times a large cluster's.
pub const MOST_PARTITIONS: u32 = 1 << 27;

/// A group in columns, as a caller has it.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    /// The topics' names, each once, in the order in which a broker's metadata would list them.
    pub topics: Vec<&'a str>,
    /// How many partitions each topic has; none where the broker does not know it.
    pub partitions: Vec<u32>,
    /// By topic and partition, one topic behind the other, the racks of the replicas; no lists where there are none.
    pub racks: Lists<u32>,
    /// In the same order, the rack of each partition's leader, for other clients' assignors; empty where there are none.
    pub leader_racks: Vec<Option<u32>>,
    /// The members' ids, each once, in the order of the `JoinGroup` response, in which they are put into Java's map.
    pub members: Vec<&'a str>,
    /// Each member's `group.instance.id`.
    pub instance_ids: Vec<Option<&'a str>>,
    /// Each member's `client.rack`.
    pub member_racks: Vec<Option<u32>>,
    /// Each member's subscription, as places in `topics`, in the order in which it is sent.
    pub subscribed: Lists<u32>,
    /// Whether each member says at all what it owns.
    pub sends: Vec<bool>,
    /// What each member says that it owns: a place in `topics`, and a partition.
    pub owned: Lists<(u32, i32)>,
    /// The generation in which it came to own that, -1 where it does not know.
    pub generations: Vec<i32>,
    /// Of the one topic's partitions, the order in which `old-roundrobin` deals them; empty where the topic's own
    /// order counts.
    pub order: Vec<u32>,
    /// The topics' ids, for the broker's assignors alone.
    pub topic_ids: Vec<TopicId>,
    /// Whether each topic is not there at all: its Metadata response does not have it.
    pub missing: Vec<bool>,
    /// What is chosen for the assignors of other clients.
    pub options: Options,
}

/// What an assignor of another client is told besides the group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What stands for chance where the client leaves something to it.
    pub seed: u64,
    /// franz-go's `BalanceRacks`.
    pub balance_racks: bool,
    /// Whether generations and orders of what members own are what the leader read, from members of any client. Otherwise
    /// kafka-python's are what its own members would have sent.
    pub as_read: bool,
}

/// No member, and no partition.
pub(super) const NONE: u32 = u32::MAX;
