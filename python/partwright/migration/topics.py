"""The old topic, the new one and its ledger: described, created, and given settings that are reset later.

Both topics must still be those with which the copy began; otherwise, the errors say how to begin anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from partwright._check import MOST_LONG, counted
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import TIMEOUT_S, admin_client, confluent_kafka
from partwright.kafka.errors import RetriableError, try_again
from partwright.kafka.topics import (
    NewTopic,
    cluster_id,
    configs_in_force,
    create_topic,
    described,
    differences,
    existing,
    no_topic,
    offsets_of,
)
from partwright.migration.groups import groups_of

if TYPE_CHECKING:
    from partwright.migration.ledger import State
    from partwright.migration.settings import Migration, Side

# During the copy, nothing is deleted from a topic, and each record keeps its time, whatever it is.
_MEANWHILE = {
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": str(MOST_LONG),
    "message.timestamp.after.max.ms": str(MOST_LONG),
    "message.timestamp.difference.max.ms": str(MOST_LONG),
}
_ITS_OWN = 1
# Other brokers may take over from one that died while a topic is copied: for so long its Kafka may take to answer.
_SETTLE_S = 30.0

_Answer = TypeVar("_Answer")


def patiently(ask: Callable[[], _Answer]) -> _Answer:
    """The answer to a question that is asked again, for half a minute, as long as brokers may take over from another.

    Args:
        ask: Asks once.

    Raises:
        RetriableError: There is still no answer.
    """
    return try_again(ask, _SETTLE_S, error=lambda error: isinstance(error, RetriableError))


class DescribedTopic(NamedTuple):
    """A topic as it is now.

    Attributes:
        topic_id: Kafka's ID, which distinguishes it from another topic of the same name.
        begin: The first offset of each partition.
        ends: The offset after each partition's last record that readers of committed records see.
        tails: The offset after each partition's last record, including open transactions.
    """

    topic_id: str
    begin: list[int]
    ends: list[int]
    tails: list[int]


class Settings(NamedTuple):
    """A topic's settings.

    Attributes:
        own: The settings that were made for this topic.
        all: All settings that apply to it.
    """

    own: dict[str, str]
    all: dict[str, str]


def described_topic(side: Side) -> DescribedTopic:
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
        return DescribedTopic(
            str(topic.topic_id), *([each[p] for p in every] for each in (begin, ends, tails))
        )


def source_of(migration: Migration) -> tuple[DescribedTopic, tuple[str, str]]:
    """The old topic as it is, with the IDs of its cluster and of the topic.

    Raises:
        PartwrightError: The new topic is the same one.
        BrokerError: No Kafka answers, or there is no such topic.
    """
    source = described_topic(migration.source)
    cluster = cluster_id(migration.source.config)
    is_same = migration.source.topic == migration.target.topic
    if is_same and cluster == cluster_id(migration.target.config):
        raise PartwrightError(
            f"the old and the new topic are both {migration.source.topic!r} of one cluster: name another new topic",
            value=migration.target.topic,
        )
    return source, (cluster, source.topic_id)


def is_there(side: Side) -> bool:
    """Whether there is such a topic.

    Raises:
        BrokerError: No Kafka answers, or it gives no right.
    """
    with admin_client(side.config, TIMEOUT_S) as admin:
        return described(admin, [side.topic], "READ")[side.topic] is not None


def settings_of(side: Side) -> Settings:
    """A topic's settings.

    Raises:
        BrokerError: No Kafka answers, or it gives no right.
    """
    with admin_client(side.config, TIMEOUT_S) as admin:
        entries = configs_in_force(admin, "TOPIC", [side.topic]).get(side.topic)
        if entries is None:
            raise no_topic(admin, side.topic)
    every = {name: str(entry.value) for name, entry in entries.items() if entry.value is not None}
    own = {
        name: every[name]
        for name, entry in entries.items()
        if int(entry.source) == _ITS_OWN and name in every
    }
    return Settings(own, every)


def make_ledger(migration: Migration) -> None:
    """Create the ledger's topic, from which nothing is ever deleted.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
    """
    settings = {"retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete"}
    create_topic(migration.target.config, migration.ledger, 1, NewTopic(configs=settings))


def meanwhile(known: Mapping[str, str]) -> dict[str, str]:
    """The settings of the new topic during the copy, as far as its Kafka knows them."""
    return {name: value for name, value in _MEANWHILE.items() if name in known}


def alter(side: Side, settings: Mapping[str, str | None]) -> None:
    """Set a topic's own settings; None removes one.

    Raises:
        BrokerError: No Kafka answers, it gives no right, or it refuses a value.
    """
    if not settings:
        return
    kafka = confluent_kafka().admin
    set_, delete = kafka.AlterConfigOpType.SET, kafka.AlterConfigOpType.DELETE
    entries = [
        kafka.ConfigEntry(name, value, incremental_operation=delete if value is None else set_)
        for name, value in settings.items()
    ]
    resource = kafka.ConfigResource(kafka.ResourceType.TOPIC, side.topic, incremental_configs=entries)
    with admin_client(side.config, TIMEOUT_S) as admin:
        futures = admin.client.incremental_alter_configs([resource], request_timeout=admin.timeout)
        admin.answer(futures[resource], "ALTER_CONFIGS", f"the topic {side.topic!r}")


def refuse_foreign(migration: Migration, now: DescribedTopic) -> None:
    """Refuse an existing new topic that holds records or has another number of partitions.

    Raises:
        BrokerError: It does.
    """
    topic = migration.target.topic
    if len(now.begin) != migration.partitions:
        raise BrokerError(
            f"the topic {topic!r} exists already and has {counted(len(now.begin), 'partition')}, not "
            f"{migration.partitions}: {_another_name(migration)}",
            value=topic,
        )
    if now.tails != now.begin:
        offset_count = sum(now.tails) - sum(now.begin)
        raise BrokerError(
            f"the topic {topic!r} exists already and has {counted(offset_count, 'offset')} that this migration did not "
            f"write: {_another_name(migration)}",
            value=topic,
        )


def _another_name(migration: Migration) -> str:
    """What to do about a new topic that is in use: nobody is told to delete one that groups read."""
    readers = groups_of(migration.target, ())
    what_else = f", since the group {readers[0].name!r} reads it" if readers else ", or delete it first"
    return f"give another name{what_else}"


def ends_of(migration: Migration, state: State) -> list[int]:
    """The offset after the last committed record of each partition of the old topic.

    Args:
        migration: What is migrated.
        state: The progress.

    Raises:
        BrokerError: No Kafka answers, it gives no right, or there is no such topic.
        PartwrightError: It has been replaced by another topic, or has another number of partitions.
    """
    now, topic = described_topic(migration.source), migration.source.topic
    if now.topic_id != state.source[2]:
        raise PartwrightError(
            f"the topic {topic!r} was deleted and made again while it was copied: {state.begin_anew(migration)}",
            value=topic,
        )
    if len(now.ends) != len(state.at):
        raise PartwrightError(
            f"the topic {topic!r} has {counted(len(now.ends), 'partition')} by now, and had {len(state.at)} as its "
            f"copy began: {state.begin_anew(migration)}",
            value=len(now.ends),
        )
    return now.ends


def describe_target(migration: Migration, state: State) -> DescribedTopic:
    """The new topic as it is now.

    Args:
        migration: What is migrated.
        state: The progress.

    Raises:
        BrokerError: No Kafka answers, it gives no right, there is no such topic, or it has been replaced by another.
    """
    now = described_topic(migration.target)
    if now.topic_id != state.target[2]:
        raise made_again(migration, state)
    return now


def made_again(migration: Migration, state: State) -> BrokerError:
    """The error that the new topic is not the one into which copies were written."""
    topic = migration.target.topic
    return BrokerError(
        f"the topic {topic!r} was deleted and made again since the copy into it began: {state.begin_anew(migration)}",
        value=topic,
    )


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
    different = differences(migration.target.config, migration.target.topic, replace(new_topic, configs=now))
    different += [
        f"{name} will be {later[name] or 'the default'}, not {value}"
        for name, value in new_topic.configs.items()
        if name in later and later[name] != value
    ]
    if different:
        raise PartwrightError(
            f"the topic {migration.target.topic!r} exists already and is not as asked ({'; '.join(different)}): leave "
            "these options out, or alter the topic (kafka-configs.sh, kafka-reassign-partitions.sh)",
            value=migration.target.topic,
        )
