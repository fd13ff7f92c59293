"""Encode and decode what a member tells a group's leader (`ConsumerProtocolSubscription`).

>>> told = MemberMetadata(3, ("t",), None, (("t", (0, 2)),), generation=7, rack="a")
>>> told.to_bytes().hex()
'000300000001000174ffffffff0000000100017400000002000000000000000200000007000161'
>>> read_subscription(told.to_bytes()).subscription == told
True
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

__all__ = [
    "MemberMetadata",
    "Pairs",
    "ParsedSubscription",
    "StickyUserData",
    "read_sticky_user_data",
    "read_subscription",
]

Pairs: TypeAlias = "tuple[tuple[str, tuple[int, ...]], ...]"
"""Partitions by topic, in the order in which they are written."""

_NEWEST = 3
_OWNED, _GENERATION, _RACK = 1, 2, 3
"""The versions that added a field."""


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
    found = MemberMetadata(min(version, _NEWEST), topics, user_data, owned, generation, rack)
    return ParsedSubscription(found, is_short, reader.has_more())


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


def read_sticky_user_data(data: bytes) -> StickyUserData:
    """Reads the user data of `sticky`, of version 1, or else of version 0.

    Raises:
        ValueError: The bytes are neither.
    """
    reader = _ProtocolReader(data)
    try:
        owned = reader.pairs()
    except struct.error as error:
        raise ValueError(data) from error
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
        (found,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return int(found)

    def count(self) -> int:
        """How many elements an array has; each takes a byte or more."""
        found = self.number(">i")
        if found > len(self._data) - self._at:
            raise ValueError(found)
        return max(0, found)

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
        found = self._data[self._at : self._at + length]
        if len(found) < length:
            raise ValueError(length)
        self._at += length
        return found
