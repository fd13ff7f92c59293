"""Partitioners with which kafka-python, aiokafka and confluent-kafka follow any client's rule and any strategy.

If the chosen client does not hash a record's key (usually a null key), the library's own rule or a strategy chooses the
partition. This makes Python's producers agree with another client:

    KafkaProducer(partitioner=KafkaPythonPartitioner("librdkafka"))       # kafka-python 3
    KafkaProducer(partitioner=KafkaPythonPartitioner("java", strategy="sticky"))
    AIOKafkaProducer(partitioner=CallablePartitioner("librdkafka"))       # kafka-python 2, aiokafka
    place = ConfluentPartitioner(producer, "java")                        # confluent-kafka
    producer.produce("orders", key=key, value=value, partition=place("orders", key))
"""

from __future__ import annotations

import random
import secrets
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright.cluster import Broker, Cluster, Partition
from partwright.errors import BrokerError, MissingExtraError, PartwrightError
from partwright.kafka.extras import extra_package
from partwright.keys.hashing import encode, partition_for_key
from partwright.producer.configs import ProducerConfig
from partwright.producer.custom import OwnPartitioner, is_path
from partwright.producer.producer import Producer

if TYPE_CHECKING:
    from kafka.cluster import ClusterMetadata
    from kafka.partitioner import Partitioner


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


class KafkaPythonPartitioner:
    """A partitioner for kafka-python 3's `KafkaProducer(partitioner=...)`.

    Args:
        client: The client profile, a name in `partwright.clients()`.
        keyless: The partitioner of kafka-python for records that the client does not place by their key; by default its
            own `StickyPartitioner`.
        strategy: One of `partwright.strategies()` instead, or your own partitioner; see `partwright.Producer`.
            Strategies of Kafka 2.4 to 3.9 (`sticky@2.4`) follow the library's new batches, which it reports only for
            null keys; `sticky` of 3.3 and later counts the batches that Java's producer would make from the same
            records at the same times.
        configs: For the strategy, Kafka's own keys and values: give the library's `batch_size` as `batch.size`.
        seed: The seed of the strategy's draws; None draws that too.

    Raises:
        MissingExtraError: kafka-python 3 is not installed.
        PartwrightError: The client or strategy is unknown. When it is called: a key at which `java:string-hash` fails.

    Examples:
        >>> from kafka import KafkaProducer  # doctest: +SKIP
        >>> KafkaProducer(partitioner=KafkaPythonPartitioner("librdkafka"))  # doctest: +SKIP
    """

    def __init__(
        self,
        client: str = "java",
        *,
        keyless: Partitioner | None = None,
        strategy: object = None,
        configs: Mapping[str, object] | None = None,
        seed: int | None = None,
    ) -> None:
        partition_for_key(None, 1, client)
        self._live = _live(strategy, client, configs, seed, keyless=keyless)
        kafka = _kafka_partitioners()
        # The producer tests for this class, and takes anything else as a partitioner of kafka-python 2.
        kafka.Partitioner.register(type(self))
        self.client = client
        self.keyless = kafka.StickyPartitioner() if keyless is None else keyless

    def partition(
        self,
        topic: str,
        key: object,  # noqa: ARG002 - the record's own; its bytes are what is hashed
        serialized_key: bytes | None,
        value: object,
        serialized_value: bytes | None,
        cluster: ClusterMetadata,
    ) -> int:
        """See `kafka.partitioner.Partitioner.partition`."""
        if self._live is not None:
            return self._live.partition(
                topic, _of_kafka_python(topic, cluster), serialized_key, serialized_value, is_told=True
            )
        partitions = sorted(cluster.partitions_for_topic(topic) or ())
        if not partitions:
            raise BrokerError(
                f"topic {topic!r} is not in the cluster's metadata, so it has no partitions yet"
            )
        placed = partition_for_key(serialized_key, len(partitions), self.client)
        if placed is not None:
            return int(partitions[placed])
        if serialized_key is not None:
            # kafka-python reports new batches only for null keys: otherwise a sticky partition would never change.
            available = sorted(cluster.available_partitions_for_topic(topic) or partitions)
            return int(random.choice(available))  # noqa: S311 - as kafka-python draws; it is no secret
        # Leave the key out, so that no rule of the library uses it.
        number = self.keyless.partition(topic, None, None, value, serialized_value, cluster)
        return int(number)

    def on_new_batch(self, topic: str, cluster: ClusterMetadata, prev_partition: int) -> None:
        """See `kafka.partitioner.Partitioner`. A keyless record would begin a batch: the sticky partition changes."""
        if self._live is not None:
            self._live.on_new_batch(topic, prev_partition)
            return
        moves_on = getattr(self.keyless, "on_new_batch", None)
        if moves_on is not None:
            moves_on(topic, cluster, prev_partition)


