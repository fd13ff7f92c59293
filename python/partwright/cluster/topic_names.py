"""Which names a topic can have, and which two names Kafka does not allow together.

Exact to `org.apache.kafka.common.internals.Topic` of kafka-clients 4.4.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from partwright._check import listed, shown
from partwright.errors import PartwrightError

# A folder's name has 255 bytes at most on the usual file systems: a topic's, a dash, and a number of five digits.
LONGEST_TOPIC = 249


def check_topic(topic: str) -> str:
    """Check a topic's name as Kafka does (`Topic.validate`).

    Args:
        topic: 1 to 249 of the letters a-z, A-Z, 0-9, `.`, `_` and `-`, and neither `.` nor `..`.

    Returns:
        The same.

    Raises:
        PartwrightError: Kafka does not allow the name.

    Examples:
        >>> check_topic("orders.v1")
        'orders.v1'
        >>> check_topic("orders:v1")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: a topic cannot be called 'orders:v1': use a-z, A-Z, 0-9, '.', '_' and '-'
    """
    value: object = topic
    if not isinstance(value, str) or not value:
        raise PartwrightError(f"a topic's name is text of at least one letter, not {shown(topic)}")
    if topic in {".", ".."}:
        raise PartwrightError(f"a topic cannot be called {topic!r}: to a file system it is a folder")
    if not re.fullmatch(r"[a-zA-Z0-9._-]+", topic):
        raise PartwrightError(f"a topic cannot be called {shown(topic)}: use a-z, A-Z, 0-9, '.', '_' and '-'")
    if len(topic) > LONGEST_TOPIC:
        raise PartwrightError(
            f"a topic's name has {LONGEST_TOPIC} letters at most: {shown(topic)} has {len(topic)}"
        )
    return topic


def collisions(topics: Iterable[str]) -> list[tuple[str, ...]]:
    """Names that Kafka does not allow together: metrics write `.` as `_` (`Topic.hasCollision`).

    Args:
        topics: Names of topics; a repeated name counts once.

    Returns:
        The groups of two or more that collide, in the order given.

    Raises:
        PartwrightError: A name is not one that Kafka allows.

    Examples:
        >>> collisions(["a.b", "c", "a_b"])
        [('a.b', 'a_b')]
    """
    groups: dict[str, dict[str, None]] = {}
    for topic in listed(topics, "topics"):
        groups.setdefault(check_topic(topic).replace(".", "_"), {})[topic] = None
    return [tuple(group) for group in groups.values() if len(group) > 1]
