"""Which part of a topic to read: by time, by the newest records, by partitions."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import SupportsIndex, cast

import pyarrow as pa

from partwright._check import MOST_INT, MOST_LONG, Json, counted, shown, whole
from partwright.audit.record_columns import milliseconds
from partwright.errors import PartwrightError

_MOST = 2**31 - 2
# A smaller number of milliseconds is before March 1973, when nobody had a Kafka.
_SOON_MS = 10**11
# The options that give offsets for `since` and `until` on a command line.
_OFFSETS = {"since": "--from-offsets", "until": "--to-offsets"}
_OFFSET = re.compile(r"([0-9]{1,10}):([0-9]{1,19})", re.ASCII)
_RANGE = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?", re.ASCII)


@dataclass(frozen=True)
class Bounds:
    """A part of a topic.

    Attributes:
        since: Reading starts in each partition with the first record of this time or later, in milliseconds since 1970;
            or, by partition, at an offset.
        until: Reading ends in each partition before the first record of this time or later; or, by partition, before an
            offset.
        last: Only this many of the newest offsets of each partition. In a topic that is compacted or has transactions,
            they hold fewer records.
        partitions: Only these partitions; all by default.
        dashes: Whether the bounds are a command's options, which errors write as `--since`.
    """

    since: int | Mapping[int, int] | None = None
    until: int | Mapping[int, int] | None = None
    last: int | None = None
    partitions: tuple[range, ...] | None = None
    dashes: bool = field(default=True, compare=False)

    def __post_init__(self) -> None:
        if self.last is not None:
            whole(self.last, self._spoken("last"), 1, MOST_LONG)
        if isinstance(self.since, int) and isinstance(self.until, int) and self.since >= self.until:
            raise PartwrightError(
                f"{self._spoken('since')} {self.since} (ms since 1970) is not before {self._spoken('until')} "
                f"{self.until}: nothing lies between"
            )
        if isinstance(self.since, Mapping) and isinstance(self.until, Mapping):
            for partition in self.since.keys() & self.until.keys():
                if self.since[partition] > self.until[partition]:
                    raise PartwrightError(
                        f"{self._offsets('since')} has the offset {self.since[partition]} of partition {partition}, "
                        f"and {self._offsets('until')} {self.until[partition]}, which comes before: change one of them"
                    )

    @property
    def is_whole(self) -> bool:
        """Whether that is all of a topic."""
        return self == WHOLE

    def to_dict(self) -> Json:
        """The bounds by name, for JSON; partitions as pairs of the first and the last one.

        Examples:
            >>> Bounds(last=100, partitions=read_partitions("0,3-5")).to_dict()
            {'last': 100, 'partitions': [[0, 0], [3, 5]]}
        """
        times = {"since": self.since, "until": self.until, "last": self.last}
        bounds: Json = {name: value for name, value in times.items() if value is not None}
        if self.partitions is not None:
            bounds["partitions"] = [[each[0], each[-1]] for each in self.partitions]
        return bounds

    def partitions_in(self, topic: str, n: int) -> list[int]:
        """The partitions to read, in a topic that has n.

        Raises:
            PartwrightError: The topic lacks one of them.

        Examples:
            >>> Bounds(partitions=read_partitions("0,3-5")).partitions_in("orders", 12)
            [0, 3, 4, 5]
        """
        if self.partitions is None:
            return list(range(n))
        most = max(each[-1] for each in self.partitions)
        if most >= n:
            raise PartwrightError(
                f"{self._spoken('only_partitions')} names {most}, and the topic {topic!r} has "
                f"{counted(n, 'partition')}: name {'0 alone' if n == 1 else f'some of 0 to {n - 1}'}",
                value=most,
            )
        return sorted({number for each in self.partitions for number in each})

    def windows(
        self, first: Mapping[int, int], end: Mapping[int, int], at_time: Callable[[int], Mapping[int, int]]
    ) -> dict[int, tuple[int, int]]:
        """Each partition's first offset and the one before which reading ends.

        Args:
            first: The first offset of each partition.
            end: The end of each.
            at_time: Asks the broker for the offsets of the first records of a time or later; -1 for none.

        Raises:
            PartwrightError: A partition does not hold an offset of `since` or `until`.
        """
        begins, ends = dict(first), dict(end)
        for name, limit, bound in (("since", self.since, begins), ("until", self.until, ends)):
            if isinstance(limit, Mapping):
                self._refuse_outside(name, limit, first, end)
                bound.update(limit)
            elif limit is not None:
                offsets = at_time(limit)
                for partition in bound:
                    # The topic may have grown since the broker was asked for its end.
                    at = end[partition] if offsets[partition] < 0 else offsets[partition]
                    bound[partition] = min(at, end[partition])
        if self.last is not None:
            begins = {partition: max(at, ends[partition] - self.last) for partition, at in begins.items()}
        return {
            partition: (min(max(at, first[partition]), ends[partition]), ends[partition])
            for partition, at in begins.items()
        }

    def _refuse_outside(
        self, name: str, offsets: Mapping[int, int], first: Mapping[int, int], end: Mapping[int, int]
    ) -> None:
        """Refuse offsets that a partition no longer has, or does not have yet."""
        for partition, offset in offsets.items():
            statement = f"{self._offsets(name)} has the offset {offset} of partition {partition}"
            if partition not in first:
                raise PartwrightError(
                    f"{statement}, and the topic has partitions 0 to {max(first)}: leave it out",
                    value=partition,
                )
            if not first[partition] <= offset <= end[partition]:
                raise PartwrightError(
                    f"{statement}, which holds {first[partition]} to {end[partition]}: name one of these",
                    value=offset,
                )

    def _offsets(self, name: str) -> str:
        """What errors call offsets: commands have an option of their own for them."""
        return _OFFSETS[name] if self.dashes else name

    def _spoken(self, name: str) -> str:
        return f"--{name.replace('_', '-')}" if self.dashes else name


WHOLE = Bounds()
"""All of a topic."""


def read_time(text: str, option: str) -> int:
    """A time in milliseconds since 1970, of ISO 8601 (UTC where it names no zone) or of milliseconds.

    Args:
        text: The time.
        option: Which option it is of, for the error.

    Raises:
        PartwrightError: It is not a time.

    Examples:
        >>> read_time("2026-11-24T08:00:00Z", "--since"), read_time("2026-11-24", "--since"), read_time("7", "--since")
        (1795507200000, 1795478400000, 7)
    """
    try:
        (time_ms,) = milliseconds(pa.array([text.strip()])).to_pylist()
    except (PartwrightError, UnicodeError):
        time_ms = None
    if time_ms is None or time_ms < 0:
        raise PartwrightError(
            f"{option} is a time, 2026-01-31T12:00:00Z or milliseconds since 1970, not {shown(text)}",
            field=option,
            value=text,
        )
    return int(time_ms)


def note_of_time(text: str, option: str) -> str | None:
    """A note about digits that are milliseconds soon after 1970: the user may have meant a date, or seconds.

    Examples:
        >>> print(note_of_time("20261124", "--since"))
        --since 20261124 is in milliseconds: 1970-01-01T05:37:41Z; write a date as 2026-11-24
        >>> [note_of_time(text, "--since") for text in ("2026-11-24", "1795478400000", "\u0663")]
        [None, None, None]
    """
    # `isdecimal` knows more digits than a time may have.
    if not (text.isascii() and text.strip().isdecimal()) or int(text) >= _SOON_MS:
        return None
    at = datetime.fromtimestamp(int(text) // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{option} {text.strip()} is in milliseconds: {at}; write a date as 2026-11-24"


def read_partitions(text: str, option: str = "--only-partitions") -> tuple[range, ...]:
    """Partitions, one by one or from one to another.

    Args:
        text: The partitions.
        option: Which option they are of, for the error.

    Raises:
        PartwrightError: They are not partitions.

    Examples:
        >>> read_partitions("0,3-5")
        (range(0, 1), range(3, 6))
    """
    ranges = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        first = int(match[1]) if match else 1
        last = int(match[2] or match[1]) if match else 0
        if not first <= last <= _MOST:
            raise PartwrightError(
                f"{option} takes partitions such as 0,3-5, not {shown(text)}",
                field=option,
                value=text,
            )
        ranges.append(range(first, last + 1))
    return tuple(ranges)


def read_offsets(text: str, option: str) -> dict[int, int]:
    """Offsets by partition.

    Args:
        text: The offsets, each after its partition.
        option: Which option they are of, for the error.

    Raises:
        PartwrightError: They are not offsets, or a partition has two.

    Examples:
        >>> read_offsets("0:100,3:250", "--from-offsets")
        {0: 100, 3: 250}
    """
    offsets: dict[int, int] = {}
    for part in text.split(","):
        match = _OFFSET.fullmatch(part.strip())
        if match is None or int(match[1]) > _MOST or int(match[2]) > MOST_LONG:
            raise PartwrightError(
                f"{option} takes offsets by partition such as 0:100,1:250, not {shown(text)}",
                field=option,
                value=text,
            )
        partition = int(match[1])
        if partition in offsets:
            raise PartwrightError(
                f"{option} names partition {partition} twice: give it one offset",
                field=option,
                value=partition,
            )
        offsets[partition] = int(match[2])
    return offsets


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


def _bound(bound: int | str | datetime | Mapping[int, int] | None, name: str) -> int | dict[int, int] | None:
    """A time in milliseconds since 1970, or offsets by partition."""
    if bound is None:
        return None
    if isinstance(bound, Mapping):
        if not bound:
            raise PartwrightError(f"{name} has no partition: name one with its offset, or leave it out")
        return {
            whole(partition, f"the partition in {name}", 0, MOST_INT): whole(
                offset, f"the offset in {name}", 0, MOST_LONG
            )
            for partition, offset in bound.items()
        }
    if isinstance(bound, datetime) and bound.tzinfo is None:
        raise PartwrightError(f"{name} is {bound.isoformat()} in no time zone: give the datetime a tzinfo")
    text = bound.isoformat() if isinstance(bound, datetime) else str(bound)
    time_ms = read_time(text, name)
    note = note_of_time(bound, name) if isinstance(bound, str) else None
    if note is not None:
        warnings.warn(note, UserWarning, stacklevel=4)
    return time_ms


def _partitions(partitions: str | SupportsIndex | Iterable[SupportsIndex] | None) -> tuple[range, ...] | None:
    if partitions is None:
        return None
    several = isinstance(partitions, Iterable) and not isinstance(partitions, str)
    text = ",".join(map(str, cast("Iterable[object]", partitions))) if several else str(partitions)
    return read_partitions(text, "only_partitions")
