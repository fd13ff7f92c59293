"""The main job: read, place, write, read back, check each record, and ask the Java producer for the same ones."""

from __future__ import annotations

import contextlib
import re
import secrets
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as F

from partwright import spark as pws
from partwright.cluster import Cluster
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.address import parse_kafka
from partwright.kafka.client import TOPIC_DENIED
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.partition_writer import Mark
from partwright.pipeline import checks
from partwright.pipeline.given import given
from partwright.pipeline.journal import journal_of, now_in_words
from partwright.pipeline.ledger import Plan, ledger_at
from partwright.pipeline.orphan import java_of_pid
from partwright.pipeline.parquet_target import ParquetFolders, parquet_folders
from partwright.pipeline.report import PartitionShare, Report, Step
from partwright.pipeline.resume import (
    asked_of,
    begun,
    cannot_go_on,
    cut_as,
    source_facts,
)
from partwright.pipeline.settings import STRIP_ID, KafkaTarget, ParquetTarget, RunSettings
from partwright.pipeline.source import find_source, key_bytes, read_records
from partwright.pipeline.spark_errors import one_sentence, refused_by_spark
from partwright.pipeline.spark_session import interrupts, own_spark
from partwright.pipeline.target_state import Look, arrived, number_of_partitions
from partwright.pipeline.targets import KafkaTopic
from partwright.pipeline.topic_source import what_was_read
from partwright.signals import Ended
from partwright.spark import classic
from partwright.spark.connector import refuse_second_tasks
from partwright.spark.continued import MARK, rest_of, rows_there
from partwright.spark.exactly_once import write_exactly_once
from partwright.spark.executors.own_code import send_own_code
from partwright.spark.layout import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from partwright.pipeline.given import Given
    from partwright.pipeline.journal import Journal
    from partwright.pipeline.ledger import Ledger
    from partwright.pipeline.resume import SourceFacts
    from partwright.pipeline.source import Source
    from partwright.pipeline.targets import Target

__all__ = ["Progress", "run"]

_ORDER = ("file", "row")


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
        ledger = _ledger(settings, target)
        plan = None
        if settings.resume and ledger is not None and isinstance(target, KafkaTopic):
            plan = begun(ledger, settings, source, target, first)
            if plan is None:
                notes.append(
                    f"no earlier run of {source.name} into {target} is known, so this one began anew"
                )
        if plan is not None:
            n = plan.n
            if plan.windows is not None:
                source = source.within(str(parse_kafka(str(settings.source))[1]), plan.windows)
        else:
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
        _prepare(spark, target, settings)
        with interrupts() as interrupted, cut_as(spark, plan):
            job = _Run(
                settings,
                source,
                target,
                first,
                n,
                cluster,
                spark,
                steps,
                journal,
                interrupted,
                notes,
                ledger,
                plan,
            )
            with _told_of_javas_end(job, interrupted, log):
                try:
                    report = job.report()
                finally:
                    job.forget()
    return replace(report, log=str(log) if log else None)


def _prepare(spark: SparkSession, target: Target, settings: RunSettings) -> None:
    """What a session needs before the run's first job."""
    if isinstance(target, ParquetFolders):
        target.open(spark)
    elif not settings.exactly_once:
        refuse_second_tasks(spark)
    if settings.is_own_partitioner:
        send_own_code(spark, Path.cwd())


def _ledger(settings: RunSettings, target: Target) -> Ledger | None:
    """Where the run is written down; None where nobody could go on with it."""
    if settings.target is None or not isinstance(target, KafkaTopic) or not settings.is_marked:
        return None
    # What the producer places has no place that a run could go on behind.
    return ledger_at(settings.state, target.config) if settings.null_keys == "spread" else None


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


