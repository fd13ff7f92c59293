"""Writes rows to one partition in transactions, each row once, whatever is killed or tried again meanwhile.

The rows come in the same order each time. The producer's `transactional.id` is made of the run and the partition, so
whoever begins anew ends the transaction that an earlier process left open, and shuts that process out
(`initTransactions`, KIP-98). Only then it asks the partition for the last row that was committed, and goes on behind
it. A record and its header are committed together, so the header of the last committed record is this partition's
ledger: nothing else has to agree with it.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, NamedTuple

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import SILENT, TIMEOUT_S, confluent_kafka, refusal, refused_settings
from partwright.kafka.last_marks import last_marks, settled_ends
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from confluent_kafka import KafkaError, Producer

    from partwright.kafka.connection import KafkaConfig

__all__ = ["Mark", "PartitionWriter"]

_RECORDS = 20_000
"""A transaction's records: 2,900 records/s were measured with 100 each, 69,000 with 10,000."""
# The coordinator ends a transaction so long after its producer was killed.
_TRANSACTION_MS, _MESSAGE_MS = 60_000, 45_000
_WAIT_S = 60.0
_POLL_S = 0.1
_POLLED = 1000
# PRODUCER_FENCED, INVALID_PRODUCER_EPOCH, and librdkafka's own word for both.
_FENCED = {47, 90, -144}
# UNSUPPORTED_VERSION, and librdkafka's own.
_UNSUPPORTED = {35, -165}
_ID_DENIED = 53


class Mark(NamedTuple):
    """The header by which a record is known again.

    Attributes:
        header: The header's name.
        run: How its value begins: the 8 bytes of a run's id; the row follows, 8 bytes, big endian.
    """

    header: str
    run: bytes

    def row(self, value: bytes) -> int:
        """The row that a header's value is for.

        Examples:
            >>> Mark("partwright", b"8 bytes.").row(b"8 bytes." + bytes([0, 0, 0, 0, 0, 0, 1, 2]))
            258
        """
        return int.from_bytes(value[len(self.run) :], "big", signed=True)


