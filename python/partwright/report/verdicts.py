"""Answers in words, the same in the terminal and on the page: what holds, what does not, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.report.figure import Verdict
from partwright.shown import short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright.placement import Placement

__all__ = ["of_check"]

# Below this, an uneven spread of keys is not put down to chance.
_UNLIKELY = 0.01


def of_check(found: Placement, *, is_checked: bool) -> tuple[Verdict, ...]:
    """What a check found: the places first, then the contract, then how even it is."""
    return (places(found, is_checked=is_checked), *contract(found), *skew(found), *_noted(found.note))


def places(found: Placement, *, is_checked: bool) -> Verdict:
    """Whether records are where their client puts them."""
    undetermined = f"; undetermined: {found.undetermined:,}" if found.undetermined else ""
    if not is_checked:
        if found.has_contract:
            return Verdict("said", f"places are not checked, for no --partition was given{undetermined}")
        return Verdict("open", f"not checked: no --partition was given{undetermined}")
    if not found.misplaced:
        return Verdict(
            "holds", f"checked {found.rows:,} rows: all are where {found.client} puts them{undetermined}"
        )
    return Verdict(
        "fails",
        f"checked {found.rows:,} rows: {found.misplaced:,} misplaced, by client {found.client}{undetermined}",
    )


def contract(found: Placement) -> Iterable[Verdict]:
    """Whether the shares keep their contract, if there is one."""
    if found.has_contract and not found.broken:
        return (Verdict("holds", "the shares keep the contract"),)
    return tuple(Verdict("fails", sentence) for sentence in found.broken)


def skew(found: Placement) -> Iterable[Verdict]:
    """How uneven it is, and whether chance or heavy keys make it so."""
    of = found.skew
    words = f"the largest partition has {of.largest_over_mean:.2f} times an even one's rows"
    if of.expected_used is not None and found.rows > found.null_keys:
        words += f"; so many keys use {of.expected_used:,.1f} partitions by chance"
    said = [Verdict("said", words)]
    if of.p_value is not None:
        spread = (
            "as evenly as chance has it" if of.p_value >= _UNLIKELY else "more unevenly than chance has it"
        )
        said.append(
            Verdict(
                "said",
                f"the keys, each counted once, are spread {spread}: chi-square {of.chi_square:,.1f} with "
                f"{found.n - 1:,} degrees of freedom, p = {of.p_value:.2g}",
            )
        )
    return said


def _noted(*notes: str | None) -> Iterable[Verdict]:
    return tuple(Verdict("said", short(note)) for note in notes if note)
