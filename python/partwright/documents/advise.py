"""Why partitions are needed and what they cost, or how evenly numbers of replicas read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted, span
from partwright.assignors.replica_counts import ReplicaCounts
from partwright.documents.sentences import named, summed
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED
from partwright.rendering.document import Column, Document, Section, Verdict, bounded
from partwright.rendering.plots import Spec, by_kind, by_name, chart, quantity, tooltip
from partwright.rendering.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields
    from partwright.cluster.sizing.advice import Advice
    from partwright.cluster.sizing.costs import CostEstimate

__all__ = ["document"]

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_KILO = 1024
_POINTS = {"type": "point", "filled": True, "size": 60, "opacity": 1}


def document(answer: Advice | ReplicaCounts) -> Document:
    """How many partitions to take, why, and what they cost; or how evenly each number of replicas reads."""
    return _of_counts(answer) if isinstance(answer, ReplicaCounts) else _of_partitions(answer)


def _of_partitions(advice: Advice) -> Document:
    peak, most = f"{advice.target_mb_s:,g} MB/s", max(advice.needs, key=lambda need: need.high)
    words = (
        f"Take {counted(advice.recommended, 'partition')} for {peak}: it needs {span(*advice.at_least)}, rounded up to "
        f"what brokers share evenly. The largest need is {most.reason}: {most.why}."
    )
    verdicts = (
        Verdict("said", words),
        *(Verdict("open", note) for note in advice.assumed),
        *(
            Verdict("open", f"{counted(choice.partitions, 'partition')}: {warning}")
            for choice in advice.choices
            for warning in choice.warnings
        ),
        *(Verdict("said", note) for note in advice.notes if note not in advice.assumed),
    )
    sections = (_needs(advice), *_costs(advice))
    return Document(f"How many partitions for {peak}", verdicts, sections, summed(verdicts, advice.to_dict()))


def _needs(advice: Advice) -> Section:
    rows = [
        {
            "label": need.reason,
            "low": need.low,
            "high": need.high,
            "why": need.why,
            "text": span(need.low, need.high),
        }
        for need in advice.needs
    ]
    return Section(
        id="needs",
        title="What partitions are needed for",
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
            Column("why", "why", "prose"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _costs(advice: Advice) -> tuple[Section, ...]:
    rows = [
        {
            "name": figures[0].name,
            "assumes": figures[0].assumes,
            "source": figures[0].source,
            **{str(place): _cost(figure) for place, figure in enumerate(figures)},
        }
        for figures in zip(*(choice.figures for choice in advice.choices), strict=True)
    ]
    costs = Section(
        id="costs",
        title="What they cost",
        columns=(
            Column("name", "what it costs", "prose"),
            *(
                Column(str(place), counted(choice.partitions, "partition"), "text")
                for place, choice in enumerate(advice.choices)
            ),
        ),
        **bounded(rows),
    )
    assumed = Section(
        id="assumed",
        title="What each figure assumes",
        columns=(
            Column("name", "what it costs", "prose"),
            Column("assumes", "assumes", "prose"),
            Column("source", "by", "prose"),
        ),
        **bounded(rows),
    )
    sources = tuple(f"{name}: {title}" for name, title in advice.sources.items())
    return costs, assumed, Section(id="sources", title="Sources", code=sources)


def _cost(figure: CostEstimate) -> str:
    low, high = (_size(value) if figure.unit == "B" else (value, figure.unit) for value in figure[1:3])
    (least, unit), (most, most_unit) = ((number(_rounded(value)), unit) for value, unit in (low, high))
    begin = least if unit == most_unit else f"{least} {unit}"
    return f"{most if (least, unit) == (most, most_unit) else f'{begin} to {most}'} {most_unit}".rstrip()


def _size(value: float) -> tuple[float, str]:
    """A size in the units of Kafka's defaults."""
    place = next((at for at in range(len(_UNITS)) if value < _KILO ** (at + 1)), len(_UNITS) - 1)
    return value / _KILO**place, _UNITS[place]


def _rounded(value: float) -> float:
    """Two digits: no cost is known more precisely."""
    return float(f"{value:.2g}")


