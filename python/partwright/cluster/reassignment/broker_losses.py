"""What the loss of each broker and each rack costs: leaders, offline partitions, coordinators."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import MOST_INT, at_least_one, unknown
from partwright.cluster.placement.losses import loss_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from partwright.cluster.brokers import Partition
    from partwright.cluster.metadata import Cluster

__all__ = ["COORDINATORS", "ClusterLoss", "losses"]

COORDINATORS = ("__consumer_offsets", "__share_group_state", "__transaction_state")
"""The topics whose leaders are coordinators: of groups, of share groups and of transactions."""


class ClusterLoss(NamedTuple):
    """The losses while a broker or a rack is away.

    Attributes:
        kind: `broker` or `rack`.
        name: The broker's id, or the rack's name.
        leaders: Partitions that it leads, which get another leader or none.
        offline: Partitions without any replica in sync left.
        below_min_insync: Partitions that can be read, but refuse records with `acks=all`.
        under_replicated: Partitions that lack a replica, and still have one.
        coordinators: Partitions of `__consumer_offsets` and similar topics that it leads: their groups and transactions
            wait for another coordinator. None if the cluster lists no such topic.
        most_taken_over: The most of its partitions that any one broker takes over as leader.
        taken_over: How many of its partitions get another leader.
    """

    kind: str
    name: str
    leaders: int
    offline: int
    below_min_insync: int
    under_replicated: int
    coordinators: int | None
    most_taken_over: int
    taken_over: int


class _Own(NamedTuple):
    topic: str
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    least: int


def losses(cluster: Cluster, min_insync_replicas: int | Mapping[str, int] = 1) -> tuple[ClusterLoss, ...]:
    """The losses with each broker, and then with each rack.

    Args:
        cluster: Brokers, and partitions with their replicas. Replicas are in sync if it says so; if it says nothing,
            all that are not offline.
        min_insync_replicas: `min.insync.replicas` of all topics, or by topic, 1 where one is left out.

    Returns:
        Brokers by id, then racks by name.

    Raises:
        PartwrightError: A number is below 1, or there is no such topic.

    Examples:
        >>> from partwright.cluster import Broker
        >>> from partwright.cluster.placement import Placement
        >>> found = losses(Placement([Broker(0), Broker(1)], [[0, 1], [1]]).to_cluster("t"), 2)
        >>> found[1].offline, found[1].below_min_insync
        (1, 1)
    """
    wanted = (
        dict.fromkeys(cluster.topics, min_insync_replicas)
        if isinstance(min_insync_replicas, int)
        else {**min_insync_replicas}
    )
    for topic, own in wanted.items():
        if topic not in cluster.topics:
            raise unknown(topic, "topic", cluster.topics)
        at_least_one(own, f"min_insync_replicas of topic {topic!r}", MOST_INT)
    by_broker: dict[int, list[_Own]] = defaultdict(list)
    for topic, partitions in cluster.topics.items():
        for each in partitions:
            has = _Own(topic, each.leader, each.replicas, _in_sync(each), wanted.get(topic, 1))
            for broker in each.replicas:
                by_broker[broker].append(has)
    racks: dict[str, set[int]] = defaultdict(set)
    for node in cluster.brokers:
        if node.rack is not None:
            racks[node.rack].add(node.id)
    told = any(topic in cluster.topics for topic in COORDINATORS)
    gone = [("broker", str(id_), {id_}) for id_ in sorted(each.id for each in cluster.brokers)]
    gone += [("rack", name, racks[name]) for name in sorted(racks)]
    return tuple(_loss(cluster, kind, name, ids, by_broker, told=told) for kind, name, ids in gone)


def _in_sync(partition: Partition) -> tuple[int, ...]:
    """A partition's replicas in sync, as far as known."""
    alive = partition.in_sync_replicas or partition.replicas
    return tuple(each for each in alive if each not in partition.offline_replicas)


def _loss(
    cluster: Cluster,
    kind: str,
    name: str,
    gone: set[int],
    by_broker: Mapping[int, Sequence[_Own]],
    *,
    told: bool,
) -> ClusterLoss:
    touched = list(_once(gone, by_broker))
    led = [each for each in touched if each.leader in gone]
    offline = below = fewer = 0
    taken: dict[int, int] = defaultdict(int)
    for least in sorted({each.least for each in touched}):
        own = [each for each in touched if each.least == least]
        lost = loss_of([(each.replicas, each.in_sync) for each in own], cluster.brokers, gone, least, 0)
        offline += len(lost.offline)
        below += len(lost.below_min_insync)
        fewer += len(lost.under_replicated)
    for each in led:
        # `PartitionChangeBuilder` of kafka-metadata 4.3.1 takes the first of the list that is in sync and alive.
        left = [id_ for id_ in each.replicas if id_ not in gone and id_ in each.in_sync]
        for id_ in left[:1]:
            taken[id_] += 1
    coordinators = sum(each.topic in COORDINATORS for each in led) if told else None
    most = max(taken.values(), default=0)
    return ClusterLoss(kind, name, len(led), offline, below, fewer, coordinators, most, sum(taken.values()))


def _once(gone: set[int], by_broker: Mapping[int, Sequence[_Own]]) -> Iterator[_Own]:
    """Each partition of these brokers once."""
    for broker in sorted(gone):
        for each in by_broker.get(broker, ()):
            if not any(other in gone and other < broker for other in each.replicas):
                yield each
