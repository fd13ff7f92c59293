"""The output of `partwright reassign`: the verdicts, a row per broker, a row per batch, and where the plan is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.cli.tables.console import escape, print_summary, print_verdicts, right_table, stdout_console
from partwright.documents.sentences.reassigning import of_batches, of_reassignment, time_of
from partwright.rendering.text import bytes_

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright.cluster.reassignment import Batch, BrokerChange, Reassignment

__all__ = ["print_reassignment"]

_BROKERS = 30
_BATCHES = 20


def print_reassignment(
    plan: Reassignment,
    batches: Sequence[Batch],
    throttle: int | None,
    min_insync_replicas: int | Mapping[str, int],
) -> None:
    """Print all of it, but only the first of many brokers or batches."""
    console = stdout_console()
    first, *rest = of_reassignment(plan, min_insync_replicas)
    print_summary(console, first)
    print_verdicts(console, *rest, *of_batches(batches, throttle))
    has_bytes = plan.bytes_within is not None
    table = right_table("broker", "rack", "replicas", "after", "leaders", "after")
    for name in ("bytes", "after", "received") if has_bytes else ():
        table.add_column(name, justify="right", overflow="fold")
    for each in plan.brokers[:_BROKERS]:
        table.add_row(*_broker(each, has_bytes=has_bytes))
    console.print(table)
    if len(plan.brokers) > _BROKERS:
        console.print(f"... and {counted(len(plan.brokers) - _BROKERS, 'more broker')}, which --json has")
    if len(batches) > 1:
        table = right_table("batch", "partitions", "replicas", "bytes", "time")
        for number, batch in enumerate(batches[:_BATCHES], 1):
            size, seconds = batch.bytes, batch.seconds
            table.add_row(
                str(number),
                f"{len(batch.moves):,}",
                f"{batch.replicas:,}",
                "" if size is None else bytes_(size),
                "" if seconds is None else time_of(seconds),
            )
        console.print(table)
        if len(batches) > _BATCHES:
            console.print(
                f"... and {counted(len(batches) - _BATCHES, 'more batch', 'more batches')}, which --json has"
            )


def _broker(each: BrokerChange, *, has_bytes: bool) -> list[str]:
    cells = [
        str(each.broker),
        escape(each.rack or ""),
        f"{each.replicas_before:,}",
        f"{each.replicas:,}" if each.stays else "leaves",
        f"{each.leaders_before:,}",
        f"{each.leaders:,}" if each.stays else "leaves",
    ]
    return cells + [bytes_(size) for size in (each.bytes_before, each.bytes, each.bytes_in) if has_bytes]
