"""What a run's steps, or a stream, go by, and none of them changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from partwright.kafka.marks import MARK, Mark
from partwright.pipeline.report import PlannedStep
from partwright.pipeline.targets import Target

if TYPE_CHECKING:
    from partwright.cluster import Cluster
    from partwright.pipeline.journal import Journal
    from partwright.pipeline.ledger import RecordedRun, RunLedger
    from partwright.pipeline.report import Progress
    from partwright.pipeline.settings import RunSettings
    from partwright.pipeline.source import Source
    from partwright.pipeline.targets import TargetState


_Target_co = TypeVar("_Target_co", bound=Target, covariant=True)


@dataclass(frozen=True)
class Context(Generic[_Target_co]):
    """One run, once its source and target are known.

    Attributes:
        settings: What it is asked to do.
        source: What it reads.
        target: Where it writes, as it is before the run prepares it.
        first: What was there when the run began.
        n: The number of partitions.
        cluster: Where these are; None if no strategy looks at it.
        journal: The notes about runs on this machine.
        progress: Is told of each step.
        run: The run's ID: 8 bytes, which its records' header names.
        earlier: The run that it goes on with.
        ledger: Where it is recorded; None if nobody could resume it.
    """

    settings: RunSettings
    source: Source
    target: _Target_co
    first: TargetState
    n: int
    cluster: Cluster | None
    journal: Journal
    progress: Progress
    run: bytes
    earlier: RecordedRun | None = None
    ledger: RunLedger | None = None

    @property
    def mark(self) -> Mark:
        """The header of this run's records."""
        return Mark(MARK, self.run)

    @property
    def written_mark(self) -> Mark | None:
        """The header that each record gets; None if the options leave it out."""
        return self.mark if self.settings.is_marked else None

    @property
    def spreads(self) -> bool:
        """Whether records that the client does not place by their key get a partition here too."""
        return self.settings.null_keys == "spread" and not self.target.has_place_for_all

    def plan(self, writing: str, *, proves: bool) -> tuple[PlannedStep, ...]:
        """The steps that the options ask for, from reading on.

        Args:
            writing: How the records are written.
            proves: Whether the runner lets the Java producer choose.
        """
        settings = self.settings
        making = PlannedStep(self.target.making, "append" if settings.append else "only if empty")
        checking = [PlannedStep("read back and check")] if settings.check else []
        if (
            proves
            and settings.check
            and settings.proof
            and not self.target.has_place_for_all
            and settings.why_no_proof is None
        ):
            checking += [PlannedStep("let the Java producer choose"), PlannedStep("compare")]
        return (
            PlannedStep("read and place"),
            *([making] if self.earlier is None else []),
            PlannedStep("write", writing),
            *checking,
        )
