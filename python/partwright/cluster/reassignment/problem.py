"""The planning problem in numbers: brokers, racks and partitions by index, fair shares, and bounds for every plan.

A broker's fair share is an exact fraction: by its power, within the limits of racks and numbers of partitions. The
bounds, the fewest replicas and bytes that must move, are found by counting alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor


@dataclass(frozen=True, slots=True)
class Problem:
    """A cluster to make even, where everything is an index into one of its lists.

    Attributes:
        racks: By broker that will have replicas, its rack; all 0 if racks do not count.
        power: By broker, its power.
        base: By broker, how many replicas of topics that stay as they are it has.
        base_leaders: By broker, how many of these partitions it leads.
        topics: By partition, its topic.
        before: By partition, which of the brokers have it today, in the order of its list; brokers that leave are left
            out.
        leaders: By partition, the broker that leads its list today; -1 if that one leaves.
        factors: By partition, how many replicas it will have.
        sizes: By partition, its bytes; None if unknown.
        base_bytes: By broker, the bytes of topics that stay as they are.
        disks: By broker, the weight for its share of bytes.
    """

    racks: Sequence[int]
    power: Sequence[int]
    base: Sequence[int]
    base_leaders: Sequence[int]
    topics: Sequence[int]
    before: Sequence[Sequence[int]]
    leaders: Sequence[int]
    factors: Sequence[int]
    sizes: Sequence[int] | None
    base_bytes: Sequence[int]
    disks: Sequence[int]

    def rack_sizes(self) -> list[int]:
        """By rack, how many brokers it has."""
        return [sum(rack == each for rack in self.racks) for each in range(max(self.racks) + 1)]

    def of_racks(self) -> dict[int, tuple[list[int], list[int]]]:
        """By replication factor, how many replicas of a partition each rack has at least and at most."""
        sizes = self.rack_sizes()
        return {factor: rack_limits(sizes, factor) for factor in sorted(set(self.factors))}

    def shares(self) -> list[Fraction]:
        """By broker, its exact share of replicas as a fraction: in proportion to power, as far as racks allow."""
        return self._shares([1] * len(self.factors), self.base, self.power)

    def byte_shares(self) -> list[float]:
        """By broker, its exact share of bytes; all 0 if no size is known."""
        if self.sizes is None:
            return [0.0] * len(self.racks)
        return [float(each) for each in self._shares(self.sizes, self.base_bytes, self.disks)]

    def boxes(self) -> tuple[list[int], list[int]]:
        """By broker, how many replicas it has at least and at most if all is even."""
        return box(self.shares())

    def _shares(self, weights: Sequence[int], base: Sequence[int], power: Sequence[int]) -> list[Fraction]:
        limits, bounds = self.of_racks(), []
        for rack in range(len(self.rack_sizes())):
            has = sum(own for own, of in zip(base, self.racks, strict=True) if of == rack)
            low, high = (
                has
                + sum(
                    weight * limits[factor][end][rack]
                    for weight, factor in zip(weights, self.factors, strict=True)
                )
                for end in (0, 1)
            )
            bounds.append((low, high))
        most = [own + sum(weights) for own in base]
        pairs = zip(weights, self.factors, strict=True)
        total = sum(base) + sum(weight * factor for weight, factor in pairs)
        return fair_in_racks(total, Limits(power, base, most), self.racks, bounds)


@dataclass(frozen=True, slots=True)
class Limits:
    """Brokers' power and limits.

    Attributes:
        power: Each broker's power, above 0.
        least: What each has at least.
        most: What each has at most.
    """

    power: Sequence[int]
    least: Sequence[int]
    most: Sequence[int]

    def of(self, members: Sequence[int]) -> Limits:
        """The limits of some brokers, by index."""
        return Limits(*([each[at] for at in members] for each in (self.power, self.least, self.most)))

    def at(self, level: Fraction) -> list[Fraction]:
        """Each broker's share if one of power 1 has `level`, within the limits."""
        return [
            min(max(level * power, Fraction(least)), Fraction(most))
            for power, least, most in zip(self.power, self.least, self.most, strict=True)
        ]

    def bends(self) -> set[Fraction]:
        """The levels at which a broker reaches a limit."""
        return {
            Fraction(limit, power)
            for limits in (self.least, self.most)
            for limit, power in zip(limits, self.power, strict=True)
        }

    def level(self, total: int | Fraction) -> Fraction:
        """The level at which all shares add up to a total, or as near to it as the limits allow."""
        return _level(total, lambda level: sum(self.at(level), Fraction()), self.bends())


def rack_limits(sizes: Sequence[int], replicas: int) -> tuple[list[int], list[int]]:
    """How many of a partition's replicas each rack has at least and at most, so that racks differ by one at most.

    A rack that has no more brokers is full before the others. With no more replicas than racks, no rack has two.

    Args:
        sizes: How many brokers each rack has.
        replicas: The partition's replicas, no more than there are brokers.

    Examples:
        >>> rack_limits([2, 2, 2], 2), rack_limits([1, 3], 3)
        (([0, 0, 0], [1, 1, 1]), ([1, 2], [1, 2]))
    """
    full = 0
    while full < max(sizes) and sum(min(size, full + 1) for size in sizes) <= replicas:
        full += 1
    if sum(min(size, full) for size in sizes) == replicas:
        exact = [min(size, full) for size in sizes]
        return exact, exact
    return [min(size, full) for size in sizes], [min(size, full + 1) for size in sizes]


