"""Asks whole real consumers what becomes of a group's script, keeps the answer, and compares it with another one."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import life_questions
import life_scripts
from asking import ask, golden_file
from builds import build_java

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["build", "disagreement", "golden", "lives", "questions", "readers", "with_ids"]

_PROGRAM = "partwright.LifeAnswers"
GOLDEN = {
    "classic": 35,
    "consumer": 35,
    "consumer-4.0": 20,
    "consumer-4.1": 20,
    "consumer-4.2": 20,
    "consumer-4.3": 20,
}
"""How many random lives a golden file has, besides those by hand: by protocol, with the version of older consumers."""
SLACK_MS = 100
"""A change is the same one where it is within a poll interval and this."""
BATCH = 50

Change = tuple[int, str | None]


def build(folder: Path, kafka: str = "") -> list[str]:
    """The command that plays scripts, built in a folder: with today's consumers, or those of a profile of the POM."""
    command = [*build_java(folder), _PROGRAM]
    if not kafka:
        return command
    _, _, classpath = build_java(folder, kafka)
    return [*command, str(Path(classpath.split(os.pathsep)[-1]).parent)]


def questions(protocol: str, seed: int, count: int) -> Iterator[dict[str, Any]]:
    """So many random scripts, each with its name; the protocol may have a version of the consumers behind it."""
    protocol, _, kafka = protocol.partition("-")
    for number in range(count):
        name = f"{seed}:{protocol}:{number}"
        yield {"name": name, "script": _for(kafka, life_questions.script(name, protocol))}


def _for(kafka: str, script: dict[str, Any]) -> dict[str, Any]:
    """A script as consumers of a version can live it: those of 4.0 have no `CloseOptions`."""
    if kafka != "4.0":
        return script
    events = [
        {name: told for name, told in event.items() if name != "operation"} for event in script["events"]
    ]
    return {**script, "events": events}


def lives(
    command: Sequence[str], scripts: Sequence[dict[str, Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The provenance, and what became of each script."""
    provenance: dict[str, Any] = {}
    found: list[dict[str, Any]] = []
    for begin in range(0, len(scripts), BATCH):
        provenance, answers = ask(command, scripts[begin : begin + BATCH], patience_a_question_s=30)
        found += answers
    return provenance, found


def golden(command: Sequence[str], kind: str) -> str:
    """The golden file of a protocol: a line of provenance, then a script with what became of it a line.

    `command` is that of `build`, with the version of the consumers in `kind`.
    """
    protocol, _, kafka = kind.partition("-")
    by_hand = ({**each, "script": _for(kafka, each["script"])} for each in life_scripts.scripts(protocol))
    asked = [*by_hand, *questions(kind, 0, GOLDEN[kind])]
    provenance, answers = lives(command, [question["script"] for question in asked])
    rows = ({**question, **answer} for question, answer in zip(asked, answers, strict=True))
    return golden_file([_PROGRAM], provenance, rows)


def with_ids(script: dict[str, Any], life: dict[str, Any]) -> dict[str, Any]:
    """The script, with the ids that Kafka drew for those who join, one after the other: orders depend on them."""
    starts = [_starts(script, event) for event in script["events"]]
    drawn: dict[int, list[str]] = {}
    for at_ms, name, member_id in life["ids"]:
        begun = [place for place, (from_ms, who) in enumerate(starts) if who == name and from_ms <= at_ms]
        drawn.setdefault(begun[-1], []).append(member_id)
    events = [
        {**event, "member_id": drawn[place]} if place in drawn else event
        for place, event in enumerate(script["events"])
    ]
    return {**script, "events": events}


def _starts(script: dict[str, Any], event: dict[str, Any]) -> tuple[int, str | None]:
    """When a consumer starts with an event, and whose it is."""
    if "restart" in event:
        return event["at_ms"] + event.get("down_ms", script.get("down_ms", 5000)), event["restart"]
    return event["at_ms"], event.get("join")


def readers(changes: Iterable[tuple[int, str, int, str | None]]) -> dict[tuple[str, int], list[Change]]:
    """By partition, when who reads it from then on; nobody at first."""
    found: dict[tuple[str, int], list[Change]] = {}
    for at_ms, topic, partition, reader in changes:
        mine = found.setdefault((topic, partition), [(0, None)])
        if mine[-1][0] == at_ms:
            mine.pop()
        if not mine or mine[-1][1] != reader:
            mine.append((at_ms, reader))
    return found


def disagreement(
    script: dict[str, Any],
    real: dict[tuple[str, int], list[Change]],
    other: dict[tuple[str, int], list[Change]],
) -> str:
    """The first thing of which two lives of a script say something else; empty where they say the same.

    The same: at each moment, whoever reads a partition in one life reads it in the other within a poll interval and
    `SLACK_MS` of that moment. So the readers come in the same order, and each change is as near as that. A gap in which
    nobody reads may be missing where its ends may meet.
    """
    members = [script, *(event for event in script["events"] if "join" in event or "restart" in event)]
    slack_ms = max(each.get("poll_ms", 500) for each in members) + SLACK_MS
    until_ms = script["until_ms"]
    found = []
    for partition in sorted({*real, *other}):
        mine, theirs = (_spans(life.get(partition, [(0, None)]), until_ms) for life in (real, other))
        for words, spans, among in (("reads", mine, theirs), ("does not read", theirs, mine)):
            for from_ms, to_ms, reader in spans:
                if reader is None and to_ms - from_ms <= 2 * slack_ms:
                    continue
                at_ms = _missing(from_ms, to_ms, [each for each in among if each[2] == reader], slack_ms)
                if at_ms is not None:
                    who = "nobody" if reader is None else reader
                    found.append((at_ms, f"{who} {words} {partition[0]}-{partition[1]} at {at_ms} ms"))
    return min(found)[1] if found else ""


def _spans(changes: list[Change], until_ms: int) -> list[tuple[int, int, str | None]]:
    ends: list[Change] = [*changes, (until_ms, None)]
    return [(at_ms, to_ms, reader) for (at_ms, reader), (to_ms, _) in pairwise(ends) if at_ms < to_ms]


def _missing(from_ms: int, to_ms: int, among: list[tuple[int, int, str | None]], slack_ms: int) -> int | None:
    """The first moment of a span of which no span of the others is near; they are in their order."""
    at_ms = from_ms
    for begin_ms, end_ms, _ in among:
        if begin_ms - slack_ms <= at_ms <= end_ms + slack_ms:
            at_ms = end_ms + slack_ms
    return at_ms if at_ms < to_ms else None
