//! The clients whose rule from key bytes to a partition is known, by name: one table, of libraries and of products.

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "arrow")]
use super::Sign;
use super::products::PRODUCTS;
use super::{KeyForm, KeyType, Partitions, Rule, RuleSteps};
use crate::names::nearest;
use crate::{Error, Result};

/// What a client does with a key that it may treat as missing: a null key, or one without bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyless {
    /// It is hashed, like a key without bytes.
    Hashed,
    /// It goes to partition 0; of the clients here only null keys do.
    First,
    /// The client chooses a partition without the key, in this way.
    Chosen(&'static str),
}

impl Keyless {
    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Hashed => "hashed",
            Self::First => "partition 0",
            Self::Chosen(how) => how,
        }
    }
}

/// One client's rule from key bytes to a partition, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// `CLIENT` or `CLIENT:PARTITIONER`; a client's bare name is its default.
    pub name: &'static str,
    /// The rule for a key's bytes.
    pub rule: Rule,
    /// What becomes of the key's text before it is hashed.
    pub form: KeyForm,
    /// The rule for a null key.
    pub null_key: Keyless,
    /// The rule for a key without bytes.
    pub empty_key: Keyless,
    /// The library, by the name under which it is installed.
    pub library: &'static str,
    /// The version that wrote the vectors for this profile.
    pub version: &'static str,
    /// The library's own function or class.
    pub source: &'static str,
    /// The configuration that makes this client agree with Java; `None` if it already does, or if none does.
    pub setting: Option<&'static str>,
    /// What is known of a product; `None` for a library.
    pub product: Option<Product>,
}

/// What a product's name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The library's profile that puts the same bytes in the same partition; `None` if no library does.
    pub stands_for: Option<&'static str>,
    /// Which bytes are hashed.
    pub key_bytes: &'static str,
    /// How the rule is known.
    pub evidence: Evidence,
}

/// How a product's rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The whole product ran.
    Live,
    /// Its own rule ran.
    Run,
    /// Its hash ran; what it does with it was read.
    Hash,
    /// Its source was read.
    Read,
    /// Its documentation was read, or the library that it uses is known.
    Documented,
}

impl Evidence {
    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Live => "the product ran",
            Self::Run => "its own rule ran",
            Self::Hash => "its hash ran, its source was read",
            Self::Read => "its source was read",
            Self::Documented => "its documentation was read",
        }
    }
}

impl Profile {
    /// Another partitioner of the same library.
    pub(super) const fn other(self, name: &'static str, rule: Rule, source: &'static str) -> Self {
        Self { name, rule, source, ..self }
    }
}

/// A client profile, by reference; two are equal if their names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client(&'static Profile);

impl Client {
    /// The Java producer's own, which the others are compared with.
    pub const JAVA: Self = Self(&PROFILES[0]);

    /// The brokers' own, which finds a group's partition of `__consumer_offsets` by its ID.
    pub const COORDINATOR: Self = Self(&COORDINATOR);

    /// Every library's profiles, Java's first.
    pub fn libraries() -> impl ExactSizeIterator<Item = Self> {
        PROFILES.iter().map(Self)
    }

