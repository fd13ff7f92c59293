"""How many records each of several writers wrote: the shares that make the observations most probable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Pattern", "shares"]

_ROUNDS = 500
_STILL = 1e-9


class Pattern(NamedTuple):
    """Records that the same writers explain.

    Attributes:
        explains: For each writer, whether it explains them.
        rows: How many records there are.
        pairs: How many pairs of a key and a partition they form.
    """

    explains: tuple[bool, ...]
    rows: int
    pairs: int


def shares(patterns: Sequence[Pattern], writers: int, n: int) -> tuple[list[float], float]:
    """Each writer's share, and the share of records without a rule, which may be in any of n partitions.

    By expectation and maximisation: records that several writers explain are divided by the writers' shares, and
    records that chance explains are subtracted. Chance may act on each record or on each key, whichever leaves less
    unexplained.

    Args:
        patterns: All records.
        writers: How many writers there are.
        n: How many partitions there are.

    Returns:
        The writers' shares of the records, and the rest; together they are 1.

    Examples:
        >>> seen = [Pattern((True, False), 60, 6), Pattern((False, True), 20, 2), Pattern((True, True), 20, 2)]
        >>> found, rest = shares(seen, 2, 12)
        >>> [round(share, 2) for share in found], rest
        ([0.75, 0.25], 0.0)
    """
    by_rows = _shares(patterns, [each.rows for each in patterns], writers, n)
    by_pairs = _shares(patterns, [each.pairs for each in patterns], writers, n)
    *found, rest = min(by_rows, by_pairs, key=lambda each: each[-1])
    return found, rest


def _shares(patterns: Sequence[Pattern], weights: Sequence[int], writers: int, n: int) -> list[float]:
    found = [1.0] * (writers + 1)
    if all(any(each.explains) for each in patterns):
        # Nothing is left for chance.
        found[-1] = 0.0
    found = [share / sum(found) for share in found]
    for _ in range(_ROUNDS):
        before, found = found, _split(patterns, weights, found, n)
        if max(abs(old - new) for old, new in zip(before, found, strict=True)) < _STILL:
            break
    return _split(patterns, [each.rows for each in patterns], found, n)


def _split(
    patterns: Sequence[Pattern], weights: Sequence[int], shares_: Sequence[float], n: int
) -> list[float]:
    """Divide the weights among the writers by their shares."""
    counts = [0.0] * len(shares_)
    for pattern, weight in zip(patterns, weights, strict=True):
        parts = [share * by for share, by in zip(shares_, (*pattern.explains, 1 / n), strict=True)]
        # If no writer has a share left, nobody explains it.
        whole = sum(parts) or 1.0
        for place, part in enumerate(parts):
            counts[place] += weight * part / whole
    total = sum(weights) or 1
    return [count / total for count in counts]
