"""The one place for colours, and for the order of clients, strategies, assignors, protocols and members.

Each colour has a contrast of at least 3 to 1 with the page's light and dark background, and red-, green- and blue-blind
eyes can distinguish any two of them: tests/report/test_colours.py checks both.
"""

from __future__ import annotations

from collections.abc import Iterable

GROUNDS = ("#ffffff", "#15181d")
"""The background of the page's plots, light and dark; page.css has the same."""

PALETTE = ("#0068ba", "#e8590c", "#1aa16a", "#9d5f97", "#8d67ff", "#91994c", "#67645f", "#7b9996")
"""The colours of things that are ordered only by name, in the order in which they are assigned."""

ACCENT = PALETTE[0]
"""The colour of a plot's subject."""
EMPHASIS = PALETTE[1]
"""The colour of what stands out: heavy keys, moved records, unread partitions."""
MUTED = PALETTE[6]
"""The colour of what it is compared with."""

HOLDS = PALETTE[2]
"""The colour of a verdict that holds."""
FAILS = PALETTE[1]
"""The colour of a verdict that does not hold."""
OPEN = PALETTE[6]
"""The colour of a verdict that was not asked for."""

TERMINAL = {ACCENT: "cyan", HOLDS: "green", FAILS: "red", OPEN: "yellow"}
"""The terminal's own colours for these, which its user has chosen."""

PROTOCOLS = ("range", "sticky", "cooperative-sticky", "consumer")
"""In the order of `partwright.group.compare`: eager protocols first, KIP-848 last."""


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name, by its position; from the ninth on, colours repeat.

    Examples:
        >>> colours_of(["range", "sticky"])
        {'range': '#0068ba', 'sticky': '#e8590c'}
    """
    return {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(names)}


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Names in order: known ones in their known order, then the others as given.

    Examples:
        >>> in_order(["mine", "sticky", "range"], ["range", "roundrobin", "sticky"])
        ['range', 'sticky', 'mine']
    """
    order = list(known)
    distinct_names = list(dict.fromkeys(names))
    place = {
        name: order.index(name) if name in order else len(order) + at
        for at, name in enumerate(distinct_names)
    }
    return sorted(distinct_names, key=place.__getitem__)


def strategies() -> list[str]:
    """The strategies' names in their order."""
    from partwright.producer.strategy import strategies as table

    names: list[str] = table()["strategy"].to_pylist()
    return names


def assignors() -> list[str]:
    """The assignors' names in their order: the compared ones first, then older ones."""
    from partwright.assignors.comparison import COMPARED
    from partwright.assignors.names import assignors as names

    return in_order(names(), COMPARED)


def members(names: Iterable[str]) -> list[str]:
    """Members in their order: c2 before c10.

    Examples:
        >>> members(["c10", "c2", "b"])
        ['b', 'c2', 'c10']
    """
    return sorted(dict.fromkeys(names), key=_natural)


def _natural(name: str) -> tuple[str, int, str]:
    stem = name.rstrip("0123456789")
    # A number with more digits than Python reads counts as text.
    digits = name[len(stem) :] if len(name) - len(stem) <= _DIGITS else ""
    return stem, int(digits or -1), name


_DIGITS = 18
