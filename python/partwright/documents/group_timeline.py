"""Members over time, with the partitions that each one reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from partwright._check import Json, all_of, counted, span
from partwright._text import plain
from partwright.documents.sentences import ends
from partwright.group.readers import extremes
from partwright.rendering.colours import ACCENT, EMPHASIS, PALETTE, members
from partwright.rendering.document import KEPT, Section, columns
from partwright.rendering.plots import Spec, binned, by_kind, chart, layer, quantity, tooltip
from partwright.rendering.text import label, shown

if TYPE_CHECKING:
    from partwright.group import Timeline
    from partwright.group.readers import Readers

# Up to this many partitions and members, partitions have colours of their own; beyond, they are counted.
_LANES, _FEW_MEMBERS = 8, 12
# In how many rows of members, and spans of time, they are counted.
_ROWS, _CELLS = 40, 160
# How many rebalances are drawn; with more than the second, their lines are faint.
_RULES, _CLEAR = 200, 30
_UNREAD = "nobody"
_READ, _LOST = "read by members", "read by nobody"
# Of more members, only the fewest and the most partitions are told.
_NAMED = 8
SPAN = {"from": "from, s|,.1f", "to": "to, s|,.1f"}
"""The lines of a tooltip that say when."""


def timeline_section(timeline: Timeline, generations: Sequence[Json]) -> Section:
    """Partitions that nobody reads, then members with the ones that each reads, over time.

    Args:
        timeline: A timeline that kept who read what.
        generations: Its generations.
    """
    readers = timeline.readers()
    end, (_, longest) = readers.end_ms, readers.unread()
    names = members(readers.names)
    table = [
        {
            "generation": each["generation"],
            "at": each["at_ms"] / 1000,
            "why": shown(each["why"]),
            "leader": shown(", ".join(filter(None, (each["leader"], each.get("assignor")))) or "-"),
            "partitions": _counted(each),
        }
        for each in generations[:KEPT]
    ]
    is_few = len(readers.partitions) <= _LANES and len(names) <= _FEW_MEMBERS
    high = 1 if is_few else binned(len(names), _ROWS)[0]
    rows = {ends(names[at : at + high]): names[at : at + high] for at in range(0, len(names), high)}
    bars, encoding = _lanes(timeline, readers) if is_few else _counts(readers, rows)
    order = [*([_UNREAD] if longest else []), *rows]
    title = "seconds" if is_few else "seconds; the stronger a bar, the more partitions"
    encoding |= {
        "x": {**quantity("from", title), "scale": {"domain": [0, end / 1000], "nice": False}},
        "x2": {"field": "to"},
        "y": {
            "field": "member",
            "type": "nominal",
            "title": None,
            "scale": {"domain": order, "paddingInner": 0.25, "paddingOuter": 0.1},
            "axis": {"labelLimit": 150, "ticks": False, "grid": False},
        },
    }
    opacity = 0.7 if len(generations) <= _CLEAR else 0.25
    tips = tooltip(generation="generation", why="why", leader="leader", at="at, s|,.1f")
    style = {"strokeDash": [2, 3], "strokeWidth": 1, "opacity": opacity}
    rules = layer(table[:_RULES], "rule", style, x={"field": "at", "type": "quantitative"}, tooltip=tips)
    main = {"name": "main", "mark": {"type": "bar", "minBandSize": 2}, "encoding": encoding}
    room = 7 * len(readers.partitions) + 8 if is_few else 22
    height = max(60, min(1000, room * len(order)))
    drawn = all_of(len(names), "member is", "members are")
    return Section(
        id="timeline",
        title="Who reads what, and when",
        sentence=f"{drawn.capitalize()} drawn, {high} in a row." if high > 1 else "",
        spec=chart(bars, height=height, layer=[main, rules]) if bars else None,
        columns=columns(
            generation="generation",
            at="at, s|seconds",
            why="why|prose",
            leader="leader|text",
            partitions="partitions|prose",
        ),
        rows=tuple(table),
        left=len(generations) - len(table),
    )


def _counted(generation: Json) -> str:
    """How many partitions each member has."""
    counts = {member: len(pairs) for member, pairs in generation["assignment"].items()}
    if not counts:
        return "nobody is left" if generation["leader"] is None else "nothing is assigned"
    if len(counts) <= _NAMED:
        return ", ".join(f"{shown(member)} {count}" for member, count in counts.items())
    few, most = min(counts.values()), max(counts.values())
    return f"{span(few, most)} for each of {counted(len(counts), 'member')}"


def _lanes(timeline: Timeline, readers: Readers) -> tuple[list[Json], Spec]:
    """A bar for each time that a member read a partition, in the partition's colour and lane."""
    spans = [
        (label(row["member"]), f"{row['topic']}-{row['partition']}", row["from_ms"], row["to_ms"])
        for row in timeline.ownership().to_pylist()
    ]
    bars: list[Json] = [
        {
            "member": member,
            "partition": plain(name),
            "from": at / 1000,
            "to": (readers.end_ms if until is None else until) / 1000,
        }
        for member, name, at, until in [*spans, *((_UNREAD, *gap) for gap in readers.gaps())]
    ]
    names = [plain(name) for name in readers.partitions]
    return bars, {
        "yOffset": {"field": "partition", "type": "nominal", "sort": names},
        "color": by_kind("partition", names, PALETTE[: len(names)]),
        "tooltip": tooltip(member="member", partition="partition", **SPAN),
    }


def _counts(readers: Readers, rows: Mapping[str, Sequence[str]]) -> tuple[list[Json], Spec]:
    """A bar for each span, with how many partitions a row's members read; if that changed within it, the fewest."""
    edges = [readers.end_ms * cell // _CELLS for cell in range(_CELLS + 1)]
    changes = readers.changes([name for names in rows.values() for name in names])
    counted_rows = [
        (row, _READ, extremes([change for name in names for change in changes[name]], edges)[0])
        for row, names in rows.items()
    ]
    lost, longest = readers.unread()
    if longest is not None:
        counted_rows.append((_UNREAD, _LOST, extremes(lost, edges)[1]))
    # A member reads few partitions compared with all unread ones, so each kind has its own maximum.
    most: Counter[str] = Counter()
    for _, kind, counts in counted_rows:
        most[kind] = max(most[kind], *counts)
    bars: list[Json] = []
    for name, kind, counts in counted_rows:
        at = 0
        for count, cells in groupby(counts):
            start, at = at, at + len(list(cells))
            if count:
                times = {"from": edges[start] / 1000, "to": edges[at] / 1000}
                strength = count / most[kind]
                bars.append(
                    {"member": name, "kind": kind, "partitions": count, "strength": strength, **times}
                )
    scale = {"domain": [0, 1], "range": [0.15, 1]}
    return bars, {
        "color": by_kind("kind", [_READ, _LOST], [ACCENT, EMPHASIS]),
        "opacity": {"field": "strength", "type": "quantitative", "scale": scale, "legend": None},
        "tooltip": tooltip(member="member", partitions="partitions|,", **SPAN),
    }
