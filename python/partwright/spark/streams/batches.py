"""One micro-batch of a stream: place it, lay it out, note it, and write the records that are not there yet."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sf

from partwright._check import counted
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import topics
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.marks import MARK, Mark, last_marks, settled_ends
from partwright.producer.records import Workload
from partwright.spark.columns import as_column, encode
from partwright.spark.connector import write_topic
from partwright.spark.exactly_once import write_exactly_once
from partwright.spark.layout import laid_out
from partwright.spark.marks import HEADERS, marked
from partwright.spark.resumed_rows import record_bytes, rest_of, rows_there
from partwright.spark.streams.notes import BatchNote, DamagedNoteError, run_of
from partwright.spark.tables import with_partition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from partwright.kafka.connection import KafkaConfig
    from partwright.producer.configs import ProducerConfig
    from partwright.spark.streams.notes import StreamNote, StreamNotes

__all__ = ["BatchDone", "BatchWriter", "StreamOptions", "check_duration"]

# `monotonically_increasing_id` is a task's number, and in its lower 33 bits a row's number in that task.
_ROW_BITS = 33
# Spark's intervals, without the months and years that its triggers refuse (IntervalUtils.stringToInterval).
_UNITS = "(microsecond|millisecond|second|minute|hour|day|week)s?"
_PART = rf"(\+?\d+\s+{_UNITS}|\+?\d*\.\d*\s+seconds?)"
_DURATION = re.compile(rf"\s*(interval\s+)?{_PART}(\s+{_PART})*\s*", re.IGNORECASE | re.ASCII)


def check_duration(name: str, text: str) -> None:
    """Refuse a duration that Spark's real-time mode does not take, before Spark starts.

    Args:
        name: What it is called.
        text: The duration.

    Raises:
        PartwrightError: It is none, or zero.

    Examples:
        >>> check_duration("real_time", "1 hour 30 minutes")
        >>> check_duration("real_time", "abc")
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: real_time takes a duration such as '5 minutes', in weeks or smaller units, not 'abc'
    """  # noqa: E501 - the error's sentence is one line
    if not _DURATION.fullmatch(text) or not re.search("[1-9]", text):
        raise PartwrightError(
            f"{name} takes a duration such as '5 minutes', in weeks or smaller units, not {text!r}",
            value=text,
        )


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How the query of `write_stream` runs.

    Attributes:
        order_by: The columns that order a key's records in a batch; None keeps their order, as from Kafka or from
            files. Name columns after a shuffle in the query.
        engine: `arrow` or `jvm`; see `partition_for_key`.
        exactly_once: Whether each task writes in transactions.
        follow_partitions: Whether the stream continues if the topic gets more partitions; by default it stops.
        available_now: Whether the query ends once it has written what is there now.
        every: Seconds from one batch to the next; None for as soon as possible.
        real_time: How long a batch of Spark's real-time mode lasts, such as `5 minutes`: records pass at once, by the
            `jvm` engine and Spark's own sink, at least once, for the topic's present number of partitions.
        on_batch: Called with each finished batch.
    """

    order_by: str | Column | Sequence[str | Column] | None = None
    engine: str | None = None
    exactly_once: bool = False
    follow_partitions: bool = False
    available_now: bool = False
    every: float | None = None
    real_time: str | None = None
    on_batch: Callable[[BatchDone], None] | None = None


@dataclass(frozen=True)
class BatchDone:
    """The result of one batch.

    Attributes:
        number: Spark's number of the batch.
        run: The 8 bytes that its records' header names.
        n: How many partitions the topic had.
        records: How many records it has.
        already_there: How many of them an earlier attempt had written.
        seconds: How long it took.
        largest: How many records the fullest partition got.
        grown_from: How many partitions the topic had before, if it has more since this batch.
        begin: The offset of each partition before the batch.
    """

    number: int
    run: bytes
    n: int
    records: int
    already_there: int
    seconds: float
    largest: int
    grown_from: int | None = None
    begin: dict[int, int] = field(default_factory=dict)


