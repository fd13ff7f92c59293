"""A table with the column `partition` for Spark's Kafka sink."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.keys import hashing
from partwright.producer.configs import ProducerConfig
from partwright.producer.producer import Producer
from partwright.spark.columns import partition_for_key
from partwright.spark.engines.choice import JVM, chosen
from partwright.spark.schema import check_key
from partwright.spark.strategies import by_strategy, the_topic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import SupportsIndex

    from pyspark.sql import Column, DataFrame

    from partwright.cluster import Cluster

__all__ = ["PARTITION", "check_absent", "with_partition"]

# The name that Spark's Kafka sink reads.
PARTITION = "partition"


def with_partition(
    df: DataFrame,
    key: str | Column = "id",
    n: SupportsIndex = 12,
    client: str = "java",
    key_type: str | None = None,
    strategy: str | None = None,
    value: str | Column | None = None,
    size: str | Column | None = None,
    order_by: str | Column | Sequence[str | Column] | None = None,
    seed: int = 0,
    configs: Mapping[str, object] | None = None,
    partition: str | Column | None = None,
    field: str | Column | None = None,
    time: str | Column | None = None,
    cluster: Cluster | None = None,
    engine: str | None = None,
) -> DataFrame:
    """Add, as an int column `partition`, where a client's producer would put each row.

    Args:
        df: The table.
        key: The column of the keys, by name or as a Column.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile; see `partwright.partition_for_key`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        strategy: `key` or None: by the key's hash. Or another of `partwright.strategies()`: `sticky`, `round-robin` and
            so on, with their versions, or the dotted path of a partitioner of your own. Each task is one producer.
        value: For strategies that count bytes, the values: a string or binary.
        size: Instead of `value`, the values' sizes in bytes, whole numbers; null for a null value.
        order_by: For strategies, columns that are unique together: each task is sorted by them. Without them the rows
            are taken in the source's order, if nothing was shuffled.
        seed: The seed of a strategy's draws; task i begins with `seed + i`.
        configs: For strategies, Kafka's own keys and values, such as `batch.size`.
        partition: The column with the partitions that rows name themselves, whole numbers, which override any strategy;
            null if a row names none. A column named `partition` is replaced.
        field: The column for the strategy `field`.
        time: When each record is sent, a timestamp or milliseconds: a batch leaves when `linger.ms` has passed.
            Without it a batch leaves when it is full.
        cluster: For strategies that need leaders or racks, where the topic's partitions are; it has only this topic,
            with `n` partitions. Without it all of them have a leader.
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
        >>> with_partition(flights, key="tailnum", n=12)
        DataFrame[tailnum: string, partition: int]
    """
    hashing.partition_for_key(None, n, client, key_type)
    if partition != PARTITION:
        check_absent(df, PARTITION)
    check_key(df, key, key_type)
    engine = chosen(engine, df.sparkSession)
    if strategy not in {None, "key"} or partition is not None:
        if engine == JVM:
            raise PartwrightError(
                "engine jvm places by the key alone: say engine='arrow' for a strategy or a column of partitions",
                value=strategy,
            )
        topic = the_topic(cluster, index(n), strategy)

        def made(task: int) -> Producer:
            return Producer(topic, ProducerConfig(strategy or "key", configs, client, key_type, seed + task))

        columns = {
            "key": key,
            "partition": partition,
            "field": field,
            "time": time,
            "value": value,
            "size": size,
        }
        return by_strategy(df, PARTITION, columns, made, order_by)
    return df.withColumn(PARTITION, partition_for_key(key, n, client, key_type, engine=engine))


def check_absent(df: DataFrame, column: str) -> None:
    """Refuse a table that already has a column of the new name, such as `partition` in one read from Kafka.

    Raises:
        PartwrightError: With the column's name; Spark takes names without regard to case.
    """
    for name in df.columns:
        if name.lower() == column:
            raise PartwrightError(f"the table has a column {name!r} already: rename it or drop it first")
