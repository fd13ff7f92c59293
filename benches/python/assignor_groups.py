"""The groups that assignors are timed with: those of the goals, and those of Kafka's own benchmark."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import partwright as pw
from bench_cases import SEED

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SERVER_CASES", "ClientCase", "ServerCase", "client_cases", "equal", "kafka_cases"]

_FIFTHS = 5
_RACKS = 3
# Six brokers in a row: half of them are in the first rack, a third in the second, a sixth in the last.
_RACK_OF_SIX = (0, 1, 0, 2, 0, 1)


@dataclass(frozen=True)
class ClientCase:
    """A group for one of the consumer's assignors, and its label in the table."""

    name: str
    assignor: str
    topics: dict[str, int]
    members: list[dict[str, Any]]
    racks: dict[str, list[list[str]]] | None = field(default=None)

    @property
    def partitions(self) -> int:
        """The number of partitions to assign."""
        return sum(self.topics.values())


@dataclass(frozen=True)
class ServerCase:
    """A group of the broker's protocol by its numbers, which `ServerGroup` and `server_assignors.rs` take."""

    assignor: str
    shape: str
    event: str
    members: int = 10_000
    topics: int = 1_000
    each: int = 500

    @property
    def name(self) -> str:
        """Its label in the table."""
        return f"server {self.assignor}, {self.shape}, {self.event}"

    @property
    def partitions(self) -> int:
        """The number of partitions to assign."""
        return self.topics * self.each

    def __str__(self) -> str:
        return f"{self.assignor} {self.shape} {self.event} {self.members} {self.topics} {self.each}"


SERVER_CASES = [
    ServerCase(assignor, shape, event)
    for assignor in ("uniform", "range")
    for shape in ("equal", "one-odd", "nested")
    for event in ("fresh", "joins")
]


def equal(topics: int, partitions: int, members: int) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """A group whose members subscribe to all topics."""
    counts = {f"t{number:04}": partitions for number in range(topics)}
    names = list(counts)
    return counts, [{"id": f"c{number:04}", "topics": names} for number in range(members)]


def client_cases() -> Iterator[ClientCase]:
    """The goals' groups: 1,000,000 partitions read alike, and 20,000 by members with random halves."""
    topics, members = equal(500, 2_000, 2_000)
    for assignor in ("range", "roundrobin", "sticky"):
        yield ClientCase(f"{assignor}, equal, fresh", assignor, topics, members)
    left = _owning(topics, members, "sticky")[1:]
    for assignor in ("sticky", "cooperative-sticky"):
        yield ClientCase(f"{assignor}, equal, one leaves", assignor, topics, left)
    topics, members = equal(100, 200, 500)
    draw = random.Random(7 ^ SEED)  # noqa: S311 - the same groups for the same seed
    halves = [{**member, "topics": draw.sample(list(topics), 50)} for member in members]
    yield ClientCase("sticky, random halves, fresh", "sticky", topics, halves)
    left = _owning(topics, halves, "sticky")[1:]
    yield ClientCase("sticky, random halves, one leaves", "sticky", topics, left)


def kafka_cases(members: int, ratio: int, topics: int) -> Iterator[ClientCase]:
    """One size of Kafka's ClientSideAssignorBenchmark in all of its kinds, as ClientAssignorBenchmark.java makes it."""
    for assignor in ("range", "cooperative-sticky"):
        for model in ("homogeneous", "heterogeneous"):
            for racks in (False, True):
                for joins in (False, True):
                    yield _kafka_case(assignor, model, racks, joins, members, ratio, topics)


def _kafka_case(
    assignor: str, model: str, has_racks: bool, joins: bool, members: int, ratio: int, topics: int
) -> ClientCase:
    each = members * ratio // topics
    counts = {f"topic{topic}": each for topic in range(topics)}
    names = list(counts)
    fifths = [names[topics * part // _FIFTHS : topics * (part + 1) // _FIFTHS] for part in range(_FIFTHS)]
    group: list[dict[str, Any]] = [
        {
            "id": f"member{number}",
            "topics": names if model == "homogeneous" else fifths[number * _FIFTHS // members],
            **({"rack": f"rack{_RACK_OF_SIX[number % 6]}"} if has_racks else {}),
        }
        for number in range(members)
    ]
    replicas = [
        [f"rack{_RACK_OF_SIX[number % 6]}", f"rack{(_RACK_OF_SIX[number % 6] + 1) % _RACKS}"]
        for number in range(each)
    ]
    racks = dict.fromkeys(names, replicas) if has_racks else None
    if joins:
        group = [*_owning(counts, group[:-1], assignor, racks), group[-1]]
    kinds = f"{model}, {'racks, ' if has_racks else ''}{'one joins' if joins else 'fresh'}"
    name = f"Kafka's {members:,} x {ratio} over {topics:,} topics: {assignor}, {kinds}"
    return ClientCase(name, assignor, counts, group, racks)


def _owning(
    topics: dict[str, int],
    members: list[dict[str, Any]],
    assignor: str,
    racks: dict[str, list[list[str]]] | None = None,
) -> list[dict[str, Any]]:
    """The members with what an assignor gives them."""
    owned = pw.assign(topics, members, assignor, racks=racks).to_dict()
    return [{**member, "owned": owned[member["id"]], "generation": 1} for member in members]
