"""Consumer threads, among which assignors divided partitions before Kafka 0.11: a member with streams has several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from partwright.errors import PartwrightError

__all__ = ["THREADED", "ordered", "threads"]

THREADED = ("old-range", "old-roundrobin")
"""The assignors that know threads."""
_ROUND_ROBIN = "old-roundrobin"
_MOST_STREAMS = 10_000


def threads(members: Any, assignor: str) -> Any:  # noqa: ANN401 - what is checked here
    """The members, one for each thread: those with `streams` as often, named by their number from 0 on.

    What is no member is left for the group's own checks.

    Raises:
        PartwrightError: `streams` is no number of them, or `old-roundrobin`'s conditions are not met.

    Examples:
        >>> [thread["id"] for thread in threads([{"id": "C1", "topics": ["t"], "streams": 2}], "old-range")]
        ['C1-0', 'C1-1']
    """
    if isinstance(members, Mapping):
        members = [{"id": name, "topics": subscribed} for name, subscribed in members.items()]
    if not isinstance(members, Iterable) or isinstance(members, (str, bytes)):
        return members
    members = [_kept(member) for member in members]
    known = [
        member for member in members if isinstance(member, Mapping) and isinstance(member.get("id"), str)
    ]
    for member in known:
        _check_streams(member)
    if assignor == _ROUND_ROBIN:
        _check_alike(known)
    found: list[Any] = []
    for member in members:
        streams = member.get("streams") if isinstance(member, Mapping) else None
        if streams is None or not isinstance(member.get("id"), str):
            found.append(member)
            continue
        rest = {field: value for field, value in member.items() if field != "streams"}
        found += [{**rest, "id": f"{member['id']}-{number}"} for number in range(streams)]
    return found


def ordered(order: Any, topics: Any, assignor: str) -> list[int]:  # noqa: ANN401 - what is checked here
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
    if not isinstance(order, Sequence) or isinstance(order, (str, bytes)):
        raise PartwrightError(f"partition_order is a list of partitions, not {order!r}")
    numbers = [number for number in order if type(number) is int]
    if type(count) is int and (not len(numbers) == len(order) == count or set(numbers) != {*range(count)}):
        raise PartwrightError(
            f"partition_order has each partition from 0 to {count - 1} once, not {_shown(order)}"
        )
    return numbers


def _kept(member: Any) -> Any:  # noqa: ANN401 - what is checked later
    """A member whose lists may be walked over more than once."""
    if not isinstance(member, Mapping):
        return member
    return {field: list(said) if isinstance(said, Iterator) else said for field, said in member.items()}


def _check_streams(member: Mapping[str, Any]) -> None:
    streams = member.get("streams")
    if streams is not None and (type(streams) is not int or not 1 <= streams <= _MOST_STREAMS):
        raise PartwrightError(
            f"member {member['id']!r}: streams is 1 to {_MOST_STREAMS}, not {_shown(streams)}"
        )


def _check_alike(members: Sequence[Mapping[str, Any]]) -> None:
    """The two conditions that Kafka's documentation makes, and its code does not look at."""
    if not members:
        return
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


def _streams(member: Mapping[str, Any]) -> int:
    return member.get("streams") or 1


def _topics(member: Mapping[str, Any]) -> set[Any]:
    """What of a subscription can be compared; the rest is for the group's own checks."""
    topics = member.get("topics")
    if not isinstance(topics, Iterable) or isinstance(topics, (str, bytes)):
        return set()
    return {topic for topic in topics if isinstance(topic, str)}


def _shown(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"a value of type {type(given).__name__}"  # noqa: PLR2004
