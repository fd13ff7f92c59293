"""Text as key bytes, and key bytes as text for people."""

from __future__ import annotations

import struct

from partwright import _core
from partwright.errors import PartwrightError

__all__ = ["short", "shown_key", "text_bytes"]

_SHORT = 100

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
