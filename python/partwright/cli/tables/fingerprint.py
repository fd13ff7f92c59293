"""The output of `partwright fingerprint`, in words and a table on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from partwright._check import counted
from partwright.cli.tables.console import bar, escape, print_summary, print_verdicts, stdout_console
from partwright.documents.sentences import of_fingerprint
from partwright.keys.clients import clients
from partwright.keys.key_text import short, shown_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from partwright.audit import Fingerprint

__all__ = ["print_report", "print_settings"]

_WIDTH = 120


def print_report(found: Fingerprint, source: str) -> None:
    """Print the result."""
    console = stdout_console(_WIDTH)
    first, *others = of_fingerprint(found)
    print_summary(console, first)
    console.print()
    sampled = ", a part of them looked at" if found.is_sampled else ""
    console.print(
        f"[bold]{counted(found.rows, 'record')}[/] of {escape(source)}: "
        f"{counted(found.keys, 'distinct key')}{sampled}, "
        f"{counted(found.null_keys, 'record')} without a key"
    )
    print_verdicts(console, *others)
    if found.explained:
        console.print()
        console.print(_explained(found))
    _print_scattered(console, found)
    _print_advice(console, found)


def _explained(found: Fingerprint) -> Table:
    """A row for each group of rules that explain equally much."""
    rows: dict[tuple[int, int], list[str]] = {}
    for name, counts in found.explained.items():
        rows.setdefault(counts, []).append(name)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("explains", "of", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("clients", overflow="fold")
    for (right, of), names in sorted(rows.items(), key=lambda row: -row[0][0]):
        style = "bold green" if found.family and found.family[0] in names else ""
        share = right / (of or 1)
        table.add_row(f"{right:,}", f"{of:,}", f"{share:.1%}", bar(share, 1), ", ".join(names), style=style)
    return table


def _print_scattered(console: Console, found: Fingerprint) -> None:
    if not found.scattered_keys:
        return
    console.print(f"{counted(found.scattered_keys, 'key is', 'keys are')} in several partitions:")
    for key, partitions in found.scattered:
        console.print(f"  {escape(short(shown_key(key)))}: {', '.join(map(str, partitions))}")


def _print_advice(console: Console, found: Fingerprint) -> None:
    if "java" not in found.family:
        print_settings(console, found.family if found.verdict == "one-writer" else tuple(found.shares))


def print_settings(console: Console, names: Iterable[str]) -> None:
    """Print the settings with which clients put their keys where Java puts them."""
    settings = {row["client"]: row["setting"] for row in clients().to_pylist()}
    lines = [f"  {name}: {settings[name]}" for name in names if settings.get(name)]
    if lines:
        console.print("To put every key where java puts it:")
        for line in lines:
            # Printed for copying, on one line however narrow the terminal.
            console.print(escape(line), soft_wrap=True)
