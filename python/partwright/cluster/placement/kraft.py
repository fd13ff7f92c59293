"""KRaft's placement, `org.apache.kafka.metadata.placement.StripedReplicaPlacer`, exact for kafka-metadata 4.4.0.

Its random numbers come from a seed of `java.util.Random`, or from a list. It draws in the order of a `HashMap` of
racks, so that order affects the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright import _core
from partwright._check import all_of, at_least_one, listed, shown
from partwright.cluster.placement.arguments import check_racks, enough_brokers, listed_brokers, read_brokers
from partwright.cluster.placement.replicas import placed_by_core
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeGuard

    from partwright.cluster.brokers import Broker
    from partwright.cluster.metadata import Cluster
    from partwright.cluster.placement.replicas import Placement

__all__ = ["striped"]


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
    found = read_brokers(brokers)
    at_least_one(partitions, "partitions")
    enough_brokers(replication_factor, found)
    away = _fenced(fenced, found)
    number, given = _draws(seed, draws)
    check_racks(found)
    column, drawn = _core.striped(
        [(broker.id, broker.rack, broker.id in away) for broker in found],
        partitions,
        replication_factor,
        number,
        # An invalid number is passed to the core as missing, and is refused only when it would be drawn.
        None if given is None else [each if _is_int(each) else -1 for each in given],
    )
    if isinstance(drawn, int):
        raise PartwrightError(_bad_draw(given or (), column, drawn))
    return placed_by_core(found, column, draws=tuple(drawn))


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


def _is_int(given: object) -> TypeGuard[int]:
    return type(given) is int and 0 <= given < 2**31


def _bad_draw(draws: Sequence[object], place: int, bound: int) -> str:
    if place >= len(draws):
        return f"draws ends after {place} of them, and this placement draws more: record them all"
    return f"draws: the number at {place} is drawn from 0 to {bound - 1}, and cannot be {shown(draws[place])}"


def _fenced(given: object, brokers: Sequence[Broker]) -> set[int]:
    found = listed_brokers(given, "fenced", brokers, where="fenced: ")
    if len(found) == len(brokers):
        raise PartwrightError(
            f"{all_of(len(brokers), 'broker is', 'brokers are')} fenced: at least one must be alive to lead a "
            f"partition"
        )
    return found
