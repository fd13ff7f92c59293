"""Keys in several partitions are refused with their count, or merged as asked; so is another client's topic."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from migrating import DAY_MS, Migrate, by_key, read

from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker

KEYS = 83


def grown(servers: str, topic: str, rng: random.Random) -> dict[bytes, list[bytes]]:
    """A topic of 4 partitions that got 2 more; each key's records, in order."""
    topics.create_topic(servers, topic, 4)
    sent: dict[bytes, list[bytes]] = {}
    row = 0

    def send(records: int) -> None:
        nonlocal row
        producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
        for _ in range(records):
            key, value = b"k%d" % rng.randrange(KEYS), b"%d" % row
            producer.produce(topic, value, key, timestamp=20_000 * DAY_MS + row)
            sent.setdefault(key, []).append(value)
            row += 1
        producer.flush()

    send(2000)
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_partitions([NewPartitions(topic, 6)])[topic].result()
    while topics.partition_count(servers, topic) != 6:
        pass
    send(1500)
    return sent


@pytest.mark.parametrize("order", ["time", "generation"])
def test_keys_in_several_partitions_are_merged_as_it_is_said(
    order: str,
    broker: EmbeddedKafka,
    migrate: Callable[[str, str, int], Migrate],
    told: Callable[..., tuple[int, str, str]],
    refusal: Callable[..., str],
    seed: int,
) -> None:
    servers, topic = broker.bootstrap_servers, f"grown-{order}"
    sent = grown(servers, topic, random.Random(seed))
    places: dict[bytes | None, set[int]] = {}
    for row in read(servers, topic):
        places.setdefault(row.key, set()).add(row.partition)
    scattered = sum(len(each) > 1 for each in places.values())
    assert scattered > 10
    run = migrate(topic, f"{topic}-9", 9)
    code, out, _ = told("migrate", "plan", *run.words)
    assert code == 1
    assert f"{scattered} keys are in several partitions" in " ".join(out.split())
    said = refusal("migrate", "copy", *run.words)
    assert f"{scattered} keys of '{topic}' are each in several partitions" in said
    assert "there were 4 before, and 6 since" in said
    # Nothing was written.
    assert topics.partition_count(servers, f"{topic}-9") is None
    assert run("copy", "--order", order)["written"] == 3500
    assert {
        key: [row[1] for row in rows] for key, rows in by_key(read(servers, f"{topic}-9")).items()
    } == sent
    verified = run("verify", "--order", order)
    assert (verified["ok"], verified["records"]) == (True, 3500)
    assert "began with --order" in refusal("migrate", "copy", *run.words)


def test_a_topic_that_another_client_wrote_is_refused_until_that_is_said(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "crc", 5)
    producer = Producer({"bootstrap.servers": servers, "partitioner": "consistent_random"})
    for row in range(600):
        producer.produce("crc", key=b"k%d" % (row % 101), value=b"%d" % row)
    producer.flush()
    run = migrate("crc", "crc-7", 7)
    assert "was written by the rule of librdkafka, and not of java" in refusal("migrate", "copy", *run.words)
    assert run("copy", "--client", "librdkafka")["written"] == 600
    assert by_key(read(servers, "crc-7")) == by_key(read(servers, "crc"))
    assert run("verify", "--client", "librdkafka")["ok"]


def test_a_key_that_goes_astray_meanwhile_is_refused_before_it_is_copied(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "astray", 3)
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for row in range(300):
        producer.produce("astray", key=b"%d" % (row % 31), value=b"%d" % row)
    producer.flush()
    run = migrate("astray", "astray-8", 8)
    run("copy")
    (at,) = {row.partition for row in read(servers, "astray") if row.key == b"7"}
    producer.produce("astray", key=b"7", value=b"astray", partition=(at + 1) % 3)
    producer.flush()
    said = refusal("migrate", "copy", *run.words)
    assert f"the key b'7' was written to partition {(at + 1) % 3}" in said
    assert len(read(servers, "astray-8")) == 300
