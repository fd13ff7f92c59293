"""Figures for `partwright advise`: why partitions are needed and what they cost, or how numbers of replicas compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.assignors.replica_counts import ReplicaCounts
from partwright.documents.sentences import of_advice, of_counts, summed
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import Spec, by_kind, by_name, chart, quantity, tooltip
from partwright.rendering.text import bytes_, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Json
    from partwright.assignors.replica_counts import ReplicaCount
    from partwright.cluster.sizing.advice import Advice

__all__ = ["document"]


def document(found: Advice | ReplicaCounts, *, target: float | None = None) -> Document:
    """The page of an advice, or of numbers of replicas side by side.

    Args:
        found: The answer.
        target: The topic's peak load, in MB/s.
    """
    if isinstance(found, ReplicaCounts):
        verdicts = of_counts(found)
        title = (
            f"How evenly {counted(len(found.rows), 'number')} of replicas read "
            f"{counted(found.partitions, 'partition')}"
        )
        return Document(title, verdicts, (_shares(found.rows), _moved(found.rows)), found.to_dict())
    verdicts = of_advice(found, target)
    title = "How many partitions" if target is None else f"How many partitions for {target:,g} MB/s"
    answer = summed(verdicts, found.to_dict())
    return Document(title, verdicts, (_needs(found), _costs(found)), answer)


def _needs(found: Advice) -> Section:
    rows: list[Json] = [
        {
            "label": need.reason,
            "low": need.low,
            "high": need.high,
            "why": need.why,
            "text": number(need.high)
            if need.low == need.high
            else f"{number(need.low)} to {number(need.high)}",
        }
        for need in found.needs
    ]
    most = max(found.needs, key=lambda need: need.high)
    return Section(
        id="needs",
        title="What partitions are needed for",
        sentence=f"The largest need is {most.reason}: at most {counted(round(most.high), 'partition')}.",
        spec=by_name(
            rows,
            quantity("high", "partitions at most", "whole"),
            None,
            tooltip(label="what for", text="partitions", why="why"),
        ),
        columns=(
            Column("label", "what for", "text"),
            Column("low", "at least"),
            Column("high", "at most"),
            Column("why", "why", "text"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _costs(found: Advice) -> Section:
    rows: list[Json] = []
    for choice in found.choices:
        for figure in choice.figures:
            written = bytes_ if figure.unit == "B" else number
            ends = [written(_rounded(value)) for value in (figure.low, figure.high)]
            unit = "" if figure.unit in {"", "B"} else f" {figure.unit}"
            rows.append(
                {
                    "partitions": choice.partitions,
                    "name": figure.name,
                    "cost": (ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}") + unit,
                    "assumes": f"{figure.assumes} ({figure.source})",
                }
            )
    sizes = ", ".join(f"{choice.partitions:,}" for choice in found.choices)
    return Section(
        id="costs",
        title="What they cost",
        sentence=f"The table has what each number of partitions costs ({sizes}), with what each figure assumes.",
        spec=None,
        columns=(
            Column("name", "what it costs", "text"),
            Column("partitions", "partitions"),
            Column("cost", "cost", "text"),
            Column("assumes", "assumes", "text"),
        ),
        **bounded(sorted(rows, key=lambda row: [each["name"] for each in rows].index(row["name"]))),
    )


def _rounded(value: float) -> float:
    """Two digits: no cost is known more precisely."""
    return float(f"{value:.2g}")


def _shares(rows: Sequence[ReplicaCount]) -> Section:
    bars = [{**row._asdict(), "kind": "equally many" if row.even else "some more"} for row in rows]
    idle = [row.replicas for row in rows if row.idle]
    sentence = (
        f"With {counted(rows[0].replicas, 'replica')} the busiest reads {counted(rows[0].most, 'partition')}, with "
        f"{number(rows[-1].replicas)} {number(rows[-1].most)}"
    )
    sentence += f"; from {number(idle[0])} on some are idle." if idle else "."
    spec = chart(
        bars,
        name="main",
        mark={"type": "point", "filled": True, "size": 60, "opacity": 1},
        encoding={
            "x": _replicas(rows),
            "y": quantity("most", "partitions of the busiest replica", "whole"),
            "color": by_kind("kind", ["equally many", "some more"], [ACCENT, MUTED]),
            "tooltip": tooltip(replicas="replicas|,", most="most|,", least="least|,", idle="idle|,"),
        },
    )
    return Section(
        id="shares",
        title="How evenly replicas read",
        sentence=sentence,
        spec=spec,
        columns=(
            Column("replicas", "replicas"),
            Column("most", "most"),
            Column("least", "least"),
            Column("apart", "apart in one topic"),
            Column("idle", "idle"),
            Column("kind", "they read", "text"),
        ),
        **bounded(bars),
        marks=len(bars),
    )


def _moved(rows: Sequence[ReplicaCount]) -> Section:
    bars = [row._asdict() for row in rows if row.moved]
    most = max(rows, key=lambda row: row.moved)
    return Section(
        id="moved",
        title="What moves from one replica less",
        sentence=(
            f"Most moves on the way to {counted(most.replicas, 'replica')}, {counted(most.moved, 'partition')}; "
            f"{counted(most.paused, 'partition')} {'is' if most.paused == 1 else 'are'} read by nobody meanwhile."
        ),
        spec=chart(
            bars,
            height=200,
            name="main",
            mark={"type": "point", "filled": True, "size": 60, "opacity": 1, "color": EMPHASIS},
            encoding={
                "x": _replicas(rows),
                "y": quantity("moved", "partitions that move", "whole"),
                "tooltip": tooltip(replicas="replicas|,", moved="moved|,", paused="read by nobody|,"),
            },
        )
        if bars
        else None,
        columns=(
            Column("replicas", "replicas"),
            Column("moved", "moved"),
            Column("paused", "read by nobody"),
        ),
        **bounded([row._asdict() for row in rows]),
        marks=len(bars),
    )


def _replicas(rows: Sequence[ReplicaCount]) -> Spec:
    scale = {"domain": [rows[0].replicas - 0.5, rows[-1].replicas + 0.5], "nice": False, "zero": False}
    return {**quantity("replicas", "replicas", "whole"), "scale": scale}
