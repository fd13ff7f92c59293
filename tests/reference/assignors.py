"""Asks Kafka's own assignors about the stories of `groups.py`, round by round, and writes down what they say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from builds import run
from groups import ASSIGNORS, Story

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GOLDEN_STORIES = 25
ROUNDS = 5


def ask(
    command: Sequence[str], groups: Sequence[dict[str, Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The provenance, and the answer to each group."""
    asked = "".join(f"{json.dumps(group)}\n" for group in groups)
    provenance, *answers = map(json.loads, run(command, asked).splitlines())
    return provenance, answers


def rounds(
    command: Sequence[str], seed: int, stories: int, assignors: Sequence[str] = ASSIGNORS
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each group with its answer: of every assignor so many stories, with `ROUNDS` rounds each at most."""
    going = [Story(f"{seed}:{name}:{number}", name) for name in assignors for number in range(stories)]
    for _ in range(ROUNDS):
        groups = [story.group for story in going]
        _, answers = ask(command, groups)
        yield from zip(groups, answers, strict=True)
        for story, answer in zip(going, answers, strict=True):
            if "assignment" in answer:
                story.go_on(answer["assignment"])
        going = [story for story, answer in zip(going, answers, strict=True) if "assignment" in answer]


def golden(command: Sequence[str]) -> str:
    """The golden file of groups: a line of provenance, then a group with its answer a line."""
    provenance, _ = ask(command, [])
    lines = [json.dumps({**provenance, "program": command[-1]})]
    lines += [
        json.dumps({**group, **answer}, separators=(",", ":"))
        for group, answer in rounds(command, seed=0, stories=GOLDEN_STORIES)
    ]
    return "".join(f"{line}\n" for line in lines)
