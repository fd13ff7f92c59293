"""Random scripts of members to a real group coordinator and to ours: every answer, every state.

The seed is printed with a failure: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks more scripts a protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

pytestmark = pytest.mark.reference

CASES = 400


def has_member_of_two_instances(question: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Whether a member that is in the group comes as somebody else's `group.instance.id`, under the id that it has.

    No client does so, and Kafka keeps what it was beside what it becomes: its answers hang on records half written.
    """
    instances: dict[str, str | None] = {}
    errors = {each["of"]: each["error"] for each in answer["answers"]}
    there: set[str] = set()
    for place, request in enumerate(question["requests"]):
        if request["request"] == "heartbeat" and errors.get(place) == "NONE":
            name, instance = request["member"], request.get("instance_id")
            if name in there and instances.get(name) != instance and instance is not None:
                return True
            instances[name] = instance if instance is not None else instances.get(name)
        there = set(answer["states"][place]["members"])
        instances = {name: instance for name, instance in instances.items() if name in there}
    return False


@pytest.mark.parametrize("kind", ["classic", "consumer"])
def test_random_scripts_have_the_coordinators_answers(
    kind: str, reference: Callable[[str], ModuleType], tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    replay = reference("coordinator_replay").replay
    asking = reference("coordinator")
    count = cases(CASES)
    questions = list(asking.questions(kind, seed, count))
    _, answers = asking.ask(asking.build(tmp_path), questions)
    left_out = 0
    for question, answer in zip(questions, answers, strict=True):
        ids = answer.pop("ids")
        if kind == "consumer" and has_member_of_two_instances(question, answer):
            left_out += 1
            continue
        assert replay(question, ids) == answer, question
    assert left_out < count / 4


def test_member_ids_are_the_same_each_time(reference: Callable[[str], ModuleType], tmp_path: Path) -> None:
    """They hang on the script alone: not on the machine, the day or the scripts before."""
    asking = reference("coordinator")
    questions = list(asking.questions("classic", 1, 30))
    command = asking.build(tmp_path)
    _, answers = asking.ask(command, questions)
    _, again = asking.ask(command, questions[::-1])
    assert again[::-1] == answers
    ids = [member for answer in answers for _, member in answer["ids"]]
    assert len(ids) == len(set(ids)) > 30
