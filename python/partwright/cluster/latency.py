"""A broker's latency: a number of milliseconds, or a distribution to draw from for each request.

>>> latency_of({"p50": 2, "p99": 40}, "broker 0: latency_ms")
{'p50': 2, 'p99': 40}
>>> median({"from": 1, "to": 9}), median({"among": [1, 1, 2, 50]})
(5.0, 1.5)
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import TypeAlias

from partwright._check import MOST_INT, MOST_LONG, Fields, listed, object_fields, shown, whole
from partwright.errors import PartwrightError

Latency: TypeAlias = int | Fields

_FORMS = (("from", "to"), ("p50", "p99"), ("among",))


def latency_of(latency: object, what: str) -> Latency:
    """Check a broker's latency.

    Args:
        latency: A whole number of milliseconds; or `{"from": 1, "to": 9}`, all equally likely; or `{"p50": 2, "p99":
            40}`, log-normal; or `{"among": [1, 1, 2, 50]}`, one of these.
        what: Its name in a sentence.

    Returns:
        The same for the core.

    Raises:
        PartwrightError: It is not one of these, or out of range.

    Examples:
        >>> latency_of({"p50": 2}, "latency_ms")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: latency_ms is a number, or an object of from and to, p50 and p99, or among, not {'p50': 2}
    """  # noqa: E501 - an example is one line
    if type(latency) is int:
        return whole(latency, what, 0, MOST_LONG)
    form = next((form for form in _FORMS if isinstance(latency, Mapping) and set(form) == set(latency)), None)
    if form is None:
        raise PartwrightError(
            f"{what} is a number, or an object of from and to, p50 and p99, or among, not {shown(latency)}"
        )
    fields = object_fields(latency, what, form, needs=None)
    if "among" in fields:
        among = [
            whole(each, f"{what}: each of among", 0, MOST_INT)
            for each in listed(fields["among"], f"{what}: among")
        ]
        if not among:
            raise PartwrightError(f"{what}: among has no latency: name at least one")
        return {"among": among}
    low, high = form[0], form[-1]
    # A log-normal distribution takes logarithms, so its numbers begin at 1.
    least = whole(fields[low], f"{what}: {low}", int(low == "p50"), MOST_INT)
    return {low: least, high: whole(fields[high], f"{what}: {high}", least, MOST_INT)}


def median(latency: Latency) -> float:
    """The latency that half of the requests do not exceed.

    Examples:
        >>> median(5), median({"p50": 2, "p99": 40})
        (5, 2.0)
    """
    if isinstance(latency, int):
        return latency
    if "p50" in latency:
        return float(latency["p50"])
    return float(statistics.median(latency["among"] if "among" in latency else latency.values()))
