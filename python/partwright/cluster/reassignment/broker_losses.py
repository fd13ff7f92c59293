"""What the loss of each broker and each rack costs: leaders, offline partitions, coordinators."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import MOST_INT, at_least_one, unknown
from partwright.cluster.brokers import in_sync

if TYPE_CHECKING:
    from partwright.cluster.brokers import Partition
    from partwright.cluster.metadata import Cluster

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
        >>> all_losses = losses(Placement([Broker(0), Broker(1)], [[0, 1], [1]]).to_cluster("t"), 2)
        >>> all_losses[1].offline, all_losses[1].below_min_insync
        (1, 1)
    """
    least = (
        dict.fromkeys(cluster.topics, min_insync_replicas)
        if isinstance(min_insync_replicas, int)
        else {**min_insync_replicas}
    )
    for topic, own in least.items():
        if topic not in cluster.topics:
            raise unknown(topic, "topic", cluster.topics)
        at_least_one(own, f"min_insync_replicas of topic {topic!r}", MOST_INT)
    by_broker: dict[int, dict[tuple[str, int], Partition]] = defaultdict(dict)
    for topic, partitions in cluster.topics.items():
        for each in partitions:
            for broker in each.replicas:
                by_broker[broker][topic, each.id] = each
    racks: dict[str, set[int]] = defaultdict(set)
    for node in cluster.brokers:
        if node.rack is not None:
            racks[node.rack].add(node.id)
    gone = [("broker", str(id_), {id_}) for id_ in sorted(each.id for each in cluster.brokers)]
    gone += [("rack", name, racks[name]) for name in sorted(racks)]
    has_coordinators = any(topic in cluster.topics for topic in COORDINATORS)
    all_losses = []
    for kind, name, ids in gone:
        touched = {place: each for id_ in ids for place, each in by_broker[id_].items()}
        all_losses.append(_loss(kind, name, ids, touched, least, has_coordinators=has_coordinators))
    return tuple(all_losses)


def _loss(
    kind: str,
    name: str,
    gone: set[int],
    touched: Mapping[tuple[str, int], Partition],
    least: Mapping[str, int],
    *,
    has_coordinators: bool,
) -> ClusterLoss:
    """The loss of these brokers, from all partitions of which they have a replica."""
    leaders = offline = below = fewer = coordinators = 0
    takers: Counter[int] = Counter()
    for (topic, _), each in touched.items():
        alive = in_sync(each)
        left = [id_ for id_ in each.replicas if id_ not in gone and id_ in alive]
        offline += not left
        fewer += 0 < len(left) < len(each.replicas)
        below += 0 < len(left) < min(least.get(topic, 1), len(each.replicas))
        if each.leader in gone:
            leaders += 1
            coordinators += topic in COORDINATORS
            # `PartitionChangeBuilder` of kafka-metadata 4.3.1 takes the first of the list that is in sync and alive.
            takers.update(left[:1])
    most = max(takers.values(), default=0)
    of_coordinators = coordinators if has_coordinators else None
    return ClusterLoss(kind, name, leaders, offline, below, fewer, of_coordinators, most, takers.total())
