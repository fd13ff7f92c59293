"""One module for each verb: an answer in, its document out; and the document of any answer."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from partwright.answer import Answer
from partwright.errors import PartwrightError
from partwright.rendering.text import label

if TYPE_CHECKING:
    from partwright._check import Json
    from partwright.rendering.document import Document
    from partwright.rendering.question import Asked

__all__ = ["document"]


def document(answer: object, asked: Asked | None = None) -> Document:
    """The document of an answer: its verdicts and sections, which every rendering shows.

    Args:
        answer: An answer: what a verb gives, such as a Check, an Assignment, a Timeline or a run's report, or what
            `compare` of the same parts gives.
        asked: The question that it answers: its source ends the title, and what was read of a topic is a verdict.

    Returns:
        A `partwright.rendering.document.Document`.

    Raises:
        PartwrightError: It is no answer.
    """
    if not isinstance(answer, Answer):
        raise PartwrightError(
            f"there is no report of a {type(answer).__name__}: give an answer, such as a Check or a Timeline"
        )
    module = importlib.import_module(f"partwright.documents.{answer.DOCUMENT}")
    made: Document = module.document(answer)
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
