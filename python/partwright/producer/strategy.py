"""One of Kafka's strategies: which columns it needs, where it puts a table's records, and where a leader should be.

>>> strategies().column("strategy").to_pylist()[2:5]
['round-robin', 'round-robin@3.9.2', 'round-robin@2.8']
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from partwright import _core
from partwright._check import bits, listed, shown
from partwright.errors import KeyTypeError, PartwrightError
from partwright.keys.hashing import encode
from partwright.producer.records import network

if TYPE_CHECKING:
    from partwright.cluster import Cluster
    from partwright.cluster.brokers import Broker
    from partwright.producer.configs import Configs
    from partwright.producer.records import RecordChunk


def strategies() -> pa.Table:
    """The strategies, one row each.

    Returns:
        A table of `strategy` (its name), `source` (the Kafka classes that it is exact for), `takes_keyed` (whether it
        stands for a configured `partitioner.class`, which also chooses for records with keys) and `counts_bytes`
        (whether it needs the records' sizes).

    Examples:
        >>> strategies().column("strategy").to_pylist()[2:5]
        ['round-robin', 'round-robin@3.9.2', 'round-robin@2.8']
    """
    names = ("strategy", "source", "takes_keyed", "counts_bytes")
    return pa.table(
        {
            name: list(column)
            for name, column in zip(names, zip(*_core.strategies(), strict=True), strict=True)
        }
    )


class Strategy:
    """One of Kafka's strategies with its configuration.

    Args:
        name: Its name, one of `strategies()`.
        configs: The producer's.
        key_type: How a key becomes key bytes.

    Attributes:
        counts_bytes: Whether it needs the records' sizes.
    """

    def __init__(self, name: str, configs: Configs, key_type: str | None) -> None:
        self.name, self._configs, self._key_type = name, configs, key_type
        _, _, self._is_configured, self.counts_bytes = next(
            row for row in _core.strategies() if row[0] == name
        )

    @property
    def is_built_in(self) -> bool:
        """Whether this strategy is `BuiltInPartitioner`, Kafka's default since 3.3."""
        return self.name in {"sticky@3.3", "sticky@4.4"}

    @property
    def is_told(self) -> bool:
        """Whether the choice depends on new batches."""
        return self.counts_bytes and not self.is_built_in

    @property
    def takes_keyed(self) -> bool:
        """Whether the strategy also chooses for records with keys."""
        return self._is_configured or (self.is_built_in and self._configs.ignore_keys)

    @property
    def keeps_state(self) -> bool:
        """Whether a record's partition may depend on the records before it."""
        is_stateless = self.name == "key" or (
            self.name in {"explicit", "field"} and self._configs.otherwise == "error"
        )
        return not is_stateless

    def key_bytes(self, key: Any) -> bytes | None:
        """One record's key, or its field under the strategy `field`, as bytes."""
        if key is None:
            return None
        if self.name == "field" and self._configs.field_type == "address":
            return network(key, self._configs)
        data = encode(key, self._key_type)
        if data is not None and not isinstance(data, bytes):
            raise KeyTypeError(
                f"a record has one key, not a {type(key).__name__}: place takes a table of records"
            )
        return data

    def place(self, core: _core.Producer, records: RecordChunk, cluster: Cluster) -> pa.Array:
        """The partitions of some records, each put into its batch.

        Args:
            core: The strategy's state.
            records: The records.
            cluster: The metadata.
        """
        columns = {
            "topic": records.topics,
            "partition": records.partitions(),
            "keyed": self._keyed(core, records, cluster),
            **self._sizes(records),
            "time": records.times(),
        }
        present_columns = {name: column for name, column in columns.items() if column is not None}
        # A struct of no columns would have no rows.
        present_columns.setdefault("time", pa.nulls(len(records), pa.int64()))
        return core.place(pa.StructArray.from_arrays(list(present_columns.values()), list(present_columns)))

    def _keyed(self, core: _core.Producer, records: RecordChunk, cluster: Cluster) -> pa.Array | None:
        """The partition of each key, or field, by the number of its topic's partitions."""
        is_field = self.name == "field"
        if (
            self._is_configured
            and not is_field
            and not (self.name == "leader" and self._configs.leader_among == "key")
        ):
            return None
        if self.is_built_in and self._configs.ignore_keys:
            return None
        keys = records.field(self._configs) if is_field else records.keys()
        if keys is None:
            if is_field:
                raise PartwrightError(
                    "the strategy field goes by a column of the records: name it with field="
                )
            return None
        key_type = "bytes" if is_field and self._configs.field_type == "address" else self._key_type
        return records.by_topic(keys, lambda some, n: core.partition_for_key(some, n, key_type), cluster)

    def _sizes(self, records: RecordChunk) -> dict[str, pa.Array | None]:
        if not self.counts_bytes:
            return {}
        values = records.value_sizes()
        if values is None and self.name == "round-robin@3.9.2" and records.partitions() is None:
            # A new batch changes nothing if no record names its partition.
            return {}
        if values is None:
            raise PartwrightError(
                f"the strategy {self.name} counts bytes: give the records' values (value=) or their sizes (size=)"
            )
        sizes = {"key_size": records.key_sizes(self._key_type), "value_size": values}
        return {**sizes, "headers": records.header_sizes()}


INT = range(-(2**31), 2**31)
LONG = range(-(2**63), 2**63)


class Sticky:
    """The calls of a `RecordAccumulator` to `StickyPartitionCache` (2.4 to 3.2) and `BuiltInPartitioner` (since).

    `Producer.sticky` returns it. You do not need it to place records; it is for tests that follow Kafka's own, call by
    call, and for tools that know a producer's queues.

    Args:
        core: The strategy's state.
        place_of: A topic's place among the core's topics; it refuses an unknown topic and a closed producer.
        client_rack: The producer's `client.rack`.

    Examples:
        >>> from partwright import Producer, ProducerConfig
        >>> producer = Producer({"orders": 4}, ProducerConfig("sticky", {"batch.size": 100}, seed=7))
        >>> [producer.sticky.append("orders", 60) for _ in range(4)]
        [0, 0, 2, 2]
    """

    def __init__(self, core: _core.Producer, place_of: Callable[[str], int], client_rack: str | None) -> None:
        self._core, self._place_of, self._client_rack = core, place_of, client_rack

    def next_partition(self, topic: str, previous: int = -1) -> int:
        """The next sticky partition.

        Up to 3.2 (`StickyPartitionCache.nextPartition`) the sticky partition stays if it is no longer `previous`; since
        3.3 (`BuiltInPartitioner.nextPartition`) this is a draw that is not kept.

        Raises:
            PartwrightError: As for `Producer.partition`; the strategy is not sticky.
        """
        return self._core.next_partition(self._place_of(topic), bits(previous, "a partition", INT))

    def append(self, topic: str, produced: int, *, enable_switch: bool = True) -> int:
        """Count bytes that go to the sticky partition (`BuiltInPartitioner.updatePartitionInfo`).

        Args:
            topic: The topic.
            produced: How many bytes.
            enable_switch: Whether another partition may be sticky after `batch.size`; after twice as much
                it is anyway.

        Returns:
            The partition that they went to.

        Raises:
            PartwrightError: As for `Producer.partition`; the strategy is not `sticky` of 3.3 or later.
        """
        place = self._place_of(topic)
        if not isinstance(enable_switch, bool):
            raise PartwrightError(f"enable_switch is true or false, not {shown(enable_switch)}")
        return self._core.append(place, bits(produced, "bytes", INT), enable_switch)

    def load_stats(
        self,
        topic: str,
        queue_sizes: Sequence[int] | None,
        partition_ids: Sequence[int] = (),
        *,
        leader_racks: Sequence[str | None] | None = None,
        length: int | None = None,
    ) -> None:
        """How many batches wait for each partition (`BuiltInPartitioner.updatePartitionLoadStats`).

        The next draws depend on them: the longer its queue, the less often a partition is drawn.

        Args:
            topic: The topic.
            queue_sizes: A number for each partition with a leader; with None, all are equally likely.
            partition_ids: These partitions.
            leader_racks: The racks of their leaders, for a rack-aware producer.
            length: How many of them count; all by default.

        Raises:
            PartwrightError: As for `append`; Kafka's own throws.
        """
        place = self._place_of(topic)
        queues = None if queue_sizes is None else listed(queue_sizes, "queue_sizes")
        sizes = None if queues is None else [bits(size, "a queue's size", INT) for size in queues]
        racks = None if leader_racks is None else listed(leader_racks, "leader_racks")
        near = None if racks is None else [rack == self._client_rack for rack in racks]
        ids = [bits(each, "a partition", INT) for each in listed(partition_ids, "partition_ids")]
        counted = len(sizes or ()) if length is None else bits(length, "the length", INT)
        self._core.load_stats(place, sizes, ids, near, counted)


def is_near(broker: Broker, configs: Configs, strategy: str) -> bool:
    """Whether a broker is where a producer wants to write.

    Args:
        broker: The leader of a partition.
        configs: `leader.host`, `leader.rack` and `leader.region`; if several are given, all must match. For every other
            strategy than `leader`, `client.rack` (`Node.rack`, KIP-1123).
        strategy: The strategy.

    Raises:
        PartwrightError: The strategy `leader` without one of these, or an invalid network.

    Examples:
        >>> from partwright.cluster import Broker
        >>> from partwright.producer.configs import read_configs
        >>> is_near(Broker(0, host="10.1.2.3"), read_configs({"leader.host": "10.1.0.0/16"}), "leader")
        True
        >>> is_near(Broker(0, rack="eu-west-1a"), read_configs({"leader.rack": "eu-*"}), "leader")
        True
    """
    if strategy != "leader":
        return broker.rack is not None and broker.rack == configs.client_rack
    possible_rules = [
        (configs.leader_host, broker.host, _host_is),
        (configs.leader_rack, broker.rack, _text_is),
        (configs.leader_region, broker.region, _text_is),
    ]
    rules = [(want, actual, holds) for want, actual, holds in possible_rules if want is not None]
    if not rules:
        raise PartwrightError(
            "the strategy leader goes by where a leader is: set leader.host, leader.rack or leader.region"
        )
    return all(_holds(want, actual, holds) for want, actual, holds in rules)


def _holds(pattern: str, actual: str | None, holds: Callable[[str, str], bool]) -> bool:
    # The network is read even if no broker has a host.
    return holds(pattern, actual or "") and actual is not None


def _text_is(pattern: str, text: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def _host_is(pattern: str, host: str) -> bool:
    if "/" not in pattern:
        return _text_is(pattern, host)
    try:
        network = ipaddress.ip_network(pattern, strict=False)
    except ValueError:
        raise PartwrightError(f"leader.host {pattern!r} is not a network: write it as 10.1.0.0/16") from None
    try:
        return ipaddress.ip_address(host) in network
    except ValueError:
        return False
