//! The assignors of kafka-clients, which run on the leader of a consumer group.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `group` | a group as numbers |
//! | `range` | `RangeAssignor` |
//! | `round_robin` | `RoundRobinAssignor` |
//! | `sticky` | `StickyAssignor` and `CooperativeStickyAssignor`: which of two algorithms |
//! | `owned_partitions` | what members say that they own, and who is believed |
//! | `constrained_assignment` | the sticky algorithm for equal subscriptions |
//! | `general_assignment`, `balance`, `partition_set` | the sticky algorithm for unequal ones |
//! | `sorted_members` | members by how many partitions they have |
//! | `subscribed` | what each member subscribes to |
//! | `subscriptions` | who may read which topics |
//! | `cooperative_sticky` | what is withheld for the second rebalance |
//! | `rack_awareness` | which racks matter (KIP-881) |

pub(super) mod balance;
pub(super) mod constrained_assignment;
pub(super) mod cooperative_sticky;
mod general_assignment;
pub(super) mod group;
pub(super) mod owned_partitions;
mod partition_set;
mod rack_awareness;
pub(super) mod range;
pub(super) mod round_robin;
pub(super) mod sorted_members;
pub(super) mod sticky;
mod subscribed;
pub(super) mod subscriptions;
