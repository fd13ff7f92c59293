"""A consumer group's life as figures: who reads what when, when nobody does, and lives side by side."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, cast

from partwright.group import costs
from partwright.group.readers import extremes
from partwright.report.colours import ACCENT, EMPHASIS, MUTED, PALETTE, PROTOCOLS, in_order, members
from partwright.report.figure import Column, Document, Figure, Verdict, bounded
from partwright.report.plots import Spec, by_kind, by_name, chart, quantity, tooltip
from partwright.report.sentences import of_timeline, seconds
from partwright.report.text import after, counted, label, number, plain, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Fields, Json
    from partwright.group import Timeline
    from partwright.group.readers import Readers

__all__ = ["document"]

# Partitions have colours of their own up to so many of them and of members, and are counted beyond.
_LANES = 8
_FEW_MEMBERS = 12
_MEMBERS = 40
# Where they are counted, time is cut into so many spans.
_CELLS = 160
_RULES = 200
# Of more rebalances than this, their lines are faint.
_CLEAR = 30
_UNREAD = "nobody"


def document(found: Timeline | Mapping[tuple[str, bool], Timeline], source: str | None = None) -> Document:
    """The page of a timeline, or of several lives side by side.

    Args:
        found: It, or what `partwright.group.compare` gives.
        source: What was read.
    """
    if isinstance(found, dict):
        return _compared(costs(found), source)
    return _played(cast("Timeline", found), source)


def _played(found: Timeline, source: str | None) -> Document:
    answer = found.to_dict()
    readers = found.readers()
    unread, longest = readers.unread()
    figures = (
        _timeline(found, readers, answer["generations"], longest),
        _unread(found, unread, readers.end_ms),
        _partitions(found),
    )
    return Document(f"A group's life{after(source)}", of_timeline(found), figures, answer)


def _timeline(
    found: Timeline, readers: Readers, generations: Sequence[Fields], longest: tuple[str, int, int] | None
) -> Figure:
    end = readers.end_ms
    names, partitions = members(readers.names), readers.partitions
    table = [
        {
            "generation": each["generation"],
            "at": each["at_ms"] / 1000,
            "why": shown(each["why"]),
            "leader": shown(each["leader"] or "-"),
            "partitions": sum(map(len, each["assignment"].values())),
            "members": len(each["assignment"]),
        }
        for each in generations
    ]
    is_few = len(partitions) <= _LANES and len(names) <= _FEW_MEMBERS
    drawn = names if is_few else names[:_MEMBERS]
    if is_few:
        bars, main = _lanes(found.ownership().to_pylist(), readers.gaps(), partitions, end)
    else:
        bars, main = _counts(readers, drawn)
    order = [label(name) for name in drawn] + ([_UNREAD] if longest else [])
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
            "opacity": 0.7 if len(table) <= _CLEAR else 0.25,
        },
        "encoding": {
            "x": {"field": "at", "type": "quantitative"},
            "tooltip": tooltip(generation="generation", why="why", leader="leader", at="at, s|,.1f"),
        },
    }
    room = (7 * len(partitions) + 8) if is_few else 22
    spec = chart(bars, height=max(60, min(1000, room * len(order))), layer=[main, rules])
    count = counted(len(generations), "generation")
    sentence = f"{count} in {seconds(found.ended_ms)} (dotted lines)"
    if generations:
        busiest = max(generations, key=lambda each: len(each["assignment"]))
        sentence += f", with {counted(len(busiest['assignment']), 'member')} at the most"
    if longest is not None:
        sentence += (
            f"; the longest time that a partition had no reader is {seconds(longest[2] - longest[1])}, of "
            f"{label(longest[0])} from {seconds(longest[1])} on"
        )
    if len(drawn) < len(names):
        sentence += f"; {len(drawn)} of {len(names):,} members are drawn"
    return Figure(
        id="timeline",
        title="Who reads what, and when",
        sentence=f"{sentence}.",
        spec=spec if bars else None,
        columns=(
            Column("generation", "generation", "number"),
            Column("at", "at, s"),
            Column("why", "why", "text"),
            Column("leader", "leader", "text"),
            Column("members", "members"),
            Column("partitions", "partitions"),
        ),
        **bounded(table),
        marks=len(bars),
    )


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


def _counts(readers: Readers, names: Sequence[str]) -> tuple[list[Json], Spec]:
    """A bar for each span in which a member read as many partitions; the fewest, where they changed in it."""
    edges = [readers.end_ms * cell // _CELLS for cell in range(_CELLS + 1)]
    changes = readers.changes(names)
    found = [(label(name), extremes(changes[name], edges)[0], _READ) for name in names]
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
    # Of all partitions that nobody reads, a member would read few: each kind has its own most.
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


def _unread(found: Timeline, unread: Sequence[tuple[int, int]], end: int) -> Figure:
    changes = dict(unread)
    rows: list[Json] = []
    count = 0
    for at, until in pairwise(sorted({*changes, end})):
        count += changes.get(at, 0)
        if count:
            rows.append({"from": at / 1000, "to": until / 1000, "partitions": count})
    most = max((row["partitions"] for row in rows), default=0)
    sentence = "Each partition had a reader all the time."
    if rows:
        sentence = (
            f"At the most {counted(most, 'partition')} had no reader; all such times together are "
            f"{found.cost.unowned_s:,.1f} s of partitions."
        )
    axis = {**quantity("from", "seconds"), "scale": {"domain": [0, end / 1000], "nice": False}}
    return Figure(
        id="unread",
        title="Partitions without a reader",
        sentence=sentence,
        spec=chart(
            rows,
            height=160,
            name="main",
            mark={"type": "bar", "color": EMPHASIS, "stroke": EMPHASIS, "strokeWidth": 1},
            encoding={
                "x": axis,
                "x2": {"field": "to"},
                "y": quantity("partitions", "partitions", "whole"),
                "y2": {"datum": 0},
                "tooltip": tooltip(
                    **{"partitions": "partitions|,", "from": "from, s|,.1f", "to": "to, s|,.1f"}
                ),
            },
        )
        if rows
        else None,
        columns=(
            Column("from", "from, s"),
            Column("to", "to, s"),
            Column("partitions", "partitions without a reader"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


def _partitions(found: Timeline) -> Figure:
    rows = [
        {
            "partition": shown(f"{row['topic']}-{row['partition']}"),
            "label": label(f"{row['topic']}-{row['partition']}"),
            "unowned": row["unowned_ms"] / 1000,
            "longest": row["longest_ms"] / 1000,
            "moves": row["moves"],
            "text": f"{row['unowned_ms'] / 1000:,.1f} s",
        }
        for row in found.partitions().to_pylist()
    ]
    largest = sorted(rows, key=lambda row: -row["unowned"])
    drawn = rows if len(rows) <= _MEMBERS else largest[:_MEMBERS]
    sentence = "There is no partition."
    if rows:
        sentence = (
            f"{largest[0]['label']} was longest without a reader, {largest[0]['unowned']:,.1f} s, and "
            f"{counted(sum(row['moves'] for row in rows), 'partition')} moved"
        )
        sentence += f"; the {_MEMBERS} longest without a reader are drawn." if len(drawn) < len(rows) else "."
    return Figure(
        id="partitions",
        title="How long each partition had no reader",
        sentence=sentence,
        spec=by_name(
            drawn,
            quantity("unowned", "seconds without a reader"),
            None,
            tooltip(partition="partition", unowned="without a reader, s|,.1f", moves="moved|,"),
        )
        if rows
        else None,
        columns=(
            Column("partition", "partition", "text"),
            Column("unowned", "without a reader, s"),
            Column("longest", "longest, s"),
            Column("moves", "moved"),
        ),
        **bounded(rows),
        marks=len(drawn),
    )


def _compared(answer: Sequence[Fields], source: str | None) -> Document:
    order = in_order((each["protocol"] for each in answer), PROTOCOLS)
    rows = [
        {
            **each,
            "members": "static" if each["static"] else "dynamic",
            "label": f"{each['protocol']}, {'static' if each['static'] else 'dynamic'}",
        }
        for each in sorted(answer, key=lambda each: (order.index(each["protocol"]), each["static"]))
    ]
    said = tuple(
        Verdict(
            "fails",
            f"{row['label']}: {each['member']} ended at {seconds(each['at_ms'])} with {each['error']}",
        )
        for row in rows
        for each in row["failures"]
    )
    best = min(rows, key=lambda row: (row["unowned_s"], row["moved"]))
    first = Verdict(
        "said",
        f"{best['label']} members were least without a reader: {best['unowned_s']:,.1f} s of partitions",
    )
    figures = (
        _cost(rows, "unowned_s", "Without a reader", "seconds of partitions without a reader"),
        _cost(rows, "moved", "Partitions moved", "partitions"),
    )
    return Document(f"One life under each protocol{after(source)}", (first, *said), figures, list(answer))


def _cost(rows: Sequence[Fields], field: str, title: str, axis: str) -> Figure:
    bars = [{**row, "text": number(row[field]), "failures": len(row["failures"])} for row in rows]
    least, most = (which(rows, key=lambda row: row[field]) for which in (min, max))
    return Figure(
        id=field.removesuffix("_s"),
        title=title,
        sentence=(
            f"{axis[0].upper()}{axis[1:]}: {number(least[field])} with {least['label']} members, the fewest, and "
            f"{number(most[field])} with {most['label']} ones, the most."
        ),
        spec=by_name(
            bars,
            quantity(field, axis),
            None,
            tooltip(protocol="protocol", members="members", **{field: f"{axis}|,"}),
            by_kind("members", ["dynamic", "static"], [MUTED, ACCENT]),
        ),
        columns=(
            Column("protocol", "protocol", "text"),
            Column("members", "members", "text"),
            Column("generations", "generations"),
            Column("moved", "moved"),
            Column("unowned_s", "unread, s"),
            Column("longest_s", "longest, s"),
            Column("not_read", "not read"),
            Column("read_twice", "read twice"),
        ),
        **bounded(bars),
        marks=len(bars),
    )
