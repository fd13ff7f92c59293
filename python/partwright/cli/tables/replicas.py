"""The output of `partwright advise --replicas`: the summary, then a row for each number of replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.cli.tables.console import print_summary, right_table, stdout_console
from partwright.documents.sentences import of_counts

if TYPE_CHECKING:
    from partwright.assignors.replica_counts import ReplicaCounts

__all__ = ["print_counts"]


def print_counts(counts: ReplicaCounts) -> None:
    """The summary, then a row for each number of replicas."""
    console = stdout_console()
    print_summary(console, of_counts(counts)[0])
    names = ["replicas", "most", "least", "apart", "idle", "moved", "paused"]
    has_threads = counts.threads > 1
    if has_threads:
        names.insert(5, "idle threads")
    table = right_table(*names)
    for name in ("even", "less for the busiest", "divisor"):
        table.add_column(name, overflow="fold")
    useful = set(counts.useful)
    for each in counts.rows:
        cells = [each.replicas, each.most, each.least, each.apart, each.idle, each.moved, each.paused]
        if has_threads:
            cells.insert(5, each.idle_threads)
        marks = (each.even, each.replicas in useful, each.divides)
        table.add_row(*(f"{cell:,}" for cell in cells), *("yes" if mark else "" for mark in marks))
    console.print(table)
    console.print("apart: the largest difference between two consumers in one topic.")
    console.print(
        "moved: partitions that change hands when the last replica joins. paused: those that nobody reads meanwhile."
    )
    console.print(
        "even: all consumers read equally many partitions. "
        "divisor: an autoscaler that takes only divisors of the partitions takes this number."
    )
