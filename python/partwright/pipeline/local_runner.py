"""This process as the runner: no Spark and no Java, one reader and one producer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.kafka.java_producer import JavaProducer, started_producer
from partwright.pipeline import local_checks, local_writing
from partwright.pipeline.local_placing import placed_records
from partwright.pipeline.local_records import file_facts, inspect_source
from partwright.pipeline.proof import java_proof, no_proof, proof_name
from partwright.pipeline.resume import SourceFacts
from partwright.pipeline.runner import ReadRecords
from partwright.pipeline.targets import KafkaTopic
from partwright.signals import Ended, handled

if TYPE_CHECKING:
    from partwright.kafka.topics import NewTopic
    from partwright.pipeline.context import Context
    from partwright.pipeline.local_placing import KeptRecords
    from partwright.pipeline.report import Checks, Progress, Proof, RunStep
    from partwright.pipeline.runner import ProofResult
    from partwright.pipeline.settings import KafkaTarget, ParquetTarget, PlacementRule
    from partwright.pipeline.targets import Wrote


@dataclass(frozen=True)
class LocalRecords(ReadRecords):
    """The source's records; see `ReadRecords`.

    Attributes:
        kept: Every record with its key bytes and partition, in the source's order.
        producer: The Java producer for the proof, or why there is none; None if nobody asked for a proof.
    """

    kept: KeptRecords
    producer: JavaProducer | str | None


@dataclass(frozen=True)
class LocalRunner:
    """See `Runner`."""

    interrupted: list[int] = field(default_factory=list)
    log: Path | None = None
    steps: tuple[RunStep, ...] = ()
    java_pid: int | None = None
    proves: bool = True

    def open(self, context: Context[KafkaTopic], stack: ExitStack) -> KafkaTopic:
        """See `Runner.open`."""
        del stack
        return context.target

    def how(self, context: Context[KafkaTopic]) -> str:
        """See `Runner.how`."""
        what = "what is missing, " if context.earlier is not None else ""
        return f"{what}{'in transactions' if context.settings.exactly_once else 'by one producer'}"

    def read(self, context: Context[KafkaTopic], stack: ExitStack) -> LocalRecords:
        """See `Runner.read`."""
        producer = _java_producer(context, stack)
        facts = SourceFacts(file_facts(context.source), {}, 1) if context.ledger is not None else None
        placed = placed_records(context, stack)
        producers = 1 if context.settings.is_by_strategy else None
        notes = (
            ("there are so many different keys that their numbers are estimates",)
            if placed.is_estimate
            else ()
        )
        return LocalRecords(placed.sums, facts, producers, notes, placed.kept, producer)

    def write(self, context: Context[KafkaTopic], target: KafkaTopic, read: LocalRecords) -> Wrote:
        """See `Runner.write`."""
        settings = context.settings
        return local_writing.write(
            target,
            read.kept,
            context.mark if settings.is_marked else None,
            in_transactions=settings.exactly_once,
            goes_on=context.earlier is not None,
        )

    def check(self, context: Context[KafkaTopic], target: KafkaTopic, read: LocalRecords) -> Checks:
        """See `Runner.check`."""
        return local_checks.check(target, read.kept, context.mark, committed=context.settings.exactly_once)

    def copies(self, context: Context[KafkaTopic], target: KafkaTopic) -> Iterator[tuple[int, int]]:
        """See `Runner.copies`."""
        return iter(local_checks.copies(target, context.mark, committed=context.settings.exactly_once))

    def proof(self, context: Context[KafkaTopic], read: LocalRecords) -> ProofResult:
        """See `Runner.proof`."""
        java = read.producer
        why = java.why_not() if isinstance(java, JavaProducer) else java
        if not isinstance(java, JavaProducer) or why is not None:
            return no_proof(f"{why}; --no-proof leaves it out")

        def write(prepared: KafkaTopic) -> None:
            java.send(prepared.topic, local_checks.keyed_marks(read.kept, context.mark))

        def compare(prepared: KafkaTopic) -> Proof:
            return local_checks.compare(prepared, read.kept, context.mark, read.sums.records)

        return java_proof(context, context.target.beside(proof_name(context)), write, compare)

    def explained(self, standing: Callable[[], str]) -> AbstractContextManager[None]:
        """See `Runner.explained`: this process says itself how it ends."""
        del standing
        return contextlib.nullcontext()

    def sentence(self, error: BaseException, topic: str) -> str:
        """See `Runner.sentence`."""
        del topic
        return str(error) if isinstance(error, PartwrightError) else first_line(error)


def _java_producer(context: Context[KafkaTopic], stack: ExitStack) -> JavaProducer | str | None:
    """The Java producer, which starts while the records are read; or why there is none."""
    settings = context.settings
    if not (settings.check and settings.proof) or settings.why_no_proof is not None:
        return settings.why_no_proof
    try:
        return stack.enter_context(started_producer(context.target.config))
    except PartwrightError as error:
        return str(error)


class LocalKind:
    """See `RunnerKind`."""

    inspect = staticmethod(inspect_source)

    def target_at(
        self, to: KafkaTarget | ParquetTarget, topic: str, new_topic: NewTopic, rule: PlacementRule
    ) -> KafkaTopic:
        """See `RunnerKind.target_at`."""
        del rule
        if to.config is None:
            raise RuntimeError(f"{to} is no Kafka, which the settings have refused")
        return KafkaTopic(to.config, topic, new_topic)

    @contextlib.contextmanager
    def start(self, progress: Progress) -> Iterator[LocalRunner]:
        """See `RunnerKind.start`."""
        del progress
        runner = LocalRunner()

        def noted(number: int, frame: FrameType | None) -> None:
            del frame
            is_first = not runner.interrupted
            runner.interrupted.append(number)
            # A closed terminal sends one signal, and so may its shell; what is written is told only once.
            if is_first:
                raise Ended(number)

        with handled(noted):
            yield runner
