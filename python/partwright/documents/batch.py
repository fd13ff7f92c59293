"""A producer's batches: strategies side by side, with the batches of one; a scenario's; or settings that were tried."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from partwright._check import counted, span
from partwright.batching import Simulation, Tuning
from partwright.batching.scenario import Replay
from partwright.documents import batch_times, tune
from partwright.documents.sentences import named
from partwright.rendering.binned import COLOUR, binned
from partwright.rendering.colours import in_order, strategies
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns, places
from partwright.rendering.plots import squares, tooltip
from partwright.rendering.text import number, share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partwright._check import Fields
    from partwright.batching.simulation import Strategies

__all__ = ["document"]

_BARS = 30
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
    title = f"Batches of {counted(rows[0]['records'], 'record')}"
    return answered(title, _verdicts(found["strategies"]), sections, found)


def _verdicts(rows: Sequence[Fields]) -> Iterator[Verdict | str]:
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
    yield f"{words}."
    for row in rows:
        if row["unsent"]:
            unsent = (
                f"{counted(row['unsent'], 'record')} of {row['strategy']}, whose partitions have no leader"
            )
            yield Verdict("open", f"Never sent: {unsent}.")
    if best["mean_fill"] is not None and best["mean_fill"] < _EMPTY:
        yield "Batches are mostly empty: --tune looks for a better linger.ms and batch.size."


def _strategies(answer: Sequence[Fields]) -> Section:
    rows = [{**row, "used": sum(each["bytes"] > 0 for each in row["partitions"])} for row in answer]
    fewest = min((row["requests"], row["batches"]) for row in rows)
    return Section(
        id="requests",
        title="Batches and requests",
        sentence=(
            "A batch's fill is its bytes divided by batch.size; p50 and p99 are the records' delays, from their time "
            "to their batch's answer, and their waits until its first request."
        ),
        columns=columns(
            strategy="strategy|text",
            batches="batches",
            requests="requests",
            mean_fill="fill|share",
            p50_delay_ms="p50, ms",
            p99_delay_ms="p99, ms",
            largest_share="largest share|share",
            slow_share="to the slow broker|share"
            if any(row["slow_share"] is not None for row in rows)
            else None,
            used="partitions",
            p50_waited_ms="p50 wait, ms",
            p99_waited_ms="p99 wait, ms",
        ),
        **bounded(rows),
        bar="requests",
        picked=places((row["requests"], row["batches"]) == fewest for row in rows),
    )


def _shares(rows: Sequence[Fields]) -> Section:
    """How many bytes each strategy sends to each partition."""
    parts = [{**each, "strategy": row["strategy"]} for row in rows for each in row["partitions"]]
    n = max((each["partition"] for each in parts), default=0) + 1
    wide, cells = binned(n)
    # Each pair, in the order of the plot's rows and columns.
    sums = {(row["strategy"], at): 0 for row in rows for at in range(cells)}
    for each in parts:
        sums[each["strategy"], each["partition"] // wide] += each["bytes"]
    drawn = [
        {
            "strategy": strategy,
            "partition": str(at) if wide == 1 else f"{at * wide}\u2013{min(n, (at + 1) * wide) - 1}",
            "bytes": size,
        }
        for (strategy, at), size in sums.items()
    ]
    is_sent, spec, sentence = any(sums.values()), None, "No byte is sent."
    if is_sent:
        scale = {"type": "sqrt", "range": [0, 1]}
        said = tooltip(strategy="strategy", partition="partition", bytes="bytes|,")
        opacity = {"field": "bytes", "type": "quantitative", "legend": None, "scale": scale}
        spec = squares(
            drawn, ("partition", "partition"), ("strategy", None), said, colour=COLOUR, opacity=opacity
        )
        sentence = f"All are drawn, {counted(wide, 'partition')} in a cell." if wide > 1 else ""
    return Section(
        id="bytes",
        title="Bytes a partition, the stronger the more",
        sentence=sentence,
        spec=spec,
        columns=columns(strategy="strategy|text", partition="partition", bytes="bytes|bytes"),
        **bounded(sorted(parts, key=lambda each: -each["bytes"])),
        marks=len(drawn),
        is_detail=True,
    )


def _waits(simulation: Simulation, name: str) -> Section:
    waits = [each for each in simulation.records["waited_ms"].to_pylist() if each is not None]
    longest = max(waits, default=0)
    wide, _ = binned(longest + 1, _BARS)
    held = Counter(each // wide for each in waits)
    rows = [{"waited": span(at * wide, (at + 1) * wide - 1), "records": held[at]} for at in sorted(held)]
    of = f"{counted(len(waits), 'record')} of {name}; none waits longer than {number(longest)} ms"
    return Section(
        id="waits",
        title="How long records wait to be sent",
        sentence=f"{of} until its batch is first sent." if waits else "No record is sent.",
        columns=columns(waited="waited, ms|text", records="records"),
        **bounded(rows),
        bar="records",
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
