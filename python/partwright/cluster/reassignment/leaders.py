"""Choose each partition's leader among its replicas: as evenly as possible, with the fewest new leaders.

A leader moves without data: the list of replicas is reordered, and its first one is the preferred leader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from partwright.cluster.reassignment.flow import even
from partwright.cluster.reassignment.problem import Limits, box, fair

if TYPE_CHECKING:
    from partwright.cluster.reassignment.problem import Problem


def lead(problem: Problem, replicas: Sequence[Sequence[int]]) -> list[int]:
    """By partition, the broker that leads it.

    Args:
        problem: The cluster in numbers.
        replicas: By partition, the brokers that have it.

    Returns:
        Leaders with loads within their boxes, or as near to them as replicas allow, and the fewest changes from today's
        leaders among all such.
    """
    leaders = _LeaderMoves(problem, replicas)
    even(leaders, leaders.loads(), *leader_boxes(problem, replicas))
    return leaders.leaders


def leader_boxes(problem: Problem, replicas: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """By broker, how many partitions it leads at least and at most if all is even.

    Args:
        problem: The cluster in numbers.
        replicas: By partition, the brokers that have it.
    """
    most = list(problem.base_leaders)
    for own in replicas:
        for broker in own:
            most[broker] += 1
    total = sum(problem.base_leaders) + len(replicas)
    return box(fair(total, Limits(problem.power, problem.base_leaders, most)))


class _LeaderMoves:
    """Leaders while they move: by giver, taker and cost, the partitions whose leader could move."""

    def __init__(self, problem: Problem, replicas: Sequence[Sequence[int]]) -> None:
        self.problem, self.replicas = problem, replicas
        brokers = len(problem.racks)
        self.ways: list[list[dict[int, dict[int, None]]]] = [
            [{} for _ in range(brokers)] for _ in range(brokers)
        ]
        counts = list(problem.base_leaders)
        self.leaders = [
            today if today in own else -1 for today, own in zip(problem.leaders, replicas, strict=True)
        ]
        for leader in self.leaders:
            if leader >= 0:
                counts[leader] += 1
        for partition, own in enumerate(replicas):
            if self.leaders[partition] < 0:
                leader = min(own, key=lambda each: (counts[each] / problem.power[each], each))
                counts[leader] += 1
                self.leaders[partition] = leader
            self._tell(partition)

    def loads(self) -> list[int]:
        """By broker, how many partitions it leads."""
        counts = list(self.problem.base_leaders)
        for leader in self.leaders:
            counts[leader] += 1
        return counts

    def costs(self, broker: int) -> list[int | None]:
        """See `Arcs`: a leader that differs from today's costs 1."""
        return [min(ways) if ways else None for ways in self.ways[broker]]

    def move(self, giver: int, taker: int, cost: int) -> None:
        """See `Arcs`."""
        partition = next(iter(self.ways[giver][taker][cost]))
        for other in self.replicas[partition]:
            if other != giver:
                ways = self.ways[giver][other]
                own = self._cost(partition, giver, other)
                del ways[own][partition]
                if not ways[own]:
                    del ways[own]
        self.leaders[partition] = taker
        self._tell(partition)

    def _tell(self, partition: int) -> None:
        leader = self.leaders[partition]
        for other in self.replicas[partition]:
            if other != leader:
                ways = self.ways[leader][other]
                ways.setdefault(self._cost(partition, leader, other), {})[partition] = None

    def _cost(self, partition: int, giver: int, taker: int) -> int:
        today = self.problem.leaders[partition]
        if today not in self.replicas[partition]:
            return 0
        return (giver == today) - (taker == today)
