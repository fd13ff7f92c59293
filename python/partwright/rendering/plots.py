"""Vega-Lite specifications that several figures share: bars, maps of two names or numbers, and sizes by rank.

Of more things than can be drawn one by one, a map's cell and a rank's mark hold many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, TypeAlias

from partwright._check import Fields, Json
from partwright.rendering.colours import ACCENT

Spec: TypeAlias = dict[str, Any]
"""A Vega-Lite specification, or a part of one: a layer, a channel, a parameter."""

_FONT = "Liberation Sans, Helvetica, Arial, sans-serif"
# Plots take the colour of the text around them, so the same picture works on light, dark and paper.
_INK = "currentColor"
CONFIG: Spec = {
    "background": None,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "domainColor": _INK,
        "domainOpacity": 0.4,
        "gridColor": _INK,
        "gridOpacity": 0.12,
        "labelColor": _INK,
        "labelFontSize": 12,
        "labelOverlap": True,
        "labelSeparation": 4,
        "titlePadding": 8,
        "tickColor": _INK,
        "tickOpacity": 0.4,
        "titleColor": _INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {
        "aria": False,
        "columnPadding": 24,
        "labelColor": _INK,
        "labelFontSize": 12,
        "labelLimit": 260,
        "orient": "top",
        "titleColor": _INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "symbolStrokeWidth": 0,
    },
    "text": {"color": _INK, "fontSize": 12},
    "rule": {"color": _INK},
}
"""The style of every plot."""

COLOUR = {"value": ACCENT}
"""The colour of a map of one kind."""

_HEIGHT = 300
# With more partitions than this, bars have no gaps.
_GAPS = 150
# The most cells of a map from side to side, and from top to bottom.
_CELLS = 60
# How many marks of sizes by rank are drawn for each power of ten.
_MARKS = 24


def chart(data: Sequence[Fields], height: int = _HEIGHT, **properties: Spec | Sequence[Spec] | str) -> Spec:
    """A specification of a whole plot."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": [dict(each) for each in data]},
        "config": CONFIG,
        **properties,
    }


def quantity(field: str, title: str, kind: str = "number", **more: object) -> Spec:
    """A channel of numbers; an axis from 0 on."""
    formats: dict[str, Spec] = {
        # d3 writes no more digits than a tick needs.
        "number": {},
        "share": {"format": ".0%"},
        # With few values, there are ticks between whole numbers, too.
        "whole": {"format": ",d", "labelExpr": "datum.value % 1 ? '' : datum.label"},
        "bytes": {"format": "~s"},
    }
    axis: Spec = {"tickCount": 5, **formats[kind]}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, **more}


def tooltip(**titles: str) -> list[Spec]:
    """The tooltip of a mark: fields by their titles; a number's title may end in its format."""
    channels = []
    for field, title in titles.items():
        name, _, form = title.partition("|")
        # A whole number as it is, any other as `number` shows it.
        form = ",.3~f" if form == "," else form
        kind = {"type": "quantitative", "format": form} if form else {"type": "nominal"}
        channels.append({"field": field, "title": name, **kind})
    return channels


def column_tooltip(columns: Sequence[tuple[str, str, str]]) -> list[Spec]:
    """The tooltip of a mark that is a row of a table: what the row has in its columns, each a `document.Column`."""
    forms = {"number": "|,", "seconds": "|,.1f", "share": "|.1%", "bytes": "|,"}
    return tooltip(**{field: title + forms.get(kind, "") for field, title, kind in columns})


def powers(field: str, title: str, low: float, high: float) -> Spec:
    """A channel of numbers on a scale of powers, from above 0, with ticks at 1, 2 and 5 of each power of ten."""
    ticks = [step * 10**power for power in range(19) for step in (1, 2, 5)]
    values = [tick for tick in ticks if low <= tick <= high]
    # If there are many powers, label only these.
    if len(values) > 9:  # noqa: PLR2004 - more would stand in each other's way
        values = [tick for tick in values if str(tick)[0] == "1"]
    scale = {"type": "log", "domain": [low, high], "nice": False}
    return quantity(field, title, scale=scale) | {"axis": {"format": ",d", "values": values}}


def layer(rows: Sequence[Fields], mark: str, style: Spec, **channels: Any) -> Spec:
    """A layer of a plot, with data of its own."""
    return {"data": {"values": list(rows)}, "mark": {"type": mark, **style}, "encoding": channels}


