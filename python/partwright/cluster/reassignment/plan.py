"""`reassign`: when brokers join or leave, the fewest replica moves that make the cluster even."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from partwright._check import counted, options, shown
from partwright.answer import Question
from partwright.cluster.brokers import Broker, Partition
from partwright.cluster.metadata import Cluster, check_cluster
from partwright.cluster.reassignment.answer import (
    MoveBounds,
    Reassignment,
    broker_changes,
    changed_cluster,
    thin,
)
from partwright.cluster.reassignment.arguments import (
    check_replicas,
    factors,
    per_broker,
    racks_of,
    read_sizes,
    target_brokers,
    topics_to_move,
)
from partwright.cluster.reassignment.leaders import lead
from partwright.cluster.reassignment.moves import Move
from partwright.cluster.reassignment.problem import Problem, fewest_bytes, fewest_moves
from partwright.cluster.reassignment.replicas import spread
from partwright.cluster.reassignment.volumes import Scale, level_bytes
from partwright.errors import PartwrightError


@dataclass(frozen=True, slots=True)
class Capacity:
    """How large replicas are, and what brokers can carry.

    Attributes:
        sizes: Bytes of a replica of each partition: by topic a list or a mapping by partition, or the JSON that
            `kafka-log-dirs.sh --describe` prints, as a dict.
        power: By broker id, how much it carries compared with the others, a whole number from 1 on; 1 for
            brokers that are left out.
        disks: By broker id, the bytes that it has room for. Shares of bytes follow it, and so do shares of replicas
            without `power`.
        bytes_within: How far a broker may be from its share of all bytes, as a part of that share, 0 to 1.
    """

    sizes: Mapping[str, object] | None = None
    power: Mapping[int, int] | None = None
    disks: Mapping[int, int] | None = None
    bytes_within: float = 0.1


def reassign(
    cluster: Cluster,
    topics: Iterable[str] | None = None,
    *,
    brokers: Iterable[Broker | int] | None = None,
    add: Iterable[Broker | int] = (),
    remove: Iterable[int] = (),
    replication_factor: int | Mapping[str, int] | None = None,
    rack_aware: bool = True,
    capacity: Capacity | None = None,
) -> Reassignment:
    """A plan by which brokers join or leave a cluster, with the fewest new replicas that make it even.

    Each broker gets its share of all replicas, rounded up or down, and of all leaders; no partition is in fewer racks
    than it could be. If racks or few partitions allow no such plan, it is the nearest to it. Among all plans as even as
    that, this one copies the fewest replicas, and then changes the fewest leaders; both are exact minima, found by a
    minimum-cost flow. If sizes are known, replicas change places until each broker's bytes are near its share, which
    may copy a few more.

    Args:
        cluster: Brokers, and topics whose partitions have their replicas: `Cluster.from_kafka`, `from_json`.
        topics: The topics whose replicas may move, all by default. Other topics' replicas count for evenness.
        brokers: The brokers that will have replicas: by default all that the cluster lists.
        add: Further brokers that will have replicas, such as `Broker(3, rack="b")`, or an ID of the cluster's.
        remove: IDs of brokers that will have no replicas.
        replication_factor: Replicas of each partition, or by topic; by default today's.
        rack_aware: Whether racks count, if brokers have them.
        capacity: How large replicas are, and what brokers can carry; by default each broker carries as many replicas.

    Returns:
        The plan.

    Raises:
        PartwrightError: Fewer brokers are left than a partition has replicas, some brokers have a rack and others
            none, a broker with replicas is not in the metadata, a size is missing, more bytes would be on a broker
            than its disk has room for, or a value is of another type.

    Examples:
        >>> from partwright.cluster import Broker, Cluster
        >>> from partwright.cluster.placement import striped
        >>> plan = reassign(striped(range(3), 12, 2, seed=1).to_cluster("orders"), add=[3])
        >>> plan.replicas_moved, plan.bounds.replicas
        (6, 6)
        >>> [(each.broker, each.replicas, each.leaders) for each in plan.brokers]
        [(0, 6, 3), (1, 6, 3), (2, 6, 3), (3, 6, 3)]
        >>> reassign(striped(range(3), 12, 2).to_cluster("orders"), remove=[1, 2])
        Traceback (most recent call last):
        partwright.errors.PartwrightError: topic 'orders' needs 2 brokers for as many replicas, and 1 broker is left: \
