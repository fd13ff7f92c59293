"""What does the work of a run: Spark, or this process. The steps are the same with each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from partwright.pipeline.targets import Target

if TYPE_CHECKING:
    from pathlib import Path

    from partwright.kafka.topics import NewTopic
    from partwright.pipeline.context import Context
    from partwright.pipeline.report import Checks, Progress, Proof, RecordSums, RunStep
    from partwright.pipeline.resume import SourceFacts
    from partwright.pipeline.settings import KafkaTarget, ParquetTarget, PlacementRule, RunSettings
    from partwright.pipeline.source import Source
    from partwright.pipeline.targets import Wrote


@dataclass(frozen=True)
class ReadRecords:
    """The source's records, read and placed; a runner's own class holds them.

    Attributes:
        sums: Their sums.
        facts: What shows whether the source changes; None if nobody could resume the run.
        producers: How many producers placed records; None without a strategy.
        notes: What the report is to say about them, a sentence each.
    """

    sums: RecordSums
    facts: SourceFacts | None
    producers: int | None
    notes: tuple[str, ...]


class ProofResult(NamedTuple):
    """The proof; None if there is none, which a note explains, and the steps that were taken."""

    proof: Proof | None
    notes: tuple[str, ...] = ()
    steps: tuple[RunStep, ...] = ()


T = TypeVar("T", bound=Target)
R = TypeVar("R", bound=ReadRecords)


class Runner(Protocol[T, R]):
    """What does the work of one run, once its source and target are known.

    Attributes:
        interrupted: Holds the signal once Ctrl-C or SIGTERM came.
        log: The file with its own output; None if it has none.
        steps: What its start took.
        java_pid: The process that may go on writing for a moment if this one is killed; None if there is none.
        proves: Whether it can let the Java producer choose.
    """

    @property
    def interrupted(self) -> list[int]: ...  # noqa: D102 - see above
    @property
    def log(self) -> Path | None: ...  # noqa: D102
    @property
    def steps(self) -> tuple[RunStep, ...]: ...  # noqa: D102
    @property
    def java_pid(self) -> int | None: ...  # noqa: D102
    @property
    def proves(self) -> bool: ...  # noqa: D102

    def open(self, context: Context[T], stack: ExitStack) -> T:
        """The target, checked for what only the runner can; the stack undoes what holds for the run alone."""

    def how(self, context: Context[T]) -> str:
        """How it writes to the target, in words."""

    def read(self, context: Context[T], stack: ExitStack) -> R:
        """Read every record and place it; they are kept until the run ends."""

    def write(self, context: Context[T], target: T, read: R) -> Wrote:
        """Write what is not there yet."""

    def check(self, context: Context[T], target: T, read: R) -> Checks:
        """Read everything back and check each record."""

    def copies(self, context: Context[T], target: T) -> Iterator[tuple[int, int]]:
        """Partition and offset of each record's copies beyond its first, in this order."""

    def proof(self, context: Context[T], read: R) -> ProofResult:
        """Let the Java producer place the same records."""

    def explained(self, standing: Callable[[], str]) -> AbstractContextManager[None]:
        """Add how far the run is to an error that says that the runner itself is gone."""

    def sentence(self, error: BaseException, topic: str) -> str:
        """Why writing to the topic stopped, in one sentence."""


class RunnerKind(Protocol[T, R]):
    """A kind of runner, before one is started."""

    def inspect(self, source: Source, settings: RunSettings) -> Source:
        """The source with what it will read of it; refuses, before anything slow starts, what it cannot do."""

    def target_at(
        self, to: KafkaTarget | ParquetTarget, topic: str, new_topic: NewTopic, rule: PlacementRule
    ) -> T:
        """The target that the options name."""

    def start(self, progress: Progress) -> AbstractContextManager[Runner[T, R]]:
        """A runner, until the block ends."""
