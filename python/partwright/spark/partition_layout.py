"""Lay a table out over Spark's tasks as Kafka lays out its topic: task i holds partition i.

`DataFrame.repartitionById` does it, from PySpark 4.1 on.  Before, rows are sent by a hash of a salt; see `salts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import index
from typing import TYPE_CHECKING, SupportsIndex

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, StructType

from partwright.errors import KeyTypeError, PartwrightError
from partwright.keys import hashing
from partwright.spark.schema import order_columns, order_list, type_of
from partwright.spark.tables import PARTITION, check_absent, with_partition
from partwright.spark.words import salt_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

# Spark Connect's tables have it in the same versions.
_BY_ID = hasattr(DataFrame, "repartitionById")
_SALT = "salt"
LAYOUT_COLUMNS = (PARTITION,) if _BY_ID else (PARTITION, _SALT)
"""The columns that `copartition` adds: with them first, joins and groups need no further shuffle.

`("partition",)`, and `("partition", "salt")` before PySpark 4.1.
"""
# If it is on, as by default, a join by more columns than a table was hashed by shuffles the table again.
_ALL_KEYS = "spark.sql.requireAllClusterKeysForCoPartition"

# Types that Spark's hash functions refuse, anywhere in a column's type.
_NO_HASH = {"map", "variant", "geometry", "geography"}
_LARGEST_INT = 2**31 - 1


def kafka_layout(
    key: str | Column,
    n: SupportsIndex,
    order_by: str | Column | Sequence[str | Column],
    client: str = "java",
    key_type: str | None = None,
    *,
    engine: str | None = None,
) -> Callable[[DataFrame], DataFrame]:
    """For `df.transform`: the exact partition, partition i in Spark's task i, sorted within; one shuffle.

    A task that writes to Kafka then writes to one partition, in order.  Rows that the client does not place by key keep
    a null `partition` (the producer chooses), and are spread over all tasks by a hash of the row, the same way if a
    task runs again; Spark alone would put them all into task 0.

    Args:
        key: The column of the keys, by name or as a Column.
        n: The topic's number of partitions, which is also the number of tasks, 1 to 2^31-1.
        order_by: The column or columns that each task is sorted by; make them unique, or else equal rows may change
            places when a task runs again.
        client: The client profile; see `partwright.partition_for_key`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        engine: `arrow` or `jvm`; see `partition_for_key`.

    Returns:
        A function from a table to the table with the int column `partition`, laid out.

    Raises:
        PartwrightError: `n` is out of range, or the client or key type is unknown. When the function is called: a
            stream, what `with_partition` refuses, or an `order_by` that does not exist.

    Examples:
        >>> orders.transform(kafka_layout(key="id", n=48, order_by="ts"))
        DataFrame[id: string, ts: timestamp, partition: int]
    """
    if isinstance(key, DataFrame):
        raise PartwrightError(
            "kafka_layout gives a function: write df.transform(pws.kafka_layout('key', 12, order_by='time'))",
            field="key",
        )
    hashing.partition_for_key(None, n, client, key_type)
    tasks = index(n)
    order = order_list(order_by, "that each task is sorted by")

    def lay_out(df: DataFrame) -> DataFrame:
        if df.isStreaming:
            raise PartwrightError(
                "Spark sorts no stream: lay out each of its batches in foreachBatch, or use with_partition alone"
            )
        placed = with_partition(df, key, tasks, client, key_type, engine=engine)
        return laid_out(placed, df, tasks, order_columns(df, order))

    return lay_out


def laid_out(placed: DataFrame, df: DataFrame, tasks: int, order: Sequence[Column]) -> DataFrame:
    """A table with its column `partition`, partition i in task i, sorted within; rows without one are spread out.

    Args:
        placed: The table.
        df: The table before it was placed; rows without a partition are spread by a hash of its columns.
        tasks: How many partitions there are.
        order: The columns that each task is sorted by.
    """
    row_hash = _row_hash(df)
    if _BY_ID:
        task = sf.coalesce(sf.col(PARTITION), sf.pmod(row_hash, sf.lit(tasks)).cast("int"))
        parts = placed.repartitionById(tasks, task)
    else:
        # Spark hashes the value it gets, so any int of the row will do.
        dealt = row_hash.bitwiseAND(sf.lit(_LARGEST_INT)).cast("int")
        parts = placed.repartition(tasks, sf.coalesce(salt_of(sf.col(PARTITION)), dealt))
    return parts.sortWithinPartitions(*order)


def copartition(
    a: DataFrame,
    b: DataFrame,
    key: str | Column,
    n: SupportsIndex,
    *,
    client: str = "java",
    key_type: str | None = None,
    engine: str | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Both tables with a column `partition`, partition i of both in task i.

    A join on `[*LAYOUT_COLUMNS, key]`, or a group by them, then needs no further shuffle.  Rows without a key keep a
    null `partition` and are in task 0, where a group by it finds all of them; an inner join drops them before the
    shuffle.

    Before PySpark 4.1 each table has a column `salt` as well, whose hash gives Spark the task, and the session's
    setting `spark.sql.requireAllClusterKeysForCoPartition` must be false: otherwise Spark would silently replace the
    layout as it joins.

    Args:
        a: A table.
        b: Another table with a key of the same name and type.
        key: The column with the keys in both, by name or as a Column that belongs to neither table.
        n: How many partitions, 1 to 2^31-1.
        client: The client profile; see `partwright.partition_for_key`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        engine: `arrow` or `jvm`; see `partition_for_key`.

    Returns:
        `a` and `b`, each with the columns in `LAYOUT_COLUMNS` added, in `n` tasks.

    Raises:
        KeyTypeError: The keys' types differ, or have no key bytes under this key type.
        PartwrightError: What `with_partition` refuses, in either table; before PySpark 4.1, an existing column `salt`,
            or a session without the setting that joins need.

    Examples:
        >>> orders, users = copartition(orders, users, key="user", n=48)
        >>> orders.join(users, [*LAYOUT_COLUMNS, "user"])
        DataFrame[partition: int, user: string, total: bigint, name: string]
    """
    kind_a, kind_b = (type_of(df, key, "key") for df in (a, b))
    if kind_a != kind_b:
        raise KeyTypeError(
            f"keys of two types do not meet: {key!r} is {kind_a.simpleString()} in the first table and "
            f"{kind_b.simpleString()} in the second"
        )
    tasks = index(n)
    placed_a, placed_b = (with_partition(df, key, tasks, client, key_type, engine=engine) for df in (a, b))
    if not _BY_ID:
        _check_joins_keep_the_layout(a)
    return _by_partition(placed_a, tasks), _by_partition(placed_b, tasks)


