//! The one table of the clients whose rule from key bytes to a partition is known, by name.

use std::fmt;
use std::str::FromStr;

use super::{KeyType, Partitions, Rule};
use crate::names::nearest;
use crate::{Error, Result};

/// What a client does with a key that it may treat as missing: a null key, or one without bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyless {
    /// It is hashed, like a key without bytes.
    Hashed,
    /// The client chooses a partition without the key, in this way.
    Chosen(&'static str),
}

impl Keyless {
    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Hashed => "hashed",
            Self::Chosen(how) => how,
        }
    }
}

/// One client's rule from key bytes to a partition, and its source.
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    /// `CLIENT` or `CLIENT:PARTITIONER`; a client's bare name is its default.
    pub name: &'static str,
    /// The rule for a key's bytes.
    pub rule: Rule,
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
    /// The configuration that makes this client agree with Java; `None` if it already does.
    pub setting: Option<&'static str>,
}

impl Profile {
    /// Another partitioner of the same library.
    const fn other(self, name: &'static str, rule: Rule, source: &'static str) -> Self {
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

    /// Every profile, Java's first and then by library.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        PROFILES.iter().map(Self)
    }

    /// Its row of the table.
    pub fn profile(self) -> &'static Profile {
        self.0
    }

    /// Whether it puts every key where Java does, null and empty keys included.
    pub fn agrees_with_java(self) -> bool {
        self.0.setting.is_none()
    }

    /// The same in a producer of Kafka 0.8.
    #[must_use]
    pub fn of_kafka_0_8(self) -> Self {
        if self.0.rule == Rule::StringHash { Self(&OLD_STRING_HASH) } else { self }
    }

    /// Refuses a key type whose keys this client's rule does not hash. A number's bytes may be text by accident, but
    /// its `hashCode` is another one.
    ///
    /// # Errors
    /// [`Error::KeyType`] for `java:string-hash` and a key type that is not text.
    pub fn check_key_type(self, key_type: Option<KeyType>) -> Result<()> {
        match (self.0.rule, key_type) {
            (Rule::StringHash | Rule::OldStringHash, Some(other)) if !other.may_be_text() => {
                Err(Error::KeyType(format!(
                    "client {self} hashes the characters of text, and a key of type {other} is not text"
                )))
            }
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
    /// [`Error::Key`] if the client itself has no partition for the key, which happens only with `java:string-hash`.
    #[inline]
    pub fn partition_for_key(self, key: Option<&[u8]>, n: Partitions) -> Result<Option<i32>> {
        let Some(key) = self.hashed(key) else { return Ok(None) };
        match self.0.rule.partition(key, n) {
            partition @ 0.. => Ok(Some(partition)),
            partition => Err(Error::Key { reason: Self::refusal(key, n, partition) }),
        }
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

    /// The bytes that are hashed; `None` if the client chooses without the key.
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
            let known: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
            let lower = name.to_lowercase();
            let known_as = ALIASES.iter().filter(|(alias, _)| lower.contains(alias));
            let platform = PLATFORMS.iter().find(|(names, _)| names.contains(&lower.as_str()));
            let mut nearest = platform.map_or_else(|| nearest(name, &known), |(_, meant)| meant.to_vec());
            if let (true, Some((_, meant))) = (nearest.is_empty(), known_as.into_iter().next()) {
                nearest.push(meant);
            }
            Error::UnknownName {
                field: "client",
                name: name.to_owned(),
                nearest: nearest.into(),
                known: known.into(),
            }
        })
    }
}