def level(height: float, colour: str = _INK) -> Spec:
    """A layer: a dashed line across the plot at a height."""
    style = {"strokeDash": [6, 4], "strokeWidth": 1.5, "color": colour}
    return layer([{"level": height}], "rule", style, y={"field": "level", "type": "quantitative"})


def by_kind(field: str, kinds: Sequence[str], colours: Sequence[str]) -> Spec:
    """The colour of a few kinds, with a legend."""
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "sort": list(kinds),
        "scale": {"domain": list(kinds), "range": list(colours)},
        "legend": {"symbolType": "square"},
    }


def by_partition(
    rows: Sequence[Fields],
    kinds: Mapping[str, str],
    title: str,
    *,
    n: int,
    beside: bool = False,
    even: float | None = None,
    unit: str = "records",
) -> Spec:
    """Bars over partitions, stacked by kind or side by side.

    Args:
        rows: Each with `partition`, `kind`, `start` and `end`.
        kinds: Their colours.
        title: The meaning of the bars' height.
        n: How many partitions there are.
        beside: Whether the kinds are side by side.
        even: The height of an even partition; None draws no line.
        unit: What is counted.
    """
    if even is not None:
        title += f" (dashed: the fair share, {even:,.0f})" if even >= 1 else " (dashed: the fair share)"
    is_one, has_gaps = len(kinds) == 1, n <= _GAPS
    gap = 0.42 if has_gaps else 0.5
    wide = 2 * gap / (len(kinds) if beside else 1)
    place = {kind: at if beside else 0 for at, kind in enumerate(kinds)}
    left = [row["partition"] - gap + wide * place[row["kind"]] for row in rows]
    data = [{**row, "left": at, "right": at + wide} for row, at in zip(rows, left, strict=True)]
    axis: Spec = {"format": "d", "tickMinStep": 1, "grid": False}
    encoding = {
        "x": {
            "field": "left",
            "type": "quantitative",
            "title": "partition",
            "scale": {"domain": [-0.5, n - 0.5], "nice": False, "zero": False},
            # Only whole numbers, however few.
            "axis": {**axis, "values": list(range(n))} if has_gaps else axis,
        },
        "x2": {"field": "right"},
        "y": quantity("start", title, "whole"),
        "y2": {"field": "end"},
        "color": {"value": next(iter(kinds.values()))}
        if is_one
        else by_kind("kind", list(kinds), list(kinds.values())),
        "tooltip": tooltip(partition="partition", **({} if is_one else {"kind": "of"}), size=f"{unit}|,~r"),
    }
    main = {"name": "main", "mark": {"type": "bar", "clip": True}, "encoding": encoding}
    return chart(data, layer=[main] if even is None else [main, level(even)])


def squares(
    rows: Sequence[Fields],
    x: tuple[str, str, Sequence[str]],
    y: tuple[str, str | None, Sequence[str]],
    tips: list[Spec],
    *,
    angle: int = 0,
    corner: int = 0,
    **channels: Spec,
) -> Spec:
    """A map: a square for each pair of a name in one dimension and a name in the other.

    Args:
        rows: The squares.
        x: The field to the right, its title, and all its names in their order.
        y: The same downwards; the title is None for names that need none.
        tips: The tooltip.
        angle: The angle of the names to the right.
        corner: How round the squares' corners are, in pixels.
        channels: The squares' colour, and their opacity if it says something.
    """
    (right, right_title, columns), (down, down_title, lines) = x, y
    names = {"labelAngle": angle, "labelLimit": 110, "ticks": False}
    return chart(
        rows,
        height=max(60, min(900, 22 * len(lines))),
        mark={"type": "rect", **({"cornerRadius": corner} if corner else {})},
        encoding={
            "x": {
                "field": right,
                "type": "ordinal",
                "sort": list(columns),
                "title": right_title,
                "axis": names,
            },
            "y": {
                "field": down,
                "type": "ordinal",
                "title": down_title,
                # Names without a square have a row, too.
                "scale": {"domain": list(lines)},
                "axis": {"labelLimit": 150, "ticks": False},
            },
            "tooltip": tips,
            **channels,
        },
        name="main",
    )


