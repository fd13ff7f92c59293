"""What `partwright check` found, as tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from partwright.cli.tables.console import bar, heaviest_keys, print_verdicts, right_table, stdout_console
from partwright.report.sentences import contract, places, skew

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from partwright.audit.check import Check

__all__ = ["print_report"]

# Of more partitions than this the largest alone are shown.
_SHOWN = 48
_HEAVY = 5


def print_report(found: Check, source: str, *, is_checked: bool) -> None:
    """Print what was found; without a check, the shares alone."""
    console = stdout_console()
    summary = found.to_dict()
    console.print(
        f"[bold]{found.rows:,}[/] rows of {escape(source)}, {found.n} partitions"
        + ("" if is_checked else f" as client [bold]{escape(found.client)}[/] would fill them")
    )
    console.print()
    console.print(_partitions(summary["partitions"], found))
    console.print(
        f"{found.used} of {found.among} partitions have rows; the largest has {found.largest_share:.1%} of them, an "
        f"even one {1 / found.among:.1%}; null keys: {found.null_keys:,}"
    )
    if found.outside:
        console.print(
            f"[yellow]{found.outside:,} rows[/] are in no partition from 0 to {found.n - 1}: is -n {found.n} right?"
        )
    console.print()
    if summary["heavy_keys"]:
        heavy = [(each["key"], each["rows"], each["partition"]) for each in summary["heavy_keys"][:_HEAVY]]
        console.print(heaviest_keys(heavy, found.rows - found.null_keys, "rows"))
    _print_salted(console, found)
    if found.note:
        console.print(found.note)
    print_verdicts(console, *skew(found), *contract(found), places(found, is_checked=is_checked))
    if is_checked and found.misplaced:
        for example in found.examples:
            console.print(f"  {escape(str(example))}")
        console.print("partwright fingerprint says which client put them there.")


def _print_salted(console: Console, found: Check) -> None:
    """What splitting the heavy keys would do, if it would do any good."""
    salted = found.salted()
    if any(each.largest_share < found.largest_share for each in salted):
        what = "the heaviest key" if salted[0].keys == 1 else f"the {salted[0].keys} heaviest keys"
        shares = ", ".join(f"{each.ways} ways {each.largest_share:.1%}" for each in salted)
        console.print(f"with {what} salted, the largest partition would have: {shares}")


def _partitions(parts: list[dict[str, int | None]], found: Check) -> Table:
    table = right_table("partition", "rows", "keys", "share")
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
