"""A live Kafka keeps groups' commits where `coordinator_partition` says, and that partition's leader is reported."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition

import partwright as pw
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.groups import GROUPS, TRANSACTIONS, coordinator

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.broker


def consumer(broker: EmbeddedKafka, group: str | None = None, **settings: Any) -> KafkaConsumer:
    return KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        **settings,
    )


def committed(broker: EmbeddedKafka, n: int) -> Iterator[tuple[str, int]]:
    """The groups of all records in the internal topic, each with its partition."""
    reader = consumer(broker, consumer_timeout_ms=5000)
    reader.assign([TopicPartition(GROUPS, partition) for partition in range(n)])
    for record in reader:
        # A version, and the length and the text of the group's id, of a commit (0 or 1) or of a group (2).
        length = int.from_bytes(record.key[2:4])
        yield record.key[4 : 4 + length].decode(), record.partition
    reader.close()


def test_what_groups_commit_is_in_the_partition_that_we_say(broker: EmbeddedKafka, seed: int) -> None:
    topics.create_topic(broker.bootstrap_servers, "to-commit", 3)
    draw = random.Random(seed)
    letters = "abcXYZ0189-_. é键🔑"
    groups = {"".join(draw.choices(letters, k=draw.randint(1, 30))) + f"-{each}" for each in range(24)}
    groups |= {"polygenelubricants", "KafkaConsumerDemo"}
    for group in groups:
        one = consumer(broker, group)
        one.commit({TopicPartition("to-commit", 1): OffsetAndMetadata(7, "so far", -1)})
        one.close()
    n = topics.partition_count(broker.bootstrap_servers, GROUPS)
    assert n is not None
    assert n > 1
    kept = {(group, partition) for group, partition in committed(broker, n) if group in groups}
    assert kept == {(group, pw.coordinator_partition(group, n)) for group in groups}
    assert len({partition for _, partition in kept}) == n, "each partition has some"


def test_the_command_tells_the_leader_and_what_is_committed(broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "billed", 2)
    one = consumer(broker, "billing")
    one.commit({TopicPartition("billed", each): OffsetAndMetadata(1234 + each, "", -1) for each in (1, 0)})
    one.close()
    found = coordinator(broker.bootstrap_servers, "billing")
    host, _, port = broker.bootstrap_servers.rpartition(":")
    assert found["leader"] == {"id": found["leader"]["id"], "host": host, "port": int(port)}
    assert found["partition"] == pw.coordinator_partition("billing", found["n"])
    assert found["offsets"] == [
        {"topic": "billed", "partition": each, "offset": 1234 + each, "metadata": ""} for each in (0, 1)
    ]
    words = [
        sys.executable,
        "-m",
        "partwright",
        "coordinator",
        "billing",
        "--broker",
        broker.bootstrap_servers,
    ]
    as_json = subprocess.run([*words, "--json"], capture_output=True, text=True, check=True, timeout=60)
    answer = json.loads(as_json.stdout)
    assert {name: answer[name] for name in found} == found
    printed = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    words_of = " ".join(printed.stdout.split())
    assert f"coordinated by broker {found['leader']['id']} at {broker.bootstrap_servers}" in words_of
    assert "1,235" in words_of
    # One broker leads all partitions, so its answer confirms no rule.
    assert (found["by_rule"], found["rule_agrees"], found["leads_all"]) == (found["partition"], None, True)
    assert "so its answer confirms nothing" in words_of
    nobody = coordinator(broker.bootstrap_servers, "nobody-has-this-id")
    assert nobody["offsets"] == []


def test_a_kafka_without_groups_has_no_such_topic() -> None:
    with EmbeddedKafka() as new:
        for topic in (GROUPS, TRANSACTIONS):
            with pytest.raises(pw.BrokerError, match=f"has no topic {topic}: it makes it for the first"):
                coordinator(new.bootstrap_servers, "billing", topic)
