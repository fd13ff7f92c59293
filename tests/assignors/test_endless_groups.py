"""Groups whose partitions Kafka's own sticky assignors move in a circle for ever: partwright refuses them at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

GROUPS = [
    json.loads(line)
    for line in (Path(__file__).parent / "endless_groups.jsonl").read_text(encoding="utf-8").splitlines()
]
PATIENCE_S = 20.0
ENDLESS_S = 10.0
"""Many times as long as a group of this size takes; each wait takes a core for as long."""
"""Kafka's own assignors answer groups of this size in milliseconds, their programs are there after a second."""


def by_assignor(group: dict[str, Any]) -> str:
    return str(group["assignor"])


def assigned(group: dict[str, Any]) -> Any:
    return pw.assign(group["topics"], group["members"], group["assignor"], racks=group.get("racks"))


def test_each_sticky_algorithm_has_such_a_group() -> None:
    assert {by_assignor(group) for group in GROUPS} == {
        "sticky",
        "cooperative-sticky",
        "sticky@2.8",
        "cooperative-sticky@2.8",
        "sticky@2.3",
    }


@pytest.mark.parametrize("group", GROUPS, ids=by_assignor)
def test_a_circle_is_an_error(group: dict[str, Any]) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        assigned(group)
    assert str(refused.value) == (
        f"{group['assignor']} has no assignment for this group (Kafka's own assignor moves its partitions in a "
        "circle, for ever)"
    )


@pytest.mark.parametrize("group", GROUPS, ids=by_assignor)
def test_with_one_member_less_there_is_an_assignment(group: dict[str, Any]) -> None:
    for place in range(len(group["members"])):
        members = [*group["members"][:place], *group["members"][place + 1 :]]
        found = assigned({**group, "members": members}).to_dict()
        assert list(found) == [member["id"] for member in members]
        assert any(found.values())


@pytest.mark.reference
@pytest.mark.parametrize("group", GROUPS, ids=by_assignor)
def test_kafkas_own_never_ends(
    group: dict[str, Any], reference: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    asking, builds = reference("assignors"), reference("builds")
    command = asking.build(group["assignor"], tmp_path)
    smaller = {**group, "members": group["members"][1:]}
    assert "assignment" in json.loads(
        builds.run(command, f"{json.dumps(smaller)}\n", PATIENCE_S).splitlines()[1]
    )
    with pytest.raises(builds.NoAnswerError):
        builds.run(command, f"{json.dumps(group)}\n", ENDLESS_S)
