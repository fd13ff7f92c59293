"""Lower bounds for every plan, found by counting alone: the fewest replicas and bytes that must move."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.cluster.reassignment.problem import Problem

__all__ = ["fewest_bytes", "fewest_moves"]


def fewest_moves(wanted: Problem, least: Sequence[int], most: Sequence[int]) -> int:
    """The fewest replicas that are new on their broker, in any plan whose loads are within their boxes.

    The larger of two counts is taken. By partition: it keeps at most the replicas that it has on brokers that stay, and
    that its racks have room for. By broker: it keeps at most the replicas that it has, and that its box holds; and only
    as many brokers are at their box's upper end as there are replicas left over when each is at its lower end.

    Args:
        wanted: The cluster in numbers.
        least: By broker, the lower end of its box.
        most: Its upper end.

    Returns:
        The bound. It is reached unless partitions and brokers conflict, for example if every broker with room already
        has all partitions of a full broker: then the flow finds that the fewest moves are more than this.
    """
    total = sum(wanted.factors)
    limits = wanted.of_racks()
    by_partition = 0
    for own, factor in zip(wanted.before, wanted.factors, strict=True):
        low, high = limits[factor]
        counts = [0] * len(low)
        for broker in own:
            counts[wanted.racks[broker]] += 1
        kept = [min(has, top) for has, top in zip(counts, high, strict=True)]
        lacking = sum(max(bottom - has, 0) for bottom, has in zip(low, kept, strict=True))
        by_partition += min(sum(kept), factor - lacking)
    has = [0] * len(wanted.racks)
    for own in wanted.before:
        for broker in own:
            has[broker] += 1
    low = [max(end - base, 0) for end, base in zip(least, wanted.base, strict=True)]
    high = [max(end - base, 0) for end, base in zip(most, wanted.base, strict=True)]
    spare = total - sum(low)
    by_broker = sum(map(min, has, low)) + min(
        spare, sum(max(min(own, top) - bottom, 0) for own, bottom, top in zip(has, low, high, strict=True))
    )
    return total - min(by_partition, by_broker)


def fewest_bytes(wanted: Problem, shares: Sequence[float], within: float) -> int:
    """The fewest bytes that are copied, in any plan whose brokers all are near enough to their shares of bytes.

    Args:
        wanted: The cluster in numbers, with sizes.
        shares: By broker, its share of all bytes.
        within: How far from it a broker may be, as a part of it.
    """
    sizes = wanted.sizes or []
    kept = list(wanted.base_bytes)
    for own, size in zip(wanted.before, sizes, strict=True):
        for broker in own:
            kept[broker] += size
    needed = sum(wanted.base_bytes) + sum(
        size * factor for size, factor in zip(sizes, wanted.factors, strict=True)
    )
    lacking = sum(max(0, (1 - within) * share - has) for has, share in zip(kept, shares, strict=True))
    held = sum(min(has, (1 + within) * share) for has, share in zip(kept, shares, strict=True))
    return max(0, int(max(lacking, needed - held)))
