"""Asks Kafka's own classes where replicas go and how logs are named; keeps their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import generated_plans
import placement_questions as about
from asking import ask, golden_file
from builds import build_java

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Asking = Callable[[int, int], Iterator[dict[str, Any]]]

__all__ = ["PROGRAMS", "Program", "ask", "build", "golden", "program"]


class Program(NamedTuple):
    """A golden file, and the program over Kafka that gives its answers."""

    golden: str
    kafka: str
    """The POM's profile; none is the Kafka of today."""
    name: str
    questions: Asking
    golden_questions: int
    kept: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] | None = None
    """What the golden file has of a question and its answer, where it has not the whole of both."""


PROGRAMS = (
    Program("striped", "", "partwright.PlacementAnswers", about.striped, 150),
    Program("names", "", "partwright.StorageAnswers", about.names, 60),
    Program("admin-utils", "3.9", "partwright.v3_9.PlacementAnswers", about.with_zookeeper, 150),
    Program(
        "generate",
        "3.9",
        "partwright.v3_9.GenerateAnswers",
        generated_plans.questions,
        0,
        generated_plans.kept,
    ),
    Program("explicit", "3.9", "partwright.v3_9.PlacementAnswers", about.explicit, 60),
)


def program(golden_name: str) -> Program:
    """The golden file for a question."""
    return next(each for each in PROGRAMS if each.golden == golden_name)


def build(golden_name: str, folder: Path) -> list[str]:
    """The command that answers, built in a folder."""
    return [*build_java(folder, program(golden_name).kafka), program(golden_name).name]


def golden(command: Sequence[str], golden_name: str) -> str:
    """The golden file: a line of provenance, then a line for each question with its answer."""
    asked = list(program(golden_name).questions(0, program(golden_name).golden_questions))
    provenance, answers = ask(command, asked)
    kept = program(golden_name).kept or _whole
    pairs = zip(asked, answers, strict=True)
    return golden_file(command, provenance, (kept(one, answer) for one, answer in pairs))


def _whole(question: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    return {"question": question, "answer": answer}
