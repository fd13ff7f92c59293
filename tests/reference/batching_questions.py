"""Random scenarios of batches for a real record accumulator, and the patterns of Kafka's own tests.

A question is a scenario of `partwright batch`. Instead of `draws` it has the `thread_seed` of Java's random numbers.
Everything depends only on the seed.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from strategy_questions import filling

if TYPE_CHECKING:
    from collections.abc import Iterator

RACKS = ("a", "b", "c")
NOW_MS = 1_700_000_000_000
BATCH_OVERHEAD = 61
RECORD_ROOM = 21 + 5 + 5
"""More than a record takes beside its key, value and headers, by the producer's own estimate."""
HEADER_ROOM = 5 + 2 + 5
THIRDS_SEED = 13
"""The first of Java's thread seeds whose first four draws are 0, 1, 2 and 0 modulo three."""


class Scenario:
    """One random scenario; `question` writes it down."""

    def __init__(self, seed: str, strategy: str) -> None:
        """Draws the brokers and the kind of batches; `seed` names the question."""
        self.random = random.Random(seed)
        self.strategy = strategy
        self.batch_size = self._one(0, 1, 62, 70, 100, 130, 200, 512, 600, 1024, 4096, 16_384)
        self.linger_ms = self._one(0, 0, 1, 2, 5, 5, 20, 100, 1000, 100_000)
        self.brokers: list[dict[str, Any]] = [
            {
                "id": number,
                "rack": self._one(*RACKS, None),
                "latency_ms": self._one(0, 1, 1, 2, 5, 20, 100, 500),
            }
            for number in self.random.sample(range(6), self._one(1, 1, 2, 3, 3, 4))
        ]
        self.partitions = self._partitions()

    def question(self, records: int) -> dict[str, Any]:
        """The scenario, with at most this many records."""
        sent = self._records(self.random.randint(records // 3, records))
        first_ms, last_ms = sent[0][0], sent[-1][0]
        longest_ms = max([1, self.linger_ms, *(broker["latency_ms"] for broker in self.brokers)])
        for broker in self.brokers:
            broker["away"] = self._away(first_ms - 10, last_ms + longest_ms) if self._happens(0.3) else []
        near_ms = [first_ms - 1, first_ms, last_ms - 1, last_ms, last_ms + 1, last_ms + longest_ms // 2]
        return {
            "strategy": self.strategy,
            "config": self._config(max(map(_room, sent))),
            "sender": self._one("each-instant", "each-instant", "each-append"),
            "brokers": self.brokers,
            "partitions": self.partitions,
            "flush_ms": max(0, self._one(*near_ms)) if self._happens(0.5) else None,
            "failed_requests": sorted(self.random.sample(range(12), self.random.randint(1, 6)))
            if self._happens(0.4)
            else [],
            "records": sent,
            "thread_seed": self.random.randint(-(2**63), 2**63 - 1),
        }

    def _one(self, *among: Any) -> Any:
        return self.random.choice(among)

    def _happens(self, likely: float) -> bool:
        return self.random.random() < likely

    def _config(self, largest: int) -> dict[str, Any]:
        is_built_in = self.strategy in {"sticky@4.4", "sticky@3.3"}
        is_rack_aware = self.strategy == "sticky@4.4" and self._happens(0.4)
        batch = max(largest, self.batch_size)
        return {
            "batch.size": self.batch_size,
            "linger.ms": self.linger_ms,
            "max.request.size": self._one(largest, batch, batch + 1, 2 * batch, 3 * batch, 2**20 + largest),
            "max.in.flight.requests.per.connection": self._one(1, 1, 1, 2, 3, 5, 5),
            "retry.backoff.ms": self._one(0, 1, 10, 100, 1000),
            "partitioner.adaptive.partitioning.enable": not is_built_in or self._happens(0.8),
            "partitioner.availability.timeout.ms": self._one(0, 1, 5, 20, 100) if is_built_in else 0,
            "partitioner.rack.aware": is_rack_aware,
            "client.rack": self._one(*RACKS, "elsewhere") if is_rack_aware else "",
        }

    def _partitions(self) -> list[dict[str, Any]]:
        """A topic as the metadata shows it: in any order, led or not, now and then with a hole in its numbers."""
        count = self._one(1, 2, 2, 3, 3, 3, 4, 5, 7, 12)
        numbers = list(range(count))
        if self._happens(0.1):
            numbers = sorted(self.random.sample(range(3 * count), count))
        if self._happens(0.5):
            self.random.shuffle(numbers)
        led = self._one(1, 1, 1, 1, 0.7, 0.3)
        return [
            {"id": number, "leader": self._one(*self.brokers)["id"] if self._happens(led) else None}
            for number in numbers
        ]

    def _records(self, count: int) -> list[list[Any]]:
        keyless = self._one(1, 1, 0.9, 0.5)
        named = self._one(0, 0, 0.1, 0.4)
        times, sizes = self._times(), self._value_sizes()
        records: list[list[Any]] = []
        for _ in range(count):
            key = (
                None if self._happens(keyless) else self.random.randbytes(self._one(0, 1, 3, 4, 8, 13)).hex()
            )
            partition = self._one(*self.partitions)["id"] if self._happens(named) else None
            record = [next(times), key, partition, next(sizes)]
            if self._happens(0.15):
                record.append([self._one(0, 1, 26, 64) for _ in range(self._one(0, 1, 2))])
            records.append(record)
        return records

    def _times(self) -> Iterator[int]:
        """When records are appended: at one instant, in bursts, or one by one; a delta of 64 takes one byte more."""
        at_ms = self._one(0, 10_000, NOW_MS)
        likely = self._one(0, 0.1, 0.5, 0.9, 1)
        step_ms = self._one(1, 2, 10, 64, max(1, self.linger_ms), 2 * self.linger_ms + 1, 10_000)
        while True:
            yield at_ms
            if self._happens(likely):
                at_ms += self.random.randint(1, step_ms)

    def _value_sizes(self) -> Iterator[int | None]:
        """Values that fill a batch with one or two records, in parts, or hardly at all; some exceed a batch."""
        room = max(0, self.batch_size - BATCH_OVERHEAD)
        likely = self._one("small", "part", "part", "pair", "any")
        while True:
            kind = likely if self._happens(0.8) else self._one("small", "part", "pair", "fill", "any")
            if kind == "pair":
                # A record without a key and with such a short value takes 7 bytes more; the next fills the batch.
                short = self.random.randint(0, 50)
                yield short
                yield max(0, filling(self.batch_size - 7 - short) + self._one(-1, 0, 0, 0, 1))
                continue
            part = room // self.random.randint(2, 5) - self.random.randint(5, 9)
            sizes = {
                "small": self.random.randint(0, max(12, room // 20)),
                "part": part,
                "fill": filling(self.batch_size) + self._one(-1, 0, 0, 0, 1),
                "any": self.random.randint(0, self._one(20, 2 * self.batch_size + 20)),
            }
            yield None if self._happens(0.04) else max(0, sizes[kind])

    def _away(self, from_ms: int, to_ms: int) -> list[list[int]]:
        """Spans one after the other, of which the first may have begun before, and the last may be long."""
        ends = sorted(max(0, self.random.randint(from_ms, to_ms)) for _ in range(2 * self._one(1, 1, 2, 3)))
        spans = [list(span) for span in zip(ends[::2], ends[1::2], strict=True) if span[0] < span[1]]
        if spans and self._happens(0.3):
            spans[-1][1] += self._one(1, 50, 1000)
        return spans


def _room(record: list[Any]) -> int:
    """At least the size that a producer estimates for a batch with only this record."""
    _, key, _, value_size, *rest = record
    headers = rest[0] if rest else []
    return (
        BATCH_OVERHEAD
        + RECORD_ROOM
        + len(key or "") // 2
        + (value_size or 0)
        + sum(HEADER_ROOM + size for size in headers)
    )


def patterns(strategy: str) -> list[dict[str, Any]]:
    """The records that Kafka's own tests append, and a few worked examples."""
    three = [{"id": number, "leader": number % 2} for number in range(3)]
    nine = [[10_000 + number // 3, None, None, 200] for number in range(9)]
    found = [
        _pattern(strategy, three, nine, {"linger.ms": 5}),
        _pattern(strategy, three, nine, {"linger.ms": 0}, sender="each-append"),
        _pattern(strategy, three, [[0, None, None, 200]] * 9, {"linger.ms": 0}, sender="each-append"),
    ]
    if strategy not in {"sticky@4.4", "sticky@3.3"}:
        return found
    # A small record, and large ones: the first two stay together, although they exceed a batch.
    uniform = [[0, None, None, size] for size in (4, 1024, 1024, 1024, 1024)]
    found.append(
        _pattern(strategy, three, uniform, {"batch.size": 1024, "linger.ms": 10}, thread_seed=THIRDS_SEED)
    )
    # Queues of 1, 7 and 2 batches; then records that choose by them, one switch each.
    queues = [[0, None, number, 900] for number, length in enumerate((1, 7, 2)) for _ in range(length)]
    chosen = [[1, None, None, 2048] for _ in range(30)]
    away = [{"id": number, "rack": None, "latency_ms": 1, "away": [[0, 100]]} for number in range(2)]
    found.append(
        _pattern(strategy, three, queues + chosen, {"batch.size": 1024, "linger.ms": 0}, brokers=away)
    )
    # Ten rounds of about two thirds of a batch, each of which leaves before the next one.
    rounds = [[20 * number, None, None, 32] for number in range(10) for _ in range(512 * 2 // 3 // 32)]
    found.append(_pattern(strategy, three, rounds, {"batch.size": 512, "linger.ms": 10}))
    return found


def _pattern(
    strategy: str,
    partitions: list[dict[str, Any]],
    records: list[list[Any]],
    config: dict[str, Any],
    **rest: Any,
) -> dict[str, Any]:
    config = {
        "batch.size": 16_384,
        "linger.ms": 5,
        "max.request.size": 2**20,
        "max.in.flight.requests.per.connection": 5,
        "retry.backoff.ms": 100,
        "partitioner.adaptive.partitioning.enable": True,
        "partitioner.availability.timeout.ms": 0,
        "partitioner.rack.aware": False,
        "client.rack": "",
        **config,
    }
    brokers = [{"id": number, "rack": None, "latency_ms": 1, "away": []} for number in range(2)]
    question = {
        "strategy": strategy,
        "config": config,
        "sender": "each-instant",
        "brokers": brokers,
        "partitions": partitions,
        "flush_ms": None,
        "failed_requests": [],
        "records": records,
        "thread_seed": 1,
    }
    return {**question, **rest}
