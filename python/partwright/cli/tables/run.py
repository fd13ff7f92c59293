"""The report of `partwright run` as tables on stdout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from partwright._check import counted
from partwright.cli.tables.console import (
    bar,
    heaviest_keys,
    print_summary,
    print_verdicts,
    right_table,
    stdout_console,
)
from partwright.documents.run import PER_RECORD
from partwright.documents.sentences import of_run

if TYPE_CHECKING:
    from partwright._check import Json
    from partwright.pipeline.report import Report
    from partwright.pipeline.stream import StreamReport

__all__ = ["print_report", "print_stream"]

# The factor from one unit to the next.
_STEP = 1000
_UNITS = ("B", "kB", "MB", "GB", "TB")


def print_report(report: Report) -> None:
    """Print the whole report."""
    console = stdout_console()
    first, *others = of_run(report)
    print_summary(console, first)
    console.print()
    console.print(
        f"[bold]{counted(report.records, 'record')}[/] of {report.source} to {report.target}, topic "
        f"[bold]{report.topic}[/], "
        f"{counted(report.n, 'partition')} as client [bold]{report.client}[/] chooses them{_strategy(report)}"
    )
    if report.read is not None and not report.read["whole"]:
        console.print(_part_read(report.read))
    console.print()
    console.print(_partitions(report))
    whole = "all records" if report.places_all else "them"
    console.print(
        f"{counted(report.keyed, 'record has', 'records have')} one of {counted(report.keys, 'key')}; the largest "
        f"partition has "
        f"{report.largest_share:.1%} of {whole} (fair share: {1 / report.n:.1%}); all records are "
        f"{_bytes(report.bytes)}"
    )
    console.print(_null_keys(report))
    console.print()
    elsewhere = "several" if report.places_all else None
    heaviest = [
        (heavy.key, heavy.records, elsewhere if heavy.partition is None else heavy.partition)
        for heavy in report.heaviest_keys[:5]
    ]
    console.print(heaviest_keys(heaviest, report.keyed, "records"))
    console.print(_steps(report))
    print_verdicts(console, *others)
    if report.log:
        console.print(f"Spark's log: {_from_home(report.log)}", style="dim")


def _part_read(read: Json) -> str:
    of_keys = f", the records of {counted(read['only_keys'], 'key')} alone" if "only_keys" in read else ""
    return f"a part of the topic was read: {read['passed']:,} of {counted(read['of'], 'offset')}{of_keys}"


def print_stream(report: StreamReport) -> None:
    """Print the result of a stream."""
    console = stdout_console()
    console.print(
        f"[bold]{counted(report.records, 'record')}[/] of {report.source} to {report.target}, topic "
        f"[bold]{report.topic}[/], in "
        f"{counted(report.batches, 'batch', 'batches')} for {counted(report.n, 'partition')} as client "
        f"[bold]{report.client}[/] chooses them"
    )
    there = f", {report.already_there:,} were there already" if report.already_there else ""
    console.print(f"{report.written:,} were written{there}")
    if report.lost is None:
        console.print(
            "not checked: a stream that goes on is checked by its next --available-now", style="dim"
        )
    else:
        style = "green" if report.ok else "red"
        console.print(
            f"checked {counted(report.records, 'record')}: {report.lost:,} lost, {report.twice:,} twice, "
            f"{report.moved:,} in "
            "another partition than their key's",
            style=style,
        )


def _strategy(report: Report) -> str:
    if report.strategy is None:
        return ""
    producers = counted(report.producers or 0, "producer", "producers, a task each")
    return f" by the strategy [bold]{report.strategy}[/], with {producers}"


def _partitions(report: Report) -> Table:
    table = right_table("partition", "records", "keys", "bytes", "share")
    table.add_column("")
    if report.null_keys and not report.places_all and (report.checks is not None or report.spreads_null_keys):
        name = "null keys" if report.client == "java" else "other keys"
        table.add_column(name, justify="right")
    largest = max((part.records for part in report.partitions), default=0)
    placed = sum(part.records for part in report.partitions)
    for part in report.partitions:
        share = part.records / placed if placed else 0.0
        cells = [
            str(part.partition),
            f"{part.records:,}",
            f"{part.keys:,}",
            _bytes(part.bytes),
            f"{share:.1%}",
            bar(part.records, largest),
        ]
        if part.null_keys is not None and report.null_keys and not report.places_all:
            cells.append(f"{part.null_keys:,}")
        table.add_row(*cells)
    return table


def _null_keys(report: Report) -> str:
    if not report.null_keys:
        return f"no record has a {_unplaced(report)}"
    if report.places_all:
        return f"{counted(report.null_keys, 'record has', 'records have')} a null key"
    words = (
        f"{counted(report.null_keys, 'record has', 'records have')} a {_unplaced(report)} and were left to the "
        "producer"
    )
    if report.spreads_null_keys:
        return (
            f"{counted(report.null_keys, 'record has', 'records have')} a {_unplaced(report)} and were spread "
            "evenly over the partitions"
        )
    if report.target.startswith("parquet:"):
        is_address = "://" in report.target
        where = "partition=__HIVE_DEFAULT_PARTITION__" if is_address else f"{report.topic}-null"
        return f"{counted(report.null_keys, 'record has', 'records have')} a {_unplaced(report)} and stand in {where}"
    if report.checks is None:
        return words
    used = sum(1 for part in report.partitions if part.null_keys)
    return f"{words}, which put them into {used} of {counted(report.n, 'partition')}"


def _unplaced(report: Report) -> str:
    """The name for a key that the report's client does not use."""
    return "null key" if report.client == "java" else f"key that {report.client} does not go by"


def _steps(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("step")
    table.add_column("seconds", justify="right")
    table.add_column("records/s", justify="right")
    for step in report.steps:
        rate = f"{report.records / step.seconds:,.0f}" if step.name in PER_RECORD and step.seconds else ""
        table.add_row(step.name, f"{step.seconds:.1f}", rate)
    return table


def _from_home(file: str) -> str:
    """A path quoted for a shell, with the home folder as ~."""
    path, home = Path(file), Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else file


def _bytes(size: float) -> str:
    for unit in _UNITS[:-1]:
        if size < _STEP:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _STEP
    return f"{size:.1f} {_UNITS[-1]}"
