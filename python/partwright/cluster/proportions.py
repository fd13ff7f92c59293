"""The arithmetic of advice: measurements as exact numbers or ranges, and leaders in proportion to brokers' power."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from partwright.cluster.parts import listed, shown
from partwright.cluster.wanted import at_least_one
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["apportioned", "even", "floats", "measured", "positive", "shares_of", "written"]

_MOST_BROKERS = 1000
_MOST = 10**12
# How much more than its share a broker of unequal power may lead, and how far we look for a count that does it.
_UNEVEN = Fraction(11, 10)
_LOOKED_AT = 200


def even(count: int, shares: Sequence[Fraction]) -> int:
    """The first number from a count on that brokers share evenly, or in proportion to their power as far as that goes.

    Examples:
        >>> even(13, shares_of(3, None)), even(5, shares_of(None, [1, 1, 2]))
        (15, 8)
    """
    if len(set(shares)) == 1:
        return -(-count // len(shares)) * len(shares)
    best, least = count, Fraction(_MOST)
    for each in range(count, count + _LOOKED_AT):
        led = apportioned(each, shares)
        if min(led) == 0:
            continue
        over = max(one / (each * share) for one, share in zip(led, shares, strict=True))
        if over <= _UNEVEN:
            return each
        if over < least:
            best, least = each, over
    return best


def apportioned(count: int, shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Leaders by broker: whole numbers in proportion, and what is left to the largest remainders.

    Examples:
        >>> apportioned(14, shares_of(None, [1, 1, 2]))
        (4, 3, 7)
    """
    exact = [count * share for share in shares]
    found = [math.floor(each) for each in exact]
    order = sorted(range(len(shares)), key=lambda place: (found[place] - exact[place], place))
    for place in order[: count - sum(found)]:
        found[place] += 1
    return tuple(found)


def shares_of(brokers: Any, power: Any) -> tuple[Fraction, ...]:  # noqa: ANN401 - what is checked here
    """Which part of the leaders each broker is to have."""
    if power is None:
        count = 3 if brokers is None else at_least_one(brokers, "brokers", _MOST_BROKERS)
        return (Fraction(1, count),) * count
    powers = [positive(each, "power") for each in listed(power, "power")]
    at_least_one(len(powers), "the number of powers", _MOST_BROKERS)
    if brokers is not None and at_least_one(brokers, "brokers", _MOST_BROKERS) != len(powers):
        raise PartwrightError(
            f"power has {len(powers)} numbers and brokers is {brokers}: a number for each broker"
        )
    return tuple(each / sum(powers) for each in powers)


def measured(given: Any, what: str) -> tuple[Fraction, Fraction]:  # noqa: ANN401 - what is checked here
    """A number, or a range of two."""
    if isinstance(given, (tuple, list)):
        if len(given) != 2:  # noqa: PLR2004 - a range has two ends
            raise PartwrightError(f"{what} is a number or a range of two, not {shown(given)}")
        low, high = (positive(each, what) for each in given)
        if low > high:
            raise PartwrightError(f"{what} is a range from {written(low)} to {written(high)}: turn it round")
        return low, high
    found = positive(given, what)
    return found, found


def positive(given: Any, what: str) -> Fraction:  # noqa: ANN401 - what is checked here
    """A number above 0, exactly as it is written."""
    if type(given) not in {int, float} or not 0 < given <= _MOST:
        raise PartwrightError(f"{what} is a number above 0, {_MOST:,} at most, not {shown(given)}")
    # As it is written: 1.1 times 100 is 110, and no part of a partition more.
    return Fraction(str(given))


def floats(given: tuple[Fraction, Fraction]) -> tuple[float, float]:
    """A range for arithmetic that need not be exact."""
    return float(given[0]), float(given[1])


def written(given: Fraction) -> str:
    """A number as a part of a sentence."""
    return f"{float(given):,.10g}"
