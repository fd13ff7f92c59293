"""A cluster as a producer's metadata shows it: brokers, topics, partitions and their leaders.

The nouns are Kafka's own (`org.apache.kafka.common.Cluster`, `PartitionInfo`, `Node`).  A cluster never changes: every
change makes a new `Cluster`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from partwright import _core, _upward
from partwright._check import (
    MOST_MADE,
    Json,
    counted,
    is_path,
    listed,
    number,
    object_fields,
    read_json,
    refuse_many,
    shown,
    there_are,
    unknown,
    whole,
)
from partwright.cluster.brokers import Broker, Partition, brokers_by_id, known, read_broker, read_partitions
from partwright.errors import PartwrightError

__all__ = ["Broker", "Cluster", "Partition", "check_cluster"]

_SHOWN = 4


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Cluster:
    """Brokers and topics, frozen, hashable and picklable (`org.apache.kafka.common.Cluster`).

    Brokers may be given as IDs, and topics as their numbers of partitions: their replicas are then placed as Kafka's
    controller places a new topic's, `replication_factor` (1 by default) of each partition, by
    `partwright.cluster.placement.striped`. Kafka draws where it begins; here the seed is 0 for each topic, so that one
    call always gives one cluster.

    Attributes:
        brokers: The live brokers.
        topics: By name, a topic's partitions in the order of the metadata, which round robin and others follow; the
            mapping is read-only.
        strict: Whether a topic must have partitions, with IDs from 0 to n-1 in any order, each led by a known broker or
            by none. If false, as in a replay, IDs may have gaps, and an unknown leader becomes a broker with only an
            ID.

    Raises:
        PartwrightError: A topic without partitions, a missing or repeated partition, a repeated broker, a leader that
            is not a broker, no topics at all, more replicas than brokers, or a value of another type.

    Examples:
        >>> cluster = Cluster([Broker(0, rack="a"), Broker(1)], {"orders": [Partition(0, leader=1), Partition(1)]})
        >>> cluster
        Cluster(2 brokers; orders: 2 partitions, 1 without leader)
        >>> [partition.id for partition in cluster.available("orders")], cluster.leader_of("orders", 1)
        ([0], None)
        >>> placed = Cluster([1, 2, 3], {"orders": 6}, replication_factor=2)
        >>> [partition.replicas for partition in placed.partitions("orders")][:3]
        [(1, 2), (2, 3), (3, 1)]
    """

    brokers: tuple[Broker, ...]
    topics: Mapping[str, tuple[Partition, ...]]
    strict: bool = field(default=True, kw_only=True, compare=False)
    _by_id: dict[int, Broker] = field(init=False, compare=False)
    _by_topic: dict[str, dict[int, Partition]] = field(init=False, compare=False)

    def __init__(
        self,
        brokers: Iterable[Broker | int],
        topics: Mapping[str, Iterable[Partition] | int],
        *,
        strict: bool = True,
        replication_factor: int | None = None,
    ) -> None:
        """Checks the brokers and topics, and places the topics that are numbers of partitions."""
        object.__setattr__(self, "strict", strict)
        if not isinstance(topics, Mapping):
            raise PartwrightError(f"topics has lists of partitions by name, not {shown(topics)}")
        if strict and not topics:
            raise PartwrightError("a cluster without topics has no partition to write to: name at least one")
        by_id = brokers_by_id(brokers)
        lists: dict[str, tuple[Partition, ...]] = {}
        for name, partition_list in _placed(tuple(by_id.values()), topics, replication_factor).items():
            partitions: tuple[Partition, ...] = listed(partition_list, f"topic {shown(name)}", Partition)
            lists[_topic_name(name)] = partitions
            if strict:
                _check_whole(name, partitions)
                _check_leaders(name, partitions, by_id)
            for leader in sorted(
                {each.leader for each in partitions if each.leader is not None} - set(by_id)
            ):
                by_id[leader] = Broker(leader)
        object.__setattr__(self, "brokers", tuple(by_id.values()))
        object.__setattr__(self, "topics", MappingProxyType(lists))
        object.__setattr__(self, "_by_id", by_id)
        object.__setattr__(self, "_by_topic", {name: _by_number(name, lists[name]) for name in lists})

    @classmethod
    def of(cls, topics: Mapping[str, int]) -> Self:
        """Make topics from their numbers of partitions, in ascending order and all led by the only broker, 0.

        Args:
            topics: By name, how many partitions: 1 to 2147483647.

        Returns:
            The cluster.

        Raises:
            PartwrightError: A number of partitions is invalid.

        Examples:
            >>> Cluster.of({"orders": 12, "users": 3})
            Cluster(1 broker; orders: 12 partitions; users: 3 partitions)
        """
        return cls.from_dict({"brokers": [{"id": 0}], "topics": topics})

    @classmethod
    def from_dict(cls, cluster: Mapping[str, object], *, strict: bool = True) -> Self:
        """Read a cluster from the form of `partwright strategy` and of `to_dict`.

        Args:
            cluster: `brokers`, a list of objects with `id`, and `host`, `port`, `rack` and `region` as far as known;
                and `topics`, by name a list of objects with `id`, `leader` (null where there is none), and `replicas`,
                `in_sync_replicas` (or `isr`) and `offline_replicas` as far as known.  A number of partitions stands for
                as many, led by the first broker. Without `brokers`, the leaders are the brokers.
            strict: As in `Cluster`.

        Returns:
            The cluster.

        Raises:
            PartwrightError: As for `Cluster`, and an unknown field.

        Examples:
            >>> cluster = {"brokers": [{"id": 0, "rack": None}], "topics": {"t": [{"id": 1, "leader": 0}, {"id": 0}]}}
            >>> [partition.id for partition in Cluster.from_dict(cluster).partitions("t")]
            [1, 0]
        """
        fields = object_fields(cluster, "a cluster", ("brokers", "topics"), needs="topics")
        if not isinstance(fields["topics"], Mapping):
            raise PartwrightError(f"topics has lists of partitions by name, not {shown(fields['topics'])}")
        # A plain number of partitions is led by the first broker; without brokers, every leader is one.
        are_given = fields.get("brokers") is not None
        brokers = tuple(map(read_broker, listed(fields["brokers"], "brokers"))) if are_given else ()
        first = brokers[0].id if brokers else 0
        refuse_many(sum(each for each in fields["topics"].values() if isinstance(each, int)), "a cluster")
        topics = {name: read_partitions(name, those, first) for name, those in fields["topics"].items()}
        if not are_given:
            leaders = {each.leader for those in topics.values() for each in those if each.leader is not None}
            brokers = tuple(Broker(leader) for leader in sorted(leaders))
        return cls(brokers, topics, strict=strict)

    @classmethod
    def from_json(cls, text: str | bytes, *, strict: bool = True) -> Self:
        """Read a cluster from JSON text, or from what one of Kafka's tools, `kcat` or `rpk` prints.

        Args:
            text: The text of one object, as `from_dict` takes it; or the text or JSON of `kafka-topics.sh --describe`,
                `kafka-log-dirs.sh --describe`, `kafka-reassign-partitions.sh`, `kcat -L` or `rpk cluster info -d`.
            strict: As in `Cluster`.

        Returns:
            The cluster.

        Raises:
            PartwrightError: As for `from_dict`, and if it is not JSON, or an object has a name twice.

        Examples:
            >>> Cluster.from_json('{"topics": {"t": 3}}')
            Cluster(1 broker; t: 3 partitions)
        """
        try:
            read = read_json(text)
        except PartwrightError:
            raise
        except TypeError:
            raise PartwrightError(f"from_json takes text, not {shown(text)}{_if_path(text)}") from None
        except (ValueError, RecursionError) as error:
            if isinstance(text, str) and _upward.module("cluster.pasted_cluster").is_tools_text(text):
                return cls._of_tool(text)
            raise PartwrightError(f"this is not JSON of a cluster: {error}{_if_path(text)}") from None
        if isinstance(read, Mapping) and not isinstance(read.get("topics"), Mapping):
            return cls._of_tool(read)
        return cls.from_dict(read, strict=strict)

    @classmethod
    def _of_tool(cls, text: str | Mapping[str, object]) -> Self:
        cluster = _upward.module("cluster.pasted_cluster").read_pasted_cluster(text).cluster
        return cls(cluster.brokers, cluster.topics, strict=cluster.strict)

    @classmethod
    def from_kafka(
        cls,
        source: object,
        topics: Iterable[str] | None = None,
        *,
        timeout: float = 5.0,
        kafka_config: object = None,
    ) -> Cluster:
        """Read a live Kafka's metadata, each topic's partitions in ascending order.

        `in_metadata_order` puts them into the order in which Java's producer has them.

        Args:
            source: `host:port` (by the extra `kafka`), None for the `bootstrap.servers` of the configuration, an admin
                client of kafka-python 3, or an AdminClient, Producer or Consumer of confluent-kafka.  The metadata of
                confluent-kafka has no racks: only its AdminClient tells them, by `describe_cluster`, which is asked
                too.  confluent-kafka does not tell which replicas are offline: with an address, those on brokers that
                are gone count as offline, and one whose disk failed is not noticed.
            topics: The names of the wanted topics; by default all but Kafka's internal ones.
            timeout: Seconds for each answer.  An admin client of kafka-python has its own.
            kafka_config: The client configuration, of an address: a dict of settings by Kafka's or librdkafka's
                names, or the path of a properties file.

        Returns:
            The cluster.  A leader that is not a live broker counts as none, as in Java's client.

        Raises:
            PartwrightError: `source` is not one of these, or a name cannot be a topic's.
            BrokerError: No Kafka answers, it refuses, or the topic does not exist.
            MissingExtraError: An address is given, and confluent-kafka is not installed.

        Examples:
            >>> Cluster.from_kafka("127.0.0.1:9092", ["orders"])
            Cluster(1 broker; orders: 12 partitions)
        """
        cluster: Cluster = _upward.module("kafka.metadata").live_cluster(
            source, topics, timeout=timeout, kafka_config=kafka_config
        )
        return cluster

    def partitions(self, topic: str) -> tuple[Partition, ...]:
        """All partitions of a topic, in the order of the metadata (`Cluster.partitionsForTopic`).

        Raises:
            PartwrightError: The topic does not exist.

        Examples:
            >>> [partition.id for partition in Cluster.of({"orders": 3}).partitions("orders")]
            [0, 1, 2]
        """
        try:
            return self.topics[topic]
        except (KeyError, TypeError):
            raise unknown(topic, "topic", self.topics) from None

    def available(self, topic: str) -> tuple[Partition, ...]:
        """A topic's partitions that have a leader (`Cluster.availablePartitionsForTopic`).

        Raises:
            PartwrightError: The topic does not exist.

        Examples:
            >>> cluster = Cluster([Broker(0)], {"orders": [Partition(1, leader=0), Partition(0)]})
            >>> [partition.id for partition in cluster.available("orders")]
            [1]
        """
        return tuple(partition for partition in self.partitions(topic) if partition.leader is not None)

    def check_leaders(self, topic: str) -> tuple[Partition, ...]:
        """A topic's partitions that have a leader, if at least one is needed.

        Raises:
            PartwrightError: The topic does not exist, or none of its partitions has a leader.

        Examples:
            >>> Cluster([], {"orders": [Partition(0)]}).check_leaders("orders")
            Traceback (most recent call last):
            partwright.errors.PartwrightError: topic 'orders': none of its partitions (1) has a leader
        """
        available = self.available(topic)
        if not available:
            count = len(self.topics[topic])
            raise PartwrightError(f"topic {topic!r}: none of its partitions ({count}) has a leader")
        return available

    def leader_of(self, topic: str, partition: int) -> Broker | None:
        """The broker that leads a partition, or None if there is none (`Cluster.leaderFor`).

        Raises:
            PartwrightError: The topic or partition does not exist.

        Examples:
            >>> cluster = Cluster([Broker(7, rack="a")], {"orders": [Partition(0, leader=7), Partition(1)]})
            >>> cluster.leader_of("orders", 0).rack, cluster.leader_of("orders", 1)
            ('a', None)
        """
        self.partitions(topic)
        ids = self._by_topic[topic]
        if number(partition, "a partition's id") not in ids:
            raise PartwrightError(
                f"topic {topic!r} has no partition {partition}: {there_are(ids, 'partitions')}"
            )
        leader = ids[partition].leader
        return None if leader is None else self._by_id[leader]

    def broker(self, id: int) -> Broker:  # noqa: A002 - Kafka's noun
        """A broker by its id (`Cluster.nodeById`).

        Raises:
            PartwrightError: There is no broker with this ID.

        Examples:
            >>> Cluster([Broker(7, rack="a")], {"orders": [Partition(0)]}).broker(7).rack
            'a'
        """
        if number(id, "a broker's id") not in self._by_id:
            raise PartwrightError(f"there is no broker {id}: {there_are(self._by_id, 'brokers')}")
        return self._by_id[id]

    def with_topic(self, name: str, partitions: object) -> Cluster:
        """A copy with one more topic, which replaces a topic of the same name.

        Args:
            name: The topic's name.
            partitions: `Partition`s or objects as `from_dict` takes them, in the order of the metadata; or their
                number.

        Returns:
            A new cluster, as strict as this one.

        Raises:
            PartwrightError: As for `from_dict`.

        Examples:
            >>> Cluster.of({"orders": 12}).with_topic("users", 3)
            Cluster(1 broker; orders: 12 partitions; users: 3 partitions)
        """
        first = self.brokers[0].id if self.brokers else 0
        if isinstance(partitions, int):
            refuse_many(partitions, "a cluster")
        topics = {**self.topics, name: read_partitions(name, partitions, first)}
        return Cluster(self.brokers, topics, strict=self.strict)

    def in_metadata_order(self) -> Cluster:
        """A copy with each topic's partitions in the order that Java's client has.

        A Java producer keeps the partitions of all its topics in one `HashMap` (`MetadataSnapshot`; `MetadataCache` in
        Kafka 2.8), and sees a topic's partitions in that map's iteration order. So the order depends on the topic's
        name, and on the total number of partitions of all topics: name exactly those that the producer writes to.
        Tested against kafka-clients 2.8.2 and 4.4.0, with producers that learn of their topics at once or one by one.
        If more than eight partitions share a bin and some of them share a hash code, Java orders those by memory
        address, differently at every start: this is one of those orders.

        Returns:
            A new cluster.

        Examples:
            >>> [partition.id for partition in Cluster.of({"orders": 12}).in_metadata_order().partitions("orders")]
            [7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6]
        """
        ids_of = [(name, [each.id for each in partitions]) for name, partitions in self.topics.items()]
        walked = zip(self._by_topic.items(), _core.walk_partitions(ids_of), strict=True)
        topics = {name: tuple(by_number[id_] for id_ in ids) for (name, by_number), ids in walked}
        return Cluster(self.brokers, topics, strict=self.strict)

    def to_dict(self) -> Json:
        """The form that `from_dict` takes, without unknown fields.

        Examples:
            >>> Cluster.of({"orders": 2}).to_dict()
            {'brokers': [{'id': 0}], 'topics': {'orders': [{'id': 0, 'leader': 0}, {'id': 1, 'leader': 0}]}}
        """
        topics = {name: [known(each) for each in partitions] for name, partitions in self.topics.items()}
        return {"brokers": [known(each) for each in self.brokers], "topics": topics}

    def __hash__(self) -> int:
        return hash((self.brokers, frozenset(self.topics.items())))

    def __reduce__(self) -> tuple[object, ...]:
        # A read-only mapping cannot be pickled.
        return _again, (self.brokers, dict(self.topics), self.strict)

    def __repr__(self) -> str:
        of_topics = [f"{name}: {_counted(those)}" for name, those in list(self.topics.items())[:_SHOWN]]
        more = len(self.topics) - len(of_topics)
        brokers = counted(len(self.brokers), "broker")
        return f"Cluster({'; '.join([brokers, *of_topics, *([counted(more, 'more topic')] if more > 0 else [])])})"


def _if_path(text: object) -> str:
    """The end of a sentence about JSON that may be a file's name instead of its text."""
    name = os.fsdecode(text) if is_path(text) else ""
    if name[:1] in {"", "{", "["} or not name.isprintable():
        return ""
    return f"; of a file, pass its text: Cluster.from_json(Path({shown(name)}).read_text())"


