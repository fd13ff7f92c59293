"""What a caller wants placed: brokers, and how many partitions and replicas."""

from __future__ import annotations

from typing import Any

from partwright.cluster.parts import Broker, listed, shown, there_are
from partwright.cluster.view import Cluster
from partwright.errors import PartwrightError

__all__ = ["at_least_one", "enough_brokers", "read_brokers"]

# More than any Kafka has in one topic; 2^31 of them would fill the memory before they are refused.
MOST_PARTITIONS = 1_000_000


def read_brokers(given: Any) -> tuple[Broker, ...]:  # noqa: ANN401 - what is checked here
    """Brokers of their ids, of `Broker`s, or of a cluster.

    Raises:
        PartwrightError: There are none, one is there twice, or one is neither.

    Examples:
        >>> [broker.id for broker in read_brokers([2, Broker(0)])]
        [2, 0]
    """
    found: dict[int, Broker] = {}
    for each in listed(given.brokers if isinstance(given, Cluster) else given, "brokers"):
        broker = each if isinstance(each, Broker) else Broker(each)
        if broker.id in found:
            raise PartwrightError(f"brokers has {broker.id} twice: each id once")
        found[broker.id] = broker
    if not found:
        raise PartwrightError("brokers is empty: a partition needs one broker at least")
    return tuple(found.values())


def at_least_one(given: Any, what: str, highest: int = MOST_PARTITIONS) -> int:  # noqa: ANN401
    """A whole number from 1 on."""
    if type(given) is not int or not 1 <= given <= highest:
        raise PartwrightError(f"{what} is a whole number, 1 to {highest}, not {shown(given)}")
    return given


def enough_brokers(replication_factor: Any, brokers: tuple[Broker, ...]) -> int:  # noqa: ANN401
    """A number of replicas that so many brokers can have: no broker has two of one partition."""
    at_least_one(replication_factor, "replication_factor", 2**15 - 1)
    if replication_factor > len(brokers):
        raise PartwrightError(
            f"{replication_factor} replicas of a partition need as many brokers, and "
            f"{there_are((broker.id for broker in brokers), 'brokers')}: take fewer replicas"
        )
    return int(replication_factor)