class CallablePartitioner:
    """A partitioner for aiokafka's `AIOKafkaProducer(partitioner=...)` and for kafka-python 2.

    Args:
        client: The client profile, a name in `partwright.clients()`.
        choose: Draws one of several partitions for a record that the client does not place by its key; `random.choice`
            by default, as in the partitioners of these libraries.
        strategy: One of `partwright.strategies()` instead, or your own partitioner. These libraries pass neither values
            nor leaders to a partitioner, so strategies that count bytes, and `leader`, are refused.
        topic: The topic that the strategy serves. The libraries do not pass the topic either, so use one object for
            each topic.
        configs: For the strategy, Kafka's own keys and values.
        seed: The seed of the strategy's draws; None draws that too.

    Raises:
        PartwrightError: The client or strategy is unknown. When it is called: a key at which `java:string-hash` fails.

    Examples:
        >>> place = CallablePartitioner("librdkafka")
        >>> place(b"TT0124", list(range(15)), [])
        9
        >>> place(None, [0, 1, 2], [2])
        2
    """

    def __init__(
        self,
        client: str = "java",
        *,
        choose: Callable[[Sequence[int]], int] | None = None,
        strategy: object = None,
        topic: str | None = None,
        configs: Mapping[str, object] | None = None,
        seed: int | None = None,
    ) -> None:
        partition_for_key(None, 1, client)
        self._live = _live(strategy, client, configs, seed, choose=choose)
        if self._live is not None:
            _refuse_unknown(self._live, topic)
        self.client = client
        self.choose = random.choice if choose is None else choose
        self.topic = topic or ""

    def __call__(self, key: bytes | None, all_partitions: Sequence[int], available: Sequence[int]) -> int:
        """The partition of one record.

        Args:
            key: The key's bytes, or None.
            all_partitions: Every partition of the topic.
            available: The partitions with a leader.
        """
        if self._live is not None:
            return self._live.partition(self.topic, _without_leaders(all_partitions, available), key, None)
        # aiokafka passes them in the order of a set.
        partitions = sorted(all_partitions)
        placed = partition_for_key(key, len(partitions), self.client)
        return self.choose(list(available) or partitions) if placed is None else partitions[placed]


class ConfluentPartitioner:
    """Returns the partition for confluent-kafka's `produce(partition=...)`: its Python API takes no partitioner.

    It asks the cluster for a topic's number of partitions, and again when the answer is older than `max_age`. If
    librdkafka has the rule itself, set its own `partitioner` instead.

    Args:
        producer: A `confluent_kafka.Producer`; its cluster is asked.
        client: The client profile, a name in `partwright.clients()`.
        max_age: How many seconds a topic's number of partitions stays valid; the default is that of librdkafka.
        timeout: How many seconds to wait for an answer.
        strategy: Chooses for records that the client does not place by their key, instead of librdkafka: one of
            `partwright.strategies()`, or your own partitioner. It counts the batches that Java's producer would make.
        configs: For the strategy, Kafka's own keys and values.
        seed: The seed of the strategy's draws; None draws that too.

    Raises:
        PartwrightError: The client or strategy is unknown.

    Examples:
        >>> place = ConfluentPartitioner(producer, "java")
        >>> producer.produce("orders", key=b"TT0124", partition=place("orders", b"TT0124"))
    """

    UNASSIGNED = -1

    def __init__(
        self,
        producer: Any,
        client: str = "java",
        *,
        max_age: float = 300.0,
        timeout: float = 10.0,
        strategy: object = None,
        configs: Mapping[str, object] | None = None,
        seed: int | None = None,
    ) -> None:
        partition_for_key(None, 1, client)
        self._live = _live(strategy, client, configs, seed)
        self.producer = producer
        self.client = client
        self.max_age = max_age
        self.timeout = timeout
        self._metadata_cache: dict[str, tuple[Metadata, float]] = {}
        self._lock = threading.Lock()

    def __call__(
        self, topic: str, key: str | bytes | None, value: str | bytes | EllipsisType | None = ...
    ) -> int:
        """The partition of one record; -1 lets librdkafka choose, if the client does not hash the key.

        Args:
            topic: The topic.
            key: The key, as in `produce`.
            value: The value, as in `produce`; for strategies that count bytes.

        Raises:
            BrokerError: The cluster does not answer, or has no such topic.
            PartwrightError: `java:string-hash` itself fails on this key, or a strategy counts bytes and no value is
                given.
        """
        if self._live is not None:
            if value is ... and self._live.counts_bytes:
                raise PartwrightError(
                    "the strategy counts bytes: give each record's value too, place(topic, key, value)"
                )
            data = None if value is None or value is ... else encode(value)
            return self._live.partition(
                topic, self._metadata(topic), None if key is None else encode(key), data
            )
        placed = partition_for_key(key, self.partition_count(topic), self.client)
        return self.UNASSIGNED if placed is None else placed

    def partition_count(self, topic: str) -> int:
        """How many partitions the topic has.

        Raises:
            BrokerError: The cluster does not answer, or has no such topic.
        """
        return len(self._metadata(topic).partitions)

    def _metadata(self, topic: str) -> Metadata:
        """The topic's partitions and their leaders, not older than `max_age`."""
        with self._lock:
            known, asked_at = self._metadata_cache.get(topic, (None, 0.0))
            if known is None or time.monotonic() - asked_at > self.max_age:
                known = self._ask(topic)
                self._metadata_cache[topic] = (known, time.monotonic())
            return known

    def _ask(self, topic: str) -> Metadata:
        try:
            metadata = self.producer.list_topics(topic, self.timeout)
            of_topic = metadata.topics[topic]
        except Exception as error:
            # Its class is that of confluent-kafka, which is not imported here.
            raise BrokerError(
                f"the cluster does not say how many partitions topic {topic!r} has ({error})"
            ) from error
        if of_topic.error is not None or not of_topic.partitions:
            raise BrokerError(f"topic {topic!r} has no partitions ({of_topic.error}): make the topic first")
        # librdkafka's metadata has no racks.
        brokers = tuple((each.id, each.host, each.port, None) for each in metadata.brokers.values())
        return Metadata(
            brokers, tuple(sorted((each.id, each.leader) for each in of_topic.partitions.values()))
        )


