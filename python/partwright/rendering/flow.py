"""Records that go from some partitions to others: as bands, or as a map if there are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from partwright._check import Fields, Json, all_of, counted, span
from partwright.rendering.colours import ACCENT, EMPHASIS, MUTED
from partwright.rendering.document import Section, bounded
from partwright.rendering.plots import Spec, binned, by_kind, cells, chart, layer, tooltip

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
    spec, held = (
        (_bands(ordered, ends), "")
        if sides <= _BANDS and len(flows) <= _FLOWS
        else _map(ordered, ends, sizes)
    )
    first = largest[0]
    most = f"The largest flow has {counted(first['rows'], 'record')}, from partition {first['from']} to {first['to']}"
    sentence = f"{'; '.join(filter(None, (most, figure.sentence, held)))}."
    return replace(figure, sentence=sentence, spec=spec, bar="rows", **bounded(largest))


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
        band = {name: each[name] for name in ("from", "to", "rows")}
        band |= {"flow": place, "kind": _STAYS if each["from"] == each["to"] else _MOVES}
        for share in (step / _STEPS for step in range(_STEPS + 1)):
            eased = share * share * (3 - 2 * share)
            low = a + (b - a) * eased
            points.append({**band, "x": _NODE + share * (1 - 2 * _NODE), "low": low, "high": low + wide})
    height = max(240, 22 * max(len(left), len(right)))
    apart = _APART / height * (1 + _GAP * _BANDS)
    sides = {
        "right": _nodes(left, 0.0, flows, "from", apart),
        "left": _nodes(right, 1 - _NODE, flows, "to", apart),
    }
    domain = {"domain": _EDGES, "nice": False}
    x: Spec = {"field": "x", "type": "quantitative", "axis": None, "scale": domain}
    y = {"type": "quantitative", "axis": None, "scale": {"reverse": True, "nice": False}}
    heights: Spec = {"y": {"field": "low", **y}, "y2": {"field": "high"}}
    area: Spec = {
        "name": "main",
        "mark": {"type": "area"},
        "encoding": {
            "x": x,
            **heights,
            "detail": {"field": "flow"},
            "color": _colour({point["kind"] for point in points}),
            "opacity": {"value": 0.55},
            "tooltip": tooltip(**{"from": "from", "to": "to", "rows": "records|,"}),
        },
    }
    tips = tooltip(name="partition", rows="records|,")
    layers = [
        area,
        layer(
            [*sides["right"], *sides["left"]],
            "rect",
            {"color": ACCENT},
            x=x,
            x2={"field": "x2"},
            **heights,
            tooltip=tips,
        ),
    ]
    middle, name = {"field": "middle", **y}, {"field": "name"}
    for (side, nodes), end, away in zip(sides.items(), ("x", "x2"), (-5, 5), strict=True):
        style = {"align": side, "dx": away, "baseline": "middle"}
        layers.append(layer(nodes, "text", style, x={**x, "field": end}, y=middle, text=name))
    for align, edge, words in zip(("left", "right"), _EDGES, ends, strict=True):
        style = {"align": align, "baseline": "top", "dy": 6, "fontWeight": "bold"}
        head = [{"x": edge, "text": words}]
        layers.append(layer(head, "text", style, x=x, y={"value": "height"}, text={"field": "text"}))
    return chart(points, height=height, layer=layers)


def _colour(kinds: AbstractSet[str]) -> Spec:
    """The colour of flows, which say by it whether they move if some do not."""
    return by_kind("kind", [_MOVES, _STAYS], [EMPHASIS, MUTED]) if len(kinds) > 1 else {"value": EMPHASIS}


def _stack(flows: Iterable[Fields], end: str, total: int) -> dict[int, tuple[float, float]]:
    """Each partition's position on its side: from, to."""
    counts: Counter[int] = Counter()
    for each in flows:
        counts[each[end]] += each["rows"]
    spans, at = {}, 0.0
    for node in sorted(counts):
        spans[node] = (at, at + counts[node] / total)
        at = spans[node][1] + _GAP
    # Both sides have the same height, however many gaps they have.
    shift = (1 + _GAP * _BANDS - (at - _GAP)) / 2
    return {node: (low + shift, high + shift) for node, (low, high) in spans.items()}


def _nodes(
    stack: Mapping[int, tuple[float, float]], x: float, flows: Sequence[Fields], end: str, apart: float
) -> list[Json]:
    middles = _middles(list(stack.values()), apart)
    return [
        {
            "name": str(node),
            "x": x,
            "x2": x + _NODE,
            "low": low,
            "high": high,
            "middle": middle,
            "rows": sum(each["rows"] for each in flows if each[end] == node),
        }
        for (node, (low, high)), middle in zip(stack.items(), middles, strict=True)
    ]


def _middles(spans: Sequence[tuple[float, float]], apart: float) -> list[float]:
    """The positions of partitions' names: in their middles, but moved apart if these are too close."""
    middles = [(low + high) / 2 for low, high in spans]
    for _ in range(_ROUNDS):
        for at, (low, high) in enumerate(spans[1:], 1):
            near = apart - (middles[at] - middles[at - 1])
            if near > 0:
                # The larger of the two moves less.
                above, below = spans[at - 1][1] - spans[at - 1][0], high - low
                share = (above + 1e-9) / (above + below + 2e-9)
                middles[at] += near * share
                middles[at - 1] -= near * (1 - share)
    return middles


def _map(flows: Sequence[Fields], ends: tuple[str, str], sizes: tuple[int, int]) -> tuple[Spec, str]:
    """A map whose cells hold the flows between ranges of partitions; and what a cell holds."""
    (high, _), (wide, _) = (binned(size) for size in sizes)
    held: dict[tuple[int, int], list[int]] = {}
    for each in flows:
        moved_stays = held.setdefault((each["from"] // high, each["to"] // wide), [0, 0])
        moved_stays[each["from"] == each["to"]] += each["rows"]
    rows = []
    for (y, x), (moved, stays) in sorted(held.items()):
        top, bottom = y * high, min((y + 1) * high, sizes[0])
        left, right = x * wide, min((x + 1) * wide, sizes[1])
        row: Json = {
            "left": left,
            "right": right,
            "top": top,
            "bottom": bottom,
            "moved": moved,
            "stays": stays,
        }
        row |= {"count": max(1, moved or stays), "kind": _MOVES if moved else _STAYS}
        rows.append({**row, "from": span(top, bottom - 1), "to": span(left, right - 1)})
    tips = tooltip(**{"from": "from partitions", "to": "to", "moved": "records that move|,"})
    kinds = {row["kind"] for row in rows}
    if len(kinds) > 1:
        tips += tooltip(stays="that stay|,")
    spec = cells(rows, (ends[1], sizes[1]), (ends[0], sizes[0]), tips, _colour(kinds), 460)
    words = f"{all_of(len(flows), 'flow is', 'flows are')} drawn, in {counted(len(rows), 'cell')}"
    if (high, wide) != (1, 1):
        words += f"; a cell holds the flows from {high:,} to {counted(wide, 'partition')}"
    return spec, words
