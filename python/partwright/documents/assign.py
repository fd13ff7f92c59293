"""Who reads what: an assignment, a leader's answer, or a group as it is now; a map and a table of its members."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from partwright._check import counted, span
from partwright.assignors.group_now import GroupNow
from partwright.assignors.mixed.leaders import Led
from partwright.documents.sentences import named, of_assumed, summed
from partwright.errors import PartwrightError
from partwright.rendering.binned import COLOUR, binned, cells
from partwright.rendering.colours import ACCENT, EMPHASIS, PALETTE, members
from partwright.rendering.document import Column, Document, Section, Verdict, bounded
from partwright.rendering.plots import Spec, by_kind, by_name, quantity, squares, tooltip
from partwright.rendering.text import label, number, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from partwright._check import Json
    from partwright.assignors.assignment import Assignment, Chance

__all__ = ["document"]

# Up to this many partitions, a map has a square for each; beyond, a square for each topic.
_PARTITIONS = 120
_MEMBERS = 50
# A histogram has no more bars than these.
_BARS = 30
# How many idle members are named, how many ranges of a topic's partitions, and how many topics.
_FEW, _RANGES, _TOPICS = 3, 8, 6

Pairs = list[tuple[str, int]]


def document(answer: Assignment | Led | GroupNow) -> Document:
    """Who reads how much and what to try, then a map of members by partitions and what each member reads."""
    if isinstance(answer, GroupNow):
        title, verdicts, json = "The group as it is", _of_now(answer), answer.to_dict()
        reads = [
            (member, topics, named([f"{topic} {count:,}" for topic, count in topics.items()], _TOPICS))
            for member, topics in answer.reads.items()
        ]
        sections: tuple[Section, ...] = (_members(reads),)
    else:
        title, json = "Who reads what", answer.json_object()
        lists = json["assignment"]
        verdicts = _of_leader(answer) if isinstance(answer, Led) else _of_assignment(answer, answer.assignor)
        reads = [
            (member, Counter(topic for topic, _ in pairs), _reads(pairs)) for member, pairs in lists.items()
        ]
        sections = (_map(lists), _members(reads))
    first, *others = verdicts
    said = (first, *of_assumed(answer.assumed), *others)
    return Document(title, said, sections, summed(said, json, answer.assumed))


def _of_assignment(found: Assignment, assignor: str) -> list[Verdict]:
    """Who is idle, who has the most, and what to try; then whether chance decided."""
    if not len(found.members):
        return [
            Verdict("open", "The group has no members, so nobody reads anything.", "The group has no members")
        ]
    spread, partitions = found.spread(), len(found.lists.values)
    counts = {name: len(pairs) for name, pairs in found.to_dict().items()}
    idle = [member for member, count in counts.items() if not count]
    unread = found.subscribed_partitions() - partitions
    words = (
        f"{counted(len(counts), 'member reads', 'members read')} {counted(partitions, 'partition')} by "
        f"{label(assignor)}, {span(spread.min, spread.max)} each"
    )
    if unread > 0:
        # A cooperative assignor withholds what another member must give up first.
        more = f"; {counted(unread, 'partition has', 'partitions have')} no reader until the next rebalance"
    elif idle and spread.max:
        advice = "--compare shows what other assignors give"
        if len(counts) > partitions:
            advice = "there are more members than partitions"
        more = f"; {counted(len(idle), 'member is', 'members are')} idle ({named(idle, _FEW)}): {advice}"
    else:
        more = _evenness(found, counts)
    first = Verdict("open" if idle and spread.max and unread <= 0 else "said", f"{words}{more}.", words)
    return [first, *_of_chance(found.chance)]


def _evenness(found: Assignment, counts: Mapping[str, int]) -> str:
    """How even an assignment without idle members is, and what to try, after its figures."""
    spread = found.spread()
    if spread.max - spread.min > 1:
        busiest = max(counts, key=lambda member: counts[member])
        return f"; {label(busiest)} reads the most. --compare shows what other assignors give"
    gaps = {topic: each.max - each.min for topic, each in found.per_topic_spread().items()}
    topic = max(gaps, key=gaps.__getitem__, default="")
    if gaps.get(topic, 0) > 1:
        # Equally many partitions are not equal work if topics differ.
        return f", but {gaps[topic]:,} apart in {label(topic)}: --compare shows what other assignors give"
    return "" if spread.min == spread.max else ", as even as can be"


def _of_chance(chance: Chance | None) -> Iterator[Verdict]:
    if chance is not None:
        yield Verdict("open", f"This is one of several answers: {chance.why}.")


def _of_leader(led: Led) -> list[Verdict]:
    """The same under one leader, and what it does not know."""
    if led.answer is None:
        raise PartwrightError(led.error or "the leader gives no assignment")
    said = _of_assignment(led.answer, led.assignor)
    if led.left_out:
        who = named(led.left_out)
        said.append(
            Verdict("open", f"The leader cannot read the subscription of {who}: no partitions, and no error.")
        )
    if led.forgotten:
        said.append(Verdict("open", f"The leader did not know what {named(led.forgotten)} owned."))
    if led.rounds is None:
        said.append(Verdict("fails", f"Under {label(led.leader)} the group never rests."))
    return said


def _of_now(now: GroupNow) -> list[Verdict]:
    """Who reads how much and what a rebalance would move; then other changes, and why it is uneven."""
    counts = [sum(topics.values()) for topics in now.reads.values()]
    words = (
        f"{counted(len(counts), 'member reads', 'members read')} {span(min(counts), max(counts), 'partition')}"
        f"{' each' if len(counts) > 1 else ''} under {label(now.assignor)}"
    )
    if now.unread:
        words += f", and nobody reads {counted(now.unread, 'partition')}"
    moves = f"{counted(now.would_move, 'partition')} to another reader" if now.would_move else "nothing"
    if now.would_be_unread:
        moves += f", and leave {counted(now.would_be_unread, 'partition')} without a reader"
    change = f"If one more member joined, {span(*now.joiner_moves, 'partition')} would move"
    if now.leaver_moves is not None:
        (least, calm), (most, costly) = now.leaver_moves
        change += f"; if one left, {span(least, most, 'partition')}"
        if least != most:
            change += f" (fewest without {label(calm)}, most without {label(costly)})"
    if now.leaver_unread is not None:
        count, member = now.leaver_unread
        change += f", and {counted(count, 'partition')} would have no reader without {label(member)}"
    said = [f"{words}. A rebalance now would move {moves}."]
    if now.idle:
        said.append(
            f"{counted(len(now.idle), 'member reads', 'members read')} nothing: {named(now.idle, _FEW)}."
        )
    said += [f"{change}.", *([f"Uneven: {'; '.join(now.uneven)}."] if now.uneven else [])]
    if now.apart is not None and now.apart[1] > 1:
        # Equally many partitions are not equal work if topics differ.
        topic, apart = now.apart
        said.append(f"Within {label(topic)}, members are {counted(apart, 'partition')} apart.")
    return [Verdict("said", each) for each in said]


def _reads(pairs: Pairs) -> str:
    """Each topic's partitions in the order of Kafka's list, as ranges where one follows the other.

    Examples:
        >>> _reads([("t", 0), ("t", 1), ("t", 2), ("u", 7), ("t", 9)])
        't 0-2 and 9; u 7'
    """
    of_topics: dict[str, list[list[int]]] = {}
    for topic, partition in pairs:
        ranges = of_topics.setdefault(topic, [])
        if ranges and ranges[-1][1] == partition - 1:
            ranges[-1][1] = partition
        else:
            ranges.append([partition, partition])
    told = [
        f"{label(topic)} {named(['-'.join(map(str, dict.fromkeys(ends))) for ends in ranges], _RANGES)}"
        for topic, ranges in list(of_topics.items())[:_TOPICS]
    ]
    left = len(of_topics) - _TOPICS
    return "; ".join([*told, *([counted(left, "more topic")] if left > 0 else [])])


def _map(assignment: Mapping[str, Pairs]) -> Section:
    partitions = {pair for pairs in assignment.values() for pair in pairs}
    topics = members(topic for topic, _ in partitions)
    if not partitions:
        return Section(
            id="map",
            title="Members by partitions",
            sentence="Nobody reads anything.",
            columns=(Column("member", "member", "text"),),
            is_detail=True,
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
    return Section(
        id="map",
        title="Members by partitions",
        spec=spec,
        columns=(
            Column("member", "member", "text"),
            Column("topic", "topic", "text"),
            Column("partition", "partition"),
        ),
        **bounded(rows),
        marks=len(rows),
        is_detail=True,
    )


# Up to this many columns, their names are written horizontally.
_LEVEL = 14


def _by_topic(assignment: Mapping[str, Pairs], topics: Sequence[str]) -> Section:
    """How many partitions of each topic each member reads; if there are many, members and topics share cells."""
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
    return Section(
        id="map",
        title="Members by topics, the stronger the more partitions",
        sentence=f"All are drawn; a cell holds {counted(high, 'member')} by {counted(wide, 'topic')}.",
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
        is_detail=True,
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


def _members(reads: Sequence[tuple[str, Mapping[str, int], str]]) -> Section:
    """What each member reads: its name, how many partitions of each topic, and these in words."""
    rows: list[Json] = [
        {
            "member": shown(member),
            "label": _row(place, member),
            "partitions": sum(topics.values()),
            "topics": len(topics),
            "reads": words or "nothing",
            "text": number(sum(topics.values())),
        }
        for place, (member, topics, words) in enumerate(reads)
    ]
    counts = [row["partitions"] for row in rows]
    sentence, spec, marks = "" if rows else "There is no member.", None, len(rows)
    if len(rows) > _MEMBERS:
        spec, marks = _histogram(counts)
        idle = counts.count(0)
        sentence = (
            f"A bar counts the members that read as many partitions, and {counted(idle, 'is', 'are')} idle."
        )
    elif rows:
        spec = by_name(
            rows,
            quantity("partitions", "partitions", "whole"),
            None,
            tooltip(member="member", partitions="partitions|,", topics="topics|,"),
        )
    return Section(
        id="members",
        title="What each member reads",
        sentence=sentence,
        spec=spec,
        columns=(
            Column("member", "member", "text"),
            Column("partitions", "partitions"),
            Column("topics", "topics"),
            Column("reads", "reads", "prose"),
        ),
        **bounded(rows),
        marks=marks,
        picked=frozenset(place for place, count in enumerate(counts) if not count and any(counts)),
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
