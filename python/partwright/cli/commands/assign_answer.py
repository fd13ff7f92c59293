"""Plain `partwright assign`: one answer for one group, or a line for each of many."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from partwright.cli.commands.assign_led import is_of_leader, led
from partwright.cli.input.group_json import names_clients, read_group, within
from partwright.cli.input.json import lines, named
from partwright.cli.input.options import save_report

if TYPE_CHECKING:
    from pathlib import Path

    from partwright._check import Json
    from partwright.assignors.assignment import Assignment

__all__ = ["print_answer", "print_each"]


def print_answer(
    text: str, assignor: str | None, where: str, report: Path | None, leader: str | None, *, as_json: bool
) -> None:
    """Print one group's answer, and below it the verdict where a person reads it."""
    answer = _answer(text, assignor, where, report, leader)
    click.echo(answer.told(as_json=as_json))
    if sys.stdout.isatty() and not as_json and (summary := answer.summary()):
        click.echo(summary, err=True)


def print_each(file: str, assignor: str | None, leader: str | None, *, as_json: bool) -> None:
    """Print a line for each line of a file."""
    for number, line in enumerate(lines(file), 1):
        if line.strip():
            where = f"{named(file)}, line {number}"
            click.echo(_answer(line, assignor, where, None, leader).told(as_json=as_json))


class _Answer(NamedTuple):
    """What a group's members read.

    Attributes:
        json: It, as other programs read it.
        found: It in columns; None where it is several, one for each leader.
        assignor: The assignor.
    """

    json: Json
    found: Assignment | None
    assignor: str | None

    def told(self, *, as_json: bool) -> str:
        """One line of JSON, which begins with the verdict only if --json asks for it."""
        summary = self.summary() if as_json else None
        return json.dumps(self.json if summary is None else {"summary": summary, **self.json})

    def summary(self) -> str | None:
        """The verdict."""
        from partwright.report.sentences import of_assignment

        return None if self.found is None else of_assignment(self.found, self.assignor)[0].text


def _answer(text: str, assignor: str | None, where: str, report: Path | None, leader: str | None) -> _Answer:
    from partwright.assignors.assign import assign

    with within(where):
        group = read_group(text, assignor, needs_assignor=leader is None)
        if leader is not None or (names_clients(group) and is_of_leader(group.get("assignor"))):
            return _Answer(*led(group, leader, report, where))
        found = assign(
            group["topics"],
            group["members"],
            group["assignor"],
            racks=group.get("racks"),
            topic_ids=group.get("topic_ids"),
            partition_order=group.get("partition_order"),
            seed=group.get("seed", 0),
            balance_racks=group.get("balance_racks", False),
        )
    save_report(report, found, where, assignor=group["assignor"])
    ids = {} if found.topic_ids is None else {"topic_ids": found.topic_ids}
    chance = {} if found.chance is None else {"chance": found.chance._asdict()}
    return _Answer({"assignment": found.to_dict(), **ids, **chance}, found, group["assignor"])
