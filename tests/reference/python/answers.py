"""Answers questions about keys with a real Python client: "<hex key or null> <n>" in, one partition a profile out.

The one argument names the client. The first line out is its provenance in JSON, the second the names of its
profiles; after them comes one line for each line in, in order.
"""

from __future__ import annotations

import ctypes
import functools
import json
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TOPIC = "t"
RD_KAFKA_PRODUCER = 0
METADATA_VERSION = 9


@dataclass(frozen=True)
class Profile:
    """One of a client's partitioners, under partwright's name for it."""

    name: str
    function: str
    """What of the client answers, as its users write it."""
    partition: Callable[[bytes | None, int], int]


@dataclass(frozen=True)
class Client:
    """Who answers: the client's own name, and its partitioners."""

    provenance: dict[str, str]
    profiles: list[Profile]


def librdkafka() -> Client:
    """The C functions of the librdkafka in confluent-kafka, which a producer calls by pointer."""
    import confluent_kafka

    bundled = [path for path in metadata.files("confluent-kafka") or [] if path.name.startswith("librdkafka")]
    library = ctypes.CDLL(str(bundled[0].locate()))
    topic = _librdkafka_topic(library)
    # The same functions as confluent_kafka offers them, for keys that are not null.
    offered = {
        "consistent": confluent_kafka.consistent,
        "murmur2": confluent_kafka.murmur2,
        "fnv1a": confluent_kafka.fnv1a,
    }

    def profile(name: str, setting: str) -> Profile:
        symbol = f"rd_kafka_msg_partitioner_{setting}"
        function = library[symbol]
        function.restype = ctypes.c_int32
        # The topic, the key and its length, the number of partitions, the topic's and the message's opaque.
        function.argtypes = [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        same = offered[setting.removesuffix("_random")]

        def partition(key: bytes | None, n: int) -> int:
            chosen: int = function(topic, key, len(key or b""), n, None, None)
            if key and same(key, n) != chosen:
                message = f"{symbol} says {chosen}, confluent_kafka.{same.__name__} {same(key, n)}"
                raise RuntimeError(message)
            return chosen

        return Profile(name, symbol, partition)

    return Client(
        {
            "library": "librdkafka",
            "version": confluent_kafka.libversion()[0],
            "confluent-kafka": confluent_kafka.__version__,
        },
        [
            # Its default.
            profile("librdkafka", "consistent_random"),
            profile("librdkafka:consistent", "consistent"),
            profile("librdkafka:murmur2", "murmur2"),
            profile("librdkafka:murmur2_random", "murmur2_random"),
            profile("librdkafka:fnv1a", "fnv1a"),
            profile("librdkafka:fnv1a_random", "fnv1a_random"),
        ],
    )


def _librdkafka_topic(library: ctypes.CDLL) -> int:
    """A real topic of a real producer without a broker: random partitioners ask it which partitions it has."""
    library.rd_kafka_new.restype = ctypes.c_void_p
    library.rd_kafka_new.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.rd_kafka_topic_new.restype = ctypes.c_void_p
    library.rd_kafka_topic_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    error = ctypes.create_string_buffer(512)
    producer = library.rd_kafka_new(RD_KAFKA_PRODUCER, None, error, len(error))
    topic: int | None = producer and library.rd_kafka_topic_new(producer, TOPIC.encode(), None)
    if not topic:
        message = f"librdkafka made no producer or no topic: {error.value.decode()}"
        raise RuntimeError(message)
    return topic


def kafka_python() -> Client:
    """The partitioner that KafkaProducer makes if none is configured, over real metadata."""
    import kafka

    partitioner = kafka.KafkaProducer.DEFAULT_CONFIG["partitioner"]

    @functools.cache
    def cluster(n: int) -> Any:
        from kafka.cluster import ClusterMetadata
        from kafka.protocol.metadata import MetadataResponse

        topic = MetadataResponse.MetadataResponseTopic
        partitions = [
            topic.MetadataResponsePartition(
                partition_index=number, leader_id=0, replica_nodes=[0], isr_nodes=[0]
            )
            for number in range(n)
        ]
        response = MetadataResponse(
            brokers=[MetadataResponse.MetadataResponseBroker(node_id=0, host="127.0.0.1", port=1)],
            controller_id=0,
            topics=[topic(name=TOPIC, partitions=partitions)],
        )
        known = ClusterMetadata()
        # Over the wire and back, as a broker's answer comes.
        known.update_metadata(
            MetadataResponse.decode(response.encode(version=METADATA_VERSION), version=METADATA_VERSION)
        )
        return known

    def partition(key: bytes | None, n: int) -> int:
        chosen: int = partitioner.partition(TOPIC, key, key, None, None, cluster(n))
        return chosen

    return Client(
        {"library": "kafka-python", "version": kafka.__version__},
        [Profile("kafka-python", "DefaultPartitioner().partition", partition)],
    )


def aiokafka() -> Client:
    """The partitioner that AIOKafkaProducer calls if none is configured."""
    import aiokafka
    from aiokafka.partitioner import DefaultPartitioner

    partitioner = DefaultPartitioner()

    @functools.cache
    def partitions(n: int) -> list[int]:
        return list(range(n))

    def partition(key: bytes | None, n: int) -> int:
        chosen: int = partitioner(key, partitions(n), partitions(n))
        return chosen

    return Client(
        {"library": "aiokafka", "version": aiokafka.__version__},
        [Profile("aiokafka", "DefaultPartitioner()", partition)],
    )


CLIENTS = {"librdkafka": librdkafka, "kafka-python": kafka_python, "aiokafka": aiokafka}


def main() -> None:
    """Answers standard input to its end."""
    client = CLIENTS[sys.argv[1]]()
    functions = {profile.name: profile.function for profile in client.profiles}
    sys.stdout.write(f"{json.dumps(client.provenance | {'functions': functions})}\n{' '.join(functions)}\n")
    partitions = [profile.partition for profile in client.profiles]
    for line in sys.stdin:
        written, n = line.split(" ")
        key = None if written == "null" else bytes.fromhex(written)
        answers = " ".join([str(partition(key, int(n))) for partition in partitions])
        sys.stdout.write(f"{answers}\n")


if __name__ == "__main__":
    main()
