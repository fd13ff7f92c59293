"""What was sent and how, in words: `batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences.figures import named
from partwright.rendering.document import Verdict
from partwright.rendering.text import number, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields
    from partwright.batching import Tuning

__all__ = ["of_batches", "of_scenario", "of_tuning"]

# Batches that are emptier than this are mentioned.
_EMPTY = 0.5


def of_batches(rows: Sequence[Fields]) -> tuple[Verdict, ...]:
    """Which strategy sends fewest requests, with its ties and its delay, which is the fastest, and what is never sent.

    Args:
        rows: A row for each strategy, as `partwright.batching.compare` gives them.
    """
    best = min(rows, key=lambda row: (row["requests"], row["batches"]))
    equal = [
        row["strategy"]
        for row in rows
        if (row["requests"], row["batches"]) == (best["requests"], best["batches"])
    ]
    delay = "" if best["p99_delay_ms"] is None else f", p99 delay {number(best['p99_delay_ms'])} ms"
    fill = "" if best["mean_fill"] is None else f", {share(best['mean_fill'])} full on average"
    batches = f"{counted(best['batches'], 'batch', 'batches')}{fill}"
    words = (
        f"{named(equal)} {'sends' if len(equal) == 1 else 'send'} {counted(best['records'], 'record')} in "
        f"{counted(best['requests'], 'request')}{', the fewest' if len(rows) > 1 else ''}: {batches}{delay}"
    )
    timed = [row for row in rows if row["p99_delay_ms"] is not None]
    fastest = min(timed, key=lambda row: row["p99_delay_ms"], default=best)
    if fastest["strategy"] not in equal and fastest["p99_delay_ms"] < (best["p99_delay_ms"] or 0):
        words += (
            f"; {fastest['strategy']} is fastest, p99 {number(fastest['p99_delay_ms'])} ms with "
            f"{counted(fastest['requests'], 'request')}"
        )
    words += "."
    if best["mean_fill"] is not None and best["mean_fill"] < _EMPTY:
        words += " Batches are mostly empty: --tune looks for a better linger.ms and batch.size."
    unsent = [
        Verdict(
            "open",
            f"Never sent: {counted(row['unsent'], 'record')} of {row['strategy']}, whose partitions have no leader.",
        )
        for row in rows
        if row["unsent"]
    ]
    return (Verdict("said", words), *unsent)


def of_scenario(records: int, batches: int, requests: Sequence[Fields]) -> tuple[Verdict, ...]:
    """How many batches and requests a scenario's records become, and how many failed."""
    made = counted(batches, "batch", "batches")
    failed = sum(not each["ok"] for each in requests)
    words = (
        f"{counted(records, 'record goes', 'records go')} in {made} and {counted(len(requests), 'request')}"
    )
    if failed:
        return (Verdict("open", f"{words}, of which {failed:,} failed.", headline=words),)
    return (Verdict("said", f"{words}."),)


def of_tuning(found: Tuning) -> tuple[Verdict, ...]:
    """Which setting to take, and why."""
    return (Verdict("said", found.reason),)
