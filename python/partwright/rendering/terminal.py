"""A document as lines of a terminal or a pipe, at any width from 40 columns on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import counted
from partwright._text import plain
from partwright.rendering.colours import ACCENT, FAILS, HOLDS, OPEN, TERMINAL
from partwright.rendering.text import columns_of, cut

if TYPE_CHECKING:
    from partwright.rendering.document import Column, Document, Section, Verdict

WIDTH = 88
"""How many columns a pipe has, and a terminal that does not say it, unless COLUMNS says otherwise."""
LEAST = 40
"""The fewest columns that a document is laid out for."""
_ROWS = 48
_BAR, _LEAST_BAR = 16, 6
# The space between two columns of a table, and before the first.
_GAP, _EDGE = "   ", " "
# How narrow a column of names, whose cells are cut in the middle, and one of prose, whose cells wrap, may become; and
# how long a word of prose is kept whole for.
_NAME, _PROSE, _LONG = 16, 24, 36
_RIGHT = ("number", "seconds", "share", "bytes")
_WORD = re.compile(r"\s+")
# After one of these signs a long word may continue on the next line; a minus sign belongs to its number.
_PIECE = re.compile(r"(?<=\w[-:/_.,])(?=\w)")
_ASCII = str.maketrans({"✓": "ok:", "✗": "FAILED:", "\u00d7": "x", "→": "->", "…": "...", "█": "#", "─": "-"})
_CODES = {"bold": "1", "green": "32", "red": "31", "yellow": "33", "cyan": "36"}
_STATES = {"holds": TERMINAL[HOLDS], "fails": TERMINAL[FAILS], "open": TERMINAL[OPEN]}


class TerminalStyle(NamedTuple):
    """What a terminal can show.

    Attributes:
        width: Its columns.
        is_styled: Whether it shows colours and bold letters.
        is_ascii: Whether it shows ASCII alone.
    """

    width: int
    is_styled: bool = False
    is_ascii: bool = False

    def plain(self, words: object) -> str:
        """Words in which nothing is hidden, in the signs that the terminal has."""
        shown = plain(words)
        return shown.translate(_ASCII) if self.is_ascii else shown

    def styled(self, words: str, *styles: str) -> str:
        """Words in a colour or in bold."""
        codes = ";".join(_CODES[style] for style in styles)
        return f"\x1b[{codes}m{words}\x1b[0m" if self.is_styled and codes and words else words


def text(document: Document, terminal: TerminalStyle, *, with_details: bool = False) -> str:
    """A document's verdicts, then its sections: a title, a sentence, and a table, of which long ones are cut.

    Args:
        document: The document.
        terminal: What the terminal can show.
        with_details: Whether sections that are shown on request are shown.

    Returns:
        Lines, each with its end.
    """
    terminal = terminal._replace(width=max(terminal.width, LEAST))
    first, *others = document.verdicts
    lines = list(verdict_lines(first, terminal, "bold"))
    for verdict in others:
        lines += verdict_lines(verdict, terminal)
    for section in document.sections:
        if not section.is_detail or with_details:
            lines += ["", *_section(section, terminal)]
    return "".join(f"{line}\n" for line in lines)


def verdict_lines(verdict: Verdict, terminal: TerminalStyle, *styles: str) -> Iterator[str]:
    """A verdict's mark in its colour, then its words; of one that is open, the headline has the colour."""
    colour = _STATES.get(verdict.state)
    mark = terminal.plain(verdict.mark.strip())
    lead = terminal.plain(verdict.headline) if verdict.state == "open" else ""
    for place, line in enumerate(_paragraph(f"{mark} {verdict.text}".strip(), terminal)):
        start = (mark or (lead if line.startswith(lead) else "")) if not place else ""
        head = terminal.styled(start, *styles, *([colour] if colour else []))
        yield head + terminal.styled(line[len(start) :], *styles)


def _section(section: Section, terminal: TerminalStyle) -> Iterator[str]:
    for line in _paragraph(section.title, terminal):
        yield terminal.styled(line, "bold")
    yield from _paragraph(section.sentence, terminal) if section.sentence else ()
    for number, step in enumerate(section.steps, 1):
        yield from _hanging(f"  {number}. ", terminal.plain(step), terminal.width)
    # For copying: on one line however narrow the terminal.
    yield from (f"  {terminal.plain(line)}" for line in section.code)
    if section.rows and section.columns:
        yield from _table(section, terminal)
    if section.sketch:
        yield ""
        yield from map(terminal.plain, section.sketch)


def _paragraph(words: str, terminal: TerminalStyle) -> list[str]:
    return [line for part in words.split("\n") for line in wrapped(terminal.plain(part), terminal.width)]


def _hanging(lead: str, words: str, width: int) -> Iterator[str]:
    for place, line in enumerate(wrapped(words, width - len(lead))):
        yield (" " * len(lead) if place else lead) + line


