"""Asks Kafka's own record accumulators, today's and older ones, for a producer's batches; keeps their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asking import ask, golden_answers
from batching_questions import Scenario, patterns
from builds import build_java
from strategies import Program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["PROGRAMS", "ask", "build", "golden", "questions"]

GOLDEN_RECORDS = 36
PROGRAMS = (
    Program("", "partwright.BatchAnswers", ("sticky@4.4",), 48),
    Program("3.9", "partwright.v3_9.BatchAnswers", ("sticky@3.3",), 28),
    Program(
        "2.8", "partwright.v2_8.BatchAnswers", ("sticky@2.4", "uniform-sticky@2.4", "round-robin@2.8"), 18
    ),
)


def build(kafka: str, folder: Path) -> list[str]:
    """The command that asks the accumulator of a Kafka, built in a folder."""
    program = next(program for program in PROGRAMS if program.kafka == kafka)
    return [*build_java(folder, kafka), program.name]


def questions(
    strategies: Sequence[str], seed: int, count: int, records: int = 120
) -> Iterator[dict[str, Any]]:
    """Kafka's own patterns, and this many random scenarios of each strategy."""
    for name in strategies:
        yield from patterns(name)
        for number in range(count):
            yield Scenario(f"{seed}:{name}:{number}", name).question(records)


def golden(command: Sequence[str]) -> str:
    """The golden file: a line of provenance, then a line for each scenario with its draws and the result."""
    program = next(program for program in PROGRAMS if program.name == command[-1])
    asked = list(questions(program.strategies, 0, program.golden_questions, GOLDEN_RECORDS))
    return golden_answers(command, asked)
