"""How an existing topic differs from the requested one."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.kafka.client import TIMEOUT_S, admin_client, confluent_kafka
from partwright.kafka.errors import refusal
from partwright.kafka.topics import described

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright.kafka.client import Admin
    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.new_topic import NewTopic

__all__ = ["differences"]

# At most this many differing partitions are named.
_SHOWN = 3


def differences(config: KafkaConfig, topic: str, wanted: NewTopic) -> list[str]:
    """The differences between a topic and the requested one, a clause each; empty if the topic does not exist.

    Args:
        config: The client's configuration.
        topic: The topic.
        wanted: The requested topic.

    Raises:
        BrokerError: No Kafka answers, or the user may not see the topic or its settings.

    Examples:
        >>> from partwright.kafka.connection import KafkaConfig
        >>> from partwright.kafka.new_topic import NewTopic
        >>> config = KafkaConfig.read({}, servers="127.0.0.1:9092")
        >>> differences(config, "orders", NewTopic(configs={"cleanup.policy": "compact"}))
        ['cleanup.policy is delete, not compact']
    """
    if wanted.is_default:
        return []
    with admin_client(config, TIMEOUT_S) as admin:
        there = described(admin, [topic])[topic]
        if there is None:
            return []
        replicas = [[node.id for node in each.replicas] for each in there.partitions]
        found = _other_replicas(replicas, wanted)
        return found + (_other_configs(_configs(admin, topic), wanted.configs) if wanted.configs else [])


def _other_replicas(there: Sequence[Sequence[int]], wanted: NewTopic) -> list[str]:
    if wanted.replica_assignment is None:
        factor = wanted.replication_factor
        other = [
            f"partition {partition} has {counted(len(replicas), 'replica')}, not {factor}"
            for partition, replicas in enumerate(there)
            if factor is not None and len(replicas) != factor
        ]
    elif len(there) != len(wanted.replica_assignment):
        return [f"it has {counted(len(there), 'partition')}, not {len(wanted.replica_assignment)}"]
    else:
        other = [
            f"partition {partition} is on {_listed(replicas)}, not on {_listed(asked)}"
            for partition, (replicas, asked) in enumerate(zip(there, wanted.replica_assignment, strict=True))
            if list(replicas) != list(asked)
        ]
    more = len(other) - _SHOWN
    return (
        other
        if more <= 1
        else [*other[:_SHOWN], f"{counted(more, 'more partition differs', 'more partitions differ')} alike"]
    )


def _listed(brokers: Sequence[int]) -> str:
    return ":".join(map(str, brokers))


def _configs(admin: Admin, topic: str) -> dict[str, str | None]:
    """A topic's settings in force, including the defaults of its brokers."""
    kafka = confluent_kafka().admin
    resource = kafka.ConfigResource(kafka.ConfigResource.Type.TOPIC, topic)
    asked = admin.client.describe_configs([resource], request_timeout=admin.timeout)[resource]
    error = admin.error(asked)
    if error is not None:
        raise refusal(admin.config, error, "DESCRIBE_CONFIGS", f"the topic {topic!r}")
    return {name: entry.value for name, entry in asked.result().items()}


def _other_configs(there: Mapping[str, str | None], wanted: Mapping[str, str]) -> list[str]:
    found = []
    for name, value in wanted.items():
        if name not in there:
            found.append(f"its brokers know no setting {name}")
        elif not _is_same(there[name] or "", value):
            found.append(f"{name} is {there[name]}, not {value}")
    return found


def _is_same(one: str, other: str) -> bool:
    """Whether two texts mean the same value: Kafka returns numbers, lists and booleans in its own spelling.

    Examples:
        >>> _is_same("compact,delete", "compact, delete"), _is_same("0.5", "0.50"), _is_same("true", "TRUE")
        (True, True, True)
        >>> _is_same("compact", "delete")
        False
    """
    return [_value(each) for each in one.split(",")] == [_value(each) for each in other.split(",")]


def _value(text: str) -> str | Decimal:
    text = text.strip()
    try:
        return Decimal(text)
    except InvalidOperation:
        return text.lower() if text.lower() in {"true", "false"} else text
