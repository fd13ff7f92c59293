//! The seven rules from key bytes to a partition. Each is a hash and a step to 0..n, and every client uses one of them.

use super::{Partitions, crc32, fnv1a, kafkajs_legacy, murmur2, string_hash, to_positive};

/// A hash, and how its sign is handled before or after the modulo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `toPositive(murmur2(key)) % n`: the Java producer's.
    Murmur2,
    /// `crc32(key) % n`, unsigned: librdkafka's `consistent`.
    Crc32,
    /// `fnv1a(key) % n` in Go's int32, where the remainder has the hash's sign, which is then dropped: sarama's
    /// default.
    Fnv1a,
    /// `(fnv1a(key) & 0x7fffffff) % n`: sarama's reference partitioner, which in spite of its name is not Java's.
    Fnv1aReference,
    /// `(h & 0x7fffffff) % n`, where h is murmur2 in JavaScript's doubles: kafkajs before 2.0.
    KafkajsLegacy,
    /// `Math.abs(key.hashCode()) % n`, negative if `hashCode` is -2^31 and n does not divide it.
    StringHash,
    /// The same with `kafka.utils.Utils.abs` of Kafka 0.8.2, which is 0 if `hashCode` is -2^31.
    OldStringHash,
}

/// The steps by which a rule reached a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSteps {
    /// The hash as its client sees it: CRC-32 unsigned, all others signed.
    pub hash: i64,
    /// The number that is divided by n.
    pub dividend: i64,
    /// The remainder, which may be negative, as in Java and Go.
    pub remainder: i64,
    /// The partition; negative only if Java's own is.
    pub partition: i32,
}

impl Rule {
    /// The name of the hash.
    pub fn hash(self) -> &'static str {
        match self {
            Self::Murmur2 => "murmur2",
            Self::Crc32 => "crc32",
            Self::Fnv1a | Self::Fnv1aReference => "fnv1a",
            Self::KafkajsLegacy => "murmur2-kafkajs-legacy",
            Self::StringHash | Self::OldStringHash => "string-hash",
        }
    }

    /// The step from the hash to a partition, as arithmetic.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Murmur2 | Self::Fnv1aReference | Self::KafkajsLegacy => "(hash & 0x7fffffff) % n",
            Self::Crc32 => "hash % n, unsigned",
            Self::Fnv1a => "abs(hash % n), signed",
            Self::StringHash => "abs(hash) % n, signed",
            Self::OldStringHash => "abs(hash) % n, 0 for the smallest hash",
        }
    }

    /// The partition of these key bytes, also of an empty key. `i32::MIN`, which is never a remainder, if they are not
    /// text and the rule needs text.
    #[inline]
    pub fn partition(self, key: &[u8], n: Partitions) -> i32 {
        self.hash_of(key).map_or(i32::MIN, |hash| self.partition_of_hash(hash, n))
    }

    /// The hash of these key bytes, which is all that the rule uses of them; `None` if they are not text and the rule
    /// needs text.
    #[inline]
    pub fn hash_of(self, key: &[u8]) -> Option<u32> {
        match self {
            Self::Murmur2 => Some(murmur2(key).cast_unsigned()),
            Self::Crc32 => Some(crc32(key)),
            Self::Fnv1a | Self::Fnv1aReference => Some(fnv1a(key)),
            Self::KafkajsLegacy => Some(kafkajs_legacy(key).cast_unsigned()),
            Self::StringHash | Self::OldStringHash => string_hash(key).map(i32::cast_unsigned),
        }
    }

    /// The partition of a key with this hash; negative only if Java's own is.
    #[inline]
    pub fn partition_of_hash(self, hash: u32, n: Partitions) -> i32 {
        let (signed, count) = (hash.cast_signed(), n.get().cast_signed());
        match self {
            Self::Murmur2 | Self::Fnv1aReference | Self::KafkajsLegacy => {
                (to_positive(signed) % n.get()).cast_signed()
            }
            Self::Crc32 => (hash % n.get()).cast_signed(),
            Self::Fnv1a => (signed % count).wrapping_abs(),
            Self::StringHash => signed.wrapping_abs() % count,
            Self::OldStringHash => signed.checked_abs().unwrap_or(0) % count,
        }
    }

    /// The same with its steps; `None` if the bytes are not text and the rule needs text.
    pub fn steps(self, key: &[u8], n: Partitions) -> Option<RuleSteps> {
        let hash = self.hash_of(key)?;
        let hash = if self == Self::Crc32 { i64::from(hash) } else { hash.cast_signed().into() };
        let dividend = match self {
            Self::Murmur2 | Self::Fnv1aReference | Self::KafkajsLegacy => hash & 0x7fff_ffff,
            Self::Crc32 | Self::Fnv1a => hash,
            // The absolute value of Java's smallest int is that int.
            Self::StringHash if hash == i64::from(i32::MIN) => hash,
            Self::OldStringHash if hash == i64::from(i32::MIN) => 0,
            Self::StringHash | Self::OldStringHash => hash.abs(),
        };
        let remainder = dividend % i64::from(n.get());
        Some(RuleSteps { hash, dividend, remainder, partition: self.partition(key, n) })
    }
}
