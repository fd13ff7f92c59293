"""The planning problem in numbers: brokers, racks and partitions by index, as the planner takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright.cluster.reassignment.shares import Limits, box, fair_in_racks, rack_limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

__all__ = ["Problem"]


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
