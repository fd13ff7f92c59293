"""Values that are never shown, and texts with the secrets removed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NoReturn, Self, TypeVar
from urllib.parse import quote, quote_plus

from partwright.errors import PartwrightError

_Value = TypeVar("_Value")

HIDDEN = "[hidden]"
"""The text in place of a secret, as in Kafka's own logs."""
_LEAST_LINE = 16


class SecretHolder:
    """A value that holds secrets: a copy of it is itself, and it cannot be pickled."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PartwrightError(
            f"a {type(self).__name__} is not pickled, since it holds secrets: read the configuration again, from its "
            "file, where it is needed"
        )


class Secret(SecretHolder):
    """A text that prints as `[hidden]` everywhere and cannot be pickled.

    Examples:
        >>> f"{Secret('hunter2')}", [Secret("hunter2")], Secret("a") == Secret("a")
        ('[hidden]', [[hidden]], True)
        >>> Secret("hunter2").clear()
        'hunter2'
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def clear(self) -> str:
        """The text itself, for the library that needs it."""
        return self._text

    def __repr__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))


def clear(value: _Value | Secret) -> _Value | str:
    """A value, or the text of a secret."""
    return value.clear() if isinstance(value, Secret) else value


def without(text: str, secrets: Iterable[str]) -> str:
    r"""A text with `[hidden]` in place of each secret, plain or quoted as in Python, JSON, JAAS and URLs.

    Examples:
        >>> without('password="a\\"b", a%22b', ['a"b'])
        'password="[hidden]", [hidden]'
        >>> without("hidden e", ["e", "hidden"])
        '[hidden] [hidden]'
    """
    forms: set[str] = set()
    for secret in secrets:
        # Each line of a key is still a secret.
        for part in [secret, *(line for line in secret.splitlines() if len(line) >= _LEAST_LINE)]:
            quoted = json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1], repr(part)[1:-1]
            forms |= {part, *quoted, quote(part), quote(part, safe=""), quote_plus(part)}
    longest_first = sorted(forms - {""}, key=lambda each: (-len(each), each))
    # Replace all at once: a short secret may be part of the text that replaces another one.
    return re.sub("|".join(map(re.escape, longest_first)), HIDDEN, text) if longest_first else text
