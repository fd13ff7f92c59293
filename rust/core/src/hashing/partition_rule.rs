//! A rule from key bytes to a partition: a hash, and how its sign is lost on the way to 0..n. Every client has one.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{
    Partitions, array_hash, crc32, event_hubs, fnv1a, kafka_node, kafkajs_legacy, murmur2, murmur3,
    murmur3_early, phash2, seahash, string_hash, to_positive,
};

/// A hash of a key's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Kafka's murmur2.
    Murmur2,
    /// CRC-32 of zlib.
    Crc32,
    /// The same of as many bytes as the text has characters; of all bytes if they are not text.
    Crc32OfCharacters,
    /// FNV-1a of 32 bits.
    Fnv1a,
    /// Murmur2 in JavaScript's doubles: kafkajs before 2.0.
    KafkajsLegacy,
    /// `String.hashCode`.
    StringHash,
    /// `Arrays.hashCode` of bytes.
    ArrayHash,
    /// `String.hashCode` without sign, and 1 for 0.
    KafkaNode,
    /// Murmur3 for x86 with a seed.
    Murmur3(u32),
    /// The early murmur3 for x64 with a seed.
    Murmur3Early(u32),
    /// `SeaHash`, of 64 bits.
    SeaHash,
    /// Erlang's `phash2` of so many bits.
    Phash2(u32),
    /// `xxHash` of 32 bits with seed 0.
    XxHash32,
    /// The short that Event Hubs makes of lookup3.
    EventHubs,
}

/// How a hash becomes a partition: what is divided by n, and what becomes of a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `toPositive(hash) % n`.
    Masked,
    /// The same, but the largest number is 0.
    MaskedBelowMax,
    /// `hash % n` of an unsigned hash.
    Unsigned,
    /// `hash % n` of a signed hash, where the remainder has the hash's sign, which is then dropped.
    AbsOfRemainder,
    /// `Math.abs(hash) % n`, negative if the hash is -2^31 and n does not divide it.
    Abs,
    /// The same, but 0 if the hash is -2^31.
    AbsOrZero,
}

/// A hash, and how its sign is handled before or after the modulo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The hash.
    pub hash: Hash,
    /// How it becomes a partition.
    pub sign: Sign,
}

/// The steps by which a rule reached a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSteps {
    /// The hash as its client sees it, with or without a sign.
    pub hash: i128,
    /// The number that is divided by n.
    pub dividend: i128,
    /// The remainder, which may be negative, as in Java and Go.
    pub remainder: i128,
    /// The partition; negative only if the client's own is.
    pub partition: i32,
}

impl Hash {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Murmur2 => "murmur2",
            Self::Crc32 => "crc32",
            Self::Crc32OfCharacters => "crc32-of-characters",
            Self::Fnv1a => "fnv1a",
            Self::KafkajsLegacy => "murmur2-kafkajs-legacy",
            Self::StringHash => "string-hash",
            Self::ArrayHash => "array-hash",
            Self::KafkaNode => "string-hash-kafka-node",
            Self::Murmur3(0) => "murmur3",
            Self::Murmur3(_) => "murmur3-seeded",
            Self::Murmur3Early(0) => "murmur3-x64-early",
            Self::Murmur3Early(_) => "murmur3-x64-early-seeded",
            Self::SeaHash => "seahash",
            Self::Phash2(32) => "phash2",
            Self::Phash2(_) => "phash2-27-bits",
            Self::XxHash32 => "xxhash32",
            Self::EventHubs => "lookup3-int16",
        }
    }

    /// Whether it is a hash of characters, and so not of a key's bytes that are no text.
    pub fn is_of_text(self) -> bool {
        matches!(self, Self::StringHash | Self::KafkaNode)
    }

    /// The hash of these bytes, a signed one of 32 bits as the same bits; `None` if it is of text and they are not
    /// text.
    #[inline]
    pub fn of(self, key: &[u8]) -> Option<u64> {
        let bits = match self {
            Self::Murmur2 => murmur2(key).cast_unsigned(),
            Self::Crc32 => crc32(key),
            Self::Crc32OfCharacters => crc32(first_characters(key)),
            Self::Fnv1a => fnv1a(key),
            Self::KafkajsLegacy => kafkajs_legacy(key).cast_unsigned(),
            Self::StringHash => string_hash(key)?.cast_unsigned(),
            Self::ArrayHash => array_hash(key).cast_unsigned(),
            Self::KafkaNode => kafka_node(key)?.cast_unsigned(),
            Self::Murmur3(seed) => murmur3(key, seed),
            Self::Murmur3Early(seed) => murmur3_early(key, seed),
            Self::SeaHash => return Some(seahash(key)),
            Self::Phash2(bits) => phash2(key) & (u32::MAX >> (32 - bits)),
            Self::XxHash32 => twox_hash::XxHash32::oneshot(0, key),
            Self::EventHubs => i32::from(event_hubs(key)).cast_unsigned(),
        };
        Some(bits.into())
    }
}

