"""Python's Kafka clients with any client's rule and any strategy: what kafka-python, aiokafka and confluent-kafka take.

A record whose key the chosen client does not go by, a null key as a rule, is left to the library's own way, or to a
strategy.  Python's producers are made to agree with another client's like this:

    KafkaProducer(partitioner=KafkaPythonPartitioner("librdkafka"))       # kafka-python 3
    KafkaProducer(partitioner=KafkaPythonPartitioner("java", strategy="sticky"))
    AIOKafkaProducer(partitioner=CallablePartitioner("librdkafka"))       # kafka-python 2, aiokafka
    place = ConfluentPartitioner(producer, "java")                        # confluent-kafka
    producer.produce("orders", key=key, value=value, partition=place("orders", key))
"""

from __future__ import annotations

import random
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from partwright.errors import BrokerError, MissingExtraError, PartwrightError
from partwright.kafka.producer_adapter import LiveProducer, Metadata, is_strategy
from partwright.keys.hashing import encode, partition_for_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import EllipsisType, ModuleType

    from kafka.cluster import ClusterMetadata
    from kafka.partitioner import Partitioner

__all__ = ["CallablePartitioner", "ConfluentPartitioner", "KafkaPythonPartitioner"]


class KafkaPythonPartitioner:
    """A partitioner for kafka-python 3's `KafkaProducer(partitioner=...)`.

    Args:
        client: The client profile, a name in `partwright.clients()`.
        keyless: The partitioner of kafka-python that serves records which the client does not place by their
            key; its own `StickyPartitioner` by default.
        strategy: One of `partwright.strategies()` in its place, or a partitioner of your own; see
            `partwright.Producer`. Strategies of Kafka 2.4 to 3.9 (`sticky@2.4`) are told of the library's own new
            batches, which it makes known for null keys alone; `sticky` of 3.3 and later counts the batches that
            Java's producer would make of the same records at the same times.
        configs: For the strategy, Kafka's own keys and values: give the library's `batch_size` as `batch.size`.
        seed: What the strategy's draws begin with; None draws that too.

    Raises:
        MissingExtraError: kafka-python 3 is not installed.
        PartwrightError: There is no such client or strategy; for one record, `java:string-hash` itself fails at its
            key.

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
        # The producer asks whether it is one, and takes what is not for kafka-python 2's.
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
            # kafka-python tells of a new batch for null keys alone: a sticky partition would stay for ever.
            available = sorted(cluster.available_partitions_for_topic(topic) or partitions)
            return int(random.choice(available))  # noqa: S311 - as kafka-python draws; it is no secret
        # Without its key, so that none of the library's own rules goes by it.
        chosen = self.keyless.partition(topic, None, None, value, serialized_value, cluster)
        return int(chosen)

    def on_new_batch(self, topic: str, cluster: ClusterMetadata, prev_partition: int) -> None:
        """See `kafka.partitioner.Partitioner`: a record without a key would begin a batch, the sticky one moves on."""
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
        choose: What draws one of several partitions for a record that the client does not place by its key;
            `random.choice` by default, as in these libraries' own partitioners.
        strategy: One of `partwright.strategies()` in its place, or a partitioner of your own. These libraries tell a
            partitioner neither values nor leaders, so that strategies which count bytes and `leader` are refused.
        topic: The topic that the strategy serves, for they tell it no topic either: one producer each.
        configs: For the strategy, Kafka's own keys and values.
        seed: What the strategy's draws begin with; None draws that too.

    Raises:
        PartwrightError: There is no such client or strategy; for one record, `java:string-hash` itself fails at its
            key.

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
            available: Those with a leader.
        """
        if self._live is not None:
            return self._live.partition(self.topic, _without_leaders(all_partitions, available), key, None)
        # aiokafka's come in the order of a set.
        partitions = sorted(all_partitions)
        placed = partition_for_key(key, len(partitions), self.client)
        return self.choose(list(available) or partitions) if placed is None else partitions[placed]


class _Producer(Protocol):
    """What is asked of confluent-kafka's `Producer`."""

    def list_topics(self, topic: str, timeout: float) -> Any:
        """The cluster's metadata."""


