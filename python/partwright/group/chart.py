"""A timeline as text: a row per member, a column per span of time, with how many partitions the member reads."""

from __future__ import annotations

import unicodedata
from itertools import accumulate
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright._text import plain
from partwright.group.readers import extremes

if TYPE_CHECKING:
    from partwright.group.readers import Readers

__all__ = ["chart"]

_MOST_ROWS = 40
_MANY = 9
_UNREAD = "nobody"


def chart(readers: Readers, width: int) -> str:
    """See `Timeline.chart`: for each span, the fewest partitions that a member read, and the most that nobody read.

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
