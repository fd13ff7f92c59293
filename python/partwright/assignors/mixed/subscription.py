"""What each client's member tells a group's leader as it joins: `ConsumerProtocolSubscription`, written and read.

Java: `ConsumerCoordinator.metadata` and its assignors' `subscriptionUserData`. librdkafka: the `get_metadata` of its
assignors. sarama: `subscriptionMetadata`. franz-go: `JoinGroupMetadata`. kafka-go: `makeJoinGroupRequest`. kafkajs:
`protocol` of its assigner. kafka-python and aiokafka: `metadata` of their assignors.

>>> sent = MemberMetadata(3, ("t",), None, (("t", (0, 2)),), generation=7, rack="a")
>>> sent.to_bytes().hex()
'000300000001000174ffffffff0000000100017400000002000000000000000200000007000161'
>>> read_subscription(sent.to_bytes()).subscription == sent
True
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

Pairs: TypeAlias = "tuple[tuple[str, tuple[int, ...]], ...]"
"""Partitions by topic, in the order in which they are written."""

_NEWEST = 3
_OWNED, _GENERATION, _RACK = 1, 2, 3
"""The versions that added a field."""
_VERSION_1 = b"\0\1"
_COOPERATIVE, _STICKY, _RACK_AFFINITY = "cooperative-sticky", "sticky", "rack-affinity"


@dataclass(frozen=True)
class MemberMetadata:
    """A member's metadata in its JoinGroup request.

    Attributes:
        version: 0 to 3; which of the fields below are written depends on it.
        topics: The topics that the member subscribes to, in its order.
        user_data: The assignor's own bytes; None for null.
        owned: The partitions that the member owns; from version 1 on.
        generation: The generation in which it got them, -1 if it does not say; from version 2 on.
        rack: Its `client.rack`, or None; from version 3 on.
    """

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned: Pairs = ()
    generation: int = -1
    rack: str | None = None

    def to_bytes(self) -> bytes:
        """The bytes that the member sends."""
        out = struct.pack(">h", self.version) + _array([_text(topic) for topic in self.topics])
        out += _data(self.user_data)
        if self.version >= _OWNED:
            out += _pairs(self.owned)
        if self.version >= _GENERATION:
            out += struct.pack(">i", self.generation)
        if self.version >= _RACK:
            out += struct.pack(">h", -1) if self.rack is None else _text(self.rack)
        return out


class ParsedSubscription(NamedTuple):
    """A subscription as far as it could be read.

    Attributes:
        subscription: The fields as far as they could be read.
        is_short: The bytes end before the fields that their version has.
        has_more: There are bytes behind those fields.
    """

    subscription: MemberMetadata
    is_short: bool
    has_more: bool


def read_subscription(data: bytes) -> ParsedSubscription:
    """Read a subscription of version 0 to 3, or a later one, which keeps these fields.

    Args:
        data: A member's metadata.

    Raises:
        ValueError: The version, the topics or the user data cannot be read: these bytes are not a subscription.
    """
    reader = _ProtocolReader(data)
    try:
        version = reader.number(">h")
        topics = tuple(reader.text() or "" for _ in range(reader.count()))
        user_data = reader.data()
    except struct.error as error:
        raise ValueError(data) from error
    owned: Pairs = ()
    generation, rack, is_short = -1, None, False
    try:
        if version >= _OWNED:
            owned = reader.pairs()
        if version >= _GENERATION:
            generation = reader.number(">i")
        if version >= _RACK:
            rack = reader.text()
    except (struct.error, ValueError):
        is_short = True
    metadata = MemberMetadata(min(version, _NEWEST), topics, user_data, owned, generation, rack)
    return ParsedSubscription(metadata, is_short, reader.has_more())


class StickyUserData(NamedTuple):
    """The user data of `sticky`: a member's partitions, and in version 1 the generation in which it got them.

    Attributes:
        owned: Partitions by topic.
        generation: The generation; None in version 0.
    """

    owned: Pairs
    generation: int | None

    def to_bytes(self) -> bytes:
        """The bytes as Java, sarama, franz-go, kafka-python and aiokafka write them.

        Examples:
            >>> StickyUserData((("t", (1,)),), 5).to_bytes().hex()
            '00000001000174000000010000000100000005'
        """
        return _pairs(self.owned) + (b"" if self.generation is None else struct.pack(">i", self.generation))


def read_sticky_user_data(data: bytes) -> StickyUserData | None:
    """Reads the user data of `sticky`, of version 1, or else of version 0; None if the bytes are neither."""
    reader = _ProtocolReader(data)
    try:
        owned = reader.pairs()
    except (struct.error, ValueError):
        return None
    try:
        return StickyUserData(owned, reader.number(">i"))
    except struct.error:
        return StickyUserData(owned, None)


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def _data(value: bytes | None) -> bytes:
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value


def _array(values: list[bytes]) -> bytes:
    return struct.pack(">i", len(values)) + b"".join(values)


def _pairs(owned: Pairs) -> bytes:
    return _array(
        [_text(topic) + _array([struct.pack(">i", each) for each in numbers]) for topic, numbers in owned]
    )


class _ProtocolReader:
    """Kafka's primitive types, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def has_more(self) -> bool:
        return self._at < len(self._data)

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return int(value)

    def count(self) -> int:
        """How many elements an array has; each takes a byte or more."""
        length = self.number(">i")
        if length > len(self._data) - self._at:
            raise ValueError(length)
        return max(0, length)

    def text(self) -> str | None:
        length = self.number(">h")
        return None if length < 0 else self._taken(length).decode()

    def data(self) -> bytes | None:
        length = self.number(">i")
        return None if length < 0 else self._taken(length)

    def pairs(self) -> Pairs:
        return tuple(
            (self.text() or "", tuple(self.number(">i") for _ in range(self.count())))
            for _ in range(self.count())
        )

    def _taken(self, length: int) -> bytes:
        data = self._data[self._at : self._at + length]
        if len(data) < length:
            raise ValueError(length)
        self._at += length
        return data


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
        user_data = struct.pack(">i", held.generation)
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
        return MemberMetadata(1, held.topics, struct.pack(">i", held.generation), in_order(held.owned))
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
    metadata = _aiokafka(assignor, held)
    if metadata.user_data:
        # It writes a version in front, which no other client does or reads.
        return replace(metadata, user_data=_VERSION_1 + metadata.user_data)
    return metadata


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


def in_order(owned: Pairs | None) -> Pairs:
    """Topics by name, and partitions by number."""
    return tuple(sorted((topic, tuple(sorted(numbers))) for topic, numbers in owned or ()))


def _numbers_sorted(owned: Pairs | None) -> Pairs:
    return tuple((topic, tuple(sorted(numbers))) for topic, numbers in owned or ())