def binned(count: int, most: int = _CELLS) -> tuple[int, int]:
    """How many things each cell holds, given the most cells allowed, and how many cells there are.

    Examples:
        >>> binned(2000), binned(40), binned(0)
        ((34, 59), (1, 40), (1, 0))
    """
    wide = max(1, -(-count // most))
    return wide, -(-count // wide)


def cells(
    rows: Sequence[Fields],
    x: tuple[str, int],
    y: tuple[str, int],
    tips: list[Spec],
    colour: Spec,
    height: int = 420,
) -> Spec:
    """A map whose cells hold ranges of two numbers, the stronger the more.

    Args:
        rows: Each with `left`, `right`, `top` and `bottom`, where its cell is, and `count`, 1 or more.
        x: The horizontal axis's title, and its end.
        y: The vertical axis's title, and its end.
        tips: The tooltip.
        colour: The cells' colour channel.
        height: How high the plot is, in pixels.
    """
    most = max((row["count"] for row in rows), default=1)

    def range_of(field: str, title: str, end: int, **scale: bool) -> Spec:
        return {
            "field": field,
            "type": "quantitative",
            "title": title,
            "scale": {"domain": [0, end], "nice": False, "zero": False, **scale},
            "axis": {"format": ",d", "grid": False, "tickMinStep": 1, "tickCount": 6},
        }

    # Only a scale of powers shows few next to many.
    scale = {"type": "log", "domain": [1, max(most, 2)], "range": [0.3, 1]}
    return chart(
        rows,
        height=height,
        name="main",
        mark={"type": "rect", "clip": True},
        encoding={
            "x": range_of("left", *x),
            "x2": {"field": "right"},
            "y": range_of("top", *y, reverse=True),
            "y2": {"field": "bottom"},
            "color": colour,
            "opacity": {"field": "count", "type": "quantitative", "scale": scale, "legend": None},
            "tooltip": tips,
        },
    )


def by_rank(
    series: Mapping[str, Sequence[int]], colours: Sequence[str], what: str, even: float | None = None
) -> Spec:
    """Sizes by their rank, the largest first, both on scales of powers; neighbouring ranks share a mark.

    Args:
        series: By name, the sizes; sizes of 0 are left out, because they have no logarithm.
        colours: The colour of each series.
        what: What is counted.
        even: The fair share; None draws no line.
    """
    rows = [{**row, "kind": kind} for kind, sizes in series.items() for row in _ranked(sizes)]
    low = min((row["least"] for row in rows), default=1)
    high = max(row["most"] for row in rows) if rows else 1
    floor = min(low, even or low) / 2
    ranks = max((row["to"] for row in rows), default=1)
    x = powers("left", "partitions by their size, the largest first (scale of powers)", 0.5, ranks + 0.5)
    y = powers("median", f"{what} (scale of powers)", floor, high * 1.2)
    tips = tooltip(ranks="ranks", size=f"{what} of each", **({"kind": "when"} if len(series) > 1 else {}))
    encoding: Spec = {"x": x, "y": y, "tooltip": tips, "color": {"value": colours[0]}}
    if len(series) > 1:
        encoding["color"] = by_kind("kind", list(series), colours)
        mark: Spec = {"type": "point", "filled": True, "size": 60, "opacity": 0.9}
        encoding["x"] = {**x, "field": "middle"}
    else:
        mark = {"type": "bar", "clip": True}
        encoding |= {"x2": {"field": "right"}, "y2": {"datum": floor}}
    layers: list[Spec] = [{"name": "main", "mark": mark, "encoding": encoding}]
    if even is not None:
        layers.append(level(even))
    return chart(rows, layer=layers)


def _ranked(sizes: Sequence[int]) -> list[Json]:
    """Growing ranges of ranks, each with the sizes in it."""
    ordered = sorted((size for size in sizes if size > 0), reverse=True)
    marks: list[Json] = []
    at = 0
    while at < len(ordered):
        end = max(at + 1, min(len(ordered), math.ceil((at + 1) * 10 ** (1 / _MARKS)) - 1))
        part = ordered[at:end]
        marks.append(
            {
                "left": at + 0.5,
                "right": end + 0.5,
                "middle": (at + 1 + end) / 2,
                "to": end,
                "median": median(part),
                "most": part[0],
                "least": part[-1],
                "ranks": f"{at + 1:,}" if end == at + 1 else f"{at + 1:,} to {end:,}",
                "size": f"{part[0]:,}" if part[0] == part[-1] else f"{part[-1]:,} to {part[0]:,}",
            }
        )
        at = end
    return marks
