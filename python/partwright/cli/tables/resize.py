"""The output of `partwright resize`, in words and tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rich import box
from rich.filesize import decimal
from rich.table import Table

from partwright._check import counted
from partwright.cli.tables.console import (
    bar,
    escape,
    print_summary,
    print_verdicts,
    right_table,
    stdout_console,
)
from partwright.keys.key_text import short
from partwright.report.sentences import of_resize

if TYPE_CHECKING:
    from rich.console import Console

    from partwright.audit.resize import After, Alternative, Before, Moved, Resize

__all__ = ["print_report"]

_Part = TypeVar("_Part", "Before", "After")

_WIDTH = 120
# If there are more partitions than this, only the fullest are shown.
_SHOWN = 48


def print_report(plan: Resize, source: str, *, with_plan: bool) -> None:
    """Print the result."""
    console = stdout_console(_WIDTH)
    _print_summary(console, plan, source)
    if heaviest := plan.heaviest_moved():
        console.print()
        console.print(_heaviest(heaviest))
    if plan.among == plan.from_:
        console.print(_nearby(plan.nearby(), plan))
    if with_plan:
        _print_in_place(console, plan)
        _print_replay(console, plan)
    elif plan.rows_moved:
        console.print(
            "Old records stay where they are: a key that moves keeps its order only if consumers finish its old\n"
            "records before producers see the new partitions. --plan prints the steps."
        )


def _print_summary(console: Console, plan: Resize, source: str) -> None:
    moved, *others = of_resize(plan)
    print_summary(console, moved)
    console.print()
    unplaced = f", {plan.unplaced:,} whose key does not" if plan.unplaced else ""
    console.print(
        f"[bold]{plan.from_}[/] to [bold]{counted(plan.to, 'partition')}[/], {counted(plan.rows, 'record')} of "
        f"{escape(source)} "
        f"whose key decides their partition{unplaced}"
    )
    print_verdicts(console, *others)


def _heaviest(moved: list[Moved]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("heaviest keys that move")
    for name in ("records", "from", "to"):
        table.add_column(name, justify="right")
    for each in moved[:5]:
        table.add_row(escape(short(each.key)), f"{each.rows:,}", str(each.from_), str(each.to))
    return table


def _nearby(choices: list[Alternative], plan: Resize) -> Table:
    table = right_table("partitions", "records that move", "share", "largest partition", "times fair share")
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


def _print_in_place(console: Console, plan: Resize) -> None:
    if plan.to < plan.from_:
        console.print("Kafka cannot remove a partition: for fewer, make a new topic.")
        return
    console.print(
        f"[bold]In place[/], {counted(plan.from_, 'partition becomes', 'partitions become')} {plan.to}:\n"
        "  1. Stop the producers.\n"
        "  2. Wait until every group has committed the offset `drain to`, or a later one, in each partition:\n"
        "     kafka-consumer-groups.sh --describe shows CURRENT-OFFSET.\n"
        f"  3. kafka-topics.sh --alter --topic TOPIC --partitions {plan.to}\n"
        "  4. Start the producers. Consumers that keep state by partition, as Kafka Streams does, lose the state of\n"
        "     keys that move, and a compacted topic keeps their old records: replay into a new topic instead."
    )
    console.print(_before(plan.before()))


def _before(parts: list[Before]) -> Table:
    table = right_table("partition", "records", "records that move", "drain to", "end")
    for part in _fullest(parts):
        table.add_row(
            str(part.partition),
            f"{part.rows:,}",
            f"{part.rows_moved:,}",
            "-" if part.drain_to is None else f"{part.drain_to:,}",
            "-" if part.end is None else f"{part.end:,}",
        )
    _add_rest(table, len(parts) - _SHOWN)
    return table


def _print_replay(console: Console, plan: Resize) -> None:
    feeds = "one old partition" if plan.fed_by == 1 else counted(plan.fed_by, "old partition")
    each = "the 1 old partition" if plan.from_ == 1 else f"each of the {counted(plan.from_, 'old partition')}"
    console.print(
        f"[bold]Ordered replay[/] into a new topic of {counted(plan.to, 'partition')}, which also suits a "
        f"compacted topic:\n"
        f"  1. kafka-topics.sh --create --topic NEW --partitions {plan.to}, with the old topic's settings.\n"
        f"  2. Read {each} from its beginning in the order of its "
        f"offsets, with one\n"
        "     reader each. Write its records with an idempotent producer that places keys as "
        f"{escape(plan.client)} does.\n"
        f"     Each key is in one old partition, so its order is kept; each new partition is fed by {feeds}.\n"
        "  3. Stop the producers of the old topic, and copy the rest.\n"
        "  4. Let the old topic's consumers finish, start them on the new one, then the producers."
    )
    if plan.misplaced:
        console.print(
            f"     {counted(plan.misplaced, 'record is', 'records are')} not where {escape(plan.client)} puts "
            f"them. The records of a key in "
            "several partitions\n     have no order between those: merge them by their timestamps."
        )
    console.print(_after(plan.after(), plan))


def _after(parts: list[After], plan: Resize) -> Table:
    table = right_table("new partition", "records", "share", "size")
    table.add_column("")
    largest = max(part.rows for part in parts) if parts else 0
    for part in _fullest(parts):
        table.add_row(
            str(part.partition),
            f"{part.rows:,}",
            f"{part.rows / (plan.rows or 1):.1%}",
            "-" if part.bytes is None else decimal(part.bytes),
            bar(part.rows, largest),
        )
    _add_rest(table, len(parts) - _SHOWN)
    return table


def _fullest(parts: list[_Part]) -> list[_Part]:
    return parts if len(parts) <= _SHOWN else sorted(parts, key=lambda part: -part.rows)[:_SHOWN]


def _add_rest(table: Table, left: int) -> None:
    if left > 0:
        table.add_row("...", *[""] * (len(table.columns) - 2), f"{left:,} more")
