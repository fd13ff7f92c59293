"""The records of a topic as Arrow columns, from its beginning to where it ended as the reading began."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from partwright.errors import BrokerError, MissingExtraError
from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafka import KafkaConsumer, TopicPartition
    from kafka.consumer.fetcher import ConsumerRecord

__all__ = ["TopicChunk", "TopicRecords"]

_TIMEOUT_S = 5.0
# A broker that sends nothing for as long is not going to.
_STALL_S = 60.0
_POLL_MS = 200
_POLLED = 20_000


class TopicChunk(NamedTuple):
    """Some records of a topic, those of one partition in their order.

    Attributes:
        keys: Their key bytes, null where a record has no key.
        partitions: Where they are.
        offsets: Their offsets there.
        timestamps: Their timestamps in milliseconds, null where a record has none.
        sizes: How many bytes the key, the value and the headers of each have, uncompressed.
    """

    keys: pa.Array
    partitions: pa.Array
    offsets: pa.Array
    timestamps: pa.Array
    sizes: pa.Array


class TopicRecords:
    """A topic's records, also those of transactions that were aborted: every one has a place.

    Nothing is committed and no group is joined. Records that come while it is read are left out.

    Args:
        bootstrap: Where the broker is, `host:port`.
        topic: The topic.
        stall: Seconds without any answer until reading is given up.

    Raises:
        MissingExtraError: kafka-python is missing.
        BrokerError: No Kafka answers, or there is no such topic.
        PartwrightError: The name is none that a topic can have.

    Examples:
        >>> records = TopicRecords("127.0.0.1:9092", "flights")
        >>> sum(len(batch.keys) for batch in records.batches())
        6
    """

    def __init__(self, bootstrap: str, topic: str, *, stall: float = _STALL_S) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._stall = stall
        self._first = topics.beginning_offsets(bootstrap, topic)
        # Without partitions that came in between: they are of the time after.
        ends = topics.end_offsets(bootstrap, topic)
        self._end = {partition: end for partition, end in ends.items() if partition in self._first}
        self._at = dict(self._first)

    @property
    def partitions(self) -> int:
        """How many partitions the topic has."""
        return len(self._end)

    @property
    def done(self) -> float | None:
        """How much has been read, 0 to 1; None where there is nothing."""
        whole = sum(self._end.values()) - sum(self._first.values())
        left = sum(max(0, self._end[partition] - at) for partition, at in self._at.items())
        return 1 - left / whole if whole else None

    def batches(self) -> Iterator[TopicChunk]:
        """All records, in batches.

        Raises:
            BrokerError: The broker is gone, or sends nothing more.
        """
        open_ = {partition for partition in self._end if self._at[partition] < self._end[partition]}
        if not open_:
            return
        with self._consumer() as (consumer, partition_of):
            assigned = {partition: partition_of(self._topic, partition) for partition in sorted(open_)}
            consumer.assign(list(assigned.values()))
            for partition, each in assigned.items():
                consumer.seek(each, self._first[partition])
            heard = asked = time.monotonic()
            while open_:
                polled = consumer.poll(timeout_ms=_POLL_MS, max_records=_POLLED)
                records = [
                    record
                    for some in polled.values()
                    for record in some
                    if record.offset < self._end[record.partition]
                ]
                # Compaction and the marks of transactions leave offsets without a record: only the position
                # tells what was passed.
                before = dict(self._at)
                for partition in open_:
                    self._at[partition] = consumer.position(assigned[partition])
                passed = {partition for partition in open_ if self._at[partition] >= self._end[partition]}
                if passed:
                    consumer.pause(*(assigned[partition] for partition in passed))
                    open_ -= passed
                if self._at != before:
                    heard = asked = time.monotonic()
                elif time.monotonic() - asked > min(self._stall, _TIMEOUT_S):
                    asked = time.monotonic()
                    self._refuse_standstill(min(open_), asked - heard)
                if records:
                    yield _batch(records)

    def _refuse_standstill(self, partition: int, seconds: float) -> None:
        """A broker or a topic that is gone is not waited for, and any other not for ever."""
        if topics.partition_count(self._bootstrap, self._topic) is None:
            raise BrokerError(f"the topic {self._topic!r} was deleted while it was read")
        if seconds < self._stall:
            return
        raise BrokerError(
            f"Kafka at {self._bootstrap} sends nothing more of the topic {self._topic!r} for {self._stall:g} s, at "
            f"offset {self._at[partition]} of {self._end[partition]} in partition {partition}: see the broker's log"
        )

    @contextmanager
    def _consumer(self) -> Iterator[tuple[KafkaConsumer, type[TopicPartition]]]:
        """A consumer of kafka-python that is closed whatever happens, its errors as `BrokerError`."""
        kafka = topics.kafka_python()
        server = topics.reachable(self._bootstrap, _TIMEOUT_S)
        # What it says of a broker that goes is said in our sentence.
        logging.getLogger("kafka").addHandler(logging.NullHandler())
        try:
            consumer = kafka.KafkaConsumer(
                bootstrap_servers=server,
                bootstrap_timeout_ms=int(_TIMEOUT_S * 1000),
                group_id=None,
                enable_auto_commit=False,
                # Records that are deleted while they are read are no error.
                auto_offset_reset="earliest",
                fetch_max_wait_ms=_POLL_MS,
            )
            try:
                yield consumer, kafka.TopicPartition
            finally:
                consumer.close()
        except kafka.errors.UnsupportedCodecError as error:
            raise MissingExtraError(
                f"the topic {self._topic!r} is compressed, and what reads it is missing ({error}): pip install "
                "'kafka-python[snappy,lz4,zstd]'"
            ) from error
        except kafka.errors.KafkaError as error:
            raise BrokerError(
                f"Kafka at {self._bootstrap} does not give the topic {self._topic!r} ({error}): see the broker's log"
            ) from error


def _batch(records: list[ConsumerRecord]) -> TopicChunk:
    return TopicChunk(
        pa.array([record.key for record in records], pa.binary()),
        pa.array([record.partition for record in records], pa.int32()),
        pa.array([record.offset for record in records], pa.int64()),
        # -1 is Kafka's word for none.
        pa.array([None if record.timestamp == -1 else record.timestamp for record in records], pa.int64()),
        pa.array([_size(record) for record in records], pa.int64()),
    )


def _size(record: ConsumerRecord) -> int:
    sizes = (record.serialized_key_size, record.serialized_value_size, record.serialized_header_size)
    # What is not there has -1.
    return sum(max(0, size) for size in sizes)
