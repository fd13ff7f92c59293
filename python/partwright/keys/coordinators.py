"""Where brokers keep a group's offsets: each kind of broker with its rule, and the answer about one ID."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from partwright import _core
from partwright._check import Json, unknown
from partwright.answer import Answer

if TYPE_CHECKING:
    import pyarrow as pa


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


@dataclass(frozen=True)
class Coordination(Answer):
    """Which partition of an internal topic has an ID, and who coordinates it.

    Attributes:
        id: The group's ID, or a transactional ID.
        topic: The internal topic.
        kind: Whose rule was used.
        hash: The ID's hash code in Java; None if the rule has another hash.
        place: `n` and `partition`; if a broker was asked, all that `partwright.kafka.groups.coordinator` returns.
        read: The command that reads the partition; None if it is unknown.
    """

    DOCUMENT = "coordinator"

    id: str
    topic: str
    kind: BrokerKind
    hash: int | None
    place: Json
    read: str | None

    def to_arrow(self) -> pa.Table:
        """The committed offsets: `topic`, `partition`, `offset` and `metadata`; no row if no broker was asked."""
        import pyarrow as pa  # noqa: PLC0415 - an answer without a table needs none

        types = {"topic": pa.string(), "partition": pa.int32(), "offset": pa.int64(), "metadata": pa.string()}
        return pa.Table.from_pylist(self.place.get("offsets", []), pa.schema(types.items()))

    def to_dict(self) -> Json:
        """The object of `--json`."""
        kind = self.kind
        rule = {"broker_kind": kind.name, "formula": kind.formula, "evidence": kind.evidence}
        question = {"id": self.id, "topic": self.topic, "hash": self.hash, "rule": rule}
        return {**question, **self.place, "read": self.read}


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
    value: object = name
    if not isinstance(value, str) or value not in _KINDS:
        raise unknown(value, "broker kind", _KINDS, "partwright")
    return _KINDS[value]
