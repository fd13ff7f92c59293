"""Asks a real group coordinator what becomes of scripts of requests, of both group protocols; keeps what it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from builds import build_java
from group_scripts import classic_scripts
from strategies import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Scripts = Callable[[], Iterator[dict[str, Any]]]

__all__ = ["KINDS", "PROGRAM", "ask", "build", "golden", "questions"]

PROGRAM = "partwright.CoordinatorAnswers"
KINDS: dict[str, Scripts] = {"classic": classic_scripts}
"""By kind, the scripts that are written by hand."""


def build(folder: Path) -> list[str]:
    """The command that asks the coordinator, built in a folder."""
    return [*build_java(folder), PROGRAM]


def questions(kind: str) -> Iterator[dict[str, Any]]:
    """The scripts that are written by hand."""
    yield from KINDS[kind]()


def golden(command: Sequence[str], kind: str) -> str:
    """The golden file of a kind: a line of provenance, then a script with what came of it a line."""
    asked = list(questions(kind))
    provenance, answers = ask(command, asked)
    lines = [json.dumps({**provenance, "program": command[-1]})]
    for question, answer in zip(asked, answers, strict=True):
        lines.append(json.dumps({**question, **answer}, separators=(",", ":")))
    return "".join(f"{line}\n" for line in lines)
