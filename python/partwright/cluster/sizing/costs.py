"""What a number of partitions costs a cluster and its clients: ranges, each with its source and assumptions.

The limits of providers, AWS MSK by instance size and Redpanda by memory, are those that they publish.

Jun Rao's figures are from his articles, with ZooKeeper and an older Kafka; tests/kafka/test_partition_costs.py repeats
our measurements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from partwright._check import counted, refused, shown

RAO_2015, RAO_2018, KRAFT_2021, MEASURED = "Jun Rao 2015", "Jun Rao 2018", "Confluent 2021", "measured"
SOURCES = {
    RAO_2015: "How to choose the number of topics/partitions in a Kafka cluster, "
    "https://www.confluent.io/blog/how-choose-number-topics-partitions-kafka-cluster/",
    RAO_2018: "Apache Kafka supports 200K partitions per cluster, "
    "https://www.confluent.io/blog/apache-kafka-supports-200k-partitions-per-cluster/",
    KRAFT_2021: "A first glimpse of a Kafka without ZooKeeper, "
    "https://www.confluent.io/blog/kafka-without-zookeeper-a-sneak-peek/",
    MEASURED: "on a broker of Kafka 4.3.1, by tests/kafka/test_partition_costs.py of partwright",
}
"""The sources of every answer; a platform's are in `PLATFORM_SOURCES`."""

MSK = "AWS MSK"
REDPANDA = "Redpanda 26.2"
PLATFORM_SOURCES = {
    MSK: "Best practices for Standard brokers, read from a copy of 2024 or later, as it has M7g, "
    "https://docs.aws.amazon.com/msk/latest/developerguide/bestpractices.html",
    REDPANDA: "Sizing guidelines of version 26.2 (2026), "
    "https://docs.redpanda.com/streaming/26.2/deploy/redpanda/manual/sizing/",
}
# Leaders and followers on one broker, by the size after the family's name.
_T3 = {"t3.small": 300}
_BY_SIZE = {"large": 1000, "xlarge": 1000, "2xlarge": 2000}
_LARGEST = 4000
_LARGE = {
    "m5": ("4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge"),
    "m7g": ("4xlarge", "8xlarge", "12xlarge", "16xlarge"),
}
_MOST = {
    **_T3,
    **{f"{family}.{size}": most for family in _LARGE for size, most in _BY_SIZE.items()},
    **{f"{family}.{size}": _LARGEST for family, sizes in _LARGE.items() for size in sizes},
}
_MSK_NAME = re.compile(r"msk:(?:kafka\.)?([a-z0-9.]+)")
_MEGABYTE = 1_000_000

FILES_A_SEGMENT = 1
MAPS_A_SEGMENT = 2
INDEX_BYTES = 2 * 10 * 2**20
_SESSION_S = 9
# 37 seconds for 2,000,000 partitions with KRaft; and the time of one election with ZooKeeper.
_ELECTION_S = (37 / 2_000_000, 0.005)
_LATENCY_MS = 20 / 1000
_FETCH_PARTITION, _FETCH_BROKER = 2**20, 50 * 2**20
_MOST_REPLICAS = 4000
# `ReplicationControlManager.MAX_PARTITIONS_PER_BATCH` of kafka-metadata.
_MOST_AT_ONCE = 10_000
_FILES_LIMIT, _MAPS_LIMIT = 100_000, 65_530


MEASURED_MB_S = (10.0, 50.0)
"""What is assumed of a partition and of a consumer if nobody has measured yours."""


class Platform(NamedTuple):
    """A provider's published limits.

    Attributes:
        name: Its name in a sentence.
        source: The source of the limits.
        most_replicas: The most replicas that a broker should have; None if it depends on its memory.
        bytes_a_replica: The memory that each replica needs; None if the provider does not say.
    """

    name: str
    source: str
    most_replicas: int | None = None
    bytes_a_replica: int | None = None


