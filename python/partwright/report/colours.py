"""The one place for colours, and for the order in which clients, strategies, assignors, protocols and members stand.

Each colour has a contrast of 3 to 1 at least with the page's light and its dark ground, and any two of them are told
apart with red-, green- and blue-blind eyes: tests/report/test_colours.py holds both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ACCENT",
    "EMPHASIS",
    "FAILS",
    "GROUNDS",
    "HOLDS",
    "MUTED",
    "OPEN",
    "PALETTE",
    "PROTOCOLS",
    "TERMINAL",
    "assignors",
    "clients",
    "colours",
    "in_order",
    "members",
    "strategies",
]

GROUNDS = ("#ffffff", "#15181d")
"""What the page's plots stand on, light and dark; page.css has the same."""

PALETTE = ("#0068ba", "#e8590c", "#1aa16a", "#9d5f97", "#8d67ff", "#91994c", "#67645f", "#7b9996")
"""The colours of what has no order but its names, in the order in which they are given out."""

ACCENT = PALETTE[0]
"""What a plot is about."""
EMPHASIS = PALETTE[1]
"""What in it stands out: heavy keys, what moves, what nobody reads."""
MUTED = PALETTE[6]
"""What it is compared with."""

HOLDS = PALETTE[2]
"""The colour of a verdict that holds."""
FAILS = PALETTE[1]
"""That of one that does not."""
OPEN = PALETTE[6]
"""That of one that nobody has asked for."""

TERMINAL = {ACCENT: "cyan", HOLDS: "green", FAILS: "red", OPEN: "yellow"}
"""What a terminal has for them, whose owner has chosen its colours."""

PROTOCOLS = ("range", "sticky", "cooperative-sticky", "consumer")
"""As `partwright.group.compare` plays them: eager ones first, KIP-848 last."""


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each of some names, by its place among them; from the ninth on they begin again.

    Examples:
        >>> colours(["range", "sticky"])
        {'range': '#0068ba', 'sticky': '#e8590c'}
    """
    return {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(names)}


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Some names, those that are known in their known order, then the others as they come.

    Examples:
        >>> in_order(["mine", "sticky", "range"], ["range", "roundrobin", "sticky"])
        ['range', 'sticky', 'mine']
    """
    order = list(known)
    given = list(dict.fromkeys(names))
    place = {name: order.index(name) if name in order else len(order) + at for at, name in enumerate(given)}
    return sorted(given, key=place.__getitem__)


def clients() -> list[str]:
    """The clients' names in their order: Java's first."""
    from partwright.keys.clients import client_names

    return client_names()


def strategies() -> list[str]:
    """The strategies' names in their order."""
    from partwright.producer.strategy import strategies as table

    names: list[str] = table()["strategy"].to_pylist()
    return names


def assignors() -> list[str]:
    """The assignors' names in their order: those that are compared first, then older ones."""
    from partwright.assignors.compare import COMPARED
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
    # Of more digits than Python reads it is text.
    digits = name[len(stem) :] if len(name) - len(stem) <= _DIGITS else ""
    return stem, int(digits or -1), name


_DIGITS = 18
