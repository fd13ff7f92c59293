"""Check the arguments of a reassignment: which brokers, how strong they are, and how large partitions are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from partwright._check import at_least_one, counted, listed, number, shown, there_are, unknown, whole
from partwright.cluster.brokers import brokers_by_id, check_racks, common_racks
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cluster.brokers import Broker, Partition
    from partwright.cluster.metadata import Cluster

_MOST = 2**63 - 1
_HIGHEST_FACTOR = 2**15 - 1


def target_brokers(cluster: Cluster, brokers: object, add: object, remove: object) -> tuple[Broker, ...]:
    """The brokers that are to have replicas, by id.

    Raises:
        PartwrightError: No broker is left, a broker to remove does not exist, one is both added and removed, or an
            unlisted broker has replicas.
    """
    named = {broker.id: broker for broker in cluster.brokers}
    in_use = {each for those in cluster.topics.values() for one in those for each in one.replicas}
    coming = brokers_by_id(add, "add", named)
    leaving = [number(each, "remove: a broker's id") for each in listed(remove, "remove")]
    if brokers is not None:
        if coming or leaving:
            raise PartwrightError("brokers names all that are to have replicas: leave out add and remove")
        staying = brokers_by_id(brokers, "brokers", named)
    else:
        strange = next((each for each in leaving if each not in named and each not in in_use), None)
        if strange is not None:
            raise PartwrightError(f"remove: there is no broker {strange}: {there_are(named, 'brokers')}")
        both = next((each for each in leaving if each in coming), None)
        if both is not None:
            raise PartwrightError(f"broker {both} is to be added and removed: name it once")
        dead = sorted(in_use - set(named) - set(coming) - set(leaving))
        if dead:
            raise PartwrightError(
                f"broker {dead[0]} has replicas and is not in the cluster's metadata: it is down; start it, or name it "
                "with remove to move its replicas elsewhere"
            )
        staying = {id_: broker for id_, broker in (named | coming).items() if id_ not in leaving}
    if not staying:
        raise PartwrightError("no broker is left: a partition needs at least one broker")
    return tuple(staying[each] for each in sorted(staying))


def racks_of(brokers: tuple[Broker, ...], rack_aware: object) -> list[int]:
    """By broker, its rack as a number; all 0 if no broker has a rack, or racks do not count.

    Raises:
        PartwrightError: Some have a rack and others have none.
    """
    if type(rack_aware) is not bool:
        raise PartwrightError(f"rack_aware is true or false, not {shown(rack_aware)}")
    if not rack_aware:
        check_racks(brokers)
        return [0] * len(brokers)
    racks = common_racks(
        brokers,
        "give it its rack ({id}=rack-a, or Broker({id}, rack=...)), or leave racks aside (--no-racks, or "
        "rack_aware=False)",
    )
    places = {name: place for place, name in enumerate(sorted(set(racks)))}
    return [places[name] for name in racks] or [0] * len(brokers)


def topics_to_move(cluster: Cluster, topics: object) -> tuple[str, ...]:
    """The topics whose replicas may move, all by default.

    Raises:
        PartwrightError: A topic does not exist, or the list is empty.
    """
    if topics is None:
        return tuple(sorted(cluster.topics))
    names = set(listed(topics, "topics"))
    for each in names:
        if each not in cluster.topics:
            raise unknown(each, "topic", cluster.topics)
    if not names:
        raise PartwrightError("topics is empty: name at least one, or leave it out for all of them")
    return tuple(sorted(names))


def check_replicas(topic: str, partitions: Sequence[Partition]) -> None:
    """Refuse partitions whose replicas are unknown.

    Raises:
        PartwrightError: One has no replicas, or has a broker twice.
    """
    for each in partitions:
        if not each.replicas:
            raise PartwrightError(
                f"topic {topic!r}: nothing is known of the replicas of partition {each.id}: give it its replicas"
            )
        if len(set(each.replicas)) < len(each.replicas):
            raise PartwrightError(
                f"topic {topic!r}: partition {each.id} has a broker more than once: its replicas are "
                f"{shown(list(each.replicas))}"
            )


def factors(factor: object, topics: Mapping[str, Sequence[Partition]], brokers: int) -> dict[str, list[int]]:
    """By topic, how many replicas each of its partitions will have.

    Args:
        factor: One number for all, numbers by topic, or None for today's.
        topics: The topics that may move.
        brokers: How many brokers can have replicas.

    Raises:
        PartwrightError: There are fewer brokers, a number is below 1, or a topic is unknown.
    """
    by_topic: Mapping[Any, Any] = factor if isinstance(factor, Mapping) else dict.fromkeys(topics, factor)
    for name in by_topic:
        if name not in topics:
            raise unknown(name, "topic", topics, "what is planned")
    counts = {}
    for name, partitions in topics.items():
        own = by_topic.get(name)
        if own is not None:
            at_least_one(own, f"the replication factor of topic {name!r}", _HIGHEST_FACTOR)
        counts[name] = [len(each.replicas) if own is None else own for each in partitions]
        if max(counts[name]) > brokers:
            raise PartwrightError(
                f"topic {name!r} needs {counted(max(counts[name]), 'broker')} for as many replicas, and "
                f"{counted(brokers, 'broker is', 'brokers are')} left: keep "
                "more brokers, or take a lower replication factor"
            )
    return counts


def per_broker(
    numbers: object, what: str, brokers: Sequence[Broker], missing: int | None = None
) -> list[int] | None:
    """By broker, a number that is given by its ID; None if nothing is given.

    Args:
        numbers: The numbers.
        what: What they are.
        brokers: The brokers.
        missing: The number for a broker that is left out; None means that no broker may be.

    Raises:
        PartwrightError: A broker lacks its number, a number is below 1, or a broker is unknown.
    """
    if numbers is None:
        return None
    if not isinstance(numbers, Mapping):
        raise PartwrightError(f"{what} has a number by broker id, not {shown(numbers)}")
    ids = [broker.id for broker in brokers]
    for each in numbers:
        if type(each) is not int or each not in ids:
            raise PartwrightError(f"{what}: there is no broker {shown(each)}: {there_are(ids, 'brokers')}")
    lacking = next((each for each in ids if each not in numbers), None)
    if lacking is not None and missing is None:
        raise PartwrightError(f"{what} lacks broker {lacking}: give each broker's")
    return [whole(numbers.get(each, missing), f"{what} of broker {each}", 1, _MOST) for each in ids]


def read_sizes(value: object, cluster: Cluster) -> dict[str, list[int]] | None:
    """By topic, each partition's bytes by its number; None if nothing is given.

    Args:
        value: By topic a list of bytes by partition, a mapping of partitions to bytes, or the JSON that
            `kafka-log-dirs.sh --describe` prints.
        cluster: The cluster.

    Raises:
        PartwrightError: A partition lacks its size, or a size is invalid.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise PartwrightError(f"sizes has bytes by topic and partition, not {shown(value)}")
    named = _of_log_dirs(value) if "brokers" in value and "version" in value else value
    sizes: dict[str, list[int]] = {}
    for topic, partitions in cluster.topics.items():
        if topic not in named:
            raise PartwrightError(f"sizes lacks topic {topic!r}: give the bytes of all topics, or of none")
        own = named[topic]
        by_number = dict(enumerate(own)) if isinstance(own, (list, tuple)) else own
        if not isinstance(by_number, Mapping):
            raise PartwrightError(
                f"sizes of topic {topic!r} are a list by partition, or a mapping of partitions, not {shown(own)}"
            )
        numbers = {_number(each): size for each, size in by_number.items()}
        sizes[topic] = []
        for each in partitions:
            if each.id not in numbers:
                raise PartwrightError(f"sizes lacks partition {each.id} of topic {topic!r}: give its bytes")
            sizes[topic].append(whole(numbers[each.id], f"the size of {topic}-{each.id}", 0, _MOST))
    return sizes


def _number(name: object) -> object:
    """A partition's number, also from JSON, whose names are text."""
    return int(name) if isinstance(name, str) and name.isdecimal() else name


def _of_log_dirs(document: Mapping[str, Any]) -> dict[str, dict[int, int]]:
    """Each partition's largest replica in `LogDirsCommand`'s JSON, without replicas that move between disks."""
    largest: dict[str, dict[int, int]] = {}
    for broker in listed(document["brokers"], "sizes: brokers", dict):
        for folder in listed(broker.get("logDirs", ()), "sizes: logDirs", dict):
            for each in listed(folder.get("partitions", ()), "sizes: partitions", dict):
                topic, _, partition = str(each.get("partition", "")).rpartition("-")
                if not partition.isdecimal():
                    raise PartwrightError(
                        f"sizes: {shown(each.get('partition'))} is not a partition of any topic"
                    )
                if not each.get("isFuture"):
                    size = whole(each.get("size"), f"the size of {topic}-{partition}", 0, _MOST)
                    own = largest.setdefault(topic, {})
                    own[int(partition)] = max(own.get(int(partition), 0), size)
    return largest
