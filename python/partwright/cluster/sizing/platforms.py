"""Providers' published limits on partitions per broker: AWS MSK by instance size, and Redpanda by memory.

>>> platform_of("msk:m7g.large").most_replicas, platform_of("redpanda").bytes_a_replica
(1000, 2000000)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import refused, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MSK", "PLATFORM_SOURCES", "REDPANDA", "Platform", "platform_of", "sizes_for"]

MSK = "AWS MSK"
REDPANDA = "Redpanda 26.2"
PLATFORM_SOURCES = {
    MSK: "Best practices for Standard brokers, read from a copy of 2024 or later, as it has M7g, "
    "https://docs.aws.amazon.com/msk/latest/developerguide/bestpractices.html",
    REDPANDA: "Sizing guidelines of version 26.2 (2026), "
    "https://docs.redpanda.com/streaming/26.2/deploy/redpanda/manual/sizing/",
}
# Leaders and followers on one broker, by the size after the family's name.
_T3 = {"t3.small": 300}
_BY_SIZE = {"large": 1000, "xlarge": 1000, "2xlarge": 2000}
_LARGEST = 4000
_LARGE = {
    "m5": ("4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge"),
    "m7g": ("4xlarge", "8xlarge", "12xlarge", "16xlarge"),
}
_MOST = {
    **_T3,
    **{f"{family}.{size}": most for family in _LARGE for size, most in _BY_SIZE.items()},
    **{f"{family}.{size}": _LARGEST for family, sizes in _LARGE.items() for size in sizes},
}
_MSK_NAME = re.compile(r"msk:(?:kafka\.)?([a-z0-9.]+)")
_MEGABYTE = 1_000_000


class Platform(NamedTuple):
    """A provider's published limits.

    Attributes:
        name: Its name in a sentence.
        source: The source of the limits.
        most_replicas: The most replicas that a broker should have; None if it depends on its memory.
        bytes_a_replica: The memory that each replica needs; None if the provider does not say.
    """

    name: str
    source: str
    most_replicas: int | None = None
    bytes_a_replica: int | None = None


def platform_of(given: object) -> Platform:
    """A platform by its name: `msk:` and an instance size, such as `msk:m7g.large`, or `redpanda`.

    Raises:
        PartwrightError: No platform has this name.

    Examples:
        >>> platform_of("msk:m5.huge")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: platform is redpanda or msk:SIZE with one of t3.small, m5.large, m5.xlarge, m5.2xlarge, m7g.large, m7g.xlarge, m7g.2xlarge, m5.4xlarge, m5.8xlarge, m5.12xlarge, m5.16xlarge, m5.24xlarge, m7g.4xlarge, m7g.8xlarge, m7g.12xlarge, m7g.16xlarge, not 'msk:m5.huge'
    """  # noqa: E501 - an example is one line
    if given == "redpanda":
        return Platform("Redpanda", REDPANDA, bytes_a_replica=2 * _MEGABYTE)
    found = _MSK_NAME.fullmatch(given) if isinstance(given, str) else None
    most = None if found is None else _MOST.get(found[1])
    if found is None or most is None:
        raise refused(
            given, "platform", f"is redpanda or msk:SIZE with one of {', '.join(_MOST)}, not {shown(given)}"
        )
    return Platform(f"kafka.{found[1]}", MSK, most)


def sizes_for(replicas: int, like: str) -> Iterator[str]:
    """The sizes of the same family that take this many replicas.

    Examples:
        >>> next(sizes_for(1500, "kafka.m7g.large"))
        'm7g.2xlarge'
    """
    family = like.removeprefix("kafka.").partition(".")[0]
    for name, most in _MOST.items():
        if most >= replicas and name.startswith(f"{'m7g' if family == 't3' else family}."):
            yield name
