"""What `partwright check` found, as tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.cli.tables.console import (
    bar,
    escape,
    heaviest_keys,
    print_summary,
    print_verdicts,
    right_table,
    stdout_console,
)
from partwright.documents.sentences import of_check

if TYPE_CHECKING:
    from rich.table import Table

    from partwright.audit.check import Check

__all__ = ["print_report"]

# If there are more partitions than this, only the largest are shown.
_SHOWN = 48
_HEAVY = 5


def print_report(found: Check, source: str) -> None:
    """Print the result; if no places were compared, only the shares."""
    console = stdout_console()
    summary = found.to_dict()
    first, *others = of_check(found, summary)
    print_summary(console, first)
    console.print()
    console.print(
        f"[bold]{counted(found.rows, 'record')}[/] of {escape(source)}, {counted(found.n, 'partition')}"
        + (f" as client [bold]{escape(found.client)}[/] would fill them" if found.misplaced is None else "")
    )
    console.print()
    console.print(_partitions(summary["partitions"], found))
    of = f"of {counted(found.among, 'partition')}"
    console.print(
        f"{counted(found.used, f'{of} has', f'{of} have')} records; the largest has {found.largest_share:.1%} of them "
        f"(fair share: {1 / found.among:.1%}); null keys: {found.null_keys:,}"
    )
    if found.nowhere:
        console.print(
            f"[yellow]{counted(found.nowhere, 'record')}[/] without a partition, which is null or empty: each counts "
            "as misplaced, because its key has one"
        )
    if outside := (found.outside or 0) - found.nowhere:
        console.print(
            f"[yellow]{counted(outside, 'record[/] is', 'records[/] are')} in no partition from 0 to {found.n - 1}: is "
            f"-n {found.n} right?"
        )
    console.print()
    if summary["heavy_keys"]:
        heavy = [(each["key"], each["rows"], each["partition"]) for each in summary["heavy_keys"][:_HEAVY]]
        console.print(heaviest_keys(heavy, found.rows - found.null_keys, "records"))
    print_verdicts(console, *others)


def _partitions(parts: list[dict[str, int | None]], found: Check) -> Table:
    table = right_table("partition", "records", "keys", "share")
    table.add_column("")
    rows = [(part["partition"], part["rows"] or 0, part["keys"]) for part in parts]
    total, largest = sum(count for _, count, _ in rows), max((count for _, count, _ in rows), default=0)
    shown = rows if len(rows) <= _SHOWN else sorted(rows, key=lambda row: -row[1])[:_SHOWN]
    for partition, count, keys in shown:
        cells = (
            str(partition),
            f"{count:,}",
            "" if keys is None else f"{keys:,}",
            f"{count / (total or 1):.1%}",
        )
        table.add_row(*cells, bar(count, largest))
    if found.n > len(shown):
        table.add_row("...", "", "", "", f"the {len(shown)} largest of {found.n:,}")
    return table
