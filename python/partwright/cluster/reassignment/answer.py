"""A reassignment: which partition goes where, its costs, and how even brokers are before and after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import Json
from partwright.answer import Answer
from partwright.cluster.brokers import Broker, Partition
from partwright.cluster.metadata import Cluster
from partwright.cluster.reassignment.broker_losses import ClusterLoss, losses
from partwright.cluster.reassignment.moves import Batch, Move, elections_json, in_batches, plan_json, plan_of

if TYPE_CHECKING:
    # Clusters are read and placed without pyarrow.
    import pyarrow as pa


class BrokerChange(NamedTuple):
    """A broker's load before and after a reassignment.

    Attributes:
        broker: Its id.
        rack: Its rack; None if it has none.
        stays: Whether it has replicas afterwards; False for a broker that leaves.
        replicas_before: How many replicas it has today.
        replicas: How many replicas it has afterwards.
        leaders_before: How many partitions it leads today.
        preferred_before: Of how many it is the preferred leader today, the first of their replicas.
        leaders: How many it leads afterwards, once a preferred leader election has been held.
        bytes_before: The bytes of its replicas today; None if no sizes are known, as below.
        bytes: The bytes afterwards.
        bytes_in: The bytes that it receives.
    """

    broker: int
    rack: str | None
    stays: bool
    replicas_before: int
    replicas: int
    leaders_before: int
    preferred_before: int
    leaders: int
    bytes_before: int | None
    bytes: int | None
    bytes_in: int | None


class MoveBounds(NamedTuple):
    """Lower bounds for any plan as even as this one.

    Attributes:
        replicas: New replicas of any plan with loads as even as this one's, counted by partition and by broker.
        fewest: New replicas of the plan with the fewest of them, before bytes were made even: the flow's minimum.
        bytes: Copied bytes of any plan within `bytes_within`; None if no sizes are known.
    """

    replicas: int
    fewest: int
    bytes: int | None


@dataclass(frozen=True, slots=True, repr=False)
class Reassignment(Answer):
    """A plan that moves partitions to other brokers, made by `reassign`.

    Attributes:
        before: The cluster today.
        after: The cluster when the plan is done and each partition is led by its preferred leader.
        moves: The partitions whose list of replicas changes, by topic and number; for some only the order changes.
        brokers: Each broker's load before and after.
        bounds: Lower bounds for any plan as even as this one.
        thin_before: Partitions of the planned topics that are in fewer racks than possible today.
        thin: The same afterwards; always 0.
        bytes_within: How far a broker may be from its share of all bytes; None if no sizes are known.
        byte_shares: By remaining broker, its share of all bytes.
        min_insync_replicas: `min.insync.replicas` of all topics, or by topic, 1 where one is left out; for counting
            losses.
        parts: The batches in which it is to be executed; empty if it was not cut into any.
        assumed: What a tool's text was taken for, and what was assumed because it does not say it, a sentence each.

    Examples:
        >>> import partwright as pw
        >>> from partwright.cluster import Broker, reassign
        >>> from partwright.cluster.placement import modulo
        >>> plan = reassign(modulo(range(2), 6, 2).to_cluster("t"), add=[2])
        >>> print(plan)  # doctest: +ELLIPSIS
        4 of 12 replicas move, and 2 partitions get another preferred leader.
        ...
    """

    before: Cluster
    after: Cluster
    moves: tuple[Move, ...]
    brokers: tuple[BrokerChange, ...]
    bounds: MoveBounds
    thin_before: int
    thin: int
    bytes_within: float | None = None
    byte_shares: Mapping[int, float] = field(default_factory=dict)
    min_insync_replicas: int | Mapping[str, int] = 1
    parts: tuple[Batch, ...] = ()
    assumed: tuple[str, ...] = ()

    DOCUMENT = "reassign"

    @property
    def replicas_moved(self) -> int:
        """How many replicas are copied to another broker."""
        return sum(len(each.added) for each in self.moves)

    @property
    def bytes_moved(self) -> int | None:
        """How many bytes are copied; None if no sizes are known."""
        if self.bytes_within is None:
            return None
        return sum(each.bytes or 0 for each in self.moves)

    @property
    def leaders_moved(self) -> int:
        """How many partitions get another preferred leader."""
        return sum(each.before[0] != each.after[0] for each in self.moves)

    @property
    def leaders_elected(self) -> int:
        """How many partitions a preferred leader election gives another leader than today's, once the plan is done."""
        return len(self.partitions_to_elect)

    @property
    def partitions_to_elect(self) -> tuple[tuple[str, int], ...]:
        """Topic and number of these partitions, which also lists those whose replicas stay as they are.

        Examples:
            >>> from partwright.cluster import Broker, Cluster, Partition, reassign
            >>> led_by_2 = Partition(0, leader=2, replicas=(1, 2)), Partition(1, leader=2, replicas=(2, 1))
            >>> plan = reassign(Cluster([Broker(1), Broker(2)], {"t": led_by_2}))
            >>> plan.moves, plan.partitions_to_elect
            ((), (('t', 0),))
        """
        before, after = (
            {(topic, each.id): each.leader for topic, those in cluster.topics.items() for each in those}
            for cluster in (self.before, self.after)
        )
        return tuple(each for each, leader in after.items() if before[each] != leader)

    def json(self) -> str:
        """The JSON for `kafka-reassign-partitions.sh --reassignment-json-file`.

        Examples:
            >>> from partwright.cluster import reassign
            >>> from partwright.cluster.placement import explicit
            >>> reassign(explicit("0,0").to_cluster("t"), add=[1]).json()[:60]
            '{"version": 1, "partitions": [{"topic": "t", "partition": 0,'
        """
        return plan_json(self.moves)

    def rollback(self) -> str:
        """The same JSON for the way back, to where the replicas are today."""
        return plan_json(self.moves, back=True)

    def elections(self) -> str:
        """The JSON for `kafka-leader-election.sh --election-type preferred --path-to-json-file` once the plan is done.

        It has the partitions that would otherwise not be led by their preferred leader.
        """
        return elections_json(self.partitions_to_elect)

    def batches(
        self,
        throttle: int | None = None,
        *,
        max_replicas: int | None = None,
        max_bytes: int | None = None,
        max_seconds: float | None = None,
    ) -> tuple[Batch, ...]:
        """The plan in batches that are executed one after the other.

        Args:
            throttle: The bytes a second that each broker sends, and receives, at most: `--throttle` of Kafka's tool.
            max_replicas: The most replicas that a batch copies.
            max_bytes: The most bytes that a batch copies.
            max_seconds: The most seconds that a batch takes, at the throttle.

        Returns:
            The batches. Changes that move no data (another order of replicas, or fewer of them) are in the first one.
            A partition is never split, so a large one may exceed the limits, alone in its batch.

        Raises:
            PartwrightError: A limit is not above 0, or needs sizes or a throttle that are missing.

        Examples:
            >>> from partwright.cluster import Capacity, reassign
            >>> from partwright.cluster.placement import explicit
            >>> sizes = Capacity({"t": [8_000_000] * 4})
            >>> plan = reassign(explicit("0,0,0,0").to_cluster("t"), add=[1], capacity=sizes)
            >>> [batch.seconds for batch in plan.batches(2_000_000, max_replicas=1)]
            [4.0, 4.0]
        """
        return in_batches(self.moves, throttle, max_replicas, max_bytes, max_seconds)

    def losses(
        self, min_insync_replicas: int | Mapping[str, int] | None = None
    ) -> tuple[tuple[ClusterLoss, ...], tuple[ClusterLoss, ...]]:
        """What the loss of each broker and each rack costs, before and after.

        Args:
            min_insync_replicas: Another `min.insync.replicas` than the plan's own.

        Raises:
            PartwrightError: A number is below 1, or there is no such topic.

        Examples:
            >>> from partwright.cluster import reassign
            >>> from partwright.cluster.placement import explicit
            >>> before, after = reassign(explicit("0,0,0,0").to_cluster("t"), add=[1]).losses()
            >>> before[0].offline, after[0].offline
            (4, 2)
        """
        least = self.min_insync_replicas if min_insync_replicas is None else min_insync_replicas
        return losses(self.before, least), losses(self.after, least)

    def to_arrow(self) -> pa.Table:
        """One row per move: topic, partition, before, after, added and removed (lists of int32), bytes (int64 or null).

        Examples:
            >>> from partwright.cluster import reassign
            >>> from partwright.cluster.placement import explicit
            >>> reassign(explicit("0,0").to_cluster("t"), add=[1]).to_arrow().column("after").to_pylist()
            [[1]]
        """
        import pyarrow as pa  # noqa: PLC0415 - who only asks for a plan does without it

        ids = pa.list_(pa.int32())
        types = {"topic": pa.string(), "partition": pa.int32(), "before": ids, "after": ids, "added": ids}
        types |= {"removed": ids, "bytes": pa.int64()}
        return pa.table(
            {name: pa.array([getattr(each, name) for each in self.moves], of) for name, of in types.items()}
        )

    def even(self) -> Json:
        """How even brokers are: the least and the most of replicas, leaders and bytes, before and after.

        `preferred_leaders` has the same of preferred leaders, which lead after an election. `before` covers all brokers
        that the cluster lists, `after` all that stay. In `uneven_topics`, one broker has at least two more replicas
        than another; `thin` partitions are in fewer racks than possible.
        """
        figures: Json = {}
        named = {broker.id for broker in self.before.brokers}
        brokers = [each for each in self.brokers if each.broker in named or each.replicas_before]
        for name in ("replicas", "leaders", "bytes"):
            old = [getattr(each, f"{name}_before") for each in brokers]
            new = [getattr(each, name) for each in self.brokers if each.stays]
            if None not in old:
                figures[name] = {"before": _ends(old), "after": _ends(new)}
        preferred = _ends([each.preferred_before for each in brokers])
        figures["preferred_leaders"] = {"before": preferred, "after": figures["leaders"]["after"]}
        figures["uneven_topics"] = {"before": _uneven(self.before), "after": _uneven(self.after)}
        figures["thin"] = {"before": self.thin_before, "after": self.thin}
        return figures

    def to_dict(self) -> Json:
        """The object that `partwright reassign --json` prints; its `plan` is Kafka's own JSON."""
        names = ("replicas_moved", "bytes_moved", "leaders_moved", "leaders_elected")
        losses = zip(("before", "after"), self.losses(), strict=True)
        return {
            **{name: getattr(self, name) for name in names},
            "partitions_changed": len(self.moves),
            "bounds": self.bounds._asdict(),
            "bytes_within": self.bytes_within,
            "even": self.even(),
            "brokers": [each._asdict() for each in self.brokers],
            "losses": {when: [each._asdict() for each in those] for when, those in losses},
            "plan": plan_of(self.moves),
            "batches": [each.to_dict() for each in self.parts],
        }


