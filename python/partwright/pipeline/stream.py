"""A run without an end: a folder or topic as a stream, written batch by batch and checked at the end."""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from partwright import spark as pws
from partwright._check import counted
from partwright.answer import Answer
from partwright.errors import PartwrightError
from partwright.kafka.marks import MARK, Mark
from partwright.pipeline.journal import journal_of
from partwright.pipeline.orphan import java_of_pid
from partwright.pipeline.settings import STRIP_ID, KafkaTarget, RunSettings
from partwright.pipeline.source import find_source, stream_records
from partwright.pipeline.spark_errors import explained_end, one_sentence, refused_by_spark
from partwright.pipeline.spark_session import interrupts, own_spark
from partwright.pipeline.target_state import number_of_partitions
from partwright.pipeline.targets import KafkaTopic
from partwright.signals import Ended
from partwright.spark import classic
from partwright.spark.executors.own_code import send_own_code
from partwright.spark.hadoop_files import HadoopFolder
from partwright.spark.marks import is_mark

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from partwright._check import Json
    from partwright.spark.streams.batches import BatchDone

__all__ = ["StreamReport", "StreamSettings", "stream"]

_POLL_S = 0.5


@dataclass(frozen=True)
class StreamSettings:
    """What a stream is asked to do, in addition to a run's settings.

    Attributes:
        checkpoint: The folder of Spark's checkpoint.
        available_now: Whether it ends once everything that is there now is written.
        every: The seconds from one batch to the next.
        follow_partitions: Whether it continues if the topic gets more partitions.
        real_time: How long a batch of Spark's real-time mode lasts; None for its usual mode.
    """

    checkpoint: str
    available_now: bool = False
    every: float | None = None
    follow_partitions: bool = False
    real_time: str | None = None


class StreamProgress(Protocol):
    """Gets told what a stream is doing."""

    def step(self, name: str) -> AbstractContextManager[None]:
        """One step, for as long as the block lasts."""

    def spark(self, spark: SparkSession) -> None:
        """Spark has started; its progress can be read."""

    def say(self, sentence: str) -> None:
        """One line about a batch."""


@dataclass(frozen=True)
class StreamReport(Answer):
    """What a stream did until it ended.

    Attributes:
        batches: How many batches were written.
        records: How many records these had.
        written: How many of these this process wrote.
        already_there: How many an earlier attempt at their batch had written.
        lost: How many are missing; None if nobody looked.
        twice: How many copies there are beyond each record's first.
        moved: How many are in another partition than their key's.
        n: How many partitions the topic has now.
        followed: The offset in each partition from which on keys are placed for more partitions.
        is_marked: Whether each record has one more header, by which it is known again.
    """

    DOCUMENT = "stream"

    source: str
    target: str
    topic: str
    client: str
    n: int
    batches: int
    records: int
    written: int
    already_there: int
    lost: int | None
    twice: int | None
    moved: int | None
    followed: tuple[Mapping[int, int], ...] = ()
    is_marked: bool = False

    @property
    def ok(self) -> bool:
        """Whether every record that was looked at is there once, where its key belongs."""
        return not (self.lost or self.twice or self.moved)

    def to_dict(self) -> Json:
        """The report as an object for JSON, with `ok` first."""
        return {"ok": self.ok, **dataclasses.asdict(self)}

    def table(self) -> pa.Table:
        """One row with the numbers, without the offsets of `followed`."""
        return pa.Table.from_pylist(
            [{name: value for name, value in self.to_dict().items() if name != "followed"}]
        )


