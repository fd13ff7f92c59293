"""The partitioners for Python's Kafka clients, as far as they need no broker."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

import partwright as pw
from partwright.kafka import CallablePartitioner, ConfluentPartitioner, KafkaPythonPartitioner
from partwright.keys.client_profiles import client_names


class Cluster:
    """The part of kafka-python's ClusterMetadata that a partitioner asks for."""

    def __init__(self, partitions: set[int], available: set[int]) -> None:
        self.partitions, self.available = partitions, available

    def topics(self) -> set[str]:
        return {"t"}

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return self.partitions if topic == "t" else None

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        return self.available if topic == "t" else None

    def brokers(self) -> list[Any]:
        racks = {0: "a", 1: "b"}
        return [
            SimpleNamespace(node_id=id_, host=f"h{id_}", port=9092, rack=rack) for id_, rack in racks.items()
        ]

    def leader_for_partition(self, partition: Any) -> int:
        assert partition.topic == "t"
        return partition.partition % 2 if partition.partition in self.available else -1


class Producer:
    """The part of confluent-kafka's Producer that a partitioner asks for."""

    def __init__(self, count: int, error: object = None) -> None:
        self.count, self.error, self.asked = count, error, 0

    def list_topics(self, topic: str, timeout: float) -> Any:
        assert timeout > 0
        self.asked += 1
        partitions = {number: SimpleNamespace(id=number, leader=0) for number in range(self.count)}
        found = SimpleNamespace(partitions=partitions, error=self.error)
        broker = SimpleNamespace(id=0, host="127.0.0.1", port=9092)
        return SimpleNamespace(topics={topic: found}, brokers={0: broker})


@pytest.mark.parametrize(
    "make",
    [KafkaPythonPartitioner, CallablePartitioner, lambda client: ConfluentPartitioner(Producer(1), client)],
)
def test_an_unknown_client_is_refused_at_once(make: Any) -> None:
    with pytest.raises(pw.PartwrightError, match="did you mean sarama"):
        make("sarma")


@pytest.mark.parametrize("client", client_names())
@pytest.mark.parametrize("key", [b"TT0124", b"", None])
def test_all_say_what_partition_for_key_says(client: str, key: bytes | None) -> None:
    wanted = pw.partition_for_key(key, 7, client)
    cluster = Cluster(set(range(7)), {4})
    # A key that the client leaves open goes to the one available partition.
    left = 4 if wanted is None else wanted
    assert KafkaPythonPartitioner(client).partition("t", "key", key, "value", b"value", cluster) == left
    assert CallablePartitioner(client)(key, [6, 5, 4, 3, 2, 1, 0], [4]) == left
    assert ConfluentPartitioner(Producer(7), client)("t", key) == (-1 if wanted is None else wanted)


@pytest.mark.parametrize("client", ["librdkafka", "kafka-go:crc32"])
def test_empty_keys_that_are_not_hashed_are_spread(client: str) -> None:
    """kafka-python tells its sticky partitioner only of new batches of null keys: with it, one partition gets all."""
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


EIGHT = Cluster(set(range(8)), {0, 1, 2, 3, 5, 6, 7})
JAVAS = pw.Cluster.from_dict(
    {
        "brokers": [{"id": 0, "host": "h0", "rack": "a"}, {"id": 1, "host": "h1", "rack": "b"}],
        "topics": {
            "t": [{"id": number, "leader": None if number == 4 else number % 2} for number in range(8)]
        },
    }
).in_metadata_order()
# Nothing lingers while the test runs.
CONFIGS = {"batch.size": 500, "linger.ms": 10**9}
RECORDS: list[tuple[bytes | None, bytes | None]] = [
    (b"k%d" % number if number % 3 == 0 else None, None if number % 11 == 0 else b"v" * (number % 60))
    for number in range(300)
]


def wanted(strategy: str, **options: Any) -> list[int]:
    """The partitions that a `Producer` gives the same records."""
    cluster = options.pop("cluster", JAVAS)
    producer = pw.Producer(cluster, pw.ProducerConfig(strategy, CONFIGS, **options))
    return [producer.place_record("t", key, value) for key, value in RECORDS]  # type: ignore[misc]


