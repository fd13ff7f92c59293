"""What each client's member tells the leader when it joins.

Java: `ConsumerCoordinator.metadata` and its assignors' `subscriptionUserData`. librdkafka: the `get_metadata` of its
assignors. sarama: `subscriptionMetadata`. franz-go: `JoinGroupMetadata`. kafka-go: `makeJoinGroupRequest`. kafkajs:
`protocol` of its assigner. kafka-python and aiokafka: `metadata` of their assignors.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from partwright.assignors.mixed.subscription import MemberMetadata, Pairs, StickyUserData

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Held", "in_order", "member_metadata"]

_VERSION_1 = b"\0\1"
_COOPERATIVE, _STICKY, _RACK_AFFINITY = "cooperative-sticky", "sticky", "rack-affinity"


class Held(NamedTuple):
    """What a member knows when it joins.

    Attributes:
        topics: The topics that it subscribes to, in the application's order.
        owned: Its last assignment; None if it never had one.
        generation: In which generation, or -1.
        rack: Its rack, or None.
        echo: The user data that the last leader put into this member's assignment, which sarama sends back; or None.
    """

    topics: tuple[str, ...]
    owned: Pairs | None
    generation: int
    rack: str | None
    echo: bytes | None

    @property
    def pairs(self) -> set[tuple[str, int]]:
        """The partitions that it owns, as (topic, partition)."""
        return {(topic, number) for topic, numbers in self.owned or () for number in numbers}


def member_metadata(client: str, assignor: str, held: Held, version: str = "") -> bytes:
    """The bytes that a member sends for one of its assignors.

    Args:
        client: The member's client, such as `sarama`.
        assignor: The assignor's wire name.
        held: What the member knows.
        version: `@VERSION` of the client, or empty.

    Examples:
        >>> member_metadata("kafka-go", "range", Held(("t",), None, -1, None, None)).hex()
        '000100000001000174ffffffff'
    """
    subscription = _OLDER.get(client + version, _SENDERS[client])(assignor, held)
    if client == "kafka-go":
        # It says version 1 and leaves out the field that came with it (kafka-go#762).
        return _VERSION_1 + subscription.to_bytes()[len(_VERSION_1) :]
    return subscription.to_bytes()


def _java(assignor: str, held: Held) -> MemberMetadata:
    user_data = None
    if assignor == _STICKY and held.owned is not None:
        user_data = StickyUserData(held.owned, held.generation).to_bytes()
    elif assignor == _COOPERATIVE:
        user_data = _number(held.generation)
    # An eager member has given up all it owned before it joins.
    owned = in_order(held.owned) if assignor == _COOPERATIVE else ()
    return MemberMetadata(3, tuple(sorted(held.topics)), user_data, owned, held.generation, held.rack)


def _librdkafka(assignor: str, held: Held) -> MemberMetadata:
    # Without client.rack it sends an empty text, not null.
    rack = held.rack or ""
    if assignor != _COOPERATIVE or held.owned is None:
        return MemberMetadata(3, held.topics, b"", (), -1, rack)
    user_data = StickyUserData(held.owned, held.generation).to_bytes()
    return MemberMetadata(3, held.topics, user_data, held.owned, held.generation, rack)


def _librdkafka_before_2_2(assignor: str, held: Held) -> MemberMetadata:
    # Versions before 2.2 knew neither generation nor rack.
    return replace(_librdkafka(assignor, held), version=1, generation=-1, rack=None)


def _sarama(assignor: str, held: Held) -> MemberMetadata:
    # Config.Version is 2.8 unless the application says otherwise: subscriptions of version 1.
    if assignor == _COOPERATIVE:
        return MemberMetadata(1, held.topics, _number(held.generation), in_order(held.owned))
    return MemberMetadata(1, held.topics, held.echo)


def _franz_go(assignor: str, held: Held) -> MemberMetadata:
    owned = in_order(held.owned)
    user_data = None
    if assignor in (_STICKY, _COOPERATIVE):
        user_data = StickyUserData(owned, held.generation).to_bytes()
    owned = owned if assignor == _COOPERATIVE else ()
    return MemberMetadata(3, tuple(sorted(held.topics)), user_data, owned, held.generation, held.rack)


def _kafka_go(assignor: str, held: Held) -> MemberMetadata:
    return MemberMetadata(0, held.topics, (held.rack or "").encode() if assignor == _RACK_AFFINITY else None)


def _kafkajs(_: str, held: Held) -> MemberMetadata:
    return MemberMetadata(0, held.topics, b"")


def _kafka_python(assignor: str, held: Held) -> MemberMetadata:
    if assignor == _COOPERATIVE:
        return MemberMetadata(1, tuple(sorted(held.topics)), b"", _numbers_sorted(held.owned))
    told = _aiokafka(assignor, held)
    if told.user_data:
        # It writes a version in front, which no other client does or reads.
        return replace(told, user_data=_VERSION_1 + told.user_data)
    return told


def _aiokafka(assignor: str, held: Held) -> MemberMetadata:
    user_data = b""
    if assignor == _STICKY and held.owned is not None:
        user_data = StickyUserData(held.owned, held.generation).to_bytes()
    return MemberMetadata(0, held.topics, user_data)


_SENDERS: dict[str, Callable[[str, Held], MemberMetadata]] = {
    "java": _java,
    "librdkafka": _librdkafka,
    "sarama": _sarama,
    "kafka-go": _kafka_go,
    "franz-go": _franz_go,
    "kafkajs": _kafkajs,
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
}


_OLDER: dict[str, Callable[[str, Held], MemberMetadata]] = {
    "librdkafka@2.1": _librdkafka_before_2_2,
    "librdkafka@1.6": _librdkafka_before_2_2,
    # The version in front of its user data came with 3.0.
    "kafka-python@2.2": _aiokafka,
}
"""By client and version, the older members that send something else."""


def _number(value: int) -> bytes:
    return struct.pack(">i", value)


def in_order(owned: Pairs | None) -> Pairs:
    """Topics by name, and partitions by number."""
    return tuple(sorted((topic, tuple(sorted(numbers))) for topic, numbers in owned or ()))


def _numbers_sorted(owned: Pairs | None) -> Pairs:
    return tuple((topic, tuple(sorted(numbers))) for topic, numbers in owned or ())
