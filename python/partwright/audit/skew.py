"""How evenly records and keys are spread over partitions, whether that keeps a contract, and what salting would do.

>>> skew = Skew(3, {0: 90, 1: 5, 2: 5}, {0: 10, 1: 12, 2: 8})
>>> round(skew.largest_over_mean, 2), skew.broken(max_share=0.5, min_used=None)
(2.7, ['partition 0 has 90.0% of the rows, more than 50%'])
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real

from partwright._check import MOST_MADE, Json, counted, listed, shown, whole
from partwright.errors import PartwrightError
from partwright.files.scalars import binary_column
from partwright.keys.hashing import partition_for_key


@dataclass(frozen=True)
class Skew:
    """How evenly partitions are filled.

    Attributes:
        n: How many partitions there are.
        rows_in: Rows by partition; partitions without rows may be left out.
        keys_in: Different keys by partition, in the same form; None if they were not counted.
        scale: How many keys each counted key stands for, if `keys_in` is an estimate.
    """

    n: int
    rows_in: Mapping[int, int]
    keys_in: Mapping[int, int] | None
    scale: int = 1

    @property
    def used(self) -> int:
        """How many partitions have rows."""
        return sum(1 for rows in self.rows_in.values() if rows)

    @property
    def largest_share(self) -> float:
        """The largest partition's share of the rows, 0 to 1."""
        return max(self.rows_in.values(), default=0) / (sum(self.rows_in.values()) or 1)

    @property
    def largest_over_mean(self) -> float:
        """The largest partition's rows divided by an even partition's; 1 is even."""
        return self.largest_share * self.n

    @property
    def expected_used(self) -> float | None:
        """How many partitions this many keys use by chance, each key in any of them; None without keys."""
        if self.keys_in is None:
            return None
        keys = sum(self.keys_in.values())
        if self.n == 1:
            return float(keys > 0)
        # With logarithms, because n may be large and the keys few.
        return self.n * -math.expm1(keys * math.log1p(-1 / self.n))

    @property
    def chi_square(self) -> float | None:
        """Pearson's statistic of the different keys by partition against an even spread; None without keys.

        If keys are estimated, it is the statistic of the counted ones.
        """
        if not self.keys_in or not sum(self.keys_in.values()):
            return None
        counted = [keys / self.scale for keys in self.keys_in.values()]
        even = sum(counted) / self.n
        # A partition without keys adds `even`; thanks to fsum the order of partitions does not matter.
        return math.fsum((keys - even) ** 2 / even for keys in counted) + even * (self.n - len(counted))

    @property
    def p_value(self) -> float | None:
        """The probability that a good hash spreads this many keys as unevenly, or more so; None if unknown.

        It is None with fewer than five keys per partition, where the statistic says little.
        """
        statistic = self.chi_square
        if (
            statistic is None
            or self.keys_in is None
            or self.n < _TWO
            or sum(self.keys_in.values()) < _FEWEST * self.n * self.scale
        ):
            return None
        return _upper_gamma((self.n - 1) / 2, statistic / 2)

    def broken(self, max_share: float | None, min_used: float | None) -> list[str]:
        """The broken parts of a contract, a sentence each.

        Args:
            max_share: Which share of the rows a partition may have at most, 0 to 1; None for any.
            min_used: Which share of the partitions must have rows at least, 0 to 1; None for any.
        """
        sentences = []
        if max_share is not None and self.largest_share > max_share:
            largest = max(self.rows_in, key=lambda partition: (self.rows_in[partition], -partition))
            sentences.append(
                f"partition {largest} has {_above(self.largest_share, max_share)} of the rows, more than "
                f"{_percent(max_share)}"
            )
        # Compare the quotient: a product of shares may round differently than 7 of 100 does.
        if min_used is not None and self.used / self.n < min_used:
            of = f"of {counted(self.n, 'partition')}"
            sentences.append(
                f"{counted(self.used, f'{of} has', f'{of} have')} rows, fewer than "
                f"{_percent(min_used)} of them"
            )
        return sentences

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        return {
            "largest_over_mean": self.largest_over_mean,
            "expected_used": self.expected_used,
            "chi_square": self.chi_square,
            "p_value": self.p_value,
        }


