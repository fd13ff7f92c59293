"""The assignors' golden files and the documents' examples through Python: what Kafka's own assignors answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import partwright as pw
from partwright.assignors.names import assignors, client_assignors

GOLDEN = Path(__file__).parents[1] / "golden" / "assignors"
FILES = {
    "client": ("kafka-clients", "4.4.0", "partwright.AssignorAnswers"),
    "client-2.8": ("kafka-clients", "2.8.2", "partwright.v2_8.StickyAnswers"),
    "client-2.3": ("kafka-clients", "2.3.1", "partwright.v2_3.StickyAnswers"),
    "server": ("kafka-group-coordinator", "4.4.0", "partwright.ServerAnswers"),
    "old": ("kafka_2.11", "0.10.2.2", "partwright.v0_10.ThreadAnswers"),
}
LINES = {
    name: [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="ascii").splitlines()]
    for name in FILES
}
GROUPS = [group for lines in LINES.values() for group in lines[1:]]
CLIENT_LINES = [
    json.loads(line)
    for file in sorted((GOLDEN / "clients").glob("*.jsonl"))
    for line in file.read_text(encoding="ascii").splitlines()
]
CLIENT_VERSIONS = {
    ("librdkafka", "2.15.1"),
    ("librdkafka", "2.6.0"),
    ("librdkafka", "2.1.1"),
    ("librdkafka", "1.6.1"),
    ("kafka-python", "3.0.12"),
    ("kafka-python", "3.0.11"),
    ("kafka-python", "2.2.21"),
    ("aiokafka", "0.14.0"),
}
ASKED_ELSEWHERE = ("sarama:", "franz-go:", "kafka-go:", "kafkajs:")
"""Their golden files are read by test_client_groups.py."""
SEEDS = 256
"""What one run of a client gives by chance is looked for among as many of ours."""
EXAMPLES = json.loads((Path(__file__).parent / "assign_examples.json").read_text(encoding="ascii"))


def by_client(group: dict[str, Any], seed: int = 0) -> tuple[dict[str, list[list[Any]]], bool]:
    """The lists, and whether they are one of several possible answers."""
    found = pw.assign(
        group["topics"],
        group["members"],
        group["assignor"],
        racks=group.get("racks"),
        balance_racks=group.get("balance_racks", False),
        seed=seed,
    )
    lists = {member: [list(pair) for pair in pairs] for member, pairs in found.to_dict().items()}
    return lists, found.chance is not None


def asked(group: dict[str, Any]) -> dict[str, list[list[Any]]]:
    found = pw.assign(
        group["topics"],
        group["members"],
        group["assignor"],
        racks=group.get("racks"),
        partition_order=group.get("partition_order"),
        topic_ids=group.get("topic_ids"),
    )
    if "made_ids" in group:
        ids = group["topic_ids"] | group["made_ids"]
        assert found.topic_ids == {name: ids[name] for name in group["topics"]}
    else:
        assert found.topic_ids is None
    return {member: [list(pair) for pair in pairs] for member, pairs in found.to_dict().items()}


@pytest.mark.parametrize("assignor", assignors())
def test_kafka_assigns_the_same(assignor: str) -> None:
    groups = [group for group in GROUPS if group["assignor"] == assignor]
    assert len(groups) > 50
    for group in groups:
        if "error" in group:
            with pytest.raises(pw.PartwrightError, match=group["error"]):
                asked(group)
        else:
            assert asked(group) == group["assignment"], group


@pytest.mark.parametrize(
    "assignor", [name for name in client_assignors() if not name.startswith(ASKED_ELSEWHERE)]
)
def test_another_client_assigns_the_same(assignor: str) -> None:
    groups = [group for group in CLIENT_LINES if group.get("assignor") == assignor]
    assert len(groups) > 50
    for group in groups:
        if "error" in group:
            with pytest.raises(pw.PartwrightError, match=group["error"]):
                by_client(group)
            continue
        lists, is_one_of_several = by_client(group)
        if is_one_of_several and lists != group["assignment"]:
            assert any(by_client(group, seed)[0] == group["assignment"] for seed in range(SEEDS)), group
        else:
            assert lists == group["assignment"], group


def test_the_clients_are_those_of_the_golden_files() -> None:
    found = [line for line in CLIENT_LINES if "assignor" not in line]
    assert {(line["library"], line["version"]) for line in found} >= CLIENT_VERSIONS


@pytest.mark.parametrize("name", FILES)
def test_the_file_says_who_answered(name: str) -> None:
    assert LINES[name][0] == dict(zip(["library", "version", "program"], FILES[name], strict=True))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_a_documents_example_holds(example: dict[str, Any]) -> None:
    assert asked(example) == example["expect"]


def test_a_cooperative_group_takes_two_rounds_for_who_joins() -> None:
    """The documents' example cooperative-c3-joins: the first rebalance takes p-1 away, the second gives it to c3."""
    first = {"c1": [["p", 0], ["p", 1]], "c2": [["p", 2]], "c3": []}
    rounds = [
        {"c1": [["p", 0]], "c2": [["p", 2]], "c3": []},
        {"c1": [["p", 0]], "c2": [["p", 2]], "c3": [["p", 1]]},
    ]
    owned = first
    for generation, wanted in enumerate(rounds, 1):
        members = [
            {"id": name, "topics": ["p"], "owned": pairs, "generation": generation}
            for name, pairs in owned.items()
        ]
        owned = asked({"assignor": "cooperative-sticky", "topics": {"p": 3}, "members": members})
        assert owned == wanted


@pytest.mark.parametrize("assignor", ["sticky", "sticky@2.8", "sticky@2.3"])
def test_who_stays_keeps_all_as_a_document_shows(assignor: str) -> None:
    """The documents' example sticky-four-topics-c1-leaves: no Kafka gives its lists, each answer has its property."""
    topics = {"t1": 2, "t2": 2, "t3": 2, "t4": 2}
    owned = {"c2": [["t1", 1], ["t3", 0], ["t4", 1]], "c3": [["t2", 0], ["t3", 1]]}
    members = [
        {"id": name, "topics": [*topics], "owned": pairs, "generation": 1} for name, pairs in owned.items()
    ]
    found = asked({"assignor": assignor, "topics": topics, "members": members})
    assert all(pair in found[name] for name, pairs in owned.items() for pair in pairs)
    assert [len(pairs) for pairs in found.values()] == [4, 4]
    kept = [pair for pairs in owned.values() for pair in pairs]
    moved = sorted(pair for pairs in found.values() for pair in pairs if pair not in kept)
    assert moved == [["t1", 0], ["t2", 1], ["t4", 0]]
