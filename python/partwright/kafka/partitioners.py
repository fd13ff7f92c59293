"""Python's Kafka clients with any client's rule: what kafka-python, aiokafka and confluent-kafka take.

A record whose key the chosen client does not go by, a null key as a rule, is left to the library's own way.
Python's producers are made to agree with another client's like this:

    KafkaProducer(partitioner=KafkaPythonPartitioner("librdkafka"))       # kafka-python 3
    AIOKafkaProducer(partitioner=CallablePartitioner("librdkafka"))       # aiokafka, kafka-python 2
    place = ConfluentPartitioner(producer, "java")                        # confluent-kafka
    producer.produce("orders", key=key, value=value, partition=place("orders", key))
"""

from __future__ import annotations

import random
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, Protocol

from partwright.errors import BrokerError, MissingExtraError
from partwright.hashing import partition_for_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CallablePartitioner", "ConfluentPartitioner", "KafkaPythonPartitioner"]


class KafkaPythonPartitioner:
    """A partitioner for kafka-python 3's `KafkaProducer(partitioner=...)`.

    Args:
        client: The client profile, a name in `partwright.clients()`.
        keyless: The partitioner of kafka-python that serves records which the client does not place by their
            key; its own `StickyPartitioner` by default.

    Raises:
        MissingExtraError: kafka-python 3 is not installed.
        PartwrightError: There is no such client; for one record, `java:string-hash` itself fails at its key.

    Examples:
        >>> from kafka import KafkaProducer  # doctest: +SKIP
        >>> KafkaProducer(partitioner=KafkaPythonPartitioner("librdkafka"))  # doctest: +SKIP
    """

    def __init__(self, client: str = "java", *, keyless: Any = None) -> None:  # noqa: ANN401 - kafka-python's Partitioner
        partition_for_key(None, 1, client)
        kafka = _kafka_partitioners()
        # The producer asks whether it is one, and takes what is not for kafka-python 2's.
        kafka.Partitioner.register(type(self))
        self.client = client
        self.keyless = kafka.StickyPartitioner() if keyless is None else keyless

    def partition(
        self,
        topic: str,
        key: Any,  # noqa: ANN401, ARG002 - the record's own; its bytes are what is hashed
        serialized_key: bytes | None,
        value: Any,  # noqa: ANN401
        serialized_value: bytes | None,
        cluster: Any,  # noqa: ANN401 - kafka.cluster.ClusterMetadata
    ) -> int:
        """See `kafka.partitioner.Partitioner.partition`."""
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
            return int(random.choice(sorted(cluster.available_partitions_for_topic(topic) or partitions)))  # noqa: S311
        # Without its key, so that none of the library's own rules goes by it.
        chosen = self.keyless.partition(topic, None, None, value, serialized_value, cluster)
        return int(chosen)

    def on_new_batch(self, topic: str, cluster: Any, prev_partition: int) -> None:  # noqa: ANN401
        """See `kafka.partitioner.Partitioner`: a record without a key would begin a batch, the sticky one moves on."""
        moves_on = getattr(self.keyless, "on_new_batch", None)
        if moves_on is not None:
            moves_on(topic, cluster, prev_partition)


class CallablePartitioner:
    """A partitioner for aiokafka's `AIOKafkaProducer(partitioner=...)` and for kafka-python 2.

    Args:
        client: The client profile, a name in `partwright.clients()`.
        choose: What draws one of several partitions for a record that the client does not place by its key;
            `random.choice` by default, as in these libraries' own partitioners.

    Raises:
        PartwrightError: There is no such client; for one record, `java:string-hash` itself fails at its key.

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
        choose: Callable[[Sequence[int]], int] = random.choice,
    ) -> None:
        partition_for_key(None, 1, client)
        self.client = client
        self.choose = choose

    def __call__(self, key: bytes | None, all_partitions: Sequence[int], available: Sequence[int]) -> int:
        """The partition of one record.

        Args:
            key: The key's bytes, or None.
            all_partitions: Every partition of the topic.
            available: Those with a leader.
        """
        # aiokafka's come in the order of a set.
        partitions = sorted(all_partitions)
        placed = partition_for_key(key, len(partitions), self.client)
        return self.choose(list(available) or partitions) if placed is None else partitions[placed]


class _Producer(Protocol):
    """What is asked of confluent-kafka's `Producer`."""

    def list_topics(self, topic: str, timeout: float) -> Any:  # noqa: ANN401 - confluent_kafka.admin.ClusterMetadata
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

    Raises:
        PartwrightError: There is no such client.

    Examples:
        >>> place = ConfluentPartitioner(producer, "java")  # doctest: +SKIP
        >>> producer.produce("orders", key=b"TT0124", partition=place("orders", b"TT0124"))  # doctest: +SKIP
    """

    UNASSIGNED = -1

    def __init__(
        self, producer: _Producer, client: str = "java", *, max_age: float = 300.0, timeout: float = 10.0
    ) -> None:
        partition_for_key(None, 1, client)
        self.producer = producer
        self.client = client
        self.max_age = max_age
        self.timeout = timeout
        self._counts: dict[str, tuple[int, float]] = {}
        self._lock = threading.Lock()

    def __call__(self, topic: str, key: str | bytes | None) -> int:
        """The partition of one record, -1 where librdkafka shall choose: the client does not go by the key.

        Args:
            topic: The topic.
            key: The key as `produce` takes it.

        Raises:
            BrokerError: The cluster does not answer, or has no such topic.
            PartwrightError: `java:string-hash` itself fails at this key.
        """
        placed = partition_for_key(key, self.partition_count(topic), self.client)
        return self.UNASSIGNED if placed is None else placed

    def partition_count(self, topic: str) -> int:
        """How many partitions the topic has.

        Raises:
            BrokerError: The cluster does not answer, or has no such topic.
        """
        with self._lock:
            count, asked = self._counts.get(topic, (0, 0.0))
            if not count or time.monotonic() - asked > self.max_age:
                count = self._ask(topic)
                self._counts[topic] = (count, time.monotonic())
            return count

    def _ask(self, topic: str) -> int:
        try:
            found = self.producer.list_topics(topic, self.timeout).topics[topic]
        except Exception as error:
            # Its class is confluent-kafka's, which is not imported here.
            raise BrokerError(
                f"the cluster does not say how many partitions topic {topic!r} has ({error})"
            ) from error
        if found.error is not None or not found.partitions:
            raise BrokerError(f"topic {topic!r} has no partitions ({found.error}): make the topic first")
        return len(found.partitions)


def _kafka_partitioners() -> Any:  # noqa: ANN401
    """kafka-python's package of partitioners, whose import warns."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import kafka.partitioner  # noqa: PLC0415
        if not hasattr(kafka.partitioner, "StickyPartitioner"):
            raise MissingExtraError(
                "this kafka-python is older than 3: pip install 'partwright[kafka]', or take CallablePartitioner"
            )
    except ImportError as error:
        if isinstance(error, MissingExtraError):
            raise
        raise MissingExtraError("kafka-python is missing: pip install 'partwright[kafka]'") from error
    return kafka.partitioner
