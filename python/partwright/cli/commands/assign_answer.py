"""Plain `partwright assign`: one group's answer, or a line for each of many groups."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from partwright.cli.commands.assign_led import is_of_leader, leaders_of
from partwright.cli.input.group_json import names_clients, read_group, within
from partwright.cli.input.group_sources import RealGroup
from partwright.cli.input.json import lines, named

if TYPE_CHECKING:
    from partwright.assignors.assignment import Assignment
    from partwright.assignors.mixed.leaders import Leaders, Led

__all__ = ["answer_of", "print_each"]


def print_each(file: str, assignor: str | None, leader: str | None, *, has_summary: bool) -> None:
    """Print a line of JSON for each line of a file, which begins with its verdict if that is wanted."""
    for number, line in enumerate(lines(file), 1):
        if line.strip():
            where = f"{named(file)}, line {number}"
            answer = answer_of(RealGroup(line), assignor, where, leader)
            if has_summary:
                # Imported only here, so that plain lines do not wait for it.
                from partwright.report import document

                click.echo(json.dumps(document(answer).answer))
            else:
                click.echo(json.dumps(answer.json_object()))


def answer_of(
    real: RealGroup, assignor: str | None, where: str, leader: str | None
) -> Assignment | Led | Leaders:
    """The answer for one group: under the leader that decides, or by an assignor that does not depend on it.

    Raises:
        PartwrightError: The group is invalid, or the leader's client fails.
    """
    from partwright.assignors.assign import assign

    with within(where):
        group = read_group(real.json, assignor, needs_assignor=leader is None)
        if leader is not None or (names_clients(group) and is_of_leader(group.get("assignor"))):
            return replace(leaders_of(group, leader), assumed=real.assumed)
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
    found.assumed = real.assumed
    return found
