"""Where a live Kafka keeps a group's offsets, who coordinates it, and what it has committed, over kafka-python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.errors import BrokerError
from partwright.kafka.metadata import live_cluster
from partwright.kafka.topics import admin_client, partition_count
from partwright.keys.hashing import coordinator_partition

if TYPE_CHECKING:
    from partwright._check import Json

__all__ = ["GROUPS", "TRANSACTIONS", "coordinator"]

# org.apache.kafka.common.internals.Topic.
GROUPS = "__consumer_offsets"
TRANSACTIONS = "__transaction_state"

_TIMEOUT_S = 5.0


def coordinator(bootstrap: str, name: str, topic: str = GROUPS, *, timeout: float = _TIMEOUT_S) -> Json:
    """The partition of an id in an internal topic, the broker that leads it, and what a group has committed.

    Args:
        bootstrap: Where the broker is, `host:port`.
        name: The group's id, or a transactional id.
        topic: `__consumer_offsets`, or `__transaction_state` for a transactional id.
        timeout: Seconds, for reaching the broker and again for each of its answers.

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
    if partition_count(bootstrap, topic, timeout=timeout) is None:
        raise BrokerError(
            f"Kafka at {bootstrap} has no topic {topic}: it makes it for the first "
            f"{'group' if topic == GROUPS else 'transactional producer'} that it coordinates"
        )
    cluster = live_cluster(bootstrap, [topic], timeout=timeout)
    partitions = cluster.partitions(topic)
    partition = coordinator_partition(name, len(partitions))
    leader = next(each.leader for each in partitions if each.id == partition)
    broker = None if leader is None else cluster.broker(leader)
    found = {
        "n": len(partitions),
        "partition": partition,
        "leader": None if broker is None else {"id": broker.id, "host": broker.host, "port": broker.port},
    }
    return {**found, "offsets": _committed(bootstrap, name, timeout)} if topic == GROUPS else found


def _committed(bootstrap: str, group: str, timeout: float) -> list[Json]:
    with admin_client(bootstrap, timeout) as admin:
        told = admin.list_group_offsets(group)[group]
    return [
        {"topic": of.topic, "partition": of.partition, "offset": at.offset, "metadata": at.metadata or ""}
        for of, at in sorted(told.items())
    ]
