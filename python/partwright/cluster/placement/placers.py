"""The placers: Kafka's two, and the textbook's.

`striped` is KRaft's, `org.apache.kafka.metadata.placement.StripedReplicaPlacer`, exact for kafka-metadata 4.4.0. Its
random numbers come from a seed of `java.util.Random`, or from a list. It draws in the order of a `HashMap` of racks, so
that order affects the answer.

`admin_utils` is that of ZooKeeper's days, `AdminUtils.assignReplicasToBrokers`, with racks and without, exact for
kafka-server-common 3.9.2; 4.0.1 still has the class, and 4.1.0 is the first release without it. Its random choices, a
start and a shift, are arguments here.

`modulo` is the textbook's, which no Kafka uses: partition i on broker i mod N.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from partwright import _core
from partwright._check import all_of, at_least_one, listed, shown
from partwright.cluster.brokers import (
    Broker,
    check_racks,
    common_racks,
    enough_brokers,
    listed_brokers,
    read_brokers,
)
from partwright.cluster.metadata import Cluster
from partwright.cluster.placement.replicas import Placement, placed_by_core
from partwright.errors import PartwrightError


def striped(
    brokers: Cluster | Iterable[Broker | int],
    partitions: int,
    replication_factor: int = 1,
    *,
    fenced: Iterable[int] = (),
    seed: int | None = None,
    draws: Iterable[int] | None = None,
) -> Placement:
    """Where Kafka's controller puts a new topic's replicas: stripes over racks, and over each rack's brokers.

    Kafka's controller draws from a `Random` without a seed, so nobody can predict a topic's placement, only its shape.
    Adding partitions starts anew, because Kafka's placer does not look at existing ones.

    Args:
        brokers: Ids, `Broker`s or a cluster. Their order counts only if racks' hash codes fall into the same bin of
            Java's `HashMap`; brokers without a rack form a rack of their own, the first one.
        partitions: How many, 1 to 1000000.
        replication_factor: Replicas of each, 1 to the number of brokers.
        fenced: The IDs of brokers that are registered but not alive: they lead no partition, and get replicas only if
            their rack has no others left.
        seed: A seed of `java.util.Random`, 0 by default.
        draws: Instead of a seed, the numbers that `nextInt(bound)` returned; `Placement.draws` has them.  Extra numbers
            are ignored.

    Returns:
        The placement, with its draws.

    Raises:
        PartwrightError: Kafka refuses it: more replicas than brokers, or all brokers are fenced; or a draw is missing
            or not below its bound.

    Examples:
        >>> striped(range(4), 5, 3, seed=7).replicas
        ((2, 3, 0), (3, 0, 1), (0, 1, 2), (1, 2, 3), (1, 2, 3))
        >>> striped(range(4), 5, 3, draws=[2, 0, 0, 1, 0]).replicas[-1]
        (1, 0, 2)
        >>> from partwright.cluster import Broker
        >>> stripes = striped([Broker(id, rack="abc"[id % 3]) for id in range(6)], 6, 3)
        >>> all({id % 3 for id in row} == {0, 1, 2} for row in stripes.replicas)
        True
    """
    ordered = read_brokers(brokers)
    at_least_one(partitions, "partitions")
    enough_brokers(replication_factor, ordered)
    away = _fenced(fenced, ordered)
    number, recorded_draws = _draws(seed, draws)
    check_racks(ordered)
    column, drawn = _core.striped(
        [(broker.id, broker.rack, broker.id in away) for broker in ordered],
        partitions,
        replication_factor,
        number,
        # An invalid number is passed to the core as missing, and is refused only when it would be drawn.
        None if recorded_draws is None else [each if _is_int(each) else -1 for each in recorded_draws],
    )
    if isinstance(drawn, int):
        raise PartwrightError(_bad_draw(recorded_draws or (), column, drawn))
    return placed_by_core(ordered, column, draws=tuple(drawn))


def _draws(seed: object, draws: object) -> tuple[int, tuple[object, ...] | None]:
    """The seed, and the numbers that replace it if they are given."""
    if draws is not None:
        if seed is not None:
            raise PartwrightError("a seed stands for all draws: give seed or draws, not both")
        return 0, listed(draws, "draws")
    seed = 0 if seed is None else seed
    if type(seed) is not int or not -(2**63) <= seed < 2**63:
        raise PartwrightError(f"seed is a whole number of Java's long, not {shown(seed)}")
    return seed, None


def _is_int(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < 2**31


def _bad_draw(draws: Sequence[object], place: int, bound: int) -> str:
    if place >= len(draws):
        return f"draws ends after {place} of them, and this placement draws more: record them all"
    return f"draws: the number at {place} is drawn from 0 to {bound - 1}, and cannot be {shown(draws[place])}"


def _fenced(fenced: object, brokers: Sequence[Broker]) -> set[int]:
    ids = listed_brokers(fenced, "fenced", brokers, where="fenced: ")
    if len(ids) == len(brokers):
        raise PartwrightError(
            f"{all_of(len(brokers), 'broker is', 'brokers are')} fenced: at least one must be alive to lead a partition"
        )
    return ids


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
    ordered = tuple(sorted(read_brokers(brokers), key=lambda broker: broker.id))
    at_least_one(partitions, "partitions")
    enough_brokers(replication_factor, ordered)
    start = _place(start_index, "start_index", len(ordered))
    moved = start if shift is None else _place(shift, "shift", len(ordered))
    first = _place(start_partition, "start_partition", 2**31 - partitions)
    racks = common_racks(ordered, "give each its rack, or none")
    ids = [broker.id for broker in ordered]
    column = _core.admin_utils(ids, racks or None, partitions, replication_factor, (start, moved, first))
    return placed_by_core(ordered, column, first)


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
    listed_ones = read_brokers(brokers)
    racks = common_racks(listed_ones, "give each its rack")
    if not racks:
        raise PartwrightError(f"broker {listed_ones[0].id} has no rack: give each its rack")
    return tuple(_core.rack_alternated([broker.id for broker in listed_ones], racks))


def _place(place: object, what: str, below: int) -> int:
    if type(place) is not int or not 0 <= place < below:
        raise PartwrightError(f"{what} is a whole number, 0 to {below - 1}, not {shown(place)}")
    return place


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
    ordered = tuple(sorted(read_brokers(brokers), key=lambda broker: broker.id))
    at_least_one(partitions, "partitions")
    enough_brokers(replication_factor, ordered)
    ids = [broker.id for broker in ordered]
    rows = tuple(
        tuple(ids[(partition + replica) % len(ids)] for replica in range(replication_factor))
        for partition in range(partitions)
    )
    return Placement(ordered, rows)
