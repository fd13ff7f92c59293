"""A run: read, place, write, read back, check each record, and let the Java producer place the same ones."""

from __future__ import annotations

import contextlib
import re
import secrets
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from partwright._check import all_of, counted
from partwright.cluster import Cluster
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.address import parse_kafka
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.marks import MARK, Mark
from partwright.pipeline import checks
from partwright.pipeline.given import given
from partwright.pipeline.journal import journal_of, now_in_words
from partwright.pipeline.ledger import Plan, ledger_at
from partwright.pipeline.orphan import java_of_pid
from partwright.pipeline.parquet_target import ParquetFolders, parquet_folders
from partwright.pipeline.placing import placed_records
from partwright.pipeline.proof import JavaProof
from partwright.pipeline.report import PartitionShare, Report
from partwright.pipeline.resume import (
    asked_of,
    begun,
    cannot_go_on,
    cut_as,
    source_facts,
)
from partwright.pipeline.settings import KafkaTarget, ParquetTarget, RunSettings
from partwright.pipeline.source import find_source, read_records
from partwright.pipeline.spark_errors import explained_end, one_sentence, refused_by_spark
from partwright.pipeline.spark_session import interrupts, own_spark
from partwright.pipeline.steps import Steps
from partwright.pipeline.target_state import Look, arrived, number_of_partitions
from partwright.pipeline.targets import KafkaTopic
from partwright.pipeline.topic_source import what_was_read
from partwright.signals import Ended
from partwright.spark import classic
from partwright.spark.connector import refuse_second_tasks
from partwright.spark.continued import rest_of, rows_there
from partwright.spark.exactly_once import write_exactly_once
from partwright.spark.executors.own_code import send_own_code

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from partwright.pipeline.given import Given
    from partwright.pipeline.journal import Journal
    from partwright.pipeline.ledger import Ledger
    from partwright.pipeline.resume import SourceFacts
    from partwright.pipeline.source import Source
    from partwright.pipeline.steps import Progress
    from partwright.pipeline.targets import Target

__all__ = ["run"]


def run(settings: RunSettings, progress: Progress, spark: SparkSession | None = None) -> Report:
    """Do one run.

    Args:
        settings: What to do.
        progress: Is told of each step.
        spark: A session with Spark's Kafka connector, which is left running; by default the run starts its own.

    Returns:
        The report; its `ok` is False if a record is not where it belongs.

    Raises:
        PartwrightError: One sentence that says what is wrong with a source, a key, a topic or a broker, or what is and
            is not written if the write stopped.
    """
    steps = Steps(progress)
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
            with explained_end(job.standing, interrupted, log):
                try:
                    report = job.report()
                except BrokerError as error:
                    # The error of the write itself says how far it is.
                    if not job.all_written:
                        raise
                    raise BrokerError(
                        f"{error}; this happened {job.standing()}", value=error.value
                    ) from error
                finally:
                    job.forget()
    return replace(report, log=str(log) if log else None)


def _prepare(spark: SparkSession, target: Target, settings: RunSettings) -> None:
    """Prepare a session for the run's first job."""
    if isinstance(target, ParquetFolders):
        target.open(spark)
    elif not settings.exactly_once:
        refuse_second_tasks(spark)
    if settings.is_own_partitioner:
        send_own_code(spark, Path.cwd())


def _ledger(settings: RunSettings, target: Target) -> Ledger | None:
    """The ledger that records the run; None if nobody could resume it."""
    if settings.target is None or not isinstance(target, KafkaTopic) or not settings.is_marked:
        return None
    # Nobody knows where the producer puts its records, so such a run cannot be resumed.
    return ledger_at(settings.state, target.config) if settings.null_keys == "spread" else None


def _cleaned(target: Target, journal: Journal, steps: Steps) -> list[str]:
    """Remove the topic that a killed run's proof left behind; returns notes about it."""
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
            # A user may have the right to write to a topic but not to delete one; the run goes on without.
            return [*notes, f"{left} cannot be removed ({error}): delete it"]
        notes.append(f"{left} was removed")
    journal.proof(None)
    return notes


