"""The coordinator of our groups against the real one's recorded answers, of both group protocols."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

FOLDER = Path(__file__).parents[1] / "golden" / "groups"
GOLDEN = sorted(path for path in FOLDER.glob("*.jsonl") if not path.stem.startswith("lives-"))
ANSWERS = ("answers", "states")


def lines(path: Path) -> list[dict[str, Any]]:
    """A golden file's scripts, with what came of them."""
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()[1:]]


def test_there_are_golden_files_of_both_protocols() -> None:
    assert [path.stem for path in GOLDEN] == ["classic", "consumer"]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path, reference: Callable[[str], ModuleType]) -> None:
    replay = reference("coordinator_replay").replay
    found = lines(path)
    assert len(found) > 100
    for number, line in enumerate(found, 2):
        answer = {name: line.pop(name) for name in ANSWERS}
        ids = line.pop("ids")
        assert replay(line, ids) == answer, f"{path.name}:{number}, {line['name']}"


def test_the_golden_files_reach_the_corners() -> None:
    classic, consumer = (lines(path) for path in GOLDEN)
    for found in (classic, consumer):
        moved = [line for line in found if {"move"} <= {request["request"] for request in line["requests"]}]
        assert len(moved) > 10
    errors = {answer["error"] for line in classic for answer in line["answers"]}
    assert errors >= {
        "NONE",
        "FENCED_INSTANCE_ID",
        "GROUP_ID_NOT_FOUND",
        "GROUP_MAX_SIZE_REACHED",
        "ILLEGAL_GENERATION",
        "INCONSISTENT_GROUP_PROTOCOL",
        "NOT_COORDINATOR",
        "INVALID_SESSION_TIMEOUT",
        "MEMBER_ID_REQUIRED",
        "REBALANCE_IN_PROGRESS",
        "UNKNOWN_MEMBER_ID",
    }
    assert {state["state"] for line in classic for state in line["states"]} == {
        None,
        "Empty",
        "PreparingRebalance",
        "CompletingRebalance",
        "Stable",
    }
    assert any(answer.get("skip_assignment") for line in classic for answer in line["answers"])
    errors = {answer["error"] for line in consumer for answer in line["answers"]}
    assert errors >= {
        "NONE",
        "FENCED_INSTANCE_ID",
        "FENCED_MEMBER_EPOCH",
        "GROUP_ID_NOT_FOUND",
        "GROUP_MAX_SIZE_REACHED",
        "INVALID_REQUEST",
        "STALE_MEMBER_EPOCH",
        "UNKNOWN_MEMBER_ID",
        "UNRELEASED_INSTANCE_ID",
        "UNSUPPORTED_ASSIGNOR",
    }
    states = [state for line in consumer for state in line["states"]]
    assert {state["state"] for state in states} == {None, "Empty", "Assigning", "Reconciling", "Stable"}
    assert {member["state"] for state in states for member in state["members"].values()} == {
        "STABLE",
        "UNREVOKED_PARTITIONS",
        "UNRELEASED_PARTITIONS",
    }


def states(kind: str, name: str) -> list[tuple[str, dict[str, Any]]]:
    """A script's requests by their names, each with the group after it."""
    found = next(line for line in lines(FOLDER / f"{kind}.jsonl") if line["name"] == name)
    requests = [request["request"] for request in found["requests"]]
    return list(zip(requests, found["states"], strict=False))


def test_the_golden_files_have_what_a_moved_coordinator_no_longer_knows() -> None:
    loaded = {
        name: [state["state"] for request, state in states("classic", name) if request == "move"]
        for name in ("a list that was longer", "too many members are loaded")
    }
    assert loaded == {
        "a list that was longer": ["Stable", "Stable"],
        "too many members are loaded": ["PreparingRebalance"],
    }
    found = next(line for line in lines(GOLDEN[0]) if line["name"] == "an assignor that nobody has any more")
    assert "INCONSISTENT_GROUP_PROTOCOL" in [answer["error"] for answer in found["answers"]]


def test_the_golden_files_have_members_whose_ids_share_a_bin() -> None:
    targets = [state["members"] for _, state in states("consumer", "ids of one bin")]
    shared = [{name: member["target"] for name, member in members.items()} for members in targets]
    assert any(
        target["m11-5b3"] == {"u": [0, 1]} and target["m5-c5b"] == {"u": [2, 3]}
        for target in shared
        if len(target) == 4
    )


def test_static_members_that_give_a_rebalance_no_time_are_waited_for_until_their_sessions_end(
    reference: Callable[[str], ModuleType],
) -> None:
    """Kafka's coordinator asks itself again and again meanwhile, so that no golden file can have it."""
    replay = reference("coordinator_replay").replay
    member = {"session_timeout_ms": 6000, "protocols": [["range", "v0"]], "member_id_required": False}
    static = {**member, "instance_id": "i", "rebalance_timeout_ms": 0}
    dynamic = {**member, "instance_id": None, "rebalance_timeout_ms": 1000}
    requests: list[dict[str, Any]] = [
        {"at_ms": 0, "request": "join", "member": "a", "known": False, **dynamic},
        {"at_ms": 1, "request": "join", "member": "b", "known": False, **static},
        {"at_ms": 2, "request": "join", "member": "a", "known": True, **dynamic},
        {"at_ms": 3, "request": "leave", "members": [{"member": "a", "instance_id": None}]},
        {"at_ms": 6001, "request": "wait"},
        {"at_ms": 6002, "request": "wait"},
    ]
    question = {"kind": "classic", "config": {"group.initial.rebalance.delay.ms": 0}, "requests": requests}
    states = replay(question, [["a", "1"], ["b", "2"]])["states"]
    assert [(state["state"], state["members"]) for state in states] == [
        ("CompletingRebalance", ["a"]),
        ("PreparingRebalance", ["a", "b"]),
        ("CompletingRebalance", ["a", "b"]),
        ("PreparingRebalance", ["b"]),
        ("PreparingRebalance", ["b"]),
        ("Empty", []),
        ("Empty", []),
    ]
