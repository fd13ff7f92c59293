"""What `partwright copartition` found, in words and tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

from partwright.audit.reasons import who
from partwright.cli.fingerprint_report import print_settings
from partwright.cli.tables import stdout_console
from partwright.shown import short

if TYPE_CHECKING:
    from partwright.audit.copartition import Example, Meeting
    from partwright.audit.reasons import Summary

__all__ = ["print_report"]

_WIDTH = 120


def print_report(found: Meeting, a: str, b: str) -> None:
    """Print what was found about A and B, by what they were called."""
    console = stdout_console(_WIDTH)
    sampled = ", of those that were looked at" if found.is_sampled else ""
    if found.ok:
        console.print(
            f"[bold green]They meet[/]: all {found.keys_shared:,} keys that are in both are in the same partition of "
            f"both{sampled}"
        )
    else:
        console.print(f"[bold red]They do not meet[/]{_shares(found)}{sampled}")
    console.print()
    console.print(_sides(found, a, b))
    for reason in found.reasons:
        console.print(f"[bold]{reason.kind}[/]: {escape(reason.sentence)}")
    if any(reason.kind == "client" for reason in found.reasons):
        print_settings(console, dict.fromkeys([*_others(found.a), *_others(found.b)]))
    if found.examples:
        console.print()
        console.print(_examples(found.examples))


def _shares(found: Meeting) -> str:
    apart = found.keys_shared - found.keys_meeting
    if not apart:
        return f": {found.keys_shared:,} of {found.a.keys:,} keys of A and {found.b.keys:,} of B are in both"
    rows = found.a.rows_not_meeting + found.b.rows_not_meeting
    of = found.a.rows_shared + found.b.rows_shared
    return (
        f": {apart:,} of {found.keys_shared:,} keys that are in both ({found.share_of_keys:.1%}), with {rows:,} of "
        f"their {of:,} records ({found.share_of_rows:.1%})"
    )


def _others(side: Summary) -> list[str]:
    """The clients that may have put a table's keys, where that is not where java puts them."""
    if side.writer is None:
        return [str(side.client)]
    family = side.writer.family if side.writer.verdict == "one-writer" else tuple(side.writer.shares)
    return [] if "java" in side.writer.family and len(side.writer.shares) == 1 else list(family)


def _sides(found: Meeting, a: str, b: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", f"A: {escape(a)}", f"B: {escape(b)}"):
        table.add_column(name, overflow="fold")
    sides = (found.a, found.b)
    table.add_row(
        "partitions", *(f"{each.n}{', found by its keys' if each.is_n_found else ''}" for each in sides)
    )
    table.add_row("keys are put by", *(f"{who(each)}{'' if each.writer else ', would be'}" for each in sides))
    table.add_row("records", *(f"{each.rows:,}" for each in sides))
    table.add_row("of them without a key", *(f"{each.null_keys:,}" for each in sides))
    table.add_row("different keys", *(f"{each.keys:,}" for each in sides))
    table.add_row("that the other has not", *(f"{each.keys_alone:,}" for each in sides))
    return table


def _examples(examples: tuple[Example, ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("keys that do not meet")
    for name in ("partition in A", "in B"):
        table.add_column(name, justify="right")
    for each in examples:
        table.add_row(
            escape(short(each.key)), *(", ".join(map(str, places)) or "any" for places in (each.a, each.b))
        )
    return table