class ConfluentPartitioner:
    """What to give confluent-kafka's `produce(partition=...)`, as its Python has no partitioner to set.

    The number of a topic's partitions is asked for once and again when it is older than `max_age`.  Where
    librdkafka itself has the rule, its own setting `partitioner` does without this.

    Args:
        producer: A `confluent_kafka.Producer`, whose cluster is asked.
        client: The client profile, a name in `partwright.clients()`.
        max_age: For how many seconds a topic's number of partitions is believed; librdkafka's own default.
        timeout: For how many seconds an answer is waited for.
        strategy: What chooses for records that the client does not place by their key, in librdkafka's place: one of
            `partwright.strategies()`, or a partitioner of your own. Batches are those that Java's producer would make.
        configs: For the strategy, Kafka's own keys and values.
        seed: What the strategy's draws begin with; None draws that too.

    Raises:
        PartwrightError: There is no such client or strategy.

    Examples:
        >>> place = ConfluentPartitioner(producer, "java")
        >>> producer.produce("orders", key=b"TT0124", partition=place("orders", b"TT0124"))
    """

    UNASSIGNED = -1

    def __init__(
        self,
        producer: _Producer,
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
        self._asked: dict[str, tuple[Metadata, float]] = {}
        self._lock = threading.Lock()

    def __call__(
        self, topic: str, key: str | bytes | None, value: str | bytes | EllipsisType | None = ...
    ) -> int:
        """The partition of one record, -1 where librdkafka shall choose: the client does not go by the key.

        Args:
            topic: The topic.
            key: The key as `produce` takes it.
            value: The value as `produce` takes it, for strategies that count bytes.

        Raises:
            BrokerError: The cluster does not answer, or has no such topic.
            PartwrightError: `java:string-hash` itself fails at this key; a strategy counts bytes, and no value is
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
            known, asked = self._asked.get(topic, (None, 0.0))
            if known is None or time.monotonic() - asked > self.max_age:
                known = self._ask(topic)
                self._asked[topic] = (known, time.monotonic())
            return known

    def _ask(self, topic: str) -> Metadata:
        try:
            found = self.producer.list_topics(topic, self.timeout)
            told = found.topics[topic]
        except Exception as error:
            # Its class is confluent-kafka's, which is not imported here.
            raise BrokerError(
                f"the cluster does not say how many partitions topic {topic!r} has ({error})"
            ) from error
        if told.error is not None or not told.partitions:
            raise BrokerError(f"topic {topic!r} has no partitions ({told.error}): make the topic first")
        # librdkafka's metadata have no racks.
        brokers = tuple((each.id, each.host, each.port, None) for each in found.brokers.values())
        return Metadata(brokers, tuple(sorted((each.id, each.leader) for each in told.partitions.values())))


def _live(
    strategy: object,
    client: str,
    configs: Mapping[str, object] | None,
    seed: int | None,
    **instead: object,
) -> LiveProducer | None:
    """The strategy at work, if there is one."""
    if is_strategy(strategy):
        for name, given in instead.items():
            if given is not None:
                raise PartwrightError(
                    f"{name}= and strategy= both serve records without a key: give one of them"
                )
        return LiveProducer(strategy, client, configs, seed)
    if configs is not None or seed is not None:
        raise PartwrightError("configs= and seed= are a strategy's: name it with strategy=, sticky say")
    return None


def _refuse_unknown(live: LiveProducer, topic: str | None) -> None:
    """A callable is told of a record no more than its key."""
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


class _TopicPartition(NamedTuple):
    """As kafka-python asks for one."""

    topic: str
    partition: int


def _of_kafka_python(topic: str, cluster: ClusterMetadata) -> Metadata:
    brokers = tuple((each.node_id, each.host, each.port, each.rack) for each in cluster.brokers())
    partitions = tuple(
        (number, cluster.leader_for_partition(_TopicPartition(topic, number)))
        for number in sorted(cluster.partitions_for_topic(topic) or ())
    )
    return Metadata(brokers, partitions)


def _without_leaders(all_partitions: Sequence[int], available: Sequence[int]) -> Metadata:
    """Some broker leads what is available, for nothing is said of which."""
    there = set(available)
    partitions = tuple((number, 0 if number in there else None) for number in sorted(all_partitions))
    return Metadata(((0, None, None, None),), partitions)


def _kafka_partitioners() -> ModuleType:
    """kafka-python's package of partitioners, whose import warns."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import kafka.partitioner
        if not hasattr(kafka.partitioner, "StickyPartitioner"):
            raise MissingExtraError(
                "this kafka-python is older than 3: pip install 'kafka-python>=3.0.12', or take CallablePartitioner"
            )
    except ImportError as error:
        if isinstance(error, MissingExtraError):
            raise
        raise MissingExtraError("kafka-python is missing: pip install 'kafka-python>=3.0.12'") from error
    found: ModuleType = kafka.partitioner
    return found
