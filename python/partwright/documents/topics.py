"""Which page an answer has, by its class, which is not imported here: an answer's own already is."""

from __future__ import annotations

import sys

from partwright.errors import PartwrightError

__all__ = ["topic_of"]

# The command for each class of answer: `partwright.documents` has a module of that name.
_TOPICS = {
    ("partwright.audit.check", "Check"): "check",
    ("partwright.audit.fingerprint_answer", "Fingerprint"): "fingerprint",
    ("partwright.audit.copartition", "Meeting"): "copartition",
    ("partwright.assignors.assignment", "Assignment"): "assign",
    ("partwright.pipeline.report", "Report"): "run",
    ("partwright.cluster.sizing.advice", "Advice"): "advise",
    ("partwright.assignors.replica_counts", "ReplicaCounts"): "advise",
    ("partwright.cluster.reassignment.answer", "Reassignment"): "reassign",
}
_COMPARED = ("partwright.assignors.compare", "Compared")


def topic_of(answer: object, command: str | None) -> str:
    """The command whose page an answer has.

    Args:
        answer: An answer, or several that a command compares.
        command: The command; None if unknown, when only a single answer has a page.

    Raises:
        PartwrightError: There is no page for this type of answer.
    """
    for place, topic in _TOPICS.items():
        if _is(answer, place):
            return topic
    if command is not None and _is_side_by_side(answer, command):
        return command
    raise PartwrightError(
        f"there is no report of a {type(answer).__name__}: give an answer, such as a Check or a Timeline"
    )


def _is_side_by_side(answer: object, command: str) -> bool:
    """Whether a command compares these: assignors."""
    if command != "assign" or not isinstance(answer, list) or not answer:
        return False
    return all(_is(each, _COMPARED) for each in answer)


def _is(answer: object, place: tuple[str, str]) -> bool:
    module, name = place
    # If a class's module has not been imported, no answer of it exists.
    return module in sys.modules and isinstance(answer, getattr(sys.modules[module], name))
