"""What several commands read from their options in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["key_values"]


def key_values(option: str, given: Iterable[str]) -> dict[str, str]:
    """The pairs of an option that takes K=V.

    Raises:
        PartwrightError: One of them is no pair.

    Examples:
        >>> key_values("--conf", ["spark.sql.ansi.enabled=true"])
        {'spark.sql.ansi.enabled': 'true'}
    """
    pairs = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise PartwrightError(f"{option} takes NAME=VALUE, not {each!r}")
        pairs[name.strip()] = value
    return pairs
