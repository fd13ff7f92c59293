"""The options object for a part of a topic, as people write it: dates, lists of partitions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from partwright._check import MOST_INT, MOST_LONG, whole
from partwright.errors import PartwrightError
from partwright.kafka.bounds import Bounds, note_of_time, read_partitions, read_time

if TYPE_CHECKING:
    from typing import SupportsIndex

__all__ = ["TopicPart"]


@dataclass(frozen=True, slots=True)
class TopicPart:
    """Which records of a topic are read, and whether with their headers.

    Attributes:
        since: Read each partition from its first record at this time or later: text in ISO 8601 (UTC if it names no
            zone), a datetime with a zone, or milliseconds since 1970. Or offsets by partition, `{0: 17}`, to begin
            with; other partitions are read from their beginning.
        until: Like `since`, for the first record of each partition that is left out.
        last: Read only this many newest offsets of each partition.
        only_partitions: Read only these partitions: one, several, or text such as `0,3-5`.
        headers: Whether Spark's table has the column `headers`, too.

    Examples:
        >>> TopicPart(since="2026-11-24", only_partitions=[0, 3]).bounds().to_dict()
        {'since': 1795478400000, 'partitions': [[0, 0], [3, 3]]}
    """

    since: int | str | datetime | Mapping[int, int] | None = None
    until: int | str | datetime | Mapping[int, int] | None = None
    last: int | None = None
    only_partitions: str | SupportsIndex | Iterable[SupportsIndex] | None = None
    headers: bool = False

    def bounds(self) -> Bounds:
        """The bounds of a reading.

        Raises:
            PartwrightError: One of them is not understood, or they contradict each other.
        """
        return Bounds(
            _bound(self.since, "since"),
            _bound(self.until, "until"),
            self.last,
            _partitions(self.only_partitions),
            dashes=False,
        )


def _bound(given: int | str | datetime | Mapping[int, int] | None, name: str) -> int | dict[int, int] | None:
    """A time in milliseconds since 1970, or offsets by partition."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        if not given:
            raise PartwrightError(f"{name} has no partition: name one with its offset, or leave it out")
        return {
            whole(partition, f"the partition in {name}", 0, MOST_INT): whole(
                offset, f"the offset in {name}", 0, MOST_LONG
            )
            for partition, offset in given.items()
        }
    if isinstance(given, datetime) and given.tzinfo is None:
        raise PartwrightError(f"{name} is {given.isoformat()} in no time zone: give the datetime a tzinfo")
    text = given.isoformat() if isinstance(given, datetime) else str(given)
    found = read_time(text, name)
    note = note_of_time(given, name) if isinstance(given, str) else None
    if note is not None:
        warnings.warn(note, UserWarning, stacklevel=4)
    return found


def _partitions(given: str | SupportsIndex | Iterable[SupportsIndex] | None) -> tuple[range, ...] | None:
    if given is None:
        return None
    several = isinstance(given, Iterable) and not isinstance(given, str)
    text = ",".join(map(str, cast("Iterable[object]", given))) if several else str(given)
    return read_partitions(text, "only_partitions")
