"""Makes up questions about placements and about the names of logs: Kafka's own cases first, and then random ones.

Random questions are drawn from a seed, and the same on every run.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["explicit", "names", "striped", "with_zookeeper"]

# Names with one hash code, or in one bin of a HashMap: the placer draws in the map's order.
RACKS = [
    "a", "b", "c", "eu-west-1a", "eu-west-1b", "eu-west-1c", "Aa", "BB", "", "\0", "机架", "é", "\U0001f5a5", "q",
    "1", "Q",
]  # fmt: skip
MOST_BROKERS, MOST_PARTITIONS = 24, 60
# Hundreds of racks, whose map grows while it is filled.
SHARE_OF_LARGE = 0.02
LETTERS = "abzAZ019._-"
TEXTS = [
    "0:1,1:2", "0", "0,1,2", "0:1:2,2:1:0", " 0 : 1 ,1:2", "0:1,1:2,", "0:1,1:2,,", "0:1:", "0:", ":", "", ",",
    ",0", "0,,1", "0:0", "0:1,1:1", "0:1,1", "0,1:2", "0:1:0", "+1:2", "-1:2", "1_0", "1.0", "a", "0:1,b:2",
    "2147483647", "2147483648", "0x1", "٣:٤", "\uff11:\uff12", "\U0001d7cf", "0\t:1\n", "\u00a00:1", "0:1;1:2",
    "00:01", "0:1,1:2:3",
]  # fmt: skip
DIRECTORIES = [
    "t-0", "orders-11", "firstTopic-0", "first_topic-2", "a-b-c-3", "a.b-1", "__consumer_offsets-49", "t--1",
    "t-+1", "t-01", "-0", "t-", "-", "t", "t_0", "t-x", "t-1x", "t-1.5", "t-2147483647", "t-2147483648", "t-٣",
    "t-\uff11", "t-1 ", "t 1-0", "t-1.0123456789abcdef0123456789abcdef-delete",
    "t-1.0123456789abcdef0123456789abcdef-future", "t-1.0123456789abcdef0123456789abcdef-stray", "t-1-delete",
    "t-delete", "x-delete-0", "delete-1", "t-1.a-delete", "t-1.-delete", "t.a-delete", "t-1.a.b-delete",
    "t.x-1.a-future", "t-1.a-delete-future", "t-1.a-stray-delete", "t 1-1.a-delete", "t-x.a-delete",
    "t-1.a-Delete", "-1.a-delete", "-.a-delete", "meta.properties", ".lock", "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint", "replication-offset-checkpoint", "cleaner-offset-checkpoint",
    ".kafka_cleanshutdown", "bootstrap.checkpoint", "__cluster_metadata-0", "remote-log-index-cache",
    "lost+found", "t-1.a-future\n", "t\u2003x-1.a-delete",
]  # fmt: skip
TOPICS = [
    "orders", "a.b", "a_b", "", ".", "..", "...", "a" * 249, "a" * 250, "é", "a b", "a/b", "-", "_",
    "Orders-2024.v1_x", "订单", "__consumer_offsets", "__transaction_state", "__share_group_state",
    "__cluster_metadata", "a:b", "a\n", "A", "\u0661", "a" * 246,
]  # fmt: skip
OFFSETS = [0, 1, 9, 10, 4_294_967_296, 2**53 + 1, 10**18, 2**63 - 2, 2**63 - 1]
FILES = [
    "00000000000000000000.log", "00000000000000000042.index", "42.log", "09223372036854775807.snapshot",
    "09223372036854775808.log", "00000000000000000042.log.deleted", "00000000000000000042.timeindex.swap",
    "00000000000000000042.txnindex.cleaned", "leader-epoch-checkpoint", "partition.metadata", "x.log", ".log",
    "-1.log", "+1.log", "00000000000000000042", "٤٢.log",
]  # fmt: skip


def brokers(draw: random.Random, most: int) -> list[list[Any]]:
    """IDs in any order, each with a rack or none; racks with few names or with many."""
    if draw.random() < SHARE_OF_LARGE:
        most *= 10
    ids = draw.sample(range(draw.choice([most, 1000, 2**31 - 1])), draw.randint(1, most))
    names = draw.sample(RACKS, draw.randint(1, len(RACKS)))
    if draw.random() < 0.3:
        names = [f"rack-{draw.randrange(10**6)}" for _ in range(draw.randint(1, most))]
    kind = draw.choice(["none", "some", "all", "all"])
    return [
        [each, None if kind == "none" or (kind == "some" and draw.random() < 0.3) else draw.choice(names)]
        for each in ids
    ]


def striped(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """New topics under KRaft: the clusters of Kafka's own tests, and random ones, including refused ones."""
    own = [[3, None, False], [1, None, True], [0, None, False], [4, None, False], [2, None, False]]
    yield {"brokers": own, "partitions": 40, "replication_factor": 4, "seed": 0}
    yield {
        "brokers": [[each, None, False] for each in range(4)],
        "partitions": 40,
        "replication_factor": 3,
        "seed": 17,
    }
    draw = random.Random(f"striped {seed}")
    for _ in range(count):
        part = draw.choice([0, 0, 0.2, 0.6, 1])
        found = [[*each, draw.random() < part] for each in brokers(draw, MOST_BROKERS)]
        yield {
            "brokers": found,
            "partitions": draw.randint(1, MOST_PARTITIONS),
            "replication_factor": draw.randint(0, min(len(found) + 1, 2 + draw.randrange(MOST_BROKERS))),
            "start_partition": draw.choice([0, 0, draw.randrange(100)]),
            "seed": draw.choice([0, -1, draw.getrandbits(63), -draw.getrandbits(40)]),
        }


