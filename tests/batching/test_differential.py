"""Random scenarios for Kafka's own record accumulators and for partwright: each record's place, each batch and request.

A failure prints the seed: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks more scenarios per strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from partwright.batching import replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.reference

CASES = 200
KAFKAS = ("", "3.9", "2.8")


@pytest.mark.parametrize("kafka", KAFKAS, ids=lambda kafka: kafka or "today")
def test_random_scenarios_have_kafkas_batches(kafka: str, asked: Callable[..., Iterator[Any]]) -> None:
    for question, answer in asked("batching", kafka, CASES):
        del question["thread_seed"]
        scenario = {**question, "draws": answer.pop("draws")}
        assert replay(scenario) == answer, scenario
