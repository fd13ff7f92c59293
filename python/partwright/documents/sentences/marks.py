"""That a run leaves a header in each record, which its reader sees."""

from __future__ import annotations

from partwright.kafka.marks import LENGTHS, MARK

__all__ = ["of_mark"]


def of_mark(way_out: str) -> str:
    """That each record has one more header than its source gave it, and how to leave that out.

    Examples:
        >>> of_mark("--no-check leaves it out")
        'each record has one more header, partwright, 11 to 22 characters, to know it again: --no-check leaves it out'
    """
    low, high = LENGTHS
    return f"each record has one more header, {MARK}, {low} to {high} characters, to know it again: {way_out}"
