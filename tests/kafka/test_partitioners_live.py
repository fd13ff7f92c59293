"""Python's Kafka clients write each record where the chosen client would: checked on the embedded Kafka."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

import partwright as pw
from partwright.kafka import CallablePartitioner, ConfluentPartitioner, KafkaPythonPartitioner
from partwright.kafka.topics import create_topic
from partwright.keys.client_profiles import client_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker

N = 7
KEYS = [
    b"TT0124",
    b"1468509572224",
    "ключ".encode(),
    "🔑".encode(),
    *(b"key %d" % number for number in range(40)),
]
CLIENTS = client_names()
each_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture(scope="module")
def topic(broker: EmbeddedKafka) -> str:
    name = f"placed-{uuid4().hex[:8]}"
    create_topic(broker.bootstrap_servers, name, N)
    return name


def wanted(client: str) -> list[int | None]:
    partitions: list[int | None] = pw.partition_for_key([*KEYS, b"", None], N, client).to_pylist()
    return partitions


def check(found: list[int], client: str) -> None:
    """Every record is where the client puts it; a record that it leaves open may be anywhere."""
    asked = wanted(client)
    assert len(found) == len(asked)
    assert all(0 <= partition < N for partition in found)
    assert [there if want is not None else None for there, want in zip(found, asked, strict=True)] == asked


@each_client
def test_kafka_python(broker: EmbeddedKafka, topic: str, client: str) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, partitioner=KafkaPythonPartitioner(client)
    )
    try:
        sent = [producer.send(topic, key=key, value=b"v") for key in [*KEYS, b"", None]]
        check([record.get(timeout=30).partition for record in sent], client)
    finally:
        producer.close()


def batches_of(
    broker: EmbeddedKafka, topic: str, partitioner: dict[str, Any], **configs: int
) -> tuple[list[int], list[int]]:
    """The partition of each of 200 records without a key, and kafka-python's notices before each batch."""
    from kafka import KafkaProducer

    told: list[int] = []

    class Watched(KafkaPythonPartitioner):
        def on_new_batch(self, topic: str, cluster: Any, prev_partition: int) -> None:
            told.append(prev_partition)
            super().on_new_batch(topic, cluster, prev_partition)

    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, partitioner=Watched(**partitioner), **configs
    )
    try:
        sent = [producer.send(topic, value=b"v" * 50) for _ in range(200)]
        return [record.get(timeout=30).partition for record in sent], told
    finally:
        producer.close()


def test_kafka_python_moves_on_at_a_new_batch(broker: EmbeddedKafka, topic: str) -> None:
    partitions, told = batches_of(broker, topic, {"client": "sarama"}, batch_size=200, linger_ms=50)
    # A batch has room for a few of these records: there are many batches, and another partition after each.
    assert len(told) >= 20
    moves = sum(a != b for a, b in pairwise(partitions))
    assert 20 <= moves < 199
    assert set(partitions) == set(range(N))


# So that no batch reaches linger.ms during the test, however long it takes.
STRATEGY = {"batch.size": 400, "linger.ms": 10**9}
RECORDS = [(KEYS[at % 40] if at % 5 == 0 else None, b"v" * (at % 70)) for at in range(400)]


def by_a_producer(broker: EmbeddedKafka, topic: str, strategy: str) -> list[int | None]:
    """Where a `Producer` puts the same records, by the metadata of the same broker."""
    cluster = pw.Cluster.from_kafka(broker.bootstrap_servers, [topic]).in_metadata_order()
    producer = pw.Producer(cluster, pw.ProducerConfig(strategy, configs=STRATEGY, seed=6))
    return [producer.place_record(topic, key, value) for key, value in RECORDS]


