"""Plain `partwright assign`: one answer for one group, or a line for each of many."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

from partwright.cli.commands.assign_led import is_of_leader, led
from partwright.cli.echo import echo
from partwright.cli.input.group_json import names_clients, read_group, within
from partwright.cli.input.group_sources import RealGroup
from partwright.cli.input.json import lines, named
from partwright.cli.input.options import save_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright._check import Json
    from partwright.assignors.assignment import Assignment
    from partwright.rendering.document import Verdict

__all__ = ["print_answer", "print_each"]


def print_answer(
    group: RealGroup,
    assignor: str | None,
    where: str,
    report: Path | None,
    leader: str | None,
    *,
    as_json: bool,
) -> None:
    """Print one group's answer and, on a terminal, the verdict below it."""
    answer = _answer(group, assignor, where, report, leader)
    if group.assumed and not as_json:
        # The JSON is the assignment alone.
        for each in group.assumed:
            echo(each, err=True)
    click.echo(answer.told(as_json=as_json))
    if sys.stdout.isatty() and not as_json:
        echo(answer.summary(), err=True)


def print_each(file: str, assignor: str | None, leader: str | None, *, as_json: bool) -> None:
    """Print a line for each line of a file."""
    for number, line in enumerate(lines(file), 1):
        if line.strip():
            where = f"{named(file)}, line {number}"
            click.echo(_answer(RealGroup(line), assignor, where, None, leader).told(as_json=as_json))


class _Answer(NamedTuple):
    """The answer for one group.

    Attributes:
        json: The answer as JSON.
        verdicts: A function that says it in words, the verdict first; called only if needed.
        assumed: What was assumed about the group.
    """

    json: Json
    verdicts: Callable[[], tuple[Verdict, ...]]
    assumed: tuple[str, ...]

    def told(self, *, as_json: bool) -> str:
        """One line of JSON, which has the verdict and what was assumed only if --json asks for it."""
        if not as_json:
            return json.dumps(self.json)
        from partwright.documents.sentences import summed

        return json.dumps(summed(self.verdicts(), self.json, self.assumed))

    def summary(self) -> str:
        """The verdict."""
        return self.verdicts()[0].text


def _answer(
    real: RealGroup, assignor: str | None, where: str, report: Path | None, leader: str | None
) -> _Answer:
    from partwright.assignors.assign import assign

    with within(where):
        group = read_group(real.json, assignor, needs_assignor=leader is None)
        if leader is not None or (names_clients(group) and is_of_leader(group.get("assignor"))):
            return _Answer(*led(group, leader, report, where, real.assumed), real.assumed)
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
    save_report(report, found, where, assignor=group["assignor"], assumed=real.assumed)
    ids = {} if found.topic_ids is None else {"topic_ids": found.topic_ids}
    chance = {} if found.chance is None else {"chance": found.chance._asdict()}
    answer = {"assignment": found.to_dict(), **ids, **chance}
    return _Answer(answer, partial(_in_words, found, group["assignor"]), real.assumed)


def _in_words(found: Assignment, assignor: str) -> tuple[Verdict, ...]:
    # Imported only here, so that a plain assignment does not wait for it.
    from partwright.documents.sentences import of_assignment

    return of_assignment(found, assignor)
