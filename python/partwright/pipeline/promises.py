"""What a run promises about each record, and how many records broke it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Checks", "PartitionRead", "Proof"]


@dataclass(frozen=True)
class PartitionRead:
    """What one partition holds of a run's records; null_keys are those that were asked for without a partition."""

    partition: int | None
    records: int
    null_keys: int
    first_offset: int
    last_offset: int

    def without_gap(self, begin: Mapping[int, int], *, markers: bool) -> bool:
        """Whether its offsets count up from the first one; see `partwright.pipeline.checks.check`."""
        first = begin.get(self.partition, 0) if self.partition is not None else 0
        if markers:
            return first <= self.first_offset and self.last_offset - self.first_offset >= self.records - 1
        return (self.first_offset, self.last_offset) == (first, first + self.records - 1)


@dataclass(frozen=True)
class Checks:
    """How many records broke each promise; a run is sound if all are 0.

    Attributes:
        records: How many records were asked for.
        lost: Records that were asked for and are not there.
        twice: Records that are there more than once.
        foreign: Records that are there and that this run did not write.
        other_runs: How many of the foreign ones another run of partwright wrote.
        misplaced: Records in another partition than the one asked for.
        key_changed: Records whose key has other bytes than were written.
        value_changed: Records whose value has another 64-bit hash (xxHash64) than what was written.
        out_of_order: Records that come before one of the same key that precedes them in the source.
        offset_gaps: Partitions whose offsets do not count up without a gap.
        examples: The first records that broke a promise, in words.
        partitions: What each partition holds.
    """

    records: int
    lost: int
    twice: int
    foreign: int
    misplaced: int
    key_changed: int
    value_changed: int
    out_of_order: int
    offset_gaps: int
    other_runs: int = 0
    examples: tuple[str, ...] = ()
    partitions: tuple[PartitionRead, ...] = field(default=())

    PROMISES = (
        "lost",
        "twice",
        "foreign",
        "misplaced",
        "key_changed",
        "value_changed",
        "out_of_order",
        "offset_gaps",
    )

    @property
    def ok(self) -> bool:
        """Whether every promise was kept."""
        return not any(getattr(self, promise) for promise in self.PROMISES)


@dataclass(frozen=True)
class Proof:
    """What the Java producer chose for the same records, given no partition.

    Attributes:
        keyed: How many records have a key.
        equal: For how many of them it chose the partition asked for.
        different: For how many it chose another one.
        lost: How many keyed records did not arrive.
        examples: The first that differ, in words.
    """

    keyed: int
    equal: int
    different: int
    lost: int
    examples: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it chose the same partition for every record with a key."""
        return self.equal == self.keyed
