"""Batches and requests over the time since the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from partwright._check import Fields, counted
from partwright.documents.sentences import time
from partwright.rendering.colours import ACCENT, EMPHASIS
from partwright.rendering.document import Column, Section, bounded, columns
from partwright.rendering.plots import (
    COLOUR,
    Spec,
    binned,
    by_kind,
    cells,
    chart,
    column_tooltip,
    quantity,
    tooltip,
)
from partwright.rendering.text import number, share

# The most batches, partitions and requests that are drawn one by one.
_BATCHES = 250
_PARTITIONS = 40
_REQUESTS = 600
# If there are more batches, time is cut into this many spans.
_SPANS = 100
# 2001 in milliseconds: an earlier time is not a calendar time.
_CALENDAR = 978_307_200_000
_WHY = {"no-room": "no room for the next record", "linger": "linger.ms", "node": "its node's request"}
_COLUMNS = columns(
    batch="batch",
    partition="partition",
    opened_ms="opened, ms",
    closed_ms="closed, ms",
    acked_ms="acknowledged, ms",
    records="records",
    bytes="bytes",
    fill="fill|share",
    why="ended by|text",
)
_REQUEST = columns(
    id="request",
    node="broker",
    sent_ms="sent, ms",
    done_ms="done, ms",
    batches="batches",
    bytes="bytes",
    was="was|text",
)


def batches(made: Sequence[Fields], name: str) -> Section:
    """Batches over the time since the first, each from its opening to its closing; if there are many, their number.

    Args:
        made: Each with its `batch`, `partition`, `opened_ms`, `closed_ms` and so on.
        name: The strategy's.
    """
    rows = [{**each, "why": each["why"] or "never sent"} for each in made]
    if not rows:
        return Section("batches", "Batches over time", "There is no batch.", columns=_COLUMNS)
    used = len({row["partition"] for row in rows})
    full = sum(row["fill"] or 0.0 for row in rows) / len(rows)
    why = Counter(row["why"] for row in rows)
    ended = ", ".join(f"{_WHY.get(which, which)} {number(count)}" for which, count in sorted(why.items()))
    sentence = (
        f"{name} makes {counted(len(rows), 'batch', 'batches')} in {counted(used, 'partition')}, {share(full)} full on "
        f"average; what ended them: {ended}"
    )
    if is_crowded := len(rows) > _BATCHES or used > _PARTITIONS:
        spec, cell = _counted(rows)
        sentence += f"; all are drawn, and a cell counts those that {cell}"
    else:
        opacity: Spec = {"field": "fill", "type": "quantitative", "legend": None}
        opacity |= {"scale": {"domain": [0, 1], "range": [0.4, 1], "clamp": True}}
        spec = _over_time(rows, _COLUMNS, opacity=opacity)
    return Section(
        id="batches",
        title=f"Batches over time, the stronger the {'more' if is_crowded else 'fuller'}",
        sentence=f"{sentence}.",
        spec=spec,
        columns=_COLUMNS,
        **bounded(rows),
    )


def _elapsed(start: float) -> str:
    """The title of an axis of milliseconds since an instant, which it names if that is a calendar time."""
    return "milliseconds" if start < _CALENDAR else f"milliseconds since {time(int(start))}"


def _over_time(rows: Sequence[Fields], titles: Sequence[Column], **channels: Spec) -> Spec:
    """Bars over the time since the first, in lanes.

    Args:
        rows: A table's; where the time of its end is missing, a bar is short.
        titles: The table's columns: the second has a lane for each of its values, the next two a bar's begin and end.
        channels: What else tells bars apart.
    """
    name, begin, end = titles[1], titles[2].field, titles[3].field
    start = min(row[begin] for row in rows)
    least = max(max((row[end] or row[begin]) - start for row in rows) / 250, 0.5)
    bars = [
        {
            **{column.field: row[column.field] for column in titles},
            "left": row[begin] - start,
            "right": max(row[begin] + least, row[end] or 0) - start,
        }
        for row in rows
    ]
    return chart(
        bars,
        height=max(60, min(700, 24 * len({row[name.field] for row in rows}))),
        name="main",
        mark={"type": "bar", "height": {"band": 0.8}, "color": ACCENT, "opacity": 0.75},
        encoding={
            "x": quantity("left", _elapsed(start), scale={"zero": False, "nice": False}),
            "x2": {"field": "right"},
            "y": {"field": name.field, "type": "ordinal", "title": name.title, "axis": {"ticks": False}},
            "tooltip": column_tooltip(titles),
            **channels,
        },
    )


def _counted(rows: Sequence[Fields]) -> tuple[Spec, str]:
    """How many batches are opened in each span of time, by partition or by several partitions; and what a cell has."""
    opened = [row["opened_ms"] for row in rows]
    start = min(opened)
    wide = max(1.0, (max(opened) - start + 1) / _SPANS)
    most = max(row["partition"] for row in rows) + 1
    high, lanes = binned(most, _PARTITIONS)
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
    tips = tooltip(**{"partitions": "partitions", "from": "opened from", "count": "batches|,"})
    x, height = (_elapsed(start), max(row["right"] for row in drawn)), max(120, min(420, 24 * lanes))
    spec = cells(drawn, x, ("partition", most), tips, COLOUR, height)
    return spec, f"{counted(high, 'partition')} opened in {number(round(wide, 1))} ms"


def requests(all_requests: Sequence[Fields]) -> Section:
    """Requests over time, by broker.

    Args:
        all_requests: The requests of a scenario's answer.
    """
    rows = [
        {**each, "batches": len(each["batches"]), "was": "answered" if each["ok"] else "failed"}
        for each in all_requests
    ]
    drawn = [row for row in rows if row["done_ms"] is not None][:_REQUESTS]
    sentence = "No request is sent."
    if rows:
        failed = sum(not row["ok"] for row in rows)
        brokers = counted(len({row["node"] for row in rows}), "broker")
        sentence = f"{counted(len(rows), 'request')} to {brokers}, {number(failed)} of them failed"
        sentence += f"; the first {number(len(drawn))} are drawn." if len(drawn) < len(rows) else "."
    colour = by_kind("was", ["answered", "failed"], [ACCENT, EMPHASIS])
    return Section(
        id="requests",
        title="Requests over time",
        sentence=sentence,
        spec=_over_time(drawn, _REQUEST, color=colour) if drawn else None,
        columns=_REQUEST,
        **bounded(rows),
    )
