"""Read brokers, numbers by broker and sizes from a command's options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cluster import Broker

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMGTP]?)(i?)B?")
_UNITS = " kMGTP"
_MOST = 100_000
_DIGITS = 10


def read_brokers(typed: str, option: str) -> list[Broker | int]:
    """Brokers from `0,2-5,6=rack-a`: an ID, a range of IDs, or an ID with its rack.

    Raises:
        PartwrightError: A part is not one of these.

    Examples:
        >>> read_brokers("0,2-3,6=a", "--add")
        [0, 2, 3, Broker(id=6, host=None, port=None, rack='a', region=None)]
    """
    from partwright.cluster import Broker

    brokers: list[Broker | int] = []
    for part in typed.split(","):
        name, equals, rack = part.partition("=")
        ids = _ids(name, part, option)
        if equals and (not rack or len(ids) > 1):
            raise _refused(part, option)
        brokers += [Broker(ids[0], rack=rack)] if equals else ids
    return brokers


def read_ids(typed: str, option: str) -> list[int]:
    """The IDs from `0,2-5`.

    Raises:
        PartwrightError: A part is neither an id nor a range.

    Examples:
        >>> read_ids("0,2-4", "--remove")
        [0, 2, 3, 4]
    """
    return [each for part in typed.split(",") for each in _ids(part, part, option)]


def read_numbers(typed: str, option: str, *, sizes: bool = False) -> dict[int, int]:
    """Numbers by broker from `0=2,3=1`, or sizes.

    Raises:
        PartwrightError: A part is not such a pair, or a broker occurs twice.

    Examples:
        >>> read_numbers("0=1TB,1-2=500GB", "--disks", sizes=True)
        {0: 1000000000000, 1: 500000000000, 2: 500000000000}
    """
    numbers: dict[int, int] = {}
    for part in typed.split(","):
        name, equals, value = part.partition("=")
        if not equals or not (sizes or value.strip().isdecimal()):
            raise PartwrightError(f"{option} takes ID=NUMBER,..., not {part!r}")
        for each in _ids(name, part, option):
            if each in numbers:
                raise PartwrightError(f"{option} names broker {each} twice: each once")
            numbers[each] = read_size(value, option) if sizes else int(value[:_DIGITS])
    return numbers


def read_size(typed: str, option: str) -> int:
    """Bytes from `50MB`, `1.5GiB` or a plain number.

    Raises:
        PartwrightError: It is not a size, or not above 0.

    Examples:
        >>> read_size("50MB", "--throttle"), read_size("1.5KiB", "--throttle")
        (50000000, 1536)
    """
    match = _SIZE.fullmatch(typed.strip())
    size = 0
    if match is not None and len(match[1]) < 20:  # noqa: PLR2004 - more digits than any disk has
        power = _UNITS.index(match[2].replace("K", "k") or " ")
        size = round(float(match[1]) * (1024 if match[3] else 1000) ** power)
    if size <= 0:
        raise PartwrightError(f"{option} takes a size above 0, such as 50MB or 1.5GiB, not {typed!r}")
    return size


def read_factors(typed: Sequence[str]) -> int | dict[str, int] | None:
    """Replication factors from `3`, or from `orders=3` for each topic; None if none is named.

    Raises:
        PartwrightError: It is neither, or both.

    Examples:
        >>> read_factors(["3"]), read_factors(["orders=3", "users=2"])
        (3, {'orders': 3, 'users': 2})
    """
    if not typed:
        return None
    factors: dict[str, int] = {}
    for each in typed:
        topic, equals, number = each.rpartition("=")
        if not number.isdecimal() or len(number) > _DIGITS or (not equals and len(typed) > 1):
            raise PartwrightError(
                f"--replication-factor takes N once, or NAME=N for each topic, not {each!r}"
            )
        if not equals:
            return int(number)
        if topic in factors:
            raise PartwrightError(f"--replication-factor names topic {topic!r} twice: each once")
        factors[topic] = int(number)
    return factors


def _ids(typed: str, part: str, option: str) -> list[int]:
    first, dash, last = typed.strip().partition("-")
    ends = [first, last] if dash else [first]
    if not all(each.isdecimal() and each.isascii() and len(each) <= _DIGITS for each in ends):
        raise _refused(part, option)
    low, high = int(ends[0]), int(ends[-1])
    if not 0 <= high - low < _MOST:
        raise _refused(part, option)
    return list(range(low, high + 1))


def _refused(part: str, option: str) -> PartwrightError:
    rack = " or with its rack as 3=rack-a," if option != "--remove" else ""
    return PartwrightError(f"{option} takes brokers' ids, as 0,2-5,{rack} not {part!r}")