def read_share(value: object, name: str) -> float | None:
    """Read a share, 0 to 1, from a percentage or a fraction; None stays None.

    Args:
        value: 0.05, "0.05" or "5%".
        name: What an error calls it.

    Raises:
        PartwrightError: It is not a share, or it is 0.

    Examples:
        >>> read_share("5%", "max_share"), read_share(0.05, "max_share"), read_share(None, "max_share")
        (0.05, 0.05, None)
        >>> read_share(5, "max_share")
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: max_share takes a share such as 5% or 0.05, not 5
    """
    if value is None:
        return None
    share, trailing = math.nan, ""
    if isinstance(value, str):
        number, percent, trailing = value.partition("%")
        try:
            # Not with floats: 0.7% is 0.007, but 0.7 / 100 as a float is not.
            share = float(Decimal(number) / (100 if percent else 1))
        except (ArithmeticError, ValueError):
            share = math.nan
    elif isinstance(value, (Real, Decimal)) and not isinstance(value, bool):
        share = float(value)
    if trailing or not 0 < share <= 1:
        raise PartwrightError(f"{name} takes a share such as 5% or 0.05, not {shown(value)}")
    return share


_TWO = 2
# The usual minimum for the statistic.
_FEWEST = 5
_PRECISION = 1e-14
_TINY = 1e-300


def _percent(share: float) -> str:
    return f"{100 * share:.10g}%"


def _above(share: float, limit: float) -> str:
    """A share above a limit, with as many digits as it takes to see the difference."""
    return next(
        (shown for digits in range(1, 10) if float((shown := f"{share:.{digits}%}")[:-1]) > 100 * limit),
        _percent(share),
    )


def _upper_gamma(a: float, x: float) -> float:
    """The regularized upper incomplete gamma function: for chi-square, the probability of this value or more.

    By its series below the mean and by its continued fraction, with Lentz's method, above: Press et al., Numerical
    Recipes, 6.2.
    """
    if x <= 0:
        return 1.0
    factor = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        place = a
        while term > total * _PRECISION:
            place += 1
            term *= x / place
            total += term
        return 1 - factor * total
    denominator = x + 1 - a
    above, below = 1 / _TINY, 1 / denominator
    fraction, step, place = below, 0.0, 0
    while abs(step - 1) > _PRECISION:
        place += 1
        numerator = -place * (place - a)
        denominator += 2
        below = 1 / (numerator * below + denominator or _TINY)
        above = denominator + numerator / above or _TINY
        step = below * above
        fraction *= step
    return factor * fraction


WAYS = (2, 4, 8, 16)


@dataclass(frozen=True)
class Salted:
    """The heaviest keys, split.

    Attributes:
        ways: Into how many keys each is split: `US-0`, `US-1` and so on.
        keys: How many keys are split.
        largest_share: The largest partition's share of the rows then, 0 to 1.
    """

    ways: int
    keys: int
    largest_share: float


def salted(
    heavy: Mapping[bytes, Mapping[int, int]],
    rows_in: Mapping[int, int],
    rows: int,
    n: int,
    client: str = "java",
    ways: Sequence[int] = WAYS,
) -> list[Salted]:
    """The largest share for several numbers of ways; empty if no key has more rows than an even partition, or than one.

    Args:
        heavy: For each of the heaviest keys its rows by partition; if another client writes, it may be in several.
        rows_in: Rows by partition.
        rows: All rows that are in a partition.
        n: How many partitions there are.
        client: The client profile that places the keys.
        ways: Into how many keys each of the heaviest is split, one number after the other.

    Raises:
        PartwrightError: A number of ways is not one from 2 to 1000000.

    Examples:
        >>> heavy = {b"US": {8: 900}}
        >>> [(each.ways, round(each.largest_share, 3)) for each in salted(heavy, {8: 905, 4: 50, 2: 45}, 1000, 12)]
        [(2, 0.5), (4, 0.45), (8, 0.269), (16, 0.213)]
        >>> [(each.ways, round(each.largest_share, 3)) for each in salted(heavy, {8: 905, 4: 50, 2: 45}, 1000, 12, ways=[3])]
        [(3, 0.6)]
    """  # noqa: E501 - an example is one line
    counts = [whole(each, "ways", 2, MOST_MADE) for each in listed(ways, "ways")]
    split = {
        key: places for key, places in heavy.items() if (its := sum(places.values())) > 1 and its * n > rows
    }
    if not split or n == 1:
        return []
    salted_shares = []
    for each in counts:
        # A salt at which the client fails cannot be used.
        with suppress(PartwrightError):
            salted_shares.append(Salted(each, len(split), _largest(split, rows_in, n, client, each) / rows))
    return salted_shares


def _largest(
    split: Mapping[bytes, Mapping[int, int]], rows_in: Mapping[int, int], n: int, client: str, ways: int
) -> float:
    after = Counter(rows_in)
    for key, places in split.items():
        after.subtract(places)
        salts = [key + b"-%d" % salt for salt in range(ways)]
        whole, more = divmod(sum(places.values()), ways)
        for salt, partition in enumerate(partition_for_key(binary_column(salts), n, client).to_pylist()):
            after[partition] += whole + (salt < more)
    return max(after.values())
