//! Kafka's placement in the days of `ZooKeeper`: `org.apache.kafka.admin.AdminUtils.assignReplicasToBrokers`, with
//! racks and without (exact to kafka-server-common 3.9.2; 4.0.1 still has the class, 4.1.0 no longer).
//!
//! Leaders go round the brokers. The second replica's distance from the first is drawn, and grows by one with each
//! round; the others follow it. With racks, brokers are first listed one rack after the other in turn, and a rack (then
//! a broker) that has a replica is skipped as long as another has none.

use std::collections::HashMap;

use super::room;
use crate::Result;
use crate::java::strings::compare;

/// Where the placement begins; Kafka draws the first two, from 0 to the number of brokers minus 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The broker that leads partition 0.
    pub index: usize,
    /// How far the second replica is from the first.
    pub shift: usize,
    /// The number of the first new partition, if a topic gets more of them.
    pub partition: usize,
}

/// For brokers without racks (`assignReplicasToBrokersRackUnaware`), in ascending order.
///
/// ```
/// use partwright_core::placement::zookeeper::{Start, rack_unaware};
/// let placed = rack_unaware(&[0, 1, 2, 3, 4], 6, 3, Start::default())?;
/// assert_eq!(placed[..6], [0, 1, 2, 1, 2, 3]);
/// assert_eq!(placed[15..], [0, 2, 3]);
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Placement`](crate::Error::Placement) for no replicas, or more than brokers; [`Error::Memory`](crate::Error::Memory).
pub fn rack_unaware(ids: &[i32], partitions: usize, replicas: usize, start: Start) -> Result<Vec<i32>> {
    let mut placed = room(partitions, replicas, ids.len())?;
    for (leader, shift) in leaders(ids.len(), partitions, start) {
        placed.push(ids[leader]);
        placed.extend((0..replicas - 1).map(|each| ids[follower(leader, shift + each, ids.len())]));
    }
    Ok(placed)
}

/// For brokers that all have a rack (`assignReplicasToBrokersRackAware`), in any order.
///
/// # Errors
/// As [`rack_unaware`].
pub fn rack_aware(
    brokers: &[(i32, &str)],
    partitions: usize,
    replicas: usize,
    start: Start,
) -> Result<Vec<i32>> {
    let mut placed = room(partitions, replicas, brokers.len())?;
    let alternated = alternated(brokers);
    let racks = alternated.iter().map(|&(_, rack)| rack + 1).max().unwrap_or_default();
    // The last partition, counted from 1, of which a broker or rack has a replica.
    let (mut of_broker, mut of_rack) = (vec![0; brokers.len()], vec![0; racks]);
    for (number, (leader, shift)) in (1..).zip(leaders(brokers.len(), partitions, start)) {
        let (mut count, mut used, mut tried, mut place) = (0, 0, 0, leader);
        loop {
            let (id, rack) = alternated[place];
            if of_broker[place] != number && (of_rack[rack] != number || used == racks) {
                placed.push(id);
                count += 1;
                used += usize::from(of_rack[rack] != number);
                (of_broker[place], of_rack[rack]) = (number, number);
            }
            if count == replicas {
                break;
            }
            place = follower(leader, shift * racks + tried, brokers.len());
            tried += 1;
        }
    }
    Ok(placed)
}

/// The brokers' IDs, one of each rack in turn: racks by name, brokers by ID (`getRackAlternatedBrokerList`).
///
/// ```
/// use partwright_core::placement::zookeeper::rack_alternated;
/// let brokers = [(0, "a"), (1, "c"), (2, "c"), (3, "b"), (4, "b"), (5, "a")];
/// assert_eq!(rack_alternated(&brokers), [0, 3, 1, 5, 4, 2]);
/// ```
pub fn rack_alternated(brokers: &[(i32, &str)]) -> Vec<i32> {
    alternated(brokers).into_iter().map(|(id, _)| id).collect()
}

/// The same, each with the number of its rack.
fn alternated(brokers: &[(i32, &str)]) -> Vec<(i32, usize)> {
    let mut names: Vec<&str> = brokers.iter().map(|&(_, rack)| rack).collect();
    names.sort_unstable_by(|one, other| compare(one, other));
    names.dedup();
    let numbers: HashMap<&str, usize> = names.iter().zip(0..).map(|(&name, number)| (name, number)).collect();
    let mut queues = vec![Vec::new(); names.len()];
    for (id, rack) in brokers {
        queues[numbers[rack]].push(*id);
    }
    let mut turns: Vec<(usize, usize, i32)> = Vec::with_capacity(brokers.len());
    for (rack, mut queue) in queues.into_iter().enumerate() {
        queue.sort_unstable();
        turns.extend(queue.into_iter().enumerate().map(|(turn, id)| (turn, rack, id)));
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, rack, id)| (id, rack)).collect()
}

/// The place of each partition's leader among the brokers, and the shift of its round.
fn leaders(brokers: usize, partitions: usize, start: Start) -> impl Iterator<Item = (usize, usize)> {
    let mut shift = start.shift;
    (start.partition..).take(partitions).map(move |partition| {
        if partition > 0 && partition % brokers == 0 {
            shift += 1;
        }
        ((partition + start.index) % brokers, shift)
    })
}

/// `replicaIndex`: a place other than the leader's, at this distance from the one after it.
fn follower(leader: usize, shift: usize, brokers: usize) -> usize {
    (leader + 1 + shift % (brokers - 1)) % brokers
}
