"""Random questions to a producer's strategy: what may happen to a partitioner, and records for a real accumulator.

A question is a line of `partwright strategy --jsonl`, or has `records` instead of its events. Instead of `draws`
it has the `thread_seed` of Java's random numbers. Everything depends only on the seed.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

RACKS = ("a", "b", "c")
MOST = 2**31 - 1
LEAST = -(2**31)
NOW_MS = 1_700_000_000_000
LONG_SIZES = (1, 2, 3, 5, 7, 12)


class Question:
    """One question about a strategy; `replay` and `placing` are its two kinds."""

    def __init__(self, seed: str, strategy: str) -> None:
        """Draws brokers, topics and configuration; `seed` names the question."""
        self.random = random.Random(seed)
        self.strategy = strategy
        self.is_built_in = strategy.startswith(("sticky@3", "sticky@4"))
        self.brokers = [
            {"id": number, "rack": self.random.choice([*RACKS, None])}
            for number in range(self.random.randint(1, 5))
        ]
        self.configs: dict[str, Any] = {}
        if self._happens(0.3) and self.is_built_in:
            self.configs["partitioner.ignore.keys"] = self._happens(0.7)
        if self._happens(0.7) and strategy == "sticky@4.4":
            self.configs["partitioner.rack.aware"] = self._happens(0.8)
            self.configs["client.rack"] = self.random.choice([*RACKS, "elsewhere"])

    def replay(self, events: int) -> dict[str, Any]:
        """At most this many calls of the strategy."""
        topics = {f"t{number}": self._partitions(0.08) for number in range(self.random.randint(1, 3))}
        question = self._question(topics)
        if self.is_built_in and self._happens(0.9):
            self.configs["batch.size"] = self.random.choice(
                [0, 1, 2, 10, 100, 512, 16_384, MOST // 2, MOST // 2 + 1, MOST]
            )
        refresh_ms = 600_000
        if self.strategy == "old-null-key" and self._happens(0.7):
            refresh_ms = self.random.choice([-1, 0, 1, 1000, 600_000, MOST])
            self.configs["topic.metadata.refresh.interval.ms"] = refresh_ms
        if self.strategy.startswith(("round-robin", "default")) and self._happens(0.6):
            starts = [0, 5, MOST - 1, MOST, LEAST, LEAST + 1, -1, self.random.randint(LEAST, MOST)]
            question["counters"] = {name: self.random.choice(starts) for name in topics if self._happens(0.8)}
        at_ms = NOW_MS
        question["events"] = []
        for _ in range(self.random.randint(1, events)):
            event = self._event([*topics, "missing"] if self._happens(0.02) else list(topics))
            if self.strategy == "old-null-key" and event["op"] == "partition":
                near = [refresh_ms - 1, refresh_ms, refresh_ms + 1] if refresh_ms >= 0 else [700_000]
                at_ms += self.random.choice([0, 0, 1, refresh_ms // 2, *near])
                event["at_ms"] = at_ms
            question["events"].append(event)
            if event["op"] == "load_stats":
                drawn = {"op": "next_partition", "topic": event["topic"], "prev": -1}
                question["events"] += [drawn] * self.random.randint(0, 4)
        return question

    def placing(self, records: int) -> dict[str, Any]:
        """At most this many records, which a real accumulator must append."""
        topics = {f"t{number}": self._partitions(0) for number in range(self.random.randint(1, 3))}
        kind = self.random.choice(["any", "any", "any", "tiny", "pairs"])
        size = self.random.choice([0, 1, 50, 62, 70, 100, 130, 200, 500, 1000, 4096, 16_384])
        step = self.random.choice([0, 0, 1, 100, 10_000, 10**9])
        keyless = self.random.choice([0.5, 0.9, 1])
        named = self.random.choice([0, 0, 0.1, 0.4])
        if kind != "any":
            topics, size, step = {"t0": topics["t0"][:5]}, self.random.randint(600, 1200), 0
            keyless = self.random.choice([0.9, 1])
        if kind == "tiny":
            records *= 5
        question = self._question(topics)
        self.configs["batch.size"] = size
        sizes = self._value_sizes(kind, size)
        at_ms = self.random.choice([0, NOW_MS])
        question["records"] = []
        for _ in range(self.random.randint(records // 2, records)):
            name = self.random.choice(list(topics))
            partition = self.random.randrange(len(topics[name])) if self._happens(named) else None
            key = None if self._happens(keyless) else self._key()
            at_ms += self.random.randint(0, step) if self._happens(0.97) else -self.random.randint(0, step)
            value_size = next(sizes) if kind != "pairs" or (partition is None and key is None) else 3
            question["records"].append([name, partition, key, value_size, max(0, at_ms)])
        return question

    def _question(self, topics: dict[str, Any]) -> dict[str, Any]:
        return {
            "strategy": self.strategy,
            "configs": self.configs,
            "brokers": self.brokers,
            "topics": topics,
            "thread_seed": self._thread_seed(),
            **({"client": "java:string-hash"} if self.strategy == "old-null-key" else {}),
        }

    def _happens(self, likely: float) -> bool:
        return self.random.random() < likely

    def _partitions(self, empty: float) -> list[dict[str, Any]]:
        """A topic as the metadata shows it: in any order, led or not, now and then with a hole in its numbers."""
        if self._happens(empty):
            return []
        count = self.random.choice(LONG_SIZES)
        numbers = list(range(count))
        if self._happens(0.15):
            numbers = sorted(self.random.sample(range(2 * count), count))
        if self._happens(0.5):
            self.random.shuffle(numbers)
        led = self.random.choice([1, 1, 1, 0.7, 0.3, 0])
        partitions = [
            {"id": number, "leader": self.random.choice(self.brokers)["id"] if self._happens(led) else None}
            for number in numbers
        ]
        if self._happens(0.15):
            for partition in partitions[1:]:
                partition["leader"] = None
        return partitions

    def _key(self) -> str:
        return self.random.randbytes(self.random.choice([0, 1, 3, 4, 8, 13])).hex()

    def _text(self) -> str:
        """Kafka 0.8 hashes an object: a byte array has another hash in each run, a text always the same."""
        short = "".join(self.random.choices("ab0-é键🔑", k=self.random.randint(0, 9)))
        return self.random.choice(["polygenelubricants", short, short, short]).encode().hex()

    def _event(self, topics: list[str]) -> dict[str, Any]:
        likely: dict[str, float] = {"partition": 6, "cluster": 1}
        if self.strategy != "old-null-key":
            likely["on_new_batch"] = 0.3 if self.is_built_in else 3
        if "sticky" in self.strategy:
            likely["next_partition"] = 1
        if self.is_built_in:
            likely |= {"append": 8, "load_stats": 2}
        op = self.random.choices(list(likely), list(likely.values()))[0]
        event: dict[str, Any] = {"op": op, "topic": self.random.choice(topics)}
        if op == "partition":
            key = self._text if self.strategy == "old-null-key" else self._key
            event["key"] = None if self._happens(0.7) else key()
        elif op == "cluster":
            event["partitions"] = self._partitions(0.1)
        elif op in {"on_new_batch", "next_partition"}:
            event["prev"] = self.random.choice([-1, 0, 0, 0, 1, 1, 2, 3, 5])
        elif op == "append":
            event |= {"bytes": self._bytes(), "enable_switch": self._happens(0.6)}
        else:
            event |= self._load()
        return event

    def _bytes(self) -> int:
        size: int = max(1, self.configs.get("batch.size", 16_384))
        sizes = [0, 1, size // 3, size // 2, size - 1, size, size + 1, 2 * size - 1, 2 * size, 2 * size + 1]
        return min(MOST, self.random.choice([*sizes, self.random.randint(0, size)]))

    def _load(self) -> dict[str, Any]:
        count = self.random.choice([0, 1, 2, 2, 3, 5, 8])
        longest = self.random.choice([10**6, MOST - 1, MOST] if self._happens(0.1) else [0, 1, 3, 10, 1000])
        sizes = [self.random.randint(0, self.random.choice([3, longest])) for _ in range(count)]
        if self._happens(0.2):
            sizes = [longest] * count
        numbers = list(range(count + self.random.choice([0, 0, 2])))
        self.random.shuffle(numbers)
        length = self.random.choice([count] * 6 + [max(0, count - 1), 1, 0])
        if self._happens(0.03):
            length = self.random.choice([-1, count + 1])
        near = self.configs.get("client.rack", "a")
        racks: list[str | None] | None = [
            self.random.choice([*RACKS, None, near, near]) for _ in range(count)
        ]
        if self._happens(0.15):
            racks = [near] * count
        if self.strategy != "sticky@4.4" or self._happens(0.05):
            racks = None
        if self._happens(0.03):
            numbers = numbers[: count // 2]
        return {
            "queue_sizes": None if self._happens(0.07) else sizes,
            "partition_ids": numbers[:count],
            "leader_racks": racks,
            "length": length,
        }

    def _value_sizes(self, kind: str, batch_size: int) -> Iterator[int | None]:
        """The sizes of values; a value of 64 bytes takes one byte more than one of 63."""
        while True:
            if kind == "tiny":
                # The 65th record of a batch takes one byte more than the first.
                yield self.random.randint(0, 2)
            elif kind == "pairs":
                # A record without a key and with such a short value takes 7 bytes more; the next fills the batch.
                short = self.random.randint(0, 50)
                yield short
                yield filling(batch_size - 7 - short) + self.random.choice([-1, 0, 0, 0, 0, 1])
            else:
                room = batch_size - 61
                value_sizes = [
                    self.random.randint(0, 12),
                    self.random.randint(0, 3 * batch_size),
                    room // self.random.randint(1, 5) - self.random.randint(5, 13),
                    2 * batch_size - self.random.randint(60, 75),
                    batch_size // 10,
                    filling(batch_size) + self.random.choice([-1, 0, 0, 1]),
                ]
                yield None if self._happens(0.05) else max(0, self.random.choice(value_sizes))

    def _thread_seed(self) -> int:
        """Any seed; sometimes one whose first number is at an edge of Java's int."""
        if self._happens(0.6):
            return _signed(self.random.getrandbits(64))
        first = self.random.choice(
            [LEAST, LEAST + 1, -2, -1, 0, 1, MOST - 1, MOST, -self.random.randint(1, 9)]
        )
        if self.strategy == "old-null-key":
            return _random_seed(first, self.random.getrandbits(16))
        return _thread_seed(first, self.random.getrandbits(32))


