"""Topics to migrate, written and read by confluent-kafka itself, and groups with committed offsets."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from live_cluster import commits, wait_for

from partwright.kafka import topics

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping
DAY_MS = 86_400_000


class Row(NamedTuple):
    """A record."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp: int
    partition: int
    offset: int

    @property
    def content(self) -> tuple[object, ...]:
        return self[:4]


def read(servers: str, topic: str, isolation: str = "read_committed") -> list[Row]:
    """All records of a topic, partition by partition, as a consumer gets them."""
    ends = topics.end_offsets(servers, topic)
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(topic, p, 0) for p in ends])
    found, open_ = [], set(ends)
    until = time.monotonic() + 60
    while open_ and time.monotonic() < until:
        for message in consumer.consume(1000, 0.2):
            if message.error() is not None:
                open_.discard(message.partition())
                continue
            headers = tuple(message.headers() or [])
            found.append(
                Row(
                    message.key(),
                    message.value(),
                    headers,
                    message.timestamp()[1],
                    message.partition(),
                    message.offset(),
                )
            )
    consumer.close()
    assert not open_
    return sorted(found, key=lambda row: (row.partition, row.offset))


def by_key(rows: list[Row]) -> dict[bytes | None, list[tuple[object, ...]]]:
    """Each key's records in the order in which they are read; records without a key have no order."""
    found: dict[bytes | None, list[tuple[object, ...]]] = {}
    for row in rows:
        found.setdefault(row.key, []).append(row.content)
    if None in found:
        found[None].sort(key=repr)
    return found


def commit(servers: str, group: str, topic: str, offsets: Mapping[int, int]) -> None:
    """Offsets of a group without members, as a consumer that was stopped leaves them."""
    places = [TopicPartition(topic, p, offset) for p, offset in offsets.items()]
    wait_for("it is not committed", partial(commits, servers, group, *places))


def committed(servers: str, group: str, topic: str) -> dict[int, int]:
    """The committed offsets of a group."""
    admin = AdminClient({"bootstrap.servers": servers})
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result()
    return {each.partition: each.offset for each in asked.topic_partitions if each.topic == topic}


def fill(servers: str, topic: str, rng: random.Random, records: int) -> None:
    """Records as real topics have them: transactions, some of them aborted, tombstones, no keys, headers, times."""
    # A warning that a coordinator is still loading must not reach stderr, which the tests read.
    settings = {"bootstrap.servers": servers, "partitioner": "murmur2_random", "log_level": 3}
    plain = Producer(settings)
    transactional = Producer({**settings, "transactional.id": f"writer-{topic}"})
    transactional.init_transactions()
    begin = int(time.time() * 1000) - DAY_MS
    row = 0
    while row < records:
        kind = rng.choice(["plain", "commit", "commit", "abort"])
        producer = plain if kind == "plain" else transactional
        if kind != "plain":
            producer.begin_transaction()
        for _ in range(rng.randint(1, 150)):
            chance = rng.random()
            key = None if chance < 0.01 else b"" if chance < 0.02 else b"k%d" % int(rng.expovariate(1 / 200))
            value = {0: None, 1: b""}.get(rng.randrange(60), b"%s %d" % (kind.encode(), row))
            headers = [("trace", b"%d" % row), ("none", None)] if rng.random() < 0.2 else None
            producer.produce(
                topic, value, key, timestamp=begin + row * 100 + rng.randint(-900, 900), headers=headers
            )
            row += 1
        producer.flush()
        if kind == "commit":
            producer.commit_transaction()
        elif kind == "abort":
            producer.abort_transaction()


class Migrate:
    """`partwright migrate` of one topic."""

    def __init__(self, told: Callable[..., tuple[int, str, str]], source: str, target: str, n: int) -> None:
        self._told, self.words = told, [source, target, "-n", str(n)]

    def __call__(self, step: str, *more: object) -> dict[str, Any]:
        code, out, err = self._told("migrate", step, *self.words, *more, "--json")
        assert code == 0, (out, err)
        answer: dict[str, Any] = json.loads(out.splitlines()[-1])
        return answer
