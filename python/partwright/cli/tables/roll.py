"""A group that is rolled to another client, as tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.cli.tables.console import escape, print_summary, print_verdicts, right_table, stdout_console
from partwright.documents.sentences import of_assumed, of_roll, of_roll_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.assignors.mixed.rolling import Roll, Step

__all__ = ["print_rolls"]

_WIDTH = 120


def print_rolls(rolls: Sequence[Roll], to: str, assumed: Sequence[str] = ()) -> None:
    """Print the best order with each of its steps, and the other order in one line."""
    console = stdout_console(_WIDTH)
    best, *others = rolls
    print_summary(console, of_roll(rolls, to)[0])
    table = right_table(
        "replaced", "leader", "assignor", "rebalances", "moved", "unread", "what the leader does not see"
    )
    for column in (0, 1, 2, 6):
        table.columns[column].justify = "left"
    for step in best.steps:
        table.add_row(*map(escape, _row(step)))
    console.print(table)
    for step in best.steps:
        if step.error is not None:
            console.print(escape(f"{step.replaced}: {step.error}"))
    for other in others:
        console.print(escape(f"{other.order.capitalize()}: {of_roll_order(other)}."))
    print_verdicts(console, *of_assumed(assumed))


def _row(step: Step) -> tuple[str, ...]:
    begin = (step.replaced, step.leader, step.assignor)
    if step.error is not None:
        return (*begin, "fails", "-", "-", "")
    rebalances = "no end" if step.rebalances is None else f"{step.rebalances:,}"
    dark = [f"{name} is left out" for name in step.left_out] + [
        f"{name} is forgotten" for name in step.forgotten
    ]
    return (*begin, rebalances, f"{step.moved:,}", f"{step.unread:,}", ", ".join(dark))