def check_cluster(cluster: object) -> None:
    """Refuse what is not a cluster.

    Raises:
        PartwrightError: It is something else.
    """
    if not isinstance(cluster, Cluster):
        raise PartwrightError(f"a cluster is needed, such as Cluster.from_kafka(...), not {shown(cluster)}")


def _again(brokers: tuple[Broker, ...], topics: dict[str, tuple[Partition, ...]], strict: bool) -> Cluster:
    return Cluster(brokers, topics, strict=strict)


def _placed(
    brokers: tuple[Broker, ...], topics: Mapping[str, object], replication_factor: int | None
) -> dict[str, Any]:
    """Topics with lists of partitions instead of their numbers."""
    counts = {name: count for name, count in topics.items() if isinstance(count, int)}
    if replication_factor is not None and len(counts) < len(topics):
        name = next(name for name in topics if name not in counts)
        raise PartwrightError(
            f"replication_factor is for topics that are numbers of partitions, and topic {shown(name)} has "
            f"{shown(topics[name])}: leave it out"
        )
    for name, count in counts.items():
        whole(count, f"topic {shown(name)}: the number of partitions", 1, MOST_MADE)
    refuse_many(sum(counts.values()), "a cluster")
    placed = dict(topics)
    for name, count in counts.items():
        factor = 1 if replication_factor is None else replication_factor
        replicas = _upward.module("cluster.placement").striped(brokers, count, factor).replicas
        placed[name] = tuple(Partition(at, those[0], those, those) for at, those in enumerate(replicas))
    return placed


