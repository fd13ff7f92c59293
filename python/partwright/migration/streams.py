"""A topic's committed records, each partition in order, up to any offsets: read once, and kept until needed."""

from __future__ import annotations

import time
from collections import deque
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import groupby
from operator import methodcaller
from types import NoneType
from typing import TYPE_CHECKING, Protocol, Self, cast

from partwright.errors import BrokerError
from partwright.kafka.client import (
    SILENT,
    TIMEOUT_S,
    admin_client,
    confluent_kafka,
    refused_settings,
)
from partwright.kafka.errors import Meaning, RetriableError, meaning, refusal
from partwright.kafka.topics import offsets_of
from partwright.kafka.troubles import Troubles
from partwright.migration.topics import patiently

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from threading import Event
    from types import TracebackType

    from confluent_kafka import Consumer, KafkaError, TopicPartition

    from partwright.kafka.connection import KafkaConfig

__all__ = ["Record", "Streams"]

_POLL_S, _POLLED = 0.2, 1000
# A broker that has sent nothing for this long is not going to.
_STALL_S = 60.0
# The most bytes that are held of all partitions together, and the least of one.
_HELD_BYTES, _HELD_LEAST = 128 << 20, 1 << 20
# A record takes more memory than its value's bytes.
_RECORD_BYTES = 300
_WAIT = "fetch.wait.max.ms"
_LONGEST_WAIT_MS = 100
_FIXED: dict[str, object] = {
    "group.id": "partwright",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    # Records that were deleted before they could be read are counted.
    "auto.offset.reset": "error",
    "allow.auto.create.topics": False,
}


class Record(Protocol):
    """A record, as confluent-kafka's `Message` has it."""

    def error(self) -> KafkaError | None: ...  # noqa: D102 - see confluent-kafka
    def key(self) -> bytes | None: ...  # noqa: D102
    def value(self) -> bytes | None: ...  # noqa: D102
    def headers(self) -> list[tuple[str, bytes | None]] | None: ...  # noqa: D102
    def topic(self) -> str: ...  # noqa: D102
    def partition(self) -> int: ...  # noqa: D102
    def offset(self) -> int: ...  # noqa: D102
    def timestamp(self) -> tuple[int, int]: ...  # noqa: D102
    def __len__(self) -> int: ...


