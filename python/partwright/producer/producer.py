"""A producer's choice of partitions: every strategy of Kafka's clients, for one record or a table of them.

>>> producer = Producer(Cluster.of({"orders": 4}), ProducerConfig("sticky", seed=7))
>>> producer.partition("orders"), producer.partition("orders", "TT0124")
(0, 2)
>>> producer.place({"key": [None, "TT0124", None], "size": [100, 100, 100]}, topic="orders").to_pylist()
[0, 2, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa

from partwright import _core
from partwright._check import bits, listed, shown
from partwright.cluster import Cluster
from partwright.errors import PartwrightError
from partwright.producer.configs import Configs, ProducerConfig, linger, read_configs
from partwright.producer.custom import OwnPartitioner, is_path
from partwright.producer.records import ProducerRecords, ProducerRow, Workload
from partwright.producer.strategy import INT, LONG, Sticky, Strategy, is_near
from partwright.user_code import called

if TYPE_CHECKING:
    from partwright.cluster import Broker


class Producer:
    """A strategy for the topics of a cluster, with the state that it keeps between records.

    The state depends on the records that were placed, in their order, and on the draws: the same
    seed, records and cluster give the same partitions. Draws are those of Java's `new
    SplittableRandom(seed).nextInt()`.

    The order of preference is Kafka's: the record's own partition; a strategy that stands for a configured
    `partitioner.class` (round-robin, random, uniform-sticky, leader, field); the key; last the strategy, sticky or
    old-null-key.

    Strategies that count bytes (`strategies()` lists them) see batches as Kafka's `RecordAccumulator` makes them: a
    batch closes when it is full or a record does not fit, or, if records have times, when `linger.ms` has passed since
    it was opened. There is no compression and no slow broker; headers count in `place`.

    Args:
        cluster: The topics, their partitions in the order of the metadata, and their leaders;
            `Cluster.in_metadata_order` gives Java's order. A mapping of topics to numbers of partitions is a
            cluster, too.
        config: How the producer is set up, a `ProducerConfig`, or its strategy alone.
        draws: The draws themselves, instead of a seed: raw values of Java's `nextInt()`, taken in order.
        counters: By topic, where round robin begins; Kafka's own start since 2.4 is 0.
        lingers: Whether a batch also leaves when `linger.ms` has passed, if records have times; if not, it leaves only
            when it is full.
        leader: For the strategy `leader`: a function that tells whether a broker is where a partition's leader should
            be, instead of the configs `leader.host`, `leader.rack` and `leader.region`.

    Raises:
        PartwrightError: An unknown strategy or client, a config that Kafka refuses, a seed, draw or counter
            out of range.

    Examples:
        >>> producer = Producer({"orders": 3}, "round-robin")
        >>> [producer.partition("orders") for _ in range(4)]
        [0, 1, 2, 0]
        >>> Producer({"orders": 3}, ProducerConfig(configs={"batch.size": "16k"}))
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: batch.size is a whole number from 0 to 2147483647, not '16k'
    """

    def __init__(
        self,
        cluster: Cluster | Mapping[str, int],
        config: object = None,
        *,
        draws: Sequence[int] | None = None,
        counters: Mapping[str, int] | None = None,
        lingers: bool = True,
        leader: Callable[[Broker], bool] | None = None,
    ) -> None:
        config = ProducerConfig.of(config)
        self.client, self.key_type = config.client, _core.check(1, config.client, config.key_type)
        self.cluster = _cluster(cluster)
        self.configs, named = read_configs(config.configs), config.partitioner
        self._own = OwnPartitioner.of(named) if not isinstance(named, str) or is_path(named) else None
        # With your own partitioner, the core gets records that name their partitions.
        known = "explicit" if self._own is not None else _core.strategy_name(named)
        self.strategy = known if self._own is None else self._own.name
        if leader is not None and (known != "leader" or not callable(leader)):
            raise PartwrightError(
                f"leader= says which brokers the strategy leader wants: {shown(leader)} does not for {self.strategy}"
            )
        self._leader = leader
        self._is_closed = False
        self._kafka = Strategy(known, self.configs, self.key_type)
        self._places = {name: place for place, name in enumerate(self.cluster.topics)}
        topics = [(name, self._partitions(name)) for name in self._places]
        taken = None if draws is None else [bits(draw, "a draw", INT) for draw in listed(draws, "draws")]
        if counters is not None and not isinstance(counters, Mapping):
            raise PartwrightError(f"counters are numbers by topic, not {shown(counters)}")
        self._core = _core.Producer(
            known,
            self.client,
            _settings(self.configs, linger(self.configs, self.strategy) if lingers else None),
            topics,
            taken,
            bits(config.seed, "the seed", LONG),
        )
        for name, counter in (counters or {}).items():
            self._core.set_counter(self._place_of(name), bits(counter, "a counter", INT))
        if self._own is not None:
            self._own.configure(config.configs or {})

    @property
    def counts_bytes(self) -> bool:
        """Whether the choice depends on the records' bytes, so that `place` needs their values or sizes."""
        return self._kafka.counts_bytes if self._own is None else self._own.is_told

    @property
    def is_told(self) -> bool:
        """Whether the choice depends on new batches (`Partitioner.onNewBatch`, Kafka 2.4 to 3.9)."""
        return self._kafka.is_told if self._own is None else self._own.is_told

    @property
    def takes_values(self) -> bool:
        """Whether the choice may depend on the values themselves, as with your own partitioner."""
        return self._own is not None

    @property
    def takes_keyed(self) -> bool:
        """Whether the strategy also chooses for records with keys, so that equal keys may be in several partitions."""
        return self._own is not None or self._kafka.takes_keyed

    @property
    def keeps_state(self) -> bool:
        """Whether a record's partition may depend on the records before it."""
        return self._own is not None or self._kafka.keeps_state

    @property
    def sticky(self) -> Sticky:
        """The sticky partition of each topic, through the calls that Kafka makes inside a producer."""
        return Sticky(self._core, self._open_place_of, self.configs.client_rack)

    @property
    def drawn(self) -> int:
        """How many draws have been taken."""
        return self._core.drawn()

    def partition(
        self,
        topic: str,
        key: object = None,
        value: str | bytes | None = None,
        *,
        time: int = 0,
    ) -> int | None:
        """The strategy's choice for a record, which is not added to a batch (`Partitioner.partition`).

        Args:
            topic: The record's topic.
            key: Its key, as `partition_for_key` takes one; under the strategy `field` the record's field.
            value: Its value, text or bytes, for your own partitioner.
            time: When it is sent, in milliseconds: `old-null-key` draws anew when the metadata is refreshed.

        Returns:
            The partition; None for a record without a key under the strategy `key`.

        Raises:
            PartwrightError: The topic does not exist, Kafka's own partitioner throws, or the draws are used up.
        """
        self._refuse_closed()
        data = self._kafka.key_bytes(key)
        if self._own is not None:
            return self._own.partition(topic, key, data, value, _value_bytes(value), self.cluster)
        return self._core.partition(self._place_of(topic), data, bits(time, "a time", LONG))

    def place_record(
        self,
        topic: str,
        key: object = None,
        value: str | bytes | None = None,
        *,
        partition: int | None = None,
        time: int = 0,
    ) -> int | None:
        """Place one record and put it into its batch, as `place` does for a table with one row.

        Args:
            topic: The record's topic.
            key: Its key, as for `partition`.
            value: Its value, text or bytes; only its size counts.
            partition: The partition that it names itself.
            time: When it is sent, in milliseconds; if all records have the same time, nothing lingers.

        Returns:
            The partition; None for a record without a key under the strategy `key`.

        Raises:
            PartwrightError: As for `partition`; the record names no partition of its topic.

        Examples:
            >>> producer = Producer({"orders": 3}, ProducerConfig("round-robin@2.8", {"batch.size": 200}))
            >>> [producer.place_record("orders", value=b"x" * 100) for _ in range(6)]
            [1, 0, 2, 1, 0, 2]
        """
        self._refuse_closed()
        own = None if partition is None else bits(partition, "a partition", INT)
        at, data, value_bytes = bits(time, "a time", LONG), self._kafka.key_bytes(key), _value_bytes(value)
        size = -1 if value_bytes is None else _size(value_bytes)
        if self._own is not None:
            row = ProducerRow(key, data, value, value_bytes, size, at)
            return self._own.placed_record(topic, own, row, self.cluster, self._append)
        return self._core.place_record(self._place_of(topic), own, data, size, at)

    def on_new_batch(self, topic: str, previous: int) -> None:
        """Tell the strategy that a record of partition `previous` would begin a batch (`Partitioner.onNewBatch`).

        Raises:
            PartwrightError: As for `partition`.
        """
        self._refuse_closed()
        if self._own is not None:
            self._own.on_new_batch(topic, self.cluster, previous)
            return
        self._core.on_new_batch(self._place_of(topic), bits(previous, "a partition", INT))

    def update(self, cluster: Cluster | Mapping[str, int]) -> None:
        """Use new metadata from now on; each topic keeps its state.

        Args:
            cluster: All topics that the producer writes to from now on, as for a new producer.

        Raises:
            PartwrightError: It lacks a topic that was there.
        """
        self._refuse_closed()
        cluster = _cluster(cluster)
        for name in self._places:
            cluster.partitions(name)
        self.cluster = cluster
        for name in cluster.topics:
            place = self._places.setdefault(name, len(self._places))
            self._core.set_topic(place, name, self._partitions(name))

    def place(
        self, records: object, workload: Workload | None = None, *, topic: str | None = None
    ) -> pa.ChunkedArray:
        """The partition of each record, in the order of the rows.

        Args:
            records: A table: pyarrow's, anything else with Arrow's PyCapsule interface, a dict of columns, or the name
                of a file (csv, JSON lines, Parquet, Arrow, Avro). It needs the columns that the strategy needs.
            workload: Which columns are the records' parts; by default those with the parts' own names.
            topic: The records' topic; if it is None, the cluster's only one, or the column `topic`.

        Returns:
            An int32 column as long as `records` in the same chunks; null for a null key under the strategy `key`.

        Raises:
            PartwrightError: With the row, a record that Kafka's own producer refuses; a column that is missing or
                of another type. Records before that row may have been placed.

        Examples:
            >>> producer = Producer({"orders": 3}, ProducerConfig("round-robin@2.8", {"batch.size": 200}))
            >>> producer.place({"size": [100] * 6}).to_pylist()
            [1, 0, 2, 1, 0, 2]
        """
        self._refuse_closed()
        table = ProducerRecords(records, topic, workload, self.cluster, self._places, self.key_type)
        chunks = []
        row = 0
        for batch in table.batches():
            try:
                if self._own is None:
                    chunks.append(self._kafka.place(self._core, batch, self.cluster))
                else:
                    chunks.append(
                        self._own.placed(batch, batch.rows(self.key_type), self.cluster, self._append)
                    )
            except PartwrightError as error:
                raise error.moved(row.__add__) from None
            row += len(batch)
        return pa.chunked_array(chunks, pa.int32())

    def close(self) -> None:
        """Close the producer, and your own partitioner (`Partitioner.close`)."""
        was_closed, self._is_closed = self._is_closed, True
        if self._own is not None and not was_closed:
            self._own.close()

    def __reduce__(self) -> NoReturn:
        # A copy would share the state, or lose it.
        raise PartwrightError(
            "a producer keeps what its records have done and cannot be pickled or copied: make one where it is used"
        )

    def __repr__(self) -> str:
        return f"Producer({self.strategy}; {self.cluster!r})"

    def _append(self, topic: str, record: ProducerRow, partition: int, begins: bool) -> bool:
        """Append a record to its partition's batch, or to a new one if `begins`; return whether it was appended."""
        sizes = (self._places[topic], record.key_size, record.value_size, record.time)
        return self._core.append_record(sizes, partition, begins)

    def _partitions(self, topic: str) -> list[tuple[int, bool, bool]]:
        near = {broker.id: self._is_near(broker) for broker in self.cluster.brokers}
        return [
            (each.id, each.leader is not None, each.leader is not None and near[each.leader])
            for each in self.cluster.partitions(topic)
        ]

    def _is_near(self, broker: Broker) -> bool:
        is_eligible = self._leader
        if is_eligible is None:
            return is_near(broker, self.configs, self.strategy)
        return called(f"leader of broker {broker.id}", lambda: bool(is_eligible(broker)))

    def _place_of(self, topic: str) -> int:
        self.cluster.partitions(topic)
        return self._places[topic]

    def _open_place_of(self, topic: str) -> int:
        self._refuse_closed()
        return self._place_of(topic)

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise PartwrightError("the producer is closed: make another one")


def _cluster(cluster: Cluster | Mapping[str, int]) -> Cluster:
    return cluster if isinstance(cluster, Cluster) else Cluster.of(cluster)


def _value_bytes(value: str | bytes | None) -> bytes | None:
    try:
        return value.encode() if isinstance(value, str) else value
    except UnicodeEncodeError:
        raise PartwrightError(f"the value {shown(value)} is not UTF-8: give its bytes") from None


def _size(value: object) -> int:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise PartwrightError(f"a record's value is text or bytes, not {shown(value)}")
    return memoryview(value).nbytes


def _settings(configs: Configs, linger_ms: int | None) -> dict[str, object]:
    return {
        "batch_size": configs.batch_size,
        "linger_ms": linger_ms,
        "ignore_keys": configs.ignore_keys,
        "rack_aware": configs.rack_aware,
        "refresh_ms": configs.refresh_ms,
        "available_only": configs.random_available,
        "among": configs.leader_among,
        "otherwise": configs.otherwise,
    }
