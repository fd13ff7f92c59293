"""Finds the best plan for a small cluster by trying every plan; `reassign` is compared with it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from partwright.cluster.reassignment.problem import Problem

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

__all__ = ["best_leaders", "best_replicas", "outside", "random_wanted", "unlike"]


def unlike(number: int) -> int:
    """A seed for Java's random numbers: draws of near seeds begin alike, which no cluster's topics do."""
    return number * 0x9E3779B97F4A7C15 % 2**63


def outside(loads: Sequence[int], least: Sequence[int], most: Sequence[int]) -> int:
    """The distance of loads from their boxes, squared and summed up."""
    ends = zip(loads, least, most, strict=True)
    return sum(max(load - high, low - load, 0) ** 2 for load, low, high in ends)


def best_replicas(wanted: Problem) -> tuple[int, int]:
    """The least distance from the boxes of any plan that keeps the racks' rule, and its fewest new replicas."""
    found = {tuple(wanted.base): 0}
    limits = wanted.of_racks()
    for today, factor in zip(wanted.before, wanted.factors, strict=True):
        least, most = limits[factor]
        ways = []
        for own in itertools.combinations(range(len(wanted.racks)), factor):
            counts = [sum(wanted.racks[each] == rack for each in own) for rack in range(len(least))]
            if all(low <= has <= high for low, has, high in zip(least, counts, most, strict=True)):
                ways.append((own, len(set(own).difference(today))))
        after: dict[tuple[int, ...], int] = {}
        for loads, cost in found.items():
            for own, new in ways:
                key = tuple(load + (broker in own) for broker, load in enumerate(loads))
                after[key] = min(after.get(key, cost + new), cost + new)
        found = after
    boxes = wanted.boxes()
    return min((outside(loads, *boxes), cost) for loads, cost in found.items())


def best_leaders(
    wanted: Problem, replicas: Sequence[Sequence[int]], boxes: tuple[Sequence[int], Sequence[int]]
) -> tuple[int, int]:
    """The least distance from the boxes of any choice of leaders, and its fewest new leaders."""
    found = []
    for leaders in itertools.product(*replicas):
        loads = [base + leaders.count(broker) for broker, base in enumerate(wanted.base_leaders)]
        new = sum(leader != today for leader, today in zip(leaders, wanted.leaders, strict=True))
        found.append((outside(loads, *boxes), new))
    return min(found)


def random_wanted(draw: random.Random) -> Problem:
    """A cluster of up to five brokers and six partitions, even or uneven, with racks or without."""
    brokers = draw.randint(1, 5)
    racks = draw.randint(1, brokers)
    in_use = draw.randint(1, brokers)
    of_brokers = [*range(racks), *(draw.randrange(racks) for _ in range(brokers - racks))]
    before = [draw.sample(range(in_use), draw.randint(0, min(in_use, 3))) for _ in range(draw.randint(1, 6))]
    factor = draw.randint(1, brokers)
    power = [1] * brokers if draw.random() < 0.6 else [draw.randint(1, 3) for _ in range(brokers)]
    base = [0] * brokers if draw.random() < 0.6 else [draw.randint(0, 3) for _ in range(brokers)]
    is_mixed = draw.random() < 0.5
    return Problem(
        racks=of_brokers,
        power=power,
        base=base,
        base_leaders=base,
        topics=[draw.randrange(2) for _ in before],
        before=before,
        leaders=[own[0] if own else -1 for own in before],
        factors=[draw.randint(1, brokers) if is_mixed else factor for _ in before],
        sizes=None,
        base_bytes=[0] * brokers,
        disks=power,
    )
