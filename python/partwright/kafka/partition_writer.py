"""Write rows to one partition in transactions: each row exactly once, even if the task is killed or retried.

The rows come in the same order each time. The producer's `transactional.id` is made from the run and the partition. So
a process that starts again ends the transaction that an earlier process left open, and fences that process
(`initTransactions`, KIP-98). Only then does it ask the partition for the last committed row, and continues after it. A
record and its header are committed together, so the header of the last committed record is the only record of progress,
and nothing can contradict it.
"""

from __future__ import annotations

import contextlib
import time
from functools import partial
from itertools import islice, repeat
from typing import TYPE_CHECKING, TypeAlias, cast

import pyarrow.compute as pc

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import SILENT, TIMEOUT_S, confluent_kafka, connected, refused_settings
from partwright.kafka.errors import Meaning, meaning, refusal, remedy
from partwright.kafka.last_marks import last_marks, settled_ends
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from confluent_kafka import KafkaError, Producer

    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.marks import Mark

    _Headers: TypeAlias = dict[str, bytes] | list[tuple[str, bytes | None]]

__all__ = ["EARLIEST_MS", "PartitionWriter", "too_early"]

_RECORDS, _BYTES, _SECONDS = 200_000, 64 << 20, 10.0
"""The limits of a transaction in records, bytes and seconds; the first one counts. Nothing is sent while one ends."""
# The coordinator ends the transaction of a killed producer after this time.
_TRANSACTION_MS, _MESSAGE_MS = 60_000, 45_000
# By default librdkafka refuses records of more than a megabyte; the topic's max.message.bytes shall decide.
_MOST_BYTES = 100_000_000
EARLIEST_MS = 1
"""librdkafka writes a timestamp of 0 as the present time."""
_WAIT_S = 60.0
_POLL_S = 0.1
_POLLED = 1000


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
    """

    def __init__(
        self,
        config: KafkaConfig,
        topic: str,
        partition: int,
        begin: int,
        mark: Mark,
        *,
        transaction: int = _RECORDS,
    ) -> None:
        self.partition = partition
        self.written = self.already_there = 0
        self._config, self._topic, self._mark, self._most = config, topic, mark, transaction
        self._troubles = Troubles(config)
        self._id = f"partwright.{mark.run.hex()}.{partition}"
        # The records and bytes of the open transaction, and when it began.
        self._open = self._bytes = 0
        self._began = 0.0
        self._producer = self._made()
        connected(self._producer, topic, TIMEOUT_S)
        with self._refused():
            self._retried(lambda: self._producer.init_transactions(TIMEOUT_S))
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
        with self._refused():
            if start < len(rows):
                _refuse_early(rows, timestamps)
                _refuse_cut(rows, headers)
            while start < len(rows):
                some = slice(start, start + min(_POLLED, self._most - self._open))
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
        if not self._open:
            self._producer.begin_transaction()
            self._began = time.monotonic()
        # A timestamp of 0 means now. The annotations say that headers are text. The cost of each of these calls
        # matters.
        times = repeat(0) if timestamps is None else pc.fill_null(timestamps, 0).to_pylist()
        send = cast("Callable[..., None]", partial(self._producer.produce, self._topic))
        for value, key, header, at in zip(values.to_pylist(), keys.to_pylist(), headers, times, strict=False):
            while True:
                try:
                    send(value, key, self.partition, headers=header, timestamp=at)
                    break
                except BufferError:
                    self._producer.poll(_POLL_S)
                    self._troubles.check()
        self._producer.poll(0)
        self._open += len(keys)
        self._bytes += keys.nbytes + values.nbytes
        if self._open >= self._most or self._bytes >= _BYTES or time.monotonic() - self._began >= _SECONDS:
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
        with self._refused():
            if self._open:
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

    def _made(self) -> Producer:
        kafka = confluent_kafka()
        given = {
            "linger.ms": 20,
            # librdkafka leaves half of this between two connections, and each task needs several.
            "reconnect.backoff.ms": 20,
            # A record that fails also stops the commit, so no callback per record is needed.
            "delivery.report.only.error": True,
            "message.max.bytes": _MOST_BYTES,
            **self._config.librdkafka(),
            "transactional.id": self._id,
            "transaction.timeout.ms": _TRANSACTION_MS,
            "message.timeout.ms": _MESSAGE_MS,
            "error_cb": self._troubles.note,
        }
        with refused_settings(self._config):
            producer: Producer = kafka.Producer(given, logger=SILENT)
        return producer

    def _last_row(self, begin: int) -> int | None:
        end = settled_ends(self._config, self._topic, [self.partition])[self.partition]
        if end <= begin:
            return None
        window = {self.partition: (begin, end)}
        found = last_marks(
            self._config, self._topic, window, self._mark.header, self._mark.prefix, committed=True
        )
        return self._mark.row(found[self.partition]) if found else None

    def _commit(self) -> None:
        self._retried(lambda: self._producer.commit_transaction(TIMEOUT_S))
        self.written += self._open
        self._open = self._bytes = 0

    def _retried(self, ask: Callable[[], None]) -> None:
        """Tries again as long as Kafka says that the error is retriable."""
        deadline = time.monotonic() + _WAIT_S
        while True:
            try:
                return ask()
            except confluent_kafka().KafkaException as error:
                if not error.args[0].retriable():
                    raise
                self._troubles.check(0)
                if time.monotonic() > deadline:
                    raise self._troubles.late() from None

    @contextlib.contextmanager
    def _refused(self) -> Iterator[None]:
        """Turns Kafka's error into ours. An open transaction is aborted, so that nobody waits for it."""
        try:
            yield
        except PartwrightError:
            self._abort()
            raise
        except confluent_kafka().KafkaException as error:
            said: KafkaError = error.args[0]
            why = self._abort()
            # The error of a write says only that the producer cannot continue; the error of the abort says why.
            raise self._told(
                why if why is not None and meaning(said) is Meaning.PRODUCER_ENDED else said
            ) from None

    def _abort(self) -> KafkaError | None:
        """Aborts the transaction that may be open, and returns the error if that fails."""
        self._open = self._bytes = 0
        try:
            self._producer.abort_transaction(TIMEOUT_S)
        except confluent_kafka().KafkaException as error:
            why: KafkaError = error.args[0]
            return why
        return None

    def _told(self, error: KafkaError) -> BrokerError:
        where, what = f"Kafka at {self._config.servers}", meaning(error)
        if what is Meaning.FENCED:
            return BrokerError(
                f"another process has taken over the writing of partition {self.partition} of {self._topic!r}: let it "
                "go on",
                value=error.name(),
            )
        if what is Meaning.UNSUPPORTED:
            return BrokerError(f"{where} has no transactions: leave out --exactly-once", value=error.name())
        if error.name() == "TRANSACTIONAL_ID_AUTHORIZATION_FAILED":
            return BrokerError(
                f"{where} gives this user no right to WRITE as transactional id {self._id!r}: grant it "
                "(kafka-acls.sh --add --operation Write --transactional-id partwright. --resource-pattern-type "
                "prefixed --allow-principal User:...), or leave out --exactly-once",
                value=error.name(),
            )
        if what is Meaning.TOO_LARGE:
            return BrokerError(
                f"a record for partition {self.partition} is larger than the topic {self._topic!r} takes: "
                f"{remedy(error)}, then go on with --resume",
                value=error.name(),
            )
        if what is Meaning.WRONG_TIMESTAMP:
            return BrokerError(
                f"a record for partition {self.partition} has a timestamp that the topic {self._topic!r} does not "
                f"take: {remedy(error)}, then go on with --resume",
                value=error.name(),
            )
        return refusal(self._config, error, "WRITE", f"the topic {self._topic!r}")


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
