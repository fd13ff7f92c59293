"""Where a live Kafka keeps a group's offsets, who coordinates it, and what it has committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.errors import BrokerError
from partwright.kafka.client import TIMEOUT_S, Admin, admin_client
from partwright.kafka.connection import configured
from partwright.kafka.groups import describe_group, group_offsets
from partwright.kafka.topics import described
from partwright.keys.coordinators import broker_kind_named

if TYPE_CHECKING:
    from confluent_kafka import Node

    from partwright._check import Json
    from partwright.kafka.connection import KafkaConfigLike
    from partwright.keys.coordinators import BrokerKind

__all__ = ["GROUPS", "TRANSACTIONS", "coordinator"]

# org.apache.kafka.common.internals.Topic.
GROUPS = "__consumer_offsets"
TRANSACTIONS = "__transaction_state"


def coordinator(
    kafka_config: KafkaConfigLike,
    name: str,
    topic: str = GROUPS,
    *,
    broker_kind: str = "kafka",
    timeout: float = TIMEOUT_S,
) -> Json:
    """The partition of an ID in an internal topic, the broker that leads it, and what a group has committed.

    The partition comes from the broker's rule, so a group's coordinator is asked for as well (FindCoordinator). If that
    is not the broker that leads the partition, the rule is wrong there.

    Args:
        kafka_config: The broker's address, `host:port`, or the client configuration.
        name: The group's ID, or a transactional ID.
        topic: `__consumer_offsets`, or `__transaction_state` for a transactional id.
        broker_kind: Whose rule: `kafka` or `redpanda`.
        timeout: Seconds, for reaching the broker and again for each of its answers.

    Returns:
        `n` (how many partitions the internal topic has), `by_rule` (the partition by the rule), `leads_all` (whether
        its leader leads all the others too), `rule_agrees` (whether the coordinator leads it; None if it was not asked
        for, or leads all partitions, which says nothing), `partition` (the same as `by_rule`; None if the rule is
        wrong), `leader` (`id`, `host` and `port` of the coordinator; None where there is none) and, for a group,
        `offsets`: a dict of `topic`, `partition`, `offset` (the next one that the group reads) and `metadata` for each,
        by topic and partition.

        A transactional ID's coordinator is not asked for, because confluent-kafka cannot; nor is that of a group
        that does not exist.

    Raises:
        BrokerError: No Kafka answers, or it has no such internal topic yet.
        PartwrightError: There is no such kind of broker.

    Examples:
        >>> coordinator("127.0.0.1:9092", "billing")["leader"]["id"]
        1
    """
    kind = broker_kind_named(broker_kind)
    with admin_client(configured(kafka_config), timeout) as admin:
        found = _by_rule(admin, name, topic, kind)
        if topic != GROUPS:
            return found
        asked = _find_coordinator(admin, name)
        if asked is not None and not _leads(asked, found):
            # Its leader may have changed between the two answers.
            found, asked = _by_rule(admin, name, topic, kind), _find_coordinator(admin, name)
        if asked is not None and not _leads(asked, found):
            found |= {"partition": None, "leader": asked, "rule_agrees": False}
        elif asked is not None and not found["leads_all"]:
            found["rule_agrees"] = True
        return {**found, "offsets": _committed(admin, name)}


def _leads(coordinator: Json, found: Json) -> bool:
    """Whether a coordinator leads the partition: a broker may give another address in each of its answers."""
    return found["leader"] is not None and bool(found["leader"]["id"] == coordinator["id"])


def _by_rule(admin: Admin, name: str, topic: str, kind: BrokerKind) -> Json:
    internal = described(admin, [topic])[topic]
    if internal is None:
        raise BrokerError(
            f"Kafka {admin.where} has no topic {topic}: it makes it for the first "
            f"{'group' if topic == GROUPS else 'transactional producer'} that it coordinates"
        )
    leaders: dict[int | None, Json | None] = {each.id: _node(each.leader) for each in internal.partitions}
    partition = kind.of_bytes(name.encode(), len(leaders))
    return {
        "n": len(leaders),
        "partition": partition,
        "by_rule": partition,
        "rule_agrees": None,
        "leader": leaders[partition],
        "leads_all": all(each == leaders[partition] for each in leaders.values()),
    }


def _find_coordinator(admin: Admin, group: str) -> Json | None:
    """The coordinator that FindCoordinator names; None if there is no such group."""
    found = describe_group(admin, group)
    return None if found is None else _node(found.coordinator)


def _node(node: Node | None) -> Json | None:
    return None if node is None else {"id": node.id, "host": node.host, "port": node.port}


def _committed(admin: Admin, group: str) -> list[Json]:
    return [
        {
            "topic": each.topic,
            "partition": each.partition,
            "offset": each.offset,
            "metadata": each.metadata or "",
        }
        for each in sorted(group_offsets(admin, group), key=lambda each: (each.topic, each.partition))
    ]
