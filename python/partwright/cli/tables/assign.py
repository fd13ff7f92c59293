"""Assignors side by side, as a table on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted, span
from partwright.cli.tables.console import escape, print_summary, print_verdicts, right_table, stdout_console
from partwright.documents.sentences import of_assumed, of_comparison

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright.assignors.compare import Compared
    from partwright.assignors.group_now import GroupNow

__all__ = ["print_comparison", "print_now"]

_WIDTH = 120
_MOST_ROWS = 100
_NAMED = 6
_MILLI = 1000


def print_comparison(
    found: Sequence[Compared],
    topics: Mapping[str, int],
    members: Sequence[object],
    assumed: Sequence[str] = (),
) -> None:
    """Print what each assignor makes of a group, and what was assumed about it."""
    console = stdout_console(_WIDTH)
    first, *_ = of_comparison(found)
    print_summary(console, first)
    console.print()
    partitions = sum(topics.values())
    sizes = ((len(members), "member"), (len(topics), "topic"), (partitions, "partition"))
    console.print(", ".join(counted(*size) for size in sizes))
    console.print()
    has_racks = any(each.in_rack_share is not None for each in found)
    rack = ("in rack",) if has_racks else ()
    table = right_table("", "partitions a member", "apart in one topic", "moved", "unread", *rack, "ms")
    table.columns[0].justify = "left"
    for each in found:
        # A user's own assignor may have any name.
        name = escape(each.assignor)
        if each.error is not None:
            table.add_row(name, "-")
            continue
        near = () if not has_racks else ("-" if each.in_rack_share is None else f"{each.in_rack_share:.1%}",)
        table.add_row(
            name,
            span(each.spread.min, each.spread.max),
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
    print_verdicts(console, *of_assumed(assumed))


def print_now(found: GroupNow, assumed: Sequence[str] = ()) -> None:
    """Print the summary of a group, then how many partitions of each topic members read, and what was assumed."""
    console = stdout_console(_WIDTH)
    console.print(escape(found.summary), soft_wrap=True)
    table = right_table("member", "partitions", "of")
    for column in (table.columns[0], table.columns[2]):
        column.justify = "left"
    for member, topics in list(found.reads.items())[:_MOST_ROWS]:
        named = [f"{topic} {count:,}" for topic, count in list(topics.items())[:_NAMED]]
        more = f" and {counted(len(topics) - _NAMED, 'more topic')}" if len(topics) > _NAMED else ""
        told = ", ".join(named) + more or "idle"
        table.add_row(escape(member), f"{sum(topics.values()):,}", escape(told))
    console.print(table)
    if len(found.reads) > _MOST_ROWS:
        console.print(f"... and {counted(len(found.reads) - _MOST_ROWS, 'more member')}")
    print_verdicts(console, *of_assumed(assumed))
