"""Check a cluster's brokers and partitions as a caller or JSON gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from typing import Any

from partwright._check import Json, at_least_one, counted, listed, number, object_fields, shown, there_are
from partwright.errors import PartwrightError

_HIGHEST_PORT = 65535
_BROKER = ("id", "host", "port", "rack", "region")
_PARTITION = ("id", "leader", "replicas", "in_sync_replicas", "isr", "offline_replicas")


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker (`org.apache.kafka.common.Node`).

    Attributes:
        id: Its `node.id`, from 0 on.
        host: Where clients reach it; None if it is not known, like all below.
        port: The port there, 0 to 65535.
        rack: Its `broker.rack`.
        region: Its region, which Kafka itself does not know.

    Raises:
        PartwrightError: A value is of another type or out of its range.

    Examples:
        >>> Broker(0, rack="eu-west-1a").rack
        'eu-west-1a'
    """

    id: int
    host: str | None = None
    port: int | None = None
    rack: str | None = None
    region: str | None = None

    def __post_init__(self) -> None:
        number(self.id, "a broker's id")
        if self.port is not None:
            number(self.port, f"the port of broker {self.id}", _HIGHEST_PORT)
        for name in ("host", "rack", "region"):
            _text(getattr(self, name), f"broker {self.id}: {name}")


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a topic (`org.apache.kafka.common.PartitionInfo`).

    Attributes:
        id: Its number, from 0 on.
        leader: The ID of the broker that leads it; None if no broker does.
        replicas: The ids of the brokers that have it. Some may not be among the cluster's brokers, because metadata
            lists only live ones.
        in_sync_replicas: The replicas that are in sync.
        offline_replicas: The replicas that are offline.

    Raises:
        PartwrightError: A value is of another type, or below 0.

    Examples:
        >>> Partition(3, leader=1, replicas=[1, 2]).replicas
        (1, 2)
    """

    id: int
    leader: int | None = None
    replicas: tuple[int, ...] = ()
    in_sync_replicas: tuple[int, ...] = ()
    offline_replicas: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        number(self.id, "a partition's id")
        if self.leader is not None:
            number(self.leader, f"the leader of partition {self.id}", note=" (none if it has none)")
        for name in ("replicas", "in_sync_replicas", "offline_replicas"):
            what = f"partition {self.id}: {name}"
            ids = tuple(number(each, what) for each in listed(getattr(self, name), what))
            object.__setattr__(self, name, ids)


def in_sync(partition: Partition) -> tuple[int, ...]:
    """A partition's replicas in sync, or, if nothing is known of them, those that are not offline."""
    alive = partition.in_sync_replicas or partition.replicas
    return tuple(each for each in alive if each not in partition.offline_replicas)


def read_broker(value: object) -> Broker:
    """A broker from an object with its fields; a `Broker` stays as it is.

    Examples:
        >>> read_broker({"id": 0, "rack": None})
        Broker(id=0, host=None, port=None, rack=None, region=None)
    """
    if isinstance(value, Broker):
        return value
    return Broker(**object_fields(value, "a broker", _BROKER, needs="id"))


def brokers_by_id(
    brokers: object, what: str = "brokers", named: Mapping[int, Broker] | None = None
) -> dict[int, Broker]:
    """A list of `Broker`s and of brokers' IDs, by ID; an ID among the named brokers is that broker.

    Raises:
        PartwrightError: A broker occurs twice, or is neither an ID nor a `Broker`.

    Examples:
        >>> list(brokers_by_id([2, Broker(0)]))
        [2, 0]
    """
    by_id: dict[int, Broker] = {}
    for each in listed(brokers, what):
        known_one = named.get(each) if named and type(each) is int else None
        broker = each if isinstance(each, Broker) else known_one or Broker(each)
        if broker.id in by_id:
            raise PartwrightError(f"{what} has {broker.id} twice: each id once")
        by_id[broker.id] = broker
    return by_id


def read_brokers(brokers: Any) -> tuple[Broker, ...]:
    """Brokers from their IDs, from `Broker`s, or from a cluster; at least one.

    Raises:
        PartwrightError: There are no brokers, one occurs twice, or one is neither an ID nor a `Broker`.

    Examples:
        >>> [broker.id for broker in read_brokers([2, Broker(0)])]
        [2, 0]
    """
    by_id = brokers_by_id(getattr(brokers, "brokers", brokers))
    if not by_id:
        raise PartwrightError("brokers is empty: a partition needs at least one broker")
    return tuple(by_id.values())