/// Languages and tools, and the profiles of the clients that they are used with.
const PLATFORMS: [(&[&str], &[&str]); 9] = [
    (&["python", "py"], &["librdkafka", "kafka-python", "aiokafka"]),
    (&["spark", "pyspark", "flink", "pyflink", "streams", "kafka-streams", "connect"], &["java"]),
    (&["kcat", "kafkacat"], &["librdkafka"]),
    (&["go", "golang"], &["franz-go", "sarama", "kafka-go:hash", "librdkafka"]),
    (&["node", "nodejs", "node.js", "javascript", "js", "typescript"], &["kafkajs", "librdkafka"]),
    (&["rust"], &["librdkafka"]),
    (&["dotnet", ".net", "csharp", "c#"], &["librdkafka"]),
    (&["c", "c++", "cpp"], &["librdkafka"]),
    (&["kotlin", "spring"], &["java"]),
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

const STICKY: Keyless = Keyless::Chosen("sticky: one partition until a batch's worth of bytes is written");
const RANDOM: Keyless = Keyless::Chosen("random for each record");
const RANDOM_STICKY: Keyless = Keyless::Chosen("random, kept for sticky.partitioning.linger.ms");
const RANDOM_AVAILABLE: Keyless =
    Keyless::Chosen("random for each record, among the partitions with a leader");
const ROUND_ROBIN: Keyless = Keyless::Chosen("round robin");

const JAVA: Profile = Profile {
    name: "java",
    rule: Rule::Murmur2,
    null_key: STICKY,
    empty_key: Keyless::Hashed,
    library: "kafka-clients",
    version: "4.4.0",
    source: "BuiltInPartitioner.partitionForKey",
    setting: None,
};

const LIBRDKAFKA: Profile = Profile {
    name: "librdkafka",
    rule: Rule::Crc32,
    null_key: RANDOM_STICKY,
    empty_key: RANDOM_STICKY,
    library: "librdkafka",
    version: "2.16.0",
    source: "rd_kafka_msg_partitioner_consistent_random",
    setting: Some("partitioner=murmur2_random"),
};

const SARAMA: Profile = Profile {
    name: "sarama",
    rule: Rule::Fnv1a,
    null_key: RANDOM_AVAILABLE,
    empty_key: Keyless::Hashed,
    library: "github.com/IBM/sarama",
    version: "1.61.1",
    source: "sarama.NewConfig().Producer.Partitioner",
    setting: Some("config.Producer.Partitioner = sarama.NewMurmur2Partitioner"),
};

const KAFKA_GO: Profile = Profile {
    name: "kafka-go:hash",
    rule: Rule::Fnv1a,
    null_key: ROUND_ROBIN,
    empty_key: Keyless::Hashed,
    library: "github.com/segmentio/kafka-go",
    version: "0.4.51",
    source: "kafka.Hash{}",
    setting: Some("kafka.Writer{Balancer: kafka.Murmur2Balancer{}}"),
};

const FRANZ_GO: Profile = Profile {
    name: "franz-go",
    rule: Rule::Murmur2,
    null_key: STICKY,
    empty_key: Keyless::Hashed,
    library: "github.com/twmb/franz-go",
    version: "1.22.2",
    source: "kgo.NewClient().OptValue(kgo.RecordPartitioner)",
    setting: None,
};

const KAFKAJS: Profile = Profile {
    name: "kafkajs",
    rule: Rule::Murmur2,
    null_key: Keyless::Chosen("round robin over the partitions with a leader"),
    empty_key: Keyless::Hashed,
    library: "kafkajs",
    version: "2.2.4",
    source: "Partitioners.DefaultPartitioner()",
    setting: None,
};

const FRANZ_GO_SETTING: Option<&str> =
    Some("kgo.RecordPartitioner(kgo.UniformBytesPartitioner(64<<10, true, true, nil))");

/// `java:string-hash` as it was in Kafka 0.8; it is not in the table, because that producer is gone.
const OLD_STRING_HASH: Profile = Profile {
    name: "java:string-hash@0.8",
    rule: Rule::OldStringHash,
    null_key: Keyless::Chosen("old-null-key: one partition until the metadata is refreshed"),
    empty_key: Keyless::Hashed,
    library: "kafka_2.11",
    version: "0.8.2.2",
    source: "kafka.producer.DefaultPartitioner",
    setting: Some("another producer"),
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
        ..JAVA.other("java:string-hash", Rule::StringHash, "Math.abs(key.hashCode()) % n")
    },
    LIBRDKAFKA,
    Profile {
        null_key: Keyless::Hashed,
        empty_key: Keyless::Hashed,
        ..LIBRDKAFKA.other("librdkafka:consistent", Rule::Crc32, "rd_kafka_msg_partitioner_consistent")
    },
    Profile {
        null_key: Keyless::Hashed,
        empty_key: Keyless::Hashed,
        ..LIBRDKAFKA.other("librdkafka:murmur2", Rule::Murmur2, "rd_kafka_msg_partitioner_murmur2")
    },
    Profile {
        empty_key: Keyless::Hashed,
        setting: None,
        ..LIBRDKAFKA.other(
            "librdkafka:murmur2_random",
            Rule::Murmur2,
            "rd_kafka_msg_partitioner_murmur2_random",
        )
    },
    Profile {
        null_key: Keyless::Hashed,
        empty_key: Keyless::Hashed,
        ..LIBRDKAFKA.other("librdkafka:fnv1a", Rule::Fnv1a, "rd_kafka_msg_partitioner_fnv1a")
    },
    Profile {
        empty_key: Keyless::Hashed,
        ..LIBRDKAFKA.other("librdkafka:fnv1a_random", Rule::Fnv1a, "rd_kafka_msg_partitioner_fnv1a_random")
    },
    SARAMA,
    SARAMA.other("sarama:reference", Rule::Fnv1aReference, "sarama.NewReferenceHashPartitioner"),
    SARAMA.other("sarama:crc32", Rule::Crc32, "sarama.NewConsistentCRCHashPartitioner"),
    Profile {
        setting: None,
        ..SARAMA.other("sarama:murmur2", Rule::Murmur2, "sarama.NewMurmur2Partitioner")
    },
    KAFKA_GO,
    Profile {
        null_key: RANDOM,
        ..KAFKA_GO.other("kafka-go:reference", Rule::Fnv1aReference, "kafka.ReferenceHash{}")
    },
    Profile {
        null_key: RANDOM,
        empty_key: RANDOM,
        ..KAFKA_GO.other("kafka-go:crc32", Rule::Crc32, "kafka.CRC32Balancer{}")
    },
    Profile {
        null_key: RANDOM,
        setting: None,
        ..KAFKA_GO.other("kafka-go:murmur2", Rule::Murmur2, "kafka.Murmur2Balancer{}")
    },
    FRANZ_GO,
    Profile {
        setting: FRANZ_GO_SETTING,
        ..FRANZ_GO.other(
            "franz-go:sarama-crc32",
            Rule::Crc32,
            "kgo.StickyKeyPartitioner(kgo.SaramaHasher(crc32.ChecksumIEEE))",
        )
    },
    Profile {
        setting: FRANZ_GO_SETTING,
        ..FRANZ_GO.other(
            "franz-go:sarama-compat",
            Rule::Fnv1a,
            "kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a))",
        )
    },
    KAFKAJS,
    Profile {
        setting: Some("createPartitioner: Partitioners.DefaultPartitioner"),
        ..KAFKAJS.other("kafkajs:legacy", Rule::KafkajsLegacy, "Partitioners.LegacyPartitioner()")
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
