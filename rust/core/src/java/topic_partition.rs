//! The order of Kafka's `TopicPartition`, by its hash code, in `java.util.HashMap`.

use super::hash_map::Walker;
use super::strings::hash_code;

/// `TopicPartition.hashCode`, from the hash code of its topic's name.
pub fn partition_hash(topic: i32, partition: i32) -> i32 {
    31_i32.wrapping_mul(31_i32.wrapping_add(partition)).wrapping_add(topic)
}

/// The order of each topic's partitions in a client's metadata, which receives all of them in the given order: the walk
/// of `new HashMap<TopicPartition, …>(size)` (`MetadataSnapshot`, before Kafka 3.7 `MetadataCache`).
pub fn walk_partitions(topics: &[(&str, &[i32])]) -> Vec<Vec<i32>> {
    let partitions = (0..).zip(topics).flat_map(|(topic, (_, ids))| ids.iter().map(move |&id| (topic, id)));
    let partitions: Vec<(usize, i32)> = partitions.collect();
    let codes: Vec<i32> = topics.iter().map(|(name, _)| hash_code(name)).collect();
    let hashes = partitions.iter().map(|&(topic, id)| partition_hash(codes[topic], id));
    let inserted: Vec<u32> = (0..).take(partitions.len()).collect();
    let mut walked: Vec<_> = topics.iter().map(|(_, ids)| Vec::with_capacity(ids.len())).collect();
    for place in Walker::new(hashes).walk_from(partitions.len().next_power_of_two(), &inserted) {
        let (topic, id) = partitions[place as usize];
        walked[topic].push(id);
    }
    walked
}
