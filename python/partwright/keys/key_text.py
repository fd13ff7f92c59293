"""Key bytes as people read them."""

from __future__ import annotations

import struct

__all__ = ["short", "shown_key"]

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
    r"""A key for people: its number under a key type of numbers, its text where it is printable UTF-8, else hex.

    Examples:
        >>> shown_key(b"N14228"), shown_key(b"\x00\x2a"), shown_key(b""), shown_key(None)
        ('N14228', '0x002a', '(empty)', 'null')
        >>> shown_key(b"\x00\x2a", "java:short")
        '42'
    """
    if key is None:
        return "null"
    if key_type in _NUMBERS:
        return str(struct.unpack(_NUMBERS[key_type], key)[0])
    try:
        text = bytes(key).decode()
    except UnicodeDecodeError:
        text = ""
    if not key:
        return "(empty)"
    return text if text.isprintable() and text else f"0x{bytes(key).hex()}"


def short(shown: str) -> str:
    """What is shown of a key, cut where it is very long.

    Examples:
        >>> short("N14228"), short("x" * 900)[98:]
        ('N14228', 'xx... (900 characters)')
    """
    return shown if len(shown) <= _SHORT else f"{shown[:_SHORT]}... ({len(shown):,} characters)"
