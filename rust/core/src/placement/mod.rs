//! Where Kafka puts a new topic's replicas: its two placers, with `ZooKeeper` and with `KRaft`.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `zookeeper` | Kafka's placement in the days of `ZooKeeper`, its `AdminUtils` |
//! | `kraft` | `KRaft`'s, its `StripedReplicaPlacer` |
//! | `draws` | the random numbers of the latter, from a seed or recorded |
//!
//! Replicas are one list of broker IDs: the replicas of each partition, its preferred leader first. Kafka's random
//! choices are an argument.

mod draws;
pub mod kraft;
pub mod zookeeper;

pub use draws::PlacementDraws;

use crate::{Error, Result, counted};

/// Room for the replicas of all partitions, each of which has at most as many as there are brokers.
fn room(partitions: usize, replicas: usize, brokers: usize) -> Result<Vec<i32>> {
    if replicas == 0 || replicas > brokers {
        return Err(Error::Placement(format!(
            "a partition cannot have {} on {}: at most one each, and at least one in all",
            counted(replicas, "replica", "replicas"),
            counted(brokers, "broker", "brokers")
        )));
    }
    let mut placed = Vec::new();
    let count = partitions.checked_mul(replicas);
    count.and_then(|count| placed.try_reserve_exact(count).ok()).ok_or(Error::Memory { rows: partitions })?;
    Ok(placed)
}
