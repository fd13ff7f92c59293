"""A strategy inside another library's producer, using that producer's metadata."""

from __future__ import annotations

import secrets
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from partwright.cluster import Broker, Cluster, Partition
from partwright.errors import BrokerError, PartwrightError
from partwright.producer.configs import ProducerConfig
from partwright.producer.custom import OwnPartitioner, is_path
from partwright.producer.producer import Producer

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LiveProducer", "Metadata", "is_strategy"]


def is_strategy(strategy: object) -> bool:
    """Whether a strategy is more than the key's hash, which keeps no state between records.

    Examples:
        >>> is_strategy("sticky"), is_strategy("key"), is_strategy(None)
        (True, False, False)
    """
    return not (strategy is None or (isinstance(strategy, str) and strategy == "key"))


class Metadata(NamedTuple):
    """A library's raw metadata of a topic: compared for each record, and converted only when it has changed.

    Attributes:
        brokers: Id, host, port and rack of each.
        partitions: Number and leader's ID of each, in ascending order; a leader that is not among the brokers counts as
            none.
    """

    brokers: tuple[tuple[int, str | None, int | None, str | None], ...]
    partitions: tuple[tuple[int, int | None], ...]


class LiveProducer:
    """A `partwright.Producer` for the topics to which records were sent, in the order of Java's metadata.

    Attributes:
        strategy: The strategy's name.
        counts_bytes: Whether the choice depends on the records' bytes.

    Args:
        strategy: Its name, or your own partitioner; see `partwright.Producer`.
        client: Whose rule places records by key.
        configs: Kafka's own keys and values.
        seed: The seed of all draws; None draws that too, so that no two producers start the same.

    Raises:
        PartwrightError: An unknown strategy or client; a config that Kafka refuses; or `field`, because a record that a
            producer sends has no field.
    """

    def __init__(
        self,
        strategy: object,
        client: str,
        configs: Mapping[str, object] | None,
        seed: int | None,
    ) -> None:
        is_own = not isinstance(strategy, str) or is_path(strategy)
        own = OwnPartitioner.of(strategy) if is_own else None
        self._choice = strategy if own is None else own.partitioner
        self._client, self._configs = client, configs
        self._seed = secrets.randbits(63) if seed is None else seed
        # Refuse now what would be refused at the first record; a user's own partitioner is configured only once.
        checked = self._made(Cluster.of({"topic": 1}), strategy if own is None else "explicit")
        if checked.strategy == "field":
            raise PartwrightError(
                "a record that a producer sends has no field: place tables by the strategy field, with Producer.place"
            )
        self.strategy = checked.strategy if own is None else own.name
        self.counts_bytes = checked.counts_bytes if own is None else own.is_told
        self._producer: Producer | None = None
        self._known: dict[str, Metadata] = {}
        self._lock = threading.Lock()
        self._again = threading.local()

    def partition(
        self,
        topic: str,
        metadata: Metadata,
        key: bytes | None,
        value: bytes | None,
        *,
        is_told: bool = False,
    ) -> int:
        """A record's partition; a strategy that counts bytes counts this record's.

        Args:
            topic: The topic.
            metadata: Its present metadata.
            key: The key's bytes.
            value: The value's.
            is_told: Whether the library tells of new batches (`on_new_batch`), and asks again about the record that
                would have begun one. Otherwise batches are those that Kafka's `RecordAccumulator` would make.

        Raises:
            PartwrightError: Kafka's own producer would refuse the record.
        """
        with self._lock:
            producer = self._learned(topic, metadata)
            again: int | None = getattr(self._again, "partition", None)
            self._again.partition = None
            if is_told and producer.is_told:
                placed = producer.partition(topic, key, value, time=_now())
            elif again is not None:
                return again
            else:
                placed = producer.place_record(topic, key, value, time=_now())
        if placed is None:
            raise PartwrightError(
                f"the strategy {producer.strategy} has no partition for a record without a key"
            )
        return placed

    def on_new_batch(self, topic: str, previous: int) -> None:
        """Tell the strategy that a record would begin a batch; the same thread then asks about the record again."""
        with self._lock:
            producer = self._producer
            if producer is not None and producer.is_told:
                producer.on_new_batch(topic, previous)
            else:
                self._again.partition = previous

    def _learned(self, topic: str, metadata: Metadata) -> Producer:
        """The producer, updated to this metadata."""
        if self._producer is not None and self._known.get(topic) == metadata:
            return self._producer
        if not metadata.partitions:
            raise BrokerError(
                f"topic {topic!r} is not in the cluster's metadata, so it has no partitions yet"
            )
        self._known[topic] = metadata
        brokers = {broker[0]: Broker(*broker) for each in self._known.values() for broker in each.brokers}
        topics = {
            name: tuple(
                Partition(number, leader if leader in brokers else None) for number, leader in each.partitions
            )
            for name, each in self._known.items()
        }
        cluster = Cluster(tuple(brokers.values()), topics).in_metadata_order()
        if self._producer is None:
            self._producer = self._made(cluster, self._choice)
        else:
            self._producer.update(cluster)
        return self._producer

    def _made(self, cluster: Cluster, strategy: object) -> Producer:
        return Producer(cluster, ProducerConfig(strategy, self._configs, self._client, seed=self._seed))


def _now() -> int:
    return time.time_ns() // 1_000_000
