"""Why partitions are needed and what they cost, or how evenly numbers of replicas read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from partwright._check import counted, span
from partwright.assignors.group_sizes import ReplicaCounts
from partwright.documents.sentences import named
from partwright.rendering.document import (
    Column,
    Document,
    Section,
    Verdict,
    answered,
    bounded,
    columns,
    places,
)
from partwright.rendering.text import number

if TYPE_CHECKING:
    from partwright.cluster.sizing.advice import Advice
    from partwright.cluster.sizing.costs import CostEstimate

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_KILO = 1024


def document(answer: Advice | ReplicaCounts) -> Document:
    """How many partitions to take, why, and what they cost; or how evenly each number of replicas reads."""
    return _of_counts(answer) if isinstance(answer, ReplicaCounts) else _of_partitions(answer)


def _of_partitions(advice: Advice) -> Document:
    peak, most = f"{advice.target_mb_s:,g} MB/s", max(advice.needs, key=lambda need: need.high)
    words = (
        f"Take {counted(advice.recommended, 'partition')} for {peak}: it needs {span(*advice.at_least)}, rounded up to "
        f"what brokers share evenly. The largest need is {most.reason}: {most.why}."
    )
    verdicts: tuple[Verdict | str, ...] = (
        words,
        *(Verdict("open", note) for note in advice.assumed),
        *(
            Verdict("open", f"{counted(choice.partitions, 'partition')}: {warning}")
            for choice in advice.choices
            for warning in choice.warnings
        ),
        *(note for note in advice.notes if note not in advice.assumed),
    )
    needs = Section(
        id="needs",
        title="What partitions are needed for",
        columns=columns(reason="what for|text", low="at least", high="at most", why="why|prose"),
        **bounded([asdict(need) for need in advice.needs]),
        bar="high",
    )
    sections = (needs, *_costs(advice))
    return answered(f"How many partitions for {peak}", verdicts, sections, advice.to_dict())


def _costs(advice: Advice) -> tuple[Section, ...]:
    rows = [
        {**figures[0]._asdict(), **{str(place): _cost(figure) for place, figure in enumerate(figures)}}
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
        columns=columns(name="what it costs|prose", assumes="assumes|prose", source="by|prose"),
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
    rows = []
    for row in counts.rows:
        notes = {"even": row.even, "useful": row.replicas in useful, "divisor": row.divides}
        rows.append({**row._asdict(), "note": ", ".join(note for note, holds in notes.items() if holds)})
    shares = Section(
        id="shares",
        title="How evenly replicas read",
        sentence=(
            "Apart: the largest difference between two consumers in one topic; paused: partitions that nobody reads "
            "while the last replica joins; even: all consumers read equally many; useful: the busiest replica reads "
            "less than with fewer; divisor: an autoscaler that takes only divisors of the partitions takes it."
        ),
        columns=columns(
            replicas="replicas",
            most="most",
            least="least",
            apart="apart",
            idle="idle",
            idle_threads="idle threads" if counts.threads > 1 else None,
            moved="moved",
            note="note|prose",
            paused="paused",
        ),
        **bounded(rows),
        bar="most",
        picked=places(row["even"] for row in rows),
    )
    return answered(title, _verdicts(counts), (shares,), counts.to_dict())


def _verdicts(counts: ReplicaCounts) -> Iterator[str]:
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
    yield f"{first} The busiest has less to read with {useful}; others only cost more."
    apart = max((each for each in counts.rows if each.even), key=lambda each: each.apart, default=None)
    if apart is not None and apart.apart > 1:
        yield f"With {counted(apart.replicas, 'replica')} they are up to {apart.apart:,} apart within a topic."
    if wrong:
        those = "it is" if len(counts.wrongly_even) == 1 else "they are"
        yield f"An autoscaler's divisor rule counts {wrong} as even, but {those} not."
    if lost:
        yield f"An autoscaler's divisor rule never takes {lost}, though the busiest has less with them."
