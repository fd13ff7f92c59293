"""The main job: read, place, write, read back, check each record, and ask the Java producer for the same ones."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import threading
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documents use

from partwright import spark as pws
from partwright.cluster import Cluster
from partwright.errors import PartwrightError
from partwright.folders import state_folder
from partwright.kafka import EmbeddedKafka
from partwright.pipeline import checks
from partwright.pipeline.journal import journal_of
from partwright.pipeline.refusals import one_sentence, refused_by_spark
from partwright.pipeline.report import HeavyKey, PartitionShare, Report, Step
from partwright.pipeline.settings import KafkaTarget, ParquetTarget, Settings
from partwright.pipeline.source import find_source, key_bytes, read_records
from partwright.pipeline.targets import KafkaTopic, ParquetFolders
from partwright.spark.layout import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import FrameType

    from pyspark.sql import DataFrame, SparkSession

    from partwright.pipeline.journal import Journal
    from partwright.pipeline.source import Source
    from partwright.pipeline.targets import Target

__all__ = ["Progress", "run"]

_HEAVIEST = 10
_KEPT_LOGS = 10
# What Kafka's controller makes in one request (ReplicationControlManager, 4.3).
_MOST_NEW_PARTITIONS = 10_000


class Progress(Protocol):
    """Who is told what a run is doing."""

    def step(self, name: str) -> AbstractContextManager[None]:
        """One step, for as long as the block lasts."""

    def spark(self, spark: SparkSession) -> None:
        """Spark is there and can be asked how far it is."""


class _Steps:
    """The steps' times, told to a `Progress` as they happen."""

    def __init__(self, progress: Progress) -> None:
        self.taken: list[Step] = []
        self._progress = progress

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        with self._progress.step(name):
            yield
        self.taken.append(Step(name, round(time.monotonic() - began, 3)))


def run(settings: Settings, progress: Progress, spark: SparkSession | None = None) -> Report:
    """Runs the main job once.

    Args:
        settings: What to do.
        progress: Is told of each step.
        spark: A session with Spark's Kafka connector, which is left running; by default the run has one of its own.

    Returns:
        The report; its `ok` is False where a record is not where it belongs.

    Raises:
        PartwrightError: One sentence for a source, a key, a topic or a broker that will not do, and for a write that
            stopped, with what is and what is not written.
    """
    steps = _Steps(progress)
    source = find_source(settings)
    with contextlib.ExitStack() as stack:
        target: Target
        if isinstance(settings.target, ParquetTarget):
            target = ParquetFolders(settings.target.folder, source.topic)
        elif isinstance(settings.target, KafkaTarget):
            target = KafkaTopic(settings.target.bootstrap_servers, source.topic)
        else:
            with steps("start Kafka"):
                kafka = stack.enter_context(EmbeddedKafka())
            target = KafkaTopic(kafka.bootstrap_servers, source.topic)
        journal = stack.enter_context(journal_of(str(target), kept=settings.target is not None))
        n = _partitions(target, settings, journal)
        cluster = _cluster(target, settings, source.topic, n)
        log = None
        if spark is None:
            log = stack.enter_context(_log_file())
            with steps("start Spark"):
                spark = pws.session(
                    "partwright run", settings.master, kafka=True, configs=_configs(settings), log_file=log
                )
            stack.callback(spark.stop)
        progress.spark(spark)
        with _told_of_interrupts() as interrupted:
            report = _Run(settings, source, target, n, cluster, spark, steps, journal, interrupted).report()
    return replace(report, log=str(log) if log else None)


def _partitions(target: Target, settings: Settings, journal: Journal) -> int:
    """How many partitions the records go to: the topic's own number where it exists."""
    there, records = target.existing()
    asked = settings.partitions
    if there is not None and asked is not None and asked != there:
        raise PartwrightError(
            f"{target} has {there} partitions, not {asked}: leave -n out or take another --topic"
        )
    if records and not settings.append:
        last = journal.last()
        raise PartwrightError(
            f"{target} holds {records:,} records already{f' ({last})' if last else ''}: nothing was written; "
            "take another --topic, or --append to write all records of the source to it all the same"
        )
    n = there or asked or Settings.DEFAULT_PARTITIONS
    if there is None and n > _MOST_NEW_PARTITIONS:
        raise PartwrightError(
            f"a new topic gets at most {_MOST_NEW_PARTITIONS:,} partitions at once, not {n:,}: make it first and add "
            "partitions in steps, or take a smaller -n"
        )
    return n


def _cluster(target: Target, settings: Settings, topic: str, n: int) -> Cluster | None:
    """Where the partitions are, in the order in which Java's producer has them; those to be made have a leader each.

    None where no strategy looks at it.
    """
    if not settings.is_by_strategy:
        return None
    there = target.cluster()
    if there is None and settings.strategy == "leader":
        raise PartwrightError(
            f"the strategy leader goes by where the partitions' leaders are, and {target} has none yet: make the topic "
            "first"
        )
    return (there or Cluster.of({topic: n})).in_metadata_order()


