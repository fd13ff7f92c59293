"""Members over time, with the partitions that each one reads."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from partwright._check import all_of, counted, span
from partwright._text import plain
from partwright.group.readers import extremes
from partwright.rendering.binned import binned
from partwright.rendering.colours import ACCENT, EMPHASIS, PALETTE, members
from partwright.rendering.document import KEPT, Column, Section
from partwright.rendering.plots import Spec, by_kind, chart, quantity, tooltip
from partwright.rendering.text import label, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Fields, Json
    from partwright.group import Timeline
    from partwright.group.readers import Readers

__all__ = ["timeline_section"]

# Up to this many partitions and members, partitions have colours of their own; beyond, they are counted.
_LANES = 8
_FEW_MEMBERS = 12
_ROWS = 40
# The number of spans of time in which they are counted.
_CELLS = 160
_RULES = 200
# With more rebalances than this, their lines are faint.
_CLEAR = 30
_UNREAD = "nobody"
# Of more members, only the fewest and the most partitions are told.
_NAMED = 8


def timeline_section(found: Timeline, generations: Sequence[Json]) -> Section:
    """Members by time, with the partitions that each reads, and the ones that nobody reads.

    Args:
        found: A timeline that kept who read what.
        generations: Its generations.
    """
    readers = found.readers()
    _, longest = readers.unread()
    end = readers.end_ms
    names, partitions = members(readers.names), readers.partitions
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
    is_few = len(partitions) <= _LANES and len(names) <= _FEW_MEMBERS
    high, _ = binned(len(names), _ROWS)
    drawn = {_together(names[at : at + high]): names[at : at + high] for at in range(0, len(names), high)}
    if is_few:
        bars, main = _lanes(found.ownership().to_pylist(), readers.gaps(), partitions, end)
        order = [label(name) for name in names]
    else:
        bars, main = _counts(readers, drawn)
        order = list(drawn)
    order += [_UNREAD] if longest else []
    main["encoding"]["y"] = {
        "field": "member",
        "type": "nominal",
        "title": None,
        "scale": {"domain": order, "paddingInner": 0.25, "paddingOuter": 0.1},
        "axis": {"labelLimit": 150, "ticks": False, "grid": False},
    }
    axis = {**quantity("from", "seconds"), "scale": {"domain": [0, end / 1000], "nice": False}}
    main["encoding"] |= {"x": axis, "x2": {"field": "to"}}
    rules = {
        "data": {"values": table[:_RULES]},
        "mark": {
            "type": "rule",
            "strokeDash": [2, 3],
            "strokeWidth": 1,
            "opacity": 0.7 if len(generations) <= _CLEAR else 0.25,
        },
        "encoding": {
            "x": {"field": "at", "type": "quantitative"},
            "tooltip": tooltip(generation="generation", why="why", leader="leader", at="at, s|,.1f"),
        },
    }
    room = (7 * len(partitions) + 8) if is_few else 22
    spec = chart(bars, height=max(60, min(1000, room * len(order))), layer=[main, rules])
    return Section(
        id="timeline",
        title="Who reads what, and when",
        sentence=f"{all_of(len(names), 'member is', 'members are')} drawn, {high} in a row."
        if high > 1
        else "",
        spec=spec if bars else None,
        columns=(
            Column("generation", "generation"),
            Column("at", "at, s", "seconds"),
            Column("why", "why", "prose"),
            Column("leader", "leader", "text"),
            Column("partitions", "partitions", "prose"),
        ),
        rows=tuple(table),
        left=len(generations) - len(table),
        marks=len(bars),
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


def _lanes(
    rows: Sequence[Fields],
    gaps: Sequence[tuple[str, int, int]],
    partitions: Sequence[str],
    end: int,
) -> tuple[list[Json], Spec]:
    """A bar for each time that a member read a partition, in the partition's colour and lane."""
    bars = [
        {
            "member": label(row["member"]),
            "partition": plain(f"{row['topic']}-{row['partition']}"),
            "from": row["from_ms"] / 1000,
            "to": (end if row["to_ms"] is None else row["to_ms"]) / 1000,
        }
        for row in rows
    ]
    bars += [
        {"member": _UNREAD, "partition": plain(name), "from": from_ms / 1000, "to": to_ms / 1000}
        for name, from_ms, to_ms in gaps
    ]
    names = [plain(name) for name in partitions]
    main = {
        "name": "main",
        "mark": {"type": "bar", "minBandSize": 2},
        "encoding": {
            "yOffset": {"field": "partition", "type": "nominal", "sort": names},
            "color": by_kind("partition", names, PALETTE[: len(names)]),
            "tooltip": tooltip(
                **{"member": "member", "partition": "partition", "from": "from, s|,.1f", "to": "to, s|,.1f"}
            ),
        },
    }
    return bars, main


def _together(names: Sequence[str]) -> str:
    """The label of a row of several members."""
    return label(names[0]) if len(names) == 1 else f"{label(names[0])} … {label(names[-1])}"


def _counts(readers: Readers, rows: Mapping[str, Sequence[str]]) -> tuple[list[Json], Spec]:
    """A bar for each span, with how many partitions a row's members read; if that changed within it, the fewest."""
    edges = [readers.end_ms * cell // _CELLS for cell in range(_CELLS + 1)]
    changes = readers.changes([name for names in rows.values() for name in names])
    found = [
        (row, extremes([change for name in names for change in changes[name]], edges)[0], _READ)
        for row, names in rows.items()
    ]
    lost, longest = readers.unread()
    if longest is not None:
        found.append((_UNREAD, extremes(lost, edges)[1], _LOST))
    bars: list[Json] = []
    for name, counts, kind in found:
        at = 0
        for count, cells in groupby(counts):
            wide = len(list(cells))
            if count:
                bars.append(
                    {
                        "member": name,
                        "kind": kind,
                        "partitions": count,
                        "from": edges[at] / 1000,
                        "to": edges[at + wide] / 1000,
                    }
                )
            at += wide
    # A member reads few partitions compared with all unread ones, so each kind has its own maximum.
    most = {
        kind: max((bar["partitions"] for bar in bars if bar["kind"] == kind), default=1)
        for kind in (_READ, _LOST)
    }
    for bar in bars:
        bar["strength"] = bar["partitions"] / most[bar["kind"]]
    main = {
        "name": "main",
        "mark": {"type": "bar"},
        "encoding": {
            "color": by_kind("kind", [_READ, _LOST], [ACCENT, EMPHASIS]),
            "opacity": {
                "field": "strength",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [0.15, 1]},
                "legend": None,
            },
            "tooltip": tooltip(
                **{
                    "member": "member",
                    "partitions": "partitions|,",
                    "from": "from, s|,.1f",
                    "to": "to, s|,.1f",
                }
            ),
        },
    }
    return bars, main


_READ, _LOST = "partitions read, the stronger the more", "partitions that nobody reads"
