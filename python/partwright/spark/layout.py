"""A table laid out over Spark's tasks as Kafka lays out its topic: task i holds partition i."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, cast

from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, StructType

from partwright.errors import KeyTypeError, PartwrightError
from partwright.keys import hashing
from partwright.spark.columns import as_column
from partwright.spark.schema import type_of
from partwright.spark.tables import PARTITION, with_partition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import SupportsIndex

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

__all__ = ["copartition", "kafka_layout", "laid_out"]

# Types whose values Spark's hash functions refuse, wherever they stand in a column's type.
_NO_HASH = {"map", "variant", "geometry", "geography"}


def kafka_layout(
    key: str | Column = "id",
    n: SupportsIndex = 48,
    order_by: str | Column | Sequence[str | Column] = "ts",
    client: str = "java",
    key_type: str | None = None,
) -> Callable[[DataFrame], DataFrame]:
    """For `df.transform`: the exact partition, partition i in Spark's task i, sorted within; one shuffle.

    A task that writes to Kafka then writes to one partition, in order.  Rows that the client does not place
    by key keep a null `partition` (the producer chooses) and are dealt out over all tasks by a hash of the
    row, so that a task that runs again deals them the same way; Spark alone would put them all into task 0.

    Args:
        key: The column of the keys, by name or as a Column.
        n: How many partitions the topic has, and so how many tasks there are, 1 to 2^31-1.
        order_by: The column or columns that each task is sorted by; make them unique, or rows that are equal
            in them may change places when a task runs again.
        client: The client profile; see `partwright.partition_for_key`.
        key_type: How a value becomes key bytes; see `partwright.encode`.

    Returns:
        A function from a table to the table with the int column `partition`, laid out.

    Raises:
        PartwrightError: `n` out of range, an unknown client or key type; as the function is called, a stream,
            what `with_partition` refuses, and an `order_by` that is not there.

    Examples:
        >>> orders.transform(kafka_layout(key="id", n=48, order_by="ts"))
        DataFrame[id: string, ts: timestamp, partition: int]
    """
    hashing.partition_for_key(None, n, client, key_type)
    tasks = index(n)
    order = _as_list(order_by)

    def lay_out(df: DataFrame) -> DataFrame:
        if df.isStreaming:
            raise PartwrightError(
                "Spark sorts no stream: lay out each of its batches in foreachBatch, or use with_partition alone"
            )
        placed = with_partition(df, key, tasks, client, key_type)
        for col in order:
            if isinstance(col, str):
                type_of(df, col, "order_by")
        return laid_out(placed, df, tasks, [as_column(col, "order_by") for col in order])

    return lay_out


def laid_out(placed: DataFrame, df: DataFrame, tasks: int, order: Sequence[Column]) -> DataFrame:
    """A table with its column `partition`, partition i in task i, sorted within; rows without one are dealt out.

    Args:
        placed: The table.
        df: The same before it was placed, by whose columns such a row is dealt.
        tasks: How many partitions there are.
        order: What each task is sorted by.
    """
    parts = placed.repartitionById(tasks, sf.coalesce(sf.col(PARTITION), _dealt(df, tasks)))
    return parts.sortWithinPartitions(*order)


def copartition(
    a: DataFrame,
    b: DataFrame,
    key: str | Column = "id",
    n: SupportsIndex = 48,
    *,
    client: str = "java",
    key_type: str | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Both tables with their column `partition`, partition i of both in task i.

    A join on `["partition", key]`, or a group by them, then needs no further shuffle.  Rows without a key
    keep a null `partition` and lie in task 0, where a group by it finds all of them; an inner join drops them
    before the shuffle.

    Args:
        a: A table.
        b: Another table with a key of the same name and type.
        key: The column of the keys in both, by name or as a Column that belongs to neither table alone.
        n: How many partitions, 1 to 2^31-1.
        client: The client profile; see `partwright.partition_for_key`.
        key_type: How a value becomes key bytes; see `partwright.encode`.

    Returns:
        `a` and `b`, each with one column more and in `n` tasks.

    Raises:
        KeyTypeError: The keys' types differ, or have no key bytes under this key type.
        PartwrightError: What `with_partition` refuses, in either table.

    Examples:
        >>> orders, users = copartition(orders, users, key="user", n=48)
        >>> orders.join(users, ["partition", "user"])
        DataFrame[partition: int, user: string, total: bigint, name: string]
    """
    kind_a, kind_b = (type_of(df, key, "key") for df in (a, b))
    if kind_a != kind_b:
        raise KeyTypeError(
            f"keys of two types do not meet: {key!r} is {kind_a.simpleString()} in the first table and "
            f"{kind_b.simpleString()} in the second"
        )
    placed_a, placed_b = (with_partition(df, key, n, client, key_type) for df in (a, b))
    return placed_a.repartitionById(index(n), PARTITION), placed_b.repartitionById(index(n), PARTITION)


def _as_list(order_by: str | Column | Sequence[str | Column]) -> list[str | Column]:
    if isinstance(order_by, (list, tuple)):
        if not order_by:
            raise PartwrightError("order_by is empty: name the columns that each task is sorted by")
        return list(order_by)
    return [cast("str | Column", order_by)]


def _dealt(df: DataFrame, tasks: int) -> Column:
    """A task for each row, by a hash of all its columns that Spark can hash.

    The row's own values, and nothing random or counted: Spark may run a task again and must find the same.
    """
    names = [field.name for field in df.schema.fields if _has_hash(field.dataType)]
    # A name that stands twice could not be taken, and backquotes let any other be.
    cols = [sf.col("`{}`".format(name.replace("`", "``"))) for name in names if df.columns.count(name) == 1]
    return sf.pmod(sf.xxhash64(*cols), sf.lit(tasks)).cast("int")


def _has_hash(kind: DataType) -> bool:
    """Whether Spark's hash functions take this type."""
    if isinstance(kind, ArrayType):
        return _has_hash(kind.elementType)
    if isinstance(kind, StructType):
        return all(_has_hash(field.dataType) for field in kind.fields)
    return kind.typeName() not in _NO_HASH
