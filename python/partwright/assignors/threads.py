"""Consumer threads, to which assignors dealt partitions before Kafka 0.11: a member with streams has several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any

from partwright._check import Fields, counted, shown
from partwright.assignors.members import is_list
from partwright.errors import PartwrightError

__all__ = ["THREADED", "ordered", "threads"]

THREADED = ("old-range", "old-roundrobin")
"""The assignors that know threads."""
_ROUND_ROBIN = "old-roundrobin"
_MOST_STREAMS = 10_000
_MOST_SUBSCRIPTIONS = 500_000
"""Over all threads: a thread that subscribes to two topics has two."""


def threads(members: Iterable[object], assignor: str) -> list[object]:
    """The members, one entry a thread: a member with `streams` is repeated, with the thread's number in its name.

    Streams may be given by topic: a thread then subscribes to the topics that have a stream of its number.

    An object that is not a member is passed on to the group's own checks.

    Raises:
        PartwrightError: `streams` is not a number of them, is too large, or `old-roundrobin`'s conditions are not met.

    Examples:
        >>> [thread["id"] for thread in threads([{"id": "C1", "topics": ["t"], "streams": 2}], "old-range")]
        ['C1-0', 'C1-1']
        >>> threads([{"id": "C1", "topics": ["t", "u"], "streams": {"t": 1, "u": 2}}], "old-range")
        [{'id': 'C1-0', 'topics': ['t', 'u']}, {'id': 'C1-1', 'topics': ['u']}]
    """
    repeatable = [_repeatable(member) for member in members]
    known = [
        member for member in repeatable if isinstance(member, Mapping) and isinstance(member.get("id"), str)
    ]
    for member in known:
        _check_streams(member)
    many = sum(_subscriptions(member) for member in known)
    if many > _MOST_SUBSCRIPTIONS:
        raise PartwrightError(
            f"the threads have {counted(many, 'subscription')} together, and a group takes {_MOST_SUBSCRIPTIONS}: "
            "give members fewer streams"
        )
    if assignor == _ROUND_ROBIN:
        _check_alike(known)
    single: list[object] = []
    for member in repeatable:
        streams = member.get("streams") if isinstance(member, Mapping) else None
        if streams is None or not isinstance(member.get("id"), str):
            single.append(member)
            continue
        others = {field: value for field, value in member.items() if field != "streams"}
        single += [
            {**others, "id": f"{member['id']}-{number}", "topics": _read_by(member, number)}
            for number in range(max(streams.values()) if isinstance(streams, Mapping) else streams)
        ]
    return single


def _read_by(member: Mapping[str, object], number: int) -> object:
    """The topics of a member's thread with that number."""
    topics, streams = member.get("topics"), member["streams"]
    if not isinstance(streams, Mapping) or isinstance(topics, Mapping) or not isinstance(topics, Iterable):
        return topics
    return [topic for topic in topics if not isinstance(topic, str) or streams[topic] > number]


def _subscriptions(member: Fields) -> int:
    """How many subscriptions its threads have together, at least one each."""
    streams = member.get("streams")
    if isinstance(streams, Mapping):
        return sum(streams.values())
    topics = member.get("topics")
    return (streams or 1) * max(1, len(topics) if isinstance(topics, Sized) else 1)


def ordered(order: object, topics: object, assignor: str) -> list[int]:
    """The order in which `old-roundrobin` is to deal the partitions of the one topic.

    Raises:
        PartwrightError: It is another assignor, there is more than one topic, or the list has not each partition once.

    Examples:
        >>> ordered([1, 0], {"t": 2}, "old-roundrobin")
        [1, 0]
    """
    if assignor != _ROUND_ROBIN:
        raise PartwrightError(f"partition_order is for old-roundrobin alone: leave it out for {assignor}")
    if not isinstance(topics, Mapping) or len(topics) != 1:
        raise PartwrightError(
            "partition_order is for a group with one topic: give topics one, or leave it out"
        )
    count = next(iter(topics.values()))
    if not is_list(order):
        raise PartwrightError(f"partition_order is a list of partitions, not {order!r}")
    numbers = [number for number in order if type(number) is int]
    if type(count) is int and (not len(numbers) == len(order) == count or set(numbers) != {*range(count)}):
        raise PartwrightError(
            f"partition_order has each partition from 0 to {count - 1} once, not {shown(order)}"
        )
    return numbers


def _repeatable(member: object) -> Any:
    """A member with lists instead of iterators, so that one can iterate more than once."""
    if not isinstance(member, Mapping):
        return member
    return {field: list(value) if isinstance(value, Iterator) else value for field, value in member.items()}


def _check_streams(member: Mapping[str, object]) -> None:
    name, streams = member["id"], member.get("streams")
    if not isinstance(streams, Mapping):
        if streams is not None and not _is_count(streams):
            raise PartwrightError(f"member {name!r}: streams is 1 to {_MOST_STREAMS}, not {shown(streams)}")
        return
    if not streams:
        raise PartwrightError(f"member {name!r}: streams by topic has no topic: give it one, or a number")
    subscribed = _topics(member)
    for topic, count in streams.items():
        if topic not in subscribed:
            raise PartwrightError(
                f"member {name!r}: streams has {shown(topic)}, to which the member does not subscribe"
            )
        if not _is_count(count):
            raise PartwrightError(
                f"member {name!r}: streams of {topic!r} is 1 to {_MOST_STREAMS}, not {shown(count)}"
            )
    without = sorted(subscribed - {*streams})
    if without:
        raise PartwrightError(
            f"member {name!r}: streams lacks {without[0]!r}, to which the member subscribes: say how many it has"
        )


def _is_count(streams: object) -> bool:
    return type(streams) is int and 1 <= streams <= _MOST_STREAMS


def _check_alike(members: Sequence[Mapping[str, object]]) -> None:
    """Check the two conditions that Kafka's documentation states and its code does not check."""
    if not members:
        return
    for member in members:
        _check_alike_by_topic(member)
    first, streams, topics = members[0], _streams(members[0]), _topics(members[0])
    for member in members[1:]:
        if _streams(member) != streams:
            raise PartwrightError(
                "old-roundrobin needs members with the same number of streams: "
                f"{first['id']!r} has {streams}, {member['id']!r} has {_streams(member)}"
            )
        apart = sorted(topics ^ _topics(member), key=str)
        if apart:
            reader, other = (first, member) if apart[0] in topics else (member, first)
            raise PartwrightError(
                "old-roundrobin needs members with the same topics: "
                f"{reader['id']!r} subscribes to {apart[0]!r}, {other['id']!r} does not"
            )


def _check_alike_by_topic(member: Mapping[str, object]) -> None:
    streams = member.get("streams")
    if not isinstance(streams, Mapping):
        return
    (topic, count), *others = streams.items()
    for other, streams_of_other in others:
        if streams_of_other != count:
            raise PartwrightError(
                "old-roundrobin needs the same number of streams for every topic: "
                f"{member['id']!r} has {count} for {topic!r} and {streams_of_other} for {other!r}"
            )


def _streams(member: Fields) -> int:
    streams = member.get("streams") or 1
    return max(streams.values()) if isinstance(streams, Mapping) else streams


def _topics(member: Mapping[str, object]) -> set[str]:
    """The topics that are text; the group's own checks handle the rest."""
    topics = member.get("topics")
    if not isinstance(topics, Iterable) or isinstance(topics, (str, bytes)):
        return set()
    return {topic for topic in topics if isinstance(topic, str)}