keep more brokers, or take a lower replication factor
    """
    check_cluster(cluster)
    capacity = options(capacity, Capacity, "capacity")
    within = capacity.bytes_within
    if type(within) not in {int, float} or not 0 <= within <= 1:
        raise PartwrightError(f"bytes_within is a part of a share, 0 to 1, not {shown(within)}")
    for topic, partitions in cluster.topics.items():
        check_replicas(topic, partitions)
    names = topics_to_move(cluster, topics)
    staying = target_brokers(cluster, brokers, add, remove)
    racks = racks_of(staying, rack_aware)
    replica_counts = factors(replication_factor, {name: cluster.topics[name] for name in names}, len(staying))
    bytes_ = read_sizes(capacity.sizes, cluster)
    room = per_broker(capacity.disks, "disks", staying)
    strength = per_broker(capacity.power, "power", staying, 1) or room or [1] * len(staying)
    for name in set(cluster.topics).difference(names):
        _stays(name, cluster.topics[name], staying)
    problem = _in_numbers(cluster, names, staying, racks, replica_counts, bytes_, strength, room)
    plan = _planned(cluster, names, staying, problem, bytes_, room, within)
    return plan.with_question(Question((capacity,)))


def _stays(topic: str, partitions: Sequence[Partition], brokers: Sequence[Broker]) -> None:
    """Refuse a topic that must not move but has replicas on a broker that leaves."""
    ids = {broker.id for broker in brokers}
    for each in partitions:
        gone = next((id_ for id_ in each.replicas if id_ not in ids), None)
        if gone is not None:
            raise PartwrightError(
                f"broker {gone} leaves, and has a replica of topic {topic!r}, which is not to move: name it among the "
                "topics, or leave topics out"
            )


def _in_numbers(
    cluster: Cluster,
    topics: Sequence[str],
    brokers: Sequence[Broker],
    racks: Sequence[int],
    factors: Mapping[str, Sequence[int]],
    sizes: Mapping[str, Sequence[int]] | None,
    power: Sequence[int],
    room: Sequence[int] | None,
) -> Problem:
    places = {broker.id: place for place, broker in enumerate(brokers)}
    base, leaders, held = ([0] * len(brokers) for _ in range(3))
    for name in set(cluster.topics).difference(topics):
        for place, each in enumerate(cluster.topics[name]):
            leaders[places[each.replicas[0]]] += 1
            for id_ in each.replicas:
                base[places[id_]] += 1
                held[places[id_]] += 0 if sizes is None else sizes[name][place]
    rows = [(number, each) for number, name in enumerate(topics) for each in cluster.topics[name]]
    return Problem(
        racks=racks,
        power=power,
        base=base,
        base_leaders=leaders,
        topics=[topic for topic, _ in rows],
        before=[[places[id_] for id_ in each.replicas if id_ in places] for _, each in rows],
        leaders=[places.get(each.replicas[0], -1) for _, each in rows],
        factors=[factor for name in topics for factor in factors[name]],
        sizes=None if sizes is None else [size for name in topics for size in sizes[name]],
        base_bytes=held,
        disks=room or power,
    )


def _planned(
    cluster: Cluster,
    topics: Sequence[str],
    brokers: tuple[Broker, ...],
    problem: Problem,
    sizes: Mapping[str, Sequence[int]] | None,
    room: Sequence[int] | None,
    within: float,
) -> Reassignment:
    least, most = problem.boxes()
    replicas = spread(problem, within)
    fewest = replicas.moved()
    shares = replicas.byte_goals
    if sizes is not None:
        level_bytes(replicas, Scale(shares, within), least, most)
        for place, broker in enumerate(brokers):
            if room is not None and replicas.bytes[place] > room[place]:
                raise PartwrightError(
                    f"broker {broker.id} would hold {counted(replicas.bytes[place], 'byte')}, and its disk has room "
                    f"for {room[place]}: add brokers, or take larger disks"
                )
    rows = [(name, each) for name in topics for each in cluster.topics[name]]
    moves = []
    for place, ((name, each), own, leader) in enumerate(
        zip(rows, replicas.sets, lead(problem, replicas.sets), strict=True)
    ):
        after = _listed(each, [brokers[at].id for at in own], brokers[leader].id)
        if after != each.replicas:
            size = None if problem.sizes is None else problem.sizes[place]
            moves.append(Move(name, each.id, each.replicas, after, each.leader, size))
    after_all = changed_cluster(cluster, brokers, moves)
    return Reassignment(
        before=cluster,
        after=after_all,
        moves=tuple(moves),
        brokers=broker_changes(cluster, after_all, moves, sizes),
        bounds=MoveBounds(
            fewest_moves(problem, least, most),
            fewest,
            None if sizes is None else fewest_bytes(problem, shares, within),
        ),
        thin_before=thin(cluster, topics) if max(problem.racks) else 0,
        thin=thin(after_all, topics) if max(problem.racks) else 0,
        bytes_within=None if sizes is None else within,
        byte_shares={broker.id: share for broker, share in zip(brokers, shares, strict=True)},
    )


def _listed(partition: Partition, own: Sequence[int], leader: int) -> tuple[int, ...]:
    """A list of replicas: the leader, then the kept ones in today's order, then the new ones."""
    today = [id_ for id_ in partition.replicas if id_ in own and id_ != leader]
    new = sorted(id_ for id_ in own if id_ not in partition.replicas and id_ != leader)
    return (leader, *today, *new)
