"""Times, factors, lists of names and verdicts for sentences."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from partwright._check import enumeration
from partwright.rendering.document import Verdict
from partwright.rendering.text import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Json

__all__ = ["ends", "named", "of_assumed", "seconds", "summed", "time", "times"]

# How many of a list are named; of the others, only their number is given.
_NAMED = 6
# From here on, digits after the point mean nothing.
_WHOLE = 10


def seconds(ms: float) -> str:
    """A time in a play.

    Examples:
        >>> seconds(3013)
        '3.0 s'
    """
    return f"{ms / 1000:,.1f} s"


def time(milliseconds: int) -> str:
    """An instant in ISO 8601, if it is a calendar time.

    Examples:
        >>> time(1_700_000_000_000)
        '2023-11-14T22:13:20.000+00:00'
    """
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{milliseconds} ms"


def times(factor: float) -> str:
    """A factor, with as many digits as matter.

    Examples:
        >>> [times(factor)[:-1] for factor in (174.72, 3.74, 1)]
        ['175', '3.7', '1.0']
    """
    return f"{factor:,.0f}\u00d7" if factor >= _WHOLE else f"{factor:.1f}\u00d7"


def named(names: Sequence[object], most: int = _NAMED) -> str:
    """Names from outside, by `enumeration`, each short enough for a sentence."""
    return enumeration(names, most, label)


def ends(names: Sequence[str]) -> str:
    """The first and the last of some names, for what stands for all of them.

    Examples:
        >>> ends(["m0", "m1", "m2"]), ends(["m0"])
        ('m0 … m2', 'm0')
    """
    return " … ".join(label(name) for name in dict.fromkeys((names[0], names[-1])))


def summed(verdicts: Sequence[Verdict], answer: Mapping[str, object], assumed: Sequence[str] = ()) -> Json:
    """An answer as in `--json`, with its verdict first, and what was assumed last, if anything was.

    Examples:
        >>> summed([Verdict("holds", "It is so.")], {"ok": True})
        {'summary': 'It is so.', 'ok': True}
        >>> summed([Verdict("holds", "It is so.")], {"ok": True}, ["that it is"])
        {'summary': 'It is so.', 'ok': True, 'assumed': ['that it is']}
    """
    found = {"summary": verdicts[0].text, **answer}
    return {**found, "assumed": list(assumed)} if assumed else found


def of_assumed(assumed: Sequence[str]) -> tuple[Verdict, ...]:
    """What was assumed because nobody said it, a sentence each.

    Examples:
        >>> [verdict.text for verdict in of_assumed(["assumed subscriptions: 2 members to all topics"])]
        ['Assumed subscriptions: 2 members to all topics.']
    """
    return tuple(Verdict("said", f"{each[:1].upper()}{each[1:]}.") for each in assumed)
