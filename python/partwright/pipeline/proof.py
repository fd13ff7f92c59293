"""The proof: the same records again, in a topic of their own, where the Java producer chooses the partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from partwright._check import counted
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.errors import Meaning, meaning
from partwright.pipeline.report import timed
from partwright.pipeline.runner import ProofResult
from partwright.pipeline.targets import KafkaTopic, TargetState

if TYPE_CHECKING:
    from partwright.pipeline.context import Context
    from partwright.pipeline.journal import Journal
    from partwright.pipeline.report import Proof

T = TypeVar("T", bound=KafkaTopic)


def proof_name(context: Context[Any]) -> str:
    """The name of the proof's topic, which is deleted afterwards."""
    return f"{_prefix(context)}{context.run.hex()}"


def unproven(context: Context[Any], records: int) -> str:
    """That only the proof is missing, as the beginning of a sentence that ends with a participle."""
    return (
        f"the {counted(records, 'record is', 'records are')} written to {context.target} and checked, but the proof "
        "cannot be"
    )


def no_proof(why: str) -> ProofResult:
    """No proof, with a note that says why."""
    return ProofResult(None, (f"no proof by the Java producer: {why}",))


def java_proof(
    context: Context[Any], topic: T, write: Callable[[T], None], compare: Callable[[T], Proof]
) -> ProofResult:
    """Let the Java producer place the records, in a topic that is deleted afterwards, and compare.

    Args:
        context: The run, whose records are written and checked.
        topic: The topic, which `proof_name` names.
        write: Writes the records into the topic without a partition.
        compare: Compares what is there then.
    """

    def choices() -> T | BrokerError:
        """The topic with the producer's choices, or why it cannot be made."""
        try:
            prepared = topic.prepare(context.n, TargetState(), context.run, append=False)
        except BrokerError as error:
            return error
        write(prepared)
        return prepared

    context.journal.proof(topic.topic)
    try:
        choice_topic, choosing = timed(context.progress, "let the Java producer choose", choices)
        if isinstance(choice_topic, BrokerError):
            result = no_proof(_no_topic(context, choice_topic))._replace(steps=(choosing,))
        else:
            proof, comparing = timed(context.progress, "compare", lambda: compare(choice_topic))
            result = ProofResult(proof, (), (choosing, comparing))
    finally:
        left = _remove(topic, context.journal)
    if left is None or isinstance(choice_topic, BrokerError):
        context.journal.proof(None)
        return result
    return result._replace(notes=(f"the topic {topic.topic} of the proof is still there: {left}",))


def _prefix(context: Context[Any]) -> str:
    return f"{context.source.topic[:200]}.proof-"


def _no_topic(context: Context[Any], error: BrokerError) -> str:
    """Why the proof has no topic: a user may have the right to write to a topic but not to create one."""
    if meaning(error) is not Meaning.NO_RIGHT:
        return str(error)
    return (
        "this user has no rights on its topic: grant CREATE, READ, WRITE and DELETE on topics that begin with "
        f"{_prefix(context)} (kafka-acls.sh --resource-pattern-type prefixed), or leave it out with --no-proof"
    )


def _remove(topic: KafkaTopic, journal: Journal) -> PartwrightError | None:
    """Delete the proof's topic again; if that fails, the next run tries, and the error is returned."""
    try:
        topic.delete()
    except PartwrightError as error:
        return error
    journal.proof(None)
    return None
