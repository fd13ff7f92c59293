"""The arithmetic of advice: measurements as exact numbers or ranges, and leaders in proportion to brokers' power."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from partwright._check import at_least_one, counted, listed, refused, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["apportioned", "even", "floats", "measured", "positive", "powers_of", "written"]

_MOST_BROKERS = 1000
_MOST = 10**12
# How many tenths of its share a broker of unequal power may lead, and how far we look for such a count.
_UNEVEN = 11
_LOOKED_AT = 200


def even(count: int, powers: Sequence[int]) -> int:
    """The first number from a count on that brokers share evenly, or nearly in proportion to their power.

    Examples:
        >>> even(13, powers_of(3, None)), even(5, powers_of(None, [1, 1, 2]))
        (15, 8)
    """
    if len(set(powers)) == 1:
        return -(-count // len(powers)) * len(powers)
    whole = sum(powers)
    best, least = count, math.inf
    for each in range(count, count + _LOOKED_AT):
        led = _in_proportion(each, powers)
        if min(led) == 0:
            continue
        if all(one * whole * 10 <= each * power * _UNEVEN for one, power in zip(led, powers, strict=True)):
            return each
        over = max(one * whole / (each * power) for one, power in zip(led, powers, strict=True))
        if over < least:
            best, least = each, over
    return best


def apportioned(count: int, powers: Sequence[int]) -> tuple[int, ...]:
    """Leaders by broker: whole numbers in proportion to power; the largest remainders get the rest.

    If there are enough, every broker leads at least one, however weak it is compared with the others.

    Examples:
        >>> apportioned(14, powers_of(None, [1, 1, 2])), apportioned(10, powers_of(None, [1, 1000]))
        ((4, 3, 7), (1, 9))
    """
    led = _in_proportion(count, powers)
    while min(led) == 0 and count >= len(led):
        led[led.index(max(led))] -= 1
        led[led.index(0)] += 1
    return tuple(led)


def _in_proportion(count: int, powers: Sequence[int]) -> list[int]:
    whole = sum(powers)
    found, left = zip(*(divmod(count * power, whole) for power in powers), strict=True)
    order = sorted(range(len(powers)), key=lambda place: (-left[place], place))
    more = set(order[: count - sum(found)])
    return [one + (place in more) for place, one in enumerate(found)]


def powers_of(brokers: object, power: object) -> tuple[int, ...]:
    """Each broker's power as whole numbers in the given proportion; all equal if none is given.

    Examples:
        >>> powers_of(None, [1, 1.5]), powers_of(3, None)
        ((2, 3), (1, 1, 1))
    """
    if power is None:
        return (1,) * (3 if brokers is None else at_least_one(brokers, "brokers", _MOST_BROKERS))
    powers = [positive(each, "power") for each in listed(power, "power")]
    at_least_one(len(powers), "the number of powers", _MOST_BROKERS)
    if brokers is not None and at_least_one(brokers, "brokers", _MOST_BROKERS) != len(powers):
        reason = f"has {counted(len(powers), 'number')} and brokers is {brokers}: a number for each broker"
        raise refused(power, "power", reason)
    common = math.lcm(*(each.denominator for each in powers))
    return tuple(int(each * common) for each in powers)


def measured(given: object, what: str) -> tuple[Fraction, Fraction]:
    """A number, or a range of two."""
    if isinstance(given, (tuple, list)):
        if len(given) != 2:  # noqa: PLR2004 - a range has two ends
            raise refused(given, what, f"is a number or a range of two, not {shown(given)}")
        low, high = (positive(each, what) for each in given)
        if low > high:
            raise refused(given, what, f"is a range from {written(low)} to {written(high)}: turn it round")
        return low, high
    found = positive(given, what)
    return found, found


def positive(given: Any, what: str) -> Fraction:
    """A number above 0, exactly as it is written."""
    if type(given) not in {int, float} or not 0 < given <= _MOST:
        raise refused(given, what, f"is a number above 0, {_MOST:,} at most, not {shown(given)}")
    # Read as written, so that 1.1 times 100 is exactly 110 and does not round up to another partition.
    return Fraction(str(given))


def floats(given: tuple[Fraction, Fraction]) -> tuple[float, float]:
    """A range for arithmetic that need not be exact."""
    return float(given[0]), float(given[1])


def written(given: Fraction) -> str:
    """A number for a sentence."""
    return f"{float(given):,.10g}"
