"""The proof: the same records again, in a topic of their own, where the Java producer chooses the partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from partwright._check import counted
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.errors import Meaning, meaning
from partwright.pipeline import checks
from partwright.pipeline.report import timed
from partwright.pipeline.runner import ProofResult
from partwright.pipeline.spark_session import refused_by_spark
from partwright.pipeline.targets import TargetState
from partwright.spark import classic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from partwright.pipeline.context import Context
    from partwright.pipeline.journal import Journal
    from partwright.pipeline.report import Proof
    from partwright.pipeline.spark_targets import SparkTarget, SparkTopic


_NONE = "no proof by the Java producer"


def java_proof(context: Context[SparkTarget], placed: DataFrame, records: int) -> ProofResult:
    """Let the Java producer place the records, in a topic that is deleted afterwards, and compare.

    Args:
        context: The run, whose records are written and checked.
        placed: As for `checks.compare`, with `unplaced`: whether the client does not place the record by its key.
        records: How many records there are.
    """
    proofs = f"{context.source.topic[:200]}.proof-"
    topic = context.target.beside(f"{proofs}{context.run.hex()}")
    if topic is None:
        return ProofResult(None)
    why = context.settings.why_no_proof
    if why is None and classic.runs_tasks_twice(placed.sparkSession):
        why = (
            "Spark runs slow tasks a second time (spark.speculation=true), and its sink would write their records "
            "twice"
        )
    if why is not None:
        return ProofResult(None, (f"{_NONE}: {why}",))
    done = (
        f"the {counted(records, 'record is', 'records are')} written to {context.target} and checked, but the proof "
        "cannot be"
    )

    def choices() -> SparkTopic | BrokerError:
        """The topic with the producer's choices, or why it cannot be made."""
        try:
            prepared = topic.prepare(context.n, TargetState(), context.run, append=False)
        except BrokerError as error:
            return error
        with refused_by_spark(f"{done} written", "WRITE", topic.topic):
            prepared.write(placed.drop("partition"))
        return prepared

    def compared(choice_topic: SparkTopic) -> Proof:
        with refused_by_spark(f"{done} read back"):
            # Records that the client does not place have no partition to compare with.
            expected = placed.withColumn("partition", F.when(~F.col("unplaced"), F.col("partition")))
            return checks.compare(expected, choice_topic.read(placed.sparkSession), context.run)

    context.journal.proof(topic.topic)
    try:
        choice_topic, choosing = timed(context.progress, "let the Java producer choose", choices)
        if isinstance(choice_topic, BrokerError):
            result = ProofResult(None, (_no_topic(choice_topic, proofs),), (choosing,))
        else:
            proof, comparing = timed(context.progress, "compare", lambda: compared(choice_topic))
            result = ProofResult(proof, (), (choosing, comparing))
    finally:
        left = _remove(topic, context.journal)
    if left is None or isinstance(choice_topic, BrokerError):
        context.journal.proof(None)
        return result
    return result._replace(notes=(f"the topic {topic.topic} of the proof is still there: {left}",))


def _no_topic(error: BrokerError, proofs: str) -> str:
    """Why the proof has no topic: a user may have the right to write to a topic but not to create one."""
    rights = (
        "this user has no rights on its topic: grant CREATE, READ, WRITE and DELETE on topics that begin with "
        f"{proofs} (kafka-acls.sh --resource-pattern-type prefixed), or leave it out with --no-proof"
    )
    return f"{_NONE}: {rights if meaning(error) is Meaning.NO_RIGHT else error}"


def _remove(topic: SparkTopic, journal: Journal) -> PartwrightError | None:
    """Delete the proof's topic again; if that fails, the next run tries, and the error is returned."""
    try:
        topic.delete()
    except PartwrightError as error:
        return error
    journal.proof(None)
    return None
