"""The new topic: whether it can be created, how it is created, and whether an existing one fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.kafka.topics import create_topic, differences
from partwright.migration.topics import described_topic, meanwhile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwright.kafka.topics import NewTopic
    from partwright.migration.settings import Migration

__all__ = ["make_target", "refuse_other_target"]

# Settings that name throttled replicas by brokers, which the new topic may not have.
_OF_REPLICAS = {"leader.replication.throttled.replicas", "follower.replication.throttled.replicas"}


def make_target(
    migration: Migration, own: Mapping[str, str], known: Mapping[str, str], new_topic: NewTopic
) -> str:
    """Create the new topic with the old one's own settings, except those for the time of the copy.

    Args:
        migration: What is migrated.
        own: The old topic's own settings.
        known: All settings that a topic of the new one's Kafka has.
        new_topic: Its other properties; its settings take precedence over the old topic's.

    Returns:
        The topic's ID.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
    """
    copied = {name: value for name, value in own.items() if name in known and name not in _OF_REPLICAS}
    create_topic(
        migration.target.config,
        migration.target.topic,
        migration.partitions,
        replace(new_topic, configs={**copied, **new_topic.configs, **meanwhile(known)}),
    )
    return described_topic(migration.target).topic_id


def refuse_other_target(
    migration: Migration, new_topic: NewTopic, restore: Mapping[str, str | None] | None
) -> None:
    """Refuse an existing new topic that differs; it is never altered.

    Args:
        migration: What is migrated.
        new_topic: The requested properties.
        restore: The final values of its settings that differ during the copy; None before the migration began.

    Raises:
        PartwrightError: It differs.
        BrokerError: No Kafka answers, or it gives no right.
    """
    later = restore or {}
    now = {name: value for name, value in new_topic.configs.items() if name not in later}
    told = differences(migration.target.config, migration.target.topic, replace(new_topic, configs=now))
    told += [
        f"{name} will be {later[name] or 'the default'}, not {value}"
        for name, value in new_topic.configs.items()
        if name in later and later[name] != value
    ]
    if told:
        raise PartwrightError(
            f"the topic {migration.target.topic!r} exists already and is not as asked ({'; '.join(told)}): leave "
            "these options out, or alter the topic (kafka-configs.sh, kafka-reassign-partitions.sh)",
            value=migration.target.topic,
        )
