"""Who reads what: an assignment, a leader's answer, or a group as it is now; a map and a table of its members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from partwright._check import Json, counted, meant, span
from partwright.assignors.current_group import GroupNow
from partwright.assignors.mixed.group_leaders import LeaderAnswer
from partwright.documents.sentences import ends, named
from partwright.errors import PartwrightError
from partwright.rendering.colours import PALETTE, members
from partwright.rendering.document import (
    Column,
    Document,
    Section,
    Verdict,
    answered,
    bounded,
    columns,
    places,
)
from partwright.rendering.plots import COLOUR, binned, by_kind, cells, squares, tooltip
from partwright.rendering.text import label, shown

if TYPE_CHECKING:
    from partwright.assignors.assignment import Assignment

# Up to this many partitions and members, a map has a square for each; beyond, members and topics share cells.
_PARTITIONS, _MEMBERS = 120, 50
# Up to this many columns of a map have horizontal names, and a histogram has at most this many bars.
_LEVEL, _BARS = 14, 30
# How many idle members are named, how many ranges of a topic's partitions, and how many topics.
_FEW, _RANGES, _TOPICS = 3, 8, 6

_MEMBER, _TOPIC = columns(member="member|text", topic="topic|text")
_COUNT = Column("partitions", "partitions")

NO_MEMBERS = Verdict(
    "open", "The group has no members, so nobody reads anything.", "The group has no members"
)
"""The verdict on a group without members."""

Pairs = list[tuple[str, int]]


def document(answer: Assignment | LeaderAnswer | GroupNow) -> Document:
    """Who reads how much and what to try, then a map of members by partitions and what each member reads."""
    verdicts: Iterable[Verdict | str]
    sections: tuple[Section | None, ...]
    if isinstance(answer, GroupNow):
        title, verdicts, json = "The group as it is", _of_now(answer), answer.to_dict()
        reads = [
            (member, topics, named([f"{topic} {count:,}" for topic, count in topics.items()], _TOPICS))
            for member, topics in answer.reads.items()
        ]
        sections = _members(reads)
    else:
        title, json = "Who reads what", answer.json_object()
        lists = json.get("assignment", {})
        verdicts = (
            _of_leader(answer)
            if isinstance(answer, LeaderAnswer)
            else _of_assignment(answer, answer.assignor)
        )
        reads = [
            (member, Counter(topic for topic, _ in pairs), _reads(pairs)) for member, pairs in lists.items()
        ]
        sections = (_map(lists), *_members(reads))
    return answered(title, verdicts, sections, json, answer.assumed)


def _of_assignment(assignment: Assignment, assignor: str) -> Iterator[Verdict]:
    """Who is idle, who has the most, and what to try; then whether chance decided."""
    if not len(assignment.members):
        yield NO_MEMBERS
        return
    spread, partitions = assignment.spread(), len(assignment.lists.values)
    counts = {name: len(pairs) for name, pairs in assignment.to_dict().items()}
    idle = [member for member, count in counts.items() if not count]
    unread = assignment.subscribed_partitions() - partitions
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
        more = _evenness(assignment, counts)
    yield Verdict("open" if idle and spread.max and unread <= 0 else "said", f"{words}{more}.", words)
    yield from no_such_topics(assignment.absent_topics, assignment.topics)
    if assignment.chance:
        yield Verdict("open", f"This is one of several answers: {assignment.chance.why}.")


def no_such_topics(absent_topics: Sequence[str], topics: Iterable[str]) -> Iterator[Verdict]:
    """That members subscribe to topics that the group lacks, and which one was meant."""
    if absent_topics:
        known = [name for name in topics if name not in absent_topics]
        near = next(filter(None, (meant(name, known) for name in absent_topics)), ".")
        are = "is" if len(absent_topics) == 1 else "are"
        words = f"Members subscribe to {named(absent_topics, _FEW)}, which {are} not among the topics"
        yield Verdict("open", f"{words}{near}")


def _evenness(assignment: Assignment, counts: Mapping[str, int]) -> str:
    """How even an assignment without idle members is, and what to try, after its figures."""
    spread = assignment.spread()
    if spread.max - spread.min > 1:
        busiest = max(counts, key=lambda member: counts[member])
        return f"; {label(busiest)} reads the most. --compare shows what other assignors give"
    gaps = {topic: each.max - each.min for topic, each in assignment.per_topic_spread().items()}
    topic = max(gaps, key=gaps.__getitem__, default="")
    if gaps.get(topic, 0) > 1:
        # Equally many partitions are not equal work if topics differ.
        return f", but {gaps[topic]:,} apart in {label(topic)}: --compare shows what other assignors give"
    return "" if spread.min == spread.max else ", as even as can be"


def _of_leader(outcome: LeaderAnswer) -> Iterator[Verdict]:
    """The same under one leader, and what it does not know."""
    if outcome.answer is None:
        raise PartwrightError(outcome.error or "the leader gives no assignment")
    yield from _of_assignment(outcome.answer, outcome.assignor)
    yield from unseen(outcome.left_out, outcome.forgotten)
    if outcome.rounds is None:
        yield Verdict("fails", f"Under {label(outcome.leader)} the group never rests.")


def unseen(left_out: Sequence[str], forgotten: Sequence[str], when: str = "") -> Iterator[Verdict]:
    """Whom a leader cannot read, and of whom it does not know what they own."""
    if left_out:
        those = named(left_out)
        yield Verdict(
            "open", f"The leader cannot read the subscription of {those}: no partitions, and no error."
        )
    if forgotten:
        yield Verdict("open", f"The leader did not know what {named(forgotten)} owned{when}.")


def _of_now(now: GroupNow) -> Iterator[str]:
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
    yield f"{words}. A rebalance now would move {moves}."
    if now.idle:
        idle = counted(len(now.idle), "member reads", "members read")
        yield f"{idle} nothing: {named(now.idle, _FEW)}."
    yield f"{change}."
    if now.uneven:
        yield f"Uneven: {'; '.join(now.uneven)}."
    if now.apart is not None and now.apart[1] > 1:
        # Equally many partitions are not equal work if topics differ.
        topic, apart = now.apart
        yield f"Within {label(topic)}, members are {counted(apart, 'partition')} apart."


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
    topics = [
        f"{label(topic)} {named(['-'.join(map(str, dict.fromkeys(ends))) for ends in ranges], _RANGES)}"
        for topic, ranges in list(of_topics.items())[:_TOPICS]
    ]
    left = len(of_topics) - _TOPICS
    return "; ".join([*topics, *([counted(left, "more topic")] if left > 0 else [])])


def _map(lists: Mapping[str, Pairs]) -> Section | None:
    """Members by partitions or, if there are many, by topics; nothing if nobody reads anything."""
    partitions = {pair for pairs in lists.values() for pair in pairs}
    topics = members(topic for topic, _ in partitions)
    if not partitions:
        return None
    is_small = len(partitions) <= _PARTITIONS and len(lists) <= _MEMBERS
    return _by_partition(lists, topics) if is_small else _by_topic(lists, topics)


def _by_partition(lists: Mapping[str, Pairs], topics: Sequence[str]) -> Section:
    # A name that is cut gets its number, because long names may begin and end alike.
    names = {
        member: label(member) if label(member) == member else f"{place}. {label(member)}"
        for place, member in enumerate(lists, 1)
    }
    rows: list[Json] = [
        {
            "member": shown(member),
            "topic": shown(topic),
            "partition": partition,
            "row": names[member],
            "column": f"{label(topic)}-{partition}",
        }
        for member, pairs in lists.items()
        for topic, partition in sorted(pairs)
    ]
    by_place = sorted(rows, key=lambda row: (row["topic"], row["partition"]))
    partitions = list(dict.fromkeys(row["column"] for row in by_place))
    kinds = [shown(topic) for topic in topics]
    is_coloured = len(kinds) <= len(PALETTE)
    spec = squares(
        rows,
        ("column", "partition", partitions),
        ("row", "member", list(names.values())),
        tooltip(member="member", topic="topic", partition="partition"),
        angle=-45 if len(partitions) > _LEVEL else 0,
        color=by_kind("topic", kinds, PALETTE[: len(kinds)]) if is_coloured else COLOUR,
    )
    return Section(
        id="map",
        title="Members by partitions",
        spec=spec,
        columns=(_MEMBER, _TOPIC, *columns(partition="partition")),
        **bounded(rows),
        is_detail=True,
    )


def _by_topic(lists: Mapping[str, Pairs], topics: Sequence[str]) -> Section:
    """How many partitions of each topic each member reads; nothing is drawn if that is the same everywhere."""
    rows: list[Json] = [
        {"member": shown(member), "topic": shown(topic), "partitions": count}
        for member, pairs in lists.items()
        for topic, count in sorted(Counter(topic for topic, _ in pairs).items())
    ]
    title, same = "Members by topics", rows[0]["partitions"]
    if len(rows) == len(lists) * len(topics) and all(row["partitions"] == same for row in rows):
        return Section("map", title, f"Each member reads {counted(same, 'partition')} of each topic.")
    (wide, _), (high, _) = binned(len(topics)), binned(len(lists), _MEMBERS)
    places, names = {topic: place for place, topic in enumerate(topics)}, list(lists)
    held = Counter(
        (y // high * high, places[topic] // wide * wide)
        for y, pairs in enumerate(lists.values())
        for topic, _ in pairs
    )
    drawn: list[Json] = []
    for (y, x), count in sorted(held.items()):
        those, of = names[y : y + high], topics[x : x + wide]
        sides = {"left": x, "right": x + len(of), "top": y, "bottom": y + len(those)}
        mean = count / len(those) / len(of)
        drawn.append({**sides, "count": count, "mean": mean, "members": ends(those), "topics": ends(of)})
    spec = cells(
        drawn,
        ("topics, in the order of their names", len(topics)),
        ("members, as they are listed", len(names)),
        tooltip(members="members", topics="topics", count="partitions|,"),
        COLOUR,
    )
    scale = {"domain": [0, max(cell["mean"] for cell in drawn)], "range": [0.1, 1]}
    spec["encoding"]["opacity"] = {"field": "mean", "type": "quantitative", "scale": scale, "legend": None}
    return Section(
        id="map",
        title=title,
        sentence=(
            f"All are drawn; a cell holds {counted(high, 'member')} by {counted(wide, 'topic')}, and is the stronger "
            "the more partitions they read."
        ),
        spec=spec,
        columns=(_MEMBER, _TOPIC, _COUNT),
        **bounded(rows),
        is_detail=True,
    )


def _members(reads: Sequence[tuple[str, Mapping[str, int], str]]) -> tuple[Section, ...]:
    """What each member reads, and how many of many members read how much.

    Args:
        reads: A member's name, how many partitions of each topic it reads, and these in words.
    """
    rows: list[Json] = [
        {
            "member": shown(member),
            "partitions": sum(topics.values()),
            "topics": len(topics),
            "reads": words or "nothing",
        }
        for member, topics, words in reads
    ]
    counts = [row["partitions"] for row in rows]
    section = Section(
        id="members",
        title="What each member reads",
        sentence="" if rows else "There is no member.",
        columns=(_MEMBER, _COUNT, *columns(topics="topics", reads="reads|prose")),
        **bounded(rows),
        bar="partitions",
        picked=places(not count and any(counts) for count in counts),
    )
    is_uneven = len(counts) > _MEMBERS and len({*counts}) > 1
    return (_histogram(counts), section) if is_uneven else (section,)


def _histogram(counts: Sequence[int]) -> Section:
    """How many members read each number of partitions, with idle ones apart."""
    wide, _ = binned(max(counts), _BARS)
    held = Counter(-(-count // wide) for count in counts)
    return Section(
        id="spread",
        title="How many members read how much",
        columns=columns(partitions="partitions|text", members="members"),
        rows=tuple(
            {"partitions": span((at - 1) * wide + 1, at * wide) if at else "0 (idle)", "members": held[at]}
            for at in sorted(held)
        ),
        bar="members",
        picked=frozenset({0} if held[0] else ()),
        is_detail=True,
    )
