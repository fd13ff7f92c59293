"""How each client's leader reads what members tell it.

Java: `ConsumerProtocol.deserializeSubscription` and `memberData` of the sticky assignors. librdkafka:
`rd_kafka_group_MemberMetadata_consumer_read`. sarama: `JoinGroupResponse.GetMembers` and `memberData`. franz-go:
`NewConsumerBalancer` and `deserializeUserData`. kafka-go: `makeMemberProtocolMetadata`. kafka-python and aiokafka:
`parse_member_metadata`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from partwright.assignors.mixed.subscription import (
    MemberMetadata,
    Pairs,
    read_sticky_user_data,
    read_subscription,
)
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.mixed.subscription import ParsedSubscription, StickyUserData

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


class MemberView(NamedTuple):
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


def view_member(
    client: str, assignor: str, member: str, metadata: bytes, version: str = ""
) -> MemberView | None:
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
    subscription = read.subscription
    claim = None
    if assignor == _STICKY:
        claim = (_STICKY_CLAIMS.get(client + version) or _STICKY_CLAIMS[client])(
            member, subscription.user_data
        )
    elif assignor == _COOPERATIVE:
        claim = _COOPERATIVE_CLAIMS[client](subscription)
    no_rack = (1 if subscription.rack is None else 0) if subscription.version >= _RACK else 2
    return MemberView(subscription.topics, claim, subscription.rack, no_rack, subscription.user_data or b"")


def _fails(client: str, member: str, why: str) -> PartwrightError:
    return PartwrightError(
        f"a {client} leader fails on what member {member!r} sends, so nobody in the group reads anything: {why}",
        value=member,
    )


def _if_short(so: str = "", since: int = 0) -> Callable[[ParsedSubscription], str | None]:
    """Refuse bytes that end before the fields of their version, from a version on; `so` ends the sentence."""

    def why(read: ParsedSubscription) -> str | None:
        version = read.subscription.version
        if not read.is_short or version < since:
            return None
        return f"its subscription says version {version} but lacks that version's fields{so}"

    return why


def _sarama_refuses(read: ParsedSubscription) -> str | None:
    if read.has_more and not read.is_short:
        return "there are bytes behind its subscription"
    # A version 1 without OwnedPartitions is accepted.
    return _if_short(since=2)(read)


def _kafka_go_refuses(read: ParsedSubscription) -> str | None:
    if read.subscription.version == 0 and not read.has_more:
        return None
    if read.is_short and read.subscription.version == 1:
        return None
    return "kafka-go reads no bytes behind the user data (kafka-go#1196)"


_REFUSES: dict[str, Callable[[ParsedSubscription], str | None] | None] = {
    "java": _if_short(" (SchemaException)"),
    "librdkafka@1.6": _if_short(", so the leader fails an assertion and its process dies (1.6.0 to 1.8.2)"),
    "sarama": _sarama_refuses,
    "kafka-go": _kafka_go_refuses,
    # A version 1 that is too short is read as version 0.
    "franz-go": _if_short(since=2),
    "kafka-python": _if_short(),
    # It ignores everything after the user data.
    "kafka-python@2.2": None,
}
"""By client, or by client and version if an older version reads differently."""


def _java_sticky(_: str, data: bytes | None) -> Claim | None:
    if not data:
        return None
    user_data = read_sticky_user_data(data)
    return Claim((), -1) if user_data is None else _sent_claim(user_data)


def _sarama_sticky(member: str, data: bytes | None) -> Claim:
    if data is None:
        return Claim((), 0)
    user_data = read_sticky_user_data(data)
    if user_data is None or user_data.to_bytes() != data:
        raise _fails(
            "sarama", member, f"user data that is not an assignment of sticky, {data.hex() or 'no bytes'}"
        )
    return _sent_claim(user_data)


def _sent_claim(user_data: StickyUserData) -> Claim:
    return Claim(user_data.owned, -1 if user_data.generation is None else user_data.generation)


def _franz_go_sticky(_: str, data: bytes | None) -> Claim:
    # sarama knows no generation below 0.
    user_data = read_sticky_user_data(data or b"")
    return Claim((), 0) if user_data is None else Claim(user_data.owned, max(0, user_data.generation or 0))


def _aiokafka_sticky(_: str, data: bytes | None) -> Claim | None:
    user_data = read_sticky_user_data(data or b"")
    # It cannot read version 0.
    return (
        None
        if user_data is None or user_data.generation is None
        else Claim(user_data.owned, user_data.generation)
    )


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


def _java_cooperative(subscription: MemberMetadata) -> Claim:
    if subscription.generation >= 0:
        return Claim(subscription.owned, subscription.generation)
    return Claim(subscription.owned, _first_number(subscription.user_data))


def _sarama_cooperative(subscription: MemberMetadata) -> Claim:
    if subscription.version > 1:
        return Claim(subscription.owned, subscription.generation)
    data = subscription.user_data or b""
    # sarama reads exactly four bytes here; with any other length it assumes that there is no generation.
    return Claim(subscription.owned, _first_number(data) if len(data) == len(struct.pack(">i", 0)) else -1)


def _franz_go_cooperative(subscription: MemberMetadata) -> Claim:
    if subscription.generation < 0 and (claim := _franz_go_sticky("", subscription.user_data)).owned:
        return claim
    # Without a generation, the claim is not trusted, but the partitions are withheld from others.
    return Claim(subscription.owned, subscription.generation)


def _of_fields(subscription: MemberMetadata) -> Claim:
    return Claim(subscription.owned, subscription.generation)


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
