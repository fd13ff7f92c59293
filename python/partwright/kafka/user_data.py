"""The bytes in which Java's `StickyAssignor` reports what a member owns (`STICKY_ASSIGNOR_USER_DATA_V1`).

kafka-python's own assignor with this name puts a version in front. Java's assignor cannot read that, and kafka-python's
cannot read Java's bytes.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["decode", "encode"]

NO_GENERATION = -1


def encode(owned: Iterable[tuple[str, int]], generation: int) -> bytes:
    """Encodes the partitions by topic, and the generation in which they were assigned.

    Examples:
        >>> encode([("t", 2)], 5).hex()
        '00000001000174000000010000000200000005'
    """
    topics: dict[str, list[int]] = {}
    for topic, partition in owned:
        topics.setdefault(topic, []).append(partition)
    parts = [struct.pack(">i", len(topics))]
    for topic, partitions in topics.items():
        name = topic.encode()
        parts.append(
            struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions)
        )
    return b"".join([*parts, struct.pack(">i", generation)])


def decode(data: bytes | None) -> tuple[list[tuple[str, int]], int] | None:
    """Decodes such bytes as Java's assignor does. Without a generation they have version 0.

    Returns:
        The owned partitions and the generation; None if there is nothing to read.

    Examples:
        >>> decode(encode([("t", 2), ("t", 0)], 5))
        ([('t', 2), ('t', 0)], 5)
        >>> decode(b"anything")
    """
    if not data:
        return None
    try:
        place = 4
        owned = []
        for _ in range(*struct.unpack_from(">i", data)):
            (length,) = struct.unpack_from(">h", data, place)
            name, count = struct.unpack_from(f">{length}si", data, place + 2)
            place += 6 + length
            owned += [
                (name.decode(), partition) for partition in struct.unpack_from(f">{count}i", data, place)
            ]
            place += 4 * count
    except (struct.error, UnicodeDecodeError):
        return None
    generation = struct.unpack_from(">i", data, place)[0] if len(data) >= place + 4 else NO_GENERATION
    return owned, generation
