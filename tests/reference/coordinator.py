"""Asks a real group coordinator for its answers to scripts of requests, of both group protocols; keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import classic_scripts
import consumer_scripts
from asking import ask, golden_answers
from builds import build_java
from classic_questions import ClassicStory
from consumer_questions import ConsumerStory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["KINDS", "PROGRAM", "ask", "build", "golden", "questions"]

PROGRAM = "partwright.CoordinatorAnswers"
KINDS = {
    "classic": (classic_scripts.scripts, ClassicStory),
    "consumer": (consumer_scripts.scripts, ConsumerStory),
}
"""By kind, the scripts that are written by hand, and those that are drawn."""
GOLDEN = {"classic": [(112, 11), (6, 44)], "consumer": [(98, 9), (5, 36)]}
"""How many random scripts a golden file has, and how many requests each of them has at most."""


def build(folder: Path) -> list[str]:
    """The command that asks the coordinator, built in a folder."""
    return [*build_java(folder), PROGRAM]


def questions(kind: str, seed: int, count: int, length: int = 60) -> Iterator[dict[str, Any]]:
    """This many random scripts, of at most this many requests."""
    story = KINDS[kind][1]
    for number in range(count):
        yield story(f"{seed}:{kind}:{length}:{number}").question(length)


def golden(command: Sequence[str], kind: str) -> str:
    """The golden file of a kind: a line of provenance, then a line for each script with its result."""
    by_hand = KINDS[kind][0]
    drawn = (questions(kind, 0, *those) for those in GOLDEN[kind])
    asked = [*by_hand(), *(question for those in drawn for question in those)]
    return golden_answers(command, asked)
