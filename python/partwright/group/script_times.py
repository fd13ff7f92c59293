"""Draw the times of a script that are given as ranges or measured samples.

>>> Draws(7).time_ms({"among": [200, 900]}, "poll_ms") in {200, 900}
True
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import log
from statistics import NormalDist
from typing import TYPE_CHECKING, cast

from partwright._check import MOST_LONG, whole
from partwright.cluster.latency import latency_of

if TYPE_CHECKING:
    from partwright._check import Fields

__all__ = ["LATEST_MS", "Draws"]

LATEST_MS = 31 * 24 * 3_600_000
"""A month: heartbeats come every few seconds, and each is played."""


class Draws:
    """A script's draws, in the order of its events: the same seed gives the same times.

    Args:
        seed: A whole number from 0 on.

    Raises:
        PartwrightError: The seed is not such a number.
    """

    def __init__(self, seed: object) -> None:
        self._random = random.Random(whole(seed, "seed", 0, MOST_LONG))  # noqa: S311 - no secret

    def time_ms(self, given: object, what: str, where: str = "") -> int:
        """A time in milliseconds.

        Args:
            given: A whole number of milliseconds, or a distribution as `partwright.batching` takes a broker's latency:
                `{"from": 200, "to": 900}`, `{"p50": 300, "p99": 2000}` or `{"among": [250, 300, 1800]}`.
            what: Its name in a sentence.
            where: How the sentence begins.

        Raises:
            PartwrightError: It is none of these, or longer than a month.

        Examples:
            >>> Draws(0).time_ms(500, "poll_ms"), Draws(0).time_ms({"from": 3, "to": 3}, "poll_ms")
            (500, 3)
            >>> Draws(0).time_ms({"from": 3}, "poll_ms")
            Traceback (most recent call last):
            partwright.errors.PartwrightError: poll_ms is a number, or an object of from and to, p50 and p99, or among, not {'from': 3}
        """  # noqa: E501 - an example is one line
        if not isinstance(given, Mapping):
            return whole(given, what, 0, LATEST_MS, where=where)
        form = cast("Fields", latency_of(given, f"{where}{what}"))
        if "among" in form:
            drawn = self._random.choice(form["among"])
        elif "from" in form:
            drawn = self._random.randint(form["from"], form["to"])
        else:
            # Of a log-normal distribution, the logarithm is normal.
            sigma = log(form["p99"] / form["p50"]) / NormalDist().inv_cdf(0.99)
            drawn = min(round(self._random.lognormvariate(log(form["p50"]), sigma)), LATEST_MS)
        return whole(drawn, what, 0, LATEST_MS, where=where)
