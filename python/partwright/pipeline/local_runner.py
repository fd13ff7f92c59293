"""This process as the runner: no Spark, one reader and one writer; only the proof takes a Java."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.kafka.java_producer import JavaProducer, started_producer
from partwright.pipeline import local_checks
from partwright.pipeline.local_folders import target_at
from partwright.pipeline.local_placing import placed_records
from partwright.pipeline.local_records import file_facts, inspect_source
from partwright.pipeline.local_targets import LocalTarget
from partwright.pipeline.proof import java_proof, no_proof, proof_name
from partwright.pipeline.resume import SourceFacts
from partwright.pipeline.runner import ProofResult, ReadRecords
from partwright.signals import Ended, handled

if TYPE_CHECKING:
    from partwright.pipeline.context import Context
    from partwright.pipeline.local_placing import KeptRecords
    from partwright.pipeline.local_targets import LocalTopic
    from partwright.pipeline.report import Checks, Progress, Proof, RunStep
    from partwright.pipeline.targets import Wrote


_LEFT_OUT = "; --no-proof leaves it out"


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

    def open(self, context: Context[LocalTarget], stack: ExitStack) -> LocalTarget:
        """See `Runner.open`."""
        del stack
        return context.target

    def how(self, context: Context[LocalTarget]) -> str:
        """See `Runner.how`."""
        return context.target.how(context)

    def read(self, context: Context[LocalTarget], stack: ExitStack) -> LocalRecords:
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

    def write(self, context: Context[LocalTarget], target: LocalTarget, read: LocalRecords) -> Wrote:
        """See `Runner.write`."""
        return target.write(context, read.kept)

    def check(self, context: Context[LocalTarget], target: LocalTarget, read: LocalRecords) -> Checks:
        """See `Runner.check`."""
        committed = context.settings.exactly_once
        back = functools.partial(target.read, context.mark, committed=committed)
        return local_checks.check(read.kept, back, target.begin, markers=committed)

    def copies(self, context: Context[LocalTarget], target: LocalTarget) -> Iterator[tuple[int, int]]:
        """See `Runner.copies`."""
        back = target.read(context.mark, committed=context.settings.exactly_once)
        return iter(local_checks.copies(back))

    def proof(self, context: Context[LocalTarget], read: LocalRecords) -> ProofResult:
        """See `Runner.proof`."""
        topic, java = context.target.beside(proof_name(context)), read.producer
        if topic is None or java is None:
            return ProofResult(None)
        if isinstance(java, str):
            return no_proof(java)
        if (why := java.why_not()) is not None:
            return no_proof(f"{why}{_LEFT_OUT}")

        def write(prepared: LocalTopic) -> None:
            java.send(prepared.topic, local_checks.keyed_marks(read.kept, context.mark))

        def compare(prepared: LocalTopic) -> Proof:
            read_back = prepared.read(context.mark, committed=False)
            return local_checks.compare(read.kept, read_back, read.sums.records)

        return java_proof(context, topic, write, compare)

    def explained(self, standing: Callable[[], str]) -> AbstractContextManager[None]:
        """See `Runner.explained`: this process says itself how it ends."""
        del standing
        return contextlib.nullcontext()

    def sentence(self, error: BaseException, topic: str) -> str:
        """See `Runner.sentence`."""
        del topic
        return str(error) if isinstance(error, PartwrightError) else first_line(error)


def _java_producer(context: Context[LocalTarget], stack: ExitStack) -> JavaProducer | str | None:
    """The Java producer, which starts while the records are read; or why there is none."""
    settings = context.settings
    topic = context.target.beside(proof_name(context))
    if topic is None or not (settings.check and settings.proof) or settings.why_no_proof is not None:
        return settings.why_no_proof
    try:
        return stack.enter_context(started_producer(topic.config))
    except PartwrightError as error:
        return f"{error}{_LEFT_OUT}"


class LocalKind:
    """See `RunnerKind`."""

    inspect = staticmethod(inspect_source)
    target_at = staticmethod(target_at)

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
