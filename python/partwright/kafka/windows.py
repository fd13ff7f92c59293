"""A few records of a topic between given offsets, as confluent-kafka's messages with values and headers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from partwright.errors import BrokerError
from partwright.kafka.client import SILENT, TIMEOUT_S, confluent_kafka, refused_settings
from partwright.kafka.errors import Meaning, meaning, refusal
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from confluent_kafka import Consumer, Message

    from partwright.kafka.connection import KafkaConfig

__all__ = ["messages"]

_POLL_S, _STALL_S = 0.2, 60.0
_COUNT = 1000


def messages(
    config: KafkaConfig, topic: str, windows: Mapping[int, tuple[int, int]], *, committed: bool = False
) -> Iterator[Message]:
    """The records in windows of offsets; those of one partition are in order.

    Args:
        config: The client's configuration.
        topic: The topic.
        windows: The first offset and the end (exclusive), by partition.
        committed: Whether to skip records of aborted transactions and records after open ones.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: No Kafka answers, the user may not read, or the topic is deleted.
    """
    kafka = confluent_kafka()
    troubles = Troubles(config)
    given = {
        **config.librdkafka(),
        "group.id": "partwright",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        # The oldest records may be deleted in the meantime.
        "auto.offset.reset": "earliest",
        "allow.auto.create.topics": False,
        "isolation.level": "read_committed" if committed else "read_uncommitted",
        "fetch.wait.max.ms": 100,
        "error_cb": troubles.note,
    }
    open_ = {each for each, (begin, end) in windows.items() if begin < end}
    if not open_:
        return
    with refused_settings(config):
        consumer = kafka.Consumer(given, logger=SILENT)
    try:
        consumer.assign([kafka.TopicPartition(topic, each, windows[each][0]) for each in sorted(open_)])
        for message in _polled(consumer, troubles, open_):
            error = message.error()
            # The annotations allow a message without partition and offset.
            partition, offset = cast("int", message.partition()), cast("int", message.offset())
            if error is None:
                end = windows[partition][1]
                if offset < end:
                    yield message
                if offset >= end - 1:
                    open_.discard(partition)
            elif meaning(error) is Meaning.END_OF_PARTITION:
                open_.discard(partition)
            elif meaning(error) is Meaning.NO_TOPIC:
                raise BrokerError(f"the topic {topic!r} was deleted meanwhile: start again")
            else:
                raise refusal(config, error, "READ", f"the topic {topic!r}")
    finally:
        consumer.close()


def _polled(consumer: Consumer, troubles: Troubles, open_: set[int]) -> Iterator[Message]:
    """The messages, as long as a partition has more to read. The cause of a silence is checked; it ends the reading."""
    heard = time.monotonic()
    while open_:
        came = consumer.consume(_COUNT, _POLL_S)
        yield from came
        if came:
            heard = time.monotonic()
        elif time.monotonic() - heard > TIMEOUT_S:
            troubles.check(0)
            if time.monotonic() - heard > _STALL_S:
                raise troubles.late()
