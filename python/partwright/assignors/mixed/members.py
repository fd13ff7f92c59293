"""Check a group of several clients as a caller passes it, before a leader is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from partwright._check import counted, shown, unknown
from partwright.assignors.members import Group, with_topics
from partwright.assignors.mixed.clients import (
    DEFAULT_ASSIGNORS,
    answering_version,
    assignors_of,
    versions_of,
)
from partwright.assignors.mixed.group import MixedMember
from partwright.assignors.names import short_name
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.assignors.members import Member

__all__ = ["check_client", "listed_members", "mixed_members", "wire_name"]

_LONGEST = 2**15 - 1
"""Kafka writes the length of a text in two bytes."""


def listed_members(members: object, topics: Iterable[str]) -> list[Any]:
    """The members as a list of objects, so that one can iterate more than once.

    Raises:
        PartwrightError: It is not a list.
    """
    if not isinstance(members, Iterable) or isinstance(members, (str, bytes, Mapping)):
        raise PartwrightError(f"members is a list of ids or of objects, not {shown(members)}")
    return with_topics(members, topics)


def mixed_members(
    topics: Mapping[str, int],
    members: Sequence[Member],
    racks: Mapping[str, Sequence[Sequence[str | None]]] | None,
) -> tuple[MixedMember, ...]:
    """The members, checked; at least one is needed.

    Raises:
        PartwrightError: A member is invalid, or the group has no members.
    """
    # `Group.of` checks all fields, and explains what is wrong.
    Group.of(topics, members, racks)
    found = tuple(MixedMember.of(member) for member in members)
    if not found:
        raise PartwrightError("a group without members has no leader")
    for member in found:
        owned = (topic for topic, _ in member.held.owned or ())
        for text in (*member.held.topics, *owned, member.held.rack or ""):
            _check_text(member.id, text)
    return found


def wire_name(assignor: object, members: Iterable[MixedMember]) -> str:
    """The name under which members offer an assignor, if each member's client has it.

    Raises:
        PartwrightError: No client has it, or a member's client lacks it, at all or in that version.

    Examples:
        >>> wire_name("org.apache.kafka.clients.consumer.RangeAssignor", ())
        'range'
    """
    name = short_name(assignor)
    known = sorted({each for client in DEFAULT_ASSIGNORS for each in assignors_of(client)})
    if not isinstance(name, str) or name not in known:
        raise unknown(assignor, "assignor", known, "any client")
    for member in members:
        check_client(f"member {member.id!r}", member.client, member.version, name)
    return name


def check_client(who: str, client: str, version: str, assignor: str) -> None:
    """Check that a member's client has an assignor, and that its version's answers are known.

    Args:
        who: The member, for the error.
        client: Its client.
        version: `@VERSION` of it, or empty.
        assignor: The assignor's wire name.

    Raises:
        PartwrightError: It lacks the assignor, or the version is unknown.
    """
    own = assignors_of(client)
    if assignor not in own:
        raise PartwrightError(
            f"{who} is of {client}, which has no assignor {assignor!r}, so it cannot be in this group: it has "
            f"{', '.join(own)}",
            value=assignor,
        )
    if answering_version(client, assignor, version) is None:
        forms = [client, *(client + each for each in versions_of(client, assignor))]
        raise PartwrightError(
            f"{who}: {assignor} has no answers for {client}{version}: write {' or '.join(forms)}",
            value=client + version,
        )


def _check_text(member: str, text: str) -> None:
    try:
        length = len(text.encode())
    except UnicodeEncodeError:
        raise PartwrightError(
            f"member {member!r}: {shown(text)} is not UTF-8, as every name in Kafka is", value=text
        ) from None
    if length > _LONGEST:
        raise PartwrightError(
            f"member {member!r}: {shown(text)} has {counted(length, 'byte')}, and a text in Kafka has {_LONGEST} "
            f"at most",
            value=text,
        )
