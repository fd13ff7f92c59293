"""Skew: shares, the counts that chance gives, and Pearson's statistic with its probability."""

from __future__ import annotations

import math
import random

import pytest

import partwright as pw
from partwright.audit.skew import Skew


def test_shares() -> None:
    skew = Skew(4, {0: 6, 2: 2, 3: 0}, None)
    assert (skew.used, skew.largest_share, skew.largest_over_mean) == (2, 0.75, 3.0)
    assert (skew.expected_used, skew.chi_square, skew.p_value) == (None, None, None)
    assert skew.broken(0.75, 0.5) == []
    assert skew.broken(0.7, 0.6) == [
        "partition 0 has 75.0% of the rows, more than 70%",
        "2 of 4 partitions have rows, fewer than 60% of them",
    ]
    # 0.07 * 100 is more than 7 in floats.
    assert Skew(100, dict.fromkeys(range(7), 1), None).broken(None, 0.07) == []
    # A share that would be rounded to the limit is shown with more digits.
    assert Skew(2, {0: 5004, 1: 4996}, None).broken(0.5, None) == [
        "partition 0 has 50.04% of the rows, more than 50%"
    ]
    empty = Skew(4, {}, {})
    assert (empty.used, empty.largest_share, empty.expected_used, empty.p_value) == (0, 0.0, 0.0, None)
    assert empty.broken(0.1, None) == []


@pytest.mark.parametrize(
    ("freedom", "quantile", "probability"),
    # From the tables of the chi-square distribution.
    [
        (1, 3.841, 0.05),
        (1, 6.635, 0.01),
        (11, 19.675, 0.05),
        (11, 24.725, 0.01),
        (11, 5.578, 0.9),
        (47, 64.001, 0.05),
        (99, 123.225, 0.05),
        (99, 148.230, 0.001),
        # By closed forms: the error function, and the first terms of the exponential function.
        (1, 30.0, math.erfc(math.sqrt(15))),
        (1, 0.001, math.erfc(math.sqrt(0.0005))),
        (2, 80.0, math.exp(-40)),
        (6, 90.0, math.exp(-45) * (1 + 45 + 45**2 / 2)),
        (6, 1.5, math.exp(-0.75) * (1 + 0.75 + 0.75**2 / 2)),
        (20_000, 20_400.0, 0.0233),
    ],
)
def test_the_probability_is_that_of_the_tables(freedom: int, quantile: float, probability: float) -> None:
    n = freedom + 1
    even = 1000.0
    # One partition has more and one has less, so that the statistic is the quantile.
    apart = (quantile * even / 2) ** 0.5
    keys = dict.fromkeys(range(n), even)
    keys[0] += apart
    keys[1] -= apart
    skew = Skew(n, {}, keys)  # type: ignore[arg-type] # fractions of keys, for the arithmetic's sake
    assert skew.chi_square == pytest.approx(quantile)
    assert skew.p_value == pytest.approx(probability, rel=0.005)


def test_a_partition_without_keys_counts() -> None:
    assert Skew(2, {}, {0: 10}).chi_square == Skew(2, {}, {0: 10, 1: 0}).chi_square == 10.0


def test_keys_that_java_spreads_are_spread_by_chance() -> None:
    """Of 300 sets of random keys, about one in ten has a probability below a tenth, and none is absurd."""
    draw, low = random.Random(20261121), 0
    for _ in range(300):
        keys = [f"{draw.getrandbits(64):x}" for _ in range(600)]
        places = pw.partition_for_key(keys, 12).to_pylist()
        skew = Skew(12, {}, {place: places.count(place) for place in range(12)})
        assert skew.p_value is not None
        assert 1e-5 < skew.p_value <= 1
        low += skew.p_value < 0.1
    assert 15 <= low <= 48


def test_used_by_chance() -> None:
    assert Skew(1, {}, {0: 5}).expected_used == 1.0
    assert Skew(1, {}, {}).expected_used == 0.0
    assert Skew(12, {}, {0: 1}).expected_used == pytest.approx(1.0)
    assert Skew(12, {}, {0: 12}).expected_used == pytest.approx(12 * (1 - (11 / 12) ** 12))
    assert Skew(2**31 - 1, {}, {0: 1000}).expected_used == pytest.approx(1000, rel=1e-5)
    # Fewer than five keys per partition say little.
    assert Skew(12, {}, {0: 59}).p_value is None
    assert Skew(12, {}, {0: 60}).p_value == pytest.approx(0, abs=1e-9)