def stream(
    settings: RunSettings, asked: StreamSettings, progress: StreamProgress, spark: SparkSession | None = None
) -> StreamReport:
    """Run as a stream, until it is stopped or, with `available_now`, until everything is written.

    Args:
        settings: What to do; the target is a topic.
        asked: What is asked of the stream.
        progress: Is told of each step and batch.
        spark: A session with Spark's Kafka connector, which is left running; by default the stream starts its own.

    Returns:
        The report; its `ok` is False if a record is not where it belongs.

    Raises:
        PartwrightError: One sentence that says what is wrong with a source, a key, a topic, a checkpoint or a broker.
        Ended: Ctrl-C or SIGTERM came; the error says what is written.
    """
    if not isinstance(settings.target, KafkaTarget):
        raise PartwrightError(
            f"a stream writes to a topic, not to {settings.target}: name one with --to kafka://host:port"
        )
    _refuse_together(settings, asked)
    source = find_source(settings, endless=True)
    if source.path is not None and Path(source.path).is_file():
        raise PartwrightError(f"{source.name} cannot become more: a stream reads a folder, or a topic")
    target = KafkaTopic(settings.target.config, source.topic, settings.new_topic)
    job = _Standing(target)
    log = None
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(journal_of(f"{target} by the checkpoint {asked.checkpoint!r}"))
        if spark is None:
            with progress.step("start Spark"):
                spark, log = stack.enter_context(own_spark(settings))
        progress.spark(spark)
        interrupted = stack.enter_context(interrupts())
        stack.enter_context(explained_end(job.when_it_ended, interrupted, log))
        if settings.is_own_partitioner:
            send_own_code(spark, Path.cwd())
        first = target.look()
        # A checkpoint that is in use knows what it wrote.
        begun = HadoopFolder(spark, f"{asked.checkpoint.rstrip('/')}/partwright").exists()
        n = number_of_partitions(
            first,
            settings.asked_partitions,
            RunSettings.DEFAULT_PARTITIONS,
            settings.append or begun,
            str(target),
            None,
        )
        with refused_by_spark(f"{source.name} cannot be read"):
            records = stream_records(spark, source, settings)
        if first.partitions is None:
            with progress.step("make the topic"):
                target.prepare(n, first, append=True)

        def told(batch: BatchDone) -> None:
            job.done.append(batch)
            progress.say(_said(batch, query.lastProgress if query else None))

        query: StreamingQuery | None = None
        journal.begin("", 0, java_of_pid(classic.java_pid()))
        query = pws.write_stream(
            records,
            topic=source.topic,
            checkpoint=asked.checkpoint,
            workload=pws.Workload(
                key="id",
                headers="headers" if source.format == "kafka" and not asked.real_time else None,
                time="timestamp" if "timestamp" in records.columns else None,
            ),
            producer=pws.ProducerConfig(
                settings.strategy,
                settings.properties,
                settings.client,
                settings.source_key_type,
                settings.seed,
            ),
            kafka_config=settings.target.config,
            options=pws.StreamOptions(
                order_by=[] if asked.real_time else ["place", "place_row"],
                exactly_once=settings.exactly_once,
                follow_partitions=asked.follow_partitions,
                available_now=asked.available_now,
                every=asked.every,
                real_time=asked.real_time,
                on_batch=told,
            ),
        )
        job.is_writing = True
        _wait(query, interrupted, job)
        job.is_writing = False
        journal.finish()
        found: tuple[int | None, int | None, int | None] = (None, None, None)
        if asked.available_now and settings.check and job.done:
            with progress.step("read back and check"), refused_by_spark(f"{target} cannot be read back"):
                found = _check(spark, target, settings, job.done)
        return _report(settings, source.name, target, job.done, found, is_marked=asked.real_time is None)


def _refuse_together(settings: RunSettings, asked: StreamSettings) -> None:
    """Refuse options that do not go together."""
    batches = {
        "--exactly-once": settings.exactly_once,
        "--strategy": settings.strategy is not None,
        "--follow-partitions": asked.follow_partitions,
        "--available-now": asked.available_now,
        "--every": asked.every is not None,
    }
    for option, is_given in batches.items():
        if is_given and asked.real_time is not None:
            raise PartwrightError(
                f"{option} is for a stream in batches, and --real-time has none: leave one of them out"
            )
    if asked.available_now and asked.every is not None:
        raise PartwrightError(
            "--available-now ends after what is there, and --every goes on: leave one of them out"
        )
    if asked.every is not None and not 0 <= asked.every < float("inf"):
        raise PartwrightError(f"--every takes seconds, 0 or more, not {asked.every}")
    if not settings.check and not asked.available_now:
        raise PartwrightError(
            "--no-check is for --available-now, because only what ends is checked: leave it out"
        )


@dataclass
class _Standing:
    """How far a stream is.

    Attributes:
        target: The topic.
        done: What it wrote.
        is_writing: Whether it waits for batches, and writes them.
    """

    target: KafkaTopic
    done: list[BatchDone] = dataclasses.field(default_factory=list)
    is_writing: bool = False

    def when_it_ended(self) -> str:
        """Where it was when it ended, in words."""
        if not self.done:
            return (
                f"before the stream had written a whole batch to {self.target}: start again with the same "
                "--checkpoint to go on"
            )
        when = "while" if self.is_writing else "after"
        return f"{when} the stream wrote to {self.target}: {self.written()}"

    def written(self) -> str:
        """What is written, and how to go on, in words."""
        written = sum(batch.records - batch.already_there for batch in self.done)
        batches = counted(len(self.done), "batch", "batches")
        return (
            f"{counted(written, f'record in {batches} is', f'records in {batches} are')} written: start again "
            "with the same --checkpoint to go on"
        )


