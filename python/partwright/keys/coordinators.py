"""Where brokers keep a group's offsets: each kind of broker with its rule from the group's ID to a partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from partwright import _core
from partwright._check import unknown

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex

__all__ = ["BrokerKind", "broker_kind_named"]


class BrokerKind(NamedTuple):
    """A kind of broker.

    Attributes:
        name: Its name.
        partitions: How many partitions `__consumer_offsets` has by default.
        formula: The rule in words, where `id` is the group's ID.
        evidence: How we know the rule.
        of_column: The partition of each ID of a column.
        of_bytes: The partition of one ID.
    """

    name: str
    partitions: int
    formula: str
    evidence: str
    of_column: Callable[[Any, SupportsIndex], Any]
    of_bytes: Callable[[bytes | None, SupportsIndex], int | None]


_KINDS = {
    each.name: each
    for each in (
        BrokerKind(
            "kafka",
            50,
            "abs(hashCode) % n",
            "compared with a running Kafka",
            _core.coordinator_partition,
            _core.coordinator_partition_of_bytes,
        ),
        # `coordinator_ntp_mapper::ntp_for` and `group_topic_partitions`, the same in v24.3 and in v25.1.0-dev.
        BrokerKind(
            "redpanda",
            16,
            "jump_consistent_hash(xxh64(id), n)",
            "read from its source, not tried",
            _core.redpanda_coordinator,
            _core.redpanda_coordinator_of_bytes,
        ),
    )
}


def broker_kind_named(name: str) -> BrokerKind:
    """The kind of broker with this name.

    Raises:
        PartwrightError: There is none.

    Examples:
        >>> broker_kind_named("redpanda").of_bytes(b"panda3", 16)
        13
    """
    given: object = name
    if not isinstance(given, str) or given not in _KINDS:
        raise unknown(given, "broker kind", _KINDS, "partwright")
    return _KINDS[given]
