"""Spark as the runner; what its tasks do is in the modules that this one calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from partwright.pipeline import checks
from partwright.pipeline.parquet_target import target_at
from partwright.pipeline.placing import placed_records, sum_records
from partwright.pipeline.proof import java_proof, no_proof, proof_name, unproven
from partwright.pipeline.resume import SourceFacts
from partwright.pipeline.runner import ProofResult, ReadRecords
from partwright.pipeline.settings import RunSettings
from partwright.pipeline.spark_records import inspect_source, read_records
from partwright.pipeline.spark_session import explained_end, one_sentence, open_session, refused_by_spark
from partwright.pipeline.spark_targets import Placed, SparkTarget
from partwright.spark import classic
from partwright.spark.executors.archives import send_own_code

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from partwright.pipeline.context import Context
    from partwright.pipeline.ledger import RecordedRun
    from partwright.pipeline.report import Checks, Progress, Proof, RunStep
    from partwright.pipeline.spark_session import Session
    from partwright.pipeline.spark_targets import SparkTopic, TargetWriter
    from partwright.pipeline.targets import Wrote

# Spark splits files into tasks by these settings, and rows are numbered by task; the last one is by default the number
# of cores.
_SIZES = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
_LEAST = "spark.sql.files.minPartitionNum"
_LEAF = "spark.sql.leafNodeDefaultParallelism"


@dataclass(frozen=True)
class SparkRecords(ReadRecords):
    """The source's records; see `ReadRecords`.

    Attributes:
        placed: Every record with its key bytes and partition, task i holding partition i in source order; Spark keeps
            it.
    """

    placed: DataFrame


@dataclass(frozen=True)
class SparkRunner:
    """A run's Spark; see `Runner`."""

    session: Session
    java_pid: int | None
    proves = True

    @property
    def interrupted(self) -> list[int]:
        """See `Runner`."""
        return [*self.session.interrupted]

    @property
    def log(self) -> Path | None:
        """See `Runner`."""
        return self.session.log

    @property
    def steps(self) -> tuple[RunStep, ...]:
        """See `Runner`."""
        return self.session.steps

    def open(self, context: Context[SparkTarget], stack: ExitStack) -> SparkTarget:
        """See `Runner.open`."""
        spark = self.session.spark
        target = context.target.open(spark, in_transactions=context.settings.exactly_once)
        if context.settings.is_own_partitioner:
            send_own_code(spark, Path.cwd())
        stack.enter_context(cut_as(spark, context.earlier))
        return target

    def how(self, context: Context[SparkTarget]) -> str:
        """See `Runner.how`."""
        return _writer(context, context.target).how

    def read(self, context: Context[SparkTarget], stack: ExitStack) -> SparkRecords:
        """See `Runner.read`."""
        settings, spark = context.settings, self.session.spark
        with refused_by_spark(f"{context.source.name} cannot be read"):
            records = read_records(spark, context.source, settings, context.run)
            facts = source_facts(spark, records) if context.ledger is not None else None
            producers = records.rdd.getNumPartitions() if settings.is_by_strategy else None
            placed = placed_records(records, settings, context.n, context.cluster, spreads=context.spreads)
            # Spark keeps the records, so that an unreadable source is noticed before the first record is written, and
            # the check sees the same records as the write. However the run ends, it drops them: a resumed run would
            # read that instead of the source.
            placed.persist()
            stack.callback(_forget, placed)
            sums = sum_records(placed, context.n)
        return SparkRecords(sums, facts, producers, (), placed)

    def write(self, context: Context[SparkTarget], target: SparkTarget, read: SparkRecords) -> Wrote:
        """See `Runner.write`."""
        sums = read.sums
        placed = Placed(read.placed, context.mark, sums.records, sums.bytes, context.source.has_headers)
        return _writer(context, target).write(placed)

    def check(self, context: Context[SparkTarget], target: SparkTarget, read: SparkRecords) -> Checks:
        """See `Runner.check`."""
        committed = context.settings.exactly_once
        with refused_by_spark(f"{target} cannot be read back"):
            back = target.read(self.session.spark, committed=committed)
            return checks.check(read.placed, back, context.run, target.begin, markers=committed)

    def copies(self, context: Context[SparkTarget], target: SparkTarget) -> Iterator[tuple[int, int]]:
        """See `Runner.copies`."""
        back = target.read(self.session.spark, committed=context.settings.exactly_once)
        rows = checks.doubles(back, context.run).orderBy("partition", "offset").toLocalIterator()
        return ((row.partition, row.offset) for row in rows)

    def proof(self, context: Context[SparkTarget], read: SparkRecords) -> ProofResult:
        """See `Runner.proof`."""
        spark, placed = self.session.spark, read.placed
        topic = context.target.beside(proof_name(context))
        if topic is None:
            return ProofResult(None)
        why = context.settings.why_no_proof
        if why is None and classic.runs_tasks_twice(spark):
            why = (
                "Spark runs slow tasks a second time (spark.speculation=true), and its sink would write their records "
                "twice"
            )
        if why is not None:
            return no_proof(why)
        missing = unproven(context, read.sums.records)

        def write(prepared: SparkTopic) -> None:
            with refused_by_spark(f"{missing} written", "WRITE", prepared.topic):
                prepared.write(placed.drop("partition"))

        def compare(prepared: SparkTopic) -> Proof:
            with refused_by_spark(f"{missing} read back"):
                # Records that the client does not place have no partition to compare with.
                expected = placed.withColumn("partition", F.when(~F.col("unplaced"), F.col("partition")))
                return checks.compare(expected, prepared.read(spark), context.run)

        return java_proof(context, topic, write, compare)

    def explained(self, standing: Callable[[], str]) -> AbstractContextManager[None]:
        """See `Runner.explained`: for Spark's Java."""
        return explained_end(standing, self.session.interrupted, self.session.log)

    def sentence(self, error: BaseException, topic: str) -> str:
        """See `Runner.sentence`."""
        return one_sentence(error, "WRITE", topic)