def filling(batch_size: int) -> int:
    """The size of a value that fills a batch to the byte, without a key: the batch takes 61 bytes, the record 5."""
    size = batch_size - 61 - 5
    # Its length, and the record's, take a byte for each seven bits, with one bit for the sign.
    length = 1 if size < 66 else 2 if size < 8196 else 3
    return size - 2 * length


def _thread_seed(first: int, rest: int) -> int:
    """The seed from which `ThreadLocalRandom` of Java's main thread draws this number first: its `mix32`, backwards."""
    mixed = (first % 2**32) << 32 | rest
    mixed = mixed * pow(0xC4CEB9FE1A85EC53, -1, 2**64) % 2**64
    mixed = (mixed ^ mixed >> 33) * pow(0xFF51AFD7ED558CCD, -1, 2**64) % 2**64
    # A thread's seeds are apart by the golden ratio and twice its number, which is 1.
    return _signed((mixed ^ mixed >> 33) - 0x9E3779B97F4A7C15 - 2)


def _random_seed(first: int, rest: int) -> int:
    """The seed from which `java.util.Random` draws this number first."""
    state = (((first % 2**32) << 16 | rest) - 0xB) * pow(0x5DEECE66D, -1, 2**48) % 2**48
    return state ^ 0x5DEECE66D


def _signed(number: int) -> int:
    number %= 2**64
    return number - 2**64 if number >= 2**63 else number
