"""A partition that goes elsewhere: its replicas before and after, and Kafka's JSON of many of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright._check import Json

__all__ = ["Move", "elections_json", "plan_json", "plan_of"]


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