@dataclass(frozen=True, slots=True)
class TopicClients:
    """Who writes to a topic and reads it.

    Attributes:
        produce_mb_s: What one partition takes from producers, with your acks, compression and replicas, in MB/s or as a
            range; by default 10 to 50, because nobody has measured yours (`kafka-producer-perf-test.sh`).
        consume_mb_s: What one consumer reads and processes, in MB/s or as a range; the same by default.
        consumers: Members of a group that should be busy, 1 or more.
        groups: Groups that read the topic.
        producers: Producers that write to it.
        batch_size: The producer's `batch.size`, in bytes.
        buffer_memory: The producer's `buffer.memory`, in bytes.
    """

    produce_mb_s: float | tuple[float, float] = MEASURED_MB_S
    consume_mb_s: float | tuple[float, float] = MEASURED_MB_S
    consumers: int = 1
    groups: int = 1
    producers: int = 1
    batch_size: int = 16384
    buffer_memory: int = 32 << 20


@dataclass(frozen=True, slots=True)
class BrokerFleet:
    """The brokers that hold a topic.

    Attributes:
        brokers: How many, 1 to 1000; 3 by default, or as many as `power` has.
        replication_factor: Replicas of a partition; 3 by default, or as many as there are brokers.
        power: The brokers' relative power, such as `[1, 1, 2]`: leaders are shared in that proportion.
        held: Replicas of other topics that each broker has already.
        segments: Segments of a replica: the retained bytes divided by `segment.bytes`, plus one; a number or a range.
        replica_fetchers: `num.replica.fetchers`.
        cleaner_threads: `log.cleaner.threads`.
        clean_s: Seconds in which one compacted log is cleaned, a number or a range; a guess until somebody measures it
            (`max-clean-time-secs` of `kafka.log:type=LogCleaner`).
        platform: The provider of the brokers, for its published limits on partitions: `msk:` with an instance size,
            such as `msk:m7g.large`, or `redpanda`.
    """

    brokers: int | None = None
    replication_factor: int | None = None
    power: Sequence[float] | None = None
    held: int = 0
    segments: float | tuple[float, float] = (1, 10)
    replica_fetchers: int = 1
    cleaner_threads: int = 1
    clean_s: float | tuple[float, float] = (0.1, 10)
    platform: str | None = None


class Load(NamedTuple):
    """The input of the figures: a number of partitions, and the properties of the cluster and its clients."""

    partitions: int
    brokers: int
    replication_factor: int
    busiest_leaders: int
    busiest_replicas: int
    segments: tuple[float, float]
    threads: tuple[int, int]
    clients: TopicClients
    fleet: BrokerFleet
    clean_s: tuple[float, float]
    platform: Platform | None = None


class CostEstimate(NamedTuple):
    """One cost: `low` to `high` of a `unit` (`""`: a count, `B`, `s`, `ms`), with its source and its assumptions."""

    name: str
    low: float
    high: float
    unit: str
    source: str
    assumes: str


def figures(load: Load) -> Iterator[CostEstimate]:
    """All costs, brokers' first; "the busiest broker" is the one with the most partitions.

    Examples:
        >>> load = Load(12, 3, 3, 4, 12, (1, 10), (2, 10), TopicClients(consumers=6), BrokerFleet(), (0.1, 10))
        >>> [(each.name, each.low, each.high) for each in figures(load)][:3]
        [('leaders', 4, 4), ('replicas', 12, 12), ('open files', 12, 120)]
    """
    leaders, held = load.busiest_leaders, load.busiest_replicas
    few, highest = load.segments
    yield CostEstimate(
        "leaders", leaders, leaders, "", "arithmetic", "on the busiest broker, of this topic alone"
    )
    yield CostEstimate(
        "replicas", held, held, "", "arithmetic", "on the busiest broker, with those that it has already"
    )
    yield from _of_platform(load)
    a_replica = (
        f"{counted(1, 'segment') if few == highest == 1 else f'{_between(few, highest)} segments'} a replica"
    )
    yield CostEstimate(
        "open files", held * few * FILES_A_SEGMENT, held * highest * FILES_A_SEGMENT, "", MEASURED, a_replica
    )
    yield CostEstimate(
        "memory map areas",
        held * few * MAPS_A_SEGMENT,
        held * highest * MAPS_A_SEGMENT,
        "",
        f"{MEASURED}; Kafka's documentation",
        f"{a_replica}, both indexes mapped",
    )
    yield CostEstimate(
        "mapped indexes",
        held * INDEX_BYTES,
        held * INDEX_BYTES,
        "B",
        MEASURED,
        "segment.index.bytes 10 MiB: address space of the newest segments; on disk it is hardly a thousandth at first",
    )
    yield CostEstimate(
        "leaders away after a crash",
        _SESSION_S + leaders * _ELECTION_S[0],
        _SESSION_S + leaders * _ELECTION_S[1],
        "s",
        f"{KRAFT_2021}; {RAO_2015}",
        "broker.session.timeout.ms 9000, then 0.0185 ms a leader (KRaft, 2,000,000 in 37 s) to 5 ms (ZooKeeper)",
    )
    yield CostEstimate("latency of replication", 0, _replicated(load), "ms", RAO_2015, _REPLICATION)
    yield CostEstimate(
        "a round of the log cleaner",
        held / load.fleet.cleaner_threads * load.clean_s[0],
        held / load.fleet.cleaner_threads * load.clean_s[1],
        "s",
        "arithmetic",
        f"compacted logs, {_between(*load.clean_s)} s each (a guess: see max-clean-time-secs), "
        f"log.cleaner.threads {load.fleet.cleaner_threads}",
    )
    yield from _of_clients(load)


