"""The records of a topic as Arrow columns: all, or those within bounds, in the state when the reading began."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from types import NoneType
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import pyarrow as pa

from partwright.errors import BrokerError
from partwright.kafka.bounds import WHOLE
from partwright.kafka.client import (
    SILENT,
    TIMEOUT_S,
    admin_client,
    confluent_kafka,
    refused_settings,
)
from partwright.kafka.connection.given import configured
from partwright.kafka.errors import Meaning, meaning, refusal
from partwright.kafka.extent import extent
from partwright.kafka.headers import headers_of
from partwright.kafka.topics import check_topic_name, described, offsets_of
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from confluent_kafka import Consumer, KafkaError

    from partwright._check import Json
    from partwright.kafka.bounds import Bounds
    from partwright.kafka.client import Admin
    from partwright.kafka.connection.given import KafkaConfigLike

__all__ = ["TopicChunk", "TopicRecords"]

# The seconds without data after which a reading is given up, and the seconds that an unreachable broker has to return.
_STALL_S, _ABSENT_S = 60.0, 20.0
_POLL_S = 0.2
# How many records are taken at once. More would be slower, since they leave the processor's cache before they become
# columns; and this many large records must fit into memory.
_FEWEST, _POLLED, _POLLED_BYTES = 10, 1000, 16 << 20
# The broker holds a request this long if there is nothing new. Longer helps only readers who wait for new records: this
# reader learns only afterwards that a partition ends after a transaction's marker. It must be shorter than the time
# that counts as silence.
_LONGEST_WAIT_MS = 500

_DELETED = "deleted"
_WAIT = "fetch.wait.max.ms"

# Settings that a reader needs, which override the configuration; and defaults that the configuration may override.
_FIXED = {
    "group.id": "partwright",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    # Records that are deleted while they are read are counted.
    "auto.offset.reset": "error",
    "allow.auto.create.topics": False,
}
_TUNED: Mapping[str, object] = {
    # With librdkafka's default it waits a second after its queue was full.
    "fetch.queue.backoff.ms": 10,
    # The default of Java's consumer, unlike librdkafka's: records of aborted transactions have a place too.
    "isolation.level": "read_uncommitted",
}


class _Message(Protocol):
    """The fields of confluent-kafka's `Message` that are used; its own annotations allow more than occurs."""

    def error(self) -> KafkaError | None: ...
    def key(self) -> bytes | None: ...
    def value(self) -> bytes | None: ...
    def headers(self) -> list[tuple[str, bytes | None]] | None: ...
    def topic(self) -> str: ...
    def partition(self) -> int: ...
    def offset(self) -> int: ...
    def timestamp(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...


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
        bootstrap: The broker's address, `host:port`; None for the `bootstrap.servers` of the configuration.
        topic: The topic.
        bounds: The part to read; all by default.
        sizes: Whether to return the records' sizes, which takes a third more time.
        stall: Seconds without any answer before the reading is given up.
        kafka_config: The client configuration.

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
        bootstrap: str | None,
        topic: str,
        *,
        bounds: Bounds = WHOLE,
        sizes: bool = False,
        stall: float = _STALL_S,
        kafka_config: KafkaConfigLike = None,
    ) -> None:
        check_topic_name(topic)
        self._config = configured(kafka_config, bootstrap)
        self._topic = topic
        self._stall = stall
        self._sizes = sizes
        found = extent(self._config, topic, bounds)
        self._id = found.topic_id
        self.partitions = len(found.end)
        self.bounds = bounds
        self.among = len(found.windows)
        self.of = sum(found.end.values()) - sum(found.first.values())
        self._whole_end = sum(found.end.values())
        self.records = self.tombstones = self.deleted = 0
        self.came: int | None = None
        self._begin = {partition: window[0] for partition, window in found.windows.items()}
        self._end = {partition: window[1] for partition, window in found.windows.items()}
        self._at = dict(self._begin)

    @property
    def done(self) -> float | None:
        """The share that has been read, 0 to 1; None if there is nothing to read."""
        whole = sum(self._end.values()) - sum(self._begin.values())
        left = sum(max(0, self._end[partition] - at) for partition, at in self._at.items())
        return 1 - left / whole if whole else None

    def told(self) -> Json:
        """How much was read, for JSON output.

        Returns:
            `records` (how many were read), `of` (how many offsets the whole topic had when the reading began, from the
            first to the end), `passed` (how many offsets were passed: compaction and the marks of transactions leave
            some without a record), `tombstones` (how many of the records have no value), `deleted` (how many offsets
            were deleted before they could be read), `came` (how many offsets were added to the topic during the
            reading; none of them was read; None if `look_again` was not called), `whole` (whether that is all of the
            topic) and `bounds`.
        """
        passed = sum(min(at, self._end[each]) - self._begin[each] for each, at in self._at.items())
        return {
            "records": self.records,
            "of": self.of,
            "passed": passed,
            "tombstones": self.tombstones,
            "deleted": self.deleted,
            "came": self.came,
            "whole": passed - self.deleted == self.of,
            "bounds": self.bounds.to_dict(),
        }

    def look_again(self) -> None:
        """Asks how much was added to the topic since the reading began; a missing answer is not an error here."""
        with suppress(BrokerError), admin_client(self._config, TIMEOUT_S) as admin:
            # The topic may have more partitions by now.
            found = described(admin, [self._topic])[self._topic]
            every = range(len(found.partitions) if found else 0)
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
        open_ = {partition for partition in self._end if self._at[partition] < self._end[partition]}
        if not open_:
            return
        with self._consumer(open_) as (consumer, troubles):
            heard = asked = time.monotonic()
            count = _FEWEST
            while open_ and not stopped():
                messages = cast("list[_Message]", consumer.consume(count, _POLL_S))
                count = _next_count(messages, count)
                before = sum(self._at.values())
                errors = [each.error() for each in messages]
                # Test by type: confluent-kafka's errors cannot be compared with None.
                if set(map(type, errors)) <= {NoneType}:
                    yield from self._chunk(messages)
                else:
                    told = list(zip(messages, errors, strict=True))
                    yield from self._chunk([message for message, error in told if error is None])
                    for message, error in told:
                        if error is not None:
                            self._event(consumer, message.partition(), message.offset(), error)
                passed = {partition for partition in open_ if self._at[partition] >= self._end[partition]}
                if passed:
                    # Not even the records that were fetched in advance arrive any more.
                    consumer.incremental_unassign(
                        [confluent_kafka().TopicPartition(self._topic, each) for each in passed]
                    )
                    open_ -= passed
                if sum(self._at.values()) != before:
                    heard = asked = time.monotonic()
                elif time.monotonic() - asked > min(self._stall, TIMEOUT_S):
                    asked = time.monotonic()
                    self._refuse_standstill(troubles, min(open_), asked - heard)
        self._refuse_another()

    def _chunk(self, messages: list[_Message]) -> Iterator[TopicChunk]:
        """The columns of some messages, without those that arrived after the reading began."""
        if not messages:
            return
        partitions = [message.partition() for message in messages]
        offsets = [message.offset() for message in messages]
        last = dict(zip(partitions, offsets, strict=True))
        ends = self._end
        for partition, offset in last.items():
            self._at[partition] = max(self._at[partition], offset + 1)
        if any(offset >= ends[partition] for partition, offset in last.items()):
            yield from self._chunk([each for each in messages if each.offset() < ends[each.partition()]])
            return
        self.records += len(messages)
        # An empty value differs from a missing one.
        self.tombstones += sum([not len(message) and message.value() is None for message in messages])
        yield TopicChunk(
            pa.array([message.key() for message in messages], pa.binary()),
            pa.array(partitions, pa.int32()),
            pa.array(offsets, pa.int64()),
            # The kind of timestamp is 0 if there is none.
            pa.array(
                [at if kind else None for kind, at in (each.timestamp() for each in messages)], pa.int64()
            ),
            pa.array([_size(message) for message in messages], pa.int64()) if self._sizes else None,
        )

    def _event(self, consumer: Consumer, partition: int, offset: int, error: KafkaError) -> None:
        """Handles an error that comes in place of a record."""
        what = meaning(error)
        if what is Meaning.END_OF_PARTITION:
            self._at[partition] = max(self._at[partition], offset)
        elif what is Meaning.OUT_OF_RANGE:
            self._begin_anew(consumer, partition)
        elif what is Meaning.NO_TOPIC:
            raise self._gone()
        # librdkafka requires a group's name, but nothing is done with it.
        elif error.name() != "GROUP_AUTHORIZATION_FAILED":
            raise refusal(self._config, error, "READ", f"the topic {self._topic!r}")

    def _begin_anew(self, consumer: Consumer, partition: int) -> None:
        """The oldest records were deleted after their retention time: read the rest."""
        with admin_client(self._config, TIMEOUT_S) as admin:
            self._same(admin)
            first = offsets_of(admin, self._topic, [partition], "earliest")[partition]
        at = min(max(first, self._at[partition]), self._end[partition])
        self.deleted += at - self._at[partition]
        self._at[partition] = at
        if at < self._end[partition]:
            # If the last fetch was refused, a seek is refused too.
            place = confluent_kafka().TopicPartition(self._topic, partition, at)
            consumer.incremental_unassign([place])
            consumer.incremental_assign([place])

    def _same(self, admin: Admin) -> None:
        """Refuses another topic with the same name, whose records would be counted as this topic's."""
        found = described(admin, [self._topic])[self._topic]
        if found is None or str(found.topic_id) != self._id:
            raise self._gone()

    def _refuse_another(self) -> None:
        """The check at the end. If nobody answers any more, the records read so far count."""
        try:
            with admin_client(self._config, TIMEOUT_S) as admin:
                self._same(admin)
        except BrokerError as error:
            if error.reason == _DELETED:
                raise

    def _gone(self) -> BrokerError:
        return BrokerError(
            f"the topic {self._topic!r} was {_DELETED} while it was read: start again", reason=_DELETED
        )

    def _refuse_standstill(self, troubles: Troubles, partition: int, seconds: float) -> None:
        """Ends at once if the topic is gone, but waits a while for a broker: it may be busy or restarting."""
        try:
            troubles.check(0)
            with admin_client(self._config, TIMEOUT_S) as admin:
                self._same(admin)
        except BrokerError as error:
            if error.reason == _DELETED or seconds >= min(_ABSENT_S, self._stall):
                raise
        if seconds < self._stall:
            return
        raise BrokerError(
            f"Kafka at {self._config.servers} sends nothing more of the topic {self._topic!r} for {self._stall:g} s, "
            f"at offset {self._at[partition]} of {self._end[partition]} in partition {partition}: see the broker's log"
        )

    @contextmanager
    def _consumer(self, partitions: set[int]) -> Iterator[tuple[Consumer, Troubles]]:
        """A consumer of these partitions, each from the offset where the reading continues."""
        kafka = confluent_kafka()
        troubles = Troubles(self._config)
        given = {
            **_TUNED,
            **self._config.librdkafka(),
            **self._config.reading(),
            **_FIXED,
            "error_cb": troubles.note,
        }
        wait = min(int(str(given.get(_WAIT, _LONGEST_WAIT_MS))), _LONGEST_WAIT_MS)
        with refused_settings(self._config):
            consumer = kafka.Consumer({**given, _WAIT: wait}, logger=SILENT)
        try:
            consumer.assign(
                [kafka.TopicPartition(self._topic, each, self._at[each]) for each in sorted(partitions)]
            )
            yield consumer, troubles
        finally:
            consumer.close()


def _next_count(messages: list[_Message], count: int) -> int:
    """How many records to take next: fewer if they are large."""
    if not messages:
        return count
    mean = sum(map(len, messages)) / len(messages)
    return max(_FEWEST, min(2 * count, _POLLED, int(_POLLED_BYTES / (mean + 1))))


def _size(message: _Message) -> int:
    in_headers = sum(len(name.encode()) + len(value or b"") for name, value in headers_of(message))
    return len(message.key() or b"") + len(message) + in_headers