    /// Every profile, first those of libraries, then those of products.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::libraries().chain(PRODUCTS.iter().map(Self))
    }

    /// Its row of the table.
    pub fn profile(self) -> &'static Profile {
        self.0
    }

    /// Whether it puts every key where Java does, null and empty keys included.
    pub fn agrees_with_java(self) -> bool {
        let profile = self.0;
        (profile.rule, profile.form, profile.empty_key) == (Rule::MURMUR2, KeyForm::AsIs, Keyless::Hashed)
            && matches!(profile.null_key, Keyless::Chosen(_))
    }

    /// The same in a producer of Kafka 0.8.
    #[must_use]
    pub fn of_kafka_0_8(self) -> Self {
        if self.0.rule == Rule::STRING_HASH { Self(&OLD_STRING_HASH) } else { self }
    }

    /// Refuses a key type whose keys this client's rule does not hash. A number's bytes may be text by accident, but
    /// its `hashCode` is another one.
    ///
    /// # Errors
    /// [`Error::KeyType`] for a client that hashes text and a key type that is not text.
    pub fn check_key_type(self, key_type: Option<KeyType>) -> Result<()> {
        match key_type {
            Some(other) if self.needs_text() && !other.may_be_text() => Err(Error::KeyType(format!(
                "client {self} hashes the characters of text, and a key of type {other} is not text"
            ))),
            _ => Ok(()),
        }
    }

    /// The partition that this client gives a record with these key bytes; `None` if it chooses without the key.
    ///
    /// ```
    /// use partwright_core::hashing::{Client, Partitions};
    /// let (librdkafka, n): (Client, _) = ("librdkafka".parse()?, Partitions::new(15)?);
    /// assert_eq!(librdkafka.partition_for_key(Some(b"TT0124"), n), Ok(Some(9)));
    /// assert_eq!(librdkafka.partition_for_key(Some(b""), n), Ok(None));
    /// assert_eq!(Client::JAVA.partition_for_key(Some(b""), n), Ok(Some(6)));
    /// assert_eq!(Client::JAVA.partition_for_key(None, n), Ok(None));
    /// # Ok::<(), partwright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Key`] if the client itself has no partition for the key, which happens only with `java:string-hash`. A
    /// product has `None` where it fails at a key, or cannot have made it.
    #[inline]
    pub fn partition_for_key(self, key: Option<&[u8]>, n: Partitions) -> Result<Option<i32>> {
        let Some(bytes) = self.hashed(key) else { return Ok(self.partition_without_hash(key)) };
        match self.partition(bytes, n) {
            partition @ 0.. => Ok(Some(partition)),
            _ if self.gives_none() => Ok(None),
            partition => Err(Error::Key { reason: Self::refusal(bytes, n, partition) }),
        }
    }

    /// The partition of key bytes that are hashed, negative if the client has none; `i32::MIN` if it cannot have made
    /// such a key.
    #[inline]
    pub(crate) fn partition(self, key: &[u8], n: Partitions) -> i32 {
        match self.0.form {
            KeyForm::AsIs => self.0.rule.partition(key, n),
            form => form.apply(key).map_or(i32::MIN, |key| self.0.rule.partition(&key, n)),
        }
    }

    /// Whether having no partition is the client's answer, not a fault of the key: a product that fails at a key, or
    /// cannot have made it, places it nowhere.
    pub(crate) fn gives_none(self) -> bool {
        self.0.product.is_some()
    }

    /// The partition of a key that is not hashed; `None` if the client chooses one.
    fn partition_without_hash(self, key: Option<&[u8]>) -> Option<i32> {
        let treatment = if key.is_none() { self.0.null_key } else { self.0.empty_key };
        (treatment == Keyless::First).then_some(0)
    }

    /// How a key becomes a partition; `None` if the client does not hash it, or cannot have made it.
    pub fn steps(self, key: Option<&[u8]>, n: Partitions) -> Option<RuleSteps> {
        self.0.rule.steps(&self.0.form.apply(self.hashed(key)?)?, n)
    }

    /// The hash of key bytes that are hashed; `None` if the client cannot have made such a key.
    #[cfg(feature = "arrow")]
    pub(crate) fn hash(self, key: &[u8]) -> Option<u64> {
        self.0.rule.hash.of(&self.0.form.apply(key)?)
    }

    /// Whether some hashed key may have no partition.
    #[cfg(feature = "arrow")]
    pub(crate) fn may_have_none(self) -> bool {
        self.needs_text() || self.0.form != KeyForm::AsIs || self.0.rule.sign == Sign::Abs
    }

    fn needs_text(self) -> bool {
        self.0.rule.hash.is_of_text() || matches!(self.0.form, KeyForm::Json | KeyForm::JsonWithSchema)
    }

    /// Why a key has no partition, which `partition` shows instead.
    pub(crate) fn refusal(key: &[u8], n: Partitions, partition: i32) -> String {
        let shown: String = String::from_utf8_lossy(key).chars().take(48).collect();
        if partition == i32::MIN {
            return format!("a hashCode is one of text, and the key {shown:?} is not UTF-8");
        }
        format!(
            "the key {shown:?} has the hashCode -2147483648, whose Math.abs is negative: by {} partitions it gives {partition}, \
             and a producer with this partitioner fails",
            n.get()
        )
    }

    /// The key's bytes if they are hashed; `None` if the client chooses without the key.
    pub fn hashed(self, key: Option<&[u8]>) -> Option<&[u8]> {
        let (key, treatment) = match key {
            None => (&[][..], self.0.null_key),
            Some([]) => (&[][..], self.0.empty_key),
            Some(key) => (key, Keyless::Hashed),
        };
        (treatment == Keyless::Hashed).then_some(key)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name)
    }
}

