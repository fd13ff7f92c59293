"""A saved plan that fits the cluster as it is, or has been executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences import summed
from partwright.rendering.document import Document, Verdict
from partwright.rendering.text import label

if TYPE_CHECKING:
    from partwright.cluster.reassignment.saved import CheckedPlan

__all__ = ["document"]


def document(plan: CheckedPlan) -> Document:
    """Its size, and what has become of it."""
    answer = plan.to_dict()
    size = f"{counted(answer['partitions'], 'partition')} in {counted(answer['batches'], 'batch', 'batches')}"
    if answer["leaders_elected"]:
        size += f", and {counted(answer['leaders_elected'], 'preferred leader')} to elect"
    then = "the plan is executed" if plan.is_executed else "the cluster is as it was planned for"
    verdicts = (Verdict("said", f"{size}: {then}."),)
    return Document(f"The plan {label(plan.folder)}", verdicts, (), summed(verdicts, answer))
