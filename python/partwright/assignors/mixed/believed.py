"""How each client's leader reads what members tell it.

Java: `ConsumerProtocol.deserializeSubscription` and `memberData` of the sticky assignors. librdkafka:
`rd_kafka_group_MemberMetadata_consumer_read`. sarama: `JoinGroupResponse.GetMembers` and `memberData`. franz-go:
`NewConsumerBalancer` and `deserializeUserData`. kafka-go: `makeMemberProtocolMetadata`. kafka-python and aiokafka:
`parse_member_metadata`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from partwright.assignors.mixed.subscription import (
    MemberMetadata,
    Pairs,
    read_sticky_user_data,
    read_subscription,
)
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.assignors.mixed.subscription import ParsedSubscription

__all__ = ["Believed", "Claim", "believed"]

_STICKY, _COOPERATIVE = "sticky", "cooperative-sticky"
_MOST_TOPICS = 10_000
"""librdkafka leaves out a member that names more topics."""
_RACK = 3
"""The version of a subscription that added the rack."""


class Claim(NamedTuple):
    """The partitions that a member owns, as its leader believes.

    Attributes:
        owned: Partitions by topic.
        generation: In which generation; -1 if the leader does not know.
    """

    owned: Pairs
    generation: int


class Believed(NamedTuple):
    """A member as its leader sees it.

    Attributes:
        topics: What it subscribes to.
        claim: What it owns; None if the leader assumes that it owns nothing.
        rack: Its rack, or None.
        no_rack: How the member reports that it has no rack, as the core numbers it: 0 by an empty text, 1 by null, 2
            not at all.
        user_data: The assignor's own bytes, which `rack-affinity` reads.
    """

    topics: tuple[str, ...]
    claim: Claim | None
    rack: str | None
    no_rack: int
    user_data: bytes


def believed(client: str, assignor: str, member: str, metadata: bytes, version: str = "") -> Believed | None:
    """Read a member's metadata as a leader of a client does.

    Args:
        client: The leader's client.
        assignor: The assignor's wire name.
        member: The member's id, for the error.
        metadata: What the member sent.
        version: `@VERSION` of the leader's client, or empty.

    Returns:
        The member, or None if the leader leaves it out: it stays in the group and reads nothing.

    Raises:
        PartwrightError: The leader fails on the metadata, so nobody reads anything.
    """
    try:
        read = read_subscription(metadata)
    except ValueError:
        if client == "librdkafka":
            return None
        raise _fails(client, member, "these bytes are not a subscription") from None
    refused = _REFUSES.get(client + version, _REFUSES.get(client))
    if refused is not None and (why := refused(read)) is not None:
        raise _fails(client, member, why)
    if client == "librdkafka" and (read.is_short or not 0 < len(read.subscription.topics) <= _MOST_TOPICS):
        return None
    told = read.subscription
    claim = None
    if assignor == _STICKY:
        claims = _STICKY_CLAIMS.get(client + version) or _STICKY_CLAIMS[client]
        claim = claims(member, told.user_data)
    elif assignor == _COOPERATIVE:
        claim = _COOPERATIVE_CLAIMS[client](told)
    no_rack = (1 if told.rack is None else 0) if told.version >= _RACK else 2
    return Believed(told.topics, claim, told.rack, no_rack, told.user_data or b"")


def _fails(client: str, member: str, why: str) -> PartwrightError:
    return PartwrightError(
        f"a {client} leader fails on what member {member!r} sends, so nobody in the group reads anything: {why}",
        value=member,
    )


def _lacks_fields(version: int) -> str:
    return f"its subscription says version {version} but lacks that version's fields"


def _java_refuses(read: ParsedSubscription) -> str | None:
    if read.is_short:
        return f"{_lacks_fields(read.subscription.version)} (SchemaException)"
    return None


def _old_librdkafka_refuses(read: ParsedSubscription) -> str | None:
    if read.is_short:
        lacks = _lacks_fields(read.subscription.version)
        return f"{lacks}, so the leader fails an assertion and its process dies (1.6.0 to 1.8.2)"
    return None


def _sarama_refuses(read: ParsedSubscription) -> str | None:
    # A version 1 without OwnedPartitions is accepted.
    if read.is_short and read.subscription.version > 1:
        return _lacks_fields(read.subscription.version)
    return "there are bytes behind its subscription" if read.has_more and not read.is_short else None


def _franz_go_refuses(read: ParsedSubscription) -> str | None:
    # A version 1 that is too short is read as version 0.
    if read.is_short and read.subscription.version > 1:
        return _lacks_fields(read.subscription.version)
    return None


def _kafka_go_refuses(read: ParsedSubscription) -> str | None:
    if read.subscription.version == 0 and not read.has_more:
        return None
    if read.is_short and read.subscription.version == 1:
        return None
    return "kafka-go reads no bytes behind the user data (kafka-go#1196)"


def _kafka_python_refuses(read: ParsedSubscription) -> str | None:
    if read.is_short:
        return _lacks_fields(read.subscription.version)
    return None


_REFUSES: dict[str, Callable[[ParsedSubscription], str | None] | None] = {
    "java": _java_refuses,
    "librdkafka@1.6": _old_librdkafka_refuses,
    "sarama": _sarama_refuses,
    "kafka-go": _kafka_go_refuses,
    "franz-go": _franz_go_refuses,
    "kafka-python": _kafka_python_refuses,
    # It ignores everything after the user data.
    "kafka-python@2.2": None,
}
"""By client, or by client and version if an older version reads differently."""


def _java_sticky(_: str, data: bytes | None) -> Claim | None:
    if not data:
        return None
    try:
        found = read_sticky_user_data(data)
    except ValueError:
        return Claim((), -1)
    return Claim(found.owned, -1 if found.generation is None else found.generation)


def _sarama_sticky(member: str, data: bytes | None) -> Claim:
    if data is None:
        return Claim((), 0)
    try:
        found = read_sticky_user_data(data)
    except ValueError:
        found = None
    if found is None or found.to_bytes() != data:
        raise _fails(
            "sarama", member, f"user data that is not an assignment of sticky, {data.hex() or 'no bytes'}"
        )
    return Claim(found.owned, -1 if found.generation is None else found.generation)


def _franz_go_sticky(_: str, data: bytes | None) -> Claim:
    # sarama knows no generation below 0.
    try:
        found = read_sticky_user_data(data or b"")
    except ValueError:
        return Claim((), 0)
    return Claim(found.owned, max(0, found.generation or 0))


def _aiokafka_sticky(_: str, data: bytes | None) -> Claim | None:
    try:
        found = read_sticky_user_data(data or b"")
    except ValueError:
        return None
    # It cannot read version 0.
    return None if found.generation is None else Claim(found.owned, found.generation)


def _kafka_python_sticky(member: str, data: bytes | None) -> Claim | None:
    # It reads the first two bytes as a version, and only its own members write one.
    if not data or not data.startswith(b"\0\1"):
        return None
    return _aiokafka_sticky(member, data[2:])


_STICKY_CLAIMS: dict[str, Callable[[str, bytes | None], Claim | None]] = {
    "java": _java_sticky,
    "sarama": _sarama_sticky,
    "franz-go": _franz_go_sticky,
    "kafka-python": _kafka_python_sticky,
    "kafka-python@2.2": _aiokafka_sticky,
    "aiokafka": _aiokafka_sticky,
}


def _java_cooperative(told: MemberMetadata) -> Claim:
    if told.generation >= 0:
        return Claim(told.owned, told.generation)
    return Claim(told.owned, _first_number(told.user_data))


def _sarama_cooperative(told: MemberMetadata) -> Claim:
    if told.version > 1:
        return Claim(told.owned, told.generation)
    data = told.user_data or b""
    # sarama reads exactly four bytes here; with any other length it assumes that there is no generation.
    return Claim(told.owned, _first_number(data) if len(data) == len(struct.pack(">i", 0)) else -1)


def _franz_go_cooperative(told: MemberMetadata) -> Claim:
    if told.generation < 0 and (claim := _franz_go_sticky("", told.user_data)).owned:
        return claim
    # Without a generation, the claim is not trusted, but the partitions are withheld from others.
    return Claim(told.owned, told.generation)


def _of_fields(told: MemberMetadata) -> Claim:
    return Claim(told.owned, told.generation)


_COOPERATIVE_CLAIMS: dict[str, Callable[[MemberMetadata], Claim]] = {
    "java": _java_cooperative,
    "librdkafka": _of_fields,
    "sarama": _sarama_cooperative,
    "franz-go": _franz_go_cooperative,
    "kafka-python": _of_fields,
}


def _first_number(data: bytes | None) -> int:
    """The generation in user data as Java's `cooperative-sticky` writes it; -1 if the data has no generation."""
    if data is None or len(data) < len(struct.pack(">i", 0)):
        return -1
    return int(struct.unpack_from(">i", data)[0])
