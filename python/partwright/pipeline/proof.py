"""The proof: the same records again, in a topic of their own, where the Java producer chooses the partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from partwright._check import counted
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.errors import Meaning, meaning
from partwright.pipeline import checks
from partwright.pipeline.settings import STRIP_ID
from partwright.pipeline.spark_errors import refused_by_spark
from partwright.pipeline.target_state import Look
from partwright.pipeline.targets import KafkaTopic
from partwright.spark import classic

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from partwright.pipeline.journal import Journal
    from partwright.pipeline.settings import RunSettings

__all__ = ["JavaProof"]


@dataclass(frozen=True)
class JavaProof:
    """What one run needs for its proof.

    Attributes:
        settings: What the run was asked to do.
        target: Where it wrote.
        run: The 8 bytes of its ID, which its records' header names.
        n: How many partitions it wrote to.
        steps: Is told of each step.
        journal: Remembers the proof's topic while it exists.
        notes: Gets the reason if there is no proof.
    """

    settings: RunSettings
    target: KafkaTopic
    run: bytes
    n: int
    steps: Callable[[str], AbstractContextManager[None]]
    journal: Journal
    notes: list[str]

    def of(self, placed: DataFrame, records: int) -> checks.Proof | None:
        """Let the Java producer place the records, and compare.

        Args:
            placed: As for `checks.compare`, with `unplaced`: whether the client does not place the record by its key.
            records: How many records there are.

        Returns:
            The proof; None if it would prove nothing, or has no topic.
        """
        if why := self._no_proof(placed.sparkSession):
            self.notes.append(f"no proof by the Java producer: {why}")
            return None
        takes_the_same = self.settings.new_topic.for_same_records()
        topic = KafkaTopic(self.target.config, f"{self._proofs}{self.run.hex()}", takes_the_same)
        self.journal.proof(topic.topic)
        done = (
            f"the {counted(records, 'record is', 'records are')} written to {self.target} and checked, but "
            "the proof cannot be"
        )
        try:
            with self.steps("let the Java producer choose"):
                if not self._makes(topic):
                    return None
                with refused_by_spark(f"{done} written", "WRITE", topic.topic):
                    topic.write(placed.drop("partition"))
            with self.steps("compare"), refused_by_spark(f"{done} read back"):
                # Records that the client does not place have no partition to compare with.
                asked = placed.withColumn("partition", F.when(~F.col("unplaced"), F.col("partition")))
                return checks.compare(asked, topic.read(placed.sparkSession), self.run)
        finally:
            self._remove(topic)

    def _no_proof(self, spark: SparkSession) -> str | None:
        """Why it would prove nothing; None if it proves something."""
        if self.settings.key_type == STRIP_ID:
            return "it hashes a schema registry's header too"
        if self.settings.chooses_for_keys:
            return "it was not told what chooses the partitions of records with keys here"
        if not self.settings.agrees_with_java:
            return f"client {self.settings.client} puts keys elsewhere"
        if classic.runs_tasks_twice(spark):
            return (
                "Spark runs slow tasks a second time (spark.speculation=true), and its sink would write their records "
                "twice"
            )
        return None

    @property
    def _proofs(self) -> str:
        """How the names of the proofs' topics begin."""
        return f"{self.target.topic[:200]}.proof-"

    def _makes(self, topic: KafkaTopic) -> bool:
        """Whether the proof gets its topic: a user may have the right to write to a topic but not to create one."""
        try:
            topic.prepare(self.n, Look(), append=False)
        except BrokerError as error:
            rights = (
                "this user has no rights on its topic: grant CREATE, READ, WRITE and DELETE on topics that begin with "
                f"{self._proofs} (kafka-acls.sh --resource-pattern-type prefixed), or leave it out with --no-proof"
            )
            self.notes.append(
                f"no proof by the Java producer: {rights if meaning(error) is Meaning.NO_RIGHT else error}"
            )
            return False
        return True

    def _remove(self, topic: KafkaTopic) -> None:
        """Delete the proof's topic again; if that fails, the next run tries."""
        try:
            topic.delete()
        except PartwrightError as error:
            # Without a beginning it was never created.
            if topic.begin:
                self.notes.append(f"the topic {topic.topic} of the proof is still there: {error}")
                return
        self.journal.proof(None)
