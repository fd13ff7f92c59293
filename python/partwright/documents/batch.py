"""A producer's batches: strategies side by side, with the batches of one; a scenario's; or settings that were tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from partwright._check import Fields, counted, span
from partwright.batching import Simulation, Tuning
from partwright.batching.scenario import Replay
from partwright.documents import batch_times
from partwright.documents.sentences import named
from partwright.rendering.colours import EMPHASIS, MUTED, colours_of, in_order, strategies
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns, places
from partwright.rendering.plots import (
    COLOUR,
    Spec,
    binned,
    by_kind,
    chart,
    column_tooltip,
    layer,
    level,
    powers,
    quantity,
    squares,
    tooltip,
)
from partwright.rendering.text import number, share

if TYPE_CHECKING:
    from partwright.batching.simulation import Strategies

_BARS = 30
# Batches that are emptier than this are mentioned.
_EMPTY = 0.5


# If the largest is this many times the smallest, the scale is one of powers.
_WIDE = 20
_TRIED = columns(
    rank="rank",
    name="strategy|text",
    batch_size="batch.size",
    linger_ms="linger.ms",
    requests="requests",
    p99_delay_ms="p99, ms",
    mean_fill="fill|share",
    front="beaten by none|text",
)


def document(answer: Tuning | Replay | Simulation | Strategies) -> Document:
    """Strategies side by side, then the batches, bytes and waits of the first; or what a scenario or a tuning has."""
    if isinstance(answer, Tuning):
        return _tuning(answer)
    if isinstance(answer, Replay):
        return _replay(answer)
    answers = answer.to_dict()
    order = in_order((row["strategy"] for row in answers["strategies"]), strategies())
    rows = sorted(answers["strategies"], key=lambda row: order.index(row["strategy"]))
    sections = [_strategies(rows), _shares(rows)]
    simulation = answer if isinstance(answer, Simulation) else answer.simulation
    if simulation is not None:
        name = answers["strategies"][0]["strategy"]
        batches = batch_times.batches(simulation.batches.to_pylist(), name)
        sections[1:] = [replace(batches, is_detail=True), sections[1], _waits(simulation, name)]
    title = f"Batches of {counted(rows[0]['records'], 'record')}"
    return answered(title, _verdicts(answers["strategies"]), sections, answers)


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
    names = [
        str(at) if wide == 1 else f"{at * wide}\u2013{min(n, (at + 1) * wide) - 1}" for at in range(cells)
    ]
    drawn = [{"strategy": name, "partition": names[at], "bytes": size} for (name, at), size in sums.items()]
    is_sent, spec, sentence = any(sums.values()), None, "No byte is sent."
    if is_sent:
        scale = {"type": "sqrt", "range": [0, 1]}
        opacity = {"field": "bytes", "type": "quantitative", "legend": None, "scale": scale}
        x, y = ("partition", "partition", names), ("strategy", None, [row["strategy"] for row in rows])
        tips = tooltip(strategy="strategy", partition="partition", bytes="bytes|,")
        spec = squares(drawn, x, y, tips, corner=1, color=COLOUR, opacity=opacity)
        sentence = f"All are drawn, {counted(wide, 'partition')} in a cell." if wide > 1 else ""
    return Section(
        id="bytes",
        title="Bytes a partition, the stronger the more",
        sentence=sentence,
        spec=spec,
        columns=columns(strategy="strategy|text", partition="partition", bytes="bytes|bytes"),
        **bounded(sorted(parts, key=lambda each: -each["bytes"])),
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


def _tuning(tuning: Tuning) -> Document:
    """The settings that were tried, and the recommended one."""
    answer = tuning.to_dict()
    title = f"batch.size and linger.ms for {counted(answer['default']['records'], 'record')}"
    return answered(title, [tuning.reason], [_trade_off(tuning, answer["settings"])], answer)


def _trade_off(tuning: Tuning, settings: Sequence[Fields]) -> Section:
    recommended, present = _setting(tuning.recommended), _setting(tuning.default)
    words = {present: "today", recommended: "keep" if recommended == present else "take"}
    rows = []
    for row in settings:
        word = words.get(_setting(row))
        name = f"{row['strategy']} ({word})" if word else row["strategy"]
        rows.append({**row, "name": name, "word": word, "front": "yes" if row["is_on_front"] else ""})
    limit = "" if tuning.at_most_ms is None else f"; the limit is {number(tuning.at_most_ms)} ms"
    timed = [row for row in rows if row["p99_delay_ms"] is not None]
    return Section(
        id="trade-off",
        title="Requests against delay",
        sentence=(
            f"Of {counted(len(rows), 'setting')}, {number(sum(row['is_on_front'] for row in rows))} are beaten by no "
            f"other in both requests and p99 delay{limit}."
        ),
        spec=_plot(timed, tuning.at_most_ms),
        columns=_TRIED,
        **bounded(rows),
        bar="requests",
        picked=places(row["word"] for row in rows),
    )


def _setting(row: Fields) -> tuple[str, int, int]:
    return row["strategy"], row["batch_size"], row["linger_ms"]


def _plot(rows: Sequence[Fields], at_most_ms: int | None) -> Spec:
    """A point for each setting, a line through those that no other beats, the limit, and the two with a word."""
    sizes = sorted({row["batch_size"] for row in rows})
    kinds = {size: f"{size:,}" for size in sizes}
    limits = [] if at_most_ms is None else [at_most_ms]
    x = _scale("requests", "requests", [row["requests"] for row in rows])
    y = _scale("p99_delay_ms", "p99 delay, ms", [row["p99_delay_ms"] for row in rows] + limits)
    # Larger points first, because several settings may be at the same place.
    points = [
        {**row, "kind": kinds[row["batch_size"]], "area": 60 + 110 * sizes.index(row["batch_size"])}
        for row in sorted(rows, key=lambda row: -row["batch_size"])
    ]
    legend: Spec | None = {} if len({row["strategy"] for row in rows}) > 1 else None
    colour = by_kind("kind", [*kinds.values()], [*colours_of(kinds.values()).values()])
    main = {
        "name": "main",
        "mark": {"type": "point", "filled": True, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "color": {**colour, "title": "batch.size"},
            "size": {"field": "area", "type": "quantitative", "scale": None, "legend": None},
            "shape": {"field": "strategy", "type": "nominal", "title": None, "legend": legend},
            "tooltip": column_tooltip(_TRIED[1:7]),
        },
    }
    # The present settings win a tie, so no two words are at one place.
    marked = [row for row in rows if row["word"]]
    corners = sorted({(row["requests"], row["p99_delay_ms"]) for row in rows if row["is_on_front"]})
    front = [{"requests": requests, "p99_delay_ms": delay} for requests, delay in corners]
    # Around the largest point.
    ring: Spec = {"filled": False, "size": 200 + 110 * len(sizes), "color": EMPHASIS}
    bold = {"dy": -24, "fontWeight": "bold"}
    return chart(
        points,
        height=420,
        layer=[
            layer(front, "line", {"strokeWidth": 1.2, "opacity": 0.6, "color": MUTED}, x=x, y=y),
            main,
            *(level(limit, EMPHASIS) for limit in limits),
            layer(marked, "point", ring, x=x, y=y),
            layer(marked, "text", bold, x=x, y=y, text={"field": "word"}),
        ],
    )


def _scale(field: str, title: str, values: Sequence[int]) -> Spec:
    low, high = min(values), max(values)
    if low > 0 and high > _WIDE * low:
        return powers(field, title, low / 1.5, high * 1.5)
    return quantity(field, title, "whole", scale={"zero": False, "padding": 24})