@pytest.mark.parametrize("strategy", ["sticky", "round-robin", "random", "default@2.3", "old-null-key"])
def test_kafka_python_by_a_strategy(broker: EmbeddedKafka, topic: str, strategy: str) -> None:
    from kafka import KafkaProducer

    partitioner = KafkaPythonPartitioner(strategy=strategy, configs=STRATEGY, seed=6)
    # Its batches differ from Java's: it asks about records again, and they must not count twice.
    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, partitioner=partitioner, batch_size=300, linger_ms=20
    )
    try:
        sent = [producer.send(topic, key=key, value=value) for key, value in RECORDS]
        named = producer.send(topic, value=b"v", partition=5).get(timeout=30).partition
        assert named == 5
        placed = [record.get(timeout=30).partition for record in sent]
    finally:
        producer.close()
    assert placed == by_a_producer(broker, topic, strategy)
    # Under old-null-key, records without a key stay in their partition.
    assert set(placed) == set(range(N)) or strategy == "old-null-key"


def test_kafka_python_tells_a_strategy_of_its_batches(broker: EmbeddedKafka, topic: str) -> None:
    sticky = {"strategy": "sticky@2.4", "seed": 6}
    partitions, told = batches_of(broker, topic, sticky, batch_size=400, linger_ms=1000)
    # Each batch goes to another partition than the one before, and the record that began it went with it.
    runs = [
        partition
        for partition, before in zip(partitions, [None, *partitions], strict=False)
        if partition != before
    ]
    assert len(told) >= 20
    assert [before for before, _ in pairwise(runs)] == told[-len(runs) + 1 :]
    java = pw.Producer(
        pw.Cluster.from_kafka(broker.bootstrap_servers, [topic]).in_metadata_order(),
        pw.ProducerConfig("sticky@2.4", seed=6),
    )
    replayed = [java.partition(topic)]
    for previous in told:
        java.on_new_batch(topic, previous)
        replayed.append(java.partition(topic))
    assert replayed[-len(runs) :] == runs


@pytest.mark.parametrize("strategy", ["sticky", "sticky@2.4", "uniform-sticky@2.4", "round-robin@2.8"])
def test_confluent_kafka_by_a_strategy(broker: EmbeddedKafka, topic: str, strategy: str) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    place = ConfluentPartitioner(producer, strategy=strategy, configs=STRATEGY, seed=6)
    found: dict[bytes, int] = {}
    wanted = {}
    for at, ((key, value), there) in enumerate(
        zip(RECORDS, by_a_producer(broker, topic, strategy), strict=True)
    ):
        # As long as the value, which distinguishes them.
        told = (b"%04d" % at + value)[: len(value)] if len(value) >= 4 else None
        if told is not None:
            wanted[told] = there
        producer.produce(
            topic,
            key=key,
            value=told or value,
            partition=place(topic, key, value),
            on_delivery=lambda _, message: found.__setitem__(message.value(), message.partition()),
        )
    producer.flush(30)
    assert {value: found[value] for value in wanted} == wanted
    assert len(wanted) > 300


@pytest.mark.parametrize("strategy", ["round-robin", "random"])
def test_aiokafka_by_a_strategy(broker: EmbeddedKafka, topic: str, strategy: str) -> None:
    from aiokafka import AIOKafkaProducer

    async def produce() -> list[int]:
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            partitioner=CallablePartitioner(strategy=strategy, topic=topic, seed=6),
        ) as producer:
            sent = [await producer.send(topic, key=key, value=value) for key, value in RECORDS]
            return [record.partition for record in await asyncio.gather(*sent)]

    assert asyncio.run(produce()) == by_a_producer(broker, topic, strategy)


def test_kafka_pythons_own_partitioner_may_serve_keyless_records(broker: EmbeddedKafka, topic: str) -> None:
    from kafka import KafkaProducer
    from kafka.partitioner import DefaultPartitioner

    partitioner = KafkaPythonPartitioner("java", keyless=DefaultPartitioner())
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, partitioner=partitioner)
    try:
        sent = [producer.send(topic, value=b"v") for _ in range(200)]
        assert {record.get(timeout=30).partition for record in sent} == set(range(N))
    finally:
        producer.close()


