//! From key bytes to a partition: the hash, its sign and the modulo, as each client does it.

mod blocks;
mod clients;
mod crc32;
mod fnv1a;
mod jenkins;
mod kafkajs_legacy;
mod key_type;
#[cfg(feature = "arrow")]
pub(crate) mod lanes;
mod murmur2;
mod murmur3;
mod partition_rule;
mod partitions;
mod products;
mod redpanda;
mod seahash;
pub mod serializer;
mod string_hash;
pub mod text_form;

pub use clients::{Client, Evidence, Keyless, Product, Profile};
pub use crc32::crc32;
pub use fnv1a::fnv1a;
pub use jenkins::{event_hubs, phash2};
pub use kafkajs_legacy::kafkajs_legacy;
pub use key_type::KeyType;
pub use murmur2::murmur2;
pub use murmur3::{murmur3, murmur3_early};
pub use partition_rule::{Hash, KeyForm, Rule, RuleSteps, Sign};
pub use partitions::{Partitions, to_positive};
pub use redpanda::redpanda_coordinator;
pub use seahash::seahash;
pub use string_hash::{array_hash, kafka_node, string_hash};

/// The partition that the Java producer gives a record with these key bytes, an empty key included.
///
/// `BuiltInPartitioner.partitionForKey` (kafka-clients 0.8.2 to 4.4.0): `toPositive(murmur2(key)) % n`, where n counts
/// all partitions of the topic, those without a leader too.
///
/// ```
/// use partwright_core::hashing::{Partitions, partition_for_key};
/// assert_eq!(partition_for_key(b"TT0124", Partitions::new(15)?), 10);
/// # Ok::<(), partwright_core::Error>(())
/// ```
#[inline]
pub fn partition_for_key(key: &[u8], n: Partitions) -> i32 {
    Rule::MURMUR2.partition(key, n)
}
