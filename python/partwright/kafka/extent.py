"""The offsets of a topic and the part that is read. Kafka is asked once, when a reading begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.topics import existing, offsets_of

if TYPE_CHECKING:
    from partwright.kafka.bounds import Bounds
    from partwright.kafka.connection import KafkaConfig

__all__ = ["Extent", "extent", "reads_committed"]


class Extent(NamedTuple):
    """A topic's state at the beginning of a reading.

    Attributes:
        topic_id: Kafka's id of the topic, which differs from that of an earlier topic with the same name.
        first: The first offset of each of its partitions.
        end: The end of each partition: the offset of its next record.
        windows: The first offset and the end (exclusive) of the part that is read, for each partition that is read.
    """

    topic_id: str
    first: dict[int, int]
    end: dict[int, int]
    windows: dict[int, tuple[int, int]]


def extent(config: KafkaConfig, topic: str, bounds: Bounds) -> Extent:
    """Asks a Kafka for the offsets of a topic, and finds the part that lies within bounds.

    Args:
        config: The client's configuration. Under the `isolation.level` `read_committed` the end of a partition is
            before its first open transaction.
        topic: The topic.
        bounds: The part that is read.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: No Kafka answers, the topic does not exist, or the user may not see it.
        PartwrightError: The bounds name a partition or an offset that the topic does not have.
    """
    with admin_client(config, TIMEOUT_S) as admin:
        found = existing(admin, topic, "READ")
        every = range(len(found.partitions))
        first = offsets_of(admin, topic, every, "earliest")
        # Such a reader sees nothing of transactions that are still open.
        end = offsets_of(admin, topic, every, "latest", committed=reads_committed(config))
        chosen = bounds.chosen(topic, len(every))
        windows = bounds.windows(first, end, lambda at: offsets_of(admin, topic, every, at))
    return Extent(str(found.topic_id), first, end, {partition: windows[partition] for partition in chosen})


def reads_committed(config: KafkaConfig) -> bool:
    """Whether a configuration leaves out what is not committed; if it does not say so, it does not, as in Java."""
    return config.reading().get("isolation.level") == "read_committed"
