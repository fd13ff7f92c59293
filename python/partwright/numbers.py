"""Whole numbers and their bounds, which are Java's."""

from __future__ import annotations

from partwright.cluster.parts import shown
from partwright.errors import PartwrightError

__all__ = ["LEAST_INT", "LEAST_LONG", "MOST_INT", "MOST_LONG", "optional", "whole"]

LEAST_INT = -(2**31)
MOST_INT = 2**31 - 1
LEAST_LONG = -(2**63)
MOST_LONG = 2**63 - 1


def whole(given: object, what: str, least: int, most: int) -> int:
    """A whole number within its bounds.

    Raises:
        PartwrightError: It is none.
    """
    if type(given) is not int or not least <= given <= most:
        raise PartwrightError(f"{what} is a whole number from {least} to {most}, not {shown(given)}")
    return given


def optional(given: object, what: str, least: int, most: int) -> int | None:
    """A whole number within its bounds, or None.

    Raises:
        PartwrightError: It is neither.
    """
    return None if given is None else whole(given, what, least, most)
