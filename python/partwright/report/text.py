"""Text and numbers for the page: text from outside made harmless, and numbers with sensible digits."""

from __future__ import annotations

from textwrap import wrap

from partwright._text import plain
from partwright.keys.key_text import short

__all__ = ["after", "bytes_", "label", "lines", "number", "of", "share", "shown"]

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000
_LABEL = 40


def shown(text: object) -> str:
    """Text of a table's cell: plain, and cut if it is very long."""
    return short(plain(text))


def label(text: object) -> str:
    """Text at an axis: plain, and cut to the available room.

    Examples:
        >>> label("x" * 900)
        'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    whole = plain(text)
    return whole if len(whole) <= _LABEL else f"{whole[: _LABEL - 1]}…"


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
    return [line for part in text.split("\n") for line in wrap(part, most)]


def of(source: str | None) -> str:
    """The part of a title that names the source.

    Examples:
        >>> of("orders.csv"), of(None)
        (' of orders.csv', '')
    """
    return "" if source is None else f" of {'stdin' if source == '-' else label(source)}"


def after(source: str | None) -> str:
    """The same after words that do not belong to the source.

    Examples:
        >>> after("group.json"), after(None)
        (': group.json', '')
    """
    return of(source).replace(" of ", ": ", 1)
