"""Figures for `partwright assign`: a map of members by partitions, and assignors side by side."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from partwright._check import counted, span
from partwright.documents import assign_compared
from partwright.documents.sentences import of_assignment, of_assumed, summed
from partwright.rendering.binned import COLOUR, binned, cells
from partwright.rendering.colours import ACCENT, EMPHASIS, PALETTE, members
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import Spec, by_kind, by_name, quantity, squares, tooltip
from partwright.rendering.text import label, number, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Json
    from partwright.assignors.assignment import Assignment
    from partwright.assignors.compare import Compared

__all__ = ["document"]

# Up to this many partitions, a map has a square for each; beyond, a square for each topic.
_PARTITIONS = 120
_MEMBERS = 50
# A histogram has no more bars than these.
_BARS = 30

Pairs = list[tuple[str, int]]


def document(found: Assignment | Sequence[Compared], **group: Any) -> Document:
    """The page of an assignment, or of several side by side.

    Args:
        found: It, or what `partwright.assignors.compare.compare` gives.
        group: Of a comparison, `topics` and `members`; of an assignment, `assignor`; `assumed` of both.
    """
    if isinstance(found, (list, tuple)):
        return assign_compared.document(found, **group)
    return _assigned(cast("Assignment", found), **group)


def _assigned(found: Assignment, assignor: str | None = None, assumed: Sequence[str] = ()) -> Document:
    assignment = found.to_dict()
    ids = {} if found.topic_ids is None else {"topic_ids": found.topic_ids}
    figures = (_map(assignment), _each(assignment))
    verdicts = of_assignment(found, assignor)
    answer = summed(verdicts, {"assignment": assignment, **ids}, assumed)
    said = (*verdicts, *of_assumed(assumed))
    return Document("Who reads what", said, figures, answer)


def _map(assignment: Mapping[str, Pairs]) -> Section:
    partitions = sorted({pair for pairs in assignment.values() for pair in pairs})
    topics = members(topic for topic, _ in partitions)
    if not partitions:
        return Section(
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


def _by_partition(assignment: Mapping[str, Pairs], topics: Sequence[str]) -> Section:
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
    of = f"of {counted(len(topics), 'topic')}"
    sentence = (
        f"{counted(len(rows), f'partition {of} has', f'partitions {of} have')} a reader among "
        f"{counted(len(assignment), 'member')}"
    )
    sentence += f"; {counted(len(idle), 'member reads', 'members read')} nothing." if idle else "."
    return Section(
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


# Up to this many columns, their names are written horizontally.
_LEVEL = 14


def _by_topic(assignment: Mapping[str, Pairs], topics: Sequence[str]) -> Section:
    """How many partitions of each topic each member reads; if there are many, members and topics share cells."""
    sizes = Counter(topic for pairs in assignment.values() for topic, _ in pairs)
    rows: list[Json] = []
    places = {topic: place for place, topic in enumerate(topics)}
    (wide, _), (high, _) = binned(len(topics)), binned(len(assignment), _MEMBERS)
    counts: Counter[tuple[int, int]] = Counter()
    for place, (member, pairs) in enumerate(assignment.items()):
        of_topic = Counter(topic for topic, _ in pairs)
        rows += [
            {"member": shown(member), "topic": shown(topic), "partitions": count}
            for topic, count in sorted(of_topic.items())
        ]
        for topic, count in of_topic.items():
            counts[place // high, places[topic] // wide] += count
    names = list(assignment)
    drawn = [
        {
            "left": x * wide,
            "right": min((x + 1) * wide, len(topics)),
            "top": y * high,
            "bottom": min((y + 1) * high, len(names)),
            "count": count,
            "members": _ends(names[y * high : (y + 1) * high]),
            "topics": _ends(topics[x * wide : (x + 1) * wide]),
        }
        for (y, x), count in sorted(counts.items())
    ]
    most = max(row["partitions"] for row in rows)
    reading = sum(1 for pairs in assignment.values() if pairs)
    of = f"of {counted(len(topics), 'topic')}"
    sentence = (
        f"{counted(sum(sizes.values()), f'partition {of} is', f'partitions {of} are')} read by "
        f"{number(reading)} of {counted(len(assignment), 'member')}, {number(most)} of one topic by one member at the "
        f"most; all are drawn, and a cell holds {counted(high, 'member')} by {counted(wide, 'topic')}."
    )
    return Section(
        id="map",
        title="Members by topics, the stronger the more partitions",
        sentence=sentence,
        spec=cells(
            drawn,
            ("topics, in the order of their names", len(topics)),
            ("members, as they are listed", len(names)),
            tooltip(members="members", topics="topics", count="partitions|,"),
            COLOUR,
        ),
        columns=(
            Column("member", "member", "text"),
            Column("topic", "topic", "text"),
            Column("partitions", "partitions"),
        ),
        **bounded(rows),
        marks=len(drawn),
    )


def _ends(names: Sequence[str]) -> str:
    return label(names[0]) if len(names) == 1 else f"{label(names[0])} … {label(names[-1])}"


def _names(count: int) -> Spec:
    return {"labelAngle": -45 if count > _LEVEL else 0, "ticks": False, "labelLimit": 110}


def _with_all(spec: Spec, assignment: Mapping[str, Pairs]) -> None:
    """Members without partitions have a row, too."""
    names = [_row(place, member) for place, member in enumerate(assignment)]
    spec["encoding"]["y"]["scale"] = {"domain": names}
    spec["height"] = max(60, 22 * len(names))


def _row(place: int, member: str) -> str:
    """The label of a member's row; a name that is cut gets the row's number, because long names may begin alike."""
    name = label(member)
    return name if name == member else f"{place + 1}. {name}"


def _each(assignment: Mapping[str, Pairs]) -> Section:
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
    counts = [row["partitions"] for row in rows]
    sentence = "There is no member."
    if rows:
        low, high = min(counts), max(counts)
        each = f"{span(low, high, 'partition')}{' each' if low == high else ''}"
        sentence = (
            f"{counted(len(rows), 'member reads', 'members read')} {each}, {number(sum(counts) / len(counts))} on "
            "average"
        )
        idle = counts.count(0)
        sentence += f"; {counted(idle, 'is', 'are')} idle" if idle else ""
    spec, marks = None, len(rows)
    if len(rows) > _MEMBERS:
        spec, marks = _histogram(counts)
        sentence += "; a bar counts the members that read as many"
    elif rows:
        spec = by_name(
            rows,
            quantity("partitions", "partitions", "whole"),
            None,
            tooltip(member="member", partitions="partitions|,", topics="topics|,"),
        )
    return Section(
        id="members",
        title="Partitions a member",
        sentence=f"{sentence.rstrip('.')}.",
        spec=spec,
        columns=(
            Column("member", "member", "text"),
            Column("partitions", "partitions"),
            Column("topics", "topics"),
        ),
        **bounded(rows),
        marks=marks,
    )


def _histogram(counts: Sequence[int]) -> tuple[Spec, int]:
    """How many members read each number of partitions, with idle ones apart."""
    wide, _ = binned(max(counts), _BARS)
    found = Counter(0 if not count else 1 + (count - 1) // wide for count in counts)
    rows = [
        {
            "label": "0 (idle)" if not at else span(1 + (at - 1) * wide, at * wide),
            "members": found[at],
            "text": number(found[at]),
            "kind": "idle" if not at else "reading",
        }
        for at in sorted(found)
    ]
    colour: Spec = {"value": ACCENT}
    if found[0]:
        colour = by_kind("kind", ["idle", "reading"], [EMPHASIS, ACCENT])
    said = tooltip(label="partitions", members="members|,")
    return by_name(rows, quantity("members", "members", "whole"), "partitions a member", said, colour), len(
        rows
    )
