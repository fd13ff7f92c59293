"""What is lost when brokers or racks go: partitions offline, with fewer replicas, or closed for `acks=all`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright._check import listed, shown
from partwright.cluster.placement.arguments import listed_brokers
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from partwright.cluster.brokers import Broker

__all__ = ["Loss", "gone_of", "loss_of"]


@dataclass(frozen=True, slots=True)
class Loss:
    """The state of a topic while brokers are away.

    Attributes:
        brokers: The IDs of the lost brokers.
        offline: Partitions without a replica in sync: nobody reads or writes them, unless an unclean election is
            allowed (`unclean.leader.election.enable`, false by default).
        under_replicated: Partitions that lack a replica, and still have one. Kafka's own tool also counts offline
            partitions.
        below_min_insync: Partitions that still have one, but fewer than `min.insync.replicas`, or than all replicas if
            that setting is larger (`Partition.effectiveMinIsr` of Kafka 4.3.1): they can be read, but refuse records
            with `acks=all`.
        new_leaders: By partition, the new leader if the preferred one is away: the first replica of its list that is in
            sync and alive (`PartitionChangeBuilder` of kafka-metadata 4.3.1).
        leaders: By remaining broker, how many partitions it then leads.
    """

    brokers: tuple[int, ...]
    offline: tuple[int, ...]
    under_replicated: tuple[int, ...]
    below_min_insync: tuple[int, ...]
    new_leaders: Mapping[int, int]
    leaders: Mapping[int, int]


def loss_of(
    placed: Iterable[tuple[tuple[int, ...], Collection[int]]],
    brokers: tuple[Broker, ...],
    gone: set[int],
    min_insync_replicas: int,
    first: int,
) -> Loss:
    """A placement's losses, from each partition's replicas and its replicas in sync; see `Placement.lost`."""
    offline, fewer, below, leaders = [], [], [], {}
    counts = Counter({broker.id: 0 for broker in brokers if broker.id not in gone})
    for partition, (replicas, in_sync) in enumerate(placed, first):
        left = [each for each in replicas if each not in gone and each in in_sync]
        if not left:
            offline.append(partition)
            continue
        if len(left) < len(replicas):
            fewer.append(partition)
        if len(left) < min(min_insync_replicas, len(replicas)):
            below.append(partition)
        counts[left[0]] += 1
        if replicas[0] != left[0]:
            leaders[partition] = left[0]
    return Loss(
        tuple(sorted(gone)),
        tuple(offline),
        tuple(fewer),
        tuple(below),
        leaders,
        dict(counts),
    )


def gone_of(all_brokers: tuple[Broker, ...], brokers: Iterable[int], racks: Iterable[str]) -> set[int]:
    """The IDs of the lost brokers: the named ones, and all in the named racks."""
    gone = listed_brokers(brokers, "brokers", all_brokers)
    named = sorted({broker.rack for broker in all_brokers if broker.rack is not None})
    for each in listed(racks, "racks"):
        if each not in named:
            have = f"there are {', '.join(map(repr, named))}" if named else "no broker names its rack"
            raise PartwrightError(f"there is no rack {shown(each)}: {have}")
        gone |= {broker.id for broker in all_brokers if broker.rack == each}
    return gone