def _of_platform(load: Load) -> Iterator[CostEstimate]:
    """The provider's limits for a broker with this many replicas."""
    platform = load.platform
    if platform is None:
        return
    if platform.most_replicas is not None:
        most, assumes = (
            platform.most_replicas,
            f"on one {platform.name} broker, leaders and followers together",
        )
        yield CostEstimate("replicas recommended at most", most, most, "", platform.source, assumes)
    if platform.bytes_a_replica is not None:
        needed = load.busiest_replicas * platform.bytes_a_replica
        yield CostEstimate(
            "memory of a broker",
            needed,
            needed,
            "B",
            platform.source,
            "2 MB for each replica; 2 GB a core at least",
        )


def _between(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


_REPLICATION = "20 ms for 1,000 partitions from one broker to another, one fetcher each: an upper bound today"


def _replicated(load: Load) -> float:
    """Milliseconds that a follower may lag behind one other broker."""
    if load.brokers == 1:
        return 0.0
    followed = load.partitions * (load.replication_factor - 1) / (load.brokers * (load.brokers - 1))
    return followed * _LATENCY_MS / load.fleet.replica_fetchers


def _of_clients(load: Load) -> Iterator[CostEstimate]:
    read = min(-(-load.partitions // load.clients.consumers) * _FETCH_PARTITION, load.brokers * _FETCH_BROKER)
    yield CostEstimate(
        "memory of a producer",
        load.clients.batch_size,
        load.partitions * load.clients.batch_size,
        "B",
        "RecordAccumulator of kafka-clients 4.4.0",
        "batch.size for each partition with an open batch: one where records have no key, all where keys are many",
    )
    yield CostEstimate(
        "fetched by a consumer",
        0,
        read,
        "B",
        "ConsumerConfig of kafka-clients 4.4.0",
        "max.partition.fetch.bytes 1 MiB, and fetch.max.bytes 50 MiB from each broker; larger records exceed it",
    )
    clients = load.clients.producers + load.clients.consumers * load.clients.groups
    reached = min(load.partitions, load.brokers)
    yield CostEstimate(
        "sockets of clients",
        -(-clients * reached // load.brokers),
        clients + load.clients.consumers * load.clients.groups,
        "",
        f"NetworkClient of kafka-clients 4.4.0; {MEASURED}",
        "on one broker: one connection per client, however many partitions; one more on a group's coordinator",
    )
    yield CostEstimate(
        "consumer threads",
        min(load.threads[0], load.partitions),
        load.partitions,
        "",
        RAO_2015,
        "in a group: at least as many as the target needs, at most one per partition; others would be idle",
    )


def warnings(load: Load, estimates: tuple[CostEstimate, ...]) -> Iterator[str]:
    """A sentence for each figure beyond a limit that Kafka or its authors name.

    Examples:
        >>> load = Load(12, 3, 3, 4, 12, (1, 10), (2, 10), TopicClients(consumers=6), BrokerFleet(), (0.1, 10))
        >>> list(warnings(load, tuple(figures(load))))
        []
    """
    high = {each.name: each.high for each in estimates}
    if load.partitions > _MOST_AT_ONCE:
        yield f"Kafka's controller makes at most {_MOST_AT_ONCE:,} partitions in one request: add the others later"
    if load.busiest_replicas > _MOST_REPLICAS:
        yield (
            f"{counted(load.busiest_replicas, 'replica')} on a broker are more than {_MOST_REPLICAS:,}, the rule of "
            f"thumb with ZooKeeper ({RAO_2018}); KRaft takes more, try it"
        )
    platform = load.platform
    if platform and platform.most_replicas and load.busiest_replicas > platform.most_replicas:
        larger = next(sizes_for(load.busiest_replicas, platform.name), None)
        yield (
            f"{counted(load.busiest_replicas, 'replica')} on a broker are more than the {platform.most_replicas:,} "
            f"that AWS recommends for {platform.name} ({platform.source}): "
            f"{'take more brokers' if larger is None else f'take kafka.{larger}, or more brokers'}"
        )
    if load.replication_factor > 1 and load.partitions > 100 * load.brokers * load.replication_factor:
        yield (
            f"for latency, Jun Rao's rule is at most 100 x brokers x replicas partitions, here "
            f"{100 * load.brokers * load.replication_factor:,}"
        )
    if high["open files"] > _FILES_LIMIT:
        yield f"up to {high['open files']:,.0f} open files: allow a broker more than the usual {_FILES_LIMIT:,}"
    if high["memory map areas"] > _MAPS_LIMIT:
        yield (
            f"up to {high['memory map areas']:,.0f} memory map areas: raise vm.max_map_count, {_MAPS_LIMIT:,} by "
            "default, or brokers end with 'Map failed'"
        )
    if high["memory of a producer"] > load.clients.buffer_memory:
        yield (
            f"open batches of all partitions take {high['memory of a producer']:,.0f} bytes, and buffer.memory is "
            f"{load.clients.buffer_memory:,}: a producer with many keys waits, or has smaller batches"
        )


def platform_of(name: object) -> Platform:
    """A platform by its name: `msk:` and an instance size, such as `msk:m7g.large`, or `redpanda`.

    Raises:
        PartwrightError: No platform has this name.

    Examples:
        >>> platform_of("msk:m7g.large").most_replicas, platform_of("redpanda").bytes_a_replica
        (1000, 2000000)
        >>> platform_of("msk:m5.huge")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: platform is redpanda or msk:SIZE with one of t3.small, m5.large, m5.xlarge, m5.2xlarge, m7g.large, m7g.xlarge, m7g.2xlarge, m5.4xlarge, m5.8xlarge, m5.12xlarge, m5.16xlarge, m5.24xlarge, m7g.4xlarge, m7g.8xlarge, m7g.12xlarge, m7g.16xlarge, not 'msk:m5.huge'
    """  # noqa: E501 - an example is one line
    if name == "redpanda":
        return Platform("Redpanda", REDPANDA, bytes_a_replica=2 * _MEGABYTE)
    found = _MSK_NAME.fullmatch(name) if isinstance(name, str) else None
    most = None if found is None else _MOST.get(found[1])
    if found is None or most is None:
        raise refused(
            name, "platform", f"is redpanda or msk:SIZE with one of {', '.join(_MOST)}, not {shown(name)}"
        )
    return Platform(f"kafka.{found[1]}", MSK, most)


def sizes_for(replicas: int, like: str) -> Iterator[str]:
    """The sizes of the same family that take this many replicas.

    Examples:
        >>> next(sizes_for(1500, "kafka.m7g.large"))
        'm7g.2xlarge'
    """
    family = like.removeprefix("kafka.").partition(".")[0]
    for name, most in _MOST.items():
        if most >= replicas and name.startswith(f"{'m7g' if family == 't3' else family}."):
            yield name