impl FromStr for Client {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::all().find(|client| client.0.name == name).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(|client| client.0.name).collect();
            let lower = name.to_lowercase();
            let known_as = ALIASES.iter().filter(|(alias, _)| lower.contains(alias));
            let platform = PLATFORMS.iter().find(|(names, _)| names.contains(&lower.as_str()));
            let mut nearest = platform.map_or_else(|| nearest(name, &names), |(_, meant)| meant.to_vec());
            if let (true, Some((_, meant))) = (nearest.is_empty(), known_as.into_iter().next()) {
                nearest.push(meant);
            }
            Error::UnknownName {
                field: "client",
                name: name.to_owned(),
                nearest: nearest.into(),
                known: Self::libraries().map(|client| client.0.name).collect(),
            }
        })
    }
}

/// Languages and tools, and the profiles of the clients that they are used with.
const PLATFORMS: [(&[&str], &[&str]); 13] = [
    (&["python", "py"], &["librdkafka", "kafka-python", "aiokafka"]),
    (&["spark", "pyspark", "pyflink", "streams"], &["java"]),
    (
        &["connect", "kafka-connect", "debezium"],
        &["kafka-connect:string", "kafka-connect:json", "kafka-connect:json-schema", "debezium:routing"],
    ),
    (
        &["redpanda-connect", "benthos"],
        &["redpanda-connect:fnv1a_hash", "redpanda-connect:murmur2_hash", "redpanda-connect:kafka_franz"],
    ),
    (
        &["pinot"],
        &["pinot:murmur", "pinot:murmur3", "pinot:murmur3-x64", "pinot:hashcode", "pinot:bytearray"],
    ),
    (&["kafkacat"], &["librdkafka"]),
    (&["go", "golang"], &["franz-go", "sarama", "kafka-go:hash", "librdkafka"]),
    (&["node", "nodejs", "node.js", "javascript", "js", "typescript"], &["kafkajs", "librdkafka"]),
    (&["rust"], &["librdkafka"]),
    (&["dotnet", ".net", "csharp", "c#"], &["librdkafka"]),
    (&["c", "c++", "cpp"], &["librdkafka"]),
    (&["kotlin"], &["java"]),
    (&["spring"], &["spring-kafka", "spring-cloud-stream"]),
];

/// What people call a client: part of a binding's name, and the profile of the library inside it.
const ALIASES: [(&str, &str); 6] = [
    ("confluent", "librdkafka"),
    ("rdkafka", "librdkafka"),
    ("kafka-clients", "java"),
    ("scala", "java"),
    ("kgo", "franz-go"),
    ("segmentio", "kafka-go:hash"),
];

pub(super) const STICKY: Keyless =
    Keyless::Chosen("sticky: one partition until a batch's worth of bytes is written");
pub(super) const RANDOM: Keyless = Keyless::Chosen("random for each record");
const RANDOM_STICKY: Keyless = Keyless::Chosen("random, kept for sticky.partitioning.linger.ms");
pub(super) const RANDOM_AVAILABLE: Keyless =
    Keyless::Chosen("random for each record, among the partitions with a leader");