class Streams:
    """A topic's partitions as queues of records, over one consumer that commits nothing and joins no group.

    Args:
        config: How to reach its Kafka.
        topic: The topic.
        start: The offset in each partition at which reading starts.
        committed: Whether records of aborted and open transactions are left out.

    Attributes:
        at: By partition, the offset before which all records have arrived.
        deleted: How many offsets were deleted before they could be read.
    """

    def __init__(
        self, config: KafkaConfig, topic: str, start: Mapping[int, int], *, committed: bool = True
    ) -> None:
        self._config, self._topic = config, topic
        self.at = dict(start)
        self.deleted = 0
        self._queues: dict[int, deque[Record]] = {partition: deque() for partition in start}
        self._held = dict.fromkeys(start, 0)
        self._paused: set[int] = set()
        self._most = max(_HELD_LEAST, _HELD_BYTES // max(1, len(start)))
        self._troubles = Troubles(config)
        self._heard = self._asked = time.monotonic()
        kafka = confluent_kafka()
        given = {
            "fetch.queue.backoff.ms": 10,
            **config.librdkafka(),
            **config.reading(),
            **_FIXED,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
            "error_cb": self._troubles.note,
        }
        # librdkafka reports after this time that a partition ends with a transaction's marker.
        wait = min(int(str(given.get(_WAIT, _LONGEST_WAIT_MS))), _LONGEST_WAIT_MS)
        with refused_settings(config):
            self._consumer: Consumer = kafka.Consumer({**given, _WAIT: wait}, logger=SILENT)
        self._consumer.assign([self._place(partition) for partition in sorted(start)])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()

    def head(self, partition: int, bound: int) -> Record | None:
        """The next record of a partition before an offset, without taking it; None if there are no more.

        Raises:
            BrokerError: The broker is gone, sends nothing more, or gives no right to read.
        """
        queue = self._queues[partition]
        while not queue and self.at[partition] < bound:
            self._poll()
        return queue[0] if queue and queue[0].offset() < bound else None

    def drop(self, partition: int) -> None:
        """Drop the head of a partition."""
        self._taken(partition, len(self._queues[partition].popleft()) + _RECORD_BYTES)

    def passed(self, partition: int, bound: int) -> bool:
        """Whether all records of a partition before an offset have arrived and were taken."""
        queue = self._queues[partition]
        return queue[0].offset() >= bound if queue else self.at[partition] >= bound

    def take(self, bounds: Sequence[int], count: int, size: int) -> list[Record]:
        """The next records within the bounds, each partition's in order.

        Args:
            bounds: Up to which offset each partition is read.
            count: The most records.
            size: About how many bytes.

        Returns:
            The records; empty once every bound is reached.

        Raises:
            BrokerError: As `head` says.
        """
        found: list[Record] = []
        while True:
            for partition, bound in enumerate(bounds):
                queue = self._queues[partition]
                held = self._held[partition]
                if queue and len(queue) <= count and held < size and queue[-1].offset() < bound:
                    found += queue
                    count -= len(queue)
                    size -= held
                    queue.clear()
                    self._taken(partition, held)
                    continue
                taken = 0
                while queue and count and size > taken and queue[0].offset() < bound:
                    record = queue.popleft()
                    found.append(record)
                    count -= 1
                    taken += len(record) + _RECORD_BYTES
                if taken:
                    size -= taken
                    self._taken(partition, taken)
            if not count or size <= 0 or all(map(self.passed, range(len(bounds)), bounds)):
                return found
            self._poll()

    def take_by_time(self, bounds: Sequence[int], count: int, size: int) -> list[Record]:
        """As `take`, with all partitions merged by timestamp; for equal ones, the lower partition comes first."""
        found: list[Record] = []
        heads: list[tuple[int, int]] = []
        for partition, bound in enumerate(bounds):
            if (record := self.head(partition, bound)) is not None:
                heads.append((record.timestamp()[1], partition))
        heapify(heads)
        while heads and count and size > 0:
            _, partition = heappop(heads)
            record = self._queues[partition].popleft()
            found.append(record)
            count -= 1
            size -= len(record) + _RECORD_BYTES
            self._taken(partition, len(record) + _RECORD_BYTES)
            if (following := self.head(partition, bounds[partition])) is not None:
                heappush(heads, (following.timestamp()[1], partition))
        return found

    def fill(self, bounds: Sequence[int], count: int, stopped: Event) -> None:
        """Fetch records ahead of their use, in a thread of its own, while nobody else uses the streams.

        Args:
            bounds: Up to which offset each partition is read.
            count: It ends as soon as this many records are there,
            stopped: or this is set.

        Raises:
            BrokerError: As `head` says.
        """
        while (
            not stopped.is_set()
            and sum(map(len, self._queues.values())) < count
            and any(self.at[partition] < bound for partition, bound in enumerate(bounds))
            and not self._paused
        ):
            self._poll()

    def _taken(self, partition: int, size: int) -> None:
        self._held[partition] -= size
        if partition in self._paused and self._held[partition] < self._most // 4:
            self._paused.discard(partition)
            self._consumer.resume([self._place(partition)])

    def _poll(self) -> None:
        """Take what has arrived; partitions other than the awaited one may then hold more than they should."""
        before = sum(self.at.values())
        records = cast("list[Record]", self._consumer.consume(_POLLED, _POLL_S))
        # Compared by type, because confluent-kafka's errors cannot be compared with None.
        if not set(map(type, [record.error() for record in records])) <= {NoneType}:
            records = [record for record in records if not self._is_event(record)]
        # One partition's records arrive together.
        for partition, some in groupby(records, methodcaller("partition")):
            run = list(some)
            self._queues[partition].extend(run)
            self._held[partition] += sum(map(len, run)) + len(run) * _RECORD_BYTES
            # A marker after them may have been passed already: it is reported after them, and was noticed before.
            self.at[partition] = max(self.at[partition], run[-1].offset() + 1)
        full = {each for each, held in self._held.items() if held > self._most} - self._paused
        if full:
            self._paused |= full
            self._consumer.pause([self._place(each) for each in full])
        if sum(self.at.values()) != before:
            self._heard = self._asked = time.monotonic()
        elif time.monotonic() - self._asked > TIMEOUT_S:
            self._asked = time.monotonic()
            if self._asked - self._heard > _STALL_S:
                self._troubles.check(0)
                raise RetriableError(
                    f"Kafka at {self._config.servers} sends nothing more of the topic {self._topic!r} for {_STALL_S:g} "
                    "s: see the broker's log"
                )
            # Until then, other brokers may take over from one that died.
            self._troubles.check()

    def _is_event(self, record: Record) -> bool:
        """Whether it reports something instead of a record; that is then handled."""
        error = record.error()
        if error is None:
            return False
        self._event(record.partition(), record.offset(), error)
        return True

    def _event(self, partition: int, offset: int, error: KafkaError) -> None:
        what = meaning(error)
        if what is Meaning.END_OF_PARTITION:
            self.at[partition] = max(self.at[partition], offset)
        elif what is Meaning.OUT_OF_RANGE:
            self._begin_anew(partition)
        elif what is Meaning.NO_TOPIC:
            raise BrokerError(
                f"the topic {self._topic!r} was deleted while it was read: start again", value=self._topic
            )
        # The group's name is required, and nothing is done with it.
        elif error.name() != "GROUP_AUTHORIZATION_FAILED":
            raise refusal(self._config, error, "READ", f"the topic {self._topic!r}")

    def _begin_anew(self, partition: int) -> None:
        """The oldest records were deleted by retention: read what is left."""
        first = patiently(partial(self._first, partition))
        self.deleted += max(0, first - self.at[partition])
        self.at[partition] = max(first, self.at[partition])
        self._consumer.incremental_unassign([self._place(partition)])
        self._consumer.incremental_assign([self._place(partition)])

    def _first(self, partition: int) -> int:
        with admin_client(self._config, TIMEOUT_S) as admin:
            return offsets_of(admin, self._topic, [partition], "earliest")[partition]

    def _place(self, partition: int) -> TopicPartition:
        place: TopicPartition = confluent_kafka().TopicPartition(self._topic, partition, self.at[partition])
        return place
