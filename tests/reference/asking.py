"""Asks a program over real clients' classes, and writes its answers into a golden file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builds import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OPENED = ("--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.util=ALL-UNNAMED")
"""Java's random numbers have their seeds there."""
PATIENCE_S, PATIENCE_A_QUESTION_S = 60, 0.5
"""Kafka 2.8 moves partitions to and fro for ever in one random group of very many."""


def ask(
    command: Sequence[str],
    questions: Sequence[dict[str, Any]],
    patience_a_question_s: float = PATIENCE_A_QUESTION_S,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The provenance, and the answer to each question."""
    asked = "".join(f"{json.dumps(question)}\n" for question in questions)
    patience_s = PATIENCE_S + len(questions) * patience_a_question_s
    program, *rest = command
    opened = OPENED if Path(program).stem == "java" else ()
    provenance, *answers = map(json.loads, run([program, *opened, *rest], asked, patience_s).splitlines())
    return provenance, answers


def golden_file(
    command: Sequence[str],
    provenance: dict[str, Any],
    rows: Iterable[dict[str, Any]],
    longest: int = 1_000_000,
) -> str:
    """A line of provenance, then a row a line, where it has no more letters than the longest."""
    lines = (json.dumps(row, separators=(",", ":")) for row in rows)
    begin = json.dumps({**provenance, "program": command[-1]})
    return "".join(f"{line}\n" for line in [begin, *(line for line in lines if len(line) <= longest)])


def golden_answers(command: Sequence[str], questions: Sequence[dict[str, Any]]) -> str:
    """The golden file of a program's answers to questions: it has the numbers that Java drew, not their seed."""
    provenance, answers = ask(command, questions)
    kept = [{name: given for name, given in each.items() if name != "thread_seed"} for each in questions]
    pairs = zip(kept, answers, strict=True)
    return golden_file(command, provenance, ({**question, **answer} for question, answer in pairs))
