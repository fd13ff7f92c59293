"""What an answer says, in any form: verdicts, then sections of a title, a sentence, a table, a plot or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from partwright._check import Fields
from partwright._text import plain
from partwright.answer import Question
from partwright.rendering.text import bytes_, number, share

if TYPE_CHECKING:
    from partwright.rendering.plots import Spec

TABLED = 200
"""How many rows of a table are shown at once."""
KEPT = 20_000
"""How many rows a page's table has, for its filter to search."""

_FORMATS: dict[str, Callable[[Any], str]] = {
    # It was cut when it was put into the row.
    "text": plain,
    "prose": plain,
    "number": number,
    "seconds": "{:,.1f}".format,
    "share": share,
    "bytes": bytes_,
}


class Column(NamedTuple):
    """A column of a section's table.

    Attributes:
        field: Its name in the rows.
        title: Its heading, with the unit if there is one.
        kind: How its values are written: number, seconds (to a tenth), share, bytes, text for names, which are never
            broken, or prose.
    """

    field: str
    title: str
    kind: str = "number"

    def written(self, row: Fields) -> str:
        """A row's value, for people."""
        value = row.get(self.field)
        return "" if value is None else _FORMATS[self.kind](value)


def columns(**titles: str | None) -> tuple[Column, ...]:
    """Columns by their fields, each with its title, which may end in its kind; one without a title is left out.

    Examples:
        >>> columns(key="key|text", rows="records")
        (Column(field='key', title='key', kind='text'), Column(field='rows', title='records', kind='number'))
    """
    parts = {field: title.partition("|") for field, title in titles.items() if title is not None}
    return tuple(Column(field, title, kind or "number") for field, (title, _, kind) in parts.items())


@dataclass(frozen=True)
class Section:
    """A title, a sentence, and whatever shows it: a table, a plot, steps, or lines to copy; it knows no rendering.

    Attributes:
        id: Its name in the page, lower case.
        title: Its heading.
        sentence: What it shows, in one sentence with numbers.
        spec: The Vega-Lite specification, with its data inline; None if there is nothing to draw. The layer that has a
            mark for each datum is named main.
        columns: The table's.
        rows: The table's, of which a rendering shows as many as it has room for.
        left: How many rows the table lacks, which are in the JSON.
        bar: The field of the rows that is also drawn as bars, in the table or, where there is none, as a plot.
        picked: The places of the rows that stand out.
        steps: What to do, in order.
        code: Lines to copy.
        sketch: The plot as lines of text, for where no picture can be shown.
        is_detail: Whether a terminal shows it only on request.
    """

    id: str
    title: str
    sentence: str = ""
    spec: Spec | None = None
    columns: tuple[Column, ...] = ()
    rows: tuple[Fields, ...] = ()
    left: int = 0
    bar: str | None = None
    picked: frozenset[int] = frozenset()
    steps: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    sketch: tuple[str, ...] = ()
    is_detail: bool = False

    @property
    def marks(self) -> int:
        """How many marks the layer main has: one for each datum, or for all that are of one flow."""
        data = self.spec["data"]["values"] if self.spec else ()
        return len({each.get("flow", place) for place, each in enumerate(data)})

    @property
    def most(self) -> float:
        """The value that has the longest bar; 0 without bars."""
        return max((row.get(self.bar) or 0 for row in self.rows), default=0) if self.bar else 0


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


@dataclass(frozen=True)
class Document:
    """An answer as people read it.

    Attributes:
        title: Its subject.
        verdicts: The answer in words, the most important first; what limits it comes next.
        sections: What shows it.
        answer: The whole answer, as `--json` prints it.
        question: What it answers.
    """

    title: str
    verdicts: tuple[Verdict, ...]
    sections: tuple[Section, ...]
    answer: object
    question: Question = field(default_factory=Question)


def answered(
    title: str,
    verdicts: Iterable[Verdict | str],
    sections: Iterable[Section | None],
    answer: Fields,
    assumed: Sequence[str] = (),
) -> Document:
    """The document of an answer, whose JSON begins with its first verdict.

    Args:
        title: Its subject.
        verdicts: Its verdicts; a sentence is one that is not a question.
        sections: What shows it; None is none.
        answer: The answer's JSON.
        assumed: What was assumed because nobody said it, a sentence each; it comes after the first verdict, and last in
            the JSON.

    Examples:
        >>> made = answered("Size", [Verdict("holds", "It fits.")], (), {"ok": True}, ["assumed: a guess"])
        >>> made.answer
        {'summary': 'It fits.', 'ok': True, 'assumed': ['assumed: a guess']}
        >>> [verdict.text for verdict in made.verdicts]
        ['It fits.', 'Assumed: a guess.']
    """
    first, *others = (each if isinstance(each, Verdict) else Verdict("said", each) for each in verdicts)
    notes = (Verdict("said", f"{each[:1].upper()}{each[1:]}.") for each in assumed)
    json = {"summary": first.text, **answer, **({"assumed": list(assumed)} if assumed else {})}
    return Document(title, (first, *notes, *others), tuple(filter(None, sections)), json)


def places(picked: Iterable[object]) -> frozenset[int]:
    """The places of what is true, for the rows that stand out.

    Examples:
        >>> sorted(places([0, 3, None, 1]))
        [1, 3]
    """
    return frozenset(place for place, each in enumerate(picked) if each)


class Bounded(TypedDict):
    """The part of a table that fits into a section."""

    rows: tuple[Fields, ...]
    left: int


def bounded(rows: Sequence[Fields], most: int = KEPT) -> Bounded:
    """The first rows of a table, and how many are left out.

    Examples:
        >>> bounded([{"partition": 0}, {"partition": 1}], 1)
        {'rows': ({'partition': 0},), 'left': 1}
    """
    return {"rows": tuple(rows[:most]), "left": max(0, len(rows) - most)}


def filled(rows: Sequence[Fields], *columns: Column) -> tuple[Column, ...]:
    """The columns in which a row has a value.

    Examples:
        >>> filled([{"bytes": None, "rack": "a"}], Column("bytes", "bytes"), Column("rack", "rack", "text"))
        (Column(field='rack', title='rack', kind='text'),)
    """
    return tuple(column for column in columns if any(row[column.field] is not None for row in rows))
