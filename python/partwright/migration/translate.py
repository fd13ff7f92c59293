"""A group's offsets in the new topic, and the layers in which to copy so that it re-reads little: pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


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
    bounds: list[tuple[int, ...]] = []
    reached = tuple(at)
    for group in sorted(map(tuple, groups), key=lambda each: (sum(each), each)):
        bound = tuple(
            max(before, min(offset, last)) for before, offset, last in zip(reached, group, end, strict=True)
        )
        if bound != reached:
            bounds.append(bound)
            reached = bound
    if reached != tuple(end):
        bounds.append(tuple(end))
    return bounds


@dataclass(frozen=True)
class Slice:
    """Some records in the order in which they were copied.

    Records of one new partition follow each other there without a gap, because one transaction wrote them.

    Attributes:
        partitions: Each record's old partition.
        offsets: Each record's offset there.
        targets: Each record's new partition.
        bases: By new partition, the offset of the first of these records.

    Examples:
        >>> list(Slice([0, 1, 0], [7, 3, 9], [2, 2, 5], {2: 100, 5: 40}).places())
        [(0, 7, 2, 100), (1, 3, 2, 101), (0, 9, 5, 40)]
    """

    partitions: Sequence[int]
    offsets: Sequence[int]
    targets: Sequence[int]
    bases: Mapping[int, int]

    def places(self) -> Iterator[tuple[int, int, int, int]]:
        """Old partition, old offset, new partition and new offset of each record."""
        following = dict(self.bases)
        for partition, offset, target in zip(self.partitions, self.offsets, self.targets, strict=True):
            at = following[target]
            following[target] = at + 1
            yield partition, offset, target, at

    def counts(self) -> Counter[int]:
        """How many of the records each new partition has."""
        return Counter(self.targets)


@dataclass
class Translation:
    """The offsets of one group in the new topic, found by looking at one slice after the other.

    In each new partition, it is the smallest offset of a record that the group has not read, or the end of the copies
    if it has read all. A larger offset would skip that record. So nothing is skipped, and no other offset that skips
    nothing makes the group re-read less.

    Attributes:
        committed: The group's offset in each old partition.

    Examples:
        >>> found = Translation([8, 4])
        >>> found.add(Slice([0, 1, 0, 1], [7, 3, 9, 2], [0, 0, 0, 0], {0: 100}))
        >>> found.offsets([104, 0]), found.reread
        ({0: 102, 1: 0}, 1)
    """

    committed: Sequence[int]
    reread: int = 0
    unread: int = 0
    _first: dict[int, int] = field(default_factory=dict)

    def add(self, some: Slice) -> None:
        """Take the next records, in the order in which they were copied."""
        for partition, offset, target, at in some.places():
            if offset >= self.committed[partition]:
                self.unread += 1
                self._first.setdefault(target, at)
            elif target in self._first:
                self.reread += 1

    def has_none_below(self, at: Sequence[int]) -> bool:
        """Whether the group has read no record at these offsets of the old partitions, or later."""
        return all(map(int.__ge__, at, self.committed))

    def add_unread(self, bases: Mapping[int, int], count: int) -> None:
        """Take the next records, none of which the group has read.

        Args:
            bases: By new partition, the offset of the first of them.
            count: How many records there are.
        """
        self.unread += count
        for target, base in bases.items():
            self._first.setdefault(target, base)

    def offsets(self, ends: Sequence[int]) -> dict[int, int]:
        """The group's offset in each new partition.

        Args:
            ends: The offset after the last copy in each new partition.
        """
        return {target: self._first.get(target, end) for target, end in enumerate(ends)}
