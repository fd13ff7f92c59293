//! `kafka.consumer.RoundRobinAssignor` of Kafka 0.10: all partitions in turn over the consumer threads, which are a group's members
//! here.

use crate::assignors::client::group::JavaGroup;
use crate::assignors::client::round_robin::places;
use crate::assignors::lists::{Lists, take_turn};
use crate::index::{PartitionIx, TopicIx, marked, numbered};
use crate::java::scala_maps;
use crate::java::strings::hash_code;

/// All partitions in turn over the threads, skipping those that do not subscribe. Partitions are ordered by the hash
/// code of their texts, or by `order`. So is each thread's list, which is a map in Kafka; there, partitions with the
/// same hash code are ordered by topic and number.
pub(crate) fn assign(group: &JavaGroup<'_>) -> Lists<PartitionIx> {
    let threads: Vec<_> = group.by_id().collect();
    let places = places(group, &threads);
    let mut next = 0;
    let deal = |&(rank, partition): &(u32, PartitionIx)| {
        let place = take_turn(&places[group.row.topic(partition)], &mut next);
        (rank, partition, threads[place])
    };
    let mut dealt: Vec<_> = order(group).iter().map(deal).collect();
    dealt.sort_unstable();
    let dealt: Vec<_> = dealt.into_iter().map(|(_, partition, thread)| (thread, partition)).collect();
    Lists::dealt(group.members(), &dealt)
}

/// All partitions in the order in which they are dealt, each with its rank; partitions without an order among each
/// other have the same rank. Of those with the same hash code, the one whose topic is first in Scala's map comes first.
fn order(group: &JavaGroup<'_>) -> Vec<(u32, PartitionIx)> {
    if !group.order.is_empty() {
        let existing = group.order.iter().copied().filter(|&partition| !group.is_beyond(partition));
        return numbered(existing).collect();
    }
    let text = |partition: PartitionIx| {
        let topic = group.topics[group.row.topic(partition)];
        format!("[{topic},{}]", group.number(partition))
    };
    let walked = topic_walk(group).into_iter().flat_map(|topic| group.row.of(topic));
    let mut partitions: Vec<_> = walked.map(|partition| (hash_code(&text(partition)), partition)).collect();
    partitions.sort_by_key(|&(hash, _)| hash);
    // An unsigned number that sorts like the signed one.
    let rank = |hash: i32| hash.cast_unsigned() ^ (1 << 31);
    partitions.into_iter().map(|(hash, partition)| (rank(hash), partition)).collect()
}

/// The order in which Kafka walks its map of the topics' partitions. It reads the subscription of its first consumer,
/// which has all topics, as JSON into an immutable map. From that it makes, one after the other, the maps of that
/// consumer's threads, of all consumers' threads, of replicas and of partitions. Here the JSON has the topics by name.
fn topic_walk(group: &JavaGroup<'_>) -> Vec<TopicIx> {
    let is_read = marked(group.topics.len(), group.subscribed.named().iter().copied());
    let read = numbered(is_read).filter(|&(_, is_read)| is_read).map(|(topic, _)| topic).collect();
    let hashes: Vec<_> = group.topics.iter().map(|topic| hash_code(topic)).collect();
    let subscription = scala_maps::immutable(&hashes, read);
    (0..4).fold(subscription, |walked, _| scala_maps::mutable(&hashes, &walked))
}
