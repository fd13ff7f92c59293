"""The assignors of sarama, kafka-go, franz-go and kafkajs: the released clients' answers, and those that chance allows.

If a client leaves something to chance, the golden files have all of its answers to small groups, and each of ours
must be one of them. The slow tests ask the running clients about random groups: PARTWRIGHT_SEED repeats them, and
PARTWRIGHT_CASES asks for more.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

GOLDEN = Path(__file__).parents[1] / "golden" / "assignors" / "clients"
VERSIONS = {
    "sarama": "1.61.1",
    "sarama-1.27": "1.27.2",
    "franz-go": "1.22.2",
    "franz-go-1.21": "1.21.7",
    "franz-go-1.20": "1.20.7",
    "kafka-go": "0.4.51",
    "kafkajs": "2.2.4",
}
CASES = 500
SMALL_CASES, ROUNDS = 40, 5
SEEDS = 40
MANY = 8
"""Keys that stand in a Go map in the order in which they were put; of more, many runs miss some orders."""


def rows(program: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in (GOLDEN / f"{program}.jsonl").read_text(encoding="ascii").splitlines()
    ]


def asked(group: dict[str, Any], seed: int = 0) -> dict[str, list[list[Any]]]:
    said = ("assignment", "assignments", "error")
    found = pw.assign(**{name: given for name, given in group.items() if name not in said}, seed=seed)
    assert found.chance is None or "assignment" not in group or found.chance.same
    return {member: [list(pair) for pair in pairs] for member, pairs in found.to_dict().items()}


def sizes(lists: dict[str, list[Any]]) -> list[int]:
    return sorted(len(pairs) for pairs in lists.values())


def kept(group: dict[str, Any], lists: dict[str, list[Any]]) -> int:
    """How many partitions stay with a member that reports them as its own."""
    return sum(pair in member.get("owned", ()) for member in group["members"] for pair in lists[member["id"]])


@pytest.mark.parametrize("program", VERSIONS)
def test_the_clients_assign_the_same(program: str) -> None:
    provenance, *groups = rows(program)
    assert provenance["version"] == VERSIONS[program]
    for group in groups:
        if "error" in group:
            with pytest.raises(pw.PartwrightError):
                asked(group)
        elif "assignment" in group:
            assert asked(group) == group["assignment"], group
        else:
            for seed in range(SEEDS):
                assert asked(group, seed) in group["assignments"], (seed, group)
    assert all(number > 20 for number in Counter(group["assignor"] for group in groups).values())


@pytest.mark.parametrize("program", ["sarama", "franz-go", "kafka-go"])
def test_all_answers_of_chance_are_reached(program: str) -> None:
    several = [group for group in rows(program)[1:] if len(group.get("assignments", ())) > 1]
    reached = [{json.dumps(asked(group, seed)) for seed in range(5 * SEEDS)} for group in several]
    every = [len(group["assignments"]) for group in several]
    assert several
    assert sum(map(len, reached)) > 0.8 * sum(every)


def test_an_answer_says_what_was_left_to_chance() -> None:
    group: dict[str, Any] = {"topics": {"a": 3, "b": 2}, "members": {"c1": ["a", "b"], "c2": ["a", "b"]}}
    found = pw.assign(**group, assignor="franz-go:sticky", seed=7)
    assert found.chance is not None
    assert found.chance.same == ("sizes", "moves")
    assert found.chance.why == "Go walks its maps in an order that it draws anew each time"
    assert pw.assign(**group, assignor="franz-go:range").chance is None
    assert pw.assign({"a": 3}, {"c1": ["a"], "c2": ["a"]}, "franz-go:sticky").chance is None


def test_where_the_client_fails_the_reason_is_said() -> None:
    members = {"c1": ["gone"]}
    with pytest.raises(
        pw.PartwrightError, match=r'topic "gone" has no partitions, .*ErrUnknownTopicOrPartition'
    ):
        pw.assign({"a": 1}, members, "sarama:range")
    with pytest.raises(pw.PartwrightError, match="members and topics are not provided"):
        pw.assign({"a": 1}, {"c1": []}, "sarama:roundrobin")
    with pytest.raises(pw.PartwrightError, match=r"BalanceRacks is there since franz-go 1\.22\.0"):
        pw.assign({"a": 1}, {"c1": ["a"]}, "franz-go:sticky@1.21", balance_racks=True)


@pytest.fixture
def running(reference: Callable[[str], ModuleType], tmp_path: Path) -> Callable[[str], list[str]]:
    """The command that asks a program."""
    builds = reference("builds")

    def build(program: str) -> list[str]:
        modules = program if program.startswith("franz-go-") else "go"
        built = builds.build_node(tmp_path) if program == "kafkajs" else builds.build_go(tmp_path, modules)
        asked: list[str] = reference("client_groups").command(built, program)
        return asked

    return build


@pytest.mark.reference
@pytest.mark.go
@pytest.mark.node
@pytest.mark.parametrize("program", VERSIONS)
def test_random_groups_are_assigned_as_the_client_does(
    program: str,
    reference: Callable[[str], ModuleType],
    running: Callable[[str], list[str]],
    seed: int,
    cases: Callable[[int], int],
) -> None:
    asking, number = reference("client_groups"), 0
    stories = -(-cases(CASES) // ROUNDS)
    for name in asking.assignors(program):
        for group, answer in asking.rounds(running(program), seed, stories, name):
            number += 1
            if "@1.20" in name:
                # Whether it panics depends on the order of its maps.
                with suppress(pw.PartwrightError):
                    asked(group, number)
            elif "error" in answer:
                with pytest.raises(pw.PartwrightError):
                    asked(group)
            elif not asking.has_chance(name):
                assert asked(group) == answer["assignment"], group
            elif name.startswith("franz-go:") and "@" not in name:
                _is_as_good(group, asked(group, number), answer["assignment"])
            else:
                asked(group, number)
    assert number


def _is_as_good(group: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """franz-go's answers have the same balance and the same moves, whatever the order of its maps."""
    chance = pw.assign(**group).chance
    if chance is None:
        assert ours == theirs, group
    for same, measured in [("sizes", sizes), ("moves", lambda lists: kept(group, lists))]:
        if chance is not None and same in chance.same:
            assert measured(ours) == measured(theirs), (same, group)


@pytest.mark.reference
@pytest.mark.go
@pytest.mark.node
@pytest.mark.parametrize("program", [name for name in VERSIONS if name not in ("kafkajs", "sarama-1.27")])
def test_each_answer_is_one_that_the_client_reaches(
    program: str,
    reference: Callable[[str], ModuleType],
    running: Callable[[str], list[str]],
    seed: int,
    cases: Callable[[int], int],
) -> None:
    asking = reference("client_groups")
    stories = -(-cases(SMALL_CASES) // ROUNDS)
    for name in filter(asking.has_chance, asking.assignors(program)):
        for group, answer in asking.rounds(running(program), seed, stories, name, asking.RUNS):
            if "error" in answer and "@1.20" in name:
                # It panics for some orders of its maps.
                continue
            if "error" in answer:
                with pytest.raises(pw.PartwrightError):
                    asked(group)
            elif len(answer["assignments"]) <= asking.GOLDEN_ANSWERS or sum(group["topics"].values()) < MANY:
                assert _among(group, answer["assignments"]), group


def _among(group: dict[str, Any], assignments: list[dict[str, Any]]) -> bool:
    """Whether nearly all of our answers are among the client's, of which we may not have seen all."""
    found = [asked(group, seed) in assignments for seed in range(SEEDS)]
    return all(found) or (len(assignments) > SEEDS // 4 and sum(found) > 0.8 * SEEDS)
