"""Vega-Lite specifications that several figures share: bars of partitions, bars of names, maps of two names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Fields

__all__ = [
    "CONFIG",
    "Spec",
    "by_kind",
    "by_partition",
    "chart",
    "column_tooltip",
    "level",
    "powers",
    "quantity",
    "squares",
    "tooltip",
]

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

_HEIGHT = 300
_ROW = 22


def chart(data: Sequence[Fields], height: int = _HEIGHT, **rest: Spec | Sequence[Spec] | str) -> Spec:
    """A specification of a whole plot."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": [dict(each) for each in data]},
        "config": CONFIG,
        **rest,
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
    found = []
    for field, title in titles.items():
        name, _, form = title.partition("|")
        kind = {"field": field, "title": name}
        # A whole number as it is, any other as `number` shows it.
        form = ",.3~f" if form == "," else form
        found.append(
            {**kind, "type": "quantitative", "format": form} if form else {**kind, "type": "nominal"}
        )
    return found


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


def level(height: float, colour: str = _INK) -> Spec:
    """A layer: a dashed line across the plot at a height."""
    return {
        "data": {"values": [{"level": height}]},
        "mark": {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 1.5, "color": colour},
        "encoding": {"y": {"field": "level", "type": "quantitative"}},
    }


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
    n: int | None,
    beside: bool = False,
    even: float | None = None,
    unit: str = "records",
) -> Spec:
    """Bars over partitions, stacked by kind or side by side.

    Args:
        rows: Each with `partition` (a number; text where n is None), `kind`, `start` and `end`.
        kinds: Their colours.
        title: The meaning of the bars' height.
        n: How many partitions there are; None if they are the largest of many, in the order of the rows.
        beside: Whether the kinds are side by side.
        even: The height of an even partition; None draws no line.
        unit: What is counted.
    """
    if even is not None:
        title += f" (dashed: the fair share, {even:,.0f})" if even >= 1 else " (dashed: the fair share)"
    bar: Spec = {
        "y": quantity("start", title, "whole"),
        "y2": {"field": "end"},
        "color": by_kind("kind", list(kinds), list(kinds.values())),
        "tooltip": tooltip(partition="partition", kind="of", size=f"{unit}|,~r"),
    }
    if len(kinds) == 1:
        bar["color"] = {"value": next(iter(kinds.values()))}
        bar["tooltip"] = tooltip(partition="partition", size=f"{unit}|,~r")
    if n is None:
        names = list(dict.fromkeys(row["partition"] for row in rows))
        bar["x"] = {
            "field": "partition",
            "type": "ordinal",
            "sort": names,
            "title": "partition, the largest first",
            "axis": {"labelAngle": 0},
        }
        if beside:
            bar["xOffset"] = {"field": "kind", "sort": list(kinds)}
        data: list[Fields] = list(rows)
    else:
        axis: Spec = {"format": "d", "tickMinStep": 1, "grid": False}
        if n <= _GAPS:
            # Only whole numbers, however few.
            axis["values"] = list(range(n))
        bar["x"] = {
            "field": "left",
            "type": "quantitative",
            "title": "partition",
            "scale": {"domain": [-0.5, n - 0.5], "nice": False, "zero": False},
            "axis": axis,
        }
        bar["x2"] = {"field": "right"}
        gap = 0.42 if n <= _GAPS else 0.5
        wide = 2 * gap / (len(kinds) if beside else 1)
        place = {kind: at if beside else 0 for at, kind in enumerate(kinds)}
        left = [row["partition"] - gap + wide * place[row["kind"]] for row in rows]
        data = [{**row, "left": at, "right": at + wide} for row, at in zip(rows, left, strict=True)]
    main = {"name": "main", "mark": {"type": "bar", "clip": True}, "encoding": bar}
    return chart(data, layer=[main] if even is None else [main, level(even)])


# With more partitions than this, bars have no gaps.
_GAPS = 150


def squares(
    rows: Sequence[Fields],
    x: tuple[str, str],
    y: tuple[str, str | None],
    said: list[Spec],
    *,
    colour: Spec,
    opacity: Spec | None = None,
    height: int | None = None,
) -> Spec:
    """A map: a square for each pair of a name in one dimension and a name in the other.

    Args:
        rows: The squares.
        x: The field to the right, and its title.
        y: The field downwards, and its title; None for names that need none.
        said: The tooltip.
        colour: The squares' colour channel.
        opacity: Their opacity channel.
        height: How high the plot is; by default, as many rows as there are.
    """
    downwards = list(dict.fromkeys(row[y[0]] for row in rows))
    encoding: Spec = {
        "x": {
            "field": x[0],
            "type": "ordinal",
            "sort": None,
            "title": x[1],
            "axis": {"labelAngle": 0, "ticks": False},
        },
        "y": {
            "field": y[0],
            "type": "ordinal",
            "sort": None,
            "title": y[1],
            "axis": {"labelLimit": 150, "ticks": False},
        },
        "color": colour,
        "tooltip": said,
    }
    if opacity is not None:
        encoding["opacity"] = opacity
    return chart(
        rows,
        height=height or max(60, min(_TALL, _ROW * len(downwards))),
        mark={"type": "rect", "cornerRadius": 1},
        encoding=encoding,
        name="main",
    )


_TALL = 900