def thin(cluster: Cluster, topics: Sequence[str]) -> int:
    """How many partitions of some topics are in fewer racks than possible."""
    racks = {broker.id: broker.rack for broker in cluster.brokers}
    count = len({rack for rack in racks.values() if rack is not None})
    return sum(
        len({racks.get(id_) for id_ in each.replicas} - {None}) < min(count, len(each.replicas))
        for topic in topics
        for each in cluster.topics[topic]
    )


def changed_cluster(cluster: Cluster, brokers: tuple[Broker, ...], moves: Sequence[Move]) -> Cluster:
    """The cluster after all moves: all replicas in sync, and each partition led by its preferred leader."""
    new = {(each.topic, each.partition): each.after for each in moves}
    topics = {}
    for topic, partitions in cluster.topics.items():
        lists = ((each.id, new.get((topic, each.id), each.replicas)) for each in partitions)
        topics[topic] = tuple(Partition(id_, own[0] if own else None, own, own) for id_, own in lists)
    return Cluster(brokers, topics, strict=cluster.strict)


def broker_changes(
    before: Cluster, after: Cluster, moves: Sequence[Move], sizes: Mapping[str, Sequence[int]] | None
) -> tuple[BrokerChange, ...]:
    """Each broker's load before and after, by ID."""
    replicas, leaders, preferred, held = _carried(before, sizes)
    new_replicas, new_leaders, _, new_held = _carried(after, sizes)
    arriving: Counter[int] = Counter()
    for each in moves:
        arriving.update(dict.fromkeys(each.added, each.size or 0))
    racks = {broker.id: broker.rack for cluster in (before, after) for broker in cluster.brokers}
    staying = {broker.id for broker in after.brokers}
    return tuple(
        BrokerChange(
            id_,
            racks.get(id_),
            id_ in staying,
            replicas[id_],
            new_replicas[id_],
            leaders[id_],
            preferred[id_],
            new_leaders[id_],
            *((None,) * 3 if sizes is None else (held[id_], new_held[id_], arriving[id_])),
        )
        for id_ in sorted({*racks, *replicas, *new_replicas})
    )


def _carried(
    cluster: Cluster, sizes: Mapping[str, Sequence[int]] | None
) -> tuple[Counter[int], Counter[int], Counter[int], Counter[int]]:
    """By broker, its replicas, the partitions that it leads, those whose preferred leader it is, and its bytes."""
    replicas: Counter[int] = Counter()
    leaders: Counter[int] = Counter()
    preferred: Counter[int] = Counter()
    held: Counter[int] = Counter()
    for topic, partitions in cluster.topics.items():
        for place, each in enumerate(partitions):
            replicas.update(each.replicas)
            leaders.update([] if each.leader is None else [each.leader])
            preferred.update(each.replicas[:1])
            if sizes is not None:
                held.update(dict.fromkeys(each.replicas, sizes[topic][place]))
    return replicas, leaders, preferred, held


def _uneven(cluster: Cluster) -> int:
    uneven = 0
    for partitions in cluster.topics.values():
        counts = Counter(id_ for each in partitions for id_ in each.replicas)
        least = min(counts.values()) if len(counts) >= len(cluster.brokers) else 0
        uneven += max(counts.values(), default=0) - least > 1
    return uneven


def _ends(values: Sequence[int]) -> Json:
    return {"least": min(values), "most": max(values)}
