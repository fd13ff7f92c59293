"""The textbook's placement, which no Kafka uses: partition i on broker i mod N."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import at_least_one
from partwright.cluster.placement.arguments import enough_brokers, read_brokers
from partwright.cluster.placement.replicas import Placement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright.cluster.brokers import Broker
    from partwright.cluster.metadata import Cluster

__all__ = ["modulo"]


def modulo(
    brokers: Cluster | Iterable[Broker | int], partitions: int, replication_factor: int = 1
) -> Placement:
    """Put partition i on broker i mod N of the N sorted ones, as in textbooks.

    No Kafka does exactly this: it starts at a random broker, and its followers shift (`admin_utils`, `striped`). The
    textbook rule has no replicas; putting replica j on broker (i + j) mod N is our extension.

    Args:
        brokers: Ids, `Broker`s or a cluster, in any order.
        partitions: How many, 1 to 1000000.
        replication_factor: Replicas of each, 1 to the number of brokers.

    Returns:
        The placement.

    Raises:
        PartwrightError: A number is below 1, or there are more replicas than brokers.

    Examples:
        >>> modulo([0, 1, 2], 5).preferred_leaders
        (0, 1, 2, 0, 1)
        >>> modulo([0, 1, 2], 4, 2).replicas
        ((0, 1), (1, 2), (2, 0), (0, 1))
    """
    found = tuple(sorted(read_brokers(brokers), key=lambda broker: broker.id))
    at_least_one(partitions, "partitions")
    enough_brokers(replication_factor, found)
    ids = [broker.id for broker in found]
    rows = tuple(
        tuple(ids[(partition + replica) % len(ids)] for replica in range(replication_factor))
        for partition in range(partitions)
    )
    return Placement(found, rows)
