"""The main job: read, place, write, read back, check each record, and ask the Java producer for the same ones."""

from __future__ import annotations

import contextlib
import re
import secrets
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as F

from partwright import spark as pws
from partwright.cluster import Cluster
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.client import TOPIC_DENIED
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline import checks
from partwright.pipeline.journal import journal_of
from partwright.pipeline.parquet_target import ParquetFolders, parquet_folders
from partwright.pipeline.report import KeyShare, PartitionShare, Report, Step
from partwright.pipeline.settings import KafkaTarget, ParquetTarget, RunSettings
from partwright.pipeline.source import find_source, key_bytes, read_records
from partwright.pipeline.spark_errors import one_sentence, refused_by_spark
from partwright.pipeline.spark_session import interrupts, own_spark
from partwright.pipeline.target_state import Look, arrived, number_of_partitions
from partwright.pipeline.targets import KafkaTopic
from partwright.pipeline.topic_source import what_was_read
from partwright.signals import Ended
from partwright.spark import classic
from partwright.spark.executors.own_code import send_own_code
from partwright.spark.layout import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from partwright.pipeline.journal import Journal
    from partwright.pipeline.source import Source
    from partwright.pipeline.targets import Target

__all__ = ["Progress", "run"]

_HEAVIEST = 10


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


def run(settings: RunSettings, progress: Progress, spark: SparkSession | None = None) -> Report:
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
            target = parquet_folders(settings.target.folder, source.topic, settings)
        elif isinstance(settings.target, KafkaTarget):
            target = KafkaTopic(settings.target.config, source.topic, settings.new_topic)
        else:
            with steps("start Kafka"):
                kafka = stack.enter_context(EmbeddedKafka())
            config = KafkaConfig.read({}, servers=kafka.bootstrap_servers)
            target = KafkaTopic(config, source.topic, settings.new_topic)
        journal = stack.enter_context(journal_of(str(target), kept=settings.target is not None))
        notes = _cleaned(target, journal, steps)
        first = target.look()
        default = RunSettings.DEFAULT_PARTITIONS
        n = number_of_partitions(
            first, settings.asked_partitions, default, settings.append, str(target), journal.last()
        )
        target.foresee(n, first)
        cluster = _cluster(target, settings, source.topic, n)
        log = None
        if spark is None:
            with steps("start Spark"):
                spark, log = stack.enter_context(own_spark(settings))
        progress.spark(spark)
        if isinstance(target, ParquetFolders):
            target.open(spark)
        if settings.is_own_partitioner:
            send_own_code(spark, Path.cwd())
        with interrupts() as interrupted:
            job = _Run(settings, source, target, first, n, cluster, spark, steps, journal, interrupted, notes)
            with _told_of_javas_end(job, interrupted, log):
                report = job.report()
    return replace(report, log=str(log) if log else None)


def _cleaned(target: Target, journal: Journal, steps: _Steps) -> list[str]:
    """Removes the topic of a proof that a run left which was killed; what there is to say of it."""
    notes = [journal.damage] if journal.damage else []
    topic = journal.entry.proof if journal.entry else None
    if topic is None or not isinstance(target, KafkaTopic):
        return notes
    if topics.partition_count(None, topic, kafka_config=target.config) is not None:
        left = f"the topic {topic}, which an earlier run left behind as it was killed,"
        try:
            with steps(f"remove the topic {topic}, left behind by an earlier run"):
                topics.delete_topic(None, topic, kafka_config=target.config)
        except PartwrightError as error:
            # Who may write to a topic may not always delete one: that is no reason not to run.
            return [*notes, f"{left} cannot be removed ({error}): delete it"]
        notes.append(f"{left} was removed")
    journal.proof(None)
    return notes


def _cluster(target: Target, settings: RunSettings, topic: str, n: int) -> Cluster | None:
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


@contextlib.contextmanager
def _told_of_javas_end(job: _Run, interrupted: list[int], log: Path | None) -> Iterator[None]:
    """Whatever fails because Spark's Java is gone says so, and what is written; PySpark has many errors for it."""
    try:
        yield
    except Exception as error:
        how = None if interrupted else classic.how_java_ended()
        if how is None:
            raise
        where = f"; Spark's log is {str(log)!r}" if log else ""
        raise PartwrightError(f"Spark's Java process {how} {job.standing()}{where}") from error