/// As many of a text's bytes as it has characters: what rdkafka-ruby passes on, which gives librdkafka the length of
/// the text in place of its size. Text of Ruby that is not UTF-8 is binary, where both are the same.
fn first_characters(key: &[u8]) -> &[u8] {
    str::from_utf8(key).map_or(key, |text| &key[..text.chars().count()])
}

impl Sign {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Masked => "masked",
            Self::MaskedBelowMax => "masked-below-max",
            Self::Unsigned => "unsigned",
            Self::AbsOfRemainder => "abs-of-remainder",
            Self::Abs => "abs",
            Self::AbsOrZero => "abs-or-zero",
        }
    }

    /// The step from the hash to a partition, as arithmetic.
    pub fn words(self) -> &'static str {
        match self {
            Self::Masked => "(hash & 0x7fffffff) % n",
            Self::MaskedBelowMax => "(hash & 0x7fffffff) % n, 0 for the largest",
            Self::Unsigned => "hash % n, unsigned",
            Self::AbsOfRemainder => "abs(hash % n), signed",
            Self::Abs => "abs(hash) % n, signed",
            Self::AbsOrZero => "abs(hash) % n, 0 for the smallest hash",
        }
    }

    /// The partition of a key with this hash; negative only if the client's own is.
    #[inline]
    pub fn partition(self, hash: u64, n: Partitions) -> i32 {
        #[expect(clippy::cast_possible_truncation, reason = "only an unsigned hash has more than 32 bits")]
        let (signed, count) = ((hash as u32).cast_signed(), n.get().cast_signed());
        match self {
            Self::Masked => (to_positive(signed) % n.get()).cast_signed(),
            Self::MaskedBelowMax => (below_max(to_positive(signed)) % n.get()).cast_signed(),
            #[expect(clippy::cast_possible_truncation, reason = "a remainder is below n, which is an i32")]
            Self::Unsigned => (hash % u64::from(n.get())) as i32,
            Self::AbsOfRemainder => (signed % count).wrapping_abs(),
            Self::Abs => signed.wrapping_abs() % count,
            Self::AbsOrZero => signed.checked_abs().unwrap_or(0) % count,
        }
    }

    /// The hash as the client sees it, and the number that it divides by n.
    fn dividend(self, hash: u64) -> (i128, i128) {
        #[expect(clippy::cast_possible_truncation, reason = "only an unsigned hash has more than 32 bits")]
        let signed = (hash as u32).cast_signed();
        let seen = if self == Self::Unsigned { i128::from(hash) } else { signed.into() };
        let dividend = match self {
            Self::Masked => to_positive(signed).into(),
            Self::MaskedBelowMax => below_max(to_positive(signed)).into(),
            Self::Unsigned | Self::AbsOfRemainder => seen,
            Self::Abs => signed.wrapping_abs().into(),
            Self::AbsOrZero => signed.checked_abs().unwrap_or(0).into(),
        };
        (seen, dividend)
    }
}

