"""A producer's batches: the real accumulators' answers to scenarios, and the numbers that a seed stands for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from partwright.batching import replay

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = sorted((FOLDER / "batching").glob("*.jsonl"))
ANSWERS = ("placed", "batches", "requests")


def lines(path: Path) -> list[dict[str, Any]]:
    """A golden file's scenarios, with their answers."""
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()[1:]]


def test_there_are_golden_files_of_three_kafkas() -> None:
    assert {path.stem for path in GOLDEN} == {"client", "client-2.8", "client-3.9"}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    found = lines(path)
    assert len(found) > 30
    for number, line in enumerate(found, 2):
        answer = {name: line.pop(name) for name in ANSWERS}
        assert replay(line) == answer, f"{path.name}:{number}"


def test_the_golden_files_have_each_reason_and_retries() -> None:
    for path in GOLDEN:
        batches = [batch for line in lines(path) for batch in line["batches"]]
        assert {batch["why"] for batch in batches} == {"full", "no-room", "linger", "flush", "node", None}
        assert max(len(batch["sends"]) for batch in batches) > 2


def test_a_seed_stands_for_javas_numbers() -> None:
    """Records larger than two batches, so that each but the first draws one number, and the first draws two."""
    numbers = json.loads((FOLDER / "strategies" / "draws.json").read_text(encoding="ascii"))
    assert len(numbers) > 10
    scenario = next(line for line in lines(FOLDER / "batching" / "client.jsonl") if len(line["draws"]) > 0)
    del scenario["draws"]
    scenario["config"]["batch.size"] = 1
    scenario["records"] = [[10_000, None, None, 10]] * 10
    for each in numbers:
        drawn = replay({**scenario, "draws": each["draws"]})
        assert replay({**scenario, "seed": each["seed"]}) == drawn
        assert len({partition for partition, _ in drawn["placed"]}) > 1
