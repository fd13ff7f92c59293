"""Text as key bytes, key bytes as text for people, and a typed text as a value of its key type."""

from __future__ import annotations

import base64
import os
import struct
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from partwright import _core
from partwright._check import shown, spelled
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal

    from partwright.files import ColumnRequest
    from partwright.files.formats import Column


KEY_ENCODINGS = ("base64", "hex", "json")
"""How a file's text may be a key's bytes."""
_SHORT = 100
_DECODERS: dict[str, Callable[[str], bytes]] = {
    "base64": partial(base64.b64decode, validate=True),
    "hex": lambda text: bytes.fromhex(text.removeprefix("0x")),
}

# What Kafka's serializers write for numbers.
_NUMBERS = {
    "java:short": ">h",
    "java:int": ">i",
    "java:long": ">q",
    "java:float": ">f",
    "java:double": ">d",
    "java:boolean": ">?",
}


def shown_key(key: bytes | None, key_type: str | None = None) -> str:
    r"""A key for people: its number under a key type of numbers, its text if it is printable UTF-8, otherwise hex.

    Examples:
        >>> shown_key(b"N14228"), shown_key(b"\x00\x2a"), shown_key(b""), shown_key(None)
        ('N14228', '0x002a', '(empty)', 'null')
        >>> shown_key(b"\x00\x2a", "java:short")
        '42'
    """
    if key is None:
        return "null"
    if (key_type := _core.check(1, "java", key_type)) in _NUMBERS:
        return str(struct.unpack(_NUMBERS[key_type], key)[0])
    try:
        text = bytes(key).decode()
    except UnicodeDecodeError:
        text = ""
    if not key:
        return "(empty)"
    return text if text.isprintable() and text else f"0x{bytes(key).hex()}"


def short(shown: str) -> str:
    """A key for display, cut if it is very long.

    Examples:
        >>> short("N14228"), short("x" * 900)[98:]
        ('N14228', 'xx... (900 characters)')
    """
    return shown if len(shown) <= _SHORT else f"{shown[:_SHORT]}... ({len(shown):,} characters)"


def text_bytes(text: str, key_type: str | None, row: int | None = None) -> bytes:
    """The bytes of one text as UTF-8.

    A surrogate without its pair is not a character. Java's StringSerializer writes `?` for it; the key type `utf8`
    refuses it.

    Raises:
        PartwrightError: An unpaired surrogate under another key type than `java:string`.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    # Python keeps a pair of surrogates as two characters; Java sees the one character that they encode.
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if key_type == "java:string":
        return paired.encode("utf-8", "replace")
    try:
        return paired.encode()
    except UnicodeEncodeError as error:
        refusal = PartwrightError(
            f"the text {text!r} has the unpaired surrogate {paired[error.start]!r}, which UTF-8 cannot hold; "
            "key_type='java:string' writes it as '?', as Java does"
        )
        raise (refusal if row is None else refusal.at_row(row)) from None


def key_request(name: str, key_type: str | None, encoding: str | None) -> ColumnRequest:
    """What is asked of a file for the column of its keys.

    Args:
        name: The column.
        key_type: How a value becomes key bytes.
        encoding: One of `KEY_ENCODINGS`; None for values.
    """
    from partwright.files import ColumnRequest, text_type  # noqa: PLC0415 - text needs no conversion

    return ColumnRequest(name, text_type(None if encoding else key_type), lenient=encoding == "json")


def decoded(keys: Column, encoding: str, path: str, first_row: int = 0) -> Column:
    r"""The bytes of keys that a file has as text in base64 or hex; those of `json` are the text.

    Args:
        keys: Text.
        encoding: One of `KEY_ENCODINGS`.
        path: The file's name.
        first_row: The row of the file that is the column's first.

    Raises:
        PartwrightError: A text is in another encoding, or the keys are not text; with its row.

    Examples:
        >>> import pyarrow as pa
        >>> decoded(pa.array(["AAAAKg==", None]), "base64", "x").to_pylist()
        [b'\x00\x00\x00*', None]
    """
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_string(keys.type) and not pa.types.is_large_string(keys.type):
        what = (
            f"{spelled('key_encoding')} {encoding} is for keys of text, and those of {path!r} are {keys.type}"
        )
        raise PartwrightError(f"{what}: leave it out, or write the text", path=path)
    if encoding == "json":
        return keys
    made: list[bytes | None] = []
    for row, text in enumerate(keys.to_pylist(), first_row):
        try:
            made.append(text if text is None else _DECODERS[encoding](text))
        except ValueError:
            reason = f"row {row} of {path!r} has the key {shown(text)}, which is not {encoding}"
            raise PartwrightError(reason, row=row, path=path, value=text) from None
    return pa.array(made, pa.binary())


_FORMS = {
    "decimal": "a decimal such as 19.90",
    "iso-date": "a date such as 2024-01-31",
    "iso-timestamp": "a timestamp such as 2024-01-31T12:00:00Z",
}
_BOOLEANS = {"true": True, "false": False}


def read_key(text: str, key_type: str | None) -> str | bytes | float | Decimal | date:
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
            raise PartwrightError(f"key type java:boolean takes true or false, not {shown(text)}")
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
        raise PartwrightError(f"key type {key_type} takes {_FORMS[key_type]}, not {shown(text)}") from None


def _number(text: str, key_type: str, kind: type[int | float]) -> int | float:
    # Rounded once, as `place` reads a number from a text file. Text needs no conversion.
    from partwright.files import text_type  # noqa: PLC0415
    from partwright.files.formats import read_one  # noqa: PLC0415

    number = read_one(text, text_type(key_type))
    if number is None:
        what = "a whole number" if kind is int else "a number"
        raise PartwrightError(f"key type {key_type} takes {what}, not {shown(text)}")
    return kind(number)