def _configs(settings: Settings) -> dict[str, str]:
    """Spark's settings; on one machine its 200 partitions a shuffle are mostly waiting for their turn."""
    cores = os.cpu_count() or 1
    local = {"spark.sql.shuffle.partitions": str(4 * cores)} if settings.master.startswith("local") else {}
    return {**local, **settings.configs}


@contextlib.contextmanager
def _log_file() -> Iterator[Path]:
    """A new file for Spark's own words, those of its Python half too; the oldest ones go."""
    folder = state_folder() / "logs"
    file = folder / f"run-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in sorted(folder.glob("run-*.log"))[: -_KEPT_LOGS + 1 or None]:
            old.unlink(missing_ok=True)
        handler = logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise PartwrightError(
            f"{str(folder)!r} cannot be written: PARTWRIGHT_STATE names another folder"
        ) from error
    # py4j logs a traceback where an interrupt meets a call that is under way.
    logging.getLogger().addHandler(handler)
    try:
        yield file
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


@contextlib.contextmanager
def _told_of_interrupts() -> Iterator[threading.Event]:
    """Set once Ctrl-C came. PySpark cancels all jobs then, and what it throws may be no more than that they were."""
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = signal.getsignal(signal.SIGINT)

    def noted(number: int, frame: FrameType | None) -> None:
        came.set()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, noted)
    try:
        yield came
    except Exception:
        if came.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class _Given:
    """What there is to write, by partition and by key."""

    partitions: tuple[PartitionShare, ...]
    heaviest_keys: tuple[HeavyKey, ...]
    records: int
    unplaced: int
    with_key: int
    keys: int
    bytes: int


def _given(placed: DataFrame, n: int) -> _Given:
    size = F.coalesce(F.octet_length("key"), F.lit(0)) + F.coalesce(F.octet_length("value"), F.lit(0))
    by_key = (
        placed.groupBy("partition", "key")
        .agg(F.count("*").alias("records"), F.sum(size).alias("bytes"))
        .persist()
    )
    # A strategy that does not go by keys puts a key into several partitions.
    over_partitions = (
        by_key.where("key is not null")
        .groupBy("key")
        .agg(
            F.sum("records").alias("records"),
            F.count("*").alias("partitions"),
            F.min("partition").alias("partition"),
        )
    )
    try:
        heaviest = over_partitions.orderBy(F.desc("records"), "key").limit(_HEAVIEST).collect()
        (keys,) = over_partitions.agg(
            F.count("partition").alias("placed"), F.sum("records").alias("records")
        ).collect()
        sums = (
            F.sum("records").alias("records"),
            F.sum("bytes").alias("bytes"),
            F.count("key").alias("keys"),
        )
        rows = {row.partition: row for row in by_key.groupBy("partition").agg(*sums).collect()}
    finally:
        by_key.unpersist()
    of_partition = {
        number: PartitionShare(number, row.records, row.bytes, row.keys, None) for number, row in rows.items()
    }
    return _Given(
        partitions=tuple(
            of_partition.get(number, PartitionShare(number, 0, 0, 0, None)) for number in range(n)
        ),
        heaviest_keys=tuple(
            HeavyKey(checks.shown_key(row.key), row.records, row.partition if row.partitions == 1 else None)
            for row in heaviest
        ),
        records=sum(row.records for row in rows.values()),
        unplaced=rows[None].records if None in rows else 0,
        with_key=keys.records or 0,
        keys=keys.placed,
        bytes=sum(row.bytes for row in rows.values()),
    )


