"""Lines and tables on stdout without rich, which takes longer to import than a short answer: plain in a pipe."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import click

from partwright._text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Cell", "Column", "Page", "is_ascii", "wrapped"]

# The space between two columns of a table, and before the first.
_GAP, _EDGE = "   ", " "
# After one of these signs a name may continue on the next line; a minus sign belongs to its number.
_PIECE = re.compile(r"(?<=\w[-:/_])(?=\w)")
_WORD = re.compile(r"\s+")


class Cell(NamedTuple):
    """A cell's text and how a terminal shows it: a colour's name, bold or not."""

    text: str
    bold: bool = False
    colour: str | None = None


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: Its header.
        right: Whether it is aligned to the right, for numbers.
        whole: Whether its cells are never broken into several lines.
    """

    name: str
    right: bool = False
    whole: bool = False


class Page:
    """The output of one command.

    Args:
        piped: How wide a pipe is; a terminal has its own width.
    """

    def __init__(self, piped: int) -> None:
        is_terminal = sys.stdout.isatty()
        self.width = _terminal_columns() if is_terminal else piped
        self._is_styled = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    def line(self, *parts: str | Cell) -> None:
        """Print a paragraph, broken to the terminal's width."""
        cells = [_cell(part) for part in parts]
        first, *more = wrapped("".join(cell.text for cell in cells), self.width)
        # The styled part comes first; the lines after it are plain text.
        styled = len(cells[0].text)
        click.echo(self._styled(cells[0]._replace(text=first[:styled])) + first[styled:])
        for text in more:
            click.echo(text)

    def copied(self, *parts: str | Cell) -> None:
        """Print one line for copying, however narrow the terminal."""
        click.echo("".join(self._styled(_cell(part)) for part in parts))

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]]) -> None:
        """A table with a rule below its header and an empty line before and after it."""
        cells = [[_cell(each) for each in row] for row in rows]
        widths = _widths(columns, cells, self.width - len(_EDGE) - len(_GAP) * (len(columns) - 1))
        click.echo()
        self._row(columns, widths, [Cell(column.name, bold=True) for column in columns])
        rule = "-" if is_ascii() else "─"
        click.echo(_EDGE + rule * (sum(widths) + len(_GAP) * (len(widths) - 1)))
        for row in cells:
            self._row(columns, widths, row)
        click.echo()

    def _row(self, columns: Sequence[Column], widths: Sequence[int], row: Sequence[Cell]) -> None:
        lines = [wrapped(cell.text, width) for cell, width in zip(row, widths, strict=True)]
        for at in range(max(map(len, lines))):
            shown = []
            for column, width, cell, texts in zip(columns, widths, row, lines, strict=True):
                text = texts[at] if at < len(texts) else ""
                blanks = " " * (width - _columns(text))
                styled = self._styled(cell._replace(text=text))
                shown.append(blanks + styled if column.right else styled + blanks)
            click.echo((_EDGE + _GAP.join(shown)).rstrip())

    def _styled(self, cell: Cell) -> str:
        if not self._is_styled or not cell.text or not (cell.bold or cell.colour):
            return cell.text
        return click.style(cell.text, bold=cell.bold or None, fg=cell.colour)


def is_ascii() -> bool:
    """Whether only ASCII is wanted: because of the locale C or POSIX, or a stream that has nothing else."""
    locale = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    if locale == "C.UTF-8" and "LC_ALL" not in os.environ:
        # Python's value of LC_CTYPE if the locale is C.
        locale = os.environ.get("LANG", "")
    if locale in {"C", "POSIX"}:
        return True
    return not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of a width: broken at blanks, else after - : / and _, else anywhere; no line ends in a blank.

    Examples:
        >>> wrapped("kafkajs:legacy, sarama", 15)
        ['kafkajs:legacy,', 'sarama']
        >>> wrapped("librdkafka:murmur2", 12), wrapped("murmur2", 4), wrapped("", 4)
        (['librdkafka:', 'murmur2'], ['murm', 'ur2'], [''])
    """
    lines = [""]
    for word in _WORD.split(text):
        glue = " " if lines[-1] else ""
        for piece in [word] if _columns(word) <= width else _PIECE.split(word):
            whole = piece
            if _columns(lines[-1] + glue + whole) > width and lines[-1]:
                lines.append("")
                glue = ""
            lines[-1] += glue
            glue = ""
            while _columns(whole) > width:
                lines[-1] = whole[:width]
                lines.append("")
                whole = whole[width:]
            lines[-1] += whole
    return lines


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], room: int) -> list[int]:
    """The width of each column: that of its widest cell or, if these do not fit, the widest columns are broken."""
    texts = [[column.name, *(row[at].text for row in rows)] for at, column in enumerate(columns)]
    widths = [max(map(_columns, each)) for each in texts]
    for parts in (_WORD, _PIECE, None):
        least = [
            width if column.whole else _least(each, parts)
            for column, each, width in zip(columns, texts, widths, strict=True)
        ]
        while sum(widths) > room:
            spare = [max(width - low, 0) for width, low in zip(widths, least, strict=True)]
            if not any(spare):
                break
            widths[max(range(len(widths)), key=lambda at: (spare[at] > 0, widths[at]))] -= 1
    # Broken lines may end before their column does.
    return [
        max(_columns(line) for text in each for line in wrapped(text, width))
        for each, width in zip(texts, widths, strict=True)
    ]


def _least(texts: Iterable[str], parts: re.Pattern[str] | None) -> int:
    if parts is None:
        return 1
    words = (word for text in texts for word in _WORD.split(text))
    return max(
        _columns(piece) for word in words for piece in ([word] if parts is _WORD else parts.split(word))
    )


def _terminal_columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def _cell(part: str | Cell) -> Cell:
    cell = part if isinstance(part, Cell) else Cell(part)
    return cell._replace(text=plain(cell.text))
