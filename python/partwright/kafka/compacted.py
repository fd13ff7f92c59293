"""A compacted topic as a small store: the last value of each key, read whole, written one by one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from partwright.kafka import topics
from partwright.kafka.client import (
    SILENT,
    TIMEOUT_S,
    admin_client,
    confluent_kafka,
    connected,
    refused_settings,
)
from partwright.kafka.errors import refusal
from partwright.kafka.reading import records
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

    from partwright.kafka.connection import KafkaConfig

_CONFIGS = {"cleanup.policy": "compact"}
_FLUSH_S = 30.0


def last_values(config: KafkaConfig, topic: str) -> dict[bytes, bytes]:
    """The last value of each key that has one; empty if there is no such topic.

    Raises:
        BrokerError: No Kafka answers, or it gives no right to read.
    """
    if not _exists(config, topic, "READ"):
        return {}
    first = topics.beginning_offsets(config, topic)
    ends = topics.end_offsets(config, topic)
    values: dict[bytes, bytes] = {}
    for record in records(config, topic, {each: (first[each], ends[each]) for each in ends}):
        key, value = record.key(), record.value()
        if key is not None:
            values.pop(key, None)
            if value is not None:
                values[key] = value
    return values


def put(config: KafkaConfig, topic: str, key: bytes, value: bytes) -> None:
    """Write one value, and return once the brokers have it; creates the topic, with one partition, if it is missing.

    Raises:
        BrokerError: No Kafka answers, or it gives no right to create the topic or to write to it.
    """
    if not _exists(config, topic, "WRITE"):
        # Another run may create it at this very moment.
        with contextlib.suppress(topics.TopicExistsError):
            topics.create_topic(config, topic, 1, topics.NewTopic(configs=_CONFIGS))
    troubles = Troubles(config)
    settings = {
        **config.librdkafka(),
        "enable.idempotence": True,
        "message.timeout.ms": int(_FLUSH_S * 1000),
        "error_cb": troubles.note,
    }
    with refused_settings(config):
        producer = confluent_kafka().Producer(settings, logger=SILENT)
    connected(producer, topic, TIMEOUT_S)
    refused: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        del message
        if error is not None:
            refused.append(error)

    producer.produce(topic, value, key, on_delivery=delivered)
    if producer.flush(_FLUSH_S):
        raise troubles.late()
    if refused:
        troubles.check(0)
        raise refusal(config, refused[0], "WRITE", f"the topic {topic!r}")


def _exists(config: KafkaConfig, topic: str, operation: str) -> bool:
    """Whether the topic exists, asked with the right that is needed next."""
    with admin_client(config, TIMEOUT_S) as admin:
        return topics.described(admin, [topic], operation)[topic] is not None
