"""Write rows to one partition in transactions: each row exactly once, even if the task is killed or retried.

The rows come in the same order each time. The producer's `transactional.id` is made from the run and the partition. So
a process that starts again ends the transaction that an earlier process left open, and fences that process
(`initTransactions`, KIP-98). Only then does it ask the partition for the last committed row, and continues after it. A
record and its header are committed together, so the header of the last committed record is the only record of progress,
and nothing can contradict it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice, repeat
from typing import TYPE_CHECKING, TypeAlias

import pyarrow.compute as pc

from partwright.errors import PartwrightError
from partwright.kafka.marks import last_rows, settled_ends
from partwright.kafka.writing import Writing, WritingAdvice

if TYPE_CHECKING:
    import pyarrow as pa

    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.marks import Mark

    _Headers: TypeAlias = dict[str, bytes] | list[tuple[str, bytes | None]]

MOST_RECORDS, MOST_BYTES, MOST_S = 200_000, 64 << 20, 10.0
"""The limits of a transaction in records, bytes and seconds; the first one counts. Nothing is sent while one ends."""
EARLIEST_MS = 1
"""librdkafka writes a timestamp of 0 as the present time."""
_POLLED = 1000
# A record that fails also stops the commit, so no callback per record is needed.
_TUNED = {"delivery.report.only.error": True}


class PartitionWriter:
    """The producer of one partition.

    Args:
        config: The client's configuration.
        topic: The topic.
        partition: Its partition.
        begin: The first offset that can hold a row of this run.
        mark: The header of this run's records.
        transaction: The most records in a transaction.

    Attributes:
        partition: The partition.
        written: How many rows were written.
        already_there: How many rows were there already and were skipped.

    Raises:
        BrokerError: No Kafka answers, it has no transactions, or it does not allow them to this user.
        PartwrightError: Kafka has deleted offsets at which this run's last record can have been.
    """

    def __init__(
        self,
        config: KafkaConfig,
        topic: str,
        partition: int,
        begin: int,
        mark: Mark,
        *,
        transaction: int = MOST_RECORDS,
    ) -> None:
        self.partition = partition
        self.written = self.already_there = 0
        self._config, self._topic, self._mark, self._most = config, topic, mark, transaction
        # The bytes of the open transaction, and when it began.
        self._bytes = 0
        self._began = 0.0
        name = f"partwright.{mark.run.hex()}.{partition}"
        what = f"partition {partition} of {topic!r}"
        advice = run_advice(name, what, f"a record for partition {partition}")
        self._writing = Writing(config, topic, name, advice, _TUNED)
        self._last = self._last_row(begin)

    def write(
        self,
        rows: Sequence[int],
        keys: pa.Array,
        values: pa.Array,
        headers: pa.ListArray | None = None,
        timestamps: pa.Array | None = None,
    ) -> None:
        """Writes the next rows, and skips those that are already there.

        Args:
            rows: Their numbers, which the marks contain.
            keys: Key bytes, or null.
            values: Value bytes, or null.
            headers: A list of structs of `key` and `value` for each row, the mark among them; None if the mark is the
                only header of each row, which takes less than half the time.
            timestamps: Milliseconds since 1970, 1 or more, or null for now; None means now for all rows.

        Raises:
            BrokerError: Kafka refuses, or another process took this partition's writing over.
            PartwrightError: A timestamp is too early, or a header's name has a NUL.
        """
        start = self._passed(rows)
        with self._writing.aborted_if_refused():
            if start < len(rows):
                _refuse_early(rows, timestamps)
                _refuse_cut(rows, headers)
            while start < len(rows):
                some = slice(start, start + min(_POLLED, self._most - self._writing.count))
                theirs = self._marks(rows[some]) if headers is None else _pairs(headers[some])
                times = None if timestamps is None else timestamps[some]
                self._send(keys[some], values[some], theirs, times)
                start = some.stop

    def _send(
        self,
        keys: pa.Array,
        values: pa.Array,
        headers: Iterator[_Headers],
        timestamps: pa.Array | None,
    ) -> None:
        """Sends as many rows as fit into the transaction, and commits it if it is full."""
        writing = self._writing
        if not writing.count:
            writing.begin()
            self._bytes, self._began = 0, time.monotonic()
        # A timestamp of 0 means now.
        times = repeat(0) if timestamps is None else pc.fill_null(timestamps, 0).to_pylist()
        places = repeat(self.partition)
        writing.send(self._topic, values.to_pylist(), keys.to_pylist(), places, headers, timestamps=times)
        self._bytes += keys.nbytes + values.nbytes
        is_long = time.monotonic() - self._began >= MOST_S
        if writing.count >= self._most or self._bytes >= MOST_BYTES or is_long:
            self._commit()

    def _marks(self, rows: Sequence[int]) -> Iterator[_Headers]:
        """Each row's mark as its only header; confluent-kafka copies it before it asks for the next one."""
        name, mark = self._mark.header, {}
        for value in self._mark.values(rows):
            mark[name] = value
            yield mark

    def end(self) -> None:
        """Commits the open transaction.

        Raises:
            BrokerError: Kafka refuses, or another process took this partition's writing over.
            PartwrightError: The last row in the partition was not among the given rows: these are other rows.
        """
        if self._last is not None:
            raise PartwrightError(
                f"row {self._last}, the last one in partition {self.partition} of {self._topic!r}, is not in the "
                "source any more: the source has changed, so this run cannot go on"
            )
        with self._writing.aborted_if_refused():
            if self._writing.count:
                self._commit()

    def _passed(self, rows: Sequence[int]) -> int:
        """How many of the next rows the partition already has."""
        if self._last is None:
            return 0
        start = len(rows)
        if self._last in rows:
            start = rows.index(self._last) + 1
            self._last = None
        self.already_there += start
        return start

    def _last_row(self, begin: int) -> int | None:
        end = settled_ends(self._config, self._topic, [self.partition])[self.partition]
        if end <= begin:
            return None
        window = {self.partition: (begin, end)}
        rows = last_rows(self._config, self._topic, window, self._mark, committed=True)
        return rows.get(self.partition)

    def _commit(self) -> None:
        count = self._writing.count
        self._writing.commit()
        self.written += count