def _cluster(target: Target, settings: RunSettings, topic: str, n: int) -> Cluster | None:
    """Where the partitions are, in the order in which Java's producer sees them; new ones count as having a leader.

    None if no strategy looks at it.
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


def _with_null_keys(
    found: checks.Checks, given_to: tuple[PartitionShare, ...]
) -> tuple[checks.Checks, tuple[PartitionShare, ...]]:
    """Add where the records are that the client does not place: known before, or found after the producer chose."""
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
        steps: Steps,
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
        # The plan of the run that this one resumes.
        self.plan = plan
        self.run = secrets.token_bytes(8) if plan is None else bytes.fromhex(plan.run)
        self.notes = notes
        self.can_resume = plan is not None
        self.kept: DataFrame | None = None
        self.facts: SourceFacts | None = None
        self.already_there = 0
        self.producers: int | None = None
        # How many records there are to write, once writing has begun, and whether it has ended.
        self.records: int | None = None
        self.all_written = False

    @property
    def mark(self) -> Mark:
        """The header of this run's records."""
        return Mark(MARK, self.run)

    def standing(self) -> str:
        """How far the run is, in words."""
        if self.records is None:
            return f"before it wrote anything to {self.target}{self._how_to_go_on()}"
        if self.all_written:
            return (
                f"after {all_of(self.records, 'record was', 'records were')} written to {self.target}: what "
                f"followed was not done{self._how_to_go_on()}"
            )
        return f"while it wrote to {self.target}: {self._written(self.records)}{self._how_to_go_on()}"

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
        elif isinstance(self.target, KafkaTopic):
            self.target.begin_at(self.plan.begin)
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
                    mixed=isinstance(self.target, KafkaTopic) and not self._spreads,
                )
            self._name_doubles()
            found, partitions = _with_null_keys(found, summed.partitions)
            if self.target.partitions_now() in {None, self.n}:
                proof = self._proof(placed, summed.records)
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
            is_marked=self.settings.is_marked,
        )

    def _placed(self) -> DataFrame:
        """Every record with its key bytes and partition, task i holding partition i in source order; Spark keeps it."""
        records = read_records(self.spark, self.source, self.settings, self.run)
        if self.ledger is not None:
            self.facts = source_facts(self.spark, records)
        if self.settings.is_by_strategy:
            self.producers = records.rdd.getNumPartitions()
        placed = placed_records(records, self.settings, self.n, self.cluster, spreads=self._spreads)
        # Spark keeps the records, so that an unreadable source is noticed before the first record is written, and the
        # check sees the same records as the write.
        self.kept = placed.persist()
        return self.kept

    def forget(self) -> None:
        """Let Spark drop what it kept, however the run ended: a resumed run would read that instead of the source."""
        if self.kept is not None:
            # Spark's Java may be gone.
            with contextlib.suppress(Exception):
                self.kept.unpersist()

    @property
    def _spreads(self) -> bool:
        """Whether records that the client does not place by their key get a partition here too."""
        return self.settings.null_keys == "spread" and isinstance(self.target, KafkaTopic)

    def _note(self, summed: Given) -> None:
        """Record the run before its first record, or find that the run to resume was another one."""
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
            # A user may have the right to write to one topic but not to create another. If no broker answers, going on
            # makes no sense.
            if error.value is None:
                raise
            self.notes.append(
                f"--resume could not have gone on with this run, because its ledger could not be written ({error}): "
                "--state FOLDER keeps it elsewhere"
            )
            return
        self.can_resume = True

    def _writes(self, placed: DataFrame, summed: Given) -> None:
        """Write what is not there yet, with one of the two writers."""
        if self.settings.exactly_once and isinstance(self.target, KafkaTopic):
            done = write_exactly_once(
                # A file's records have no header but the mark, which the writer adds.
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
                    f"{counted(rest.late, 'record was', 'records were')} missing before the last ones in their "
                    f"partitions, as a delivery that "
                    "timed out leaves them: they were written now, so keys of theirs may be out of order "
                    "(--exactly-once leaves none out)"
                )
            if self.already_there < summed.records:
                self.target.write(rest.rows)
        else:
            self.target.write(placed)

    def _name_doubles(self) -> None:
        """Write the offsets of copies beyond each record's first, if asked for."""
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
        if isinstance(self.target, KafkaTopic) and self.target.is_gone():
            return (
                "; the topic was deleted meanwhile, with all that was in it: if there is one of its name again, delete "
                "that too, and then run again"
            )
        return "; add --resume to go on" if self.can_resume else ""

    def _written(self, records: int) -> str:
        """What is and what is not written, in words."""
        written = self.target.written()
        if written is None:
            return (
                f"how many of the {counted(records, 'record')} arrived is not known, for the broker does not "
                f"answer: the next "
                "run looks before it writes"
            )
        if self.settings.exactly_once:
            # Transaction markers and aborted records have offsets too.
            whole = f"of {counted(records, 'record')}"
            committed = min(records, sum(written.values()))
            return f"at most {counted(committed, f'{whole} is', f'{whole} are')} committed, each once"
        # On one machine, Spark retries a task only if its master says how often, as local[2,4] does.
        return arrived(written, records, re.fullmatch(r"local(\[[^,]*\])?", self.settings.master) is None)

    def _proof(self, placed: DataFrame, records: int) -> checks.Proof | None:
        if not self.settings.proof or not isinstance(self.target, KafkaTopic):
            return None
        proof = JavaProof(self.settings, self.target, self.run, self.n, self.steps, self.journal, self.notes)
        return proof.of(placed, records)