fn below_max(positive: u32) -> u32 {
    if positive == i32::MAX.cast_unsigned() { 0 } else { positive }
}

impl Rule {
    /// The Java producer's.
    pub const MURMUR2: Self = Self { hash: Hash::Murmur2, sign: Sign::Masked };
    /// librdkafka's `consistent`.
    pub const CRC32: Self = Self { hash: Hash::Crc32, sign: Sign::Unsigned };
    /// sarama's default, in Go's int32.
    pub const FNV1A: Self = Self { hash: Hash::Fnv1a, sign: Sign::AbsOfRemainder };
    /// sarama's reference partitioner, which in spite of its name is not Java's.
    pub const FNV1A_REFERENCE: Self = Self { hash: Hash::Fnv1a, sign: Sign::Masked };
    /// kafkajs before 2.0.
    pub const KAFKAJS_LEGACY: Self = Self { hash: Hash::KafkajsLegacy, sign: Sign::Masked };
    /// `Math.abs(key.hashCode()) % n`.
    pub const STRING_HASH: Self = Self { hash: Hash::StringHash, sign: Sign::Abs };
    /// The same with `kafka.utils.Utils.abs` of Kafka 0.8.2.
    pub const OLD_STRING_HASH: Self = Self { hash: Hash::StringHash, sign: Sign::AbsOrZero };

    /// The partition of these key bytes, also of an empty key. `i32::MIN`, which is never a remainder, if they are not
    /// text and the rule needs text.
    #[inline]
    pub fn partition(self, key: &[u8], n: Partitions) -> i32 {
        self.hash.of(key).map_or(i32::MIN, |hash| self.sign.partition(hash, n))
    }

    /// The same with its steps; `None` if the bytes are not text and the rule needs text.
    pub fn steps(self, key: &[u8], n: Partitions) -> Option<RuleSteps> {
        let (hash, dividend) = self.sign.dividend(self.hash.of(key)?);
        let remainder = dividend % i128::from(n.get());
        Some(RuleSteps { hash, dividend, remainder, partition: self.partition(key, n) })
    }
}

/// What a product makes of a key's text before its client hashes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// Nothing.
    AsIs,
    /// Kafka Connect's `JsonConverter` with `schemas.enable=false`: the text in quotes.
    Json,
    /// The same with `schemas.enable=true`, its default: an object with schema and payload.
    JsonWithSchema,
    /// Kafka Streams' window serializers, of whose keys only the inner one counts: so many bytes follow it.
    Windowed(usize),
}

impl KeyForm {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::Json => "json",
            Self::JsonWithSchema => "json-schema",
            Self::Windowed(_) => "windowed",
        }
    }

    /// The bytes that the client hashes; `None` if the product cannot have made such a key.
    pub fn apply(self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let text = || str::from_utf8(key).ok().map(quoted);
        match self {
            Self::AsIs => Some(key.into()),
            Self::Json => Some(text()?.into_bytes().into()),
            Self::JsonWithSchema => Some(
                format!(r#"{{"schema":{{"type":"string","optional":false}},"payload":{}}}"#, text()?)
                    .into_bytes()
                    .into(),
            ),
            Self::Windowed(bytes) => Some(key.get(..key.len().checked_sub(bytes)?)?.into()),
        }
    }
}

/// Text in quotes as Jackson writes it: only quotes, backslashes and control characters are escaped.
fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\u{8}' => json.push_str("\\b"),
            '\t' => json.push_str("\\t"),
            '\n' => json.push_str("\\n"),
            '\u{c}' => json.push_str("\\f"),
            '\r' => json.push_str("\\r"),
            // Writing to text cannot fail.
            '\0'..='\u{1f}' => drop(write!(json, "\\u{:04X}", u32::from(character))),
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}