def _topic_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise PartwrightError(f"a topic's name is text of at least one letter, not {shown(name)}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise PartwrightError(f"the topic's name {name!r} is not UTF-8, as every name in Kafka is") from None
    return name


def _check_whole(topic: str, partitions: tuple[Partition, ...]) -> None:
    if not partitions:
        raise PartwrightError(f"topic {topic!r} has no partitions: there is nowhere to write to")
    ids = {each.id for each in partitions}
    missing = next((number for number in range(len(ids)) if number not in ids), None)
    if missing is not None:
        raise PartwrightError(
            f"topic {topic!r} has the partition {max(ids)} and lacks {missing}: Kafka's ids have no holes"
        )


def _check_leaders(topic: str, partitions: tuple[Partition, ...], brokers: Mapping[int, Broker]) -> None:
    for each in partitions:
        if each.leader is not None and each.leader not in brokers:
            raise PartwrightError(
                f"topic {topic!r}: partition {each.id} is led by {each.leader}, which is not a broker: "
                f"{there_are(brokers, 'brokers')}"
            )


def _by_number(topic: str, partitions: tuple[Partition, ...]) -> dict[int, Partition]:
    by_number: dict[int, Partition] = {}
    for each in partitions:
        if each.id in by_number:
            raise PartwrightError(f"topic {topic!r} has the partition {each.id} twice: each once")
        by_number[each.id] = each
    return by_number


def _counted(partitions: tuple[Partition, ...]) -> str:
    leaderless = sum(each.leader is None for each in partitions)
    count = counted(len(partitions), "partition")
    return f"{count}, {leaderless} without leader" if leaderless else count
