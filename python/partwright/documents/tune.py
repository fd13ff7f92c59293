"""Which `batch.size` and `linger.ms` to set: requests against delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.rendering.colours import EMPHASIS, MUTED, colours
from partwright.rendering.document import Document, Section, answered, bounded, columns, places
from partwright.rendering.plots import Spec, by_kind, chart, column_tooltip, level, powers, quantity
from partwright.rendering.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields
    from partwright.batching import Tuning

__all__ = ["document"]

_COLUMNS = columns(
    rank="rank",
    name="strategy|text",
    batch_size="batch.size",
    linger_ms="linger.ms",
    requests="requests",
    p99_delay_ms="p99, ms",
    mean_fill="fill|share",
    front="beaten by none|text",
)


def document(tuning: Tuning) -> Document:
    """The settings that were tried, and the recommended one."""
    answer = tuning.to_dict()
    title = f"batch.size and linger.ms for {counted(answer['default']['records'], 'record')}"
    return answered(title, [tuning.reason], [_trade_off(tuning, answer["settings"])], answer)


def _trade_off(found: Tuning, settings: Sequence[Fields]) -> Section:
    recommended, present = _place(found.recommended), _place(found.default)
    words = {present: "today", recommended: "keep" if recommended == present else "take"}
    rows = []
    for row in settings:
        word = words.get(_place(row))
        name = f"{row['strategy']} ({word})" if word else row["strategy"]
        rows.append({**row, "name": name, "word": word, "front": "yes" if row["is_on_front"] else ""})
    limit = "" if found.at_most_ms is None else f"; the limit is {number(found.at_most_ms)} ms"
    timed = [row for row in rows if row["p99_delay_ms"] is not None]
    return Section(
        id="trade-off",
        title="Requests against delay",
        sentence=(
            f"Of {counted(len(rows), 'setting')}, {number(sum(row['is_on_front'] for row in rows))} are beaten by no "
            f"other in both requests and p99 delay{limit}."
        ),
        spec=_plot(timed, found.at_most_ms),
        columns=_COLUMNS,
        **bounded(rows),
        marks=len(timed),
        bar="requests",
        picked=places(row["word"] for row in rows),
    )


def _place(row: Fields) -> tuple[str, int, int]:
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
    colour = by_kind("kind", [*kinds.values()], [*colours(kinds.values()).values()])
    main = {
        "name": "main",
        "mark": {"type": "point", "filled": True, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "color": {**colour, "title": "batch.size"},
            "size": {"field": "area", "type": "quantitative", "scale": None, "legend": None},
            "shape": {"field": "strategy", "type": "nominal", "title": None, "legend": legend},
            "tooltip": column_tooltip(_COLUMNS[1:7]),
        },
    }
    # The present settings win a tie, so no two words are at one place.
    marked = [row for row in rows if row["word"]]
    places = sorted({(row["requests"], row["p99_delay_ms"]) for row in rows if row["is_on_front"]})
    front = [{"requests": requests, "p99_delay_ms": delay} for requests, delay in places]
    # Around the largest point.
    ring: Spec = {"type": "point", "filled": False, "size": 200 + 110 * len(sizes), "color": EMPHASIS}
    return chart(
        points,
        height=420,
        layer=[
            _layer(front, {"type": "line", "strokeWidth": 1.2, "opacity": 0.6, "color": MUTED}, x, y),
            main,
            *(level(limit, EMPHASIS) for limit in limits),
            _layer(marked, ring, x, y),
            _layer(marked, {"type": "text", "dy": -24, "fontWeight": "bold"}, x, y, text={"field": "word"}),
        ],
    )


def _layer(rows: Sequence[Fields], mark: Spec, x: Spec, y: Spec, **channels: Spec) -> Spec:
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": {"x": x, "y": y, **channels}}


# If the largest is this many times the smallest, the scale is one of powers.
_WIDE = 20


def _scale(field: str, title: str, values: Sequence[int]) -> Spec:
    low, high = min(values), max(values)
    if low > 0 and high > _WIDE * low:
        return powers(field, title, low / 1.5, high * 1.5)
    return quantity(field, title, "whole", scale={"zero": False, "padding": 24})
