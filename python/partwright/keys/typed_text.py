"""Convert a key typed as text, on a command line or in a file's line, to a value for its key type."""

from __future__ import annotations

import os

from partwright import _core
from partwright.errors import PartwrightError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal

    from partwright.keys.hashing import Key

__all__ = ["read_key"]

_FORMS = {
    "decimal": "a decimal such as 19.90",
    "iso-date": "a date such as 2024-01-31",
    "iso-timestamp": "a timestamp such as 2024-01-31T12:00:00Z",
}
_BOOLEANS = {"true": True, "false": False}


def read_key(text: str, key_type: str | None) -> Key:
    """A typed key as a value for its key type.

    Args:
        text: The typed text.
        key_type: The key type; None for text.

    Raises:
        PartwrightError: The text is not a value of that type.

    Examples:
        >>> read_key("42", "java:long"), read_key("42", None), read_key("42", "bytes")
        (42, '42', b'42')
    """
    key_type = _core.check(1, "java", key_type)
    if key_type in {"java:short", "java:int", "java:long", "digits"}:
        return _number(text, key_type, int)
    if key_type in {"java:float", "java:double"}:
        return _number(text, key_type, float)
    if key_type == "java:boolean":
        if text.lower() not in _BOOLEANS:
            raise PartwrightError(f"key type java:boolean takes true or false, not {text!r}")
        return _BOOLEANS[text.lower()]
    if key_type in {"bytes", "confluent:strip-id"}:
        return os.fsencode(text)
    if key_type in _FORMS:
        return _of_form(text, key_type)
    return text


def _of_form(text: str, key_type: str) -> Decimal | date:
    # Text needs no conversion.
    from datetime import date, datetime  # noqa: PLC0415
    from decimal import Decimal, DecimalException  # noqa: PLC0415

    try:
        if key_type == "decimal":
            return Decimal(text)
        return (date if key_type == "iso-date" else datetime).fromisoformat(text)
    except (ValueError, DecimalException):
        raise PartwrightError(f"key type {key_type} takes {_FORMS[key_type]}, not {text!r}") from None


def _number(text: str, key_type: str, kind: type[int | float]) -> int | float:
    # Rounded once, as `place` reads a number from a text file. Text needs no conversion.
    from partwright.files import text_type  # noqa: PLC0415
    from partwright.files.text_types import read_one  # noqa: PLC0415

    found = read_one(text, text_type(key_type))
    if found is None:
        what = "a whole number" if kind is int else "a number"
        raise PartwrightError(f"key type {key_type} takes {what}, not {text!r}")
    return kind(found)
