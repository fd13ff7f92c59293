"""The sums of a timeline's reading spans, for pages and as a chart of text; the core adds up millions of spans."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright._text import plain

if TYPE_CHECKING:
    from partwright import _core
    from partwright.group.script import Script

_MOST_ROWS = 40
_MOST_SHOWN = 9
_UNREAD = "nobody"


class Readers:
    """Who reads how much and when, and what nobody reads.

    Args:
        script: The played script.
        timeline: Its timeline.

    Attributes:
        end_ms: A little more than when the last thing happened, which is seen so.
        names: All members, then the consumers that assigned themselves what they read.
    """

    def __init__(self, script: Script, timeline: _core.Timeline) -> None:
        self._script, self._timeline = script, timeline
        self._topics = list(script.topics)
        ended_ms, _ = timeline.end()
        self.end_ms = max(ended_ms + ended_ms // 50, 1)
        self.names = list(dict.fromkeys([*script.members, *(name for name, *_ in script.assigned)]))

    @property
    def partitions(self) -> list[str]:
        """The partitions that anybody read, as `topic-0`."""
        assigned = (f"{topic}-{number}" for *_, pairs in self._script.assigned for topic, number in pairs)
        return list(dict.fromkeys([*map(self._partition, self._timeline.read()), *assigned]))

    def changes(self, names: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        """By name, when how many partitions more, or fewer, each of these read; what they read at the end goes on."""
        numbers = {name: number for number, name in enumerate(self._script.members)}
        members = [name for name in names if name in numbers]
        spans = dict.fromkeys(names, ()) | dict(
            zip(members, self._timeline.changes([numbers[name] for name in members]), strict=True)
        )
        changes = {name: list(those) for name, those in spans.items()}
        for name, from_ms, to_ms, pairs in self._script.assigned:
            if name in changes:
                changes[name].append((from_ms, len(pairs)))
                changes[name] += [] if to_ms is None else [(to_ms, -len(pairs))]
        return changes

    def unread(self) -> tuple[list[tuple[int, int]], tuple[str, int, int] | None]:
        """When how many partitions more, or fewer, had no reader, and the longest such span: whose, from and to."""
        changes, longest = self._timeline.gap_changes(self.end_ms)
        return changes, None if longest is None else (self._partition(longest[0]), *longest[1:])

    def gaps(self) -> list[tuple[str, int, int]]:
        """Each span in which a partition had no reader: its name, from and to."""
        gaps = self._timeline.gaps(self.end_ms)
        return [(self._partition(place), from_ms, to_ms) for place, from_ms, to_ms in gaps]

    def gap_times(self, end_ms: int) -> list[tuple[int, int]]:
        """From when to when some partition had no reader, a pair for each such span, up to the end."""
        return [(from_ms, to_ms) for _, from_ms, to_ms in self._timeline.gaps(end_ms)]

    def rebalance_times(self) -> list[int]:
        """When each generation began."""
        return [each["at_ms"] for each in self._timeline.generations()]

    @property
    def began(self) -> bool:
        """Whether the group read anything at all."""
        return self._timeline.spans() > 0

    def _partition(self, place: tuple[int, int]) -> str:
        return f"{self._topics[place[0]]}-{place[1]}"


def extremes(changes: Iterable[tuple[int, int]], edges: Sequence[int]) -> tuple[list[int], list[int]]:
    """Of each span of time the least and the greatest that a count was, of when it changed and by how much.

    Examples:
        >>> extremes([(5, 1), (7, 2), (15, -3)], [0, 10, 20])
        ([0, 0], [3, 3])
    """
    changes = sorted(changes)
    fewest, most = [], []
    count, place = 0, 0
    for start, stop in pairwise(edges):
        while place < len(changes) and changes[place][0] <= start:
            count += changes[place][1]
            place += 1
        low = high = count
        while place < len(changes) and changes[place][0] < stop:
            at = changes[place][0]
            while place < len(changes) and changes[place][0] == at:
                count += changes[place][1]
                place += 1
            low, high = min(low, count), max(high, count)
        fewest.append(low)
        most.append(high)
    return fewest, most


def chart(readers: Readers, width: int) -> str:
    """A timeline as text: a row per member, a column per span of time; see `Timeline.chart`.

    A cell has the fewest partitions that a member read in its span, or the most that nobody read.

    Args:
        readers: Who read how much, and when.
        width: How many columns the text may take.
    """
    shown = readers.names[:_MOST_ROWS]
    titles = {name: _title(name, width // 3) for name in shown}
    label = max(_columns(title) for title in [*titles.values(), _UNREAD]) + 1
    cells = max(width - label, 1)
    edges = [readers.end_ms * cell // cells for cell in range(cells + 1)]
    changes = readers.changes(shown)
    lines = [_axis(readers.end_ms, label, cells)]
    for name in shown:
        fewest, most = extremes(changes[name], edges)
        lines.append(
            titles[name] + " " * (label - _columns(titles[name])) + "".join(map(_cell, fewest, most)).rstrip()
        )
    if len(readers.names) > len(shown):
        lines.append(f"... and {counted(len(readers.names) - len(shown), 'member')} more")
    if readers.began:
        most = extremes(readers.unread()[0], edges)[1]
        lines.append(_UNREAD.ljust(label) + "".join(_number(each) if each else " " for each in most).rstrip())
    return "\n".join(line.rstrip() for line in lines)


def _title(name: str, most: int) -> str:
    title = plain(name)
    if _columns(title) <= most:
        return title
    ends = accumulate(map(_width, title))
    return "".join(letter for letter, end in zip(title, ends, strict=True) if end < most) + "…"


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(map(_width, text))


def _width(letter: str) -> int:
    """Wide letters take two columns, marks upon others none."""
    return 2 if unicodedata.east_asian_width(letter) in "WF" else int(not unicodedata.combining(letter))


def _cell(fewest: int, most: int) -> str:
    """The fewest that a member read; a dot if it read something, but not all the time."""
    if fewest:
        return _number(fewest)
    return "." if most else " "


def _number(count: int) -> str:
    return str(count) if count <= _MOST_SHOWN else "#"


def _axis(end: int, label: int, cells: int) -> str:
    """Times above the columns, as many as there is room for."""
    line = [" "] * (label + cells)
    step = max(cells // 5, 10)
    for cell in range(0, cells, step):
        at_ms = end * cell / cells
        text = f"{at_ms / 1000:.0f} s" if end * step >= cells * 1000 else f"{at_ms:.0f} ms"
        if cell + len(text) <= cells:
            line[label + cell : label + cell + len(text)] = text
    return "".join(line)
