"""Random groups over several rounds, each assigned by the real client and by partwright, list for list.

A failure prints the seed: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks for more groups per assignor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.assignors.names import assignors, client_assignors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

pytestmark = pytest.mark.reference

ASKED_ELSEWHERE = ("sarama:", "franz-go:", "kafka-go:", "kafkajs:")
"""test_client_groups.py asks them."""
CASES = 500
ROUNDS = 5
AT_ONCE = 100
"""So many stories a process is asked about: one that has no answer costs these, and not all."""
TRIES = 3
IN_TWO_LISTS = {
    "assignor": "librdkafka:cooperative-sticky@2.1",
    "topics": {"t": 13, "u": 5},
    "members": [
        {"id": "c1", "topics": ["u"], "instance_id": "i", "owned": [["u", 4]]},
        {"id": "c2", "topics": ["u", "t"], "owned": []},
        {"id": "c3", "topics": ["t"], "instance_id": "i", "owned": [["u", 4]]},
    ],
}
"""u-4 stays with its first claimant and moves to it from the last one."""


def answer(group: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    try:
        found = pw.assign(**group)
    except pw.PartwrightError as error:
        if ":" in group["assignor"]:
            # A sentence that tells what the client does.
            return {"error": said["error"] if said.get("error", "?") in str(error) else str(error)}
        return {"error": str(error).rsplit(" ", 1)[-1].rstrip(")")}
    if found.chance is not None and "assignment" in said:
        # One of several answers: our seed's need not be the one of the client's process.
        sizes = sorted(map(len, said["assignment"].values()))
        assert sum(map(len, found.to_dict().values())) == sum(sizes) or "sizes" not in found.chance.same
        return said
    lists = {member: [list(pair) for pair in pairs] for member, pairs in found.to_dict().items()}
    return {"assignment": lists} | ({} if found.topic_ids is None else {"topic_ids": found.topic_ids})


@pytest.mark.parametrize(
    "assignor",
    [*assignors(), *(name for name in client_assignors() if not name.startswith(ASKED_ELSEWHERE))],
)
def test_random_groups_are_assigned_as_kafka_does(
    assignor: str,
    reference: Callable[[str], ModuleType],
    tmp_path: Path,
    seed: int,
    cases: Callable[[int], int],
) -> None:
    asking = reference("assignors")
    command = asking.build(assignor, tmp_path)
    stories = -(-cases(CASES) // ROUNDS)
    for first in range(0, stories, AT_ONCE):
        _ask(
            asking,
            command,
            seed + TRIES * first,
            min(AT_ONCE, stories - first),
            assignor,
            reference("builds"),
        )


def _ask(
    asking: ModuleType, command: list[str], seed: int, stories: int, assignor: str, builds: ModuleType
) -> None:
    # If Kafka's own assignor never ends, there is no answer to compare with: other groups are asked about.
    for number in range(TRIES):
        try:
            return _compare(asking, command, seed + number, stories, assignor)
        except builds.NoAnswerError as endless:
            print(endless)  # noqa: T201 - the same
    pytest.fail(f"{TRIES} times there was no answer")


def _compare(asking: ModuleType, command: list[str], seed: int, stories: int, assignor: str) -> None:
    asked = 0
    for group, said in asking.rounds(command, seed, stories, [assignor]):
        assert answer(group, said) == said, group
        asked += 1
    # A story ends early if the client throws, as kafka-python's roundrobin does in two groups of five, or if the
    # answer depends on where objects are in memory.
    assert asked > stories * ROUNDS // 2


def test_a_partition_that_is_in_two_lists_is_given_once(
    reference: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    asking = reference("assignors")
    _, [said] = asking.ask(asking.build(IN_TWO_LISTS["assignor"], tmp_path), [IN_TWO_LISTS])
    assert answer(IN_TWO_LISTS, said) == said
    given = [tuple(pair) for pairs in said["assignment"].values() for pair in pairs]
    assert sorted(given) == [
        *(("t", number) for number in range(13)),
        *(("u", number) for number in range(5)),
    ]
