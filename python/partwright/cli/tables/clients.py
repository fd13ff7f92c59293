"""One group under a leader of each client, as a table on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import span
from partwright.cli.tables.console import escape, print_summary, print_verdicts, right_table, stdout_console
from partwright.documents.sentences import of_assumed, of_clients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.assignors.mixed.by_client import ClientAnswer

__all__ = ["print_clients"]

_WIDTH = 120


def print_clients(found: Sequence[ClientAnswer], assignor: str, assumed: Sequence[str] = ()) -> None:
    """Print the verdict, what a leader of each client gives, and how to make it agree with Java."""
    console = stdout_console(_WIDTH)
    print_summary(console, of_clients(found, assignor)[0])
    table = right_table(
        "leader", f"its {escape(assignor)}", "partitions a member", "differ from Java", "same as Java with"
    )
    for column in (0, 1, 4):
        table.columns[column].justify = "left"
    for each in found:
        answer = f"{each.answer}, one of several" if each.chance else each.answer
        spread = "-" if each.spread is None else span(each.spread[0], each.spread[1])
        moved = "-" if each.spread is None else f"{each.moved:,}"
        table.add_row(each.client, answer, spread, moved, ", ".join(each.agrees) or "-")
    console.print(table)
    common = set.intersection(*(set(each.agrees) for each in found if each.answer != "has none"))
    if common:
        console.print(
            f"All clients that have {escape(assignor)} agree with Java on {', '.join(sorted(common))}."
        )
    for each in found:
        if each.error is not None:
            console.print(escape(f"{each.client}: {each.error}"))
        elif each.answer.startswith("other") and each.agrees:
            console.print(
                escape(f"{each.client}: set {each.setting} to {' or '.join(each.agrees)} to agree with Java.")
            )
    print_verdicts(console, *of_assumed(assumed))
