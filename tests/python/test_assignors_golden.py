"""The assignors' golden file and the documents' examples through Python: what Kafka's own assignors said, in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import partwright as pw
from partwright.assignment import assignors

GOLDEN = Path(__file__).parents[1] / "golden" / "assignors"
GROUPS = [json.loads(line) for line in (GOLDEN / "client.jsonl").read_text(encoding="ascii").splitlines()]
EXAMPLES = json.loads((Path(__file__).parent / "assign_examples.json").read_text(encoding="ascii"))


def asked(group: dict[str, Any]) -> dict[str, list[list[Any]]]:
    found = pw.assign(group["topics"], group["members"], group["assignor"], racks=group.get("racks"))
    return {member: [list(pair) for pair in pairs] for member, pairs in found.to_dict().items()}


@pytest.mark.parametrize("assignor", assignors())
def test_kafka_assigns_the_same(assignor: str) -> None:
    groups = [group for group in GROUPS[1:] if group["assignor"] == assignor]
    assert len(groups) > 100
    for group in groups:
        if "error" in group:
            with pytest.raises(pw.PartwrightError, match=group["error"]):
                asked(group)
        else:
            assert asked(group) == group["assignment"], group


def test_the_file_says_who_answered() -> None:
    assert GROUPS[0] == {
        "library": "kafka-clients",
        "version": "4.4.0",
        "program": "partwright.AssignorAnswers",
    }


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_a_documents_example_holds(example: dict[str, Any]) -> None:
    assert asked(example) == example["expect"]
