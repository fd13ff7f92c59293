"""Text and numbers for the page: text from outside made harmless, and numbers with sensible digits."""

from __future__ import annotations

import unicodedata

from partwright._text import plain

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000
_LABEL = 40
_CELL = 100


def shown(text: object) -> str:
    """Text of a table's cell: plain, and cut in its middle if it is very long.

    Examples:
        >>> shown("k" * 60 + "-" * 60)
        'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…-------------------------------------------------- (120 characters)'
    """  # noqa: E501 - the text is one line
    whole = plain(text)
    return whole if len(whole) <= _CELL else f"{cut(whole, _CELL)} ({len(whole):,} characters)"


def label(text: object) -> str:
    """Text at an axis and in a sentence: plain, and cut in its middle to the available room.

    Examples:
        >>> label("00000000-0000-0000-0000-000000000417 of a tenant")
        '00000000-0000-0000-…00000417 of a tenant'
    """
    return cut(plain(text), _LABEL)


def number(value: float | None) -> str:
    """A number with thousands separators and at most three digits after the point.

    Examples:
        >>> number(1234567), number(0.123456), number(2.0), number(None)
        ('1,234,567', '0.123', '2', '')
    """
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}".rstrip("0").rstrip(".")


def share(value: float | None) -> str:
    """A share, 0 to 1, in percent.

    Examples:
        >>> share(0.12345), share(None)
        ('12.3%', '')
    """
    return "" if value is None else f"{value:.1%}"


def bytes_(value: float | None) -> str:
    """A size with its unit.

    Examples:
        >>> bytes_(12), bytes_(16384), bytes_(None)
        ('12 B', '16.4 kB', '')
    """
    if value is None:
        return ""
    size: float = value
    for unit in _UNITS[:-1]:
        if size < _STEP:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _STEP
    return f"{size:.1f} {_UNITS[-1]}"


def lines(text: str, *, most: int) -> list[str]:
    """A text broken into lines of at most this many characters; its own line ends stay.

    Examples:
        >>> lines("one two three", most=8)
        ['one two', 'three']
    """
    from textwrap import wrap  # noqa: PLC0415 - a short answer in a terminal does without it

    return [line for part in text.split("\n") for line in wrap(part, most)]


def cut(words: str, width: int, mark: str = "…") -> str:
    """A name that is longer than its room, without its middle: names that begin alike end differently.

    Examples:
        >>> cut("00000000-0000-0000-0000-000000000417", 17)
        '00000000…00000417'
        >>> cut("orders", 6)
        'orders'
    """
    if columns_of(words) <= width:
        return words
    head = (width - len(mark)) // 2
    tail = width - len(mark) - head
    return f"{words[:head]}{mark}{words[len(words) - tail :]}"


def columns_of(words: str) -> int:
    """How many columns of a terminal a text takes."""
    if words.isascii():
        return len(words)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in words
    )
