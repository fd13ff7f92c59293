"""A table with the column `partition` for Spark's Kafka sink."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.keys import hashing
from partwright.producer.configs import ProducerConfig
from partwright.producer.producer import Producer
from partwright.producer.records import Workload
from partwright.spark.columns import partition_for_key
from partwright.spark.engines.choice import JVM, chosen
from partwright.spark.schema import check_frame, check_key
from partwright.spark.strategies import by_strategy, partition_count, the_topic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex

    from pyspark.sql import Column, DataFrame

    from partwright.cluster import Cluster

__all__ = ["PARTITION", "check_absent", "with_partition"]

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
    engine = chosen(engine, df.sparkSession)
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
