"""A timeline as text: a row a member, a column a span of time, in it how many partitions the member reads."""

from __future__ import annotations

import unicodedata
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Fields

__all__ = ["chart", "extremes", "unread_spans"]

_MOST_ROWS = 40
_MANY = 9
_UNREAD = "nobody"


def chart(
    rows: Sequence[Fields],
    members: Sequence[str],
    gaps: Mapping[str, int],
    ended_ms: int,
    width: int,
) -> str:
    """See `Timeline.chart`: of a span of time the fewest that a member read in it, and the most that nobody did.

    Args:
        rows: Who read what and when, as `Timeline.ownership` has it.
        members: All members, in the order of their rows.
        gaps: By partition, for how long nobody read it in all.
        ended_ms: When the last thing happened.
        width: How many columns the text may take.
    """
    # A little more than the last thing that happened, which is seen so.
    end = max(ended_ms + ended_ms // 50, 1)
    names = list(dict.fromkeys([*members, *(row["member"] for row in rows)]))
    shown = names[:_MOST_ROWS]
    titles = {name: _title(name, width // 3) for name in shown}
    label = max(_columns(title) for title in [*titles.values(), _UNREAD]) + 1
    cells = max(width - label, 1)
    edges = [end * cell // cells for cell in range(cells + 1)]
    counts: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    began = min((row["from_ms"] for row in rows if row["group"]), default=None)
    for row in rows:
        counts[row["member"]] += [(row["from_ms"], 1), (end if row["to_ms"] is None else row["to_ms"], -1)]
    lines = [_axis(end, label, cells)]
    for name in shown:
        fewest, most = extremes(counts[name], edges)
        lines.append(
            titles[name] + " " * (label - _columns(titles[name])) + "".join(map(_cell, fewest, most)).rstrip()
        )
    if len(names) > len(shown):
        lines.append(f"... and {len(names) - len(shown)} members more")
    if began is not None:
        unread = [
            change
            for _, from_ms, to_ms in unread_spans(rows, gaps, end, began)
            for change in ((from_ms, 1), (to_ms, -1))
        ]
        most = extremes(unread, edges)[1]
        lines.append(_UNREAD.ljust(label) + "".join(_number(each) if each else " " for each in most).rstrip())
    return "\n".join(line.rstrip() for line in lines)


def unread_spans(
    rows: Sequence[Fields], gaps: Mapping[str, int], end: int, began: int
) -> list[tuple[str, int, int]]:
    """When which partition had no reader, of those that were without one at all: its name, from and to.

    Args:
        rows: Who read what and when, as `Timeline.ownership` has it.
        gaps: By partition, for how long nobody read it in all.
        end: When the play ends.
        began: When the group first read anything.
    """
    spans: dict[str, list[tuple[int, int]]] = {name: [] for name, gap in gaps.items() if gap}
    for row in rows:
        name = f"{row['topic']}-{row['partition']}"
        if row["group"] and name in spans:
            spans[name].append((row["from_ms"], end if row["to_ms"] is None else row["to_ms"]))
    found = []
    for name, those in spans.items():
        left, since = gaps[name], began
        for from_ms, to_ms in sorted(those):
            if from_ms > since:
                # A partition that was made later is unread since then, and not since the group began.
                start = max(since, from_ms - left)
                found.append((name, start, from_ms))
                left -= from_ms - start
            since = max(since, to_ms)
        if left > 0:
            found.append((name, end - min(left, end - since), end))
    return found


def extremes(changes: list[tuple[int, int]], edges: list[int]) -> tuple[list[int], list[int]]:
    """Of each span of time the least and the greatest that a count was, of when it changed and by how much."""
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


def _title(name: str, most: int) -> str:
    title = "".join(each if each.isprintable() else "?" for each in name)
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
    """What a member read at least; a dot where it read something, but not all the time."""
    if fewest:
        return _number(fewest)
    return "." if most else " "


def _number(count: int) -> str:
    return str(count) if count <= _MANY else "#"


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
