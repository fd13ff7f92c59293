"""Who of a consumer group reads what, as figures: members by partitions as a map, and assignors side by side."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from partwright.report.colours import ACCENT, EMPHASIS, MUTED, PALETTE, assignors, in_order, members
from partwright.report.figure import Column, Document, Figure, Verdict, bounded
from partwright.report.plots import Spec, by_kind, by_name, chart, quantity, squares, tooltip
from partwright.report.sentences import of_comparison
from partwright.report.text import after, counted, label, number, share, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partwright._check import Fields, Json
    from partwright.assignors.assignment import Assignment
    from partwright.assignors.compare import Compared

__all__ = ["document"]

# A map has a square for each partition up to so many of them, and for each topic beyond.
_PARTITIONS = 120
_MEMBERS = 50
_TOPICS = 60

Pairs = list[tuple[str, int]]


def document(found: Assignment | Sequence[Compared], source: str | None = None, **group: Any) -> Document:
    """The page of an assignment, or of several side by side.

    Args:
        found: It, or what `partwright.assignors.compare.compare` gives.
        source: What was read.
        group: Of a comparison, `topics` and `members`; of an assignment, `assignor`.
    """
    if isinstance(found, (list, tuple)):
        return _compared(found, source, **group)
    return _assigned(cast("Assignment", found), source, **group)


def _assigned(found: Assignment, source: str | None, assignor: str | None = None) -> Document:
    assignment = found.to_dict()
    ids = {} if found.topic_ids is None else {"topic_ids": found.topic_ids}
    spread = found.spread()
    partitions = sum(map(len, assignment.values()))
    by = "" if assignor is None else f" by {assignor}"
    said = (
        f"{counted(partitions, 'partition')} to {counted(len(assignment), 'member')}{by}: {spread.min:,} to "
        f"{spread.max:,} each, {spread.mean:,.2f} on average"
    )
    figures = (_map(assignment), _each(assignment))
    return Document(
        f"Who reads what{after(source)}", (Verdict("said", said),), figures, {"assignment": assignment, **ids}
    )


def _map(assignment: Mapping[str, Pairs]) -> Figure:
    partitions = sorted({pair for pairs in assignment.values() for pair in pairs})
    topics = members(topic for topic, _ in partitions)
    if not partitions:
        return Figure(
            id="map",
            title="Members by partitions",
            sentence="Nobody reads anything.",
            spec=None,
            columns=(Column("member", "member", "text"),),
            rows=(),
        )
    if len(partitions) <= _PARTITIONS and len(assignment) <= _MEMBERS:
        return _by_partition(assignment, topics)
    return _by_topic(assignment, topics)


def _by_partition(assignment: Mapping[str, Pairs], topics: Sequence[str]) -> Figure:
    rows = [
        {"member": shown(member), "at": _row(place, member), "topic": shown(topic), "partition": partition}
        for place, (member, pairs) in enumerate(assignment.items())
        for topic, partition in sorted(pairs)
    ]
    columns = sorted({(row["topic"], row["partition"]) for row in rows})
    many = len(topics) > len(PALETTE)
    drawn = [{**row, "place": f"{label(row['topic'])}-{row['partition']}"} for row in rows]
    kinds = [shown(topic) for topic in topics]
    spec = squares(
        drawn,
        ("place", "partition"),
        ("at", "member"),
        tooltip(member="member", topic="topic", partition="partition"),
        colour={"value": ACCENT} if many else by_kind("topic", kinds, PALETTE[: len(kinds)]),
    )
    spec["encoding"]["x"]["sort"] = [f"{label(topic)}-{partition}" for topic, partition in columns]
    spec["encoding"]["x"]["axis"] = _names(len(columns))
    _with_all(spec, assignment)
    idle = [member for member, pairs in assignment.items() if not pairs]
    sentence = (
        f"{counted(len(rows), 'partition')} of {counted(len(topics), 'topic')} have a reader among "
        f"{counted(len(assignment), 'member')}"
    )
    sentence += (
        f"; {counted(len(idle), 'member')} {'reads' if len(idle) == 1 else 'read'} nothing." if idle else "."
    )
    return Figure(
        id="map",
        title="Members by partitions",
        sentence=sentence,
        spec=spec,
        columns=(
            Column("member", "member", "text"),
            Column("topic", "topic", "text"),
            Column("partition", "partition"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


# Up to so many columns their names stand level.
_LEVEL = 14


def _by_topic(assignment: Mapping[str, Pairs], topics: Sequence[str]) -> Figure:
    sizes = Counter(topic for pairs in assignment.values() for topic, _ in pairs)
    kept = set(sorted(assignment, key=lambda member: -len(assignment[member]))[:_MEMBERS])
    chosen = set(sorted(topics, key=lambda topic: -sizes[topic])[:_TOPICS])
    rows: list[Json] = []
    for place, member in enumerate(assignment):
        counts = Counter(topic for topic, _ in assignment[member])
        rows += [
            {"member": shown(member), "at": _row(place, member), "topic": shown(topic), "partitions": count}
            for topic, count in sorted(counts.items())
        ]
    names = {shown(topic) for topic in chosen}
    wanted = {_row(place, member) for place, member in enumerate(assignment) if member in kept}
    drawn = [row for row in rows if row["at"] in wanted and row["topic"] in names]
    most = max(row["partitions"] for row in rows)
    spec = squares(
        drawn,
        ("topic", "topic"),
        ("at", "member"),
        tooltip(member="member", topic="topic", partitions="partitions|,"),
        colour={"value": ACCENT},
        opacity={
            "field": "partitions",
            "type": "quantitative",
            "scale": {"domain": [0, most], "range": [0.1, 1]},
            "legend": None,
        },
    )
    spec["encoding"]["x"]["axis"] = _names(len(names))
    spec["encoding"]["x"]["sort"] = [shown(topic) for topic in topics]
    sentence = (
        f"{counted(sum(sizes.values()), 'partition')} of {counted(len(topics), 'topic')} have a reader among "
        f"{counted(len(assignment), 'member')}; a member reads {number(most)} of one topic at the most"
    )
    if len(drawn) < len(rows):
        most_of = f"{counted(len(kept), 'member')} and the {counted(len(chosen), 'topic')}"
        sentence += f"; the {most_of} with the most are drawn"
    return Figure(
        id="map",
        title="Members by topics",
        sentence=f"{sentence}.",
        spec=spec,
        columns=(
            Column("member", "member", "text"),
            Column("topic", "topic", "text"),
            Column("partitions", "partitions"),
        ),
        **bounded(rows),
        marks=len(drawn),
    )


def _names(count: int) -> Spec:
    return {"labelAngle": -45 if count > _LEVEL else 0, "ticks": False, "labelLimit": 110}


def _with_all(spec: Spec, assignment: Mapping[str, Pairs]) -> None:
    """Members without anything have a row, too."""
    names = [_row(place, member) for place, member in enumerate(assignment)]
    spec["encoding"]["y"]["scale"] = {"domain": names}
    spec["height"] = max(60, 22 * len(names))


def _row(place: int, member: str) -> str:
    """What a member's row is called: as long names may begin alike, the row's number is in what is cut."""
    name = label(member)
    return name if name == member else f"{place + 1}. {name}"


def _each(assignment: Mapping[str, Pairs]) -> Figure:
    rows: list[Json] = [
        {
            "member": shown(member),
            "label": _row(place, member),
            "partitions": len(pairs),
            "topics": len({topic for topic, _ in pairs}),
            "text": number(len(pairs)),
        }
        for place, (member, pairs) in enumerate(assignment.items())
    ]
    largest = sorted(rows, key=lambda row: -row["partitions"])
    drawn = rows if len(rows) <= _MEMBERS else largest[:_MEMBERS]
    sentence = "There is no member."
    if rows:
        counts = [row["partitions"] for row in rows]
        sentence = (
            f"A member reads {number(min(counts))} to {number(max(counts))} partitions, "
            f"{sum(counts) / len(counts):,.2f} on average"
        )
        sentence += f"; the {_MEMBERS} members with the most are drawn." if len(drawn) < len(rows) else "."
    return Figure(
        id="members",
        title="Partitions a member",
        sentence=sentence,
        spec=by_name(
            drawn,
            quantity("partitions", "partitions", "whole"),
            None,
            tooltip(member="member", partitions="partitions|,", topics="topics|,"),
        )
        if rows
        else None,
        columns=(
            Column("member", "member", "text"),
            Column("partitions", "partitions"),
            Column("topics", "topics"),
        ),
        **bounded(rows),
        marks=len(drawn),
    )


def _compared(
    found: Iterable[Compared],
    source: str | None,
    topics: Mapping[str, int] | None = None,
    members: Sequence[object] = (),
) -> Document:
    found = list(found)
    order = in_order((each.assignor for each in found), assignors())
    rows = [
        {
            "assignor": shown(each.assignor),
            "label": label(each.assignor),
            "least": each.spread.min,
            "most": each.spread.max,
            "apart": each.topic_spread,
            "moved": each.moved,
            "unread": each.unread,
            "in_rack": each.in_rack_share,
            "ms": None if each.seconds is None else each.seconds * 1000,
            "range": f"{each.spread.min:,} to {each.spread.max:,}",
        }
        for each in sorted(found, key=lambda each: order.index(each.assignor))
        if each.error is None
    ]
    said: tuple[Verdict, ...] = ()
    if topics is not None:
        words = f"{len(members):,} members, {len(topics):,} topics, {sum(topics.values()):,} partitions"
        said = (Verdict("said", words),)
    figures = (_spread(rows), _moved(rows)) if rows else ()
    answer = [each.to_dict() for each in found]
    return Document(f"Assignors side by side{after(source)}", (*said, *of_comparison(found)), figures, answer)


_COLUMNS = (
    Column("assignor", "assignor", "text"),
    Column("least", "fewest a member"),
    Column("most", "most a member"),
    Column("apart", "apart in one topic"),
    Column("moved", "moved"),
    Column("unread", "unread"),
    Column("in_rack", "in rack", "share"),
    Column("ms", "ms"),
)


def _spread(rows: Sequence[Fields]) -> Figure:
    even = min(rows, key=lambda row: row["most"] - row["least"])
    apart = max(rows, key=lambda row: row["most"] - row["least"])
    x = quantity("least", "partitions a member, the fewest to the most", "whole")
    y = {
        "field": "label",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 190, "ticks": False},
    }
    spec = chart(
        rows,
        height=26 * len(rows),
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.5},
                "encoding": {"x": x, "x2": {"field": "most"}, "y": y},
            },
            {
                "name": "main",
                "transform": [{"fold": ["least", "most"], "as": ["end", "partitions"]}],
                "mark": {"type": "circle", "size": 110, "opacity": 1, "color": ACCENT},
                "encoding": {
                    "x": {"field": "partitions", "type": "quantitative"},
                    "y": y,
                    "tooltip": tooltip(
                        assignor="assignor", range="partitions a member", apart="apart in one topic|,"
                    ),
                },
            },
        ],
    )
    return Figure(
        id="spread",
        title="How even each assignor is",
        sentence=(
            f"{even['assignor']} is most even, with {even['range']} partitions a member, and {apart['assignor']} "
            f"least, with {apart['range']}."
        ),
        spec=spec,
        columns=_COLUMNS[:4],
        **bounded(rows),
        marks=2 * len(rows),
    )


def _moved(rows: Sequence[Fields]) -> Figure:
    kinds = {"moved": EMPHASIS, "unread": MUTED}
    bars = [
        {
            **row,
            "kind": kind,
            "partitions": row[kind],
            "label": f"{row['label']}: {kind}",
            "text": number(row[kind]),
        }
        for row in rows
        for kind in kinds
    ]
    least = min(rows, key=lambda row: (row["moved"], row["unread"]))
    most = max(rows, key=lambda row: row["moved"])
    sentence = "No assignor moves anything that a member owns."
    if most["moved"]:
        sentence = (
            f"{least['assignor']} moves least, {counted(least['moved'], 'partition')}, and {most['assignor']} most, "
            f"{counted(most['moved'], 'partition')}"
        )
        unread = max(rows, key=lambda row: row["unread"])
        if unread["unread"]:
            sentence += (
                f"; under {unread['assignor']}, {counted(unread['unread'], 'partition')} "
                f"{'has' if unread['unread'] == 1 else 'have'} no reader until the next rebalance"
            )
        near = [row for row in rows if row["in_rack"] is not None]
        if near:
            best = max(near, key=lambda row: row["in_rack"])
            sentence += f"; {best['assignor']} reads most in its rack, {share(best['in_rack'])}"
        sentence += "."
    return Figure(
        id="moved",
        title="What each assignor moves",
        sentence=sentence,
        spec=by_name(
            bars,
            quantity("partitions", "partitions", "whole"),
            None,
            tooltip(assignor="assignor", kind="which are", partitions="partitions|,"),
            by_kind("kind", list(kinds), list(kinds.values())),
        ),
        columns=(_COLUMNS[0], *_COLUMNS[4:]),
        **bounded(rows),
        marks=len(bars),
    )
