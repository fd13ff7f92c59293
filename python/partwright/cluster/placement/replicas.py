"""Replicas on brokers: who leads what, how much each broker carries, and what is lost when some of them go."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import at_least_one, counted, listed, number, shown, there_are
from partwright.cluster.brokers import Broker, Partition, in_sync, listed_brokers, read_brokers
from partwright.cluster.metadata import Cluster, check_cluster
from partwright.cluster.topic_names import check_topic
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    import pyarrow as pa


class BrokerLoad(NamedTuple):
    """A broker's load: how many partitions it leads as the preferred leader, and of how many it has a replica."""

    broker: int
    rack: str | None
    leaders: int
    replicas: int


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


@dataclass(frozen=True, slots=True, repr=False)
class Placement:
    """A topic's replicas on its brokers.

    Attributes:
        brokers: All brokers of the cluster, with or without a replica.
        replicas: A tuple of broker ids for each partition in ascending order; the first one is its preferred leader.
        first: The number of the first of these partitions: not 0 for partitions that were added later.
        draws: The random numbers behind it, if there were any; `striped(draws=...)` takes them.
        in_sync: The same shape: which replicas are in sync.  By default all are.

    Raises:
        PartwrightError: A list is empty, has a broker twice, or has an unknown broker.

    Examples:
        >>> placement = Placement([0, 1, 2], [[0, 1], [1, 2], [2, 0]])
        >>> placement
        Placement(3 partitions on 3 brokers)
        >>> placement.preferred_leaders
        (0, 1, 2)
    """

    brokers: tuple[Broker, ...]
    replicas: tuple[tuple[int, ...], ...]
    first: int = 0
    draws: tuple[int, ...] = ()
    in_sync: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        brokers = read_brokers(self.brokers)
        known = {broker.id for broker in brokers}
        number(self.first, "the first partition")
        replicas = tuple(
            _checked(each, self.first + place, known)
            for place, each in enumerate(listed(self.replicas, "replicas"))
        )
        if not replicas:
            raise PartwrightError("replicas has no partition: a topic has one or more")
        in_sync = (
            tuple(tuple(listed(each, "in_sync")) for each in listed(self.in_sync, "in_sync")) or replicas
        )
        if len(in_sync) != len(replicas):
            raise PartwrightError(
                f"in_sync has {counted(len(in_sync), 'partition')} and replicas {len(replicas)}: give one list for each"
            )
        for place, (alive, all_of_them) in enumerate(zip(in_sync, replicas, strict=True)):
            strange = next((each for each in alive if each not in all_of_them), None)
            if strange is not None:
                raise PartwrightError(
                    f"partition {self.first + place}: {shown(strange)} is in sync but not a replica: "
                    f"replicas are {shown(list(all_of_them))}"
                )
        object.__setattr__(self, "brokers", brokers)
        object.__setattr__(self, "draws", listed(self.draws, "draws"))
        object.__setattr__(self, "replicas", replicas)
        object.__setattr__(self, "in_sync", in_sync)

    @classmethod
    def of(cls, cluster: Cluster, topic: str) -> Placement:
        """Read a live topic's replicas, for example from `Cluster.from_kafka`, in sync as its metadata says.

        Args:
            cluster: A cluster whose partitions have their replicas.
            topic: The topic's name.

        Returns:
            The placement.  A broker that is down, and so not in the metadata, counts as one without a rack.  Replicas
            are in sync if the metadata says so, or, if it says nothing, unless they are offline.

        Raises:
            PartwrightError: The topic does not exist, or a partition has no information about its replicas.

        Examples:
            >>> cluster = Cluster([Broker(0), Broker(1)], {"t": [Partition(0, leader=0, replicas=(0, 1))]})
            >>> Placement.of(cluster, "t").replicas
            ((0, 1),)
        """
        check_cluster(cluster)
        partitions = sorted(cluster.partitions(topic), key=lambda each: each.id)
        for place, each in enumerate(partitions):
            if not each.replicas or each.id != place:
                raise PartwrightError(
                    f"topic {topic!r}: nothing is known of the replicas of partition {place}: give it its replicas"
                )
        replicas = tuple(each.replicas for each in partitions)
        named = {broker.id for broker in cluster.brokers}
        absent = sorted({each for those in replicas for each in those} - named)
        return cls(
            (*cluster.brokers, *map(Broker, absent)), replicas, in_sync=tuple(map(in_sync, partitions))
        )

    @property
    def preferred_leaders(self) -> tuple[int, ...]:
        """By partition, its leader when all brokers are alive: the first of its replicas."""
        return tuple(each[0] for each in self.replicas)

    def load(self) -> tuple[BrokerLoad, ...]:
        """How many leaders and replicas each broker has, in the order of `brokers`.

        Examples:
            >>> Placement([0, 1, 2], [[0, 1], [0, 2]]).load()[0]
            BrokerLoad(broker=0, rack=None, leaders=2, replicas=2)
        """
        leaders = Counter(self.preferred_leaders)
        replicas = Counter(each for those in self.replicas for each in those)
        return tuple(
            BrokerLoad(broker.id, broker.rack, leaders[broker.id], replicas[broker.id])
            for broker in self.brokers
        )

    def lost(
        self, brokers: Iterable[int] = (), racks: Iterable[str] = (), *, min_insync_replicas: int = 1
    ) -> Loss:
        """Calculate what is lost when brokers, or all brokers of racks, go at once.

        Args:
            brokers: Their ids.
            racks: Names of racks.
            min_insync_replicas: The topic's `min.insync.replicas`, 1 by default as in Kafka.

        Returns:
            Which partitions are offline, under-replicated or refuse `acks=all`, and who leads then.

        Raises:
            PartwrightError: The broker or rack does not exist, or the number is below 1.

        Examples:
            >>> lost = Placement([0, 1, 2], [[0, 1], [1, 2], [2]]).lost([2], min_insync_replicas=2)
            >>> lost.offline, lost.under_replicated, lost.below_min_insync, dict(lost.leaders)
            ((2,), (1,), (1,), {0: 1, 1: 1})
        """
        at_least_one(min_insync_replicas, "min_insync_replicas", 2**31 - 1)
        gone = _gone(self.brokers, brokers, racks)
        offline, fewer, below, new_leaders = [], [], [], {}
        leaders = Counter({broker.id: 0 for broker in self.brokers if broker.id not in gone})
        for partition, replicas in enumerate(self.replicas, self.first):
            in_sync = self.in_sync[partition - self.first]
            left = [each for each in replicas if each not in gone and each in in_sync]
            if not left:
                offline.append(partition)
                continue
            if len(left) < len(replicas):
                fewer.append(partition)
            if len(left) < min(min_insync_replicas, len(replicas)):
                below.append(partition)
            leaders[left[0]] += 1
            if replicas[0] != left[0]:
                new_leaders[partition] = left[0]
        lost = tuple(offline), tuple(fewer), tuple(below)
        return Loss(tuple(sorted(gone)), *lost, new_leaders, dict(leaders))

    def to_cluster(self, topic: str) -> Cluster:
        """A cluster with only this topic, each partition led by its preferred leader.

        Raises:
            PartwrightError: Kafka has no topic of that name.

        Examples:
            >>> Placement([0, 1], [[0, 1], [1, 0]]).to_cluster("orders")
            Cluster(2 brokers; orders: 2 partitions)
        """
        check_topic(topic)
        rows = enumerate(zip(self.replicas, self.in_sync, strict=True), self.first)
        partitions = tuple(Partition(place, those[0], those, alive) for place, (those, alive) in rows)
        return Cluster(self.brokers, {topic: partitions}, strict=self.first == 0)

    def to_arrow(self) -> pa.Table:
        """One row per replica: partition, position (0: preferred leader) and broker as int32, rack as string or null.

        Examples:
            >>> Placement([0, 1], [[0, 1], [1, 0]]).to_arrow().to_pydict()["broker"]
            [0, 1, 1, 0]
        """
        import pyarrow as pa  # noqa: PLC0415 - who only asks for a placement does without it

        racks = {broker.id: broker.rack for broker in self.brokers}
        rows = [
            (partition, position, broker, racks[broker])
            for partition, those in enumerate(self.replicas, self.first)
            for position, broker in enumerate(those)
        ]
        names = ("partition", "position", "broker", "rack")
        types = (pa.int32(), pa.int32(), pa.int32(), pa.string())
        columns = zip(*rows, strict=True)
        return pa.table(
            {name: pa.array(each, of) for name, each, of in zip(names, columns, types, strict=True)}
        )

    def to_text(self) -> str:
        """In the form for `kafka-topics.sh --replica-assignment`.

        Examples:
            >>> Placement([0, 1, 2], [[0, 1], [1, 2]]).to_text()
            '0:1,1:2'
        """
        return ",".join(":".join(map(str, those)) for those in self.replicas)

    def to_json(self, topic: str) -> str:
        """In the form for `kafka-reassign-partitions.sh --reassignment-json-file`.

        Raises:
            PartwrightError: Kafka has no topic of that name.

        Examples:
            >>> Placement([0, 1], [[0, 1]]).to_json("t")
            '{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [0, 1]}]}'
        """
        check_topic(topic)
        rows = [
            {"topic": topic, "partition": partition, "replicas": list(those)}
            for partition, those in enumerate(self.replicas, self.first)
        ]
        return json.dumps({"version": 1, "partitions": rows})

    def __repr__(self) -> str:
        brokers = counted(len(self.brokers), "broker")
        return f"Placement({counted(len(self.replicas), 'partition')} on {brokers})"


