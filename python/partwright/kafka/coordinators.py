"""Where a live Kafka keeps a group's offsets, who coordinates it, and what it has committed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from partwright.errors import BrokerError
from partwright.kafka.client import NO_SUCH_GROUP, TIMEOUT_S, Admin, admin_client
from partwright.kafka.connection.given import configured
from partwright.kafka.groups import group_offsets
from partwright.kafka.topics import described
from partwright.keys.hashing import coordinator_partition

if TYPE_CHECKING:
    from confluent_kafka import Node

    from partwright._check import Json
    from partwright.kafka.connection.given import KafkaConfigLike

__all__ = ["GROUPS", "TRANSACTIONS", "coordinator"]

# org.apache.kafka.common.internals.Topic.
GROUPS = "__consumer_offsets"
TRANSACTIONS = "__transaction_state"


def coordinator(
    bootstrap: str | None,
    name: str,
    topic: str = GROUPS,
    *,
    timeout: float = TIMEOUT_S,
    kafka_config: KafkaConfigLike = None,
) -> Json:
    """The partition of an ID in an internal topic, the broker that leads it, and what a group has committed.

    Args:
        bootstrap: The broker, `host:port`; None for the `bootstrap.servers` of the configuration.
        name: The group's ID, or a transactional ID.
        topic: `__consumer_offsets`, or `__transaction_state` for a transactional id.
        timeout: Seconds, for reaching the broker and again for each of its answers.
        kafka_config: The client configuration.

    Returns:
        `n` (how many partitions the internal topic has), `partition`, `leader` (`id`, `host` and `port` of the broker
        that leads it, which is the coordinator; None where none does) and, for a group, `offsets`: a dict of `topic`,
        `partition`, `offset` (the next one that the group reads) and `metadata` for each, by topic and partition.

    Raises:
        BrokerError: No Kafka answers, or it has no such internal topic yet.

    Examples:
        >>> coordinator("127.0.0.1:9092", "billing")["leader"]["id"]
        1
    """
    with admin_client(configured(kafka_config, bootstrap), timeout) as admin:
        internal = described(admin, [topic])[topic]
        if internal is None:
            raise BrokerError(
                f"Kafka {admin.where} has no topic {topic}: it makes it for the first "
                f"{'group' if topic == GROUPS else 'transactional producer'} that it coordinates"
            )
        partition = coordinator_partition(name, len(internal.partitions))
        of = next(each.leader for each in internal.partitions if each.id == partition)
        leader = cast("Node | None", of)
        found = {
            "n": len(internal.partitions),
            "partition": partition,
            "leader": None if leader is None else {"id": leader.id, "host": leader.host, "port": leader.port},
        }
        return {**found, "offsets": _committed(admin, name)} if topic == GROUPS else found


def _committed(admin: Admin, group: str) -> list[Json]:
    of = f"the group {group!r}"
    asked = group_offsets(admin, group)
    error = admin.error(asked)
    if error is not None and error.code() == NO_SUCH_GROUP:
        return []
    told = admin.answer(asked, "DESCRIBE", of)
    return [
        {
            "topic": each.topic,
            "partition": each.partition,
            "offset": each.offset,
            "metadata": each.metadata or "",
        }
        for each in sorted(told.topic_partitions or [], key=lambda each: (each.topic, each.partition))
    ]
