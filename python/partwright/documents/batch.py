"""A producer's batches: strategies side by side, with the batches of one; a scenario's; or settings that were tried."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.batching import Simulation, Tuning
from partwright.batching.scenario import Replay
from partwright.documents import batch_times, tune
from partwright.documents.sentences import named, summed
from partwright.rendering.binned import binned
from partwright.rendering.colours import ACCENT, MUTED, in_order, strategies
from partwright.rendering.document import Column, Document, Section, Verdict, bounded
from partwright.rendering.plots import by_kind, by_name, chart, quantity, tooltip
from partwright.rendering.text import number, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields
    from partwright.batching.simulation import Strategies

__all__ = ["document"]

_BARS = 30
_COLUMNS = 60
# Batches that are emptier than this are mentioned.
_EMPTY = 0.5


def document(answer: Tuning | Replay | Simulation | Strategies) -> Document:
    """Strategies side by side, then the batches, bytes and waits of the first; or what a scenario or a tuning has."""
    if isinstance(answer, Tuning):
        return tune.document(answer)
    if isinstance(answer, Replay):
        return _replay(answer)
    found = answer.to_dict()
    order = in_order((row["strategy"] for row in found["strategies"]), strategies())
    rows = sorted(found["strategies"], key=lambda row: order.index(row["strategy"]))
    sections = [_strategies(rows), _shares(rows)]
    simulation = answer if isinstance(answer, Simulation) else answer.simulation
    if simulation is not None:
        name = found["strategies"][0]["strategy"]
        batches = batch_times.batches(simulation.batches.to_pylist(), name)
        sections[1:] = [replace(batches, is_detail=True), sections[1], _waits(simulation, name)]
    verdicts = _verdicts(found["strategies"])
    title = f"Batches of {counted(rows[0]['records'], 'record')}"
    return Document(title, verdicts, tuple(sections), summed(verdicts, found))


def _verdicts(rows: Sequence[Fields]) -> tuple[Verdict, ...]:
    """Which strategy sends fewest requests, with its ties, its delay, the fastest, and what is never sent."""
    best = min(rows, key=lambda row: (row["requests"], row["batches"]))
    least = best["requests"], best["batches"]
    equal = [row["strategy"] for row in rows if (row["requests"], row["batches"]) == least]
    delay = "" if best["p99_delay_ms"] is None else f", p99 delay {number(best['p99_delay_ms'])} ms"
    fill = "" if best["mean_fill"] is None else f", {share(best['mean_fill'])} full on average"
    words = (
        f"{named(equal, 3)} {'sends' if len(equal) == 1 else 'send'} {counted(best['records'], 'record')} in "
        f"{counted(best['requests'], 'request')}{', the fewest' if len(rows) > 1 else ''}: "
        f"{counted(best['batches'], 'batch', 'batches')}{fill}{delay}"
    )
    timed = [row for row in rows if row["p99_delay_ms"] is not None]
    fastest = min(timed, key=lambda row: row["p99_delay_ms"], default=best)
    if fastest["strategy"] not in equal and fastest["p99_delay_ms"] < (best["p99_delay_ms"] or 0):
        words += (
            f"; {fastest['strategy']} is fastest, p99 {number(fastest['p99_delay_ms'])} ms with "
            f"{counted(fastest['requests'], 'request')}"
        )
    verdicts = [Verdict("said", f"{words}.")]
    for row in rows:
        if row["unsent"]:
            unsent = (
                f"{counted(row['unsent'], 'record')} of {row['strategy']}, whose partitions have no leader"
            )
            verdicts.append(Verdict("open", f"Never sent: {unsent}."))
    if best["mean_fill"] is not None and best["mean_fill"] < _EMPTY:
        advice = "Batches are mostly empty: --tune looks for a better linger.ms and batch.size."
        verdicts.append(Verdict("said", advice))
    return tuple(verdicts)


def _strategies(answer: Sequence[Fields]) -> Section:
    rows = [{**row, "used": sum(each["bytes"] > 0 for each in row["partitions"])} for row in answer]
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
    fewest = min((row["requests"], row["batches"]) for row in rows)
    has_slow = any(row["slow_share"] is not None for row in rows)
    return Section(
        id="requests",
        title="Batches and requests",
        sentence=(
            "A batch's fill is its bytes divided by batch.size; p50 and p99 are the records' delays, from their time "
            "to their batch's answer, and their waits until its first request."
        ),
        spec=by_name(
            bars,
            quantity("count", "batches, requests", "whole"),
            None,
            tooltip(strategy="strategy", kind="which are", count="how many|,"),
            by_kind("kind", list(kinds), list(kinds.values())),
        ),
        columns=(
            Column("strategy", "strategy", "text"),
            Column("batches", "batches"),
            Column("requests", "requests"),
            Column("mean_fill", "fill", "share"),
            Column("p50_delay_ms", "p50, ms"),
            Column("p99_delay_ms", "p99, ms"),
            Column("largest_share", "largest share", "share"),
            *([Column("slow_share", "to the slow broker", "share")] if has_slow else []),
            Column("used", "partitions"),
            Column("p50_waited_ms", "p50 wait, ms"),
            Column("p99_waited_ms", "p99 wait, ms"),
        ),
        **bounded(rows),
        marks=len(bars),
        bar="batches",
        picked=frozenset(
            place for place, row in enumerate(rows) if (row["requests"], row["batches"]) == fewest
        ),
    )


def _shares(rows: Sequence[Fields]) -> Section:
    """How many bytes each strategy sends to each partition."""
    squares = [
        {"strategy": row["strategy"], "partition": each["partition"], "bytes": each["bytes"]}
        for row in rows
        for each in row["partitions"]
    ]
    n = max((each["partition"] for each in squares), default=0) + 1
    wide, _ = binned(n, _COLUMNS)
    sums: Counter[tuple[str, int]] = Counter()
    for each in squares:
        sums[each["strategy"], each["partition"] // wide] += each["bytes"]
    drawn = [
        {
            "strategy": strategy,
            "partition": str(at) if wide == 1 else f"{at * wide}\u2013{min(n, (at + 1) * wide) - 1}",
            "bytes": size,
        }
        for (strategy, at), size in sorted(sums.items(), key=lambda each: each[0][1])
        if size
    ]
    sentence = "" if drawn else "No byte is sent."
    if drawn and wide > 1:
        sentence = f"All are drawn, {counted(wide, 'partition')} in a cell."
    spec = chart(
        drawn,
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
                "scale": {"domain": [0, max(sums.values(), default=1)], "range": [0.1, 1]},
                "legend": None,
            },
            "tooltip": tooltip(strategy="strategy", partition="partition", bytes="bytes|,"),
        },
    )
    return Section(
        id="bytes",
        title="Bytes a partition, the stronger the more",
        sentence=sentence,
        spec=spec if drawn else None,
        columns=(
            Column("strategy", "strategy", "text"),
            Column("partition", "partition"),
            Column("bytes", "bytes", "bytes"),
        ),
        **bounded(sorted(squares, key=lambda each: -each["bytes"])),
        marks=len(drawn),
        is_detail=True,
    )


def _waits(simulation: Simulation, name: str) -> Section:
    waits = [each for each in simulation.records["waited_ms"].to_pylist() if each is not None]
    wide = max(1, -(-(max(waits, default=0) + 1) // _BARS))
    counts = Counter(each // wide for each in waits)
    rows = [{"from": at * wide, "to": (at + 1) * wide, "records": counts[at]} for at in sorted(counts)]
    sentence = "No record is sent."
    if rows:
        top = max(rows, key=lambda row: row["records"])
        sentence = (
            f"Of {counted(len(waits), 'record')} of {name}, {number(top['records'])} wait from {top['from']} to less "
            f"than {top['to']} ms until their batch is first sent, and none longer than {number(max(waits))} ms."
        )
    spec = chart(
        rows,
        height=220,
        name="main",
        mark={"type": "bar", "color": ACCENT, "stroke": None},
        encoding={
            "x": {**quantity("from", "milliseconds"), "scale": {"nice": False}},
            "x2": {"field": "to"},
            "y": quantity("records", "records", "whole"),
            "y2": {"datum": 0},
            "tooltip": tooltip(**{"from": "from, ms|,", "to": "to less than, ms|,", "records": "records|,"}),
        },
    )
    return Section(
        id="waits",
        title="How long records wait to be sent",
        sentence=sentence,
        spec=spec if rows else None,
        columns=(Column("from", "from, ms"), Column("to", "to less than, ms"), Column("records", "records")),
        **bounded(rows),
        marks=len(rows),
        is_detail=True,
    )


def _replay(replay: Replay) -> Document:
    answer, requests = replay.to_dict(), replay.answer["requests"]
    batches = [
        {**each, "batch": each["id"], "fill": each["bytes"] / replay.batch_size} for each in answer["batches"]
    ]
    failed = sum(not each["ok"] for each in requests)
    records = counted(len(answer["placed"]), "record goes", "records go")
    made = counted(len(batches), "batch", "batches")
    words = f"{records} in {made} and {counted(len(requests), 'request')}"
    verdict = Verdict("said", f"{words}.")
    if failed:
        verdict = Verdict("open", f"{words}, of which {failed:,} failed.", headline=words)
    sections = (batch_times.batches(batches, replay.strategy), batch_times.requests(requests))
    return Document("A producer's batches", (verdict,), sections, answer)
