"""The cheapest way to even loads: excess load on some brokers goes to others along shortest paths.

A minimum-cost flow by successive shortest paths. Brokers are its nodes; an arc stands for all partitions of which a
unit can go from one broker to another, at the cheapest one's cost. Each step takes a shortest path, so the result is a
minimum: nothing as even costs less, and nothing within the rules of the arcs is more even.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

# More than the cost of all moves together: a broker stays out of its box only if nothing else is possible.
_OUTSIDE = 10**9
_FAR = 10**18


class Arcs(Protocol):
    """The units that can go from broker to broker, and their costs."""

    def costs(self, broker: int) -> list[int | None]:
        """By broker, the lowest cost of moving one unit there from this one; None if none can move."""

    def move(self, giver: int, taker: int, cost: int) -> None:
        """Move one unit of this cost, which exists, from one broker to another."""


def even(arcs: Arcs, loads: Sequence[int], least: Sequence[int], most: Sequence[int]) -> list[int]:
    """Move units until each broker's load is within its box, or as near to it as the arcs allow.

    Distance from the box is counted squared, and summed up. The arcs must have no cycle of negative cost at the start.

    Args:
        arcs: The units that can move; `move` is called for each that does.
        loads: Each broker's load.
        least: The lower ends of the boxes.
        most: Their upper ends.

    Returns:
        The new loads.
    """
    run = _Flow(arcs, loads, least, most)
    while any(run.surplus):
        run.measure()
        while run.one_path():
            pass
    return run.loads


class _Flow:
    """The loads while units move. The node after the last broker balances loads that are within their boxes."""

    def __init__(self, arcs: Arcs, loads: Sequence[int], least: Sequence[int], most: Sequence[int]) -> None:
        self.arcs = arcs
        self.loads = list(loads)
        self.least, self.most = least, most
        self.hub = len(loads)
        # The load assumed for each broker; paths begin or end at a broker with more or less.
        self.assumed = [min(max(own, low), high) for own, low, high in zip(loads, least, most, strict=True)]
        self.surplus = [own - want for own, want in zip(loads, self.assumed, strict=True)]
        self.surplus.append(-sum(self.surplus))
        self.distances: list[int] = []
        self.nearest = 0

    def row(self, node: int) -> list[int | None]:
        """By node, the cost of an arc to it; None if there is no arc."""
        if node == self.hub:
            # Assume that a broker has one unit less.
            steps = (
                self._outside(at, want - 1) - self._outside(at, want) if want else None
                for at, want in enumerate(self.assumed)
            )
            return [*steps, None]
        want = self.assumed[node]
        return [*self.arcs.costs(node), self._outside(node, want + 1) - self._outside(node, want)]

    def measure(self) -> None:
        """Each node's distance from the brokers with too much."""
        self.distances = [0 if own > 0 else _FAR for own in self.surplus]
        waiting = deque(at for at, own in enumerate(self.surplus) if own > 0)
        queued = set(waiting)
        while waiting:
            node = waiting.popleft()
            queued.discard(node)
            here = self.distances[node]
            for to, cost in enumerate(self.row(node)):
                if cost is not None and here + cost < self.distances[to]:
                    self.distances[to] = here + cost
                    if to not in queued:
                        queued.add(to)
                        waiting.append(to)
        self.nearest = min(far for far, own in zip(self.distances, self.surplus, strict=True) if own < 0)

    def one_path(self) -> bool:
        """Send a unit along a shortest path with the fewest arcs; False if no path is as short as `measure` found."""
        # A path that begins farther on than at 0 is longer than it looks.
        sources = [at for at, own in enumerate(self.surplus) if own > 0 and self.distances[at] == 0]
        came: dict[int, tuple[int, int]] = dict.fromkeys(sources, (-1, 0))
        waiting = deque(sources)
        while waiting:
            node = waiting.popleft()
            here = self.distances[node]
            for to, cost in enumerate(self.row(node)):
                if cost is None or to in came or here + cost != self.distances[to]:
                    continue
                came[to] = (node, cost)
                if self.surplus[to] < 0 and self.distances[to] == self.nearest:
                    self._send(to, came)
                    return True
                waiting.append(to)
        return False

    def _send(self, end: int, came: dict[int, tuple[int, int]]) -> None:
        self.surplus[end] += 1
        steps = []
        while came[end][0] >= 0:
            steps.append((came[end][0], end, came[end][1]))
            end = came[end][0]
        self.surplus[end] -= 1
        for giver, taker, cost in reversed(steps):
            if self.hub not in {giver, taker}:
                self.arcs.move(giver, taker, cost)
                self.loads[giver] -= 1
                self.loads[taker] += 1
            elif taker == self.hub:
                self.assumed[giver] += 1
            else:
                self.assumed[taker] -= 1

    def _outside(self, broker: int, load: int) -> int:
        beyond = max(load - self.most[broker], self.least[broker] - load, 0)
        return _OUTSIDE * beyond * beyond
