"""A key that is typed as text, on a command line or in a file's line, as its key type takes it."""

from __future__ import annotations

import os

from partwright.errors import PartwrightError

__all__ = ["read_key"]

_BOOLEANS = {"true": True, "false": False}


def read_key(text: str, key_type: str | None) -> str | bytes | float:
    """A key as its key type takes it.

    Args:
        text: What was typed.
        key_type: The key type; None for text.

    Raises:
        PartwrightError: It is not one of that type.

    Examples:
        >>> read_key("42", "java:long"), read_key("42", None), read_key("42", "bytes")
        (42, '42', b'42')
    """
    if key_type in {"java:short", "java:int", "java:long"}:
        return _number(text, key_type, int)
    if key_type in {"java:float", "java:double"}:
        return _number(text, key_type, float)
    if key_type == "java:boolean":
        if text.lower() not in _BOOLEANS:
            raise PartwrightError(f"key type java:boolean takes true or false, not {text!r}")
        return _BOOLEANS[text.lower()]
    if key_type in {"bytes", "confluent:strip-id"}:
        return os.fsencode(text)
    return text


def _number(text: str, key_type: str, kind: type[int | float]) -> int | float:
    # As `place` reads a number from a file of text, and rounds it once. Text alone needs none of this.
    from partwright.files import text_type  # noqa: PLC0415
    from partwright.files.text_types import read_one  # noqa: PLC0415

    found = read_one(text, text_type(key_type))
    if found is None:
        what = "a whole number" if kind is int else "a number"
        raise PartwrightError(f"key type {key_type} takes {what}, not {text!r}")
    return kind(found)