@each_client
def test_aiokafka(broker: EmbeddedKafka, topic: str, client: str) -> None:
    from aiokafka import AIOKafkaProducer

    async def produce() -> list[int]:
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, partitioner=CallablePartitioner(client)
        ) as producer:
            sent = [await producer.send(topic, key=key, value=b"v") for key in [*KEYS, b"", None]]
            return [record.partition for record in await asyncio.gather(*sent)]

    check(asyncio.run(produce()), client)


KAFKA_PYTHON_2 = """
import json, sys
from kafka import KafkaProducer, __version__
from partwright.kafka import CallablePartitioner
asked = json.load(sys.stdin)
producer = KafkaProducer(
    bootstrap_servers=asked["servers"], partitioner=CallablePartitioner(asked["client"]), api_version=(2, 8)
)
keys = [None if key is None else bytes.fromhex(key) for key in asked["keys"]]
sent = [producer.send(asked["topic"], key=key, value=b"v") for key in keys]
json.dump({"version": __version__, "partitions": [record.get(timeout=30).partition for record in sent]}, sys.stdout)
producer.close()
"""


@pytest.mark.parametrize("client", ["java", "librdkafka", "sarama", "kafkajs:legacy"])
def test_kafka_python_2(broker: EmbeddedKafka, topic: str, client: str, tmp_path: Path) -> None:
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", str(tmp_path)]
    subprocess.run([*install, "kafka-python==2.3.0"], check=True)
    keys = [key if key is None else key.hex() for key in [*KEYS, b"", None]]
    asked = {"servers": broker.bootstrap_servers, "topic": topic, "client": client, "keys": keys}
    done = subprocess.run(
        [sys.executable, "-c", KAFKA_PYTHON_2],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["version"] == "2.3.0"
    check(said["partitions"], client)


@each_client
def test_confluent_kafka(broker: EmbeddedKafka, topic: str, client: str) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    place = ConfluentPartitioner(producer, client)
    keys = [*KEYS, b"", None]
    found: dict[int, int] = {}

    def delivered(at: int) -> Callable[[Any, Any], None]:
        def note(error: Any, message: Any) -> None:
            assert error is None
            found[at] = message.partition()

        return note

    for at, key in enumerate(keys):
        producer.produce(topic, key=key, value=b"v", partition=place(topic, key), on_delivery=delivered(at))
    producer.flush(30)
    check([found[at] for at in range(len(keys))], client)


def test_confluent_kafkas_text_keys(broker: EmbeddedKafka, topic: str) -> None:
    from confluent_kafka import Producer

    place = ConfluentPartitioner(Producer({"bootstrap.servers": broker.bootstrap_servers}))
    assert place(topic, "ключ") == place(topic, "ключ".encode()) == pw.partition_for_key("ключ", N)


def test_a_grown_topic_is_noticed(broker: EmbeddedKafka) -> None:
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewPartitions

    name = f"grown-{uuid4().hex[:8]}"
    create_topic(broker.bootstrap_servers, name, 2)
    configs = {"bootstrap.servers": broker.bootstrap_servers}
    believing, asking = (
        ConfluentPartitioner(Producer(configs)),
        ConfluentPartitioner(Producer(configs), max_age=0),
    )
    assert believing.partition_count(name) == asking.partition_count(name) == 2
    admin = AdminClient(configs)
    admin.create_partitions([NewPartitions(name, 5)])[name].result(30)
    assert believing.partition_count(name) == 2
    # The broker learns its controller's metadata a moment later.
    deadline = time.monotonic() + 30
    while asking.partition_count(name) != 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert asking.partition_count(name) == 5


def test_a_cluster_that_does_not_answer_is_one_sentence() -> None:
    from confluent_kafka import Producer

    # Port 9 belongs to discard, and nothing listens there.
    place = ConfluentPartitioner(Producer({"bootstrap.servers": "127.0.0.1:9", "log_level": 0}), timeout=0.5)
    with pytest.raises(pw.PartwrightError, match="does not say how many partitions topic 'orders' has"):
        place("orders", b"a")
