"""A figure: a plot, one sentence that says what it shows, and its numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from partwright._text import plain
from partwright.report.text import bytes_, number, share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partwright._check import Fields
    from partwright.report.plots import Spec

__all__ = ["KEPT", "TABLED", "Column", "Document", "Figure", "Verdict", "bounded"]

TABLED = 200
"""How many rows of a table are shown at once."""
KEPT = 20_000
"""How many rows a page's table has, for its filter to search."""

_FORMATS: dict[str, Callable[[Any], str]] = {
    # It was cut when it was put into the row.
    "text": plain,
    "number": number,
    "share": share,
    "bytes": bytes_,
}


class Column(NamedTuple):
    """A column of a figure's table.

    Attributes:
        field: Its name in the rows.
        title: Its heading, with the unit if there is one.
        kind: How its values are written: text, number, share or bytes.
    """

    field: str
    title: str
    kind: str = "number"

    def written(self, row: Fields) -> str:
        """A row's value, for people."""
        value = row.get(self.field)
        return "" if value is None else _FORMATS[self.kind](value)


@dataclass(frozen=True)
class Figure:
    """A plot with its words and its numbers; nothing in it knows how it is shown.

    Attributes:
        id: Its name in the page, lower case.
        title: Its heading.
        sentence: What the plot shows, in one sentence with numbers.
        spec: The Vega-Lite specification, with its data inline; None if there is nothing to draw. The layer that has a
            mark for each datum is named main.
        columns: The table's.
        rows: The table's, of which the first `TABLED` are shown.
        left: How many rows the table lacks, which are in the JSON.
        marks: How many marks the layer main has.
        hint: How to use the plot; None if it is not interactive.
    """

    id: str
    title: str
    sentence: str
    spec: Spec | None
    columns: tuple[Column, ...]
    rows: tuple[Fields, ...]
    left: int = 0
    marks: int = 0
    hint: str | None = None


class Verdict(NamedTuple):
    """A sentence of an answer.

    Attributes:
        state: holds, fails, open if it was not checked, or said if it is not a question.
        text: The sentence.
        headline: Its beginning, if that is set apart from the rest.
    """

    state: str
    text: str
    headline: str = ""

    @property
    def mark(self) -> str:
        """The mark before it."""
        return {"holds": "✓ ", "fails": "✗ "}.get(self.state, "")

    @property
    def rest(self) -> str:
        """The sentence without its headline."""
        return self.text[len(self.headline) :]


@dataclass(frozen=True)
class Document:
    """The contents of a page.

    Attributes:
        title: The page's subject.
        verdicts: The answer in words, the most important first.
        figures: Its figures.
        answer: The whole answer, as `--json` prints it.
    """

    title: str
    verdicts: tuple[Verdict, ...]
    figures: tuple[Figure, ...]
    answer: object


class Bounded(TypedDict):
    """The part of a table that fits into a figure."""

    rows: tuple[Fields, ...]
    left: int


def bounded(rows: Sequence[Fields], most: int = KEPT) -> Bounded:
    """The first rows of a table, and how many are left out.

    Examples:
        >>> bounded([{"partition": 0}, {"partition": 1}], 1)
        {'rows': ({'partition': 0},), 'left': 1}
    """
    return {"rows": tuple(rows[:most]), "left": max(0, len(rows) - most)}
