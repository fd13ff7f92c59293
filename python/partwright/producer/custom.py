"""Your own partitioner: a class with the methods of Kafka's `Partitioner`, with every answer checked.

>>> class Last:
...     def partition(self, topic, key, key_bytes, value, value_bytes, cluster):
...         return len(cluster.partitions(topic)) - 1
>>> own = OwnPartitioner.of(Last)
>>> own.partition("t", None, None, None, None, Cluster.of({"t": 3}))
2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from partwright._check import counted, shown
from partwright.cluster import Cluster
from partwright.errors import PartwrightError
from partwright.user_code import called, made

if TYPE_CHECKING:
    from partwright.producer.records import ProducerRow, RecordChunk

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(\.[^\W\d]\w*)*|\.[^\W\d]\w*)")
_KAFKA = "org.apache.kafka."


def is_path(strategy: str) -> bool:
    """Whether this is the path of a user's own class, not the name of a strategy or of a Kafka class.

    Examples:
        >>> is_path("mine.Last"), is_path("sticky@2.4"), is_path("org.apache.kafka.Mine")
        (True, False, False)
    """
    return _PATH.fullmatch(strategy) is not None and not strategy.startswith(_KAFKA)


class OwnPartitioner:
    """A user's own partitioner, called as Kafka's producer calls one.

    Its `partition(topic, key, key_bytes, value, value_bytes, cluster)` returns a record's partition, or its
    `partitions(batch, cluster)` returns the partitions of an Arrow batch with the columns of the table. It may have
    `configure(configs)`, `close()`, and `on_new_batch(topic, cluster, previous)`; with `on_new_batch`, it is asked
    again about a record that begins a batch, as Kafka 2.4 to 3.9 do.
    """

    def __init__(self, partitioner: Any) -> None:
        self.partitioner = partitioner
        self.name = type(partitioner).__qualname__
        self.is_by_batch = callable(getattr(partitioner, "partitions", None))
        self.is_told = callable(getattr(partitioner, "on_new_batch", None))
        # str has a method `partition` too.
        is_text = isinstance(partitioner, (str, bytes, bytearray))
        if is_text or not (self.is_by_batch or callable(getattr(partitioner, "partition", None))):
            raise PartwrightError(
                f"{self.name} is not a partitioner: it has no partition(topic, key, key_bytes, value, value_bytes, "
                "cluster)"
            )

    @classmethod
    def of(cls, partitioner: object) -> OwnPartitioner:
        """A partitioner that is an object, its class, or the class's path.

        Raises:
            PartwrightError: It cannot be imported or made, or is not a partitioner.
        """
        return cls(made("partitioner", partitioner))

    def configure(self, configs: Mapping[str, object]) -> None:
        """Pass the configuration to the partitioner, if it has `configure`.

        Raises:
            PartwrightError: Its code raises.
        """
        self._tell("configure", dict(configs))

    def partition(
        self,
        topic: str,
        key: object,
        key_bytes: bytes | None,
        value: object,
        value_bytes: bytes | None,
        cluster: Cluster,
    ) -> int:
        """The partition of a record.

        Raises:
            PartwrightError: Its code raises, or it returns a partition that the topic does not have.
        """
        if self.is_by_batch:
            raise PartwrightError(
                f"{self.name} gives the partitions of batches: it is asked by Producer.place"
            )
        answer = called(
            f"{self.name}.partition",
            lambda: self.partitioner.partition(topic, key, key_bytes, value, value_bytes, cluster),
        )
        return self._checked(answer, topic, cluster)

    def partitions(
        self, batch: pa.RecordBatch, topics: list[str], named: Sequence[int | None], cluster: Cluster
    ) -> list[int]:
        """The partitions of a batch of records.

        Args:
            batch: The records.
            topics: The topic of each.
            named: The partition that each record names itself; for such a record the partitioner's answer is ignored.
            cluster: The metadata.

        Raises:
            PartwrightError: Its code raises, or a row has no partition of its topic.
        """
        answer = called(f"{self.name}.partitions", lambda: self.partitioner.partitions(batch, cluster))
        listed = called(
            f"{self.name}.partitions",
            lambda: answer.to_pylist() if hasattr(answer, "to_pylist") else list(answer),
        )
        if len(listed) != batch.num_rows:
            raise PartwrightError(
                f"{self.name}.partitions gives {counted(len(listed), 'partition')} for "
                f"{counted(batch.num_rows, 'record')}: one for each "
                "is needed"
            )
        numbers = []
        for row, (each, topic, own) in enumerate(zip(listed, topics, named, strict=True)):
            try:
                numbers.append(self._checked(each, topic, cluster) if own is None else own)
            except PartwrightError as error:
                raise error.at_row(row) from None
        return numbers

    def placed(
        self,
        batch: RecordChunk,
        records: Iterable[ProducerRow],
        cluster: Cluster,
        append: Callable[[str, ProducerRow, int, bool], bool],
    ) -> pa.Array:
        """The partitions of some records, asked for one by one or all at once, each put into its batch.

        Args:
            batch: The records.
            records: The same records, one by one.
            cluster: The metadata.
            append: Puts a record into its partition's batch, or into a new one if that is allowed; returns whether it
                did.

        Raises:
            PartwrightError: With the row, a record that names no partition of its topic, or gets none.
        """
        topics, named = batch.topic_names(), batch.partitions()
        explicit = [None] * len(batch) if named is None else named.to_pylist()
        if self.is_told and batch.value_sizes() is None:
            raise PartwrightError(
                f"{self.name} is told of new batches, which depend on bytes: give the records' values "
                "(value=) or sizes (size=)"
            )
        partitions: list[int] = []
        try:
            answers = (
                self.partitions(batch.records, topics, explicit, cluster) if self.is_by_batch else explicit
            )
            for topic, own, answer, record in zip(topics, explicit, answers, records, strict=True):
                fixed = answer if own is None else own
                partitions.append(self.placed_record(topic, fixed, record, cluster, append))
        except PartwrightError as error:
            raise error if error.row is not None else error.at_row(len(partitions)) from None
        return pa.array(partitions, pa.int32())

    def placed_record(
        self,
        topic: str,
        own: int | None,
        record: ProducerRow,
        cluster: Cluster,
        append: Callable[[str, ProducerRow, int, bool], bool],
    ) -> int:
        """The partition of one record, asked for once more if it would begin a batch, and put into it; see `placed`.

        Raises:
            PartwrightError: The record names no partition of its topic, or gets none.
        """
        count = len(cluster.partitions(topic))
        if own is not None and not 0 <= own < count:
            raise PartwrightError(
                f"the record names partition {own}, and topic {topic!r} has {count} (from 0 on)"
            )

        def now_partition() -> int:
            if own is not None:
                return own
            return self.partition(
                topic, record.key, record.key_bytes, record.value, record.value_bytes, cluster
            )

        partition = now_partition()
        if not self.is_told or append(topic, record, partition, False):
            return partition
        self.on_new_batch(topic, cluster, partition)
        partition = now_partition()
        append(topic, record, partition, True)
        return partition

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None:
        """Tell the partitioner that a record would begin a batch.

        Raises:
            PartwrightError: Its code raises.
        """
        self._tell("on_new_batch", topic, cluster, previous)

    def close(self) -> None:
        """Close the partitioner.

        Raises:
            PartwrightError: Its code raises.
        """
        self._tell("close")

    def _tell(self, name: str, *arguments: object) -> None:
        method = getattr(self.partitioner, name, None)
        if callable(method):
            called(f"{self.name}.{name}", lambda: method(*arguments))

    def _checked(self, answer: Any, topic: str, cluster: Cluster) -> int:
        count = len(cluster.partitions(topic))
        try:
            number = None if isinstance(answer, bool) else index(answer)
        except Exception:  # noqa: BLE001 - a number of somebody's own may raise anything
            number = None
        if number is None or not 0 <= number < count:
            raise PartwrightError(
                f"{self.name} gives the partition {shown(answer)}, and topic {topic!r} has 0 to {count - 1}"
            )
        return number
