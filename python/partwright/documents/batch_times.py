"""Batches and requests over the time since the first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import time
from partwright.rendering.binned import COLOUR, binned, cells
from partwright.rendering.colours import ACCENT, EMPHASIS
from partwright.rendering.document import Column, Section, bounded
from partwright.rendering.plots import Spec, by_kind, chart, quantity, tooltip
from partwright.rendering.text import number, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields

__all__ = ["batches", "requests"]

# The most batches, partitions and requests that are drawn one by one.
_BATCHES = 250
_PARTITIONS = 40
_REQUESTS = 600
_FIELDS = ("batch", "partition", "opened_ms", "closed_ms", "acked_ms", "records", "bytes", "fill")
# If there are more batches, time is cut into this many spans.
_SPANS = 100


def batches(found: Sequence[Fields], name: str) -> Section:
    """Batches over the time since the first, each from its opening to its closing; if there are many, their number.

    Args:
        found: Each with its `batch`, `partition`, `opened_ms`, `closed_ms` and so on.
        name: The strategy's.
    """
    rows = [{**{name: each[name] for name in _FIELDS}, "why": each["why"] or "never sent"} for each in found]
    used = sorted({row["partition"] for row in rows})
    start = min((row["opened_ms"] for row in rows), default=0)
    sentence = "There is no batch."
    if rows:
        full = sum(row["fill"] or 0.0 for row in rows) / len(rows)
        why = Counter(row["why"] for row in rows)
        ended = ", ".join(f"{_WHY.get(which, which)} {number(count)}" for which, count in sorted(why.items()))
        sentence = (
            f"{name} makes {counted(len(rows), 'batch', 'batches')} in "
            f"{counted(len(used), 'partition')}, {share(full)} full on average; what ended them: {ended}"
        )
    many = len(rows) > _BATCHES or len(used) > _PARTITIONS
    spec, marks, told = (_counted if many else _drawn)(rows, start)
    return Section(
        id="batches",
        title="Batches over time, the stronger the more"
        if many
        else "Batches over time, the stronger the fuller",
        sentence=f"{sentence.rstrip('.')}{told}.",
        spec=spec if rows else None,
        columns=(
            Column("batch", "batch"),
            Column("partition", "partition"),
            Column("opened_ms", "opened, ms"),
            Column("closed_ms", "closed, ms"),
            Column("acked_ms", "acknowledged, ms"),
            Column("records", "records"),
            Column("bytes", "bytes"),
            Column("fill", "fill", "share"),
            Column("why", "ended by", "text"),
        ),
        **bounded(rows),
        marks=marks,
    )


def _elapsed(start: float) -> str:
    """The title of an axis of milliseconds since an instant, which it names if that is a calendar time."""
    return "milliseconds" if start < _CALENDAR else f"milliseconds since {time(int(start))}"


# 2001 in milliseconds: an earlier time is not a calendar time.
_CALENDAR = 978_307_200_000


def _drawn(rows: Sequence[Fields], start: float) -> tuple[Spec, int, str]:
    used = len({row["partition"] for row in rows})
    end = max((_end(row) for row in rows), default=0)
    least = max((end - start) / 250, 0.5)
    bars = [
        {
            **row,
            "from": row["opened_ms"] - start,
            "to": max(row["opened_ms"] + least, _end(row)) - start,
            "full": min(1.0, row["fill"] or 0.0),
        }
        for row in rows
    ]
    spec = chart(
        bars,
        height=max(80, min(700, 24 * used)),
        name="main",
        mark={"type": "bar", "height": {"band": 0.8}, "color": ACCENT, "stroke": ACCENT, "strokeWidth": 0.5},
        encoding={
            "x": {**quantity("from", _elapsed(start)), "scale": {"zero": False, "nice": False}},
            "x2": {"field": "to"},
            "y": {"field": "partition", "type": "ordinal", "title": "partition", "axis": {"ticks": False}},
            "opacity": {
                "field": "full",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [0.4, 1]},
                "legend": None,
            },
            "tooltip": tooltip(
                batch="batch",
                partition="partition",
                opened_ms="opened, ms|,",
                closed_ms="closed, ms|,",
                records="records|,",
                bytes="bytes|,",
                fill="fill|.1%",
                why="ended by",
            ),
        },
    )
    return spec, len(bars), ""


def _counted(rows: Sequence[Fields], start: float) -> tuple[Spec, int, str]:
    """How many batches are opened in each span of time, by partition or by several partitions."""
    last = max(row["opened_ms"] for row in rows)
    wide = max(1.0, (last - start + 1) / _SPANS)
    most = max(row["partition"] for row in rows) + 1
    high, _ = binned(most, _PARTITIONS)
    counts = Counter((row["partition"] // high, int((row["opened_ms"] - start) // wide)) for row in rows)
    drawn = [
        {
            "left": x * wide,
            "right": (x + 1) * wide,
            "top": y * high,
            "bottom": min((y + 1) * high, most),
            "count": count,
            "partitions": f"{y * high}" if high == 1 else f"{y * high} to {min((y + 1) * high, most) - 1}",
            "from": f"{x * wide:,.0f} to {(x + 1) * wide:,.0f} ms",
        }
        for (y, x), count in sorted(counts.items())
    ]
    spec = cells(
        drawn,
        (_elapsed(start), max(row["right"] for row in drawn)),
        ("partition", most),
        tooltip(**{"partitions": "partitions", "from": "opened from", "count": "batches|,"}),
        COLOUR,
        max(120, min(420, 24 * -(-most // high))),
    )
    what = f"{counted(high, 'partition')} opened in {number(round(wide, 1))} ms"
    told = f"; all are drawn, and a cell counts those that {what}"
    return spec, len(drawn), told


_WHY = {
    "full": "full",
    "no-room": "no room for the next record",
    "linger": "linger.ms",
    "flush": "flush",
    "node": "its node's request",
}


def _end(row: Fields) -> float:
    found = row["closed_ms"] if row["closed_ms"] is not None else row["opened_ms"]
    return float(found)


def requests(sent: Sequence[Fields]) -> Section:
    """Requests over time, by broker.

    Args:
        sent: The requests of a scenario's answer.
    """
    rows = [
        {
            "request": each["id"],
            "node": each["node"],
            "from": each["sent_ms"],
            "to": each["done_ms"],
            "bytes": each["bytes"],
            "batches": len(each["batches"]),
            "kind": "answered" if each["ok"] else "failed",
        }
        for each in sent
    ]
    drawn = [row for row in rows if row["to"] is not None][:_REQUESTS]
    end = max((row["to"] for row in drawn), default=0) - min((row["from"] for row in drawn), default=0)
    least = max(end / 250, 0.5)
    start = min((row["from"] for row in drawn), default=0)
    bars = [
        {**row, "left": row["from"] - start, "until": max(row["to"], row["from"] + least) - start}
        for row in drawn
    ]
    sentence = "No request is sent."
    if rows:
        failed = sum(row["kind"] == "failed" for row in rows)
        brokers = counted(len({row["node"] for row in rows}), "broker")
        sentence = f"{counted(len(rows), 'request')} to {brokers}, {number(failed)} of them failed"
        sentence += f"; the first {number(len(drawn))} are drawn." if len(drawn) < len(rows) else "."
    return Section(
        id="requests",
        title="Requests over time",
        sentence=sentence,
        spec=chart(
            bars,
            height=max(60, 34 * len({row["node"] for row in drawn})),
            name="main",
            mark={"type": "bar", "height": {"band": 0.7}, "opacity": 0.75},
            encoding={
                "x": {**quantity("left", _elapsed(start)), "scale": {"zero": False, "nice": False}},
                "x2": {"field": "until"},
                "y": {"field": "node", "type": "ordinal", "title": "broker", "axis": {"ticks": False}},
                "color": by_kind("kind", ["answered", "failed"], [ACCENT, EMPHASIS]),
                "tooltip": tooltip(
                    **{
                        "request": "request",
                        "node": "broker",
                        "from": "sent, ms|,",
                        "to": "done, ms|,",
                        "bytes": "bytes|,",
                    }
                ),
            },
        )
        if bars
        else None,
        columns=(
            Column("request", "request"),
            Column("node", "broker"),
            Column("from", "sent, ms"),
            Column("to", "done, ms"),
            Column("batches", "batches"),
            Column("bytes", "bytes"),
            Column("kind", "was", "text"),
        ),
        **bounded(rows),
        marks=len(bars),
    )
