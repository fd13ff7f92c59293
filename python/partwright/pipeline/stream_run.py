"""A run without an end: a folder or topic as a stream, written batch by batch and checked at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from partwright import spark as pws
from partwright._check import Json, counted
from partwright.answer import Answer
from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.address import parse_kafka
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.marks import MARK, Mark
from partwright.pipeline.journal import java_of_pid, journal_of
from partwright.pipeline.report import Progress, timed
from partwright.pipeline.settings import STRIP_ID, RunSettings
from partwright.pipeline.source import find_source
from partwright.pipeline.spark_records import inspect_source, stream_records
from partwright.pipeline.spark_session import explained_end, one_sentence, open_session, refused_by_spark
from partwright.pipeline.spark_targets import SparkTopic
from partwright.pipeline.targets import number_of_partitions
from partwright.signals import Ended
from partwright.spark import classic
from partwright.spark.executors.archives import send_own_code
from partwright.spark.hadoop_files import HadoopFolder
from partwright.spark.marks import is_mark
from partwright.spark.streams.batches import refuse_together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from partwright.pipeline.spark_session import Session
    from partwright.pipeline.topic_source import Source
    from partwright.producer.configs import ProducerConfig
    from partwright.spark.streams.batches import BatchDone, StreamOptions

_POLL_S = 0.5


class StreamProgress(Progress, Protocol):
    """Gets told what a stream is doing."""

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
        return {"ok": self.ok, **asdict(self)}

    def to_arrow(self) -> pa.Table:
        """One row with the numbers, without the offsets of `followed`."""
        return pa.Table.from_pylist(
            [{name: value for name, value in self.to_dict().items() if name != "followed"}]
        )


def stream(
    settings: RunSettings,
    checkpoint: str,
    options: StreamOptions,
    progress: StreamProgress,
    spark: SparkSession | None = None,
) -> StreamReport:
    """Run as a stream, until it is stopped or, with `available_now`, until everything is written.

    Args:
        settings: What to do; the target is a topic.
        checkpoint: The folder of Spark's checkpoint.
        options: How the stream runs, besides these settings.
        progress: Is told of each step and batch.
        spark: A session with Spark's Kafka connector, which is left running; by default the stream starts its own.

    Returns:
        The report; its `ok` is False if a record is not where it belongs.

    Raises:
        PartwrightError: One sentence that says what is wrong with a source, a key, a topic, a checkpoint or a broker.
        Ended: Ctrl-C or SIGTERM came; the error says what is written.
    """
    config = settings.target.config if settings.target is not None else None
    if config is None:
        raise PartwrightError(
            f"a stream writes to a topic, not to {settings.target}: name one with --to kafka://host:port"
        )
    refuse_together(replace(options, exactly_once=settings.exactly_once), _as_option)
    if settings.strategy is not None and options.real_time is not None:
        raise PartwrightError(
            "--strategy is for a stream in batches, and --real-time has none: leave one of them out"
        )
    if not settings.check and not options.available_now:
        raise PartwrightError(
            "--no-check is for --available-now, because only what ends is checked: leave it out"
        )
    source = inspect_source(find_source(settings, endless=True), settings)
    if not source.can_grow:
        raise PartwrightError(f"{source.name} cannot become more: a stream reads a folder, or a topic")
    _refuse_circle(source, settings.source_config, config)
    target = SparkTopic(config, source.topic, settings.new_topic)
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(journal_of(f"{target} by the checkpoint {checkpoint!r}"))
        first = target.find_state()
        session = stack.enter_context(open_session(spark, settings.master, settings.configs, progress))
        # Spark gives a batch's result to a callback alone.
        done: list[BatchDone] = []
        query: StreamingQuery | None = None

        def take(batch: BatchDone) -> None:
            """Called in a thread of Spark's."""
            done.append(_kept(batch, options))
            progress.say(_batch_line(batch, query.lastProgress if query else None))

        with explained_end(lambda: _standing("before", target, ()), session.interrupted, session.log):
            if settings.is_own_partitioner:
                send_own_code(session.spark, Path.cwd())
            # A checkpoint that is in use knows what it wrote.
            begun = HadoopFolder(session.spark, f"{checkpoint.rstrip('/')}/partwright").exists()
            default, append = RunSettings.DEFAULT_PARTITIONS, settings.append or begun
            n = number_of_partitions(first, settings.asked_partitions, default, append, str(target), None)
            with refused_by_spark(f"{source.name} cannot be read"):
                records = stream_records(session.spark, source, settings)
            if first.partitions is None:
                timed(progress, target.making, lambda: target.prepare(n, first, b"", append=True))
            journal.begin("", 0, java_of_pid(classic.java_pid()))
            query = pws.write_stream(
                records,
                topic=source.topic,
                checkpoint=checkpoint,
                workload=pws.Workload(
                    key="id",
                    headers="headers" if source.has_headers and not options.real_time else None,
                    time="timestamp" if "timestamp" in records.columns else None,
                ),
                producer=settings.producer,
                kafka_config=target.config,
                options=replace(
                    options,
                    order_by=[] if options.real_time else ["place", "place_row"],
                    exactly_once=settings.exactly_once,
                    on_batch=take,
                ),
            )
        _wait(query, done, target, session)
        journal.finish()
        lost = twice = moved = None
        if options.available_now and settings.check and done:
            with (
                explained_end(lambda: _standing("after", target, done), session.interrupted, session.log),
                progress.step("read back and check"),
                refused_by_spark(f"{target} cannot be read back"),
            ):
                lost, twice, moved = _check(
                    session.spark, target, settings.producer, done, committed=settings.exactly_once
                )
        records, already = (
            sum(getattr(each, name) for each in done) for name in ("records", "already_there")
        )
        return StreamReport(
            source=source.name,
            target=f"kafka://{target.bootstrap_servers}",
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
            is_marked=options.real_time is None,
        )


