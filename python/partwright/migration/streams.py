"""A topic's committed records, each partition in order, up to any offsets: read once, and kept until needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from partwright.kafka.reading import ENDLESS, Reading

if TYPE_CHECKING:
    from threading import Event

    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.reading import Record

# The most bytes that are held of all partitions together, and the least of one.
_HELD_BYTES, _HELD_LEAST = 128 << 20, 1 << 20
# A record takes more memory than its value's bytes.
_RECORD_BYTES = 300


class Streams:
    """A topic's partitions as queues of records, whose reading has no end.

    Args:
        config: How to reach its Kafka.
        topic: The topic.
        start: The offset in each partition at which reading starts.

    Attributes:
        reading: The reading behind them.
    """

    def __init__(self, config: KafkaConfig, topic: str, start: Mapping[int, int]) -> None:
        windows = {partition: (begin, ENDLESS) for partition, begin in start.items()}
        self.reading = Reading(config, topic, windows, committed=True)
        self._queues: dict[int, deque[Record]] = {partition: deque() for partition in start}
        self._held = dict.fromkeys(start, 0)
        self._paused: set[int] = set()
        self._most = max(_HELD_LEAST, _HELD_BYTES // max(1, len(start)))

    def close(self) -> None:
        """End the reading."""
        self.reading.close()

    def head(self, partition: int, bound: int) -> Record | None:
        """The next record of a partition before an offset, without taking it; None if there are no more.

        Raises:
            BrokerError: The broker is gone, sends nothing more, or gives no right to read.
        """
        queue = self._queues[partition]
        while not queue and self.reading.at[partition] < bound:
            self._poll()
        return queue[0] if queue and queue[0].offset() < bound else None

    def drop(self, partition: int) -> None:
        """Drop the head of a partition."""
        self._taken(partition, len(self._queues[partition].popleft()) + _RECORD_BYTES)

    def passed(self, partition: int, bound: int) -> bool:
        """Whether all records of a partition before an offset have arrived and were taken."""
        queue = self._queues[partition]
        return queue[0].offset() >= bound if queue else self.reading.at[partition] >= bound

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
        records: list[Record] = []
        while True:
            for partition, bound in enumerate(bounds):
                queue = self._queues[partition]
                held = self._held[partition]
                if queue and len(queue) <= count and held < size and queue[-1].offset() < bound:
                    records += queue
                    count -= len(queue)
                    size -= held
                    queue.clear()
                    self._taken(partition, held)
                    continue
                taken = 0
                while queue and count and size > taken and queue[0].offset() < bound:
                    record = queue.popleft()
                    records.append(record)
                    count -= 1
                    taken += len(record) + _RECORD_BYTES
                if taken:
                    size -= taken
                    self._taken(partition, taken)
            if not count or size <= 0 or all(map(self.passed, range(len(bounds)), bounds)):
                return records
            self._poll()

    def take_by_time(self, bounds: Sequence[int], count: int, size: int) -> list[Record]:
        """As `take`, with all partitions merged by timestamp; for equal ones, the lower partition comes first."""
        records: list[Record] = []
        heads: list[tuple[int, int]] = []
        for partition, bound in enumerate(bounds):
            if (record := self.head(partition, bound)) is not None:
                heads.append((record.timestamp()[1], partition))
        heapify(heads)
        while heads and count and size > 0:
            _, partition = heappop(heads)
            record = self._queues[partition].popleft()
            records.append(record)
            count -= 1
            size -= len(record) + _RECORD_BYTES
            self._taken(partition, len(record) + _RECORD_BYTES)
            if (following := self.head(partition, bounds[partition])) is not None:
                heappush(heads, (following.timestamp()[1], partition))
        return records

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
            and any(self.reading.at[partition] < bound for partition, bound in enumerate(bounds))
            and not self._paused
        ):
            self._poll()

    def _taken(self, partition: int, size: int) -> None:
        self._held[partition] -= size
        if partition in self._paused and self._held[partition] < self._most // 4:
            self._paused.discard(partition)
            self.reading.resume([partition])

    def _poll(self) -> None:
        """Take what has arrived; partitions other than the awaited one may then hold more than they should."""
        for run in self.reading.poll():
            self._queues[run.partition].extend(run.records)
            self._held[run.partition] += run.value_bytes + len(run.records) * _RECORD_BYTES
        full = {each for each, held in self._held.items() if held > self._most} - self._paused
        if full:
            self._paused |= full
            self.reading.pause(full)
