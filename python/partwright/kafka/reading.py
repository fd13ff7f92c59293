"""Read partitions of a topic between offsets. Every record that partwright gets from a Kafka comes through `Reading`.

Its rules hold for every reader. Nothing is committed and no group is joined, so a right to a group is never needed,
although librdkafka wants a group's name and reports that the right is missing. A missing right to READ the topic ends
the reading. Offsets that retention has removed are passed and counted. The end of a partition is reported even where a
transaction's marker is its last record. While nothing arrives, a broker has 20 seconds to come back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from operator import methodcaller
from types import NoneType
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from partwright._check import MOST_LONG
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import (
    SILENT,
    TIMEOUT_S,
    admin_client,
    confluent_kafka,
    refused_settings,
)
from partwright.kafka.errors import Meaning, RetriableError, meaning, refusal
from partwright.kafka.topics import described, offsets_of
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    from partwright.kafka.client import Admin
    from partwright.kafka.connection import KafkaConfig


ENDLESS = MOST_LONG
"""The end of a window that goes on for as long as it is polled."""
STALL_S = 60.0
"""The seconds without data after which a reading is given up."""
# The seconds that an unreachable broker has to return.
_ABSENT_S = 20.0
_POLL_S = 0.2
# How many records are taken at once. More would be slower, since they leave the processor's cache before they are used;
# and this many large records must fit into memory.
_FEWEST, _POLLED, _POLLED_BYTES = 10, 1000, 16 << 20
# The broker holds a request this long if there is nothing new. Longer helps only readers who wait for new records: this
# reader learns only afterwards that a partition ends after a transaction's marker.
_WAIT, _LONGEST_WAIT_MS = "fetch.wait.max.ms", 100

_DELETED = "deleted"

# With librdkafka's default it waits a second after its queue was full. The configuration may override it.
_TUNED: dict[str, object] = {"fetch.queue.backoff.ms": 10}
_FIXED: dict[str, object] = {
    "group.id": "partwright",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    # Records that are deleted before they could be read are counted.
    "auto.offset.reset": "error",
    "allow.auto.create.topics": False,
}


class Record(Protocol):
    """A record, as confluent-kafka's `Message` has it; its own annotations allow more than occurs."""

    def error(self) -> KafkaError | None: ...  # noqa: D102 - see confluent-kafka
    def key(self) -> bytes | None: ...  # noqa: D102
    def value(self) -> bytes | None: ...  # noqa: D102
    def headers(self) -> list[tuple[str, bytes | None]] | None: ...  # noqa: D102
    def topic(self) -> str: ...  # noqa: D102
    def partition(self) -> int: ...  # noqa: D102
    def offset(self) -> int: ...  # noqa: D102
    def timestamp(self) -> tuple[int, int]: ...  # noqa: D102
    def __len__(self) -> int: ...


class Run(NamedTuple):
    """Some records of one partition, in their order.

    Attributes:
        partition: The partition.
        records: The records.
        value_bytes: The bytes of all their values.
    """

    partition: int
    records: list[Record]
    value_bytes: int


# confluent-kafka sets an exception and still returns a list. Python's interpreter, once it has made a frequent call
# fast, does not notice that, and the exception appears wherever Python looks next. This way of calling always looks.
_read: Callable[[Record], list[tuple[str, bytes | None]] | None] = methodcaller("headers")


class UnreadableHeaderError(PartwrightError):
    """A record has a header whose name is not UTF-8."""


def headers_of(record: Record) -> list[tuple[str, bytes | None]]:
    """A record's headers; empty if it has none. A producer takes them as they are: it refuses any other sequence.

    librdkafka takes any bytes for a header's name, and confluent-kafka makes text of them up to the first NUL. So a
    name that is not UTF-8 cannot be read, and what follows a NUL cannot be seen.

    Raises:
        UnreadableHeaderError: A name is not UTF-8. The record's headers must not be read again: confluent-kafka then
            returns an object without its name, and Python crashes as it looks at it.
    """
    try:
        return _read(record) or []
    except (SystemError, UnicodeDecodeError):
        raise UnreadableHeaderError(
            f"the record at offset {record.offset()} of partition {record.partition()} of {record.topic()!r} has a "
            "header name that is not UTF-8, which confluent-kafka cannot read: correct its writer, and start again "
            "once the record is gone from the topic (by its retention, or kafka-delete-records.sh)",
            value=record.offset(),
        ) from None


