"""The old topic, the new one and its ledger: looked at, made, and given settings that are set back later."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import MOST_LONG
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import TIMEOUT_S, Admin, admin_client, confluent_kafka
from partwright.kafka.topics import create_topic, described, existing, offsets_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwright.kafka.connection import KafkaConfig
    from partwright.migration.settings import Migration, Side

__all__ = [
    "Found",
    "Settings",
    "alter",
    "cluster_of",
    "ends_of",
    "found",
    "is_there",
    "make_ledger",
    "make_target",
    "meanwhile",
    "refuse_foreign",
    "settings_of",
]

# While a topic is copied nothing is deleted of it, and each record keeps its time whatever that is.
_MEANWHILE = {
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": str(MOST_LONG),
    "message.timestamp.after.max.ms": str(MOST_LONG),
    "message.timestamp.difference.max.ms": str(MOST_LONG),
}
# Which replicas are throttled: the numbers of brokers that the new topic may not have.
_OF_REPLICAS = {"leader.replication.throttled.replicas", "follower.replication.throttled.replicas"}
_ITS_OWN = 1
# LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER and REPLICA_NOT_AVAILABLE.
_LEADERLESS = {5, 6, 9}
_SETTLE_S, _POLL_S = 30.0, 0.2


class Found(NamedTuple):
    """A topic as it is now.

    Attributes:
        topic_id: Kafka's id of it, which tells it from another one of the same name.
        begin: The first offset of each partition.
        ends: The offset behind the last record of each that readers of committed records see.
        tails: The offset behind the last record of each, those of open transactions among them.
    """

    topic_id: str
    begin: list[int]
    ends: list[int]
    tails: list[int]


class Settings(NamedTuple):
    """A topic's settings.

    Attributes:
        own: Those that were set for this topic.
        all: All that hold for it.
    """

    own: dict[str, str]
    all: dict[str, str]


def cluster_of(config: KafkaConfig) -> str:
    """The id of the cluster that answers.

    Raises:
        BrokerError: No Kafka answers.
    """
    with admin_client(config, TIMEOUT_S) as admin:
        return str(admin.answer(admin.client.describe_cluster(request_timeout=TIMEOUT_S)).cluster_id)


def found(side: Side) -> Found:
    """A topic as it is now.

    Raises:
        BrokerError: No Kafka answers, it gives no right, or there is no such topic.
    """
    with admin_client(side.config, TIMEOUT_S) as admin:
        topic = existing(admin, side.topic, "READ")
        every = range(len(topic.partitions))
        begin, ends, tails = (
            offsets_of(admin, side.topic, every, spec, committed=committed)
            for spec, committed in (("earliest", False), ("latest", True), ("latest", False))
        )
        return Found(str(topic.topic_id), *([each[p] for p in every] for each in (begin, ends, tails)))


def is_there(side: Side) -> bool:
    """Whether there is such a topic.

    Raises:
        BrokerError: No Kafka answers, or it gives no right.
    """
    with admin_client(side.config, TIMEOUT_S) as admin:
        return described(admin, [side.topic], "READ")[side.topic] is not None


def ends_of(side: Side, topic_id: str, partitions: int) -> list[int]:
    """The offset behind the last committed record of each partition of the old topic.

    Args:
        side: The topic.
        topic_id: The id that it had as its copy began.
        partitions: How many partitions it had.

    Raises:
        BrokerError: No Kafka answers, it gives no right, or there is no such topic.
        PartwrightError: It is another one by now, or has another number of partitions.
    """
    until = time.monotonic() + _SETTLE_S
    while True:
        try:
            now = found(side)
            break
        except BrokerError as error:
            # A partition's leader moves now and then while a topic is copied.
            if error.value not in _LEADERLESS or time.monotonic() > until:
                raise
            time.sleep(_POLL_S)
    if now.topic_id != topic_id:
        raise PartwrightError(
            f"the topic {side.topic!r} was deleted and made again while it was copied: delete the new topic and its "
            "ledger, and begin anew",
            value=side.topic,
        )
    if len(now.ends) != partitions:
        raise PartwrightError(
            f"the topic {side.topic!r} has {len(now.ends)} partitions by now, and had {partitions} as its copy began: "
            "delete the new topic and its ledger, and begin anew",
            value=len(now.ends),
        )
    return now.ends


def settings_of(side: Side) -> Settings:
    """A topic's settings.

    Raises:
        BrokerError: No Kafka answers, or it gives no right.
    """
    with admin_client(side.config, TIMEOUT_S) as admin:
        kafka = confluent_kafka()
        resource = kafka.admin.ConfigResource(kafka.admin.ResourceType.TOPIC, side.topic)
        asked = admin.client.describe_configs([resource], request_timeout=TIMEOUT_S)[resource]
        told = admin.answer(asked, "DESCRIBE_CONFIGS", f"the topic {side.topic!r}")
    every = {name: str(entry.value) for name, entry in told.items() if entry.value is not None}
    own = {
        name: every[name] for name, entry in told.items() if int(entry.source) == _ITS_OWN and name in every
    }
    return Settings(own, every)


def make_ledger(migration: Migration) -> None:
    """Makes the ledger's topic, of which nothing is ever deleted.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
    """
    settings = {"retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete"}
    create_topic(None, migration.ledger, 1, settings, kafka_config=migration.target.config)


def meanwhile(known: Mapping[str, str]) -> dict[str, str]:
    """The settings of the new topic as long as the old one is copied, of those that its Kafka knows."""
    return {name: value for name, value in _MEANWHILE.items() if name in known}


def make_target(migration: Migration, own: Mapping[str, str], known: Mapping[str, str]) -> str:
    """Makes the new topic with the old one's own settings, but for those that hold meanwhile.

    Args:
        migration: What is migrated.
        own: The old topic's own settings.
        known: All settings that a topic of the new one's Kafka has.

    Returns:
        The topic's id.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
    """
    copied = {name: value for name, value in own.items() if name in known and name not in _OF_REPLICAS}
    settings = {**copied, **meanwhile(known)}
    create_topic(
        None, migration.target.topic, migration.partitions, settings, kafka_config=migration.target.config
    )
    return found(migration.target).topic_id


def alter(side: Side, settings: Mapping[str, str | None]) -> None:
    """Sets a topic's own settings; None removes one.

    Raises:
        BrokerError: No Kafka answers, it gives no right, or it refuses a value.
    """
    if not settings:
        return
    with admin_client(side.config, TIMEOUT_S) as admin:
        _alter(admin, side.topic, settings)


def _alter(admin: Admin, topic: str, settings: Mapping[str, str | None]) -> None:
    kafka = confluent_kafka()
    change = kafka.admin.AlterConfigOpType
    entries = [
        kafka.admin.ConfigEntry(
            name, value, incremental_operation=change.DELETE if value is None else change.SET
        )
        for name, value in settings.items()
    ]
    resource = kafka.admin.ConfigResource(kafka.admin.ResourceType.TOPIC, topic, incremental_configs=entries)
    asked = admin.client.incremental_alter_configs([resource], request_timeout=admin.timeout)[resource]
    admin.answer(asked, "ALTER_CONFIGS", f"the topic {topic!r}")


def refuse_foreign(migration: Migration, now: Found) -> None:
    """Refuses a new topic that is there already and holds records, or has another number of partitions.

    Raises:
        BrokerError: It is so.
    """
    topic = migration.target.topic
    if len(now.begin) != migration.partitions:
        raise BrokerError(
            f"the topic {topic!r} exists already and has {len(now.begin)} partitions, not {migration.partitions}: give "
            "another name, or delete it first",
            value=topic,
        )
    if now.tails != now.begin:
        many = sum(now.tails) - sum(now.begin)
        raise BrokerError(
            f"the topic {topic!r} exists already and has {many:,} offsets that this migration did not write: give "
            "another name, or delete it first",
            value=topic,
        )
