"""Asks Kafka's own producer classes, today's and older ones, where records go; keeps their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from asking import ask, golden_answers
from builds import build_java
from strategy_questions import Question

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["PROGRAMS", "Program", "ask", "build", "golden", "questions"]

GOLDEN_EVENTS, GOLDEN_RECORDS = 24, 40
PLACING = 0.4
"""How many of a strategy's questions have records; the oldest strategy's events have their times."""


class Program(NamedTuple):
    """A program over real producers."""

    kafka: str
    """The POM's profile; none is the Kafka of today."""
    name: str
    strategies: tuple[str, ...]
    golden_questions: int
    """How many of each strategy the golden file has."""


PROGRAMS = (
    Program("", "partwright.StrategyAnswers", ("sticky@4.4", "round-robin"), 60),
    Program(
        "3.9",
        "partwright.v3_9.StrategyAnswers",
        ("sticky@3.3", "round-robin@3.9.2", "sticky@2.4", "uniform-sticky@2.4"),
        36,
    ),
    Program(
        "2.8", "partwright.v2_8.StrategyAnswers", ("sticky@2.4", "uniform-sticky@2.4", "round-robin@2.8"), 50
    ),
    Program("2.3", "partwright.v2_3.StrategyAnswers", ("default@2.3",), 40),
    Program("0.8", "partwright.v0_8.StrategyAnswers", ("old-null-key",), 40),
)


def build(kafka: str, folder: Path) -> list[str]:
    """The command that asks the strategies of a Kafka, built in a folder."""
    program = next(program for program in PROGRAMS if program.kafka == kafka)
    return [*build_java(folder, kafka), program.name]


def questions(
    strategies: Sequence[str], seed: int, count: int, events: int = 60, records: int = 200
) -> Iterator[dict[str, Any]]:
    """This many questions about each strategy."""
    for name in strategies:
        for number in range(count):
            question = Question(f"{seed}:{name}:{number}", name)
            if name != "old-null-key" and number < count * PLACING:
                yield question.placing(records)
            else:
                yield question.replay(events)


def golden(command: Sequence[str]) -> str:
    """The golden file of questions: a line of provenance, then a line for each question with its draws and answer."""
    program = next(program for program in PROGRAMS if program.name == command[-1])
    asked = list(questions(program.strategies, 0, program.golden_questions, GOLDEN_EVENTS, GOLDEN_RECORDS))
    return golden_answers(command, asked)