def enough_brokers(replication_factor: object, brokers: tuple[Broker, ...]) -> int:
    """Check a number of replicas against the brokers: no broker has two replicas of one partition."""
    replicas = at_least_one(replication_factor, "replication_factor", 2**15 - 1)
    if replicas > len(brokers):
        raise PartwrightError(
            f"{counted(replicas, 'replica')} of a partition need as many brokers, and "
            f"{there_are((broker.id for broker in brokers), 'brokers')}: take fewer replicas"
        )
    return replicas


def check_racks(brokers: tuple[Broker, ...]) -> None:
    """Refuse a rack's name that Kafka cannot have."""
    for broker in brokers:
        if broker.rack is not None and any("\ud800" <= letter <= "\udfff" for letter in broker.rack):
            raise PartwrightError(f"rack {broker.rack!r} is not UTF-8, as every name in Kafka is")


def common_racks(brokers: Iterable[Broker], remedy: str) -> list[str]:
    """Each broker's rack, empty if no broker has one.

    Args:
        brokers: The brokers.
        remedy: What to do if only some have a rack; `{id}` stands for one that has none.

    Raises:
        PartwrightError: Some have a rack and others have none, or Kafka cannot have its name.
    """
    brokers = tuple(brokers)
    check_racks(brokers)
    racks = [broker.rack for broker in brokers if broker.rack is not None]
    bare = next((broker.id for broker in brokers if broker.rack is None), None)
    if racks and bare is not None:
        raise PartwrightError(f"broker {bare} has no rack and others have one: {remedy.format(id=bare)}")
    return racks


def listed_brokers(values: object, what: str, brokers: Iterable[Broker], where: str = "") -> set[int]:
    """The IDs of the list `what`, each of an existing broker."""
    ids = {broker.id for broker in brokers}
    those = set()
    for each in listed(values, what):
        if type(each) is not int or each not in ids:
            raise PartwrightError(f"{where}there is no broker {shown(each)}: {there_are(ids, 'brokers')}")
        those.add(each)
    return those


def read_partitions(topic: str, partitions: object, leader: int) -> tuple[Partition, ...]:
    """A topic's partitions from a list of objects; or from their number, all with the same leader.

    Examples:
        >>> [each.leader for each in read_partitions("t", [{"id": 0, "leader": None}, {"id": 1, "leader": 3}], 0)]
        [None, 3]
    """
    if isinstance(partitions, int):
        number(partitions, f"topic {topic!r}: the number of partitions")
        return tuple(Partition(partition, leader) for partition in range(partitions))
    return tuple(_read_partition(topic, each) for each in listed(partitions, f"topic {topic!r}"))


def _read_partition(topic: str, partition: object) -> Partition:
    if isinstance(partition, Partition):
        return partition
    fields = object_fields(partition, f"a partition of topic {topic!r}", _PARTITION, needs="id")
    if "isr" in fields:
        if "in_sync_replicas" in fields:
            raise PartwrightError(
                f"partition {shown(fields['id'])} of topic {topic!r} has isr and in_sync_replicas: leave one out"
            )
        fields["in_sync_replicas"] = fields.pop("isr")
    absent = [name for name, value in fields.items() if value is None and name not in {"id", "leader"}]
    try:
        return Partition(**{name: value for name, value in fields.items() if name not in absent})
    except PartwrightError as error:
        raise error.within(f"topic {topic!r}") from None


def known(part: Broker | Partition) -> Json:
    """The fields that `read_broker` and `read_partitions` take: the ID and the known ones; `leader` is always there.

    Examples:
        >>> known(Broker(0, rack="a")), known(Partition(1, replicas=(0,)))
        ({'id': 0, 'rack': 'a'}, {'id': 1, 'leader': None, 'replicas': [0]})
    """
    values = ((each.name, getattr(part, each.name)) for each in dataclass_fields(part))
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in values}
    return {name: value for name, value in fields.items() if name == "leader" or value not in (None, [])}


def _text(value: object, what: str) -> None:
    if value is not None and not isinstance(value, str):
        raise PartwrightError(f"{what} is text, not {shown(value)}")
