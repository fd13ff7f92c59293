"""Which `batch.size` and `linger.ms` to set: requests against delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import summed
from partwright.rendering.colours import EMPHASIS, MUTED, PALETTE
from partwright.rendering.document import Column, Document, Section, Verdict, bounded
from partwright.rendering.plots import Spec, by_kind, chart, tooltip
from partwright.rendering.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields
    from partwright.batching import Tuning

__all__ = ["document"]


def document(tuning: Tuning) -> Document:
    """The settings that were tried, and the recommended one."""
    answer = tuning.to_dict()
    title = f"batch.size and linger.ms for {counted(answer['default']['records'], 'record')}"
    verdicts = (Verdict("said", tuning.reason),)
    return Document(title, verdicts, (_trade_off(tuning, answer["settings"]),), summed(verdicts, answer))


def _trade_off(found: Tuning, settings: Sequence[Fields]) -> Section:
    sizes = sorted({row["batch_size"] for row in settings})
    recommended, present = _place(found.recommended), _place(found.default)
    marks = {present: " (today)", recommended: " (keep)" if recommended == present else " (take)"}
    rows = [
        {
            "rank": row["rank"],
            "name": f"{row['strategy']}{marks.get(_place(row), '')}",
            "strategy": row["strategy"],
            "batch_size": row["batch_size"],
            "linger_ms": row["linger_ms"],
            "requests": row["requests"],
            "delay": row["p99_delay_ms"],
            "fill": row["mean_fill"],
            "front": "yes" if row["is_on_front"] else "",
            "kind": f"{row['batch_size']:,}",
            "area": 60 + 110 * sizes.index(row["batch_size"]),
        }
        for row in settings
    ]
    # Larger points first, because several settings may be at the same place.
    drawn = sorted((row for row in rows if row["delay"] is not None), key=lambda row: -row["batch_size"])
    kinds = [f"{size:,}" for size in sorted({row["batch_size"] for row in drawn})]
    limits = [] if found.at_most_ms is None else [found.at_most_ms]
    x = _scale("requests", "requests", [row["requests"] for row in drawn])
    y = _scale("delay", "p99 delay, ms", [row["delay"] for row in drawn] + limits)
    points = {
        "name": "main",
        "mark": {"type": "point", "filled": True, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "color": {
                **by_kind("kind", kinds, [PALETTE[place % len(PALETTE)] for place in range(len(kinds))]),
                "title": "batch.size",
            },
            "size": {"field": "area", "type": "quantitative", "scale": None, "legend": None},
            "shape": {"field": "strategy", "type": "nominal", "title": None, "legend": None},
            "tooltip": tooltip(
                strategy="strategy",
                kind="batch.size",
                linger_ms="linger.ms",
                requests="requests|,",
                delay="p99 delay, ms|,",
                fill="fill|.1%",
            ),
        },
    }
    if len({row["strategy"] for row in drawn}) > 1:
        points["encoding"]["shape"]["legend"] = {}  # type: ignore[index] # a channel is a dict
    front = sorted(
        {(row["requests"], row["delay"]) for row in drawn if row["front"]},
    )
    line = {
        "data": {"values": [{"requests": requests, "delay": delay} for requests, delay in front]},
        "mark": {"type": "line", "strokeWidth": 1.2, "opacity": 0.6, "color": MUTED},
        "encoding": {"x": x, "y": y},
    }
    layers: list[Spec] = [line, points]
    if found.at_most_ms is not None:
        layers.append(
            {
                "data": {"values": [{"limit": found.at_most_ms}]},
                "mark": {"type": "rule", "strokeDash": [6, 4], "color": EMPHASIS, "strokeWidth": 1.5},
                "encoding": {"y": {**y, "field": "limit"}},
            }
        )
    marked = [
        {"requests": row["requests"], "delay": row["p99_delay_ms"], "text": words}
        for row, words in ((found.recommended, "recommended"), (found.default, "as it is set now"))
        if row["p99_delay_ms"] is not None
    ]
    if (
        len(marked) > 1
        and marked[0]["requests"] == marked[1]["requests"]
        and marked[0]["delay"] == marked[1]["delay"]
    ):
        marked = [{**marked[0], "text": "recommended, as it is set now"}]
    layers += [
        {
            "data": {"values": marked},
            "mark": {"type": "point", "filled": False, "size": 300, "strokeWidth": 2, "color": EMPHASIS},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": marked},
            "mark": {"type": "text", "dy": -18, "fontWeight": "bold"},
            "encoding": {"x": x, "y": y, "text": {"field": "text"}},
        },
    ]
    limit = "" if found.at_most_ms is None else f"; the limit is {number(found.at_most_ms)} ms"
    ahead = sum(1 for row in rows if row["front"])
    return Section(
        id="trade-off",
        title="Requests against delay",
        sentence=(
            f"Of {counted(len(rows), 'setting')}, {number(ahead)} are beaten by no other in both requests and p99 "
            f"delay{limit}."
        ),
        spec=chart(drawn, height=420, layer=layers),
        columns=(
            Column("rank", "rank"),
            Column("name", "strategy", "text"),
            Column("batch_size", "batch.size"),
            Column("linger_ms", "linger.ms"),
            Column("requests", "requests"),
            Column("delay", "p99, ms"),
            Column("fill", "fill", "share"),
            Column("front", "beaten by none", "text"),
        ),
        **bounded(rows),
        marks=len(drawn),
        bar="requests",
        picked=frozenset(place for place, row in enumerate(rows) if _place(row) in marks),
    )


def _place(row: Fields) -> tuple[str, int, int]:
    return row["strategy"], row["batch_size"], row["linger_ms"]


# If the largest is this many times the smallest, the scale is one of powers.
_WIDE = 20


def _scale(field: str, title: str, values: Sequence[int]) -> Spec:
    low, high = float(min(values)), float(max(values))
    scale: Spec = {"zero": False, "padding": 24}
    axis: Spec = {"format": ",d", "tickCount": 6, "labelExpr": "datum.value % 1 ? '' : datum.label"}
    if low > 0 and high > _WIDE * low:
        low, high = low / 1.5, high * 1.5
        scale = {"type": "log", "domain": [low, high], "nice": False}
        ticks = [step * 10**power for power in range(19) for step in (1, 2, 5)]
        axis = {"format": ",d", "values": [tick for tick in ticks if low <= tick <= high]}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}