def _live(
    strategy: object,
    client: str,
    configs: Mapping[str, object] | None,
    seed: int | None,
    **instead: object,
) -> LiveProducer | None:
    """The strategy in use, if there is one."""
    if is_strategy(strategy):
        for name, option in instead.items():
            if option is not None:
                raise PartwrightError(
                    f"{name}= and strategy= both serve records without a key: give one of them"
                )
        return LiveProducer(strategy, client, configs, seed)
    if configs is not None or seed is not None:
        raise PartwrightError("configs= and seed= are a strategy's: name it with strategy=, such as sticky")
    return None


def _refuse_unknown(live: LiveProducer, topic: str | None) -> None:
    """A callable gets only the key of a record."""
    if topic is None:
        raise PartwrightError(
            "the library does not tell its partitioner the topic, and a strategy keeps what it does for each: name it "
            "with topic="
        )
    if live.counts_bytes or live.strategy == "leader":
        what = "where leaders are" if live.strategy == "leader" else "how large the records are"
        raise PartwrightError(
            f"the library does not tell its partitioner {what}, by which the strategy {live.strategy} goes: place "
            "records with a Producer, and send them with their partitions"
        )


def _of_kafka_python(topic: str, cluster: ClusterMetadata) -> Metadata:
    from kafka.structs import TopicPartition

    brokers = tuple((each.node_id, each.host, each.port, each.rack) for each in cluster.brokers())
    partitions = tuple(
        (number, cluster.leader_for_partition(TopicPartition(topic, number)))
        for number in sorted(cluster.partitions_for_topic(topic) or ())
    )
    return Metadata(brokers, partitions)


def _without_leaders(all_partitions: Sequence[int], available: Sequence[int]) -> Metadata:
    """Each available partition gets some leader, since the library does not say which broker leads it."""
    with_leader = set(available)
    partitions = tuple((number, 0 if number in with_leader else None) for number in sorted(all_partitions))
    return Metadata(((0, None, None, None),), partitions)


def _kafka_partitioners() -> ModuleType:
    """kafka-python's package of partitioners; its import prints a warning."""
    with (
        extra_package("kafka-python", "{} is missing: pip install 'kafka-python>=3.0.12'"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", DeprecationWarning)
        import kafka.partitioner
    if not hasattr(kafka.partitioner, "StickyPartitioner"):
        raise MissingExtraError(
            "this kafka-python is older than 3: pip install 'kafka-python>=3.0.12', or take CallablePartitioner"
        )
    module: ModuleType = kafka.partitioner
    return module
