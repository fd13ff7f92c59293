"""Asks Kafka's own clients about client configurations; keeps their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asking import ask, golden_file
from builds import build_java
from connection_questions import questions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["ask", "build", "golden", "questions"]

PROGRAM = "partwright.ConnectionAnswers"
GOLDEN_QUESTIONS = 150


def build(folder: Path) -> list[str]:
    """The command that answers, built in a folder."""
    return [*build_java(folder), PROGRAM]


def golden(command: Sequence[str]) -> str:
    """The golden file: a line of provenance, then a line for each question with its answer."""
    asked = list(questions(0, GOLDEN_QUESTIONS))
    provenance, answers = ask(command, asked)
    pairs = zip(asked, answers, strict=True)
    return golden_file(command, provenance, ({"question": one, "answer": answer} for one, answer in pairs))