class Reading:
    """Partitions of a topic, each read from one offset to another over one consumer.

    Args:
        config: How its Kafka is reached. Its settings for reading apply.
        topic: The topic.
        windows: By partition, the first offset and the end (exclusive).
        committed: Whether to leave out records of aborted transactions, and those after the start of an open one.
        topic_id: Kafka's id of the topic, if a topic that takes its name meanwhile shall be refused.
        stall: Seconds without any answer before the reading is given up.

    Attributes:
        at: By partition, the offset before which every record has arrived; it may be after the end.
        deleted: How many offsets were deleted before they could be read.
        open: The partitions whose end is not reached.
    """

    def __init__(
        self,
        config: KafkaConfig,
        topic: str,
        windows: Mapping[int, tuple[int, int]],
        *,
        committed: bool,
        topic_id: str | None = None,
        stall: float = STALL_S,
    ) -> None:
        self._config, self._topic, self._id, self._stall = config, topic, topic_id, stall
        self._committed = committed
        self._ends = {partition: end for partition, (_, end) in windows.items()}
        self.at = {partition: begin for partition, (begin, _) in windows.items()}
        self.open = {partition for partition, (begin, end) in windows.items() if begin < end}
        self.deleted = 0
        self._troubles = Troubles(config)
        self._count = _FEWEST
        self._consumer: Consumer | None = None
        # When something arrived, when Kafka was asked why nothing does, and when the last poll ended.
        self._heard = self._asked_at_s = self._left = time.monotonic()

    def runs(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[list[Run]]:
        """All records, in lists of runs; the consumer is closed afterwards.

        Args:
            stopped: Whether to stop; called several times a second, even if no records arrive.

        Raises:
            BrokerError: See `poll`.
        """
        try:
            while self.open and not stopped():
                yield self.poll()
        finally:
            self.close()

    def poll(self) -> list[Run]:
        """What has arrived, which may be nothing; it waits for at most a fifth of a second.

        Raises:
            PartwrightError: librdkafka refuses a setting.
            BrokerError: The broker is gone, sends nothing more or gives no right to READ; or the topic is deleted.
        """
        # The time that is spent elsewhere is no silence of the broker's.
        elsewhere = time.monotonic() - self._left
        self._heard += elsewhere
        self._asked_at_s += elsewhere
        if self._consumer is None:
            self._consumer = self._opened()
        before = sum(self.at.values())
        polled = cast("list[Record]", self._consumer.consume(self._count, _POLL_S))
        # Compared by type, because confluent-kafka's errors cannot be compared with None.
        has_events = not set(map(type, [each.error() for each in polled])) <= {NoneType}
        came = [each for each in polled if each.error() is None] if has_events else polled
        # One partition's records arrive together.
        runs = [self._run(each, list(some)) for each, some in groupby(came, methodcaller("partition"))]
        if has_events:
            for each in polled:
                if (error := each.error()) is not None:
                    self._event(self._consumer, each.partition(), each.offset(), error)
        passed = {partition for partition in self.open if self.at[partition] >= self._ends[partition]}
        if passed:
            # Not even the records that were fetched in advance arrive any more.
            self._consumer.incremental_unassign(self._places(passed))
            self.open -= passed
        if came:
            mean = sum(run.value_bytes for run in runs) / len(came)
            self._count = max(_FEWEST, min(2 * self._count, _POLLED, int(_POLLED_BYTES / (mean + 1))))
        self._left = time.monotonic()
        if sum(self.at.values()) != before:
            self._heard = self._asked_at_s = self._left
        elif self._left - self._asked_at_s > min(self._stall, TIMEOUT_S):
            self._asked_at_s = self._left
            self._refuse_standstill(self._asked_at_s - self._heard)
        return runs

    def pause(self, partitions: Iterable[int]) -> None:
        """Fetch nothing more of these partitions for now."""
        if self._consumer is not None:
            self._consumer.pause(self._places(partitions))

    def resume(self, partitions: Iterable[int]) -> None:
        """Fetch these partitions again."""
        if self._consumer is not None:
            self._consumer.resume(self._places(partitions))

    def close(self) -> None:
        """End librdkafka's threads; a later poll goes on where the last one ended."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def refuse_another(self) -> None:
        """Refuse a topic that has taken the name meanwhile: its records would count as this one's.

        If nobody answers, the records that were read count.

        Raises:
            BrokerError: It is another topic, or there is none.
        """
        try:
            with admin_client(self._config, TIMEOUT_S) as admin:
                self._same(admin)
        except BrokerError as error:
            if error.reason == _DELETED:
                raise

    def _opened(self) -> Consumer:
        """A consumer of the open partitions, each from the offset where the reading goes on."""
        settings = {
            **_TUNED,
            **self._config.librdkafka(),
            **self._config.reading(),
            **_FIXED,
            "isolation.level": "read_committed" if self._committed else "read_uncommitted",
            "error_cb": self._troubles.note,
        }
        wait = min(int(str(settings.get(_WAIT, _LONGEST_WAIT_MS))), _LONGEST_WAIT_MS)
        with refused_settings(self._config):
            consumer: Consumer = confluent_kafka().Consumer({**settings, _WAIT: wait}, logger=SILENT)
        consumer.assign(self._places(sorted(self.open)))
        return consumer

    def _run(self, partition: int, records: list[Record]) -> Run:
        """Some records, without those that are after the end."""
        last, end = records[-1].offset(), self._ends[partition]
        # A marker after them may have been passed already.
        self.at[partition] = max(self.at[partition], last + 1)
        if last >= end:
            records = [each for each in records if each.offset() < end]
        return Run(partition, records, sum(map(len, records)))

    def _event(self, consumer: Consumer, partition: int, offset: int, error: KafkaError) -> None:
        """Handle what comes in place of a record."""
        what = meaning(error)
        if what is Meaning.END_OF_PARTITION:
            self.at[partition] = max(self.at[partition], offset)
        elif what is Meaning.OUT_OF_RANGE:
            self._begin_anew(consumer, partition)
        elif what is Meaning.NO_TOPIC:
            raise self._gone()
        # librdkafka requires a group's name, but nothing is done with it.
        elif error.name() != "GROUP_AUTHORIZATION_FAILED":
            raise refusal(self._config, error, "READ", f"the topic {self._topic!r}")

    def _begin_anew(self, consumer: Consumer, partition: int) -> None:
        """The oldest records were deleted by retention: read what is left."""
        # If no broker answers, the same offset is refused again once one does.
        with suppress(RetriableError), admin_client(self._config, TIMEOUT_S) as admin:
            self._same(admin)
            first = offsets_of(admin, self._topic, [partition], "earliest")[partition]
            self.deleted += max(0, min(first, self._ends[partition]) - self.at[partition])
            self.at[partition] = max(first, self.at[partition])
        if self.at[partition] < self._ends[partition]:
            # If the last fetch was refused, a seek is refused too.
            consumer.incremental_unassign(self._places([partition]))
            consumer.incremental_assign(self._places([partition]))

    def _refuse_standstill(self, seconds: float) -> None:
        """End at once if the topic is gone, but wait a while for a broker: it may be busy or restarting."""
        try:
            self._troubles.check()
            with admin_client(self._config, TIMEOUT_S) as admin:
                self._same(admin)
        except BrokerError as error:
            if error.reason == _DELETED or seconds >= min(_ABSENT_S, self._stall):
                raise
        if seconds < self._stall:
            return
        self._troubles.check(0)
        partition = min(self.open)
        end = self._ends[partition]
        where = (
            "" if end == ENDLESS else f", at offset {self.at[partition]} of {end} in partition {partition}"
        )
        raise RetriableError(
            f"Kafka at {self._config.servers} sends nothing more of the topic {self._topic!r} for {self._stall:g} s"
            f"{where}: see the broker's log"
        )

    def _same(self, admin: Admin) -> None:
        """Refuse that the topic is gone, or is another one than at the beginning."""
        description = described(admin, [self._topic])[self._topic]
        if description is None or (self._id is not None and str(description.topic_id) != self._id):
            raise self._gone()

    def _gone(self) -> BrokerError:
        return BrokerError(
            f"the topic {self._topic!r} was {_DELETED} while it was read: start again",
            value=self._topic,
            reason=_DELETED,
        )

    def _places(self, partitions: Iterable[int]) -> list[TopicPartition]:
        place = confluent_kafka().TopicPartition
        return [place(self._topic, partition, self.at[partition]) for partition in partitions]


def records(
    config: KafkaConfig, topic: str, windows: Mapping[int, tuple[int, int]], *, committed: bool = False
) -> Iterator[Record]:
    """The records in windows of offsets, one by one; those of one partition are in order.

    Args:
        config: How the Kafka is reached.
        topic: The topic.
        windows: By partition, the first offset and the end (exclusive).
        committed: See `Reading`.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: See `Reading.poll`.
    """
    for runs in Reading(config, topic, windows, committed=committed).runs():
        for run in runs:
            yield from run.records