class PartitionWriter:
    """The producer of one partition.

    Args:
        config: How the Kafka is reached.
        topic: The topic.
        partition: Its partition.
        begin: From which offset on rows of this run can be there.
        mark: The header of this run's records.

    Attributes:
        partition: The partition.
        written: How many rows were written.
        already_there: How many rows were there already, and were passed over.

    Raises:
        BrokerError: No Kafka answers, it has no transactions, or it gives no right to them.
    """

    def __init__(self, config: KafkaConfig, topic: str, partition: int, begin: int, mark: Mark) -> None:
        self.partition = partition
        self.written = self.already_there = 0
        self._config, self._topic, self._mark = config, topic, mark
        self._troubles = Troubles(config, TIMEOUT_S)
        self._id = f"partwright.{mark.run.hex()}.{partition}"
        self._open = 0
        self._producer = self._started()
        self._last = self._last_row(begin)

    def write(
        self,
        rows: Sequence[int],
        keys: pa.Array,
        values: pa.Array,
        headers: pa.ListArray,
        timestamps: pa.Array | None = None,
    ) -> None:
        """Writes the next rows; what is there already is passed over.

        Args:
            rows: Their numbers, as their headers say them.
            keys: Key bytes, or null.
            values: Value bytes, or null.
            headers: A list of structs of `key` and `value` for each row, the mark among them.
            timestamps: Milliseconds since 1970, or null for now; None for now in all.

        Raises:
            BrokerError: Kafka refuses, or another process took this partition's writing over.
        """
        start = self._passed(rows)
        if start == len(rows):
            return
        wanted = [column.slice(start) for column in (keys, values, headers)]
        times = (
            timestamps.slice(start).to_pylist() if timestamps is not None else [None] * (len(rows) - start)
        )
        with self._refused():
            for key, value, header, at in zip(
                wanted[0].to_pylist(), wanted[1].to_pylist(), _pairs(wanted[2]), times, strict=True
            ):
                if not self._open:
                    self._producer.begin_transaction()
                self._produce(key, value, header, at)
                self._open += 1
                if self._open == _RECORDS:
                    self._commit()

    def end(self) -> None:
        """Commits what is open.

        Raises:
            BrokerError: Kafka refuses, or another process took this partition's writing over.
            PartwrightError: The last row that is there did not come up: these are other rows.
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
        """How many of the next rows are there already."""
        if self._last is None:
            return 0
        start = len(rows)
        if self._last in rows:
            start = rows.index(self._last) + 1
            self._last = None
        self.already_there += start
        return start

    def _started(self) -> Producer:
        kafka = confluent_kafka()
        given = {
            "compression.type": "lz4",
            "linger.ms": 20,
            **self._config.librdkafka(),
            "transactional.id": self._id,
            "transaction.timeout.ms": _TRANSACTION_MS,
            "message.timeout.ms": _MESSAGE_MS,
            "error_cb": self._troubles.note,
        }
        with refused_settings(self._config):
            producer: Producer = kafka.Producer(given, logger=SILENT)
        with self._refused():
            self._retried(lambda: producer.init_transactions(TIMEOUT_S))
        return producer

    def _last_row(self, begin: int) -> int | None:
        end = settled_ends(self._config, self._topic, [self.partition])[self.partition]
        if end <= begin:
            return None
        window = {self.partition: (begin, end)}
        found = last_marks(
            self._config, self._topic, window, self._mark.header, self._mark.run, committed=True
        )
        return self._mark.row(found[self.partition]) if found else None

    def _produce(
        self, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]], at: int | None
    ) -> None:
        timestamp = {} if at is None else {"timestamp": at}
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    value,
                    key,
                    self.partition,
                    headers=headers,  # type: ignore[arg-type]
                    **timestamp,  # type: ignore[arg-type]
                )
            except BufferError:
                self._producer.poll(_POLL_S)
                self._troubles.check()
            else:
                break
        if self._open % _POLLED == 0:
            self._producer.poll(0)

    def _commit(self) -> None:
        self._retried(lambda: self._producer.commit_transaction(TIMEOUT_S))
        self.written += self._open
        self._open = 0

    def _retried(self, ask: Callable[[], None]) -> None:
        """Asks again for as long as Kafka says that it may help."""
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
        """What Kafka refuses, as ours; an open transaction is ended, so that nobody waits for it."""
        try:
            yield
        except confluent_kafka().KafkaException as error:
            code = error.args[0].code()
            if self._open:
                with contextlib.suppress(confluent_kafka().KafkaException):
                    self._producer.abort_transaction(TIMEOUT_S)
            self._open = 0
            raise self._told(error.args[0], code) from None

    def _told(self, error: KafkaError, code: int) -> BrokerError:
        where = f"Kafka at {self._config.servers}"
        if code in _FENCED:
            return BrokerError(
                f"another process has taken over the writing of partition {self.partition} of {self._topic!r}: let it "
                "go on",
                value=code,
            )
        if code in _UNSUPPORTED:
            return BrokerError(f"{where} has no transactions: leave out --exactly-once", value=code)
        if code == _ID_DENIED:
            return BrokerError(
                f"{where} gives this user no right to WRITE as transactional id {self._id!r}: grant it "
                "(kafka-acls.sh --add --operation Write --transactional-id partwright. --resource-pattern-type "
                "prefixed --allow-principal User:...), or leave out --exactly-once",
                value=code,
            )
        return refusal(self._config, error, "WRITE", f"the topic {self._topic!r}")


def _pairs(headers: pa.ListArray) -> Iterator[list[tuple[str, bytes | None]]]:
    """Each row's headers as confluent-kafka takes them."""
    flat = headers.flatten()
    names, values = flat.field("key").to_pylist(), flat.field("value").to_pylist()
    at = 0
    for length in headers.value_lengths().to_pylist():
        end = at + (length or 0)
        yield list(zip(names[at:end], values[at:end], strict=True))
        at = end
