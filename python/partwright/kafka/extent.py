"""What there is of a topic, and what of it is read: asked of Kafka once, as a reading begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.topics import existing, offsets_of

if TYPE_CHECKING:
    from partwright.kafka.bounds import Bounds
    from partwright.kafka.connection import KafkaConfig

__all__ = ["Extent", "extent"]


class Extent(NamedTuple):
    """A topic as it was when a reading of it began.

    Attributes:
        topic_id: Kafka's id of it, which tells it from another one of the same name.
        first: The first offset of each of its partitions.
        end: The end of each: the offset that its next record gets.
        windows: From which offset to which, that one left out, each partition is read that is.
    """

    topic_id: str
    first: dict[int, int]
    end: dict[int, int]
    windows: dict[int, tuple[int, int]]


def extent(config: KafkaConfig, topic: str, bounds: Bounds) -> Extent:
    """Asks a Kafka for what there is of a topic, and finds what of it lies within bounds.

    Args:
        config: How the Kafka is reached. Under the `isolation.level` `read_committed` the end of a partition is before
            its first open transaction.
        topic: The topic.
        bounds: Which part of it is read.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: No Kafka answers, there is no such topic, or no right to see it.
        PartwrightError: The topic lacks a partition or an offset that the bounds name.
    """
    with admin_client(config, TIMEOUT_S) as admin:
        found = existing(admin, topic, "READ")
        every = range(len(found.partitions))
        first = offsets_of(admin, topic, every, "earliest")
        # Of transactions that are open still, such a reader is not told anything.
        committed = config.reading().get("isolation.level") == "read_committed"
        end = offsets_of(admin, topic, every, "latest", committed=committed)
        chosen = bounds.chosen(topic, len(every))
        windows = bounds.windows(first, end, lambda at: offsets_of(admin, topic, every, at))
    return Extent(str(found.topic_id), first, end, {partition: windows[partition] for partition in chosen})
