"""A table with the column `partition` for Spark's Kafka sink, by the key or by a producer's strategy.

With a strategy, each task is one producer, whose rows are in a known order. A strategy depends on earlier records, so a
task that runs again must see the same rows in the same order: the source's order, if nothing was shuffled, or the order
of unique columns by which each task is sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import index
from typing import SupportsIndex

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType

from partwright._check import counted
from partwright.cluster import Cluster
from partwright.errors import PartwrightError
from partwright.keys import hashing
from partwright.producer.configs import ProducerConfig
from partwright.producer.producer import Producer
from partwright.producer.records import Workload
from partwright.spark.columns import as_column, partition_for_key
from partwright.spark.engines import arrow
from partwright.spark.engines.choice import JVM, choose_engine, explained
from partwright.spark.schema import check_frame, check_key, order_columns, order_list, type_of

# The name that Spark's Kafka sink reads.
PARTITION = "partition"


def with_partition(
    df: DataFrame,
    key: str | Column | Workload,
    n: SupportsIndex | Cluster,
    client: str | ProducerConfig = "java",
    key_type: str | None = None,
    *,
    order_by: str | Column | Sequence[str | Column] | None = None,
    engine: str | None = None,
) -> DataFrame:
    """Add, as an int column `partition`, where a client's producer would put each row.

    Args:
        df: The table.
        key: The column of the keys, by name or as a Column; or, for strategies, a `Workload` with the key and further
            columns. Values may be a string or binary. Partitions that rows name override any strategy, and a column
            named `partition` is replaced.
        n: How many partitions the topic has, 1 to 2^31-1; or, for strategies that need leaders or racks, a Cluster with
            only this topic. Otherwise all partitions have a leader.
        client: The client profile; see `partwright.partition_for_key`. Or, for strategies, a `ProducerConfig`: each
            task is one producer, and task i begins with `seed + i`. Its strategy `key` goes by the key's hash.
        key_type: How a value becomes key bytes; see `partwright.encode`. A `ProducerConfig` has its own.
        order_by: For strategies, columns that are unique together: each task is sorted by them. Without them the rows
            are taken in the source's order, if nothing was shuffled.
        engine: `arrow` or `jvm`; see `partition_for_key`. Strategies only have `arrow`.

    Returns:
        `df` with one more column, null where the client does not use the key: Spark's Kafka sink leaves such a row
        to the producer. A task that runs again gives the same partitions.

    Raises:
        KeyTypeError: The key's type has no key bytes under this key type.
        PartwrightError: The column does not exist, or one named `partition` already does; `n` is out of range; the
            client, key type, strategy or engine is unknown; engine `jvm` has no expression for the rule; for
            strategies, a stream, shuffled rows without `order_by`, or missing sizes. As Spark's `PythonException`, when
            a job runs: rows with equal `order_by`.

    Examples:
        >>> with_partition(flights, "tailnum", 12)
        DataFrame[tailnum: string, partition: int]
    """
    check_frame(df)
    workload = key if isinstance(key, Workload) else Workload(key=key)
    if isinstance(client, ProducerConfig):
        if key_type is not None:
            raise PartwrightError(
                "a ProducerConfig has a key_type of its own: leave out key_type", value=key_type
            )
        producer = client
    else:
        producer = ProducerConfig("key", client=client, key_type=key_type)
    partitions = partition_count(n)
    hashing.partition_for_key(None, partitions, producer.client, producer.key_type)
    if workload.partition != PARTITION:
        check_absent(df, PARTITION)
    check_key(df, workload.key, producer.key_type)
    engine = choose_engine(engine, df.sparkSession)
    strategy = producer.partitioner
    if strategy == "key" and workload.partition is None:
        column = partition_for_key(
            workload.key, partitions, producer.client, producer.key_type, engine=engine
        )
        return df.withColumn(PARTITION, column)
    if engine == JVM:
        raise PartwrightError(
            "engine jvm places by the key alone: say engine='arrow' for a strategy or a column of partitions",
            value=strategy,
        )
    topic = the_topic(n, strategy)

    def made(task: int) -> Producer:
        return Producer(topic, replace(producer, strategy=strategy, seed=producer.seed + task))

    return by_strategy(df, PARTITION, workload, made, order_by)


def check_absent(df: DataFrame, column: str) -> None:
    """Refuse a table that already has a column of the new name, such as `partition` in one read from Kafka.

    Raises:
        PartwrightError: With the column's name; Spark takes names without regard to case.
    """
    for name in df.columns:
        if name.lower() == column:
            raise PartwrightError(f"the table has a column {name!r} already: rename it or drop it first")


_TOPIC = "topic"
_SHUFFLES = ("Exchange", "ShuffleQueryStage")
_WHOLE = {"tinyint", "smallint", "int", "bigint"}
# The types that a column may have, in words and in Spark's names; a column that is not named here may have any.
_TYPES = {
    "partition": ("whole numbers", _WHOLE),
    "size": ("whole numbers", _WHOLE),
    "time": ("timestamps or whole numbers of milliseconds", {*_WHOLE, "timestamp", "timestamp_ntz"}),
    "value": ("string or binary", {"string", "binary"}),
}
# The column that each of these strategies needs, apart from a key and a number of partitions.
_GOES_BY = {"explicit": "partition", "field": "field"}


def by_strategy(
    df: DataFrame,
    name: str,
    workload: Workload,
    made: Callable[[int], Producer],
    order_by: str | Column | Sequence[str | Column] | None,
) -> DataFrame:
    """The table with the column of its partitions, sorted within its tasks if an order is given.

    Args:
        df: The table.
        name: The new column's name.
        workload: The records' columns.
        made: A function from a task's number to its producer.
        order_by: Columns that are unique.

    Raises:
        PartwrightError: The table is a stream, its rows have no known order, or a column is missing or of another type.
    """
    producer = made(0)
    if df.isStreaming and (producer.keeps_state or order_by is not None):
        raise PartwrightError(
            "a stream's rows have no order that comes again: place each of its batches in foreachBatch, with order_by="
        )
    columns = _columns(df, workload, producer)
    if order_by is not None:
        by = order_columns(df, order_list(order_by, "that are unique together"))
        df = df.sortWithinPartitions(*by)
        columns["order"] = sf.struct(*(each.alias(f"c{place}") for place, each in enumerate(by)))
    elif producer.keeps_state:
        _refuse_shuffles(df)
    return arrow.with_column(df, name, _placing(made, [*columns]), IntegerType(), [*columns.values()])


def partition_count(n: SupportsIndex | Cluster) -> SupportsIndex:
    """How many partitions there are, as a number or as those of a cluster's only topic.

    Raises:
        PartwrightError: The cluster has another number of topics.
    """
    if not isinstance(n, Cluster):
        return n
    if len(n.topics) != 1:
        raise PartwrightError(
            f"the cluster has {counted(len(n.topics), 'topic')}: give one with the topic that the table is written to "
            "alone"
        )
    (partitions,) = n.topics.values()
    return len(partitions)


def the_topic(n: SupportsIndex | Cluster, strategy: object) -> Cluster:
    """The cluster whose only topic has `n` partitions; if only their number is known, all of them have a leader.

    Raises:
        PartwrightError: The strategy needs to know where the leaders are.
    """
    if isinstance(n, Cluster):
        return n
    if strategy == "leader":
        raise PartwrightError(
            "the strategy leader goes by where the partitions' leaders are: give a Cluster with the topic as n"
        )
    return Cluster.of({_TOPIC: index(n)})


def _columns(df: DataFrame, workload: Workload, producer: Producer) -> dict[str, Column]:
    """The columns that are sent to Python."""
    needed = _GOES_BY.get(producer.strategy)
    if needed is not None and getattr(workload, needed) is None:
        raise PartwrightError(
            f"the strategy {producer.strategy} goes by a column of the records: name it with {needed}="
        )
    if workload.headers is not None:
        raise PartwrightError("with_partition does not count headers: leave them out")
    columns = {}
    for name in ("key", "partition", "field", "time"):
        col = getattr(workload, name)
        if col is None:
            continue
        _check_type(df, col, name)
        columns[name] = as_column(col, name)
    value, size = workload.value, workload.size
    if producer.takes_values and value is not None:
        _check_type(df, value, "value")
        columns["value"] = as_column(value, "value")
    if producer.counts_bytes and (size is not None or "value" not in columns):
        columns["size"] = _sizes(df, value, size, producer.strategy)
    return columns


def _placing(
    made: Callable[[int], Producer], names: list[str]
) -> Callable[[arrow.Batches], Iterator[pa.Array]]:
    """The function that a task runs: its one producer over its batches."""

    def strategy(batches: arrow.Batches) -> Iterator[pa.Array]:
        context = TaskContext.get()
        producer = made(0 if context is None else context.partitionId())
        last = None
        for arrays in batches:
            columns = dict(zip(names, arrays, strict=True))
            order = columns.pop("order", None)
            if order is not None and len(order):
                _refuse_equal(order if last is None else pa.concat_arrays([last, order]))
                last = order.slice(len(order) - 1)
            placed = producer.place(pa.table(columns))
            yield placed.combine_chunks() if placed.num_chunks else pa.array([], pa.int32())

    return strategy


def _refuse_equal(order: pa.StructArray) -> None:
    """Rows that are equal in the columns of `order_by` may change places when a task runs again."""
    equal = None
    for column in order.flatten():
        before, after = column.slice(0, len(column) - 1), column.slice(1)
        same = pc.or_kleene(pc.equal(before, after), pc.and_(pc.is_null(before), pc.is_null(after)))
        same = pc.fill_null(same, fill_value=False)
        equal = same if equal is None else pc.and_(equal, same)
    row = pc.index(equal, pa.scalar(value=True)).as_py()
    if row >= 0:
        values = ", ".join(repr(each) for each in order[row].as_py().values())
        raise PartwrightError(
            f"two rows of a task are equal in order_by ({values}), and may change places when it runs again: name "
            "columns that are unique together"
        )


def _sizes(df: DataFrame, value: str | Column | None, size: str | Column | None, strategy: str) -> Column:
    """The sizes of the values in bytes; nothing else of them counts."""
    if size is not None:
        _check_type(df, size, "size")
        return as_column(size, "size").cast("int")
    if value is None:
        raise PartwrightError(
            f"the strategy {strategy} counts bytes: name the values' column with value=, or that of their sizes with "
            "size="
        )
    _check_type(df, value, "value")
    return sf.octet_length(as_column(value, "value"))


def _check_type(df: DataFrame, col: str | Column, name: str) -> None:
    """Refuse a column that does not exist, or whose type does not fit its role."""
    kind = type_of(df, col, name).simpleString()
    words, known = _TYPES.get(name, ("", {kind}))
    if kind not in known:
        raise PartwrightError(f"{name} must be a column of {words}, not of {kind}")


def _refuse_shuffles(df: DataFrame) -> None:
    plan = explained(df, "simple")
    if any(shuffle in plan for shuffle in _SHUFFLES):
        raise PartwrightError(
            "the rows come out of a shuffle, in another order each time: name unique columns with order_by=, so that a "
            "task that runs again gives the same partitions"
        )
