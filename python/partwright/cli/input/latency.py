"""A broker's latency as an option takes it: `5`, `1..9` or `p50=2,p99=40`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from partwright.errors import PartwrightError

__all__ = ["LATENCY", "read_latency"]

# Numbers beyond a latency's bounds are refused elsewhere; here, those so long that Python reads them slowly.
_NUMBER = "([0-9]{1,19})"
_FORMS = (
    (re.compile(rf"{_NUMBER}\.\.{_NUMBER}"), ("from", "to")),
    (re.compile(rf"p50={_NUMBER},p99={_NUMBER}"), ("p50", "p99")),
)


def read_latency(text: str) -> int | dict[str, int] | None:
    """A latency as `partwright.batching` takes it; None for any other text.

    Examples:
        >>> read_latency("5"), read_latency("1..9"), read_latency("p50=2,p99=40"), read_latency("5ms")
        (5, {'from': 1, 'to': 9}, {'p50': 2, 'p99': 40}, None)
    """
    if re.fullmatch(_NUMBER, text):
        return int(text)
    for form, names in _FORMS:
        if found := form.fullmatch(text):
            return dict(zip(names, map(int, found.groups()), strict=True))
    return None


if TYPE_CHECKING:
    _ParamType = click.ParamType[int | dict[str, int]]
else:
    # ParamType is not generic before click 8.4.
    _ParamType = click.ParamType


class _Latency(_ParamType):
    """The type of an option that takes a latency."""

    name = "latency"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | dict[str, int]:
        del ctx
        latency = read_latency(str(value))
        if latency is None:
            option = "" if param is None else f"{param.opts[0]} takes "
            raise PartwrightError(f"{option}milliseconds, such as 5, 1..9 or p50=2,p99=40, not {value!r}")
        return latency


LATENCY = _Latency()
