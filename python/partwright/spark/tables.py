"""A table with its column `partition`, as Spark's Kafka sink takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright import hashing
from partwright.errors import PartwrightError
from partwright.spark.columns import partition_for_key
from partwright.spark.schema import check_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex

    from pyspark.sql import Column, DataFrame

__all__ = ["PARTITION", "with_partition"]

# The name that Spark's Kafka sink reads.
PARTITION = "partition"


def with_partition(
    df: DataFrame,
    key: str | Column = "id",
    n: SupportsIndex = 12,
    client: str = "java",
    key_type: str | None = None,
    strategy: str | None = None,
    value: str | Column | None = None,  # noqa: ARG001 - of the strategies to come, as the three below
    size: str | Column | None = None,  # noqa: ARG001
    order_by: str | Column | Sequence[str | Column] | None = None,  # noqa: ARG001
    seed: int = 0,  # noqa: ARG001
) -> DataFrame:
    """The table and, as an int column `partition`, where a client's producer would put each row.

    Args:
        df: The table.
        key: The column of the keys, by name or as a Column.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile; see `partwright.partition_for_key`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        strategy: `key`, which None is too: by the key's hash.
        value: Placing by key looks at none of this and the next three; they are for strategies with a memory.
        size: See `value`.
        order_by: See `value`.
        seed: See `value`.

    Returns:
        `df` with one column more, null where the client does not go by the key: Spark's Kafka sink leaves such a
        row to the producer.

    Raises:
        KeyTypeError: The key's type has no key bytes under this key type.
        PartwrightError: There is no such column, or one called `partition` already; `n` out of range; an
            unknown client, key type or strategy.

    Examples:
        >>> with_partition(flights, key="tailnum", n=12)  # doctest: +SKIP
        DataFrame[tailnum: string, partition: int]
    """
    if strategy not in {None, "key"}:
        raise PartwrightError(f"this release places by key only: strategy={strategy!r} is not in it yet")
    hashing.partition_for_key(None, n, client, key_type)
    check_no_partition(df)
    check_key(df, key, key_type)
    return df.withColumn(PARTITION, partition_for_key(key, n, client, key_type))


def check_no_partition(df: DataFrame) -> None:
    """Refuse a table that has a column `partition`, such as one read from Kafka.

    Raises:
        PartwrightError: With the column's name; Spark takes names without regard to case.
    """
    for name in df.columns:
        if name.lower() == PARTITION:
            raise PartwrightError(f"the table has a column {name!r} already: rename it or drop it first")
