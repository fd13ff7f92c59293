"""Records that go from some partitions to others: as bands, or as a map if there are many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partwright._check import all_of, counted
from partwright.rendering.binned import binned, cells
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED
from partwright.rendering.document import Section, bounded
from partwright.rendering.plots import Spec, by_kind, chart, tooltip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partwright._check import Fields, Json

__all__ = ["flows_of"]

# With more partitions than this on either side, bands would be too thin.
_BANDS = 24
# More flows than this could not be distinguished.
_FLOWS = 72
# How many points a band's curve has.
_STEPS = 24
_NODE = 0.025
# Both sides of partitions are at 0 and 1, and their names next to them.
_EDGES = [-0.09, 1.09]
# The least distance between names in pixels, and how often they are moved to reach it.
_APART = 14
_ROUNDS = 60
_GAP = 0.012

_STAYS, _MOVES = "stays", "moves"


def flows_of(
    flows: Sequence[Fields], figure: Section, ends: tuple[str, str], sizes: tuple[int, int]
) -> Section:
    """A figure with its plot and its table, in which the flows that move come first, the largest before others.

    Args:
        flows: Each with `from`, `to` and `rows`, and it stays where both are the same; at least one moves.
        figure: Its title, its columns, and how its sentence ends.
        ends: The names of both sides.
        sizes: How many partitions each side has.
    """
    ordered = sorted(flows, key=lambda each: (each["from"], each["to"]))
    largest = sorted(ordered, key=lambda each: (each["from"] == each["to"], -each["rows"]))
    sides = max(len({each[end] for each in flows}) for end in ("from", "to"))
    spec, marks, held = (
        (_bands(ordered, ends), len(ordered), "")
        if sides <= _BANDS and len(flows) <= _FLOWS
        else _map(ordered, ends, sizes)
    )
    first = largest[0]
    most = f"The largest flow has {counted(first['rows'], 'record')}, from partition {first['from']} to {first['to']}"
    sentence = f"{'; '.join(filter(None, (most, figure.sentence, held)))}."
    return replace(figure, sentence=sentence, spec=spec, marks=marks, bar="rows", **bounded(largest))


def _bands(flows: Sequence[Fields], ends: tuple[str, str]) -> Spec:
    """Bands from left to right, as wide as they have records."""
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
        "scale": {"domain": _EDGES, "nice": False},
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
        area["encoding"]["color"] = by_kind("kind", [_MOVES, _STAYS], [EMPHASIS, MUTED])
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
    heads = [
        {"x": _EDGES[0], "text": ends[0], "at": "left"},
        {"x": _EDGES[1], "text": ends[1], "at": "right"},
    ]
    layers += [
        {
            "data": {"values": [head]},
            "mark": {"type": "text", "align": head["at"], "baseline": "top", "dy": 6, "fontWeight": "bold"},
            "encoding": {"x": x, "y": {"value": "height"}, "text": {"field": "text"}},
        }
        for head in heads
    ]
    return chart(points, height=height, layer=layers)


def _stack(flows: Iterable[Fields], end: str, total: int) -> dict[int, tuple[float, float]]:
    """Each partition's position on its side: from, to."""
    counts: dict[int, int] = {}
    for each in flows:
        counts[each[end]] = counts.get(each[end], 0) + each["rows"]
    found, at = {}, 0.0
    for node in sorted(counts):
        found[node] = (at, at + counts[node] / total)
        at = found[node][1] + _GAP
    # Both sides have the same height, however many gaps they have.
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
    """The positions of partitions' names: in their middles, but moved apart if these are too close."""
    found = [(low + high) / 2 for low, high in spans]
    for _ in range(_ROUNDS):
        for at, (low, high) in enumerate(spans[1:], 1):
            near = apart - (found[at] - found[at - 1])
            if near > 0:
                # The larger of the two moves less.
                above, below = spans[at - 1][1] - spans[at - 1][0], high - low
                share = (above + 1e-9) / (above + below + 2e-9)
                found[at] += near * share
                found[at - 1] -= near * (1 - share)
    return found


def _map(flows: Sequence[Fields], ends: tuple[str, str], sizes: tuple[int, int]) -> tuple[Spec, int, str]:
    """A map whose cells hold the flows between ranges of partitions; returns its marks, and what a cell holds."""
    (high, _), (wide, _) = (binned(size) for size in sizes)
    found: dict[tuple[int, int], list[int]] = {}
    for each in flows:
        moved_stays = found.setdefault((each["from"] // high, each["to"] // wide), [0, 0])
        moved_stays[each["from"] == each["to"]] += each["rows"]
    rows = [
        {
            "left": x * wide,
            "right": min((x + 1) * wide, sizes[1]),
            "top": y * high,
            "bottom": min((y + 1) * high, sizes[0]),
            "count": max(1, moved or stays),
            "kind": _MOVES if moved else _STAYS,
            "from": _span(y * high, min((y + 1) * high, sizes[0])),
            "to": _span(x * wide, min((x + 1) * wide, sizes[1])),
            "moved": moved,
            "stays": stays,
        }
        for (y, x), (moved, stays) in sorted(found.items())
    ]
    said = tooltip(**{"from": "from partitions", "to": "to", "moved": "records that move|,"})
    has_both = len({row["kind"] for row in rows}) > 1
    if has_both:
        said += tooltip(stays="that stay|,")
    colour = by_kind("kind", [_MOVES, _STAYS], [EMPHASIS, MUTED]) if has_both else {"value": EMPHASIS}
    spec = cells(rows, (ends[1], sizes[1]), (ends[0], sizes[0]), said, colour, 460)
    part = (
        "" if high == wide == 1 else f"; a cell holds the flows from {high:,} to {counted(wide, 'partition')}"
    )
    return (
        spec,
        len(rows),
        f"{all_of(len(flows), 'flow is', 'flows are')} drawn, in {counted(len(rows), 'cell')}{part}",
    )


def _span(low: int, end: int) -> str:
    return f"{low:,}" if end - low == 1 else f"{low:,} to {end - 1:,}"
