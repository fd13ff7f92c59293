"""Check the arguments of a placement: brokers, and how many partitions and replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import at_least_one, counted, listed, shown, there_are
from partwright.cluster.brokers import Broker
from partwright.cluster.metadata import Cluster
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_racks", "enough_brokers", "listed_brokers", "read_brokers"]


def read_brokers(given: object) -> tuple[Broker, ...]:
    """Brokers from their IDs, from `Broker`s, or from a cluster.

    Raises:
        PartwrightError: There are no brokers, one occurs twice, or one is neither an ID nor a `Broker`.

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
        raise PartwrightError("brokers is empty: a partition needs at least one broker")
    return tuple(found.values())


def enough_brokers(replication_factor: object, brokers: tuple[Broker, ...]) -> int:
    """Check a number of replicas against the brokers: no broker has two replicas of one partition."""
    wanted = at_least_one(replication_factor, "replication_factor", 2**15 - 1)
    if wanted > len(brokers):
        raise PartwrightError(
            f"{counted(wanted, 'replica')} of a partition need as many brokers, and "
            f"{there_are((broker.id for broker in brokers), 'brokers')}: take fewer replicas"
        )
    return wanted


def check_racks(brokers: tuple[Broker, ...]) -> None:
    """Refuse a rack's name that Kafka cannot have."""
    for broker in brokers:
        if broker.rack is not None and any("\ud800" <= letter <= "\udfff" for letter in broker.rack):
            raise PartwrightError(f"rack {broker.rack!r} is not UTF-8, as every name in Kafka is")


def listed_brokers(given: object, what: str, brokers: Iterable[Broker], where: str = "") -> set[int]:
    """The IDs of the list `what`, each of an existing broker."""
    ids = {broker.id for broker in brokers}
    found = set()
    for each in listed(given, what):
        if type(each) is not int or each not in ids:
            raise PartwrightError(f"{where}there is no broker {shown(each)}: {there_are(ids, 'brokers')}")
        found.add(each)
    return found
