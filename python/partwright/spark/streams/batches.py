"""One micro-batch of a stream: place it, lay it out, note it, and write the records that are not there yet.

The notes are next to Spark's checkpoint: the stream's identity, and where each batch began in the topic. Spark's own
checkpoint says which records a batch has. A batch that was begun and not committed runs again with the same records, so
the offsets at which it first began tell where to look for records that it wrote.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from partwright._check import counted, shown
from partwright._stored import OtherVersionError, read_stored
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import topics
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.marks import MARK, Mark, last_marks, settled_ends
from partwright.producer.records import Workload
from partwright.spark.columns import encode
from partwright.spark.connector import write_topic
from partwright.spark.exactly_once import write_exactly_once
from partwright.spark.hadoop_files import ChecksumError, HadoopFolder
from partwright.spark.marks import HEADERS, marked
from partwright.spark.partition_layout import laid_out
from partwright.spark.resumed_rows import record_bytes, rest_of, rows_there
from partwright.spark.tables import with_partition

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig
    from partwright.producer.configs import ProducerConfig

_VERSION = 2
_FOLDER = "partwright"
_Note = TypeVar("_Note")
# Spark keeps the same number of its own notes (spark.sql.streaming.minBatchesToRetain).
_KEPT = 100


class DamagedNoteError(PartwrightError):
    """A note exists, and is not as it was written."""


@dataclass(frozen=True)
class StreamNote:
    """A stream's identity.

    Attributes:
        stream: Its id, 16 hexadecimal digits.
        topic: The topic that it writes to.
        topic_id: Kafka's ID of that topic.
        options: The settings that decide where its records go, by name.
    """

    stream: str
    topic: str
    topic_id: str
    options: Mapping[str, str | None]


@dataclass(frozen=True)
class BatchNote:
    """Where a batch began, and its contents.

    Attributes:
        n: How many partitions the topic had.
        begin: The offset that the next record of each partition had before the batch's first one.
        records: How many records it has.
        digest: A number that changes with any record, place or order.
    """

    n: int
    begin: Mapping[int, int]
    records: int
    digest: str


class StreamNotes:
    """The folder `partwright` in a stream's checkpoint.

    Args:
        spark: A classic session.
        checkpoint: The checkpoint's address, on any file system that Spark knows.

    Raises:
        PartwrightError: Spark has no such file system, or it refuses.
    """

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        self._own = HadoopFolder(spark, checkpoint)
        self._folder = HadoopFolder(spark, f"{checkpoint.rstrip('/')}/{_FOLDER}")

    def stream(self, topic: str, topic_id: str, settings: Mapping[str, str | None]) -> StreamNote:
        """The stream of this checkpoint, noted the first time.

        Raises:
            PartwrightError: The checkpoint belongs to another stream.
        """
        if not self._folder.exists("stream.json"):
            if self._own.exists("offsets"):
                raise PartwrightError(
                    f"the checkpoint {self._checkpoint!r} is of a stream that partwright did not begin: name a new "
                    "folder"
                )
            note = StreamNote(secrets.token_hex(8), topic, topic_id, dict(settings))
            self._write("stream.json", note)
            return note
        try:
            note = self._read("stream.json", StreamNote)
        except DamagedNoteError as error:
            raise PartwrightError(
                f"{error}, and without it nobody knows which records are this stream's: begin another stream, with a "
                "new checkpoint and a new topic, or restore the file"
            ) from None
        if note.topic != topic:
            raise self._other(f"the topic {note.topic!r}, not {topic!r}")
        if note.topic_id != topic_id:
            raise self._other(f"a topic {topic!r} that was deleted since, and made again")
        for name, was in note.options.items():
            if settings.get(name) != was:
                raise self._other(f"{name} {was}, not {settings.get(name)}")
        return note

    def batch(self, number: int) -> BatchNote | None:
        """The note of a batch; None if the batch was not begun.

        Raises:
            DamagedNoteError: The note is damaged.
        """
        name = _name(number)
        return self._read(name, BatchNote) if self._folder.exists(name) else None

    def last_n(self, number: int) -> int | None:
        """How many partitions the topic had for the previous batch; None if unknown.

        Raises:
            PartwrightError: The previous batch's note is damaged.
        """
        try:
            before = self.batch(number - 1) if number else None
        except DamagedNoteError as error:
            raise PartwrightError(
                f"{error}: that batch is written; see that the topic got no partitions since, then delete the file and "
                "start again with the same --checkpoint"
            ) from None
        return before.n if before else None

    def forget(self, number: int) -> None:
        """Remove the note of a batch that has no record in the topic."""
        self._folder.remove(_name(number))

    def begin(self, number: int, note: BatchNote) -> None:
        """Note a batch before its first record, and forget an old one."""
        self._write(_name(number), note)
        if number >= _KEPT:
            self._folder.remove(_name(number - _KEPT))

    def _other(self, what: str) -> PartwrightError:
        return PartwrightError(
            f"the checkpoint {self._checkpoint!r} is of a stream with {what}: give it what it was begun with, or name "
            "another folder"
        )

    def _write(self, name: str, note: StreamNote | BatchNote) -> None:
        content = json.dumps({"version": _VERSION, **dataclasses.asdict(note)}).encode()
        self._folder.create_whole(name, content)

    def _read(self, name: str, kind: type[_Note]) -> _Note:
        where = f"the note {f'{_FOLDER}/{name}'!r} in the checkpoint {self._checkpoint!r}"
        content = b" "
        try:
            content = self._folder.read(name)
            return read_stored(kind, content, _VERSION)
        except (ChecksumError, ValueError):
            raise DamagedNoteError(f"{where} is {'damaged' if content else 'empty'}") from None
        except OtherVersionError as error:
            raise PartwrightError(
                f"{where} has version {error}, and this partwright reads version {_VERSION}"
            ) from None


def run_of(stream: str, number: int) -> bytes:
    """The 8 bytes that the header of a batch's records names."""
    return hashlib.sha256(f"{stream}/{number}".encode()).digest()[:8]


