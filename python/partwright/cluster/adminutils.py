"""Kafka's placement in the days of ZooKeeper: `AdminUtils.assignReplicasToBrokers`, with racks and without.

Exact to kafka-server-common 3.9.2; 4.0.1 still has the class, and 4.1.0 is the first release without it. What it
draws, a start and a shift, is an argument here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwright.cluster.parts import Broker, shown
from partwright.cluster.placed import Placement
from partwright.cluster.wanted import at_least_one, enough_brokers, read_brokers
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from partwright.cluster.view import Cluster

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

    Where brokers have racks, each partition gets a replica in as many of them as it can.  The source is
    `org.apache.kafka.admin.AdminUtils`, in Kafka up to 4.0.1; KRaft has `striped`.

    Args:
        brokers: Ids, `Broker`s or a cluster, in any order: Kafka sorts them by id.  All have a rack or none has.
        partitions: How many, 1 to 1000000.
        replication_factor: Replicas of each, 1 to the number of brokers.
        start_index: Which of the brokers leads partition 0, 0 to their number less 1; Kafka draws it.
        shift: How far the second replica is from the first, in the same range; Kafka draws that too, and takes
            `start_index` where that is fixed, as here.
        start_partition: The number of the first one, where a topic gets more partitions.

    Returns:
        The placement.

    Raises:
        PartwrightError: Kafka refuses it: a number below 1, more replicas than brokers, racks of some brokers alone.

    Examples:
        >>> admin_utils(range(5), 10, 3).replicas[:6]
        ((0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1), (0, 2, 3))
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
    if not racks:
        ids = [broker.id for broker in found]
        rows = _rack_unaware(ids, partitions, replication_factor, start, moved, first)
    elif len(racks) < len(found):
        bare = next(broker.id for broker in found if broker.rack is None)
        raise PartwrightError(f"broker {bare} has no rack and others have one: give each its rack, or none")
    else:
        rows = _rack_aware(found, partitions, replication_factor, start, moved, first)
    return Placement(found, tuple(rows), first)


def rack_alternated(brokers: Iterable[Broker]) -> tuple[int, ...]:
    """The brokers' ids, one of each rack in turn: racks by name, brokers by id (`getRackAlternatedBrokerList`).

    Args:
        brokers: `Broker`s, all with a rack.

    Returns:
        Each id once.

    Raises:
        PartwrightError: One has no rack.

    Examples:
        >>> racks = {0: "a", 1: "c", 2: "c", 3: "b", 4: "b", 5: "a"}
        >>> rack_alternated(Broker(id, rack=rack) for id, rack in racks.items())
        (0, 3, 1, 5, 4, 2)
    """
    by_rack: dict[str, list[int]] = {}
    for broker in read_brokers(brokers):
        if broker.rack is None:
            raise PartwrightError(f"broker {broker.id} has no rack: give each its rack")
        by_rack.setdefault(broker.rack, []).append(broker.id)
    # Java compares texts by their UTF-16 units.
    queues = [sorted(by_rack[rack]) for rack in sorted(by_rack, key=lambda rack: rack.encode("utf-16-be"))]
    longest = max(map(len, queues))
    return tuple(queue[place] for place in range(longest) for queue in queues if place < len(queue))


def _rack_unaware(
    ids: Sequence[int], partitions: int, replicas: int, start: int, shift: int, first: int
) -> list[tuple[int, ...]]:
    rows = []
    count = len(ids)
    for partition in range(first, first + partitions):
        if partition > 0 and partition % count == 0:
            shift += 1
        leader = (partition + start) % count
        row = [ids[leader]]
        row += [ids[_follower(leader, shift + each, count)] for each in range(replicas - 1)]
        rows.append(tuple(row))
    return rows


def _rack_aware(
    brokers: Sequence[Broker], partitions: int, replicas: int, start: int, shift: int, first: int
) -> list[tuple[int, ...]]:
    rows = []
    ids = rack_alternated(brokers)
    rack_of = {broker.id: broker.rack for broker in brokers}
    racks = len(set(rack_of.values()))
    count = len(ids)
    for partition in range(first, first + partitions):
        if partition > 0 and partition % count == 0:
            shift += 1
        leader = (partition + start) % count
        row = [ids[leader]]
        used = {rack_of[ids[leader]]}
        asked = 0
        while len(row) < replicas:
            broker = ids[_follower(leader, shift * racks + asked, count)]
            # A rack, and then a broker, that has a replica is passed over while one has none.
            if (rack_of[broker] not in used or len(used) == racks) and broker not in row:
                row.append(broker)
                used.add(rack_of[broker])
            asked += 1
        rows.append(tuple(row))
    return rows


def _follower(leader: int, shift: int, count: int) -> int:
    return (leader + 1 + shift % (count - 1)) % count


def _place(given: Any, what: str, below: int) -> int:  # noqa: ANN401 - what is checked here
    if type(given) is not int or not 0 <= given < below:
        raise PartwrightError(f"{what} is a whole number, 0 to {below - 1}, not {shown(given)}")
    return given
