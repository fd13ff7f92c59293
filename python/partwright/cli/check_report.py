"""What `partwright check` found, as tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from partwright.cli.tables import bar, heaviest_keys, right_table, stdout_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from partwright.placement import Placement

__all__ = ["print_report"]

# Of more partitions than this the largest alone are shown.
_SHOWN = 48
_HEAVY = 5
# Below this, an uneven spread of keys is not put down to chance.
_UNLIKELY = 0.01


def print_report(found: Placement, source: str, *, is_checked: bool) -> None:
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
        f"{found.used} of {found.n} partitions have rows; the largest has {found.largest_share:.1%} of them, an even "
        f"one {1 / found.n:.1%}; null keys: {found.null_keys:,}"
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
    _print_skew(console, found)
    undetermined = f"; undetermined: {found.undetermined:,}" if found.undetermined else ""
    client = escape(found.client)
    if not is_checked and found.has_contract:
        console.print(f"places are not checked, for no --partition was given{undetermined}")
    elif not is_checked:
        console.print(f"[yellow]not checked[/]: no --partition was given{undetermined}")
    elif not found.misplaced:
        console.print(
            f"[green]✓[/] checked {found.rows:,} rows: all are where {client} puts them{undetermined}"
        )
    else:
        console.print(
            f"[red]✗[/] checked {found.rows:,} rows: {found.misplaced:,} misplaced, by client {client}{undetermined}"
        )
        for example in found.examples:
            console.print(f"  {escape(str(example))}")
        console.print("partwright fingerprint says which client put them there.")


def _print_salted(console: Console, found: Placement) -> None:
    """What splitting the heavy keys would do, if it would do any good."""
    salted = found.salted()
    if any(each.largest_share < found.largest_share for each in salted):
        what = "the heaviest key" if salted[0].keys == 1 else f"the {salted[0].keys} heaviest keys"
        shares = ", ".join(f"{each.ways} ways {each.largest_share:.1%}" for each in salted)
        console.print(f"with {what} salted, the largest partition would have: {shares}")


def _print_skew(console: Console, found: Placement) -> None:
    """How uneven it is, and whether chance or heavy keys make it so."""
    skew = found.skew
    words = f"the largest partition has {skew.largest_over_mean:.2f} times an even one's rows"
    if skew.expected_used is not None and found.rows > found.null_keys:
        words += f"; so many keys use {skew.expected_used:,.1f} partitions by chance"
    console.print(words)
    if skew.p_value is not None:
        spread = (
            "as evenly as chance has it" if skew.p_value >= _UNLIKELY else "more unevenly than chance has it"
        )
        console.print(
            f"the keys, each counted once, are spread {spread}: chi-square {skew.chi_square:,.1f} with {found.n - 1:,} "
            f"degrees of freedom, p = {skew.p_value:.2g}"
        )
    for sentence in found.broken:
        console.print(f"[red]✗[/] {escape(sentence)}")
    if found.has_contract and not found.broken:
        console.print("[green]✓[/] the shares keep the contract")


def _partitions(parts: list[dict[str, int | None]], found: Placement) -> Table:
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
