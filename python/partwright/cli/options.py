"""What several commands read from their options in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

__all__ = ["column_name", "key_values"]


def column_name(ctx: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """The name of a column; what is none is refused.

    Raises:
        PartwrightError: It is empty, or its bytes are not UTF-8.
    """
    del ctx
    if given == "":
        raise PartwrightError(f"{option.opts[0]} is empty: name a column")
    try:
        (given or "").encode()
    except UnicodeEncodeError:
        raise PartwrightError(f"{option.opts[0]} {given!r} is not UTF-8, as every column's name is") from None
    return given


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
