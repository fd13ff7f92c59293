"""The output of `partwright group`: generations, a chart, a life's costs, and lives side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich import box
from rich.table import Table

from partwright._check import counted, span
from partwright.cli.echo import echo
from partwright.cli.tables.console import escape, print_summary, right_table, stdout_console
from partwright.documents.sentences import of_lives, of_timeline, seconds
from partwright.group import costs
from partwright.rendering.colours import FAILS, OPEN, TERMINAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwright._check import Json
    from partwright.group import Cost, Timeline

__all__ = ["print_compared", "print_races", "print_requests", "print_timeline"]

_MOST_GENERATIONS = 60
_MOST_MEMBERS = 8


def print_timeline(timeline: Timeline, width: int) -> None:
    """Print the generations, a chart, and the costs."""
    console = stdout_console()
    first, *others = of_timeline(timeline)
    print_summary(console, first)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("generation", justify="right")
    table.add_column("at", justify="right")
    table.add_column("why")
    table.add_column("leader")
    table.add_column("partitions")
    generations = list(timeline.generations())
    for each in generations[:_MOST_GENERATIONS]:
        table.add_row(
            str(each["generation"]),
            seconds(each["at_ms"]),
            _cell(each["why"]),
            _cell(_leader(each)),
            _cell(_counts(each)),
        )
    console.print(table)
    if len(generations) > _MOST_GENERATIONS:
        console.print(f"... and {counted(len(generations) - _MOST_GENERATIONS, 'more generation')}")
    for line in timeline.chart(width).split("\n"):
        echo(line)
    for said in others:
        style = {"fails": TERMINAL[FAILS], "open": TERMINAL[OPEN]}.get(said.state)
        console.print(_cell(said.text), soft_wrap=True, style=style)


def print_races(costs: Mapping[str, Cost]) -> None:
    """How much races between clients' threads change the costs, if they do."""
    spread = {name: cost.unowned_s for name, cost in costs.items()}
    if len(set(spread.values())) > 1:
        echo(
            f"The clients' threads race: partitions have no reader for {spread['slow']:,.1f} s if network threads are "
            f"slow, and {spread['fast']:,.1f} s if they are fast (--race)."
        )


def print_compared(timelines: dict[tuple[str, bool], Timeline]) -> None:
    """Lives side by side, for people."""
    console = stdout_console()
    first, *failures = of_lives(costs(timelines))
    print_summary(console, first)
    table = right_table()
    # In a narrow terminal, a name is broken, not cut.
    table.add_column("protocol", overflow="fold")
    table.add_column("members")
    columns = ["generations", "moved", "unread, s", "longest, s", "not read", "read twice"]
    has_records = any(timeline.cost.not_read for timeline in timelines.values())
    for name in columns if has_records else columns[:4]:
        table.add_column(name, justify="right", overflow="fold")
    for (name, static), timeline in timelines.items():
        cost = timeline.cost
        cells = [
            f"{cost.generations:,}",
            f"{cost.moved:,}",
            f"{cost.unowned_s:,.1f}",
            f"{cost.longest_s:,.1f}",
        ]
        if has_records:
            cells += [f"{cost.not_read:,.0f}", f"{cost.read_twice:,.0f}"]
        table.add_row(name, "static" if static else "dynamic", *cells)
    console.print(table)
    console.print("range and sticky rebalance eagerly; consumer is KIP-848 with the broker's uniform.")
    console.print("unread: the seconds in which partitions had no reader, summed up over the partitions.")
    for failure in failures:
        console.print(_cell(failure.text), soft_wrap=True, style=TERMINAL[FAILS])


def print_requests(timeline: Timeline, *, as_json: bool) -> None:
    """Each request and its answer, a line each."""
    rows = timeline.requests().to_pylist()
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("at", "member", "request", "answer", "generation", "leader"):
        table.add_column(name, justify="right" if name in {"at", "generation"} else "left")
    for row in rows:
        leader = row["leader_id"] or ""
        if row["members"]:
            leader += f", who is told of {counted(row['members'], 'member')}"
        told = [row["member"], row["request"], row["error"], str(row["generation"]), leader]
        table.add_row(seconds(row["at_ms"]), *map(_cell, told))
    stdout_console().print(table)


def _cell(text: str) -> str:
    """Members may have any name: hidden characters in it are written out."""
    return escape(text)


def _leader(generation: Json) -> str:
    """Who leads and, if members have several clients, whose assignor answers."""
    if generation.get("assignor") is None:
        return generation["leader"] or "-"
    return f"{generation['leader']}, {generation['assignor']}"


def _counts(generation: Json) -> str:
    assignment = generation["assignment"]
    if not assignment:
        return "nobody is left" if generation["leader"] is None else "nothing is assigned"
    if len(assignment) <= _MOST_MEMBERS:
        return ", ".join(f"{member} {len(partitions)}" for member, partitions in assignment.items())
    counts = [len(partitions) for partitions in assignment.values()]
    return f"{span(min(counts), max(counts))} for each of {counted(len(assignment), 'member')}"