@pytest.mark.parametrize(
    "strategy", ["sticky", "sticky@3.3", "round-robin", "random", "default@2.3", "old-null-key"]
)
def test_a_strategy_places_as_a_producer_does(strategy: str) -> None:
    found = KafkaPythonPartitioner(strategy=strategy, configs=CONFIGS, seed=9)
    placed = [found.partition("t", key, key, value, value, EIGHT) for key, value in RECORDS]
    assert placed == wanted(strategy, seed=9)
    assert set(placed) >= {0, 1, 2, 3, 5, 6, 7}


def test_kafka_pythons_new_batches_are_told_to_those_that_go_by_them() -> None:
    place = KafkaPythonPartitioner(strategy="sticky@2.4", seed=4)
    producer = pw.Producer(JAVAS, pw.ProducerConfig("sticky@2.4", seed=4))
    before = place.partition("t", None, None, None, None, EIGHT)
    assert before == producer.partition("t")
    for _ in range(50):
        place.on_new_batch("t", EIGHT, before)
        producer.on_new_batch("t", before)
        now = place.partition("t", None, None, None, None, EIGHT)
        assert now == place.partition("t", None, None, None, None, EIGHT) == producer.partition("t")
        assert now != before
        before = now


def test_a_record_that_is_asked_about_again_is_counted_once() -> None:
    place = KafkaPythonPartitioner(strategy="sticky", configs=CONFIGS, seed=9)
    placed = []
    for key, value in RECORDS:
        first = place.partition("t", key, key, value, value, EIGHT)
        place.on_new_batch("t", EIGHT, first)
        placed.append(place.partition("t", key, key, value, value, EIGHT))
    assert placed == wanted("sticky", seed=9)


def test_two_partitioners_do_not_begin_alike() -> None:
    first = {
        tuple(place.partition("t", None, None, None, None, EIGHT) for _ in range(40))
        for place in (KafkaPythonPartitioner(strategy="random") for _ in range(3))
    }
    assert len(first) == 3


def test_new_metadata_are_learned() -> None:
    place = KafkaPythonPartitioner(strategy="round-robin")
    assert {place.partition("t", None, None, None, None, EIGHT) for _ in range(20)} == {0, 1, 2, 3, 5, 6, 7}
    assert {place.partition("t", None, None, None, None, Cluster({0, 1}, {1})) for _ in range(20)} == {1}
    with pytest.raises(pw.BrokerError, match="topic 't' is not in the cluster's metadata"):
        place.partition("t", None, None, None, None, Cluster(set(), set()))


def test_leaders_are_those_of_kafka_python() -> None:
    place = KafkaPythonPartitioner(
        strategy="leader", configs={"leader.rack": "b", "leader.among": "round-robin"}
    )
    assert {place.partition("t", None, None, None, None, EIGHT) for _ in range(20)} == {1, 3, 5, 7}


class Last:
    """The last partition; this one gets the topic and the value."""

    def __init__(self) -> None:
        self.configs: list[Any] = []

    def configure(self, configs: Any) -> None:
        self.configs.append(configs)

    def partition(
        self, topic: str, key: Any, key_bytes: Any, value: Any, value_bytes: Any, cluster: Any
    ) -> int:
        assert (topic, key, key_bytes, value, value_bytes) == ("t", b"k", b"k", b"v", b"v")
        return len(cluster.partitions(topic)) - 1


def test_ones_own_partitioner_is_configured_once() -> None:
    own = Last()
    place = KafkaPythonPartitioner(strategy=own, configs={"acks": "all"})
    assert own.configs == []
    assert [place.partition("t", "k", b"k", "v", b"v", EIGHT) for _ in range(3)] == [7, 7, 7]
    assert own.configs == [{"acks": "all"}]


