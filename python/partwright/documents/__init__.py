"""One module for each verb: an answer in, its document out; and the document of any answer."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import cast

from partwright._check import Json
from partwright.answer import Answer
from partwright.documents.sentences import of_reading
from partwright.errors import PartwrightError
from partwright.rendering.document import Document
from partwright.rendering.text import label

__all__ = ["document"]


def document(answer: object) -> Document:
    """The document of an answer: its verdicts and sections, which every rendering shows.

    The source of its question ends the title, and what was read of a topic is a verdict.

    Args:
        answer: An answer: what a verb gives, such as a Check, an Assignment, a Timeline or a run's report, or what
            `compare` of the same parts gives.

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
    # The documents of a command's other answers are named COMMAND_ANSWER.
    command = answer.question.command or answer.DOCUMENT.partition("_")[0]
    question = replace(answer.question, command=command)
    made: Document = replace(module.document(answer), question=question)
    if question.source is not None:
        source = "stdin" if question.source == "-" else label(question.source)
        made = replace(made, title=f"{made.title}: {source}")
    if question.read is not None:
        first, *others = made.verdicts
        verdicts = (first, *of_reading(question.read), *others)
        made = replace(made, verdicts=verdicts, answer={**cast("Json", made.answer), "read": question.read})
    return made
