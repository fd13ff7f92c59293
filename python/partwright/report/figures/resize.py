"""Figures for `partwright resize`: where records go, how even partitions are before and after, and other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.report.binned import by_rank
from partwright.report.colours import ACCENT, EMPHASIS, MUTED
from partwright.report.figure import Column, Document, Figure, bounded
from partwright.report.flow import flows_of
from partwright.report.plots import ZOOM, by_kind, by_name, by_partition, quantity, tooltip
from partwright.report.sentences import of_resize, summed, times
from partwright.report.text import label, number, of, share, shown

if TYPE_CHECKING:
    from partwright._check import Fields
    from partwright.audit.resize import Resize

__all__ = ["document"]

_BY_NUMBER = 150


def document(found: Resize, source: str | None = None) -> Document:
    """The page of a resize.

    Args:
        found: The answer.
        source: What was read.
    """
    answer = found.to_dict()
    figures = [*_flow(answer), _even(answer)]
    if answer["heaviest_moved"]:
        figures.append(_heaviest(answer))
    if "among" not in answer:
        figures.append(_nearby(answer))
    title = f"From {answer['from']:,} to {counted(answer['to'], 'partition')}{of(source)}"
    verdicts = of_resize(found)
    return Document(title, verdicts, tuple(figures), summed(verdicts, answer))


def _flow(answer: Fields) -> tuple[Figure, ...]:
    moved = [each for each in answer["flows"] if each["from"] != each["to"]]
    sentence = "No record would go to another partition."
    if moved:
        most = max(moved, key=lambda each: each["rows"])
        sentence = (
            f"{number(answer['rows_moved'])} of {counted(answer['rows'], 'record')} "
            f"({share(answer['rows_moved'] / (answer['rows'] or 1))}) would go elsewhere; the most, "
            f"{number(most['rows'])}, from partition {most['from']} to {most['to']}."
        )
    figure = Figure(
        id="flow",
        title="Where records go",
        sentence=sentence,
        spec=None,
        columns=(Column("from", "from partition"), Column("to", "to partition"), Column("rows", "records")),
        rows=(),
    )
    if not answer["flows"]:
        return (figure,)
    ends = (f"{counted(answer['from'], 'partition')} now", f"{answer['to']:,} then")
    return flows_of(answer["flows"], figure, ends, (answer["from"], answer["to"]))


def _even(answer: Fields) -> Figure:
    before = {part["partition"]: part["rows"] for part in answer["before"]}
    after = {part["partition"]: part["rows"] for part in answer["after"]}
    rows = [
        {"partition": at, "before": before.get(at), "after": after.get(at)}
        for at in sorted({*before, *after})
    ]
    n = max(answer["from"], answer["to"])
    ranked = n > _BY_NUMBER
    by_size = sorted(rows, key=lambda row: -max(row["before"] or 0, row["after"] or 0))
    kinds = {"now": MUTED, "then": ACCENT}
    bars = [
        {
            "partition": row["partition"],
            "kind": kind,
            "start": 0,
            "end": row[field],
            "size": row[field],
        }
        for row in rows
        for kind, field in (("now", "before"), ("then", "after"))
        if row[field]
    ]
    spec, marks = None, 0
    largest = answer["largest_share"]
    sentence = (
        f"The largest partition has {share(largest['from'])} of the records now, "
        f"{times(largest['from'] * answer['from'])} its fair share, and {share(largest['to'])} then, "
        f"{times(largest['to'] * answer['to'])}"
    )
    if "among" in answer:
        of = f"of {counted(answer['from'], 'partition')}"
        sentence = f"{counted(answer['among'], f'{of} was', f'{of} were')} read, and the others are not drawn"
    if ranked and bars:
        empty = answer["to"] - sum(1 for row in rows if row["after"])
        sentence += f"; all that have records are drawn by their size, and {number(empty)} are empty then"
        series = {kind: [bar["size"] for bar in bars if bar["kind"] == kind] for kind in kinds}
        spec, marks = by_rank(series, list(kinds.values()), "records")
    elif bars:
        spec, marks = by_partition(bars, kinds, "records", n=n, beside=True), len(bars)
    return Figure(
        id="partitions",
        title="Records a partition, now and then",
        sentence=f"{sentence}." if bars else "No key decides a partition.",
        spec=spec,
        columns=(
            Column("partition", "partition"),
            Column("before", "records now"),
            Column("after", "records then"),
        ),
        **bounded(by_size if ranked else rows),
        marks=marks,
        hint=None if ranked or not bars else ZOOM,
    )


def _heaviest(answer: Fields) -> Figure:
    rows = [
        {
            "key": shown(each["key"]),
            "records": each["rows"],
            "from": each["from"],
            "to": each["to"],
            "label": f"{place}. {label(each['key'])}",
            "text": f"{number(each['rows'])} ({each['from']} → {each['to']})",
        }
        for place, each in enumerate(answer["heaviest_moved"], 1)
    ]
    first = rows[0]
    return Figure(
        id="heavy-keys",
        title="Heaviest keys that move",
        sentence=(
            f"The heaviest, {label(first['key'])}, has {counted(first['records'], 'record')} and goes from partition "
            f"{first['from']} to {first['to']}."
        ),
        spec=by_name(
            rows,
            quantity("records", "records", "whole"),
            None,
            tooltip(**{"key": "key", "records": "records|,", "from": "from", "to": "to"}),
            {"value": EMPHASIS},
        ),
        columns=(
            Column("key", "key", "text"),
            Column("records", "records"),
            Column("from", "from partition"),
            Column("to", "to partition"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _nearby(answer: Fields) -> Figure:
    total = answer["rows"] or 1
    rows = [
        {
            "to": each["to"],
            "label": str(each["to"]),
            "moved": each["rows_moved"],
            "share": each["rows_moved"] / total,
            "largest": each["largest_share"],
            "over": each["largest_share"] * each["to"],
            "text": share(each["rows_moved"] / total),
            "kind": "asked for" if each["to"] == answer["to"] else "others",
        }
        for each in answer["nearby"]
    ]
    least = min(rows, key=lambda row: row["moved"])
    most_even = min(rows, key=lambda row: row["over"])
    return Figure(
        id="nearby",
        title="Other numbers of partitions",
        sentence=(
            f"Of the numbers around {answer['to']}, {least['to']} moves least, {share(least['share'])} of the records, "
            f"and with {most_even['to']} the largest partition is nearest to its fair share: it has "
            f"{times(most_even['over'])} of it."
        ),
        spec=by_name(
            rows,
            quantity("share", "share of the records that move", "share"),
            "partitions",
            tooltip(
                to="partitions", moved="records that move|,", share="share|.1%", over="times fair share|.2f"
            ),
            by_kind("kind", ["asked for", "others"], [EMPHASIS, MUTED]),
        ),
        columns=(
            Column("to", "partitions"),
            Column("moved", "records that move"),
            Column("share", "share", "share"),
            Column("largest", "largest partition", "share"),
            Column("over", "times fair share"),
        ),
        **bounded(rows),
        marks=len(rows),
    )
