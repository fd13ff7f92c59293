"""One module for each verb: an answer in, its document out; and the document of any answer."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from partwright.answer import Answer
from partwright.documents.topics import topic_of
from partwright.rendering.text import label

if TYPE_CHECKING:
    from partwright._check import Json
    from partwright.rendering.asked import Asked
    from partwright.rendering.document import Document

__all__ = ["document"]


def document(answer: object, asked: Asked | None = None, **more: object) -> Document:
    """The document of an answer: its verdicts and sections, which every rendering shows.

    Args:
        answer: A Check, a Fingerprint, a Resize, a Meeting, an Assignment, a Timeline, a Rollout, a Simulation, a
            Tuning, an Advice, ReplicaCounts, a Reassignment, or a run's report; or with `asked`, several side by side
            as `compare` of the same parts gives them.
        asked: The question that it answers: its source ends the title, and what was read of a topic is a verdict.
        more: Further values that the sections of such an answer need.

    Returns:
        A `partwright.rendering.document.Document`.

    Raises:
        PartwrightError: There is no document for this type of answer.
    """
    name = (
        answer.DOCUMENT
        if isinstance(answer, Answer)
        else topic_of(answer, None if asked is None else asked.command)
    )
    module = importlib.import_module(f"partwright.documents.{name}")
    made: Document = module.document(answer, **more)
    if asked is None:
        return made
    if asked.source is not None:
        source = "stdin" if asked.source == "-" else label(asked.source)
        made = replace(made, title=f"{made.title}: {source}")
    if asked.read is not None:
        from partwright.documents.sentences import of_reading  # noqa: PLC0415 - only topics are read in part

        first, *others = made.verdicts
        verdicts = (first, *of_reading(asked.read), *others)
        made = replace(made, verdicts=verdicts, answer={**cast("Json", made.answer), "read": asked.read})
    return made
