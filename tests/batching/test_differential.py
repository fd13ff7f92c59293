"""Random scenarios to Kafka's own record accumulators and to us: every record's place, every batch, every request.

The seed is printed with a failure: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks more scenarios a strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from partwright.batching import replay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

pytestmark = [pytest.mark.slow, pytest.mark.reference]

CASES = 200
KAFKAS = ("", "3.9", "2.8")


@pytest.mark.parametrize("kafka", KAFKAS, ids=lambda kafka: kafka or "today")
def test_random_scenarios_have_kafkas_batches(
    kafka: str, reference: Callable[[str], ModuleType], tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    asking = reference("batching")
    program = next(program for program in asking.PROGRAMS if program.kafka == kafka)
    count = cases(CASES)
    questions = list(asking.questions(program.strategies, seed, count))
    _, answers = asking.ask(asking.build(kafka, tmp_path), questions)
    for question, answer in zip(questions, answers, strict=True):
        del question["thread_seed"]
        scenario = {**question, "draws": answer.pop("draws")}
        assert replay(scenario) == answer, scenario
