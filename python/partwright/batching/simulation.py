"""Simulations over tables of records: what a strategy and settings do to batches, requests and delays.

>>> from partwright import Cluster
>>> records = {"time": [0] * 9, "size": [100] * 9}
>>> simulate(records, Cluster.of({"orders": 3}), "round-robin").batches.column("records").to_pylist()
[3, 3, 3]
>>> simulate(records, Cluster.of({"orders": 3}), "sticky").batches.column("records").to_pylist()
[9]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from partwright import _core
from partwright._check import (
    LEAST_LONG,
    MOST_LONG,
    Json,
    counted,
    listed,
    object_fields,
    optional,
    options,
    shown,
    spelled,
)
from partwright.answer import Answer, Question
from partwright.batching.scenario import CoreBroker, broker_of, core_scenario
from partwright.cluster import Cluster
from partwright.cluster.latency import Latency, latency_of, median
from partwright.errors import PartwrightError
from partwright.keys.hashing import partition_for_key
from partwright.producer.configs import ProducerConfig, read_configs, settings_of
from partwright.producer.records import ProducerRecords, RecordChunk, Workload

SUMMARY = pa.schema(
    [
        ("name", pa.string()),
        ("strategy", pa.string()),
        ("records", pa.int64()),
        ("batches", pa.int64()),
        ("requests", pa.int64()),
        ("unsent", pa.int64()),
        ("mean_fill", pa.float64()),
        ("p50_waited_ms", pa.int64()),
        ("p99_waited_ms", pa.int64()),
        ("p50_delay_ms", pa.int64()),
        ("p99_delay_ms", pa.int64()),
        ("largest_share", pa.float64()),
        ("slow_share", pa.float64()),
        ("partitions", pa.list_(pa.struct([("partition", pa.int32()), ("bytes", pa.int64())]))),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Simulation(Answer):
    """The result of a simulation. Times are in milliseconds, as the records' are.

    Attributes:
        records: A row for each record, in their order: `partition` (int32), `batch` (int64) and `waited_ms` (int64),
            from its time to when its batch was first sent; null if it never was.
        batches: A row for each batch, in order of creation: `batch` (int64), `partition` (int32), `first_record`
            (int64), `records` (int32), `bytes` (int64; its size in a request), `fill` (float64; its share of
            `batch.size`), `opened_ms`, `closed_ms` (int64), `why` (full, no-room, linger, flush or node), `requests`
            and `sent_ms` (lists of int64; each try), `acked_ms` (int64) and `tries` (int32). Whatever did not happen is
            null.
        requests: A row for each request: `request` (int64), `broker` (int32), `sent_ms`, `done_ms` (int64), `ok`
            (bool), `bytes` (int64) and `batches` (list of int64).
        switches: A row for each time that the strategy left its sticky partition: `record` and `at_ms`
            (int64), `from` and `to` (int32), which may be the same since Kafka 3.3.
        summary: One row, as `compare` has one for each strategy.
    """

    records: pa.Table
    batches: pa.Table
    requests: pa.Table
    switches: pa.Table
    summary: pa.Table

    DOCUMENT = "batch"

    def to_dict(self) -> Json:
        """As in `partwright batch --json`."""
        return {"strategies": self.summary.to_pylist()}

    def to_arrow(self) -> pa.Table:
        """A row for each batch."""
        return self.batches


@dataclass(frozen=True, slots=True, eq=False)
class Strategies(Answer):
    """Several strategies side by side.

    Attributes:
        summary: A row for each, as `compare` gives them.
        simulation: The first one's, with each batch; None if only the sums are known.
    """

    summary: pa.Table
    simulation: Simulation | None = None

    DOCUMENT = "batch"

    def to_dict(self) -> Json:
        """As in `partwright batch --json`."""
        return {"strategies": self.summary.to_pylist()}

    def to_arrow(self) -> pa.Table:
        """A row for each strategy."""
        return self.summary


@dataclass(frozen=True, slots=True)
class Delivery:
    """How the batches of one topic are sent and answered.

    Attributes:
        topic: The records' topic; None is the only one of the cluster.
        latency_ms: How long a broker takes to answer a request: a number, or a distribution from which each request
            draws by the producer's seed and the broker's ID. `{"from": 1, "to": 9}`: each whole number equally likely,
            both ends included; `{"p50": 2, "p99": 40}`: log-normal, rounded; `{"among": [1, 1, 2, 50]}`: one of these,
            such as your own measurements. A broker still answers its requests in order.
        brokers: By ID, a broker's own values: `latency_ms`, and `away`, a list of spans `[from, to)` in which the
            broker accepts no request.
        sender: each-instant, or each-append: whether the sender runs after all records of a millisecond, or also after
            each append that filled or opened a batch.
        flush_ms: When `flush()` begins, after all records were sent.
        failed_requests: The requests, counted from 0, that fail and whose batches are sent again.
    """

    topic: str | None = None
    latency_ms: Latency = 1
    brokers: Mapping[int, Mapping[str, object]] | None = None
    sender: str = "each-instant"
    flush_ms: int | None = None
    failed_requests: Sequence[int] = ()


def simulate(
    records: object,
    cluster: Cluster | Mapping[str, int],
    producer: str | ProducerConfig = "sticky",
    *,
    workload: Workload | None = None,
    delivery: Delivery | None = None,
    draws: Sequence[int] | None = None,
) -> Simulation:
    """Simulate a producer: which batches records go into, and when these are sent and acknowledged.

    Args:
        records: A table: pyarrow's, anything else with Arrow's PyCapsule interface, or a dict of columns. Times must
            not run backwards.
        cluster: The topic's partitions in the order of the metadata, and their leaders. A mapping of a
            topic to its number of partitions is a cluster of one broker.
        producer: How the producer is set up, or its strategy alone: sticky@4.4 (`sticky`), sticky@3.3, round-robin or
            random of Kafka 4, round-robin@3.9.2; with the accumulator of Kafka 2.8.2 sticky@2.4, uniform-sticky@2.4 and
            round-robin@2.8.
        workload: Which columns are the records' parts; by default those with the parts' own names.
        delivery: How the brokers answer.
        draws: The strategy's draws themselves, instead of those of the producer's seed.

    Returns:
        Tables of the records, batches, requests and switches, and a summary.

    Raises:
        PartwrightError: With the row, a time that runs backwards, a record over `max.request.size`, a partition that
            does not exist; a config that Kafka refuses; a column that is missing or of another type.

    Examples:
        >>> records = {"time": [0, 1, 9], "size": [100] * 3}
        >>> found = simulate(records, {"orders": 2}, ProducerConfig("round-robin@2.8", {"linger.ms": 3}))
        >>> found.records.to_pydict()
        {'partition': [1, 1, 1], 'batch': [0, 0, 1], 'waited_ms': [3, 2, 3]}
        >>> found.summary.select(["batches", "requests", "p99_delay_ms"]).to_pylist()
        [{'batches': 2, 'requests': 2, 'p99_delay_ms': 4}]
    """
    delivery = options(delivery, Delivery, "delivery")
    cluster, topic = one_topic(cluster, delivery.topic)
    run = _Running(None, producer, _scenario(cluster, topic, delivery, draws), rows=True)
    _feed(records, workload, cluster, topic, [run])
    summary, tables = run.summary(), run.tables()
    simulation = Simulation(**tables, summary=pa.Table.from_pylist([summary], SUMMARY))
    return simulation.with_question(
        Question((run.producer, options(workload, Workload, "workload"), delivery))
    )


def compare(
    records: object,
    cluster: Cluster | Mapping[str, int],
    strategies: Sequence[str | ProducerConfig] | Mapping[str, str | ProducerConfig],
    *,
    workload: Workload | None = None,
    delivery: Delivery | None = None,
) -> Strategies:
    """Simulate the same records under several strategies and settings, in one pass over them.

    Memory does not grow with the records, except for batches that wait for a broker that is away or too slow.

    Args:
        records: As for `simulate`, and so are all others.
        cluster: The topic's partitions.
        strategies: Names of strategies, or whole producers; as a mapping, by a name of your own.
        workload: Which columns are the records' parts.
        delivery: How the brokers answer.

    Returns:
        The answer. Its `to_arrow()` has a row for each: `name`, `strategy`, `records`, `batches`, `requests`, `unsent`
        (records whose batches wait at the end), `mean_fill` (a batch's bytes divided by `batch.size`),
        `p50_waited_ms` and `p99_waited_ms` (until a record's batch is first sent), `p50_delay_ms` and `p99_delay_ms`
        (until it is acknowledged; half of the records, or 99 % of them, have at most this delay), `largest_share` (the
        share of the bytes that is in the largest partition), `slow_share` (the share of the bytes that the slowest
        broker acknowledged, which is the one with the longest latency, or median latency; null if all are equally
        fast) and `partitions` (the bytes of each).

    Raises:
        PartwrightError: As for `simulate`.

    Examples:
        >>> records = {"time": [0] * 9, "size": [100] * 9}
        >>> found = compare(records, {"orders": 3}, ["round-robin", "sticky"])
        >>> found.to_arrow().select(["name", "batches"]).to_pylist()
        [{'name': 'round-robin', 'batches': 3}, {'name': 'sticky', 'batches': 1}]
    """
    delivery = options(delivery, Delivery, "delivery")
    cluster, topic = one_topic(cluster, delivery.topic)
    producers = (
        strategies.items()
        if isinstance(strategies, Mapping)
        else [(None, each) for each in listed(strategies, "strategies")]
    )
    scenario = _scenario(cluster, topic, delivery, None)
    runs = [_Running(name, each, scenario, rows=False) for name, each in producers]
    _feed(records, workload, cluster, topic, runs)
    return Strategies(pa.Table.from_pylist([run.summary() for run in runs], SUMMARY))


def one_topic(cluster: Cluster | Mapping[str, int], topic: str | None) -> tuple[Cluster, str]:
    """The cluster, and the topic of the simulation."""
    cluster = cluster if isinstance(cluster, Cluster) else Cluster.of(cluster)
    if topic is None and len(cluster.topics) != 1:
        raise PartwrightError(
            f"the cluster has {counted(len(cluster.topics), 'topic')}, and a simulation is for one: say which, "
            f"with topic="
        )
    topic = next(iter(cluster.topics)) if topic is None else topic
    cluster.partitions(topic)
    return cluster, topic


def _arrays(batch: RecordChunk, producer: ProducerConfig, cluster: Cluster) -> pa.StructArray:
    """A batch of records in the form that the core takes."""
    times, sizes, keys = batch.times(), batch.value_sizes(), batch.keys()
    if times is None:
        raise PartwrightError(
            f"a simulation needs the records' times: name their column with {spelled('time')}"
        )
    if sizes is None:
        raise PartwrightError("a simulation counts bytes: give the records' values (value=) or sizes (size=)")

    def placed(keys: pa.Array, partitions: int) -> pa.Array:
        return partition_for_key(keys, partitions, producer.client, producer.key_type)

    columns = {
        "time": times,
        "partition": batch.partitions(),
        "keyed": None if keys is None else batch.by_topic(keys, placed, cluster),
        "key_size": batch.key_sizes(producer.key_type),
        "value_size": sizes,
        "headers": batch.header_sizes(),
    }
    used = {name: column for name, column in columns.items() if column is not None}
    return pa.StructArray.from_arrays(list(used.values()), list(used))


class _Running:
    """A running simulation."""

    def __init__(self, name: object, producer: object, scenario: Json, *, rows: bool) -> None:
        self.producer = producer = ProducerConfig.of(producer)
        strategy, configs = producer.partitioner, producer.configs
        if not isinstance(strategy, str):
            raise PartwrightError(f"a strategy is named by text, not {shown(strategy)}")
        _core.check(1, producer.client, producer.key_type)
        self._name = strategy if name is None else str(name)
        self._strategy = _core.strategy_name(strategy)
        settings = read_configs(configs)
        compression = (configs or {}).get("compression.type", "none")
        if compression != "none":
            raise PartwrightError(
                f"a simulation has no compression, and compression.type is {shown(compression)}: leave it out, or "
                "say none"
            )
        self._batch_size = max(1, settings.batch_size)
        self._slowest = _slowest(scenario["brokers"])
        scenario = {**scenario, "seed": optional(producer.seed, "the seed", LEAST_LONG, MOST_LONG) or 0}
        self._core = _core.Batching(self._strategy, settings_of(settings, self._strategy), scenario, rows)
        self.append = self._core.append

    def summary(self) -> Json:
        totals = self._core.finish()
        by_partition, by_broker = dict(totals["partitions"]), dict(totals["brokers"])
        total, acked, batches = sum(by_partition.values()), sum(by_broker.values()), totals["batches"]
        waited, delay = totals["waited_ms"], totals["delay_ms"]
        slow = None if self._slowest is None else by_broker.get(self._slowest, 0)
        return {
            "name": self._name,
            "strategy": self._strategy,
            **{name: totals[name] for name in ("records", "batches", "requests", "unsent")},
            "mean_fill": total / batches / self._batch_size if batches else None,
            "p50_waited_ms": waited[0],
            "p99_waited_ms": waited[1],
            "p50_delay_ms": delay[0],
            "p99_delay_ms": delay[1],
            "largest_share": max(by_partition.values()) / total if total else None,
            "slow_share": slow / acked if slow is not None and acked else None,
            "partitions": [{"partition": each, "bytes": size} for each, size in by_partition.items()],
        }

    def tables(self) -> dict[str, pa.Table]:
        arrays = self._core.tables().items()
        return {name: pa.Table.from_struct_array(array) for name, array in arrays}


def _slowest(brokers: Sequence[CoreBroker]) -> int | None:
    """The broker with the longest median latency; the first of several, and None if all are equally fast."""
    latencies = {broker: median(latency) for broker, _, latency, _ in brokers}
    if len(set(latencies.values())) <= 1:
        return None
    return max(latencies, key=lambda broker: latencies[broker])


def _feed(
    records: object, workload: Workload | None, cluster: Cluster, topic: str, runs: Sequence[_Running]
) -> None:
    key_type = runs[0].producer.key_type if runs else None
    table = ProducerRecords(records, topic, workload, cluster, {topic: 0}, key_type)
    row = 0
    for batch in table.batches():
        # Producers that place keys alike share the arrays.
        arrays: dict[tuple[str, str | None], pa.StructArray] = {}
        try:
            for run in runs:
                rule = (run.producer.client, run.producer.key_type)
                if rule not in arrays:
                    arrays[rule] = _arrays(batch, run.producer, cluster)
                run.append(arrays[rule])
        except PartwrightError as error:
            raise error.moved(row.__add__) from None
        row += len(batch)


def _scenario(cluster: Cluster, topic: str, delivery: Delivery, draws: Sequence[int] | None) -> Json:
    others = {} if delivery.brokers is None else delivery.brokers
    if not isinstance(others, Mapping):
        raise PartwrightError(f"brokers are objects by broker id, not {shown(others)}")
    known = {broker.id: broker.rack for broker in cluster.brokers}
    for broker in others:
        if broker not in known:
            raise PartwrightError(
                f"there is no broker {shown(broker)} in the cluster: there are {sorted(known)}"
            )
    latency = latency_of(delivery.latency_ms, "latency_ms")
    brokers = []
    for broker, rack in known.items():
        own = object_fields(others.get(broker, {}), f"broker {broker}", ("latency_ms", "away"), needs=None)
        brokers.append(broker_of(broker, rack, own.get("latency_ms", latency), own.get("away")))
    partitions = [(each.id, each.leader) for each in cluster.partitions(topic)]
    sending = {name: getattr(delivery, name) for name in ("sender", "flush_ms", "failed_requests")}
    return core_scenario(sending, brokers, partitions, draws)
