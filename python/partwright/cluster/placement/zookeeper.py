"""Kafka's placement in ZooKeeper's days: `AdminUtils.assignReplicasToBrokers`, with racks and without.

Exact for kafka-server-common 3.9.2; 4.0.1 still has the class, and 4.1.0 is the first release without it. Its random
choices, a start and a shift, are arguments here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright import _core
from partwright._check import at_least_one, shown
from partwright.cluster.placement.arguments import check_racks, enough_brokers, read_brokers
from partwright.cluster.placement.replicas import placed_by_core
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright.cluster.brokers import Broker
    from partwright.cluster.metadata import Cluster
    from partwright.cluster.placement.replicas import Placement

__all__ = ["admin_utils", "rack_alternated"]


def admin_utils(
    brokers: Cluster | Iterable[Broker | int],
    partitions: int,
    replication_factor: int = 1,
    *,
    start_index: int = 0,
    shift: int | None = None,
    start_partition: int = 0,
) -> Placement:
    """Where Kafka with ZooKeeper puts replicas: round robin, and followers that shift with every round.

    If brokers have racks, each partition gets replicas in as many racks as possible. The source is
    `org.apache.kafka.admin.AdminUtils`, in Kafka up to 4.0.1; KRaft has `striped`.

    Args:
        brokers: Ids, `Broker`s or a cluster, in any order: Kafka sorts them by id.  All have a rack or none has.
        partitions: How many, 1 to 1000000.
        replication_factor: Replicas of each, 1 to the number of brokers.
        start_index: The index of the broker that leads partition 0, from 0 to the number of brokers minus 1; Kafka
            draws it.
        shift: How far the second replica is from the first, in the same range; Kafka draws that too, and uses
            `start_index` if that is fixed, as here.
        start_partition: The number of the first new partition, if partitions are added to a topic.

    Returns:
        The placement.

    Raises:
        PartwrightError: Kafka refuses it: a number below 1, more replicas than brokers, or racks for some brokers only.

    Examples:
        >>> admin_utils(range(5), 10, 3).replicas[:6]
        ((0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1), (0, 2, 3))
        >>> from partwright.cluster import Broker
        >>> racks = {0: "a", 1: "c", 2: "c", 3: "b", 4: "b", 5: "a"}
        >>> admin_utils([Broker(id, rack=rack) for id, rack in racks.items()], 7, 3).replicas[0]
        (0, 3, 1)
    """
    found = tuple(sorted(read_brokers(brokers), key=lambda broker: broker.id))
    at_least_one(partitions, "partitions")
    enough_brokers(replication_factor, found)
    start = _place(start_index, "start_index", len(found))
    moved = start if shift is None else _place(shift, "shift", len(found))
    first = _place(start_partition, "start_partition", 2**31 - partitions)
    racks = [broker.rack for broker in found if broker.rack is not None]
    if racks and len(racks) < len(found):
        bare = next(broker.id for broker in found if broker.rack is None)
        raise PartwrightError(f"broker {bare} has no rack and others have one: give each its rack, or none")
    check_racks(found)
    ids = [broker.id for broker in found]
    column = _core.admin_utils(ids, racks or None, partitions, replication_factor, (start, moved, first))
    return placed_by_core(found, column, first)


def rack_alternated(brokers: Iterable[Broker]) -> tuple[int, ...]:
    """The brokers' ids, one of each rack in turn: racks by name, brokers by id (`getRackAlternatedBrokerList`).

    Args:
        brokers: `Broker`s, all with a rack.

    Returns:
        Each id once.

    Raises:
        PartwrightError: A broker has no rack.

    Examples:
        >>> from partwright.cluster import Broker
        >>> racks = {0: "a", 1: "c", 2: "c", 3: "b", 4: "b", 5: "a"}
        >>> rack_alternated(Broker(id, rack=rack) for id, rack in racks.items())
        (0, 3, 1, 5, 4, 2)
    """
    found = read_brokers(brokers)
    racks = [broker.rack for broker in found if broker.rack is not None]
    if len(racks) < len(found):
        bare = next(broker.id for broker in found if broker.rack is None)
        raise PartwrightError(f"broker {bare} has no rack: give each its rack")
    check_racks(found)
    return tuple(_core.rack_alternated([broker.id for broker in found], racks))


def _place(given: object, what: str, below: int) -> int:
    if type(given) is not int or not 0 <= given < below:
        raise PartwrightError(f"{what} is a whole number, 0 to {below - 1}, not {shown(given)}")
    return given
