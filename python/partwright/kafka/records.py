"""The records of a topic as Arrow columns: all, or those within bounds, in the state when the reading began."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from partwright._check import Json
from partwright.errors import BrokerError
from partwright.kafka.bounds import WHOLE
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.connection import configured
from partwright.kafka.reading import STALL_S, Reading, headers_of
from partwright.kafka.topics import check_topic_name, described, existing, offsets_of

if TYPE_CHECKING:
    from partwright.kafka.bounds import Bounds
    from partwright.kafka.connection import KafkaConfig, KafkaConfigLike
    from partwright.kafka.reading import Record, Run


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
        description = existing(admin, topic, "READ")
        every = range(len(description.partitions))
        first = offsets_of(admin, topic, every, "earliest")
        # Such a reader sees nothing of transactions that are still open.
        end = offsets_of(admin, topic, every, "latest", committed=reads_committed(config))
        partitions = bounds.partitions_in(topic, len(every))
        windows = bounds.windows(first, end, lambda at: offsets_of(admin, topic, every, at))
    return Extent(
        str(description.topic_id), first, end, {partition: windows[partition] for partition in partitions}
    )


def reads_committed(config: KafkaConfig) -> bool:
    """Whether a configuration leaves out what is not committed; if it does not say so, it does not, as in Java."""
    return config.reading().get("isolation.level") == "read_committed"


class TopicChunk(NamedTuple):
    """Some records of a topic; those of one partition are in order.

    Attributes:
        keys: Their key bytes, null where a record has no key.
        partitions: Their partitions.
        offsets: Their offsets in the partition.
        timestamps: Their timestamps in milliseconds, null where a record has none.
        sizes: The uncompressed bytes of each record's key, value and headers; None if they were not requested.
    """

    keys: pa.Array
    partitions: pa.Array
    offsets: pa.Array
    timestamps: pa.Array
    sizes: pa.Array | None


class TopicRecords:
    """A topic's records, including those of aborted transactions: each of them has a place.

    Nothing is committed and no group is joined. Records that arrive during the reading are left out but counted.

    Args:
        kafka_config: The broker's address, `host:port`, or the client configuration.
        topic: The topic.
        bounds: The part to read; all by default.
        sizes: Whether to return the records' sizes, which takes a third more time.
        stall: Seconds without any answer before the reading is given up.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: No Kafka answers, the topic does not exist, or the user may not see it.
        PartwrightError: The name is not valid for a topic, or the bounds name a partition that the topic does not have.

    Examples:
        >>> records = TopicRecords("127.0.0.1:9092", "flights")
        >>> sum(len(batch.keys) for batch in records.batches())
        6
    """

    def __init__(
        self,
        kafka_config: KafkaConfigLike,
        topic: str,
        *,
        bounds: Bounds = WHOLE,
        sizes: bool = False,
        stall: float = STALL_S,
    ) -> None:
        check_topic_name(topic)
        self._config = configured(kafka_config)
        self._topic = topic
        self._sizes = sizes
        whole = extent(self._config, topic, bounds)
        self.partitions = len(whole.end)
        self.bounds = bounds
        self.among = len(whole.windows)
        self.of = sum(whole.end.values()) - sum(whole.first.values())
        self._whole_end = sum(whole.end.values())
        self.records = self.tombstones = 0
        self.came: int | None = None
        self._windows = whole.windows
        self._reading = Reading(
            self._config,
            topic,
            whole.windows,
            # Records of aborted transactions have a place too.
            committed=reads_committed(self._config),
            topic_id=whole.topic_id,
            stall=stall,
        )

    @property
    def _passed(self) -> int:
        """How many offsets were passed."""
        at = self._reading.at
        return sum(min(at[each], end) - begin for each, (begin, end) in self._windows.items())

    @property
    def done(self) -> float | None:
        """The share that has been read, 0 to 1; None if there is nothing to read."""
        whole = sum(end - begin for begin, end in self._windows.values())
        return self._passed / whole if whole else None

    def read_counts(self) -> Json:
        """How much was read, for JSON output.

        Returns:
            `records` (how many were read), `of` (how many offsets the whole topic had when the reading began, from the
            first to the end), `passed` (how many offsets were passed: compaction and the marks of transactions leave
            some without a record), `tombstones` (how many of the records have no value), `deleted` (how many offsets
            were deleted before they could be read), `came` (how many offsets were added to the topic during the
            reading; none of them was read; None if `look_again` was not called), `whole` (whether that is all of the
            topic) and `bounds`.
        """
        passed, deleted = self._passed, self._reading.deleted
        return {
            "records": self.records,
            "of": self.of,
            "passed": passed,
            "tombstones": self.tombstones,
            "deleted": deleted,
            "came": self.came,
            "whole": passed - deleted == self.of,
            "bounds": self.bounds.to_dict(),
        }

    def look_again(self) -> None:
        """Asks how much was added to the topic since the reading began; a missing answer is not an error here."""
        with suppress(BrokerError), admin_client(self._config, TIMEOUT_S) as admin:
            # The topic may have more partitions by now.
            description = described(admin, [self._topic])[self._topic]
            every = range(len(description.partitions) if description else 0)
            ends = offsets_of(admin, self._topic, every, "latest")
            self.came = max(0, sum(ends.values()) - self._whole_end)

    def batches(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[TopicChunk]:
        """The records, in batches.

        Args:
            stopped: Whether to stop; called several times a second, even if no records arrive.

        Raises:
            BrokerError: The broker is gone, sends nothing more or does not allow the user to read; or the topic is
                deleted.
            PartwrightError: Sizes were requested, and the name of a record's header is not UTF-8.
        """
        if not self._reading.open:
            return
        for runs in self._reading.runs(stopped):
            yield from self._chunk(runs)
        self._reading.refuse_another()

    def _chunk(self, runs: list[Run]) -> Iterator[TopicChunk]:
        """The columns of some records."""
        messages = list(chain.from_iterable(run.records for run in runs))
        if not messages:
            return
        self.records += len(messages)
        # An empty value differs from a missing one.
        self.tombstones += sum([not len(message) and message.value() is None for message in messages])
        yield TopicChunk(
            pa.array([message.key() for message in messages], pa.binary()),
            pa.array(
                list(chain.from_iterable([run.partition] * len(run.records) for run in runs)), pa.int32()
            ),
            pa.array([message.offset() for message in messages], pa.int64()),
            # The kind of timestamp is 0 if there is none.
            pa.array(
                [at if kind else None for kind, at in (each.timestamp() for each in messages)], pa.int64()
            ),
            pa.array([_size(message) for message in messages], pa.int64()) if self._sizes else None,
        )


def _size(message: Record) -> int:
    in_headers = sum(len(name.encode()) + len(value or b"") for name, value in headers_of(message))
    return len(message.key() or b"") + len(message) + in_headers