def _table(section: Section, terminal: TerminalStyle) -> Iterator[str]:
    rows = section.rows[:_ROWS]
    cells = [[terminal.plain(column.written(row)) for column in section.columns] for row in rows]
    titles = [terminal.plain(column.title) for column in section.columns]
    room = terminal.width - len(_EDGE)
    kept, widths = _fitted(section.columns, titles, cells, room)
    bar = min(_BAR, room - sum(widths) - len(_GAP) * len(widths)) if section.most else 0
    bar = bar if bar >= _LEAST_BAR else 0
    columns = [section.columns[at] for at in kept]
    # Bars that do not follow their own column say which one they show.
    barred = next((at for at, column in enumerate(section.columns) if column.field == section.bar), None)
    heading = titles[barred] if bar and barred is not None and barred != kept[-1] else ""
    end = _GAP + terminal.styled(heading, "bold") if heading and len(heading) <= bar else ""
    yield from _lines(columns, widths, [titles[at] for at in kept], terminal, ("bold",), end)
    rule = sum(widths) + len(_GAP) * (len(widths) - 1) + (len(_GAP) + bar if bar else 0)
    yield _EDGE + terminal.plain("─") * rule
    for place, (row, texts) in enumerate(zip(rows, cells, strict=True)):
        styles = ("bold",) if place in section.picked else ()
        drawn = round(bar * (row.get(section.bar) or 0) / section.most) if bar and section.bar else 0
        end = _GAP + terminal.styled(terminal.plain("█") * drawn, TERMINAL[ACCENT]) if drawn else ""
        yield from _lines(columns, widths, [texts[at] for at in kept], terminal, styles, end)
    left = section.left + len(section.rows) - len(rows)
    if left:
        yield from wrapped(
            f"{terminal.plain('…')} and {counted(left, 'more row')}: --json has them", terminal.width
        )
    absent = [title for at, title in enumerate(titles) if at not in kept]
    if absent:
        yield from wrapped(f"Not shown at this width: {', '.join(absent)}.", terminal.width)


def _lines(
    columns: Sequence[Column],
    widths: Sequence[int],
    texts: Sequence[str],
    terminal: TerminalStyle,
    styles: Sequence[str],
    end: str = "",
) -> Iterator[str]:
    """One row of a table, in as many lines as its tallest cell; the first one may have a bar at its end."""
    broken = [
        _broken(column, words, width, terminal)
        for column, words, width in zip(columns, texts, widths, strict=True)
    ]
    for at in range(max(map(len, broken))):
        shown = []
        for column, width, parts in zip(columns, widths, broken, strict=True):
            words = parts[at] if at < len(parts) else ""
            blanks = " " * (width - columns_of(words))
            shown.append(blanks + words if column.kind in _RIGHT else words + blanks)
        line = _EDGE + _GAP.join(shown)
        yield (
            terminal.styled(line, *styles) + end
            if end and not at
            else terminal.styled(line.rstrip(), *styles)
        )


def _broken(column: Column, words: str, width: int, terminal: TerminalStyle) -> list[str]:
    """A cell's lines: names are cut in the middle, all else wraps at its blanks."""
    is_name = column.kind == "text" and words != column.title
    return [cut(words, width, terminal.plain("…"))] if is_name else wrapped(words, width)


def _fitted(
    columns: Sequence[Column], titles: Sequence[str], cells: Sequence[Sequence[str]], room: int
) -> tuple[list[int], list[int]]:
    """Which columns there is room for, from the first on, and how wide each is; the widest ones give way first."""
    most, least = [], []
    for at, column in enumerate(columns):
        widest = max((columns_of(row[at]) for row in cells), default=0)
        word = max(map(columns_of, _WORD.split(titles[at])))
        # However long a cell is, its column begins with what there is room for.
        most.append(min(max(widest, columns_of(titles[at])), room))
        if column.kind == "prose":
            longest = max((columns_of(each) for row in cells for each in _WORD.split(row[at])), default=0)
            widest = min(widest, max(_PROSE, min(longest, _LONG)))
        least.append(max(min(widest, _NAME) if column.kind == "text" else widest, word))
    kept = list(range(len(columns)))
    while True:
        widths = [most[at] for at in kept]
        over = sum(widths) + len(_GAP) * (len(kept) - 1) - room
        while over > 0:
            at = max(range(len(kept)), key=lambda at: (widths[at] > least[kept[at]], widths[at]))
            if widths[at] <= least[kept[at]]:
                break
            widths[at] -= 1
            over -= 1
        if over <= 0 or len(kept) == 1:
            return kept, [min(width, room) for width in widths]
        kept.pop()


def wrapped(words: str, width: int) -> list[str]:
    """Words in lines of a width, broken at blanks; a word that is longer than a line, after - : / _ . or a comma.

    Examples:
        >>> wrapped("kafkajs:legacy, sarama", 15)
        ['kafkajs:legacy,', 'sarama']
        >>> wrapped("librdkafka:murmur2", 12), wrapped("murmur2", 4), wrapped("", 4)
        (['librdkafka:', 'murmur2'], ['murm', 'ur2'], [''])
    """
    lines = [""]
    for word in _WORD.split(words):
        glue = " " if lines[-1] else ""
        pieces = [word] if columns_of(word) <= width else _PIECE.split(word)
        for piece in chain.from_iterable(_pieces(piece, width) for piece in pieces):
            if lines[-1] and columns_of(lines[-1] + glue + piece) > width:
                lines.append("")
                glue = ""
            lines[-1] += glue + piece
            glue = ""
    return lines


def _pieces(word: str, width: int) -> list[str]:
    if columns_of(word) <= width:
        return [word]
    return [word[at : at + width] for at in range(0, len(word), width)]
