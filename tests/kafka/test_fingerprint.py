"""`partwright fingerprint` on topics that the real clients wrote: alone, together, one after another, after growth."""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from kafka import KafkaProducer

from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partwright.kafka import EmbeddedKafka

    Write = Callable[[str, Sequence[bytes | None]], None]

pytestmark = [
    pytest.mark.broker,
    pytest.mark.reference,
    pytest.mark.go,
    pytest.mark.node,
    pytest.mark.compiler,
]

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
N = 12
MURMUR2 = {"java", "librdkafka:murmur2_random", "sarama:murmur2", "kafka-go:murmur2", "franz-go"} | {
    "kafkajs",
    "kafka-python",
    "aiokafka",
}
CRC32 = {"librdkafka", "sarama:crc32", "kafka-go:crc32", "franz-go:sarama-crc32"}
FNV1A = {"librdkafka:fnv1a_random", "sarama", "kafka-go:hash", "franz-go:sarama-compat"}
FAMILIES = {
    "java": MURMUR2,
    "librdkafka": CRC32,
    "librdkafka:murmur2_random": MURMUR2,
    "librdkafka:fnv1a_random": FNV1A,
    "kafka-python": MURMUR2,
    "aiokafka": MURMUR2,
    "sarama": FNV1A,
    "kafka-go:hash": FNV1A,
    "franz-go": MURMUR2,
    "kafkajs": MURMUR2,
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The commands that write with the clients of other languages; each takes host:port and a topic."""
    sys.path.insert(0, str(REFERENCE))
    try:
        builds = importlib.import_module("builds")
        folder = tmp_path_factory.mktemp("clients")
        java, go, (node, answers) = (
            builds.build_java(folder),
            builds.build_go(folder),
            builds.build_node(folder),
        )
    finally:
        sys.path.remove(str(REFERENCE))
    return {
        "java": [*java, "partwright.TopicWriter"],
        "sarama": [*go, "write", "sarama"],
        "kafka-go:hash": [*go, "write", "kafka-go"],
        "franz-go": [*go, "write", "franz-go"],
        "kafkajs": [node, str(Path(answers).with_name("write.js"))],
    }


@pytest.fixture
def write(
    broker: EmbeddedKafka, programs: dict[str, list[str]]
) -> Callable[[str, str, Sequence[bytes | None]], None]:
    """Writes records with these keys by a client with its defaults, or with other settings."""
    servers = broker.bootstrap_servers

    def confluent(partitioner: str, topic: str, keys: Sequence[bytes | None]) -> None:
        producer = Producer({"bootstrap.servers": servers, "partitioner": partitioner})
        for key in keys:
            producer.produce(topic, b"v", key=key)
            producer.poll(0)
        assert producer.flush(60) == 0

    async def aio(topic: str, keys: Sequence[bytes | None]) -> None:
        async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
            for sent in [await producer.send(topic, b"v", key=key) for key in keys]:
                await sent

    def run(client: str, topic: str, keys: Sequence[bytes | None]) -> None:
        if client == "kafka-python":
            with KafkaProducer(bootstrap_servers=servers) as producer:
                for sent in [producer.send(topic, b"v", key=key) for key in keys]:
                    sent.get(30)
        elif client == "aiokafka":
            asyncio.run(aio(topic, keys))
        elif client.startswith("librdkafka"):
            confluent(client.partition(":")[2] or "consistent_random", topic, keys)
        else:
            lines = "".join(f"{'null' if key is None else key.hex()}\n" for key in keys)
            command = [*programs[client], servers, topic]
            done = subprocess.run(
                command, input=lines, capture_output=True, text=True, check=False, timeout=120
            )
            assert done.returncode == 0, done.stderr

    return run


def found(broker: EmbeddedKafka, topic: str, *words: object) -> dict[str, Any]:
    address = f"kafka://{broker.bootstrap_servers}/{topic}"
    command = [sys.executable, "-m", "partwright", "fingerprint", address, "--json", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def users(count: int, records: int, seed: int = 1) -> list[bytes]:
    draw = random.Random(seed)
    return [b"user-%d" % draw.randrange(count) for _ in range(records)]


def make(broker: EmbeddedKafka, name: str, n: int = N) -> str:
    topic = f"fingerprint-{name.replace(':', '-')}"
    topics.create_topic(broker.bootstrap_servers, topic, n)
    return topic


@pytest.mark.parametrize("keys", [5, 300])
@pytest.mark.parametrize("client", FAMILIES)
def test_a_client_alone(client: str, keys: int, broker: EmbeddedKafka, write: Any) -> None:
    topic = make(broker, f"{client}-{keys}")
    records = [b"user-%d" % row for row in range(keys)] + users(keys, 1000)
    write(client, topic, records)
    answer = found(broker, topic)
    assert (answer["verdict"], answer["n"], answer["rows"]) == ("one-writer", N, keys + 1000)
    # Without null keys, clients that hash them are in it too.
    assert (
        FAMILIES[client]
        <= set(answer["family"])
        <= FAMILIES[client]
        | {
            "librdkafka:murmur2",
            "librdkafka:consistent",
            "librdkafka:fnv1a",
        }
    )
    assert answer["explained"][client] == [keys + 1000, keys + 1000]
    assert answer["scattered_keys"] == 0


def test_fifty_thousand_keys(broker: EmbeddedKafka, write: Any) -> None:
    topic = make(broker, "many", 50)
    write("java", topic, [b"user-%d" % row for row in range(50_000)])
    answer = found(broker, topic)
    assert (answer["verdict"], answer["n"], answer["keys"]) == ("one-writer", 50, 50_000)
    assert "java" in answer["family"]


def test_two_clients_at_once_are_a_mixture(broker: EmbeddedKafka, write: Any) -> None:
    """The confluent-kafka service next to the Java one, which is the most common case."""
    topic, keys = make(broker, "mixture"), users(300, 4000)
    for part in range(4):
        some = keys[part * 1000 : (part + 1) * 1000]
        write("java", topic, some[:750])
        write("librdkafka", topic, some[750:])
    answer = found(broker, topic)
    assert answer["verdict"] == "mixture"
    assert answer["shares"] == {
        "java": pytest.approx(0.75, abs=0.03),
        "librdkafka": pytest.approx(0.25, abs=0.03),
    }
    assert answer["scattered_keys"] > 100


@pytest.mark.parametrize(("before", "after"), [("java", "librdkafka"), ("sarama", "kafkajs")])
def test_a_client_after_another_has_its_date(
    before: str, after: str, broker: EmbeddedKafka, write: Any
) -> None:
    topic, keys = make(broker, f"{before}-{after}"), users(300, 2000)
    write(before, topic, keys[:1200])
    time.sleep(0.05)
    between = time.time() * 1000
    time.sleep(0.05)
    write(after, topic, keys[1200:])
    answer = found(broker, topic)
    assert answer["verdict"] == "writer-change"
    change = answer["change"]
    assert change["kind"] == "writer"
    assert answer["explained"][change["from"]] == answer["explained"][before]
    assert answer["explained"][change["to"]] == answer["explained"][after]
    assert change["last_timestamp_before"] < between < change["first_timestamp_after"]
    assert 8 < len(change["first_offset_after"]) <= N


def test_more_partitions_have_their_date(broker: EmbeddedKafka, write: Any) -> None:
    topic, keys = make(broker, "grown", 6), users(300, 2000)
    write("java", topic, keys[:1000])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for future in admin.create_partitions([NewPartitions(topic, 9)]).values():
        future.result(30)
    time.sleep(1)
    between = time.time() * 1000
    write("java", topic, keys[1000:])
    answer = found(broker, topic)
    assert (answer["verdict"], answer["n"], set(answer["shares"])) == ("n-change", 9, {"java"})
    assert (answer["change"]["from"], answer["change"]["to"]) == (6, 9)
    assert answer["change"]["last_timestamp_before"] < between < answer["change"]["first_timestamp_after"]


def test_null_keys_rule_out_who_hashes_them(broker: EmbeddedKafka, write: Any) -> None:
    topic = make(broker, "nulls")
    write("librdkafka:murmur2_random", topic, [*users(300, 1000), *[None] * 500])
    answer = found(broker, topic)
    assert (answer["verdict"], answer["null_keys"]) == ("one-writer", 500)
    # All null keys of one batch may be in one partition, and it would have to be the empty key's.
    assert set(answer["family"]) - {"librdkafka:murmur2"} == MURMUR2


def test_keyless_and_round_robin_topics(broker: EmbeddedKafka, write: Any) -> None:
    topic = make(broker, "keyless")
    write("java", topic, [None] * 500)
    assert found(broker, topic)["verdict"] == "no-keys"
    topic = make(broker, "turns")
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for row, key in enumerate(users(300, 1200)):
            producer.send(topic, b"v", key=key, partition=row % N)
    assert found(broker, topic)["verdict"] == "round-robin"
    assert found(broker, make(broker, "empty"))["verdict"] == "no-keys"
