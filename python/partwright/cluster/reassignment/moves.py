"""Partitions that go elsewhere: their replicas before and after, Kafka's JSON of them, and batches of them.

A batch tells what it copies, between which brokers, and how long that takes at a given rate.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from partwright._check import MOST_LONG, Json, at_least_one, shown
from partwright.errors import PartwrightError

_HIGHEST = 1_000_000


class Move(NamedTuple):
    """A partition whose list of replicas changes.

    Attributes:
        topic: Its topic.
        partition: Its number.
        before: The brokers that have it today, the preferred leader first.
        after: The brokers that will have it.
        leader: The broker that leads it today; None if none does.
        size: The bytes of one replica; None if unknown.
    """

    topic: str
    partition: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    leader: int | None = None
    size: int | None = None

    @property
    def added(self) -> tuple[int, ...]:
        """The brokers that get a replica, and so a copy of all its data."""
        return tuple(each for each in self.after if each not in self.before)

    @property
    def removed(self) -> tuple[int, ...]:
        """The brokers that lose theirs."""
        return tuple(each for each in self.before if each not in self.after)

    @property
    def bytes(self) -> int | None:
        """How many bytes are copied for it; None if its size is unknown."""
        return None if self.size is None else self.size * len(self.added)

    def is_moving(self, replicas: tuple[int, ...]) -> bool:
        """Whether these are the replicas that Kafka lists while it moves the partition: all before and all after."""
        return replicas not in {self.before, self.after} and set(replicas) == {*self.before, *self.after}

    @property
    def source(self) -> int:
        """The broker that new replicas copy from: today's leader, or the first of the list without one."""
        return self.before[0] if self.leader is None else self.leader


def plan_of(moves: Iterable[Move], *, back: bool = False) -> Json:
    """The JSON for `kafka-reassign-partitions.sh`.

    Args:
        moves: The partitions.
        back: Whether the plan is for the way back.

    Examples:
        >>> plan_of([Move("t", 0, (0,), (1,))])["partitions"]
        [{'topic': 't', 'partition': 0, 'replicas': [1], 'log_dirs': ['any']}]
    """
    rows = [
        {
            "topic": each.topic,
            "partition": each.partition,
            "replicas": list(each.before if back else each.after),
            "log_dirs": ["any"] * len(each.before if back else each.after),
        }
        for each in moves
    ]
    return {"version": 1, "partitions": rows}


def plan_json(moves: Iterable[Move], *, back: bool = False) -> str:
    """The same as text."""
    return json.dumps(plan_of(moves, back=back))


def elections_json(partitions: Iterable[tuple[str, int]]) -> str:
    """The JSON for `kafka-leader-election.sh --path-to-json-file`.

    Examples:
        >>> elections_json([("t", 0)])
        '{"partitions": [{"topic": "t", "partition": 0}]}'
    """
    return json.dumps({"partitions": [{"topic": topic, "partition": each} for topic, each in partitions]})


@dataclass(frozen=True, slots=True)
class Batch:
    """A part of a reassignment that Kafka gets in one request.

    Attributes:
        moves: Its partitions.
        throttle: The bytes a second that each broker sends and receives at most; None for no limit.
    """

    moves: tuple[Move, ...]
    throttle: int | None = None

    @property
    def replicas(self) -> int:
        """How many replicas are copied."""
        return sum(len(each.added) for each in self.moves)

    @property
    def bytes(self) -> int | None:
        """How many bytes are copied; None if a size is unknown."""
        return _sum(self.moves)

    @property
    def received(self) -> Mapping[int, int]:
        """By broker, the bytes that it receives; empty if sizes are unknown."""
        return _traffic((broker, each) for each in self.moves for broker in each.added)

    @property
    def sent_bytes(self) -> Mapping[int, int]:
        """By broker, the bytes that it sends as a leader; empty if sizes are unknown."""
        return _traffic((each.source, each) for each in self.moves for _ in each.added)

    @property
    def seconds(self) -> float | None:
        """How long the busiest broker takes at the throttle; records produced meanwhile come on top.

        None without a throttle, or if a size is unknown.
        """
        if self.throttle is None or self.bytes is None:
            return None
        return max([*self.received.values(), *self.sent_bytes.values()], default=0) / self.throttle

    def json(self) -> str:
        """The JSON for `kafka-reassign-partitions.sh --execute --reassignment-json-file`."""
        return plan_json(self.moves)

    def rollback(self) -> str:
        """The same JSON for the way back, to where its replicas were before."""
        return plan_json(self.moves, back=True)

    def to_dict(self) -> Json:
        """What the batch copies, as `--json` prints it."""
        return {
            "partitions": len(self.moves),
            "replicas": self.replicas,
            "bytes": self.bytes,
            "seconds": self.seconds,
        }