def _gone(all_brokers: tuple[Broker, ...], brokers: Iterable[int], racks: Iterable[str]) -> set[int]:
    """The IDs of the lost brokers: the named ones, and all in the named racks."""
    gone = listed_brokers(brokers, "brokers", all_brokers)
    named = sorted({broker.rack for broker in all_brokers if broker.rack is not None})
    for each in listed(racks, "racks"):
        if each not in named:
            have = f"there are {', '.join(map(repr, named))}" if named else "no broker names its rack"
            raise PartwrightError(f"there is no rack {shown(each)}: {have}")
        gone |= {broker.id for broker in all_brokers if broker.rack == each}
    return gone


def placed_by_core(
    brokers: tuple[Broker, ...], column: pa.FixedSizeListArray, first: int = 0, draws: tuple[int, ...] = ()
) -> Placement:
    """A placement from the core's lists of IDs, one for each partition, which are not checked again."""
    values = column.values
    # Ten times as fast as `to_pylist`.
    ids = memoryview(values.buffers()[1]).cast("i")[: len(values)].tolist()
    replicas = tuple(zip(*[iter(ids)] * column.type.list_size, strict=True))
    placement = object.__new__(Placement)
    attributes = {
        "brokers": brokers,
        "replicas": replicas,
        "first": first,
        "draws": draws,
        "in_sync": replicas,
    }
    for name, value in attributes.items():
        object.__setattr__(placement, name, value)
    return placement


def _checked(value: object, partition: int, known: set[int]) -> tuple[int, ...]:
    replicas = listed(value, f"partition {partition}: replicas")
    if not replicas:
        raise PartwrightError(
            f"partition {partition} has an empty list of replicas: name at least one broker"
        )
    for place, each in enumerate(replicas):
        if type(each) is not int or each not in known:
            raise PartwrightError(
                f"partition {partition}: there is no broker {shown(each)}: {there_are(known, 'brokers')}"
            )
        if each in replicas[:place]:
            raise PartwrightError(
                f"partition {partition} has the broker {each} more than once: no broker has two replicas of it"
            )
    return replicas
