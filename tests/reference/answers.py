"""Asks a client's program, and makes a golden file of its answers.

Every program keeps to one protocol: lines `<hex key or the word null> <n>` in; out comes one line of JSON that says who
answers, one line with the names of the profiles, and then, for each line in, their partitions. A dash stands where a
profile has no answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from builds import CannotAskError, run
from questions import PARTITIONS, keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Question = tuple[bytes | None, int]

# Used if a client does not hash: a client that chooses is asked so often that it has chosen every partition.
UNKEYED: dict[str, bytes | None] = {"null": None, "empty": b""}
UNKEYED_PARTITIONS = [7, 12]
ASKED = 600

# Java's Math.abs leaves the lowest int negative, and so the partition.
NEGATIVE = {"java:string-hash"}


@dataclass(frozen=True)
class Answers:
    """A client's answers: who it is, and for each question the partition by profile, or None for no answer."""

    provenance: Mapping[str, Any]
    profiles: Sequence[str]
    partitions: Sequence[Sequence[int | None]]


def ask(command: Sequence[str], questions: Sequence[Question]) -> Answers:
    """Lets a client's program answer, and refuses output that does not answer the questions."""
    asked = "".join(f"{'null' if key is None else key.hex()} {n}\n" for key, n in questions)
    lines = run(command, asked).splitlines()
    try:
        provenance = json.loads(lines[0])
        profiles = lines[1].split()
        functions = provenance["functions"]
    except (IndexError, ValueError, KeyError, TypeError) as error:
        raise CannotAskError(f"{' '.join(command)} does not say who answers: {lines[:1]}") from error
    if not profiles or sorted(functions) != sorted(profiles):
        raise CannotAskError(
            f"{' '.join(command)} has the profiles {profiles}, and functions for {list(functions)}"
        )
    said = lines[2:]
    if len(said) != len(questions):
        raise CannotAskError(
            f"{profiles[0]} was asked {len(questions)} questions and gave {len(said)} answers"
        )
    partitions = [
        _partitions(line, profiles, question) for line, question in zip(said, questions, strict=True)
    ]
    return Answers(provenance, profiles, partitions)


def golden(command: Sequence[str]) -> str:
    """The golden file of a client, from its present answers."""
    named = keys()
    keyed = [(key, n) for n in PARTITIONS for key in named.values()]
    unkeyed = [(key, n) for key in UNKEYED.values() for n in UNKEYED_PARTITIONS for _ in range(ASKED)]
    said = ask(command, [*keyed, *unkeyed])
    functions = {profile: said.provenance["functions"][profile] for profile in said.profiles}
    sections: dict[str, Any] = {
        "provenance": {**said.provenance, "functions": functions},
        "partitions": PARTITIONS,
        "profiles": said.profiles,
    }
    start = len(keyed)
    for section in UNKEYED:
        seen: dict[str, dict[str, list[int]]] = {profile: {} for profile in said.profiles}
        for n in UNKEYED_PARTITIONS:
            for at, profile in enumerate(said.profiles):
                chosen = {answer[at] for answer in said.partitions[start : start + ASKED]}
                seen[profile][str(n)] = sorted(partition for partition in chosen if partition is not None)
            start += ASKED
        sections[section] = seen
    sections["keys"] = [
        [name, key.hex(), *_by_profile(said, row, len(named))]
        for row, (name, key) in enumerate(named.items())
    ]
    return _json(sections)


def _partitions(line: str, profiles: Sequence[str], question: Question) -> list[int | None]:
    key, n = question
    words = line.split()
    try:
        partitions = [None if word == "-" else int(word) for word in words]
    except ValueError:
        partitions = []
    if len(partitions) != len(profiles):
        raise CannotAskError(
            f"{profiles[0]} answers {line!r}, which is not one partition for each of {profiles}"
        )
    for profile, partition in zip(profiles, partitions, strict=True):
        if partition is not None and not (-n if profile in NEGATIVE else -1) < partition < n:
            written = "null" if key is None else key.hex() or "the empty key"
            raise CannotAskError(f"{profile} puts {written} into partition {partition} of {n}")
    return partitions


def _by_profile(said: Answers, row: int, keys_per_n: int) -> list[list[int | None] | None]:
    """By profile, a key's partition for each n; None for a profile that has no answer for any n."""
    asked = [said.partitions[at * keys_per_n + row] for at in range(len(PARTITIONS))]
    columns = [list(column) for column in zip(*asked, strict=True)]
    return [None if set(column) == {None} else column for column in columns]


def _json(sections: Mapping[str, Any]) -> str:
    """One key per line, so that a line of a diff is a key that moved."""
    parts = []
    for name, section in sections.items():
        if name == "keys":
            rows = ",\n".join(f"  {json.dumps(row, separators=(',', ':'))}" for row in section)
            parts.append(f' "keys": [\n{rows}\n ]')
        elif isinstance(section, dict):
            rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in section.items())
            parts.append(f" {json.dumps(name)}: {{\n{rows}\n }}")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(section)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
