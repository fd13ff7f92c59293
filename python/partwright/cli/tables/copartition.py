"""The output of `partwright copartition`, in words and tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from partwright.audit.copartition_reasons import who
from partwright.cli.tables.console import escape, print_summary, stdout_console
from partwright.cli.tables.fingerprint import print_settings
from partwright.documents.sentences import of_meeting
from partwright.keys.key_text import short

if TYPE_CHECKING:
    from rich.console import Console

    from partwright.audit.copartition import KeyApart, Meeting
    from partwright.audit.copartition_reasons import Summary
    from partwright.rendering.document import Verdict

__all__ = ["print_report"]

_WIDTH = 120


def print_report(found: Meeting, a: str, b: str) -> None:
    """Print the result for A and B, with their names."""
    console = stdout_console(_WIDTH)
    verdict, *reasons = of_meeting(found)
    print_summary(console, verdict)
    console.print()
    console.print(_sides(found, a, b))
    for reason in reasons:
        _print_named(console, reason, "bold")
    if any(reason.kind == "client" for reason in found.reasons):
        print_settings(console, dict.fromkeys([*_others(found.a), *_others(found.b)]))
    if found.examples:
        console.print()
        console.print(_examples(found.examples))


def _print_named(console: Console, verdict: Verdict, style: str) -> None:
    """A sentence whose headline stands out."""
    console.print(f"[{style}]{escape(verdict.headline)}[/]{escape(verdict.rest)}")


def _others(side: Summary) -> list[str]:
    """The clients that may have put a table's keys in partitions, if these differ from java's."""
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
    table.add_row("missing from the other", *(f"{each.keys_alone:,}" for each in sides))
    return table


def _examples(examples: tuple[KeyApart, ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("keys that do not meet")
    for name in ("partition in A", "in B"):
        table.add_column(name, justify="right")
    for each in examples:
        table.add_row(
            escape(short(each.key)), *(", ".join(map(str, places)) or "any" for places in (each.a, each.b))
        )
    return table