def in_batches(
    moves: Sequence[Move],
    throttle: int | None,
    max_replicas: int | None,
    max_bytes: int | None,
    max_seconds: float | None,
) -> tuple[Batch, ...]:
    """Cut moves into batches; see `Reassignment.batches`."""
    limits = {"throttle": (throttle, MOST_LONG), "max_replicas": (max_replicas, _HIGHEST)}
    for name, (limit, highest) in (limits | {"max_bytes": (max_bytes, MOST_LONG)}).items():
        if limit is not None:
            at_least_one(limit, name, highest)
    if max_seconds is not None and (
        type(max_seconds) not in {int, float} or not 0 < max_seconds < _HIGHEST * _HIGHEST
    ):
        raise PartwrightError(f"max_seconds is a number above 0, not {shown(max_seconds)}")
    if max_seconds is not None and throttle is None:
        raise PartwrightError("max_seconds needs a throttle, the bytes a second of each broker")
    if (max_bytes is not None or max_seconds is not None) and _sum(moves) is None:
        raise PartwrightError("max_bytes and max_seconds need the partitions' sizes: give sizes")
    free = tuple(each for each in moves if not each.added)
    batches = [Batch(free, throttle)] if free else []
    waiting: list[Move] = []
    received: Counter[int] = Counter()
    sent_bytes: Counter[int] = Counter()
    replicas = 0
    for each in _in_turn(each for each in moves if each.added):
        size, count = each.size or 0, len(each.added)
        busiest = max([*(received[to] + size for to in each.added), sent_bytes[each.source] + size * count])
        if waiting and (
            (max_replicas is not None and replicas + count > max_replicas)
            or (max_bytes is not None and received.total() + size * count > max_bytes)
            or (max_seconds is not None and throttle is not None and busiest > max_seconds * throttle)
        ):
            batches.append(Batch(tuple(waiting), throttle))
            waiting, replicas = [], 0
            received.clear()
            sent_bytes.clear()
        waiting.append(each)
        replicas += count
        received.update(dict.fromkeys(each.added, size))
        sent_bytes[each.source] += size * count
    return (*batches, Batch(tuple(waiting), throttle)) if waiting else tuple(batches)


def _in_turn(moves: Iterable[Move]) -> Iterable[Move]:
    """Order moves so that brokers receive in turn and, as far as possible, send in turn."""
    lanes: dict[int, dict[int, deque[Move]]] = defaultdict(lambda: defaultdict(deque))
    for each in sorted(moves, key=lambda each: (-(each.size or 0), each.topic, each.partition)):
        lanes[each.added[0]][each.source].append(each)
    used: Counter[int] = Counter()
    while lanes:
        for taker in sorted(lanes):
            sources = lanes[taker]
            source = min(sources, key=lambda each: (used[each], each))
            used[source] += 1
            yield sources[source].popleft()
            if not sources[source]:
                del sources[source]
            if not sources:
                del lanes[taker]


def _sum(moves: Iterable[Move]) -> int | None:
    sizes = [each.bytes for each in moves]
    return None if None in sizes else sum(each for each in sizes if each is not None)


def _traffic(pairs: Iterable[tuple[int, Move]]) -> Mapping[int, int]:
    received: Counter[int] = Counter()
    for broker, each in pairs:
        if each.size is not None:
            received[broker] += each.size
    return dict(sorted(received.items()))