pub(super) const ROUND_ROBIN: Keyless = Keyless::Chosen("round robin");

pub(super) const JAVA: Profile = Profile {
    name: "java",
    rule: Rule::MURMUR2,
    form: KeyForm::AsIs,
    null_key: STICKY,
    empty_key: Keyless::Hashed,
    library: "kafka-clients",
    version: "4.4.0",
    source: "BuiltInPartitioner.partitionForKey",
    setting: None,
    product: None,
};

pub(super) const LIBRDKAFKA: Profile = Profile {
    name: "librdkafka",
    rule: Rule::CRC32,
    form: KeyForm::AsIs,
    null_key: RANDOM_STICKY,
    empty_key: RANDOM_STICKY,
    library: "librdkafka",
    version: "2.16.0",
    source: "rd_kafka_msg_partitioner_consistent_random",
    setting: Some("partitioner=murmur2_random"),
    product: None,
};

pub(super) const SARAMA: Profile = Profile {
    name: "sarama",
    rule: Rule::FNV1A,
    form: KeyForm::AsIs,
    null_key: RANDOM_AVAILABLE,
    empty_key: Keyless::Hashed,
    library: "github.com/IBM/sarama",
    version: "1.61.1",
    source: "sarama.NewConfig().Producer.Partitioner",
    setting: Some("config.Producer.Partitioner = sarama.NewMurmur2Partitioner"),
    product: None,
};

const KAFKA_GO: Profile = Profile {
    name: "kafka-go:hash",
    rule: Rule::FNV1A,
    form: KeyForm::AsIs,
    null_key: ROUND_ROBIN,
    empty_key: Keyless::Hashed,
    library: "github.com/segmentio/kafka-go",
    version: "0.4.51",
    source: "kafka.Hash{}",
    setting: Some("kafka.Writer{Balancer: kafka.Murmur2Balancer{}}"),
    product: None,
};

const FRANZ_GO: Profile = Profile {
    name: "franz-go",
    rule: Rule::MURMUR2,
    form: KeyForm::AsIs,
    null_key: STICKY,
    empty_key: Keyless::Hashed,
    library: "github.com/twmb/franz-go",
    version: "1.22.2",
    source: "kgo.NewClient().OptValue(kgo.RecordPartitioner)",
    setting: None,
    product: None,
};

const KAFKAJS: Profile = Profile {
    name: "kafkajs",
    rule: Rule::MURMUR2,
    form: KeyForm::AsIs,
    null_key: Keyless::Chosen("round robin over the partitions with a leader"),
    empty_key: Keyless::Hashed,
    library: "kafkajs",
    version: "2.2.4",
    source: "Partitioners.DefaultPartitioner()",
    setting: None,
    product: None,
};

const FRANZ_GO_SETTING: Option<&str> =
    Some("kgo.RecordPartitioner(kgo.UniformBytesPartitioner(64<<10, true, true, nil))");

/// `java:string-hash` as it was in Kafka 0.8; it is not in the table, because that producer is gone.
const OLD_STRING_HASH: Profile = Profile {
    name: "java:string-hash@0.8",
    rule: Rule::OLD_STRING_HASH,
    form: KeyForm::AsIs,
    null_key: Keyless::Chosen("old-null-key: one partition until the metadata is refreshed"),
    empty_key: Keyless::Hashed,
    library: "kafka_2.11",
    version: "0.8.2.2",
    source: "kafka.producer.DefaultPartitioner",
    setting: Some("another producer"),
    product: None,
};

/// What brokers do with the IDs of groups and transactions; it is not in the table, because no producer does it.
const COORDINATOR: Profile = Profile {
    name: "coordinator",
    null_key: Keyless::Chosen("none: there is no group without an id"),
    library: "kafka-group-coordinator",
    version: "4.4.0",
    source: "GroupCoordinatorService.partitionFor",
    setting: Some("no producer"),
    ..OLD_STRING_HASH
};

