"""How long something takes: a time, a range to draw from, or measured samples; and a script's draws of such times.

>>> read_duration("20s..40s", "start"), read_duration("1m30s", "start").most_ms
(Duration(low_ms=20000, high_ms=40000, among=()), 90000)
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import cast

from partwright._check import MOST_LONG, Fields, refused, shown, whole
from partwright.cluster.latency import latency_of

LATEST_MS = 31 * 24 * 3_600_000
"""A month: heartbeats come every few seconds, and each is played."""

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
_PART = r"[0-9]{1,9}(?:\.[0-9]{1,3})?(?:ms|s|m|h)"
_TIME = re.compile(rf"(?:{_PART})+|[0-9]{{1,9}}(?:\.[0-9]{{1,3}})?")
_MOST_MS = 24 * 3_600_000
_MOST_SAMPLES = 100_000
_FORMS = "a time such as 20s, 1m30s or 500ms, a range such as 20s..40s, or samples such as 18s,25s,31s"


@dataclass(frozen=True, slots=True)
class Duration:
    """A time, or a distribution to draw it from.

    Attributes:
        low_ms: The shortest, in milliseconds.
        high_ms: The longest.
        among: Measured times, all equally likely; empty if any time from the shortest to the longest is possible.
    """

    low_ms: int
    high_ms: int
    among: tuple[int, ...] = ()

    @property
    def most_ms(self) -> int:
        """The longest that it takes."""
        return self.high_ms

    def draw(self, drawn: random.Random) -> int:
        """One time, in milliseconds."""
        return drawn.choice(self.among) if self.among else drawn.randint(self.low_ms, self.high_ms)

    def __str__(self) -> str:
        """As an option takes it.

        Examples:
            >>> str(read_duration("500ms..90s", "start")), str(read_duration([2, 1], "start"))
            ('500ms..1m30s', '1s,2s')
        """
        if self.among:
            return ",".join(map(_written, self.among))
        if self.low_ms == self.high_ms:
            return _written(self.low_ms)
        return f"{_written(self.low_ms)}..{_written(self.high_ms)}"


def read_duration(value: object, what: str) -> Duration:
    """A time, a range or samples, as people write them.

    Args:
        value: A number of seconds; text such as `20s`, `1m30s`, `500ms`, `20s..40s` or `18s,25s,31s` (a number without
            a unit is seconds); a list of numbers of seconds, which were measured.
        what: Its name in a sentence.

    Raises:
        PartwrightError: It is not one of these, or longer than a day.

    Examples:
        >>> read_duration(20, "start").low_ms, read_duration("20..40", "start").high_ms
        (20000, 40000)
        >>> read_duration("soon", "start")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: start is a time such as 20s, 1m30s or 500ms, a range such as 20s..40s, or samples such as 18s,25s,31s, not 'soon'
    """  # noqa: E501 - an example is one line
    if isinstance(value, str):
        return _of_text(value, what)
    if isinstance(value, (list, tuple)):
        return _of_samples([_of_number(each, value, what) for each in value], value, what)
    time = _of_number(value, value, what)
    return Duration(time, time)


def _of_text(text: str, what: str) -> Duration:
    low, dots, high = text.replace(" ", "").partition("..")
    if dots:
        first, last = _of_time(low, text, what), _of_time(high, text, what)
        if first > last:
            raise refused(text, what, f"begins with the shorter time, not {shown(text)}")
        return Duration(first, last)
    return _of_samples([_of_time(each, text, what) for each in low.split(",")], text, what)


def _of_samples(times: Sequence[int], value: object, what: str) -> Duration:
    if not times:
        raise refused(value, what, "has no samples: name at least one")
    if len(times) > _MOST_SAMPLES:
        raise refused(value, what, f"takes {_MOST_SAMPLES} samples at most, not {len(times)}")
    times = sorted(times)
    return Duration(times[0], times[-1], tuple(times) if len(times) > 1 else ())


def _of_time(text: str, value: object, what: str) -> int:
    if not _TIME.fullmatch(text):
        raise refused(value, what, f"is {_FORMS}, not {shown(value)}")
    parts = re.findall(r"([0-9.]+)(ms|s|m|h)?", text)
    return _within(sum(float(number) * _UNITS[unit or "s"] for number, unit in parts), value, what)


def _of_number(number: object, value: object, what: str) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        raise refused(value, what, f"is a number of seconds, or {_FORMS}, not {shown(value)}")
    return _within(number * 1000, value, what)


def _within(time_ms: float, value: object, what: str) -> int:
    if not 0 <= time_ms <= _MOST_MS:
        raise refused(value, what, f"is a time from 0 to 24h, not {shown(value)}")
    return round(time_ms)


def _written(time_ms: int) -> str:
    """A time in the largest units that show it.

    >>> _written(0), _written(90500), _written(120000)
    ('0s', '1m30.5s', '2m')
    """
    if 0 < time_ms < _UNITS["s"]:
        return f"{time_ms}ms"
    minutes, remainder_ms = divmod(time_ms, _UNITS["m"])
    seconds = f"{remainder_ms / 1000:g}s" if remainder_ms or not minutes else ""
    return f"{f'{minutes}m' if minutes else ''}{seconds}"


class Draws:
    """A script's draws, in the order of its events: the same seed gives the same times.

    Args:
        seed: A whole number from 0 on.

    Raises:
        PartwrightError: The seed is not such a number.
    """

    def __init__(self, seed: object) -> None:
        self._random = random.Random(whole(seed, "seed", 0, MOST_LONG))  # noqa: S311 - no secret

    def time_ms(self, value: object, what: str) -> int:
        """A time in milliseconds.

        Args:
            value: A whole number of milliseconds, or a distribution as `partwright.batching` takes a broker's latency:
                `{"from": 200, "to": 900}`, `{"p50": 300, "p99": 2000}` or `{"among": [250, 300, 1800]}`.
            what: Its name in a sentence.

        Raises:
            PartwrightError: It is none of these, or longer than a month.

        Examples:
            >>> Draws(0).time_ms(500, "poll_ms"), Draws(0).time_ms({"from": 3, "to": 3}, "poll_ms")
            (500, 3)
            >>> Draws(0).time_ms({"from": 3}, "poll_ms")
            Traceback (most recent call last):
            partwright.errors.PartwrightError: poll_ms is a number, or an object of from and to, p50 and p99, or among, not {'from': 3}
        """  # noqa: E501 - an example is one line
        if not isinstance(value, Mapping):
            return whole(value, what, 0, LATEST_MS)
        form = cast("Fields", latency_of(value, what))
        if "among" in form:
            drawn = self._random.choice(form["among"])
        elif "from" in form:
            drawn = self._random.randint(form["from"], form["to"])
        else:
            # Of a log-normal distribution, the logarithm is normal.
            sigma = math.log(form["p99"] / form["p50"]) / NormalDist().inv_cdf(0.99)
            drawn = min(round(self._random.lognormvariate(math.log(form["p50"]), sigma)), LATEST_MS)
        return whole(drawn, what, 0, LATEST_MS)