def fair(total: int, limits: Limits) -> list[Fraction]:
    """The shares of a total by power, each within its limits: they minimize the sum of share²/power.

    Args:
        total: What is shared out, between the sums of the limits.
        limits: Each one's power and limits.

    Examples:
        >>> fair(12, Limits([1, 1, 2], [0, 0, 0], [9, 9, 5])) == [3.5, 3.5, 5]
        True
    """
    return limits.at(limits.level(total))


def fair_in_racks(
    total: int, limits: Limits, racks: Sequence[int], of_racks: Sequence[tuple[int, int]]
) -> list[Fraction]:
    """The same if each rack has limits, too.

    Args:
        total: What is shared out.
        limits: Each broker's power and limits.
        racks: Each broker's rack, 0 to the number of racks less 1.
        of_racks: The least and the most of each rack.

    Examples:
        >>> fair_in_racks(6, Limits([1, 1, 1], [0, 0, 0], [3, 3, 3]), [0, 0, 1], [(3, 3), (3, 3)]) == [1.5, 1.5, 3]
        True
    """
    members = [[at for at, rack in enumerate(racks) if rack == each] for each in range(len(of_racks))]
    inside = [limits.of(each) for each in members]
    bends = set().union(
        *(each.bends() for each in inside),
        *({own.level(bound) for bound in bounds} for own, bounds in zip(inside, of_racks, strict=True)),
    )

    def of(level: Fraction) -> list[Fraction]:
        sums = (sum(each.at(level), Fraction()) for each in inside)
        return [
            min(max(each, Fraction(low)), Fraction(high))
            for each, (low, high) in zip(sums, of_racks, strict=True)
        ]

    level = _level(total, lambda level: sum(of(level), Fraction()), bends)
    shares = [Fraction()] * len(racks)
    for places, own, whole in zip(members, inside, of(level), strict=True):
        for at, share in zip(places, own.at(own.level(whole)), strict=True):
            shares[at] = share
    return shares


def box(shares: Sequence[Fraction]) -> tuple[list[int], list[int]]:
    """The whole numbers around each share: what a broker has at least and at most if all is even.

    Examples:
        >>> box([Fraction(7, 2), Fraction(5)])
        ([3, 5], [4, 5])
    """
    return [floor(each) for each in shares], [ceil(each) for each in shares]


def _level(total: int | Fraction, curve: Callable[[Fraction], Fraction], bends: set[Fraction]) -> Fraction:
    """Where a curve that never falls, and is straight between bends, reaches a total."""
    places = sorted(bends)
    low, high = 0, len(places) - 1
    if total <= curve(places[low]):
        return places[low]
    if total >= curve(places[high]):
        return places[high]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if curve(places[middle]) < total else (low, middle)
    below, above = curve(places[low]), curve(places[high])
    return places[low] + (places[high] - places[low]) * (total - below) / (above - below)


def fewest_moves(problem: Problem, least: Sequence[int], most: Sequence[int]) -> int:
    """The fewest replicas that are new on their broker, in any plan whose loads are within their boxes.

    The larger of two counts is taken. By partition: it keeps at most the replicas that it has on brokers that stay, and
    that its racks have room for. By broker: it keeps at most the replicas that it has, and that its box holds; and only
    as many brokers are at their box's upper end as there are replicas left over when each is at its lower end.

    Args:
        problem: The cluster in numbers.
        least: By broker, the lower end of its box.
        most: Its upper end.

    Returns:
        The bound. It is reached unless partitions and brokers conflict, for example if every broker with room already
        has all partitions of a full broker: then the flow finds that the fewest moves are more than this.
    """
    total = sum(problem.factors)
    limits = problem.of_racks()
    by_partition = 0
    for own, factor in zip(problem.before, problem.factors, strict=True):
        low, high = limits[factor]
        counts = [0] * len(low)
        for broker in own:
            counts[problem.racks[broker]] += 1
        kept = [min(has, top) for has, top in zip(counts, high, strict=True)]
        lacking = sum(max(bottom - has, 0) for bottom, has in zip(low, kept, strict=True))
        by_partition += min(sum(kept), factor - lacking)
    has = [0] * len(problem.racks)
    for own in problem.before:
        for broker in own:
            has[broker] += 1
    low = [max(end - base, 0) for end, base in zip(least, problem.base, strict=True)]
    high = [max(end - base, 0) for end, base in zip(most, problem.base, strict=True)]
    spare = total - sum(low)
    by_broker = sum(map(min, has, low)) + min(
        spare, sum(max(min(own, top) - bottom, 0) for own, bottom, top in zip(has, low, high, strict=True))
    )
    return total - min(by_partition, by_broker)


def fewest_bytes(problem: Problem, shares: Sequence[float], within: float) -> int:
    """The fewest bytes that are copied, in any plan whose brokers all are near enough to their shares of bytes.

    Args:
        problem: The cluster in numbers, with sizes.
        shares: By broker, its share of all bytes.
        within: How far from it a broker may be, as a part of it.
    """
    sizes = problem.sizes or []
    kept = list(problem.base_bytes)
    for own, size in zip(problem.before, sizes, strict=True):
        for broker in own:
            kept[broker] += size
    needed = sum(problem.base_bytes) + sum(
        size * factor for size, factor in zip(sizes, problem.factors, strict=True)
    )
    lacking = sum(max(0, (1 - within) * share - has) for has, share in zip(kept, shares, strict=True))
    held = sum(min(has, (1 + within) * share) for has, share in zip(kept, shares, strict=True))
    return max(0, int(max(lacking, needed - held)))
