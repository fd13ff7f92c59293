"""Strategies side by side: their batches and requests, their delays, and how even their partitions are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import named
from partwright.rendering.binned import binned
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED
from partwright.rendering.document import Column, Section, bounded
from partwright.rendering.plots import by_kind, by_name, chart, quantity, tooltip
from partwright.rendering.text import number, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields, Json

__all__ = ["delays", "requests", "shares"]

_COLUMNS = 60


def _sends(row: Fields) -> str:
    delay = "" if row["p99_delay_ms"] is None else f", and its p99 delay is {number(row['p99_delay_ms'])} ms"
    fill = "" if row["mean_fill"] is None else f", {share(row['mean_fill'])} full on average"
    requests = counted(row["requests"], "request")
    return f"{row['strategy']} sends {counted(row['batches'], 'batch', 'batches')} in {requests}{fill}{delay}"


_SUMMARY = (
    Column("strategy", "strategy", "text"),
    Column("batches", "batches"),
    Column("requests", "requests"),
    Column("mean_fill", "fill", "share"),
    Column("p50_delay_ms", "p50 delay, ms"),
    Column("p99_delay_ms", "p99 delay, ms"),
    Column("largest_share", "largest partition", "share"),
)


def requests(rows: Sequence[Fields]) -> Section:
    """How many batches and requests each strategy sends."""
    kinds = {"batches": ACCENT, "requests": MUTED}
    bars = [
        {
            "strategy": row["strategy"],
            "label": f"{row['strategy']}: {kind}",
            "kind": kind,
            "count": row[kind],
            "text": number(row[kind]),
        }
        for row in rows
        for kind in kinds
    ]
    fewest, most = (which(rows, key=lambda row: row["requests"]) for which in (min, max))
    sentence = f"{_sends(fewest)}."
    if len(rows) > 1:
        equal = [row["strategy"] for row in rows if row["requests"] == fewest["requests"]]
        sentence = f"{named(equal)} {'sends' if len(equal) == 1 else 'send'} {counted(fewest['requests'], 'request')}"
        if most["requests"] > fewest["requests"]:
            sentence += f", the fewest, and {most['strategy']} {number(most['requests'])}, the most"
        sentence += "."
    return Section(
        id="requests",
        title="Batches and requests",
        sentence=sentence,
        spec=by_name(
            bars,
            quantity("count", "batches, requests", "whole"),
            None,
            tooltip(strategy="strategy", kind="which are", count="how many|,"),
            by_kind("kind", list(kinds), list(kinds.values())),
        ),
        columns=_SUMMARY,
        **bounded(rows),
        marks=len(bars),
    )


def delays(rows: Sequence[Fields]) -> Section:
    """How long each strategy's records take to be acknowledged."""
    kinds = {"p50": MUTED, "p99": EMPHASIS}
    bars = [
        {
            "strategy": row["strategy"],
            "label": f"{row['strategy']}: {kind}",
            "kind": kind,
            "delay": row[f"{kind}_delay_ms"],
            "text": f"{number(row[f'{kind}_delay_ms'])} ms",
        }
        for row in rows
        for kind in kinds
        if row[f"{kind}_delay_ms"] is not None
    ]
    known = [row for row in rows if row["p99_delay_ms"] is not None]
    sentence = "No record arrives."
    if known:
        best = min(known, key=lambda row: row["p99_delay_ms"])
        quick = [row["strategy"] for row in known if row["p99_delay_ms"] == best["p99_delay_ms"]]
        sentence = (
            f"Half of the records of {named(quick)} are acknowledged after {number(best['p50_delay_ms'])} ms "
            f"at most, and 99 of 100 after {number(best['p99_delay_ms'])} ms"
        )
        sentence += ", the shortest of all." if len(known) > 1 else "."
    return Section(
        id="delays",
        title="How long records take to be acknowledged",
        sentence=sentence,
        spec=by_name(
            bars,
            quantity("delay", "milliseconds from a record's time to its answer"),
            None,
            tooltip(strategy="strategy", kind="of the records", delay="ms|,"),
            by_kind("kind", list(kinds), list(kinds.values())),
        )
        if bars
        else None,
        columns=(
            _SUMMARY[0],
            Column("p50_waited_ms", "p50 wait, ms"),
            Column("p99_waited_ms", "p99 wait, ms"),
            *_SUMMARY[4:6],
        ),
        **bounded(rows),
        marks=len(bars),
    )


def shares(rows: Sequence[Fields]) -> Section:
    """How many bytes each strategy sends to each partition."""
    squares = [
        {"strategy": row["strategy"], "partition": each["partition"], "bytes": each["bytes"]}
        for row in rows
        for each in row["partitions"]
    ]
    largest = sorted(squares, key=lambda each: -each["bytes"])
    most = max((each["bytes"] for each in squares), default=0)
    n = max((each["partition"] for each in squares), default=0) + 1
    wide, _ = binned(n, _COLUMNS)
    summed_up: Counter[tuple[str, int]] = Counter()
    for each in squares:
        summed_up[each["strategy"], each["partition"] // wide] += each["bytes"]
    drawn: list[Json] = [
        {
            "strategy": strategy,
            "partition": str(at) if wide == 1 else f"{at * wide}\u2013{min(n, (at + 1) * wide) - 1}",
            "place": at,
            "bytes": size,
        }
        for (strategy, at), size in summed_up.items()
        if size
    ]
    uneven = max(rows, key=lambda row: row["largest_share"] or 0)
    sentence = "No byte is sent."
    if most:
        sentence = (
            f"The largest partition of {uneven['strategy']} has {share(uneven['largest_share'])} of the bytes"
        )
        if len(rows) > 1:
            even = min(rows, key=lambda row: row["largest_share"] or 0)
            sentence += f", and that of {even['strategy']} {share(even['largest_share'])}"
        sentence += f"; all are drawn, {counted(wide, 'partition')} in a cell." if wide > 1 else "."
    spec = chart(
        sorted(drawn, key=lambda each: each["place"]),
        height=max(60, 30 * len(rows)),
        name="main",
        mark={"type": "rect"},
        encoding={
            "x": {
                "field": "partition",
                "type": "ordinal",
                "sort": None,
                "title": "partition",
                "axis": {"labelAngle": 0, "ticks": False},
            },
            "y": {
                "field": "strategy",
                "type": "nominal",
                "sort": [row["strategy"] for row in rows],
                "title": None,
                "axis": {"labelLimit": 190, "ticks": False},
            },
            "color": {"value": ACCENT},
            "opacity": {
                "field": "bytes",
                "type": "quantitative",
                "scale": {
                    "domain": [0, max((each["bytes"] for each in drawn), default=1)],
                    "range": [0.1, 1],
                },
                "legend": None,
            },
            "tooltip": tooltip(strategy="strategy", partition="partition", bytes="bytes|,"),
        },
    )
    return Section(
        id="bytes",
        title="Bytes a partition, the stronger the more",
        sentence=sentence,
        spec=spec if most else None,
        columns=(
            Column("strategy", "strategy", "text"),
            Column("partition", "partition"),
            Column("bytes", "bytes", "bytes"),
        ),
        **bounded(largest),
        marks=len(drawn),
    )
