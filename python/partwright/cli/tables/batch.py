"""The output of `partwright batch`: a row for each strategy, or for each tried setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.cli.tables.console import (
    bar,
    escape,
    print_summary,
    print_verdicts,
    right_table,
    stdout_console,
)
from partwright.documents.sentences import of_batches, of_tuning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Json
    from partwright.batching import Tuning

__all__ = ["print_report", "print_tuning"]


def print_report(rows: Sequence[Json], file: str, partitions: int) -> None:
    """Print the whole report.

    Args:
        rows: The rows that `partwright.batching.compare` returns.
        file: The file of records.
        partitions: How many the topic has.
    """
    console = stdout_console()
    first, *others = of_batches(rows)
    print_summary(console, first)
    console.print()
    console.print(
        f"[bold]{counted(rows[0]['records'], 'record')}[/] of {escape(file)}, over {counted(partitions, 'partition')}"
    )
    console.print()
    has_slow = any(row["slow_share"] is not None for row in rows)
    names = ["strategy", "batches", "requests", "fill", "p50 ms", "p99 ms", "largest share", "partitions"]
    table = right_table(*names, *(["to the slow broker"] if has_slow else []))
    table.columns[0].justify = "left"
    table.add_column("")
    most = max(row["batches"] for row in rows)
    for row in rows:
        cells = [
            row["strategy"],
            f"{row['batches']:,}",
            f"{row['requests']:,}",
            _share(row["mean_fill"]),
            _whole(row["p50_delay_ms"]),
            _whole(row["p99_delay_ms"]),
            _share(row["largest_share"]),
            str(sum(each["bytes"] > 0 for each in row["partitions"])),
        ]
        if has_slow:
            cells.append(_share(row["slow_share"]))
        table.add_row(*cells, bar(row["batches"], most))
    console.print(table)
    console.print(
        "fill: a batch's bytes divided by batch.size; p50, p99: from a record's time to its batch's answer; "
        "the bar: batches"
    )
    print_verdicts(console, *others)


def print_tuning(tuning: Tuning, file: str, partitions: int) -> None:
    """Print the tried settings, first the ones that no other beats, and the recommended one.

    Args:
        tuning: The result of `partwright.batching.tune`.
        file: The file of records.
        partitions: How many the topic has.
    """
    rows = tuning.settings.to_pylist()
    console = stdout_console()
    print_summary(console, of_tuning(tuning)[0])
    console.print()
    console.print(
        f"[bold]{counted(rows[0]['records'], 'record')}[/] of {escape(file)}, over {counted(partitions, 'partition')}"
    )
    console.print()
    table = right_table("", "strategy", "batch.size", "linger.ms", "requests")
    table.add_column("")
    table.add_column("p99 ms", justify="right")
    table.add_column("")
    table.add_column("fill", justify="right")
    most, longest = (max(row[name] or 0 for row in rows) for name in ("requests", "p99_delay_ms"))
    for row in rows:
        marks = "→" if row["rank"] == 1 else "·" if row["is_on_front"] else ""
        table.add_row(
            marks,
            row["strategy"],
            f"{row['batch_size']:,}",
            str(row["linger_ms"]),
            f"{row['requests']:,}",
            bar(row["requests"], most),
            _whole(row["p99_delay_ms"]),
            bar(row["p99_delay_ms"] or 0, longest),
            _share(row["mean_fill"]),
        )
    console.print(table)
    console.print("· no other setting has both fewer requests and a shorter delay")
    console.print("→ the recommended setting")


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _whole(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
