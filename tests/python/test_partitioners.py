"""The partitioners for Python's Kafka clients, as far as no broker is needed."""

from __future__ import annotations

import random
from typing import Any

import pytest

import partwright as pw
from partwright.kafka import CallablePartitioner, ConfluentPartitioner, KafkaPythonPartitioner


class Cluster:
    """As much of kafka-python's ClusterMetadata as a partitioner asks."""

    def __init__(self, partitions: set[int], available: set[int]) -> None:
        self.partitions, self.available = partitions, available

    def topics(self) -> set[str]:
        return {"t"}

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return self.partitions if topic == "t" else None

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        return self.available if topic == "t" else None


class Producer:
    """As much of confluent-kafka's Producer as a partitioner asks."""

    def __init__(self, count: int, error: object = None) -> None:
        self.count, self.error, self.asked = count, error, 0

    def list_topics(self, topic: str, timeout: float) -> Any:
        assert timeout > 0
        self.asked += 1
        found = type("Topic", (), {"partitions": dict.fromkeys(range(self.count)), "error": self.error})
        return type("Metadata", (), {"topics": {topic: found}})


@pytest.mark.parametrize(
    "make",
    [KafkaPythonPartitioner, CallablePartitioner, lambda client: ConfluentPartitioner(Producer(1), client)],
)
def test_an_unknown_client_is_refused_at_once(make: Any) -> None:
    with pytest.raises(pw.PartwrightError, match="did you mean sarama"):
        make("sarma")


@pytest.mark.parametrize("client", pw.clients()["client"].to_pylist())
@pytest.mark.parametrize("key", [b"TT0124", b"", None])
def test_all_say_what_partition_for_key_says(client: str, key: bytes | None) -> None:
    wanted = pw.partition_for_key(key, 7, client)
    cluster = Cluster(set(range(7)), {4})
    # What the client leaves open goes to the one available partition.
    left = 4 if wanted is None else wanted
    assert KafkaPythonPartitioner(client).partition("t", "key", key, "value", b"value", cluster) == left
    assert CallablePartitioner(client)(key, [6, 5, 4, 3, 2, 1, 0], [4]) == left
    assert ConfluentPartitioner(Producer(7), client)("t", key) == (-1 if wanted is None else wanted)


@pytest.mark.parametrize("client", ["librdkafka", "kafka-go:crc32"])
def test_empty_keys_that_are_not_hashed_are_spread(client: str) -> None:
    """kafka-python tells its sticky partitioner of new batches of null keys alone: with it, one partition gets all."""
    place, cluster = KafkaPythonPartitioner(client), Cluster(set(range(7)), {1, 4, 5})
    assert {place.partition("t", b"", b"", None, None, cluster) for _ in range(200)} == {1, 4, 5}


def test_kafka_python_takes_it_for_its_own_kind() -> None:
    from kafka.partitioner import Partitioner

    assert isinstance(KafkaPythonPartitioner(), Partitioner)


def test_a_topic_that_the_cluster_does_not_know() -> None:
    with pytest.raises(pw.BrokerError, match="topic 'other' is not in the cluster's metadata"):
        KafkaPythonPartitioner().partition("other", None, b"a", None, None, Cluster({0}, {0}))


def test_nothing_available_is_all() -> None:
    place = CallablePartitioner(choose=random.Random(1).choice)
    assert {place(None, [0, 1, 2], []) for _ in range(100)} == {0, 1, 2}


def test_a_keyless_partitioner_without_a_hook() -> None:
    from kafka.partitioner import DefaultPartitioner

    KafkaPythonPartitioner(keyless=DefaultPartitioner()).on_new_batch("t", Cluster({0}, {0}), 0)


def test_a_topics_count_is_asked_for_once() -> None:
    producer = Producer(12)
    place = ConfluentPartitioner(producer)
    assert [place("t", "TT0124") for _ in range(3)] == [10] * 3
    assert producer.asked == 1
    place("u", "TT0124")
    assert producer.asked == 2


def test_a_topic_without_partitions_is_one_sentence() -> None:
    with pytest.raises(
        pw.BrokerError, match=r"topic 't' has no partitions \(unknown\): make the topic first"
    ):
        ConfluentPartitioner(Producer(0, "unknown"))("t", b"a")


def test_a_key_at_which_java_fails_is_refused() -> None:
    with pytest.raises(pw.PartwrightError, match="polygenelubricants"):
        CallablePartitioner("java:string-hash")(b"polygenelubricants", list(range(12)), [])
