"""Each broker's fair share, as exact fractions: by its power, within the limits of racks and numbers of partitions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Limits", "box", "fair", "fair_in_racks", "rack_limits"]


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