@dataclass(frozen=True)
class _Given:
    """What there is to write, by partition and by key."""

    partitions: tuple[PartitionShare, ...]
    heaviest_keys: tuple[KeyShare, ...]
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
            KeyShare(checks.shown_key(row.key), row.records, row.partition if row.partitions == 1 else None)
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
        settings: RunSettings,
        source: Source,
        target: Target,
        first: Look,
        n: int,
        cluster: Cluster | None,
        spark: SparkSession,
        steps: _Steps,
        journal: Journal,
        interrupted: list[int],
        notes: list[str],
    ) -> None:
        self.settings = settings
        self.source = source
        self.target = target
        self.first = first
        self.n = n
        self.cluster = cluster
        self.spark = spark
        self.steps = steps
        self.journal = journal
        self.interrupted = interrupted
        self.run = secrets.token_bytes(8)
        self.notes = notes
        self.producers: int | None = None
        # How many records there are to write, once that has begun, and whether it has ended.
        self.records: int | None = None
        self.all_written = False

    def standing(self) -> str:
        """How far the run is, in words."""
        if self.records is None:
            return f"before anything was written to {self.target}"
        if self.all_written:
            return f"after all {self.records:,} records were written to {self.target}: what followed was not done"
        return f"while it wrote to {self.target}: {self._written(self.records)}"

    def report(self) -> Report:
        with self.steps("read and place"), refused_by_spark(f"{self.source.name} cannot be read"):
            placed = self._placed()
            given = _given(placed, self.n)
        if not given.records:
            why = "no record with one of these keys" if self.settings.only_keys else "no records: it is empty"
            raise PartwrightError(f"{self.source.name} has {why}, nothing was written")
        if isinstance(self.target, ParquetFolders):
            self.target.run = self.run.hex()
        with self.steps("make the topic" if isinstance(self.target, KafkaTopic) else "make the folder"):
            self.target.prepare(self.n, self.first, append=self.settings.append)
        with self.steps("write"):
            self._write(placed, given.records)
        found = proof = None
        partitions = given.partitions
        if self.settings.check:
            with self.steps("read back and check"), refused_by_spark(f"{self.target} cannot be read back"):
                found = checks.check(placed, self.target.read(self.spark), self.run, self.target.begin)
            nulls = {part.partition: part.null_keys for part in found.partitions}
            partitions = tuple(replace(part, null_keys=nulls.get(part.partition, 0)) for part in partitions)
            if self.target.partitions_now() in {None, self.n}:
                proof = self._proof(placed)
        n_now = self.target.partitions_now()
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
            n_now=n_now,
            read=what_was_read(self.source, self.settings, given.records),
            notes=tuple(self.notes),
        )

    def _placed(self) -> DataFrame:
        """Every record with its key bytes and partition, task i holding partition i in source order; kept."""
        key_type = self.settings.source_key_type
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
            key_type=self.settings.source_key_type,
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
        self.records = records
        try:
            self.target.write(placed)
        except (Exception, KeyboardInterrupt) as error:
            if self.interrupted or isinstance(error, KeyboardInterrupt):
                said = f"interrupted while writing to {self.target}: {self._written(records)}"
                raise Ended(self.interrupted[0] if self.interrupted else signal.SIGINT, said) from None
            why = one_sentence(error, "WRITE", self.source.topic)
            said = f"writing to {self.target} stopped: {why}; {self._written(records)}"
            raise PartwrightError(said) from error
        self.all_written = True
        self.journal.finish()

    def _written(self, records: int) -> str:
        """What is and what is not written, in words."""
        written = self.target.written()
        if written is None:
            return (
                f"how many of the {records:,} records arrived is not known, for the broker does not answer: the next "
                "run looks before it writes"
            )
        # On one machine Spark tries a task again only where its master says how often, as local[2,4] does.
        return arrived(written, records, re.fullmatch(r"local(\[[^,]*\])?", self.settings.master) is None)

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
        takes_the_same = self.settings.new_topic.for_same_records()
        topic = KafkaTopic(self.target.config, f"{self._proofs}{self.run.hex()}", takes_the_same)
        self.journal.proof(topic.topic)
        done = f"the {self.records:,} records are written to {self.target} and were checked, but the proof cannot be"
        try:
            with self.steps("let the Java producer choose"):
                if not self._makes(topic):
                    return None
                with refused_by_spark(f"{done} written", "WRITE", topic.topic):
                    topic.write(placed.drop("partition"))
            with self.steps("compare"), refused_by_spark(f"{done} read back"):
                return checks.compare(placed, topic.read(self.spark), self.run)
        finally:
            self._remove(topic)

    @property
    def _proofs(self) -> str:
        """How the names of the proofs' topics begin."""
        return f"{self.source.topic[:200]}.proof-"

    def _makes(self, topic: KafkaTopic) -> bool:
        """Whether the proof has its topic: who may write to one may not always make one."""
        try:
            topic.prepare(self.n, Look(), append=False)
        except BrokerError as error:
            rights = (
                "this user has no rights on its topic: grant CREATE, READ, WRITE and DELETE on topics that begin with "
                f"{self._proofs} (kafka-acls.sh --resource-pattern-type prefixed), or leave it out with --no-proof"
            )
            self.notes.append(
                f"no proof by the Java producer: {rights if error.value == TOPIC_DENIED else error}"
            )
            return False
        return True

    def _remove(self, topic: KafkaTopic) -> None:
        """Takes the proof's topic away again; where that cannot be done, the next run tries."""
        try:
            topic.delete()
        except PartwrightError as error:
            # Without a beginning it was never made.
            if topic.begin:
                self.notes.append(f"the topic {topic.topic} of the proof is still there: {error}")
                return
        self.journal.proof(None)
