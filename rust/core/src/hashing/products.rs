//! Products that write to Kafka: what their names stand for, and the rules that no library has.

use super::Evidence::{Documented, Hash as OnlyHash, Live, Read, Run};
use super::clients::{
    JAVA, Keyless, LIBRDKAFKA, Product, Profile, RANDOM, RANDOM_AVAILABLE, ROUND_ROBIN, SARAMA, STICKY,
};
use super::{Evidence, Hash, KeyForm, Rule, Sign};

const KEY: &str = "the record's key";
const TEXT: &str = "the text of the chosen field, which is not the record's key";
const CONVERTED: &str = "what the converter makes of the key";
const WITHOUT: Keyless = Keyless::Chosen("none: there is no partition without it");

/// A product with its package, whose rule is that of the library's profile in `base`.
const fn product(
    name: &'static str,
    [library, version, source]: [&'static str; 3],
    base: Profile,
    (key_bytes, evidence): (&'static str, Evidence),
) -> Profile {
    let product = Some(Product { stands_for: Some(base.name), key_bytes, evidence });
    Profile { name, library, version, source, product, ..base }
}

/// A product with a rule of its own.
const fn own(
    name: &'static str,
    [library, version, source]: [&'static str; 3],
    hash: Hash,
    sign: Sign,
    (key_bytes, evidence): (&'static str, Evidence),
) -> Profile {
    Profile {
        name,
        rule: Rule { hash, sign },
        null_key: WITHOUT,
        library,
        version,
        source,
        product: Some(Product { stands_for: None, key_bytes, evidence }),
        ..JAVA
    }
}

const BEATS: &str = "github.com/elastic/beats";
const PLATFORMATIC: &str = "@platformatic/kafka";
const DEBEZIUM: &str = "debezium-connect-plugins";
const MAXWELL: &str = "zendesk/maxwell";
const PINOT: &str = "pinot-segment-spi";
const CONNECT: &str = "org.apache.kafka:connect-json";
const REDPANDA: &str = "redpanda-data/connect";

/// Librdkafka's default in a product.
const fn of_librdkafka(name: &'static str, package: &'static str, setting: &'static str) -> Profile {
    let key = (KEY, Documented);
    Profile {
        setting: Some(setting),
        ..product(name, [package, "not run", "librdkafka's partitioner"], LIBRDKAFKA, key)
    }
}

/// Java's producer in a product.
const fn of_java(name: &'static str, package: &'static str, key_bytes: &'static str) -> Profile {
    product(name, [package, "not run", "Java's producer"], JAVA, (key_bytes, Documented))
}

/// A hash of Debezium's transform `PartitionRouting`.
const fn routing(name: &'static str, hash: Hash) -> Profile {
    let key = ("the text of partition.payload.fields, one field", Run);
    Profile {
        null_key: Keyless::Chosen("Java's choice over the record's key"),
        setting: Some("without the transform PartitionRouting, the producer hashes the record's key"),
        ..own(name, [DEBEZIUM, "3.6.1", "PartitionRouting"], hash, Sign::MaskedBelowMax, key)
    }
}

/// The products, first those with a rule of their own.
pub(super) const PRODUCTS: &[Profile] = &[
    Profile {
        setting: None,
        ..product(
            "filebeat",
            [BEATS, "7.13", "libbeat/outputs/kafka/partition.go"],
            SARAMA.other("sarama:reference", Rule::FNV1A_REFERENCE, ""),
            ("the text of the output's `key`", Run),
        )
    },
    Profile {
        null_key: RANDOM_AVAILABLE,
        ..own(
            "filebeat:7.12",
            [BEATS, "7.6.2", "libbeat/outputs/kafka/partition.go"],
            Hash::Fnv1a,
            Sign::Abs,
            ("the text of the output's `key`", Run),
        )
    },
    Profile {
        null_key: ROUND_ROBIN,
        setting: Some("partitioner: compatibilityPartitioner"),
        ..own(
            "platformatic",
            [PLATFORMATIC, "2.12.1", "defaultPartitioner"],
            Hash::Murmur2,
            Sign::Unsigned,
            (KEY, Live),
        )
    },
    Profile {
        null_key: Keyless::First,
        setting: Some("another partitioner: records without a key all go to partition 0"),
        ..product(
            "platformatic:compatibility",
            [PLATFORMATIC, "2.12.1", "compatibilityPartitioner"],
            JAVA,
            (KEY, Live),
        )
    },
    Profile {
        null_key: Keyless::Chosen("none: the partition key's hashCode() fails"),
        setting: Some("a message key in place of partitionKeyExpression"),
        ..own(
            "spring-cloud-stream",
            ["spring-cloud-stream", "4.3.0", "PartitionHandler"],
            Hash::StringHash,
            Sign::AbsOrZero,
            ("the text of partitionKeyExpression, which is not the record's key", Run),
        )
    },
    routing("debezium:routing", Hash::StringHash),
    routing("debezium:routing-murmur", Hash::Murmur3Early(9001)),
    own(
        "maxwell",
        [MAXWELL, "1.45.0", "MaxwellKafkaPartitioner"],
        Hash::StringHash,
        Sign::AbsOfRemainder,
        ("the text of producer_partition_by, by default the database", OnlyHash),
    ),
    own(
        "maxwell:murmur3",
        [MAXWELL, "1.45.0", "MaxwellKafkaPartitioner"],
        Hash::Murmur3(25342),
        Sign::AbsOfRemainder,
        ("the text of producer_partition_by, by default the database", OnlyHash),
    ),
    Profile {
        null_key: Keyless::Hashed,
        ..own(
            "canal",
            ["canal.connector.core", "1.1.7", "MQMessageUtils"],
            Hash::StringHash,
            Sign::AbsOfRemainder,
            ("the text of the column of partitionHash, without databaseHash", Run),
        )
    },
    Profile {
        null_key: Keyless::First,
        setting: Some("PARTITION BY = kafka_murmur2(...)"),
        ..own(
            "materialize",
            ["seahash", "4.1.0", "doc/user/content/sql/create-sink"],
            Hash::SeaHash,
            Sign::Unsigned,
            ("the encoded key without the registry's header", OnlyHash),
        )
    },
    Profile {
        null_key: Keyless::Chosen("not known"),
        setting: Some("a partitioner function of one's own"),
        ..own(
            "brod",
            ["brod", "OTP 25", "erlang:phash2/1"],
            Hash::Phash2(27),
            Sign::Unsigned,
            (KEY, OnlyHash),
        )
    },
    Profile {
        null_key: RANDOM,
        ..own(
            "klife",
            ["klife", "OTP 25", "erlang:phash2/2"],
            Hash::Phash2(32),
            Sign::Unsigned,
            (KEY, OnlyHash),
        )
    },
    Profile {
        null_key: ROUND_ROBIN,
        empty_key: ROUND_ROBIN,
        setting: Some("Producer::with_partitioner"),
        ..own(
            "kafka-rust",
            ["kafka", "0.10.0", "DefaultPartitioner"],
            Hash::XxHash32,
            Sign::Unsigned,
            (KEY, OnlyHash),
        )
    },
    Profile {
        null_key: Keyless::Chosen("the rule of the record's key"),
        empty_key: RANDOM,
        setting: Some("partitioner \"murmur2_random\""),
        ..own(
            "rdkafka-ruby:partition-key",
            ["rdkafka", "0.15", "rd_kafka_msg_partitioner_consistent"],
            Hash::Crc32OfCharacters,
            Sign::Unsigned,
            ("as many bytes of `partition_key` as it has characters", OnlyHash),
        )
    },
    Profile {
        null_key: Keyless::Hashed,
        ..own(
            "kafka-node",
            ["kafka-node", "5.0.0", "KeyedPartitioner"],
            Hash::KafkaNode,
            Sign::Unsigned,
            ("the key of a message whose producer has partitionerType 3", Run),
        )
    },
    Profile {
        null_key: Keyless::Hashed,
        ..own(
            "event-hubs",
            ["azure-messaging-eventhubs", "5.21.5", "PartitionResolver"],
            Hash::EventHubs,
            Sign::AbsOfRemainder,
            ("the partitionKey of the AMQP SDK; Kafka clients keep their own rule", Run),
        )
    },
    own(
        "pinot:murmur3",
        [PINOT, "1.2.0", "Murmur3PartitionFunction"],
        Hash::Murmur3(0),
        Sign::Masked,
        (TEXT, Run),
    ),
    own(
        "pinot:murmur3-x64",
        [PINOT, "1.2.0", "Murmur3PartitionFunction"],
        Hash::Murmur3Early(0),
        Sign::Masked,
        (TEXT, Run),
    ),
    own(
        "pinot:hashcode",
        [PINOT, "1.2.0", "HashCodePartitionFunction"],
        Hash::StringHash,
        Sign::AbsOrZero,
        (TEXT, Run),
    ),
    own(
        "pinot:bytearray",
        [PINOT, "1.2.0", "ByteArrayPartitionFunction"],
        Hash::ArrayHash,
        Sign::AbsOrZero,
        (TEXT, Run),
    ),
    Profile {
        null_key: WITHOUT,
        ..product("pinot:murmur", [PINOT, "1.2.0", "MurmurPartitionFunction"], JAVA, (TEXT, Run))
    },
    Profile {
        null_key: ROUND_ROBIN,
        ..product("no-kafka", ["no-kafka", "3.4.4", "DefaultPartitioner"], JAVA, (KEY, Run))
    },
    Profile {
        empty_key: RANDOM,
        setting: None,
        ..product(
            "telegraf",
            ["telegraf", "1.37.2", "outputs.kafka"],
            SARAMA,
            ("the value of routing_tag, else routing_key", Live),
        )
    },
    Profile {
        null_key: STICKY,
        setting: Some("record_partitioner: {sticky_key: {hasher: murmur2}}"),
        ..product(
            "otel-collector",
            ["opentelemetry-collector-contrib", "0.165.1", "kafkaexporter"],
            SARAMA,
            ("a trace ID as 32 hex characters, 16 bytes of resource attributes, or a metadata key", Live),
        )
    },
    Profile {
        null_key: Keyless::Hashed,
        setting: Some("WITH partition_alg='murmur2'"),
        ..product(
            "cockroachdb",
            ["cockroachdb/cockroach", "not run", "sink_kafka_v2.go"],
            SARAMA,
            ("the primary key as a JSON array or Avro", Read),
        )
    },
    Profile {
        setting: Some("partitioner: murmur2_hash"),
        ..product(
            "redpanda-connect:fnv1a_hash",
            [REDPANDA, "not run", "output kafka"],
            SARAMA,
            ("the text of `key`", Read),
        )
    },
    product(
        "redpanda-connect:murmur2_hash",
        [REDPANDA, "not run", "output kafka"],
        JAVA,
        ("the text of `key`", Read),
    ),
    product(
        "redpanda-connect:kafka_franz",
        [REDPANDA, "not run", "outputs kafka_franz and redpanda"],
        JAVA,
        ("the text of `key`", Read),
    ),
    of_librdkafka("confluent-kafka", "confluent-kafka", "partitioner=murmur2_random"),
    Profile {
        empty_key: Keyless::Hashed,
        setting: None,
        ..product(
            "confluent-kafka-javascript",
            ["@confluentinc/kafka-javascript", "not run", "the API of KafkaJS"],
            LIBRDKAFKA.other("librdkafka:murmur2_random", Rule::MURMUR2, ""),
            (KEY, Read),
        )
    },
    of_librdkafka("node-rdkafka", "node-rdkafka", "partitioner: 'murmur2_random'"),
    of_librdkafka("rust-rdkafka", "rdkafka", "partitioner=murmur2_random"),
    of_librdkafka("kcat", "kcat", "-X partitioner=murmur2_random"),
    of_librdkafka("vector", "vectordotdev/vector", "librdkafka_options: {partitioner: murmur2_random}"),
    of_librdkafka("fluent-bit", "fluent/fluent-bit", "rdkafka.partitioner murmur2_random"),
    of_librdkafka(
        "clickhouse",
        "ClickHouse/ClickHouse",
        "<kafka><partitioner>murmur2_random</partitioner></kafka>",
    ),
    of_librdkafka("risingwave", "risingwavelabs/risingwave", "partitioner=murmur2_random"),
    of_librdkafka("kafkaflow", "KafkaFlow", "Partitioner = Partitioner.Murmur2Random"),
    of_librdkafka("karafka", "karafka-rdkafka", "partitioner \"murmur2_random\""),
    Profile {
        null_key: RANDOM,
        empty_key: Keyless::Hashed,
        setting: Some("partitioner_hash_function murmur2"),
        ..product(
            "ruby-kafka",
            ["ruby-kafka", "not run", "Kafka::Partitioner"],
            LIBRDKAFKA,
            ("`partition_key`, else the record's key", Read),
        )
    },
    of_java("kafka-streams", "kafka-streams", "the serializer's bytes; of a window's key only the inner key"),
    Profile {
        form: KeyForm::Windowed(8),
        ..product(
            "kafka-streams:time-window",
            ["kafka-streams", "4.1.2", "WindowedStreamPartitioner"],
            JAVA,
            ("the inner key: all but the last 8 bytes", Run),
        )
    },
    Profile {
        form: KeyForm::Windowed(16),
        ..product(
            "kafka-streams:session-window",
            ["kafka-streams", "4.1.2", "WindowedStreamPartitioner"],
            JAVA,
            ("the inner key: all but the last 16 bytes", Run),
        )
    },
    product("kafka-connect:string", [CONNECT, "4.1.2", "StringConverter"], JAVA, (CONVERTED, Run)),
    Profile {
        form: KeyForm::Json,
        setting: Some("key.converter=org.apache.kafka.connect.storage.StringConverter"),
        ..product(
            "kafka-connect:json",
            [CONNECT, "4.1.2", "JsonConverter, schemas.enable=false"],
            JAVA,
            ("the key's text in JSON's quotes", Run),
        )
    },
    Profile {
        form: KeyForm::JsonWithSchema,
        setting: Some("key.converter=org.apache.kafka.connect.storage.StringConverter"),
        ..product(
            "kafka-connect:json-schema",
            [CONNECT, "4.1.2", "JsonConverter, schemas.enable=true"],
            JAVA,
            ("an object with the schema and the key's text", Run),
        )
    },
    of_java("spring-kafka", "spring-kafka", "the serializer's bytes"),
    of_java("logstash", "logstash-output-kafka", "the text of message_key"),
    of_java("rest-proxy", "kafka-rest", "the serializer's bytes: JSON has quotes"),
    of_java("quarkus", "quarkus-messaging-kafka", "the serializer's bytes"),
    of_java("ksqldb", "ksqldb", "what KEY_FORMAT makes of the key"),
    of_java("flink", "flink-connector-kafka", "the bytes of the key's serialization schema"),
];
