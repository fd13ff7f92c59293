"""Members that return to `sticky` with a smaller subscription, and get what they no longer read, as with Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

TOPICS = {"a": 1, "b": 1}
MEMBERS: list[dict[str, Any]] = [
    {"id": "c1", "topics": ["a", "b"], "owned": [["a", 0], ["b", 0]], "generation": 2},
    {"id": "c2", "topics": ["a", "b"], "owned": [], "generation": 2},
    # It was removed from the group, subscribed to less, and is back.
    {"id": "c3", "topics": ["a"], "owned": [["b", 0]], "generation": 1},
]
GIVEN_BACK = {"c1": [["a", 0]], "c2": [], "c3": [["b", 0]]}
LEFT_ALONE = {"c1": [["a", 0]], "c2": [["b", 0]], "c3": []}
CASES = [("sticky", GIVEN_BACK), ("sticky@2.3", GIVEN_BACK), ("sticky@2.8", LEFT_ALONE)]


@pytest.mark.parametrize(("assignor", "expected"), CASES)
def test_who_had_a_partition_may_have_it_back(assignor: str, expected: dict[str, Any]) -> None:
    found = pw.assign(TOPICS, MEMBERS, assignor).to_dict()
    assert {member: [list(pair) for pair in pairs] for member, pairs in found.items()} == expected


@pytest.mark.reference
@pytest.mark.parametrize(("assignor", "expected"), CASES)
def test_kafkas_own_says_so(
    assignor: str, expected: dict[str, Any], reference: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    asking = reference("assignors")
    group = {"assignor": assignor, "topics": TOPICS, "members": MEMBERS}
    _, answers = asking.ask(asking.build(assignor, tmp_path), [group])
    assert answers[0]["assignment"] == expected


def played(topics: dict[str, int], *events: dict[str, Any]) -> list[str]:
    """Why each generation began."""
    script = {"topics": topics, "assignor": "sticky", "until_ms": 1_200_000, "events": list(events)}
    return [each["why"] for each in pw.group.play(script, ownership=False).generations()]


def test_its_consumer_joins_again() -> None:
    whys = played(
        TOPICS,
        {"at_ms": 0, "join": "c1"},
        {"at_ms": 0, "join": "c3"},
        {"at_ms": 30_000, "stall": "c3", "for_ms": 400_000},
        {"at_ms": 400_000, "subscribe": "c3", "topics": ["a"]},
        {"at_ms": 429_900, "join": "c2"},
    )
    assert whys == ["c1 joined", "c3 left", "c2 joined", "c3 was told to read what it does not subscribe to"]


def test_a_group_may_rebalance_on_and_on() -> None:
    whys = played(
        {"t1": 6, "t2": 7},
        {"at_ms": 4010, "join": "m1"},
        {"at_ms": 34_010, "join": "m0"},
        {"at_ms": 154_111, "join": "m4"},
        {"at_ms": 164_112, "stall": "m4", "for_ms": 400_000},
        {"at_ms": 165_112, "subscribe": "m4", "topics": ["t1"]},
    )
    assert len(whys) > 100
    assert set(whys[5:]) == {"m4 was told to read what it does not subscribe to"}
