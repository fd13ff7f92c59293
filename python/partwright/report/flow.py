"""Records that go from some partitions to others: bands where there are few, a map where there are many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partwright.report.colours import ACCENT, EMPHASIS, MUTED
from partwright.report.figure import Figure, bounded
from partwright.report.plots import PICKED, Spec, by_kind, chart, legend, squares, tooltip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partwright._check import Fields, Json

__all__ = ["flow"]

# Of more partitions than these, on either side, bands would be threads.
_BANDS = 24
# Nor could more flows than these be told from each other.
_FLOWS = 72
# Of a map, so many squares are drawn, the largest.
_SQUARES = 1_500
# A band's curve has so many points.
_STEPS = 24
_NODE = 0.025
# So many pixels apart names stand at least, and so often they are moved for it.
_APART = 14
_ROUNDS = 60
_GAP = 0.012

_STAYS, _MOVES = "stays", "moves"


def flow(flows: Sequence[Fields], figure: Figure, ends: tuple[str, str]) -> Figure:
    """A figure with its plot and its table.

    Args:
        flows: Each with `from`, `to` and `rows`, and it stays where both are the same.
        figure: Its words.
        ends: What both sides are called.
    """
    ordered = sorted(flows, key=lambda each: (each["from"], each["to"]))
    largest = sorted(flows, key=lambda each: (-each["rows"], each["from"], each["to"]))
    sides = max(len({each[end] for each in flows}) for end in ("from", "to"))
    if sides <= _BANDS and len(flows) <= _FLOWS:
        spec, marks = _bands(ordered, ends), len(ordered)
    else:
        spec, marks = _map(largest[:_SQUARES], ends), min(len(flows), _SQUARES)
    words = figure.sentence
    if marks < len(flows):
        words = f"{words[:-1]}; the {marks:,} largest of {len(flows):,} flows are drawn."
    return replace(figure, sentence=words, spec=spec, marks=marks, **bounded(largest))


def _bands(flows: Sequence[Fields], ends: tuple[str, str]) -> Spec:
    """Bands from the left to the right, as wide as their records are many."""
    total = sum(each["rows"] for each in flows) or 1
    left, right = _stack(flows, "from", total), _stack(flows, "to", total)
    points: list[Json] = []
    at_left = {node: low for node, (low, _) in left.items()}
    at_right = {node: low for node, (low, _) in right.items()}
    for place, each in enumerate(flows):
        wide = each["rows"] / total
        a, b = at_left[each["from"]], at_right[each["to"]]
        at_left[each["from"]] += wide
        at_right[each["to"]] += wide
        for step in range(_STEPS + 1):
            share = step / _STEPS
            eased = share * share * (3 - 2 * share)
            low = a + (b - a) * eased
            points.append(
                {
                    "flow": place,
                    "kind": _STAYS if each["from"] == each["to"] else _MOVES,
                    "x": _NODE + share * (1 - 2 * _NODE),
                    "low": low,
                    "high": low + wide,
                    "from": each["from"],
                    "to": each["to"],
                    "rows": each["rows"],
                }
            )
    height = max(240, 22 * max(len(left), len(right)))
    apart = _APART / height * (1 + _GAP * _BANDS)
    nodes = [
        *_nodes(left, 0.0, "right", flows, "from", apart),
        *_nodes(right, 1 - _NODE, "left", flows, "to", apart),
    ]
    has_both = len({point["kind"] for point in points}) > 1
    x = {
        "field": "x",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [-0.09, 1.09], "nice": False},
    }
    y = {"type": "quantitative", "axis": None, "scale": {"reverse": True, "nice": False}}
    area: Spec = {
        "name": "main",
        "mark": {"type": "area"},
        "encoding": {
            "x": x,
            "y": {"field": "low", **y},
            "y2": {"field": "high"},
            "detail": {"field": "flow"},
            "color": {"value": EMPHASIS},
            "opacity": {"value": 0.55},
            "tooltip": tooltip(**{"from": "from", "to": "to", "rows": "records|,"}),
        },
    }
    if has_both:
        area["params"] = [legend("kind")]
        area["encoding"]["color"] = by_kind("kind", [_MOVES, _STAYS], [EMPHASIS, MUTED])
        area["encoding"]["opacity"] = {
            **PICKED,
            "condition": {"param": "picked", "value": 0.55},
            "value": 0.1,
        }
    layers = [
        area,
        {
            "data": {"values": nodes},
            "mark": {"type": "rect", "color": ACCENT},
            "encoding": {
                "x": {**x, "field": "x"},
                "x2": {"field": "x2"},
                "y": {"field": "low", **y},
                "y2": {"field": "high"},
                "tooltip": tooltip(name="partition", rows="records|,"),
            },
        },
    ]
    for side, align, away in (("right", "right", -5), ("left", "left", 5)):
        values = [node for node in nodes if node["side"] == side]
        layers.append(
            {
                "data": {"values": values},
                "mark": {"type": "text", "align": align, "dx": away, "baseline": "middle"},
                "encoding": {
                    "x": {**x, "field": "x" if side == "right" else "x2"},
                    "y": {"field": "middle", **y},
                    "text": {"field": "name"},
                },
            }
        )
    heads = [{"x": 0.0, "text": ends[0], "at": "left"}, {"x": 1.0, "text": ends[1], "at": "right"}]
    layers += [
        {
            "data": {"values": [head]},
            "mark": {
                "type": "text",
                "align": head["at"],
                "baseline": "top",
                "dy": 6,
                "fontWeight": "bold",
            },
            "encoding": {"x": x, "y": {"value": "height"}, "text": {"field": "text"}},
        }
        for head in heads
    ]
    return chart(points, height=height, layer=layers)


def _stack(flows: Iterable[Fields], end: str, total: int) -> dict[int, tuple[float, float]]:
    """Where each partition stands on its side: from, to."""
    counts: dict[int, int] = {}
    for each in flows:
        counts[each[end]] = counts.get(each[end], 0) + each["rows"]
    found, at = {}, 0.0
    for node in sorted(counts):
        found[node] = (at, at + counts[node] / total)
        at = found[node][1] + _GAP
    # Both sides are as high, however many gaps they have.
    shift = (1 + _GAP * _BANDS - (at - _GAP)) / 2
    return {node: (low + shift, high + shift) for node, (low, high) in found.items()}


def _nodes(
    stack: Mapping[int, tuple[float, float]],
    x: float,
    side: str,
    flows: Sequence[Fields],
    end: str,
    apart: float,
) -> list[Json]:
    return [
        {
            "name": str(node),
            "x": x,
            "x2": x + _NODE,
            "low": low,
            "high": high,
            "middle": middle,
            "side": side,
            "rows": sum(each["rows"] for each in flows if each[end] == node),
        }
        for (node, (low, high)), middle in zip(
            stack.items(), _middles(list(stack.values()), apart), strict=True
        )
    ]


def _middles(spans: Sequence[tuple[float, float]], apart: float) -> list[float]:
    """Where the names of partitions stand: in their middles, and apart where these are near each other."""
    found = [(low + high) / 2 for low, high in spans]
    for _ in range(_ROUNDS):
        for at, (low, high) in enumerate(spans[1:], 1):
            near = apart - (found[at] - found[at - 1])
            if near > 0:
                # The larger of both keeps its place better.
                above, below = spans[at - 1][1] - spans[at - 1][0], high - low
                share = (above + 1e-9) / (above + below + 2e-9)
                found[at] += near * share
                found[at - 1] -= near * (1 - share)
    return found


def _map(flows: Sequence[Fields], ends: tuple[str, str]) -> Spec:
    rows = sorted(
        ({**each, "kind": _STAYS if each["from"] == each["to"] else _MOVES} for each in flows),
        key=lambda each: (each["from"], each["to"]),
    )
    most = max(each["rows"] for each in rows)
    has_both = len({each["kind"] for each in rows}) > 1
    spec = squares(
        rows,
        ("to", ends[1]),
        ("from", ends[0]),
        tooltip(**{"from": "from", "to": "to", "rows": "records|,"}),
        colour=by_kind("kind", [_MOVES, _STAYS], [EMPHASIS, MUTED]) if has_both else {"value": EMPHASIS},
        opacity={
            "field": "rows",
            "type": "quantitative",
            "title": "records",
            "scale": {"domain": [0, most], "range": [0.15, 1]},
            "legend": None,
        },
        height=max(300, min(900, 7 * len({each["from"] for each in rows}))),
    )
    for channel in ("x", "y"):
        spec["encoding"][channel]["sort"] = "ascending"
    return spec
