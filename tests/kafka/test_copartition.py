"""`partwright copartition` on topics that real clients wrote, and on a topic and a file."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from kafka import KafkaProducer

from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker

USERS = [b"user-%d" % row for row in range(500)]


def by_confluent(broker: EmbeddedKafka, topic: str, keys: Sequence[bytes | None], n: int = 12) -> str:
    """Written by confluent-kafka with its defaults: librdkafka's CRC-32."""
    topics.create_topic(broker.bootstrap_servers, topic, n)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for key in keys:
        producer.produce(topic, b"v", key=key)
        producer.poll(0)
    assert producer.flush(60) == 0
    return f"kafka://{broker.bootstrap_servers}/{topic}"


def by_kafka_python(broker: EmbeddedKafka, topic: str, keys: Sequence[bytes | None], n: int = 12) -> str:
    """Written by kafka-python with its defaults: Java's murmur2."""
    topics.create_topic(broker.bootstrap_servers, topic, n)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for sent in [producer.send(topic, b"v", key=key) for key in keys]:
            sent.get(30)
    return f"kafka://{broker.bootstrap_servers}/{topic}"


def found(*words: object) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "partwright", "copartition", *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def kinds(answer: dict[str, Any]) -> list[str]:
    return [reason["kind"] for reason in answer["reasons"]]


def test_two_clients_do_not_meet_and_one_does(broker: EmbeddedKafka) -> None:
    draw = random.Random(1)
    orders = by_confluent(broker, "copartition-orders", USERS + draw.choices(USERS, k=1000))
    users = by_kafka_python(broker, "copartition-users", USERS)
    code, answer = found(orders, users)
    assert (code, answer["ok"], kinds(answer)) == (1, False, ["client"])
    assert (answer["a"]["rows"], answer["b"]["rows"], answer["keys_shared"]) == (1500, 500, 500)
    assert "librdkafka" in answer["a"]["writer"]["family"]
    assert {"java", "kafka-python"} <= set(answer["b"]["writer"]["family"])
    # All but one in n meet only by chance.
    assert answer["share_of_keys"] == pytest.approx(11 / 12, abs=0.04)
    for write, topic, code in (
        (by_confluent, orders, 0),
        (by_kafka_python, users, 0),
        (by_confluent, users, 1),
    ):
        other = write(broker, f"copartition-{write.__name__}-{code}", USERS[100:])
        assert found(topic, other)[0] == code
        assert found(other, topic)[0] == code


def test_another_n_other_bytes_and_null_keys(broker: EmbeddedKafka) -> None:
    wide = by_kafka_python(broker, "copartition-wide", USERS, 24)
    users = by_kafka_python(broker, "copartition-narrow", [*USERS, None, None])
    code, answer = found(users, wide)
    assert (code, kinds(answer)) == (1, ["n", "null-keys"])
    assert (answer["a"]["n"], answer["b"]["n"], answer["a"]["null_keys"]) == (12, 24, 2)
    quoted = by_kafka_python(broker, "copartition-quoted", [b'"%s"' % key for key in USERS])
    code, answer = found(quoted, users)
    assert (code, kinds(answer)) == (1, ["key-bytes", "null-keys"])
    assert answer["readings"] == {"a": "json-unquote", "b": None}
    # One schema's id before each key, and another's.
    old, new = (
        by_kafka_python(
            broker, f"copartition-schema-{schema}", [b"\0\0\0\0" + bytes([schema]) + key for key in USERS]
        )
        for schema in (3, 4)
    )
    assert found(old, new)[1]["readings"] == {"a": "confluent:strip-id", "b": "confluent:strip-id"}
    # The keys after it are the same, and they are where their whole bytes put them.
    code, answer = found(old, new, "--key-type", "confluent:strip-id")
    assert (code, answer["keys_shared"], kinds(answer)) == (1, 500, ["no-rule"])


def test_a_topic_and_a_file(broker: EmbeddedKafka, tmp_path: Path) -> None:
    topic = by_kafka_python(broker, "copartition-file", USERS)
    file = tmp_path / "users.csv"
    file.write_text("user\n" + "\n".join(key.decode() for key in USERS), encoding="utf-8")
    assert found(topic, file, "--key", "user", "-n", 12)[0] == 0
    assert found(file, topic, "--key", "user", "-n", 12)[0] == 0
    code, answer = found(file, topic, "--key", "user", "-n", 12, "--client", "librdkafka")
    assert (code, kinds(answer), answer["a"]["client"], answer["b"]["client"]) == (
        1,
        ["client"],
        "librdkafka",
        None,
    )
    assert found(topic, file, "--key", "user", "-n", 13)[0] == 1


def test_an_empty_topic_meets_nobody(broker: EmbeddedKafka) -> None:
    empty = by_kafka_python(broker, "copartition-empty", [])
    users = by_kafka_python(broker, "copartition-full", USERS[:5])
    code, answer = found(users, empty)
    assert (code, answer["reasons"]) == (1, [{"kind": "no-shared-keys", "sentence": "B has no records"}])
