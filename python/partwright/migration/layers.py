"""The layers in which a topic is copied, so that its groups re-read as little as possible: pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["committed_or_begin", "layers"]


def committed_or_begin(committed: Mapping[int, int], begin: Sequence[int]) -> list[int]:
    """A group's offset in each old partition; without one, it has read nothing there.

    Examples:
        >>> committed_or_begin({1: 40}, [5, 7])
        [5, 40]
    """
    return [committed.get(partition, first) for partition, first in enumerate(begin)]


def layers(groups: Iterable[Sequence[int]], at: Sequence[int], end: Sequence[int]) -> list[tuple[int, ...]]:
    """The offsets up to which the old partitions are copied, one layer after the other.

    First all partitions up to the offsets of the group that has read least, then up to the next group's, and so on. If
    of any two groups one is at least as far as the other in every partition, then in each new partition everything that
    a group has read comes before everything that it has not read.

    Args:
        groups: The offsets of each group, one for each old partition.
        at: How far each old partition is copied already.
        end: How far it shall be copied.

    Returns:
        The layers' ends; the last one is `end`. No end is before `at` or before the previous end.

    Examples:
        >>> layers([(7, 2), (3, 1)], at=(0, 0), end=(9, 4))
        [(3, 1), (7, 2), (9, 4)]
    """
    found: list[tuple[int, ...]] = []
    reached = tuple(at)
    for group in sorted(map(tuple, groups), key=lambda each: (sum(each), each)):
        bound = tuple(
            max(before, min(offset, last)) for before, offset, last in zip(reached, group, end, strict=True)
        )
        if bound != reached:
            found.append(bound)
            reached = bound
    if reached != tuple(end):
        found.append(tuple(end))
    return found