def _writer(context: Context[SparkTarget], target: SparkTarget) -> TargetWriter:
    return target.writer(in_transactions=context.settings.exactly_once, goes_on=context.earlier is not None)


def _forget(placed: DataFrame) -> None:
    # Spark's Java may be gone.
    with contextlib.suppress(Exception):
        placed.unpersist()


@dataclass(frozen=True)
class SparkKind:
    """See `RunnerKind`.

    Attributes:
        spark: A session with Spark's Kafka connector, which is left running; None starts one for the run.
        master: Spark's master for that.
        configs: Its settings.
    """

    spark: SparkSession | None = None
    master: str = RunSettings.master
    configs: Mapping[str, str] = field(default_factory=dict)

    inspect = staticmethod(inspect_source)
    target_at = staticmethod(target_at)

    @contextlib.contextmanager
    def start(self, progress: Progress) -> Iterator[SparkRunner]:
        """See `RunnerKind.start`."""
        with open_session(self.spark, self.master, self.configs, progress) as session:
            yield SparkRunner(session, classic.java_pid())


@contextlib.contextmanager
def cut_as(spark: SparkSession, earlier: RecordedRun | None) -> Iterator[None]:
    """Make Spark split the source's files as it did when the run began, for example on a machine with more cores."""
    if earlier is None:
        yield
        return
    before: dict[str, str | None] = {name: spark.conf.get(name, None) for name in earlier.cut}
    for name, value in earlier.cut.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        # The session may be the caller's. If its Java is gone, somebody else reports that.
        with contextlib.suppress(Exception):
            for name, was in before.items():
                spark.conf.unset(name) if was is None else spark.conf.set(name, was)


def source_facts(spark: SparkSession, records: DataFrame) -> SourceFacts:
    """Describe the source as it is now.

    Args:
        spark: The session.
        records: What `read_records` gives.
    """
    parallelism = spark.conf.get(_LEAF, None) or str(spark.sparkContext.defaultParallelism)
    # Without a default here, Spark returns its own value for settings that nobody set.
    cut = {name: str(spark.conf.get(name)) for name in _SIZES}
    least: str | None = spark.conf.get(_LEAST, None)
    cut[_LEAST] = parallelism if least is None else least
    return SourceFacts(classic.file_facts(spark, records.inputFiles()), cut, records.rdd.getNumPartitions())
