"""Assignors side by side, as a table on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from partwright.cli.tables.console import right_table, stdout_console
from partwright.group.timeline import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright.assignors.compare import Compared

__all__ = ["print_comparison"]

_WIDTH = 120
_MILLI = 1000


def print_comparison(found: Sequence[Compared], topics: Mapping[str, int], members: Sequence[object]) -> None:
    """Print what each assignor makes of a group."""
    console = stdout_console(_WIDTH)
    partitions = sum(topics.values())
    sizes = ((len(members), "member"), (len(topics), "topic"), (partitions, "partition"))
    console.print(", ".join(counted(*size) for size in sizes))
    console.print()
    has_racks = any(each.in_rack_share is not None for each in found)
    rack = ("in rack",) if has_racks else ()
    table = right_table("", "partitions a member", "apart in one topic", "moved", "unread", *rack, "ms")
    table.columns[0].justify = "left"
    for each in found:
        # One's own may have any name.
        name = escape(each.assignor)
        if each.error is not None:
            table.add_row(name, "-")
            continue
        near = () if not has_racks else ("-" if each.in_rack_share is None else f"{each.in_rack_share:.1%}",)
        table.add_row(
            name,
            f"{each.spread.min:,} to {each.spread.max:,}",
            f"{each.topic_spread:,}",
            f"{each.moved:,}",
            f"{each.unread:,}",
            *near,
            "-" if each.seconds is None else f"{each.seconds * _MILLI:,.1f}",
        )
    console.print(table)
    for each in found:
        if each.error is not None:
            console.print(escape(each.error))
