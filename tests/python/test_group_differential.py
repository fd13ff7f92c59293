"""Random scripts of members to a real group coordinator and to ours: every answer, every state.

The seed is printed with a failure: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks more scripts a protocol.
"""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

pytestmark = [pytest.mark.slow, pytest.mark.reference]

CASES = 1500


@pytest.mark.parametrize("kind", ["classic", "consumer"])
def test_random_scripts_have_the_coordinators_answers(
    kind: str, reference: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    from partwright.group.replay import replay

    asking = reference("coordinator")
    seed = int(os.environ.get("PARTWRIGHT_SEED") or secrets.randbits(32))
    print(f"PARTWRIGHT_SEED={seed}")  # noqa: T201 - pytest shows it where the test fails
    count = int(os.environ.get("PARTWRIGHT_CASES") or CASES)
    questions = list(asking.questions(kind, seed, count))
    _, answers = asking.ask(asking.build(tmp_path), questions)
    for question, answer in zip(questions, answers, strict=True):
        ids = answer.pop("ids")
        assert replay(question, ids) == answer, question


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