def run_advice(transactional_id: str, what: str, record: str) -> WritingAdvice:
    """What errors say about the writing of a run.

    Args:
        transactional_id: The transactional id.
        what: What is written to.
        record: See `WritingAdvice`.
    """
    return WritingAdvice(
        taken_over=f"another process has taken over the writing of {what}: let it go on",
        unsupported="leave out --exactly-once",
        denied=(
            f"this user no right to WRITE as transactional id {transactional_id!r}: grant it (kafka-acls.sh --add "
            "--operation Write --transactional-id partwright. --resource-pattern-type prefixed --allow-principal "
            "User:...), or leave out --exactly-once"
        ),
        record=record,
        again="go on with --resume",
    )


def too_early(row: int, at: int) -> PartwrightError:
    """The error for a timestamp that would not be written as given."""
    return PartwrightError(
        f"row {row} has the timestamp {at} ms, and the writer of --exactly-once keeps none before {EARLIEST_MS}: "
        "correct it, or leave --exactly-once out",
        row=row,
        value=at,
    )


def _refuse_early(rows: Sequence[int], timestamps: pa.Array | None) -> None:
    first = None if timestamps is None else pc.min(timestamps).as_py()
    if first is not None and first < EARLIEST_MS:
        raise too_early(rows[pc.index(timestamps, first).as_py()], first)


def _refuse_cut(rows: Sequence[int], headers: pa.ListArray | None) -> None:
    """Refuse a header's name that confluent-kafka would cut at its NUL."""
    if headers is None:
        return
    at = pc.index(pc.match_substring(headers.flatten().field("key"), "\0"), True).as_py()
    if at >= 0:
        row = rows[pc.list_parent_indices(headers)[at].as_py()]
        raise PartwrightError(
            f"row {row} has a header with a NUL in its name, and the writer of --exactly-once would cut it "
            "there: rename it, or leave --exactly-once out",
            row=row,
        )


def _pairs(headers: pa.ListArray) -> Iterator[_Headers]:
    """Each row's headers in confluent-kafka's form."""
    flat = headers.flatten()
    pairs = iter(zip(flat.field("key").to_pylist(), flat.field("value").to_pylist(), strict=True))
    return (list(islice(pairs, length or 0)) for length in headers.value_lengths().to_pylist())