def _with_null_keys(
    found: checks.Checks, given_to: tuple[PartitionShare, ...]
) -> tuple[checks.Checks, tuple[PartitionShare, ...]]:
    """Where the records are that the client does not place: known before, or found where the producer put them."""
    known = {part.partition: part.null_keys for part in given_to}
    there = {part.partition: part.null_keys for part in found.partitions}
    if None in known.values():
        return found, tuple(replace(part, null_keys=there.get(part.partition, 0)) for part in given_to)
    read = (
        part if part.partition is None else replace(part, null_keys=known.get(part.partition) or 0)
        for part in found.partitions
    )
    return replace(found, partitions=tuple(read)), given_to


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
        ledger: Ledger | None,
        plan: Plan | None,
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
        self.ledger = ledger
        # That of the run that this one goes on with.
        self.plan = plan
        self.run = secrets.token_bytes(8) if plan is None else bytes.fromhex(plan.run)
        self.notes = notes
        self.can_resume = plan is not None
        self.kept: DataFrame | None = None
        self.facts: SourceFacts | None = None
        self.already_there = 0
        self.producers: int | None = None
        # How many records there are to write, once that has begun, and whether it has ended.
        self.records: int | None = None
        self.all_written = False

    @property
    def mark(self) -> Mark:
        """The header of this run's records."""
        return Mark(MARK, self.run)

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
            summed = given(placed, self.n)
        if not summed.records:
            why = "no record with one of these keys" if self.settings.only_keys else "no records: it is empty"
            raise PartwrightError(f"{self.source.name} has {why}, nothing was written")
        if isinstance(self.target, ParquetFolders):
            self.target.run = self.run.hex()
        if self.plan is None:
            with self.steps("make the topic" if isinstance(self.target, KafkaTopic) else "make the folder"):
                self.target.prepare(self.n, self.first, append=self.settings.append)
        else:
            self.target.begin = self.plan.begin
        self._note(summed)
        if (
            self.source.format == "kafka"
            and isinstance(self.target, KafkaTopic)
            and not self.settings.exactly_once
        ):
            self.notes.append(
                "the records have the time of this run as their timestamps, because Spark's Kafka sink takes none: "
                "--exactly-once keeps those of the source"
            )
        with self.steps("write"):
            self._write(placed, summed)
        found = proof = None
        partitions = summed.partitions
        if self.settings.check:
            with self.steps("read back and check"), refused_by_spark(f"{self.target} cannot be read back"):
                found = checks.check(
                    placed,
                    self.target.read(self.spark, committed=self.settings.exactly_once),
                    self.run,
                    self.target.begin,
                    markers=self.settings.exactly_once,
                )
            self._name_doubles()
            found, partitions = _with_null_keys(found, summed.partitions)
            if self.target.partitions_now() in {None, self.n}:
                proof = self._proof(placed)
        n_now = self.target.partitions_now()
        placed_records = summed.records - summed.unplaced
        keyed = summed.with_key if self.settings.strategy_name not in {None, "key"} else placed_records
        return Report(
            source=self.source.name,
            target=str(self.settings.target or "embedded Kafka"),
            topic=self.source.topic,
            client=self.settings.client,
            strategy=self.settings.strategy_name,
            producers=self.producers,
            n=self.n,
            records=summed.records,
            keyed=keyed,
            null_keys=summed.records - keyed,
            keys=summed.keys,
            bytes=summed.bytes,
            largest_share=max(part.records for part in partitions) / placed_records
            if placed_records
            else 0.0,
            partitions=partitions,
            heaviest_keys=summed.heaviest_keys,
            steps=tuple(self.steps.taken),
            checks=found,
            proof=proof,
            n_now=n_now,
            read=what_was_read(self.source, self.settings, summed.records),
            notes=tuple(self.notes),
            already_there=self.already_there,
            exactly_once=self.settings.exactly_once,
            resumed=self.plan is not None,
            spreads_null_keys=self._spreads,
        )

    def _placed(self) -> DataFrame:
        """Every record with its key bytes and partition, task i holding partition i in source order; kept."""
        key_type = self.settings.source_key_type
        records = read_records(self.spark, self.source, self.settings, self.run)
        if self.ledger is not None:
            self.facts = source_facts(self.spark, records)
        if self.settings.is_by_strategy:
            placed = self._by_strategy(records)
        else:
            placed = pws.with_partition(records, "id", self.n, self.settings.client, key_type)
        # What neither a strategy nor the client places is spread evenly, by its place in the source.
        placed = placed.withColumn("unplaced", F.col("partition").isNull())
        if self._spreads:
            by_place = F.pmod(F.xxhash64(*_ORDER), F.lit(self.n)).cast("int")
            placed = placed.withColumn("partition", F.coalesce("partition", by_place))
        placed = laid_out(placed, records, self.n, [F.col(name) for name in _ORDER])
        # Kept, so that a source which cannot be read to its end is noticed before the first record is written, and so
        # that what is checked is what was written.
        self.kept = placed.withColumn("key", key_bytes("id", placed, key_type)).drop("id").persist()
        return self.kept

    def forget(self) -> None:
        """Has Spark drop what was kept, however the run ended: who goes on with it would read that, not the source."""
        if self.kept is not None:
            # Spark's Java may be gone.
            with contextlib.suppress(Exception):
                self.kept.unpersist()

    @property
    def _spreads(self) -> bool:
        """Whether records that the client does not place by their key get a partition here all the same."""
        return self.settings.null_keys == "spread" and isinstance(self.target, KafkaTopic)

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
            order_by=list(_ORDER),
            seed=self.settings.seed,
            configs=self.settings.properties,
            partition="named" if self.settings.partition is not None else None,
            field="field" if self.settings.field is not None else None,
            cluster=self.cluster,
        )
        return placed.drop("named", "field")

    def _note(self, summed: Given) -> None:
        """Writes the run down before its first record, or finds that the one it goes on with was another one."""
        if self.ledger is None or self.facts is None or not isinstance(self.target, KafkaTopic):
            return
        plan = Plan(
            run=self.run.hex(),
            topic=self.source.topic,
            topic_id=self.target.topic_id(),
            source=self.source.identity,
            began=self.plan.began if self.plan else now_in_words(),
            n=self.n,
            asked=asked_of(self.settings, self.source),
            files=self.facts.files,
            windows=self.source.windows,
            cut=self.facts.cut,
            tasks=self.facts.tasks,
            records=summed.records,
            digest=summed.digest,
            begin=self.target.begin,
            exactly_once=self.settings.exactly_once,
        )
        if self.plan is not None:
            if changed := self.plan.changed(plan):
                raise cannot_go_on(self.plan, changed)
            return
        try:
            self.ledger.write(plan)
        except BrokerError as error:
            # Who may write to one topic may not always make another; where nobody answers, there is no use to go on.
            if error.value is None:
                raise
            self.notes.append(
                f"--resume could not have gone on with this run, because its ledger could not be written ({error}): "
                "--state FOLDER keeps it elsewhere"
            )
            return
        self.can_resume = True

    def _writes(self, placed: DataFrame, summed: Given) -> None:
        """By one of the two writers, what is not there yet."""
        if self.settings.exactly_once and isinstance(self.target, KafkaTopic):
            done = write_exactly_once(
                # Of a file's records the mark is the only header, and the writer makes it.
                placed if self.source.format == "kafka" else placed.drop("headers"),
                self.target.config,
                self.target.topic,
                self.target.begin,
                self.mark,
                summed.bytes / summed.records,
            )
            self.already_there = done.already_there if self.plan else 0
        elif self.plan is not None and isinstance(self.target, KafkaTopic):
            there = rows_there(self.target.config, self.target.topic, self.target.begin, self.mark)
            rest = rest_of(placed, there, self.target.config, self.target.topic, self.mark)
            self.already_there = rest.already_there
            if rest.late:
                self.notes.append(
                    f"{rest.late:,} records were missing before the last ones in their partitions, as a delivery that "
                    "timed out leaves them: they were written now, so keys of theirs may be out of order "
                    "(--exactly-once leaves none out)"
                )
            if self.already_there < summed.records:
                self.target.write(rest.rows)
        else:
            self.target.write(placed)

    def _name_doubles(self) -> None:
        """Writes the offsets of copies beyond each record's first, where somebody asked for them."""
        if self.settings.dedupe is None:
            return
        read = self.target.read(self.spark, committed=self.settings.exactly_once)
        rows = checks.doubles(read, self.run).orderBy("partition", "offset").toLocalIterator()
        try:
            with Path(self.settings.dedupe).open("w", encoding="utf-8") as file:
                file.write("partition,offset\n")
                file.writelines(f"{row.partition},{row.offset}\n" for row in rows)
        except OSError as error:
            raise PartwrightError(f"{self.settings.dedupe!r} cannot be written: {error.strerror}") from None

    def _write(self, placed: DataFrame, summed: Given) -> None:
        records = summed.records
        java = java_of_pid(classic.java_pid()) if isinstance(self.target, KafkaTopic) else None
        self.journal.begin(self.run.hex(), records, java)
        self.records = records
        try:
            self._writes(placed, summed)
        except (Exception, KeyboardInterrupt) as error:
            if self.interrupted or isinstance(error, KeyboardInterrupt):
                said = f"interrupted while writing to {self.target}: {self._written(records)}{self._how_to_go_on()}"
                raise Ended(self.interrupted[0] if self.interrupted else signal.SIGINT, said) from None
            why = one_sentence(error, "WRITE", self.source.topic)
            said = f"writing to {self.target} stopped: {why}; {self._written(records)}{self._how_to_go_on()}"
            raise PartwrightError(said) from error
        self.all_written = True
        self.journal.finish()

    def _how_to_go_on(self) -> str:
        return "; add --resume to go on" if self.can_resume else ""

    def _written(self, records: int) -> str:
        """What is and what is not written, in words."""
        written = self.target.written()
        if written is None:
            return (
                f"how many of the {records:,} records arrived is not known, for the broker does not answer: the next "
                "run looks before it writes"
            )
        if self.settings.exactly_once:
            # Marks of transactions, and what was aborted, have offsets too.
            return f"at most {min(records, sum(written.values())):,} of {records:,} records are committed, each once"
        # On one machine Spark tries a task again only where its master says how often, as local[2,4] does.
        return arrived(written, records, re.fullmatch(r"local(\[[^,]*\])?", self.settings.master) is None)

    def _proof(self, placed: DataFrame) -> checks.Proof | None:
        """The same records to a topic of their own, without a partition: the Java producer chooses."""
        if not self.settings.proof or not isinstance(self.target, KafkaTopic):
            return None
        if why := self._no_proof:
            self.notes.append(f"no proof by the Java producer: {why}")
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
                # What the client does not place has no partition that a producer could agree with.
                asked = placed.withColumn("partition", F.when(~F.col("unplaced"), F.col("partition")))
                return checks.compare(asked, topic.read(self.spark), self.run)
        finally:
            self._remove(topic)

    @property
    def _no_proof(self) -> str | None:
        """Why it would prove nothing; None where it does."""
        if self.settings.key_type == STRIP_ID:
            return "it hashes a schema registry's header too"
        if self.settings.chooses_for_keys:
            return "it was not told what chooses the partitions of records with keys here"
        if not self.settings.agrees_with_java:
            return f"client {self.settings.client} puts keys elsewhere"
        if classic.runs_tasks_twice(self.spark):
            return (
                "Spark runs slow tasks a second time (spark.speculation=true), and its sink would write their records "
                "twice"
            )
        return None

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
