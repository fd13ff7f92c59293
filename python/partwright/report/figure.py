"""A figure: what is drawn, the one sentence that says what is seen, and the numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from partwright.report.text import bytes_, number, plain, share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partwright._check import Fields
    from partwright.report.plots import Spec

__all__ = ["KEPT", "TABLED", "Column", "Document", "Figure", "Verdict", "bounded"]

TABLED = 200
"""So many rows of a table are shown at once."""
KEPT = 20_000
"""So many a page's table has, through which its filter looks."""

_FORMATS: dict[str, Callable[[Any], str]] = {
    # Cut where it was put into the row.
    "text": plain,
    "number": number,
    "share": share,
    "bytes": bytes_,
}


class Column(NamedTuple):
    """A column of a figure's table.

    Attributes:
        field: Its name in the rows.
        title: Its heading, with the unit where there is one.
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
        sentence: What is seen, in one sentence with its numbers.
        spec: The Vega-Lite specification, its data inline; None where there is nothing to draw. The layer that has a
            mark for each datum is named main.
        columns: The table's.
        rows: The table's, of which the first `TABLED` are shown.
        left: How many rows the table lacks, which are in the JSON.
        marks: How many marks the layer main has.
        hint: What can be done with the plot; None where it is but looked at.
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
        state: holds, fails, open where nobody looked, or said where it is no question.
        text: The sentence.
        headline: How it begins, where that is set apart from the rest.
    """

    state: str
    text: str
    headline: str = ""

    @property
    def mark(self) -> str:
        """What stands before it."""
        return {"holds": "✓ ", "fails": "✗ "}.get(self.state, "")

    @property
    def rest(self) -> str:
        """The sentence without its headline."""
        return self.text[len(self.headline) :]


@dataclass(frozen=True)
class Document:
    """What a page is made of.

    Attributes:
        title: What the page is about.
        verdicts: The answer in words, the most important first.
        figures: Its figures.
        answer: The whole answer, as `--json` prints it.
    """

    title: str
    verdicts: tuple[Verdict, ...]
    figures: tuple[Figure, ...]
    answer: object


class Bounded(TypedDict):
    """What a figure has of a table that may be too long for it."""

    rows: tuple[Fields, ...]
    left: int


def bounded(rows: Sequence[Fields], most: int = KEPT) -> Bounded:
    """The first rows of a table, and how many it lacks then.

    Examples:
        >>> bounded([{"partition": 0}, {"partition": 1}], 1)
        {'rows': ({'partition': 0},), 'left': 1}
    """
    return {"rows": tuple(rows[:most]), "left": max(0, len(rows) - most)}