def _as_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _refuse_circle(source: Source, source_config: KafkaConfig | None, config: KafkaConfig) -> None:
    """Refuse a topic that would be written to itself: each batch would be the source of the next."""
    if source.format != "kafka":
        return
    servers, topic = parse_kafka(source.name)
    if topic != source.topic:
        return
    read_from = KafkaConfig.read(source_config, servers=servers)
    if topics.cluster_id(read_from) == topics.cluster_id(config):
        raise PartwrightError(
            f"a stream from topic {topic!r} into itself would read its own records without an end: name another topic "
            "with --topic",
            value=topic,
        )


def _kept(batch: BatchDone, options: StreamOptions) -> BatchDone:
    """What is remembered of a batch: a stream of months has many, and only a check needs where each began."""
    is_needed = options.available_now or batch.grown_from is not None
    return batch if is_needed else replace(batch, begin={})


def _standing(when: str, target: SparkTopic, done: Sequence[BatchDone]) -> str:
    """Where a stream was when it ended, in words.

    Args:
        when: before, while or after it waited for batches.
        target: The topic.
        done: What it wrote.
    """
    if not done:
        return (
            f"before the stream had written a whole batch to {target}: start again with the same --checkpoint to go "
            "on"
        )
    return f"{when} the stream wrote to {target}: {_written(done)}"


def _written(done: Sequence[BatchDone]) -> str:
    """What is written, and how to go on, in words."""
    written = sum(batch.records - batch.already_there for batch in done)
    batches = counted(len(done), "batch", "batches")
    return (
        f"{counted(written, f'record in {batches} is', f'records in {batches} are')} written: start again with the "
        "same --checkpoint to go on"
    )


def _wait(query: StreamingQuery, done: Sequence[BatchDone], target: SparkTopic, session: Session) -> None:
    """Wait until the query ends; `done` has the batches that it wrote until then."""
    with explained_end(lambda: _standing("while", target, done), session.interrupted, session.log):
        try:
            while query.isActive and not session.interrupted:
                query.awaitTermination(_POLL_S)  # type: ignore[arg-type]
        except (PySparkException, KeyboardInterrupt) as error:
            if not session.interrupted and not isinstance(error, KeyboardInterrupt):
                raise PartwrightError(
                    f"the stream to {target} stopped: {one_sentence(error, 'WRITE', target.topic)}; {_written(done)}"
                ) from error
        if session.interrupted:
            with contextlib.suppress(PySparkException):
                query.stop()
            raise Ended(session.interrupted[0], f"the stream to {target} was stopped; {_written(done)}")


def _batch_line(batch: BatchDone, progress: Json | None) -> str:
    already_there = f", {batch.already_there:,} of them there already" if batch.already_there else ""
    rate = f"{batch.records / batch.seconds:,.0f} records/s" if batch.seconds else ""
    parts = [
        f"batch {batch.number}: {counted(batch.records, 'record')}{already_there} in {batch.seconds:.1f} s, {rate}",
        f"{counted(batch.n, 'partition')}, {batch.largest:,} in the fullest",
    ]
    behind = _behind(progress)
    if behind is not None:
        parts.append(f"{counted(behind, 'record')} behind")
    if batch.grown_from is not None:
        begin = ", ".join(f"{partition}: {offset:,}" for partition, offset in batch.begin.items())
        parts.append(
            f"the topic had {counted(batch.grown_from, 'partition')} before: keys are placed for {batch.n} from these "
            f"offsets on: {begin}"
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
    spark: SparkSession,
    target: SparkTopic,
    producer: ProducerConfig,
    done: Sequence[BatchDone],
    *,
    committed: bool,
) -> tuple[int, int, int]:
    """Count missing records, extra copies, and records in another partition than their key's."""
    begin: dict[int, int] = {}
    for batch in done:
        for partition, offset in batch.begin.items():
            begin[partition] = min(offset, begin.get(partition, offset))
    read = replace(target, begin=begin).read(spark, committed=committed)
    lost = twice = moved = 0
    for n in sorted({batch.n for batch in done}):
        batches = {batch.run: batch.records for batch in done if batch.n == n}
        ours = read.where(is_mark("header", *(Mark(MARK, run) for run in batches)))
        # Keys are read back as bytes, whatever type they had.
        key_type = STRIP_ID if producer.key_type == STRIP_ID else None
        placed = pws.with_partition(
            ours.withColumnRenamed("partition", "at"), "key", n, producer.client, key_type
        )
        (row,) = placed.agg(
            F.count("*").alias("copies"),
            F.count_distinct("at", "header").alias("different"),
            F.count_if(F.col("partition") != F.col("at")).alias("moved"),
        ).collect()
        lost += sum(batches.values()) - row.different
        twice += row.copies - row.different
        moved += row.moved if producer.strategy in {None, "key"} else 0
    return lost, twice, moved
