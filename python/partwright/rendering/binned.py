"""Plots of more things than can be drawn one by one: maps whose cells hold many, and sizes by rank."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from partwright.rendering.colours import ACCENT
from partwright.rendering.plots import Spec, by_kind, chart, level, powers, tooltip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Fields, Json

__all__ = ["COLOUR", "binned", "by_rank", "cells"]

# The most cells of a map from side to side, and from top to bottom.
_CELLS = 60
# How many marks of sizes by rank are drawn for each power of ten.
_MARKS = 24


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
    said: list[Spec],
    colour: Spec,
    height: int = 420,
) -> Spec:
    """A map whose cells hold ranges of two numbers, the stronger the more.

    Args:
        rows: Each with `left`, `right`, `top` and `bottom`, where its cell is, and `count`, 1 or more.
        x: The horizontal axis's title, and its end.
        y: The vertical axis's title, and its end.
        said: The tooltip.
        colour: The cells' colour channel.
        height: How high the plot is, in pixels.
    """
    most = max((row["count"] for row in rows), default=1)
    axis: Spec = {"format": ",d", "grid": False, "tickMinStep": 1, "tickCount": 6}
    return chart(
        rows,
        height=height,
        name="main",
        mark={"type": "rect", "clip": True},
        encoding={
            "x": {
                "field": "left",
                "type": "quantitative",
                "title": x[0],
                "scale": {"domain": [0, x[1]], "nice": False, "zero": False},
                "axis": axis,
            },
            "x2": {"field": "right"},
            "y": {
                "field": "top",
                "type": "quantitative",
                "title": y[0],
                "scale": {"domain": [0, y[1]], "nice": False, "zero": False, "reverse": True},
                "axis": axis,
            },
            "y2": {"field": "bottom"},
            "color": colour,
            # Only a scale of powers shows few next to many.
            "opacity": {
                "field": "count",
                "type": "quantitative",
                "scale": {"type": "log", "domain": [1, max(most, 2)], "range": [0.3, 1]},
                "legend": None,
            },
            "tooltip": said,
        },
    )


def by_rank(
    series: Mapping[str, Sequence[int]], colours: Sequence[str], what: str, even: float | None = None
) -> tuple[Spec, int]:
    """Sizes by their rank, the largest first, both on scales of powers; neighbouring ranks share a mark.

    Args:
        series: By name, the sizes; sizes of 0 are left out, because they have no logarithm.
        colours: The colour of each series.
        what: What is counted.
        even: The fair share; None draws no line.

    Returns:
        The specification, and how many marks it has.
    """
    rows = [{**row, "kind": kind} for kind, sizes in series.items() for row in _ranked(sizes)]
    low = min((row["least"] for row in rows), default=1)
    high = max(row["most"] for row in rows) if rows else 1
    floor = min(low, even or low) / 2
    ranks = max((row["to"] for row in rows), default=1)
    x = powers("left", "partitions by their size, the largest first (scale of powers)", 0.5, ranks + 0.5)
    y = powers("median", f"{what} (scale of powers)", floor, high * 1.2)
    said = tooltip(ranks="ranks", size=f"{what} of each", **({"kind": "when"} if len(series) > 1 else {}))
    encoding: Spec = {"x": x, "y": y, "tooltip": said, "color": {"value": colours[0]}}
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
    return chart(rows, layer=layers), len(rows)


def _ranked(sizes: Sequence[int]) -> list[Json]:
    """Growing ranges of ranks, each with the sizes in it."""
    ordered = sorted((size for size in sizes if size > 0), reverse=True)
    found: list[Json] = []
    at = 0
    while at < len(ordered):
        end = max(at + 1, min(len(ordered), math.ceil((at + 1) * 10 ** (1 / _MARKS)) - 1))
        part = ordered[at:end]
        found.append(
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
    return found


COLOUR = {"value": ACCENT}
"""The colour of a map of one kind."""
