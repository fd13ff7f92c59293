"""What `partwright resize` found, in words and tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

from partwright.cli.tables import bar, right_table, stdout_console
from partwright.shown import short

if TYPE_CHECKING:
    from partwright.audit.resize import Choice, Moved, Resize

__all__ = ["print_report"]

_WIDTH = 120


def print_report(plan: Resize, source: str) -> None:
    """Print what was found."""
    console = stdout_console(_WIDTH)
    keys, moved = plan.keys, plan.keys_moved
    unplaced = f", {plan.unplaced:,} that have none" if plan.unplaced else ""
    console.print(
        f"[bold]{plan.from_}[/] to [bold]{plan.to}[/] partitions, {plan.rows:,} rows of {escape(source)} that have a "
        f"place by their key{unplaced}"
    )
    console.print()
    of_keys = (
        ""
        if keys is None or moved is None
        else f"{moved:,} of {keys:,} keys ({moved / (keys or 1):.1%}) and "
    )
    share = plan.rows_moved / (plan.rows or 1)
    console.print(f"[bold]{of_keys}{plan.rows_moved:,} of {plan.rows:,} rows ({share:.1%})[/] go elsewhere")
    before, after = plan.largest_share
    console.print(
        f"the largest partition has {before:.1%} of the rows, an even one {1 / plan.from_:.1%}; "
        f"afterwards {after:.1%}, an even one {1 / plan.to:.1%}"
    )
    if keys is None:
        console.print("keys were not counted: there are too many, or they have too many bytes")
    heaviest, nearby = plan.heaviest_moved(), plan.nearby()
    if heaviest:
        console.print()
        console.print(_heaviest(heaviest))
    if nearby:
        console.print(_nearby(nearby, plan))
    if plan.rows_moved:
        console.print(
            "What these keys have written stays where it is: their order is kept only if consumers are done with the\n"
            "old records before producers see the new partitions; a compacted topic never replaces the old records."
        )


def _heaviest(moved: list[Moved]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("heaviest keys that move")
    for name in ("rows", "from", "to"):
        table.add_column(name, justify="right")
    for each in moved[:5]:
        table.add_row(escape(short(each.key)), f"{each.rows:,}", str(each.from_), str(each.to))
    return table


def _nearby(choices: list[Choice], plan: Resize) -> Table:
    table = right_table("partitions", "rows that move", "share", "largest partition", "over an even one")
    table.add_column("")
    least = min(choice.rows_moved for choice in choices)
    for choice in choices:
        words = []
        if choice.to == plan.to:
            words.append("asked for")
        if choice.rows_moved == least:
            words.append("moves least")
        over = choice.largest_share * choice.to
        if over == min(each.largest_share * each.to for each in choices):
            words.append("most even")
        share = choice.rows_moved / (plan.rows or 1)
        table.add_row(
            str(choice.to),
            f"{choice.rows_moved:,}",
            f"{share:.1%}",
            f"{choice.largest_share:.2%}",
            f"{over:.2f}",
            f"{bar(share, 1)} {', '.join(words)}".strip(),
        )
    return table
