"""A placement written by hand, as for `kafka-topics.sh --replica-assignment`, with Kafka's own checks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from partwright._check import counted, listed, number, shown
from partwright.cluster.brokers import Broker, read_brokers
from partwright.cluster.metadata import Cluster
from partwright.cluster.placement.replicas import Placement
from partwright.errors import PartwrightError

# The characters that Java's String.trim removes.
_BLANKS = "".join(map(chr, range(33)))
_HIGHEST = 2**31 - 1


def explicit(
    assignment: str | Iterable[Sequence[int]], brokers: Cluster | Iterable[Broker | int] | None = None
) -> Placement:
    """A placement from a text such as `0:1,1:2`, or from lists: one for each partition, its preferred leader first.

    The text is read as `TopicCommand.parseReplicaAssignment` of kafka-tools 3.9.2 does, and lists are checked as the
    controller's `ReplicationControlManager.validateManualPartitionAssignment` does.

    Args:
        assignment: The text, or the lists.
        brokers: The cluster's brokers; by default those that the lists name.

    Returns:
        The placement.

    Raises:
        PartwrightError: Kafka refuses it: no partition, an empty list, a broker that is not a number, is in one list
            twice, or is not in the cluster; lists of unequal length.

    Examples:
        >>> explicit("0:1,1:2", range(3)).replicas
        ((0, 1), (1, 2))
        >>> explicit("0:1,1:3", range(3))
        Traceback (most recent call last):
        partwright.errors.PartwrightError: partition 1: there is no broker 3: there are the brokers 0, 1 and 2
    """
    if isinstance(assignment, str):
        parts = enumerate(_java_split(assignment, ","))
        lists = tuple(tuple(_broker(each, at) for each in _java_split(part, ":")) for at, part in parts)
    else:
        lists = _lists(assignment)
    if not lists:
        raise PartwrightError("the replica assignment names no partition: write 0:1,1:2")
    for partition, replicas in enumerate(lists):
        if not replicas:
            raise PartwrightError(
                f"partition {partition} has an empty list of replicas: name at least one broker"
            )
        if len(replicas) != len(lists[0]):
            raise PartwrightError(
                f"partition {partition} has {counted(len(replicas), 'replica')} and partition 0 has {len(lists[0])}: "
                "all partitions of a new topic need the same number"
            )
    if brokers is None:
        brokers = sorted({each for replicas in lists for each in replicas})
    return Placement(read_brokers(brokers), lists)


def java_int(text: str) -> int | None:
    """`Integer.parseInt`, or None if it throws: an optional sign, digits of any script, within 32 bits.

    Examples:
        >>> java_int("+07"), java_int("1_000"), java_int("2147483648")
        (7, None, None)
    """
    if not re.fullmatch(r"[+-]?\d+", text) or any(letter > "\uffff" for letter in text):
        return None
    sign = -1 if text[0] == "-" else 1
    value = 0
    for letter in text.lstrip("+-"):
        value = value * 10 + unicodedata.decimal(letter)
        if value > _HIGHEST + 1:
            return None
    return sign * value if -(2**31) <= sign * value <= _HIGHEST else None


def _java_split(text: str, separator: str) -> list[str]:
    """`String.split`, which drops empty texts at the end; an empty text gives one empty text."""
    parts = text.split(separator)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


def _broker(text: str, partition: int) -> int:
    broker = java_int(text.strip(_BLANKS))
    if broker is None or broker < 0:
        raise PartwrightError(
            f"partition {partition}: {shown(text)} is not an id of a broker: write 0:1,1:2, a list of ids a partition"
        )
    return broker


def _lists(assignment: object) -> tuple[tuple[int, ...], ...]:
    what = "the replica assignment"
    return tuple(
        tuple(number(each, f"partition {partition}: a broker's id") for each in listed(replicas, what))
        for partition, replicas in enumerate(listed(assignment, what))
    )