def with_zookeeper(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """New topics and more partitions under ZooKeeper: Kafka's own tests' clusters, and random ones."""
    racks = {0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}
    fixed = {"start_index": 0, "start_partition": -1}
    yield {"brokers": [[each, None] for each in range(5)], "partitions": 10, "replication_factor": 3, **fixed}
    yield {"brokers": [*map(list, racks.items())], "partitions": 7, "replication_factor": 3, **fixed}
    draw = random.Random(f"admin-utils {seed}")
    for _ in range(count):
        found = sorted(brokers(draw, MOST_BROKERS), key=lambda each: each[0])
        start: dict[str, Any] = {"seed": draw.getrandbits(48)}
        if draw.random() < 0.5:
            start = {"start_index": draw.randrange(len(found))}
        yield {
            "brokers": found,
            "partitions": draw.choice([0, -1, 1, draw.randint(1, MOST_PARTITIONS)]),
            "replication_factor": draw.randint(0, min(len(found) + 1, 2 + draw.randrange(MOST_BROKERS))),
            "start_partition": draw.choice([-1, 0, draw.randrange(100)]),
            **start,
        }


def explicit(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Texts for --replica-assignment: worked ones, and random ones that are mostly wrong."""
    yield from ({"text": text} for text in TEXTS)
    draw = random.Random(f"explicit {seed}")
    for _ in range(count):
        width, wrong = draw.randint(1, 4), draw.choice([0, 0, 0.05])
        lists = [draw.sample(range(12), width) for _ in range(draw.randint(1, 8))]
        text = ",".join(":".join(map(str, each)) for each in lists)
        yield {"text": "".join(draw.choice(":,- +x9") if draw.random() < wrong else each for each in text)}


def names(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Names of topics, of their directories and of the files in them, worked ones and random ones."""
    yield from ({"directory": each} for each in DIRECTORIES)
    yield from (
        {"topic": each, "other": other} for each in TOPICS for other in (each.replace(".", "_"), "a_b")
    )
    yield from ({"offset": each} for each in OFFSETS)
    yield from ({"file": each} for each in FILES)
    for topic in ("orders", "a" * 249, "a" * 215):
        yield from ({"topic": topic, "partition": each} for each in (0, 7, 99_999))
    draw = random.Random(f"names {seed}")
    for _ in range(count):
        topic = "".join(draw.choices(LETTERS, k=draw.choice([1, 5, 200, 249])))
        yield {"topic": topic, "partition": draw.randrange(10 ** draw.randint(1, 5))}
        yield {"topic": topic, "other": "".join(draw.choices("._", k=len(topic)))}
        ending = draw.choice(["", "", "-delete", "-future", "-stray", "." + "0af" * 3 + "-delete"])
        yield {
            "directory": "".join(draw.choices(LETTERS, k=draw.randint(1, 12)))
            + f"-{draw.randrange(300)}"
            + ending
        }
        yield {"offset": draw.getrandbits(draw.randint(1, 63))}