def _of_counts(counts: ReplicaCounts) -> Document:
    numbers = counted(len(counts.rows), "number")
    title = f"How evenly {numbers} of replicas read {counted(counts.partitions, 'partition')}"
    useful = set(counts.useful)
    rows = [
        {
            **row._asdict(),
            "kind": "equally many" if row.even else "some more",
            "note": ", ".join(
                note
                for note, holds in {
                    "even": row.even,
                    "useful": row.replicas in useful,
                    "divisor": row.divides,
                }.items()
                if holds
            ),
        }
        for row in counts.rows
    ]
    verdicts = _verdicts(counts)
    sections = (_shares(rows, has_threads=counts.threads > 1), _moved(rows))
    return Document(title, verdicts, sections, summed(verdicts, counts.to_dict()))


def _verdicts(counts: ReplicaCounts) -> tuple[Verdict, ...]:
    even, useful, wrong, lost = (
        named([f"{each:,}" for each in those])
        for those in (counts.even, counts.useful, counts.wrongly_even, counts.left_out)
    )
    replicas = "replica" if len(counts.even) == 1 else "replicas"
    first = (
        f"All consumers read equally many partitions with {even} {replicas} under {counts.assignor}."
        if even
        else f"No number of these replicas lets all consumers read equally many partitions under {counts.assignor}."
    )
    said = [f"{first} The busiest has less to read with {useful}; others only cost more."]
    apart = max((each for each in counts.rows if each.even), key=lambda each: each.apart, default=None)
    if apart is not None and apart.apart > 1:
        said.append(
            f"With {counted(apart.replicas, 'replica')} they are up to {apart.apart:,} apart within a topic."
        )
    if wrong:
        those = "it is" if len(counts.wrongly_even) == 1 else "they are"
        said.append(f"An autoscaler's divisor rule counts {wrong} as even, but {those} not.")
    if lost:
        said.append(
            f"An autoscaler's divisor rule never takes {lost}, though the busiest has less with them."
        )
    return tuple(Verdict("said", each) for each in said)


def _shares(rows: Sequence[Fields], *, has_threads: bool) -> Section:
    return Section(
        id="shares",
        title="How evenly replicas read",
        sentence=(
            "Apart: the largest difference between two consumers in one topic; paused: partitions that nobody reads "
            "while the last replica joins; even: all consumers read equally many; useful: the busiest replica reads "
            "less than with fewer; divisor: an autoscaler that takes only divisors of the partitions takes it."
        ),
        spec=chart(
            rows,
            name="main",
            mark=_POINTS,
            encoding={
                "x": _replicas(rows),
                "y": quantity("most", "partitions of the busiest replica", "whole"),
                "color": by_kind("kind", ["equally many", "some more"], [ACCENT, MUTED]),
                "tooltip": tooltip(replicas="replicas|,", most="most|,", least="least|,", idle="idle|,"),
            },
        ),
        columns=(
            Column("replicas", "replicas"),
            Column("most", "most"),
            Column("least", "least"),
            Column("apart", "apart"),
            Column("idle", "idle"),
            *([Column("idle_threads", "idle threads")] if has_threads else []),
            Column("moved", "moved"),
            Column("note", "note", "prose"),
            Column("paused", "paused"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _moved(rows: Sequence[Fields]) -> Section:
    moving = [row for row in rows if row["moved"]]
    return Section(
        id="moved",
        title="What moves from one replica less",
        spec=chart(
            moving,
            height=200,
            name="main",
            mark={**_POINTS, "color": EMPHASIS},
            encoding={
                "x": _replicas(rows),
                "y": quantity("moved", "partitions that move", "whole"),
                "tooltip": tooltip(replicas="replicas|,", moved="moved|,", paused="read by nobody|,"),
            },
        )
        if moving
        else None,
        columns=(
            Column("replicas", "replicas"),
            Column("moved", "moved"),
            Column("paused", "read by nobody"),
        ),
        **bounded(rows),
        marks=len(moving),
        is_detail=True,
    )


def _replicas(rows: Sequence[Fields]) -> Spec:
    scale = {"domain": [rows[0]["replicas"] - 0.5, rows[-1]["replicas"] + 0.5], "nice": False, "zero": False}
    return {**quantity("replicas", "replicas", "whole"), "scale": scale}
