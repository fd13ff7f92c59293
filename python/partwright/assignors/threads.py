"""Consumer threads, to which assignors dealt partitions before Kafka 0.11: a member with streams has several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from partwright._check import Fields, Json, counted, shown
from partwright.assignors.members import Group, is_list
from partwright.errors import PartwrightError

THREADED = ("old-range", "old-roundrobin")
"""The assignors that know threads."""
_ROUND_ROBIN = "old-roundrobin"
_MOST_STREAMS = 10_000
_MOST_SUBSCRIPTIONS = 500_000
"""Over all threads: a thread that subscribes to two topics has two."""


def thread_members(members: Iterable[Any], topics: Mapping[str, int], assignor: str) -> list[Json]:
    """The members, one entry a thread: a member with `streams` is repeated, with the thread's number in its name.

    Streams may be given by topic: a thread then subscribes to the topics that have a stream of its number.

    Raises:
        PartwrightError: The group is invalid, `streams` is not a number of them or is too large, or `old-roundrobin`'s
            conditions are not met.

    Examples:
        >>> members = [{"id": "C1", "topics": ["t"], "streams": 2}]
        >>> [thread["id"] for thread in thread_members(members, {"t": 2}, "old-range")]
        ['C1-0', 'C1-1']
        >>> member = {"id": "C1", "topics": ["t", "u"], "streams": {"t": 1, "u": 2}}
        >>> thread_members([member], {"t": 2, "u": 2}, "old-range")
        [{'id': 'C1-0', 'topics': ['t', 'u']}, {'id': 'C1-1', 'topics': ['u']}]
    """
    repeatable = [_repeatable(member) for member in members]
    plain = [_without_streams(member) for member in repeatable]
    # Refuses all but the streams.
    Group.of(topics, plain)
    streams = [_streams(member) for member in repeatable]
    count = sum(max(each.threads, sum(each.by_topic.values())) for each in streams)
    if count > _MOST_SUBSCRIPTIONS:
        raise PartwrightError(
            f"the threads have {counted(count, 'subscription')} together, and a group takes {_MOST_SUBSCRIPTIONS}: "
            "give members fewer streams"
        )
    if assignor == _ROUND_ROBIN:
        _check_alike(streams)
    return [
        {
            **member,
            "id": name,
            "topics": [topic for topic in member["topics"] if each.by_topic[topic] > number],
        }
        for member, each in zip(plain, streams, strict=True)
        for number, name in enumerate(each.names)
    ]


class _MemberStreams(NamedTuple):
    """A member's streams: how many, how many of each topic that it subscribes to, and its threads' names."""

    member: str
    threads: int
    by_topic: dict[str, int]
    names: list[str]


def _streams(member: Fields) -> _MemberStreams:
    name, streams, subscribed = member["id"], member.get("streams"), dict.fromkeys(member["topics"])
    if not isinstance(streams, Mapping):
        count = 1 if streams is None else streams
        if not _is_count(count):
            raise PartwrightError(
                f"member {shown(name)}: streams is 1 to {_MOST_STREAMS}, not {shown(count)}"
            )
        names = [name] if streams is None else [f"{name}-{number}" for number in range(count)]
        return _MemberStreams(name, count, dict.fromkeys(subscribed, count), names)
    if not streams:
        raise PartwrightError(
            f"member {shown(name)}: streams by topic has no topic: give it one, or a number"
        )
    for topic, count in streams.items():
        if topic not in subscribed:
            raise PartwrightError(
                f"member {shown(name)}: streams has {shown(topic)}, to which the member does not subscribe"
            )
        if not _is_count(count):
            raise PartwrightError(
                f"member {shown(name)}: streams of {shown(topic)} is 1 to {_MOST_STREAMS}, not {shown(count)}"
            )
    without = sorted(subscribed.keys() - streams)
    if without:
        raise PartwrightError(
            f"member {shown(name)}: streams lacks {without[0]!r}, to which the member subscribes: say how many it has"
        )
    most = max(streams.values())
    return _MemberStreams(name, most, dict(streams), [f"{name}-{number}" for number in range(most)])


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
        raise PartwrightError(f"partition_order is a list of partitions, not {shown(order)}")
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


def _without_streams(member: Any) -> Any:
    if not isinstance(member, Mapping):
        return member
    return {field: value for field, value in member.items() if field != "streams"}


def _is_count(streams: object) -> bool:
    return type(streams) is int and 1 <= streams <= _MOST_STREAMS


def _check_alike(members: Sequence[_MemberStreams]) -> None:
    """Check the two conditions that Kafka's documentation states and its code does not check."""
    for member in members:
        (topic, count), *others = member.by_topic.items() or [("", 0)]
        for second, streams in others:
            if streams != count:
                raise PartwrightError(
                    "old-roundrobin needs the same number of streams for every topic: "
                    f"{shown(member.member)} has {count} for {shown(topic)} and {streams} for {shown(second)}"
                )
    for member in members[1:]:
        first = members[0]
        if member.threads != first.threads:
            raise PartwrightError(
                "old-roundrobin needs members with the same number of streams: "
                f"{shown(first.member)} has {first.threads}, {shown(member.member)} has {member.threads}"
            )
        apart = sorted(first.by_topic.keys() ^ member.by_topic.keys())
        if apart:
            reader, other = (first, member) if apart[0] in first.by_topic else (member, first)
            raise PartwrightError(
                "old-roundrobin needs members with the same topics: "
                f"{shown(reader.member)} subscribes to {apart[0]!r}, {shown(other.member)} does not"
            )