/// The table. Whatever a row leaves out is as in its library's first row.
const PROFILES: &[Profile] = &[
    JAVA,
    Profile {
        null_key: Keyless::Chosen("none: key.hashCode() fails"),
        setting: Some("without partitioner.class=..., the producer hashes the key's bytes"),
        ..JAVA.other("java:string-hash", Rule::STRING_HASH, "Math.abs(key.hashCode()) % n")
    },
    LIBRDKAFKA,
    Profile {
        null_key: Keyless::Hashed,
        empty_key: Keyless::Hashed,
        ..LIBRDKAFKA.other("librdkafka:consistent", Rule::CRC32, "rd_kafka_msg_partitioner_consistent")
    },
    Profile {
        null_key: Keyless::Hashed,
        empty_key: Keyless::Hashed,
        ..LIBRDKAFKA.other("librdkafka:murmur2", Rule::MURMUR2, "rd_kafka_msg_partitioner_murmur2")
    },
    Profile {
        empty_key: Keyless::Hashed,
        setting: None,
        ..LIBRDKAFKA.other(
            "librdkafka:murmur2_random",
            Rule::MURMUR2,
            "rd_kafka_msg_partitioner_murmur2_random",
        )
    },
    Profile {
        null_key: Keyless::Hashed,
        empty_key: Keyless::Hashed,
        ..LIBRDKAFKA.other("librdkafka:fnv1a", Rule::FNV1A, "rd_kafka_msg_partitioner_fnv1a")
    },
    Profile {
        empty_key: Keyless::Hashed,
        ..LIBRDKAFKA.other("librdkafka:fnv1a_random", Rule::FNV1A, "rd_kafka_msg_partitioner_fnv1a_random")
    },
    SARAMA,
    SARAMA.other("sarama:reference", Rule::FNV1A_REFERENCE, "sarama.NewReferenceHashPartitioner"),
    SARAMA.other("sarama:crc32", Rule::CRC32, "sarama.NewConsistentCRCHashPartitioner"),
    Profile {
        setting: None,
        ..SARAMA.other("sarama:murmur2", Rule::MURMUR2, "sarama.NewMurmur2Partitioner")
    },
    KAFKA_GO,
    Profile {
        null_key: RANDOM,
        ..KAFKA_GO.other("kafka-go:reference", Rule::FNV1A_REFERENCE, "kafka.ReferenceHash{}")
    },
    Profile {
        null_key: RANDOM,
        empty_key: RANDOM,
        ..KAFKA_GO.other("kafka-go:crc32", Rule::CRC32, "kafka.CRC32Balancer{}")
    },
    Profile {
        null_key: RANDOM,
        setting: None,
        ..KAFKA_GO.other("kafka-go:murmur2", Rule::MURMUR2, "kafka.Murmur2Balancer{}")
    },
    FRANZ_GO,
    Profile {
        setting: FRANZ_GO_SETTING,
        ..FRANZ_GO.other(
            "franz-go:sarama-crc32",
            Rule::CRC32,
            "kgo.StickyKeyPartitioner(kgo.SaramaHasher(crc32.ChecksumIEEE))",
        )
    },
    Profile {
        setting: FRANZ_GO_SETTING,
        ..FRANZ_GO.other(
            "franz-go:sarama-compat",
            Rule::FNV1A,
            "kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a))",
        )
    },
    KAFKAJS,
    Profile {
        setting: Some("createPartitioner: Partitioners.DefaultPartitioner"),
        ..KAFKAJS.other("kafkajs:legacy", Rule::KAFKAJS_LEGACY, "Partitioners.LegacyPartitioner()")
    },
    Profile {
        name: "kafka-python",
        null_key: RANDOM_AVAILABLE,
        library: "kafka-python",
        version: "3.0.12",
        source: "DefaultPartitioner().partition",
        ..JAVA
    },
    Profile {
        name: "aiokafka",
        null_key: RANDOM_AVAILABLE,
        library: "aiokafka",
        version: "0.14.0",
        source: "DefaultPartitioner()",
        ..JAVA
    },
];