def _name(number: int) -> str:
    return f"batch-{number}.json"


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
            f"{name} takes a duration such as '5 minutes', in weeks or smaller units, not {shown(text)}",
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


def refuse_together(options: StreamOptions, named: Callable[[str], str] = str) -> None:
    """Refuse options that do not go together.

    Args:
        options: The options.
        named: How a sentence calls an option, by its name.

    Raises:
        PartwrightError: Two of them were given, or one has an impossible value.
    """
    real_time, available_now, every = map(named, ("real_time", "available_now", "every"))
    if options.real_time is not None:
        for name in ("exactly_once", "follow_partitions", "available_now", "every"):
            if getattr(options, name) is not getattr(StreamOptions(), name):
                raise PartwrightError(
                    f"{named(name)} is for a stream in batches, and {real_time} has none: leave one of them out"
                )
        check_duration(real_time, options.real_time)
    if options.available_now and options.every is not None:
        raise PartwrightError(
            f"{available_now} ends after what is there, and {every} goes on: leave one of them out"
        )
    if options.every is not None and not 0 <= options.every < float("inf"):
        raise PartwrightError(f"{every} takes seconds, 0 or more, not {options.every}")


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


@dataclass(frozen=True)
class BatchWriter:
    """The function that `foreachBatch` calls.

    Attributes:
        config: How the Kafka is reached.
        topic: The topic.
        columns: The columns `key` and `value`, and those that there are of `headers` and `time`.
        order_by: Those that order a key's records in a batch.
        producer: Places the records; without a strategy, those that the client does not place by their key are spread.
        options: How the query runs.
        stream: The stream's identity.
        notes: Where its batches are noted.
    """

    config: KafkaConfig
    topic: str
    columns: Mapping[str, Column]
    order_by: Sequence[Column]
    producer: ProducerConfig
    options: StreamOptions
    stream: StreamNote
    notes: StreamNotes

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Write one batch; records that an earlier attempt wrote are left as they are."""
        began = time.monotonic()
        note = self._note(number)
        n, grown_from = (note.n, None) if note else self._partitions(number)
        mark = Mark(MARK, run_of(self.stream.stream, number))
        placed = self._placed(batch, n, mark).persist()
        try:
            records, digest, size, largest = _summed(placed)
            is_new = note is None
            if note is None:
                note = BatchNote(n, self._ends(n), records, digest)
                self.notes.begin(number, note)
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
        if self.options.on_batch is not None:
            seconds = time.monotonic() - began
            self.options.on_batch(
                BatchDone(
                    number, mark.run, n, records, already, seconds, largest, grown_from, dict(note.begin)
                )
            )

    def _note(self, number: int) -> BatchNote | None:
        """The batch's note. A damaged one stands for none if the topic has no record of the batch."""
        try:
            return self.notes.batch(number)
        except DamagedNoteError as error:
            ends = topics.end_offsets(self.config, self.topic)
            if self.options.exactly_once:
                ends = settled_ends(self.config, self.topic, ends)
            marks = last_marks(
                self.config,
                self.topic,
                {partition: (0, end) for partition, end in ends.items()},
                MARK,
                Mark(MARK, run_of(self.stream.stream, number)).prefix,
                committed=self.options.exactly_once,
            )
            if marks:
                raise PartwrightError(
                    f"{error}, and {len(marks)} of {counted(len(ends), 'partition')} of {self.topic!r} hold records "
                    "of this batch: written again, they would be there twice; restore the file from a backup, or begin "
                    "another stream, with a new checkpoint and a new topic"
                ) from None
            self.notes.forget(number)
            return None

    def _partitions(self, number: int) -> tuple[int, int | None]:
        """How many partitions the topic has, and how many it had for the previous batch if it has more now."""
        with admin_client(self.config, TIMEOUT_S) as admin:
            found = topics.described(admin, [self.topic], "WRITE")[self.topic]
        if found is None or str(found.topic_id) != self.stream.topic_id:
            how = "is gone" if found is None else "was made anew"
            raise BrokerError(
                f"the topic {self.topic!r} {how}: it was deleted while the stream wrote to it; begin another stream, "
                "with a new checkpoint"
            )
        n = len(found.partitions)
        before = self.notes.last_n(number)
        if before in {None, n}:
            return n, None
        if not self.options.follow_partitions:
            raise PartwrightError(
                f"the topic {self.topic!r} has {counted(n, 'partition')} now and had {before}: new records of many "
                "keys would go to other partitions than earlier ones, and the keys would lose their order; continue "
                "with --follow-partitions (follow_partitions=True) if readers can take that"
            )
        return n, before

    def _placed(self, batch: DataFrame, n: int, mark: Mark) -> DataFrame:
        """The batch as records, partition i in task i, in order; `row` is a record's number in its partition."""
        own = {f"_{at}": column for at, column in enumerate(self.order_by)}
        # Rows that are equal in those columns keep their order in the batch.
        order = own | {"_row": sf.monotonically_increasing_id()}
        columns = self.columns
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
            replace(self.producer, strategy=self.producer.strategy or "key"),
            order_by=list(order),
            engine=self.options.engine,
        )
        # By the record's contents, not by the task that read it, so that a machine with another number of cores gives
        # the same.
        spread = sf.pmod(sf.xxhash64("value", *own), sf.lit(n)).cast("int")
        placed = placed.withColumn("partition", sf.coalesce("partition", spread))
        placed = placed.withColumn("key", encode("id", self.producer.key_type))
        lying = laid_out(placed, rows, n, [sf.col(name) for name in order]).drop("id", *order)
        row = sf.monotonically_increasing_id().bitwiseAND(sf.lit(2**_ROW_BITS - 1))
        return lying.withColumn("row", row).withColumn("file", sf.lit("")).withColumn("headers", marked(mark))

    def _ends(self, n: int) -> dict[int, int]:
        ends = topics.end_offsets(self.config, self.topic)
        return {partition: ends[partition] for partition in range(n)}

    def _write(self, placed: DataFrame, note: BatchNote, mark: Mark, mean: float, *, is_new: bool) -> int:
        """Write the missing records; return how many were there already."""
        if self.options.exactly_once:
            if "headers" not in self.columns:
                # Then the mark is the only header, and the writer adds it.
                placed = placed.drop("headers")
            already_there = write_exactly_once(placed, self.config, self.topic, note.begin, mark, mean)
            return 0 if is_new else already_there
        if is_new:
            write_topic(placed, self.config, self.topic)
            return 0
        written_rows = rows_there(self.config, self.topic, note.begin, mark)
        remaining = rest_of(placed, written_rows, self.config, self.topic, mark)
        if remaining.already_there < note.records:
            write_topic(remaining.rows, self.config, self.topic)
        return remaining.already_there


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