def _by_partition(placed: DataFrame, tasks: int) -> DataFrame:
    """A table with partition i in task i, and null partitions in task 0, by columns that joins and groups can name."""
    if _BY_ID:
        return placed.repartitionById(tasks, PARTITION)
    check_absent(placed, _SALT)
    salted = placed.withColumn(_SALT, salt_of(sf.coalesce(sf.col(PARTITION), sf.lit(0))))
    return salted.repartition(tasks, _SALT)


def _check_joins_keep_the_layout(df: DataFrame) -> None:
    setting: str | None = "hidden by this server"
    with suppress(PySparkException):
        setting = df.sparkSession.conf.get(_ALL_KEYS, "true")
    if str(setting).lower() != "false":
        raise PartwrightError(
            f"before PySpark 4.1 joins keep this layout only where {_ALL_KEYS} is false, and it is {setting}: "
            f'call spark.conf.set("{_ALL_KEYS}", "false") first',
            value=setting,
        )


def _row_hash(df: DataFrame) -> Column:
    """A bigint for each row, by which rows are spread: a hash of all its columns that Spark can hash.

    It uses only the row's own values, nothing random or counted, because Spark may run a task again and must get the
    same.
    """
    names = [field.name for field in df.schema.fields if _has_hash(field.dataType)]
    # A repeated name cannot be selected; in backquotes, any other name can.
    cols = [sf.col("`{}`".format(name.replace("`", "``"))) for name in names if df.columns.count(name) == 1]
    return sf.xxhash64(*cols)


def _has_hash(kind: DataType) -> bool:
    """Whether Spark's hash functions take this type."""
    if isinstance(kind, ArrayType):
        return _has_hash(kind.elementType)
    if isinstance(kind, StructType):
        return all(_has_hash(field.dataType) for field in kind.fields)
    return kind.typeName() not in _NO_HASH