def test_a_callable_serves_one_topic() -> None:
    place = CallablePartitioner(strategy="round-robin", topic="t")
    producer = pw.Producer(pw.Cluster.of({"t": 8}).in_metadata_order(), "round-robin")
    order = [producer.partition("t") for _ in range(16)]
    assert order != sorted(order[:8]) * 2, "Java's order is another than the numbers'"
    assert [place(b"key", [7, 6, 5, 4, 3, 2, 1, 0], list(range(8))) for _ in range(16)] == order
    assert {place(None, list(range(8)), [3, 4]) for _ in range(9)} == {3, 4}


def test_confluent_kafkas_records_are_counted_with_their_values() -> None:
    place = ConfluentPartitioner(Producer(8), strategy="sticky", configs=CONFIGS, seed=9)
    cluster = pw.Cluster.of({"t": 8}).in_metadata_order()
    placed = [place("t", key, value) for key, value in RECORDS]
    assert placed == wanted("sticky", seed=9, cluster=cluster)
    told = ConfluentPartitioner(Producer(8), strategy="sticky@2.4", configs=CONFIGS, seed=9)
    assert [told("t", key, value) for key, value in RECORDS] == wanted("sticky@2.4", seed=9, cluster=cluster)
    assert ConfluentPartitioner(Producer(8), strategy="round-robin")("t", "text") in range(8)
    with pytest.raises(pw.PartwrightError, match=r"^the strategy counts bytes: give each record's value too"):
        place("t", b"k")


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (
            lambda: KafkaPythonPartitioner(strategy="stick"),
            'there is no strategy "stick"; known: sticky, explicit',
        ),
        (
            lambda: KafkaPythonPartitioner(strategy="field"),
            "a record that a producer sends has no field: place tables",
        ),
        (
            lambda: KafkaPythonPartitioner(strategy="leader"),
            "the strategy leader goes by where a leader is: set",
        ),
        (
            lambda: KafkaPythonPartitioner(strategy="no_such.Class"),
            "the partitioner 'no_such.Class' cannot be imp",
        ),
        (lambda: KafkaPythonPartitioner(strategy=7), "int is not a partitioner"),
        (
            lambda: KafkaPythonPartitioner(strategy="sticky", configs={"batch.size": -1}),
            "batch.size is a whole",
        ),
        (
            lambda: KafkaPythonPartitioner(strategy="sticky", seed=0.5),
            "the seed is a whole number of 64 bits, not 0.5",
        ),
        (
            lambda: KafkaPythonPartitioner(strategy="sticky", keyless=1),
            "keyless= and strategy= both serve records",
        ),
        (
            lambda: KafkaPythonPartitioner(seed=1),
            "configs= and seed= are a strategy's: name it with strategy=",
        ),
        (
            lambda: CallablePartitioner(strategy="random", choose=min, topic="t"),
            "choose= and strategy= both serve",
        ),
        (
            lambda: CallablePartitioner(strategy="random"),
            "the library does not tell its partitioner the topic",
        ),
        (
            lambda: CallablePartitioner(strategy="sticky", topic="t"),
            "the library does not tell its partitioner how large the records are, by which the strategy sticky@4.4",
        ),
        (
            lambda: CallablePartitioner(strategy="leader", topic="t", configs={"leader.host": "h"}),
            "the library does not tell its partitioner where leaders are, by which",
        ),
        (
            lambda: ConfluentPartitioner(Producer(1), strategy="key", configs={}),
            "configs= and seed= are a strategy's",
        ),
    ],
)
def test_a_wrong_strategy_is_one_sentence_at_once(made: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        made()
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_a_record_that_names_no_partition_under_explicit() -> None:
    with pytest.raises(pw.PartwrightError, match=r"^the strategy explicit has no partition for a record"):
        KafkaPythonPartitioner(strategy="explicit").partition("t", None, None, None, None, EIGHT)
    place = KafkaPythonPartitioner(strategy="explicit", configs={"otherwise": "round-robin"})
    assert {place.partition("t", None, None, None, None, EIGHT) for _ in range(9)} == {0, 1, 2, 3, 5, 6, 7}
