"""How many partitions and how many replicas, in words: `advise`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted, span
from partwright.rendering.document import Verdict

if TYPE_CHECKING:
    from partwright.assignors.replica_counts import ReplicaCounts
    from partwright.cluster.sizing.advice import Advice

__all__ = ["of_advice", "of_counts"]


def of_advice(advice: Advice, target: float | None) -> tuple[Verdict, ...]:
    """How many partitions to take, which need decides it, and what else there is to know."""
    peak = "" if target is None else f" for {target:,g} MB/s"
    low, high = advice.at_least
    least = span(low, high)
    first = max(advice.needs, key=lambda need: need.high)
    what = counted(advice.recommended, "partition")
    verdict = (
        f"Take {what}{peak}: it needs {least}, rounded up to what brokers "
        f"share evenly. The largest need is {first.reason}: {first.why}."
    )
    warnings = [
        Verdict("open", f"{counted(choice.partitions, 'partition')}: {warning}")
        for choice in advice.choices
        for warning in choice.warnings
    ]
    return (Verdict("said", verdict), *(Verdict("said", note) for note in advice.notes), *warnings)


def of_counts(counts: ReplicaCounts) -> tuple[Verdict, ...]:
    """Which numbers of replicas to take."""
    return (Verdict("said", counts.summary),)