class BatchWriter:
    """The function that `foreachBatch` calls.

    Args:
        config: How the Kafka is reached.
        topic: The topic.
        columns: The columns `key` and `value`, and those that there are of `headers` and `time`.
        producer: Places the records; without a strategy, those that the client does not place by their key are spread.
        options: How the query runs.
        stream: The stream's identity.
        notes: Where its batches are noted.
    """

    def __init__(
        self,
        config: KafkaConfig,
        topic: str,
        columns: Mapping[str, Column],
        producer: ProducerConfig,
        options: StreamOptions,
        stream: StreamNote,
        notes: StreamNotes,
    ) -> None:
        self._config, self._topic, self._columns = config, topic, columns
        self._producer, self._options, self._stream, self._notes = producer, options, stream, notes
        by: Any = [] if options.order_by is None else options.order_by
        self._order_by = [
            as_column(each, "order_by") for each in (by if isinstance(by, (list, tuple)) else [by])
        ]

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Write one batch; records that an earlier attempt wrote are left as they are."""
        began = time.monotonic()
        note = self._note(number)
        n, grown_from = (note.n, None) if note else self._partitions(number)
        mark = Mark(MARK, run_of(self._stream.stream, number))
        placed = self._placed(batch, n, mark).persist()
        try:
            records, digest, size, largest = _summed(placed)
            is_new = note is None
            if note is None:
                note = BatchNote(n, self._ends(n), records, digest)
                self._notes.begin(number, note)
            elif (note.records, note.digest) != (records, digest):
                raise PartwrightError(
                    f"batch {number} was begun with {counted(note.records, 'record')}, and now has {records:,}, other "
                    "ones or in another order: its source was changed, or order_by does not say which row comes first"
                )
            if not records:
                return
            already = self._write(placed, note, mark, size / records, is_new=is_new)
        finally:
            placed.unpersist()
        if self._options.on_batch is not None:
            seconds = time.monotonic() - began
            self._options.on_batch(
                BatchDone(
                    number, mark.run, n, records, already, seconds, largest, grown_from, dict(note.begin)
                )
            )

    def _note(self, number: int) -> BatchNote | None:
        """The batch's note. A damaged one stands for none if the topic has no record of the batch."""
        try:
            return self._notes.batch(number)
        except DamagedNoteError as error:
            ends = topics.end_offsets(self._config, self._topic)
            if self._options.exactly_once:
                ends = settled_ends(self._config, self._topic, ends)
            there = last_marks(
                self._config,
                self._topic,
                {partition: (0, end) for partition, end in ends.items()},
                MARK,
                Mark(MARK, run_of(self._stream.stream, number)).prefix,
                committed=self._options.exactly_once,
            )
            if there:
                raise PartwrightError(
                    f"{error}, and {len(there)} of {counted(len(ends), 'partition')} of {self._topic!r} hold records "
                    "of this batch: written again, they would be there twice; restore the file from a backup, or begin "
                    "another stream, with a new checkpoint and a new topic"
                ) from None
            self._notes.forget(number)
            return None

    def _partitions(self, number: int) -> tuple[int, int | None]:
        """How many partitions the topic has, and how many it had for the previous batch if it has more now."""
        with admin_client(self._config, TIMEOUT_S) as admin:
            found = topics.described(admin, [self._topic], "WRITE")[self._topic]
        if found is None or str(found.topic_id) != self._stream.topic_id:
            how = "is gone" if found is None else "was made anew"
            raise BrokerError(
                f"the topic {self._topic!r} {how}: it was deleted while the stream wrote to it; begin another stream, "
                "with a new checkpoint"
            )
        n = len(found.partitions)
        before = self._notes.last_n(number)
        if before in {None, n}:
            return n, None
        if not self._options.follow_partitions:
            raise PartwrightError(
                f"the topic {self._topic!r} has {counted(n, 'partition')} now and had {before}: new records of many "
                "keys would go to other partitions than earlier ones, and the keys would lose their order; continue "
                "with --follow-partitions (follow_partitions=True) if readers can take that"
            )
        return n, before

    def _placed(self, batch: DataFrame, n: int, mark: Mark) -> DataFrame:
        """The batch as records, partition i in task i, in order; `row` is a record's number in its partition."""
        own = {f"_{at}": column for at, column in enumerate(self._order_by)}
        # Rows that are equal in those columns keep their order in the batch.
        order = own | {"_row": sf.monotonically_increasing_id()}
        columns = self._columns
        rows = batch.select(
            columns["key"].alias("id"),
            columns["value"].cast("binary").alias("value"),
            columns.get("headers", sf.lit(None).cast(HEADERS)).alias("headers"),
            *([columns["time"].alias("timestamp")] if "time" in columns else []),
            *(column.alias(name) for name, column in order.items()),
        )
        placed = with_partition(
            rows,
            Workload(key="id", value="value"),
            n,
            replace(self._producer, strategy=self._producer.strategy or "key"),
            order_by=list(order),
            engine=self._options.engine,
        )
        # By the record's contents, not by the task that read it, so that a machine with another number of cores gives
        # the same.
        spread = sf.pmod(sf.xxhash64("value", *own), sf.lit(n)).cast("int")
        placed = placed.withColumn("partition", sf.coalesce("partition", spread))
        placed = placed.withColumn("key", encode("id", self._producer.key_type))
        lying = laid_out(placed, rows, n, [sf.col(name) for name in order]).drop("id", *order)
        row = sf.monotonically_increasing_id().bitwiseAND(sf.lit(2**_ROW_BITS - 1))
        return lying.withColumn("row", row).withColumn("file", sf.lit("")).withColumn("headers", marked(mark))

    def _ends(self, n: int) -> dict[int, int]:
        ends = topics.end_offsets(self._config, self._topic)
        return {partition: ends[partition] for partition in range(n)}

    def _write(self, placed: DataFrame, note: BatchNote, mark: Mark, mean: float, *, is_new: bool) -> int:
        """Write the missing records; return how many were there already."""
        if self._options.exactly_once:
            if "headers" not in self._columns:
                # Then the mark is the only header, and the writer adds it.
                placed = placed.drop("headers")
            done = write_exactly_once(placed, self._config, self._topic, note.begin, mark, mean)
            return 0 if is_new else done.already_there
        if is_new:
            write_topic(placed, self._config, self._topic)
            return 0
        there = rows_there(self._config, self._topic, note.begin, mark)
        rest = rest_of(placed, there, self._config, self._topic, mark)
        if rest.already_there < note.records:
            write_topic(rest.rows, self._config, self._topic)
        return rest.already_there


def _summed(placed: DataFrame) -> tuple[int, str, int, int]:
    """The number of records, their digest, their bytes, and the number in the fullest partition."""
    digest = sf.bit_xor(sf.xxhash64("partition", "row", "key", "value"))
    rows = (
        placed.groupBy("partition")
        .agg(sf.count("*").alias("records"), sf.sum(record_bytes()).alias("bytes"), digest.alias("digest"))
        .collect()
    )
    whole = 0
    for row in rows:
        whole ^= row.digest
    return (
        sum(row.records for row in rows),
        f"{whole & (2**64 - 1):016x}",
        sum(row.bytes for row in rows),
        max((row.records for row in rows), default=0),
    )
