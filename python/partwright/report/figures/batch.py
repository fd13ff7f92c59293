"""A producer's batches as figures: when they are open and how full, how strategies and settings compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from partwright.batching import Tuning
from partwright.report.colours import ACCENT, EMPHASIS, MUTED, in_order, strategies
from partwright.report.figure import Column, Document, Figure, Verdict, bounded
from partwright.report.figures import tune
from partwright.report.plots import ZOOM, by_kind, by_name, chart, quantity, tooltip
from partwright.report.text import after, counted, number, of, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields
    from partwright.batching import Simulation

__all__ = ["document"]

# So many batches are drawn, the first, in so many partitions.
_BATCHES = 600
_PARTITIONS = 40
_BARS = 30
_KAFKAS = 16_384


def document(
    found: Tuning | Simulation | Fields | Sequence[Fields],
    source: str | None = None,
    *,
    simulation: Simulation | None = None,
    scenario: Fields | None = None,
) -> Document:
    """The page of a simulation, of several strategies side by side, of a scenario's answer, or of a tuning.

    Args:
        found: What `partwright.batching.simulate`, `compare` (as a list of rows), `replay` or `tune` give.
        source: What was read.
        simulation: Beside a comparison, the first strategy's, for its batches.
        scenario: What the scenario asks.
    """
    if isinstance(found, Tuning):
        return tune.document(found, source)
    if isinstance(found, dict):
        return _scenario(found, scenario or {}, source)
    if isinstance(found, list):
        return _compared(found, simulation, source)
    simulation = cast("Simulation", found)
    return _compared(simulation.summary.to_pylist(), simulation, source)


def _compared(answer: Sequence[Fields], simulation: Simulation | None, source: str | None) -> Document:
    order = in_order((row["strategy"] for row in answer), strategies())
    rows = sorted(answer, key=lambda row: order.index(row["strategy"]))
    figures = [_requests(rows), _delays(rows), _shares(rows)]
    if simulation is not None:
        name = answer[0]["strategy"]
        batches = simulation.batches.to_pylist()
        figures[1:1] = [_batches(batches, name)]
        figures.append(_waits(simulation, name))
    fewest = min(rows, key=lambda row: row["requests"])
    said = [
        Verdict(
            "said",
            _sends(fewest),
        )
    ]
    said += [
        Verdict(
            "open",
            f"never sent: {counted(row['unsent'], 'record')} of {row['strategy']}, whose partitions have no leader",
        )
        for row in rows
        if row["unsent"]
    ]
    title = f"Batches of {counted(answer[0]['records'], 'record')}{of(source)}"
    return Document(title, tuple(said), tuple(figures), {"strategies": list(answer)})


def _sends(row: Fields) -> str:
    delay = "" if row["p99_delay_ms"] is None else f", and its p99 delay is {number(row['p99_delay_ms'])} ms"
    fill = "" if row["mean_fill"] is None else f", {share(row['mean_fill'])} full on average"
    requests = counted(row["requests"], "request")
    return f"{row['strategy']} sends {number(row['batches'])} batches in {requests}{fill}{delay}"


_SUMMARY = (
    Column("strategy", "strategy", "text"),
    Column("batches", "batches"),
    Column("requests", "requests"),
    Column("mean_fill", "fill", "share"),
    Column("p50_delay_ms", "p50 delay, ms"),
    Column("p99_delay_ms", "p99 delay, ms"),
    Column("largest_share", "largest partition", "share"),
)


def _requests(rows: Sequence[Fields]) -> Figure:
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
        sentence = (
            f"{fewest['strategy']} sends fewest requests, {number(fewest['requests'])} with "
            f"{number(fewest['batches'])} batches, and {most['strategy']} most, {number(most['requests'])} with "
            f"{number(most['batches'])}."
        )
    return Figure(
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


def _delays(rows: Sequence[Fields]) -> Figure:
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
        sentence = (
            f"Half of the records of {best['strategy']} are acknowledged after {number(best['p50_delay_ms'])} ms "
            f"at the most, and 99 of 100 after {number(best['p99_delay_ms'])} ms"
        )
        sentence += ", the shortest of all." if len(known) > 1 else "."
    return Figure(
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


def _shares(rows: Sequence[Fields]) -> Figure:
    squares = [
        {"strategy": row["strategy"], "partition": each["partition"], "bytes": each["bytes"]}
        for row in rows
        for each in row["partitions"]
    ]
    largest = sorted(squares, key=lambda each: -each["bytes"])
    most = max((each["bytes"] for each in squares), default=0)
    many = 1_500
    drawn = squares if len(squares) <= many else largest[:many]
    uneven = max(rows, key=lambda row: row["largest_share"] or 0)
    sentence = "No byte is sent."
    if most:
        sentence = (
            f"The largest partition of {uneven['strategy']} has {share(uneven['largest_share'])} of the bytes"
        )
        if len(rows) > 1:
            even = min(rows, key=lambda row: row["largest_share"] or 0)
            sentence += f", and that of {even['strategy']} {share(even['largest_share'])}"
        sentence += f"; the {many:,} largest parts are drawn." if len(drawn) < len(squares) else "."
    spec = chart(
        sorted(drawn, key=lambda each: each["partition"]),
        height=max(60, 30 * len(rows)),
        name="main",
        mark={"type": "rect"},
        encoding={
            "x": {
                "field": "partition",
                "type": "ordinal",
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
                "scale": {"domain": [0, most], "range": [0.06, 1]},
                "legend": None,
            },
            "tooltip": tooltip(strategy="strategy", partition="partition", bytes="bytes|,"),
        },
    )
    return Figure(
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


def _batches(batches: Sequence[Fields], name: str) -> Figure:
    """Batches over time: each from when it was opened to when it was closed, the fuller the darker."""
    rows = [
        {
            "batch": each["batch"],
            "partition": each["partition"],
            "opened": each["opened_ms"],
            "closed": each["closed_ms"],
            "acked": each["acked_ms"],
            "records": each["records"],
            "bytes": each["bytes"],
            "fill": each["fill"],
            "why": each["why"] or "never sent",
        }
        for each in batches
    ]
    used = sorted({row["partition"] for row in rows})
    inside = set(used[:_PARTITIONS])
    drawn = [row for row in rows[:_BATCHES] if row["partition"] in inside]
    end = max((_end(row) for row in drawn), default=0)
    start = min((row["opened"] for row in drawn), default=0)
    least = max((end - start) / 600, 0.5)
    bars = [
        {
            **row,
            "from": row["opened"],
            "to": max(row["opened"] + least, _end(row)),
            "full": min(1.0, row["fill"] or 0.0),
        }
        for row in drawn
    ]
    sentence = "There is no batch."
    if rows:
        full = sum(row["fill"] or 0.0 for row in rows) / len(rows)
        why: dict[str, int] = {}
        for row in rows:
            why[row["why"]] = why.get(row["why"], 0) + 1
        ended = ", ".join(f"{_WHY.get(which, which)} {number(count)}" for which, count in sorted(why.items()))
        sentence = (
            f"{name} makes {number(len(rows))} {'batch' if len(rows) == 1 else 'batches'} in "
            f"{counted(len(used), 'partition')}, {share(full)} full on average; what ended them: {ended}"
        )
        if len(drawn) < len(rows):
            sentence += f"; {number(len(drawn))} are drawn, the first in time"
        sentence += "."
    spec = chart(
        bars,
        height=max(80, min(700, 24 * min(len(used), _PARTITIONS))),
        name="main",
        mark={"type": "bar", "height": {"band": 0.8}, "color": ACCENT, "stroke": ACCENT, "strokeWidth": 0.5},
        encoding={
            "x": {**quantity("from", "milliseconds"), "scale": {"zero": False, "nice": False}},
            "x2": {"field": "to"},
            "y": {"field": "partition", "type": "ordinal", "title": "partition", "axis": {"ticks": False}},
            "opacity": {
                "field": "full",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [0.15, 1]},
                "legend": None,
            },
            "tooltip": tooltip(
                batch="batch",
                partition="partition",
                opened="opened, ms|,",
                closed="closed, ms|,",
                records="records|,",
                bytes="bytes|,",
                fill="fill|.1%",
                why="ended by",
            ),
        },
    )
    return Figure(
        id="batches",
        title="Batches over time, the stronger the fuller",
        sentence=sentence,
        spec=spec if bars else None,
        columns=(
            Column("batch", "batch"),
            Column("partition", "partition"),
            Column("opened", "opened, ms"),
            Column("closed", "closed, ms"),
            Column("acked", "acknowledged, ms"),
            Column("records", "records"),
            Column("bytes", "bytes"),
            Column("fill", "fill", "share"),
            Column("why", "ended by", "text"),
        ),
        **bounded(rows),
        marks=len(bars),
        hint=ZOOM,
    )


_WHY = {
    "full": "full",
    "no-room": "no room for the next record",
    "linger": "linger.ms",
    "flush": "flush",
    "node": "its node's request",
}


def _end(row: Fields) -> float:
    found = row["closed"] if row["closed"] is not None else row["opened"]
    return float(found)


def _waits(simulation: Simulation, name: str) -> Figure:
    waits = [each for each in simulation.records["waited_ms"].to_pylist() if each is not None]
    most = max(waits, default=0)
    wide = max(1, -(-(most + 1) // _BARS))
    counts: dict[int, int] = {}
    for each in waits:
        counts[each // wide] = counts.get(each // wide, 0) + 1
    rows = [{"from": at * wide, "to": (at + 1) * wide, "records": counts[at]} for at in sorted(counts)]
    sentence = "No record is sent."
    if rows:
        top = max(rows, key=lambda row: row["records"])
        sentence = (
            f"Of {counted(len(waits), 'record')} of {name}, {number(top['records'])} wait from {top['from']} to less "
            f"than {top['to']} ms until their batch is first sent, and none longer than {number(most)} ms."
        )
    return Figure(
        id="waits",
        title="How long records wait to be sent",
        sentence=sentence,
        spec=chart(
            rows,
            height=220,
            name="main",
            mark={"type": "bar", "color": ACCENT, "stroke": None},
            encoding={
                "x": {**quantity("from", "milliseconds"), "scale": {"nice": False}},
                "x2": {"field": "to"},
                "y": quantity("records", "records", "whole"),
                "y2": {"datum": 0},
                "tooltip": tooltip(
                    **{"from": "from, ms|,", "to": "to less than, ms|,", "records": "records|,"}
                ),
            },
        )
        if rows
        else None,
        columns=(Column("from", "from, ms"), Column("to", "to less than, ms"), Column("records", "records")),
        **bounded(rows),
        marks=len(rows),
    )


def _scenario(answer: Fields, scenario: Fields, source: str | None) -> Document:
    config = scenario.get("config") or {}
    size = config.get("batch.size", _KAFKAS)
    size = (
        size
        if isinstance(size, int) and size > 0
        else int(size)
        if str(size).isdecimal() and int(size)
        else 1
    )
    name = str(scenario.get("strategy", "the strategy"))
    batches = [
        {
            "batch": each["id"],
            "partition": each["partition"],
            "opened_ms": each["opened_ms"],
            "closed_ms": each["closed_ms"],
            "acked_ms": each["acked_ms"],
            "records": each["records"],
            "bytes": each["bytes"],
            "fill": each["bytes"] / size,
            "why": each["why"],
        }
        for each in answer["batches"]
    ]
    figures = (_batches(batches, name), _sent(answer["requests"]))
    records = len(answer["placed"])
    requests = counted(len(answer["requests"]), "request")
    said = Verdict("said", f"{counted(records, 'record')}: {number(len(batches))} batches in {requests}")
    return Document(f"A producer's batches{after(source)}", (said,), figures, answer)


def _sent(requests: Sequence[Fields]) -> Figure:
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
        for each in requests
    ]
    drawn = [row for row in rows if row["to"] is not None][:_BATCHES]
    end = max((row["to"] for row in drawn), default=0) - min((row["from"] for row in drawn), default=0)
    least = max(end / 600, 0.5)
    bars = [{**row, "until": max(row["to"], row["from"] + least)} for row in drawn]
    sentence = "No request is sent."
    if rows:
        failed = sum(row["kind"] == "failed" for row in rows)
        brokers = counted(len({row["node"] for row in rows}), "broker")
        sentence = f"{counted(len(rows), 'request')} to {brokers}, {number(failed)} of them failed"
        sentence += f"; the first {number(len(drawn))} are drawn." if len(drawn) < len(rows) else "."
    return Figure(
        id="requests",
        title="Requests over time",
        sentence=sentence,
        spec=chart(
            bars,
            height=max(60, 34 * len({row["node"] for row in drawn})),
            name="main",
            mark={"type": "bar", "height": {"band": 0.7}, "opacity": 0.75},
            encoding={
                "x": {**quantity("from", "milliseconds"), "scale": {"zero": False, "nice": False}},
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
