"""A consumer group over time, as figures: who reads what and when, and when nobody does."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, cast

from partwright._check import counted
from partwright.documents import group_compared
from partwright.documents.group_timeline import timeline_section
from partwright.documents.sentences import of_timeline, summed
from partwright.group import costs
from partwright.rendering.colours import EMPHASIS
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import by_name, chart, quantity, tooltip
from partwright.rendering.text import label, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Json
    from partwright.group import Timeline

__all__ = ["document"]

# If there are more partitions, the ones that were longest without a reader are drawn.
_DRAWN = 40


def document(found: Timeline | Mapping[tuple[str, bool], Timeline]) -> Document:
    """The page of a timeline, or of several lives side by side.

    Args:
        found: The timeline, or the result of `partwright.group.compare`.
    """
    if isinstance(found, dict):
        return group_compared.document(costs(found))
    return _played(cast("Timeline", found))


def _played(found: Timeline) -> Document:
    answer = found.to_dict()
    readers = found.readers()
    unread, _ = readers.unread()
    figures = (
        timeline_section(found),
        _unread(found, unread, readers.end_ms),
        _partitions(found),
    )
    verdicts = of_timeline(found)
    return Document("A group over time", verdicts, figures, summed(verdicts, answer))


def _unread(found: Timeline, unread: Sequence[tuple[int, int]], end: int) -> Section:
    changes = dict(unread)
    rows: list[Json] = []
    count = 0
    for at, until in pairwise(sorted({*changes, end})):
        count += changes.get(at, 0)
        if count:
            rows.append({"from": at / 1000, "to": until / 1000, "partitions": count})
    most = max((row["partitions"] for row in rows), default=0)
    sentence = "Each partition had a reader all the time."
    if rows:
        sentence = (
            f"At most {counted(most, 'partition')} had no reader at the same time; added up over all partitions, "
            f"that is {found.cost.unowned_s:,.1f} s."
        )
    axis = {**quantity("from", "seconds"), "scale": {"domain": [0, end / 1000], "nice": False}}
    return Section(
        id="unread",
        title="Partitions without a reader",
        sentence=sentence,
        spec=chart(
            rows,
            height=160,
            name="main",
            mark={"type": "bar", "color": EMPHASIS, "stroke": EMPHASIS, "strokeWidth": 1},
            encoding={
                "x": axis,
                "x2": {"field": "to"},
                "y": quantity("partitions", "partitions", "whole"),
                "y2": {"datum": 0},
                "tooltip": tooltip(
                    **{"partitions": "partitions|,", "from": "from, s|,.1f", "to": "to, s|,.1f"}
                ),
            },
        )
        if rows
        else None,
        columns=(
            Column("from", "from, s"),
            Column("to", "to, s"),
            Column("partitions", "partitions without a reader"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _partitions(found: Timeline) -> Section:
    rows = [
        {
            "partition": shown(f"{row['topic']}-{row['partition']}"),
            "label": label(f"{row['topic']}-{row['partition']}"),
            "unowned": row["unowned_ms"] / 1000,
            "longest": row["longest_ms"] / 1000,
            "moves": row["moves"],
            "text": f"{row['unowned_ms'] / 1000:,.1f} s",
        }
        for row in found.partitions().to_pylist()
    ]
    largest = sorted(rows, key=lambda row: -row["unowned"])
    drawn = rows if len(rows) <= _DRAWN else largest[:_DRAWN]
    sentence = "There is no partition."
    if rows:
        sentence = (
            f"{largest[0]['label']} was longest without a reader, {largest[0]['unowned']:,.1f} s, and "
            f"{counted(sum(row['moves'] for row in rows), 'partition')} moved"
        )
        sentence += f"; the {_DRAWN} longest without a reader are drawn." if len(drawn) < len(rows) else "."
    return Section(
        id="partitions",
        title="How long each partition had no reader",
        sentence=sentence,
        spec=by_name(
            drawn,
            quantity("unowned", "seconds without a reader"),
            None,
            tooltip(partition="partition", unowned="without a reader, s|,.1f", moves="moved|,"),
        )
        if rows
        else None,
        columns=(
            Column("partition", "partition", "text"),
            Column("unowned", "without a reader, s"),
            Column("longest", "longest, s"),
            Column("moves", "moved"),
        ),
        **bounded(rows),
        marks=len(drawn),
    )