class _Run:
    """One run, once its source and target are known and Spark is there."""

    def __init__(
        self,
        settings: Settings,
        source: Source,
        target: Target,
        n: int,
        cluster: Cluster | None,
        spark: SparkSession,
        steps: _Steps,
        journal: Journal,
        interrupted: threading.Event,
    ) -> None:
        self.settings = settings
        self.source = source
        self.target = target
        self.n = n
        self.cluster = cluster
        self.spark = spark
        self.steps = steps
        self.journal = journal
        self.interrupted = interrupted
        self.run = secrets.token_bytes(8)
        self.notes: list[str] = []
        self.producers: int | None = None

    def report(self) -> Report:
        with self.steps("read and place"), refused_by_spark(f"{self.source.name} cannot be read"):
            placed = self._placed()
            given = _given(placed, self.n)
        if not given.records:
            raise PartwrightError(f"{self.source.name} has no records: it is empty, nothing was written")
        with self.steps("make the topic" if isinstance(self.target, KafkaTopic) else "make the folder"):
            self.target.prepare(self.n)
        with self.steps("write"):
            self._write(placed, given.records)
        found = proof = None
        partitions = given.partitions
        if self.settings.check:
            with self.steps("read back and check"), refused_by_spark(f"{self.target} cannot be read back"):
                found = checks.check(placed, self.target.read(self.spark), self.run, self.target.begin)
            nulls = {part.partition: part.null_keys for part in found.partitions}
            partitions = tuple(replace(part, null_keys=nulls.get(part.partition, 0)) for part in partitions)
            proof = self._proof(placed)
        placed.unpersist()
        placed_records = given.records - given.unplaced
        keyed = given.with_key if self.settings.strategy_name not in {None, "key"} else placed_records
        return Report(
            source=self.source.name,
            target=str(self.settings.target or "embedded Kafka"),
            topic=self.source.topic,
            client=self.settings.client,
            strategy=self.settings.strategy_name,
            producers=self.producers,
            n=self.n,
            records=given.records,
            keyed=keyed,
            null_keys=given.records - keyed,
            keys=given.keys,
            bytes=given.bytes,
            largest_share=max(part.records for part in partitions) / placed_records
            if placed_records
            else 0.0,
            partitions=partitions,
            heaviest_keys=given.heaviest_keys,
            steps=tuple(self.steps.taken),
            checks=found,
            proof=proof,
            notes=tuple(self.notes),
        )

    def _placed(self) -> DataFrame:
        """Every record with its key bytes and partition, task i holding partition i in source order; kept."""
        key_type = self.settings.key_type
        records = read_records(self.spark, self.source, self.settings, self.run)
        if self.settings.is_by_strategy:
            placed = self._by_strategy(records)
        else:
            layout = pws.kafka_layout(
                key="id", n=self.n, order_by=["file", "row"], client=self.settings.client, key_type=key_type
            )
            placed = records.transform(layout)
        # Kept, so that a source which cannot be read to its end is noticed before the first record is written, and so
        # that what is checked is what was written.
        return placed.withColumn("key", key_bytes("id", placed, key_type)).drop("id").persist()

    def _by_strategy(self, records: DataFrame) -> DataFrame:
        """The same by a strategy: each of the tasks that read the source is a producer, whose records are in order."""
        self.producers = records.rdd.getNumPartitions()
        placed = pws.with_partition(
            records,
            key="id",
            n=self.n,
            client=self.settings.client,
            key_type=self.settings.key_type,
            strategy=self.settings.strategy,
            value="value",
            order_by=["file", "row"],
            seed=self.settings.seed,
            configs=self.settings.properties,
            partition="named" if self.settings.partition is not None else None,
            field="field" if self.settings.field is not None else None,
            cluster=self.cluster,
        )
        order = [F.col("file"), F.col("row")]
        return laid_out(placed.drop("named", "field"), records, self.n, order)

    def _write(self, placed: DataFrame, records: int) -> None:
        self.journal.begin(self.run.hex(), records)
        try:
            self.target.write(placed)
        except (Exception, KeyboardInterrupt) as error:
            if self.interrupted.is_set() or isinstance(error, KeyboardInterrupt):
                said = f"interrupted while writing to {self.target}: {self._written(records)}"
                raise KeyboardInterrupt(said) from None
            said = f"writing to {self.target} stopped: {one_sentence(error)}; {self._written(records)}"
            raise PartwrightError(said) from error
        self.journal.finish()

    def _written(self, records: int) -> str:
        """What is and what is not written, in words."""
        written = self.target.written()
        if written is None:
            return (
                f"how many of the {records:,} records arrived is not known, for the broker does not answer: the next "
                "run looks before it writes"
            )
        done = sum(written.values())
        places = ", ".join(f"{count:,} in partition {number}" for number, count in written.items() if count)
        return f"{done:,} of {records:,} records are written{f' ({places})' if places else ''}, the others are not"

    def _proof(self, placed: DataFrame) -> checks.Proof | None:
        """The same records to a topic of their own, without a partition: the Java producer chooses."""
        if not self.settings.proof or not isinstance(self.target, KafkaTopic):
            return None
        if self.settings.key_type == "confluent:strip-id":
            self.notes.append("no proof by the Java producer: it hashes a schema registry's header too")
            return None
        if self.settings.chooses_for_keys:
            self.notes.append(
                "no proof by the Java producer: it was not told what chooses the partitions of records with keys here"
            )
            return None
        if not self.settings.agrees_with_java:
            self.notes.append(
                f"no proof by the Java producer: client {self.settings.client} puts keys elsewhere"
            )
            return None
        topic = KafkaTopic(self.target.bootstrap_servers, f"{self.source.topic[:200]}.proof-{self.run.hex()}")
        try:
            with self.steps("let the Java producer choose"), refused_by_spark("the proof cannot be written"):
                topic.prepare(self.n)
                topic.write(placed.drop("partition"))
            with self.steps("compare"), refused_by_spark("the proof cannot be read back"):
                return checks.compare(placed, topic.read(self.spark), self.run)
        finally:
            with contextlib.suppress(PartwrightError):
                topic.delete()