def _wait(query: StreamingQuery, interrupted: list[int], job: _Standing) -> None:
    """Wait until the query ends."""
    try:
        while query.isActive:
            query.awaitTermination(_POLL_S)  # type: ignore[arg-type]
            if interrupted:
                break
    except (PySparkException, KeyboardInterrupt) as error:
        if not interrupted and not isinstance(error, KeyboardInterrupt):
            raise PartwrightError(
                f"the stream to {job.target} stopped: {one_sentence(error, 'WRITE', job.target.topic)}; "
                f"{job.written()}"
            ) from error
    if interrupted:
        with contextlib.suppress(PySparkException):
            query.stop()
        raise Ended(interrupted[0], f"the stream to {job.target} was stopped; {job.written()}")


def _said(batch: BatchDone, progress: Json | None) -> str:
    there = f", {batch.already_there:,} of them there already" if batch.already_there else ""
    rate = f"{batch.records / batch.seconds:,.0f} records/s" if batch.seconds else ""
    parts = [
        f"batch {batch.number}: {counted(batch.records, 'record')}{there} in {batch.seconds:.1f} s, {rate}",
        f"{counted(batch.n, 'partition')}, {batch.largest:,} in the fullest",
    ]
    behind = _behind(progress)
    if behind is not None:
        parts.append(f"{counted(behind, 'record')} behind")
    if batch.grown_from is not None:
        begin = ", ".join(f"{partition}: {offset:,}" for partition, offset in batch.begin.items())
        parts.append(
            f"the topic had {counted(batch.grown_from, 'partition')} before: keys are placed for {batch.n} from "
            f"these offsets on: "
            f"{begin}"
        )
    return "; ".join(parts)


def _behind(progress: Json | None) -> int | None:
    """How many records of a source topic are not read yet, by Spark's count; None if it gives none."""
    for source in (progress or {}).get("sources", ()):
        metrics = source.get("metrics") or {}
        if "avgOffsetsBehindLatest" in metrics and "maxOffsetsBehindLatest" in metrics:
            return int(metrics["maxOffsetsBehindLatest"])
    return None


def _check(
    spark: SparkSession, target: KafkaTopic, settings: RunSettings, done: list[BatchDone]
) -> tuple[int, int, int]:
    """Count missing records, extra copies, and records in another partition than their key's."""
    begin: dict[int, int] = {}
    for batch in done:
        for partition, offset in batch.begin.items():
            begin[partition] = min(offset, begin.get(partition, offset))
    target.begin = begin
    read = target.read(spark, committed=settings.exactly_once)
    lost = twice = moved = 0
    for n in sorted({batch.n for batch in done}):
        batches = {batch.run: batch.records for batch in done if batch.n == n}
        ours = read.where(is_mark("header", *(Mark(MARK, run) for run in batches)))
        # Keys are read back as bytes, whatever type they had.
        key_type = STRIP_ID if settings.key_type == STRIP_ID else None
        placed = pws.with_partition(
            ours.withColumnRenamed("partition", "at"), "key", n, settings.client, key_type
        )
        (row,) = placed.agg(
            F.count("*").alias("copies"),
            F.count_distinct("at", "header").alias("different"),
            F.count_if(F.col("partition") != F.col("at")).alias("moved"),
        ).collect()
        lost += sum(batches.values()) - row.different
        twice += row.copies - row.different
        moved += row.moved if settings.strategy in {None, "key"} else 0
    return lost, twice, moved


def _report(
    settings: RunSettings,
    source: str,
    target: KafkaTopic,
    done: list[BatchDone],
    found: tuple[int | None, int | None, int | None],
    *,
    is_marked: bool,
) -> StreamReport:
    records, already = sum(batch.records for batch in done), sum(batch.already_there for batch in done)
    lost, twice, moved = found
    return StreamReport(
        source=source,
        target=str(settings.target),
        topic=target.topic,
        client=settings.client,
        n=target.partitions_now(),
        batches=len(done),
        records=records,
        written=records - already,
        already_there=already,
        lost=lost,
        twice=twice,
        moved=moved,
        followed=tuple(batch.begin for batch in done if batch.grown_from is not None),
        is_marked=is_marked,
    )
