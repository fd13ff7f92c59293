"""Keys as services write them, where clients put them, and which clients put every key into the same partition."""

from __future__ import annotations

import random
from typing import Any

import partwright as pw

SEED = 20261121
# Clients that put every key into the same partition; no key distinguishes them.
FAMILIES = [
    {
        "java",
        "librdkafka:murmur2",
        "librdkafka:murmur2_random",
        "sarama:murmur2",
        "kafka-go:murmur2",
        "franz-go",
        "kafkajs",
        "kafka-python",
        "aiokafka",
    },
    {"librdkafka", "librdkafka:consistent", "sarama:crc32", "kafka-go:crc32", "franz-go:sarama-crc32"},
    {"librdkafka:fnv1a", "librdkafka:fnv1a_random", "sarama", "kafka-go:hash", "franz-go:sarama-compat"},
    {"sarama:reference", "kafka-go:reference"},
    {"kafkajs:legacy"},
    {"java:string-hash"},
]


def family_of(profile: str) -> set[str]:
    (family,) = [family for family in FAMILIES if profile in family]
    return family


def users(count: int, records: int, seed: int = SEED) -> list[str]:
    """Keys with this many records, some keys much heavier than others."""
    draw = random.Random(seed)
    return [f"user-{min(int(draw.expovariate(5) * count), count - 1)}" for _ in range(records)]


def placed(keys: list[Any], n: int, client: str = "java") -> list[Any]:
    found: list[Any] = pw.partition_for_key(keys, n, client).to_pylist()
    return found
