"""Partitions, hashes and key bytes as Spark columns: an Arrow UDF each, in classic Spark and Spark Connect.

Only the key's column crosses to Python, as Arrow arrays of `spark.sql.execution.arrow.maxRecordsPerBatch`
rows, and is read there in place.  The workers need the package `partwright`: a UDF that is sent to them names
its functions.

The UDFs are marked as nondeterministic, though they are not: Spark copies a deterministic UDF into each
filter and join on its column and runs it once for every copy.  Marked, it runs once a row.  What that costs
is in docs/spark.md.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, cast

import pyarrow as pa  # noqa: TC002 - Spark reads the UDFs' annotations as it makes them
from pyspark.sql import Column
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # made as its module is imported
from pyspark.sql.functions import col as column_named
from pyspark.sql.types import BinaryType, IntegerType

from partwright.errors import PartwrightError
from partwright.keys import hashing

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex

    from pyspark.sql.types import DataType

__all__ = ["as_column", "encode", "murmur2", "partition_for_key"]


def partition_for_key(
    col: str | Column, n: SupportsIndex, client: str = "java", key_type: str | None = None
) -> Column:
    """The partition that a client's producer gives a record with each key, as `partwright.partition_for_key`.

    Args:
        col: The keys, by name or as a Column: a string or binary, or under a `java:` key type numbers and
            booleans.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile, a name in `partwright.clients()`.
        key_type: How a value becomes key bytes; see `partwright.encode`.

    Returns:
        An int column, null where the client does not go by the key.

    Raises:
        PartwrightError: `n` out of range, an unknown client or key type, `col` of another type: at once.
            As Spark's `PythonException`, when a job runs: keys of a type that the key type does not take, a
            value that does not fit; `partwright.spark.first_sentence` finds the sentence in it.

    Examples:
        >>> flights.select(partition_for_key("tailnum", 12))
        DataFrame[partition_for_key(tailnum): int]
    """
    hashing.partition_for_key(None, n, client, key_type)
    count = index(n)

    def place(keys: pa.Array) -> pa.Array:
        return hashing.partition_for_key(keys, count, client, key_type)

    return _once("partition_for_key", place, IntegerType(), col)


def murmur2(col: str | Column, key_type: str | None = None) -> Column:
    """Kafka's murmur2 of each key, as Java's signed int; see `partwright.murmur2`.

    Args:
        col: The keys; see `partition_for_key`.
        key_type: How a value becomes key bytes; see `partwright.encode`.

    Returns:
        An int column, null where the key is null.

    Raises:
        PartwrightError: As `partition_for_key` does.

    Examples:
        >>> flights.select(murmur2("tailnum"))
        DataFrame[murmur2(tailnum): int]
    """
    _check_key_type(key_type)

    def hash_keys(keys: pa.Array) -> pa.Array:
        return hashing.murmur2(keys, key_type=key_type)

    return _once("murmur2", hash_keys, IntegerType(), col)


def encode(col: str | Column, key_type: str | None = None) -> Column:
    """The bytes that a record's key has on the wire; see `partwright.encode`.

    Args:
        col: The values, by name or as a Column.
        key_type: How a value becomes key bytes; the default serves strings and binary alone.

    Returns:
        A binary column, null where the value is null: what Spark's Kafka sink takes as `key`.

    Raises:
        PartwrightError: As `partition_for_key` does.

    Examples:
        >>> orders.select(encode("id", "java:long").alias("key"))
        DataFrame[key: binary]
    """
    _check_key_type(key_type)

    def write_keys(values: pa.Array) -> pa.Array:
        return hashing.encode(values, key_type)

    return _once("encode", write_keys, BinaryType(), col)


def as_column(col: str | Column, name: str = "col") -> Column:
    """A column of a table by its name, or a Column as it is.

    Args:
        col: What the user passed.
        name: How the error's sentence calls it.

    Raises:
        PartwrightError: Neither a name nor a Column.
    """
    if isinstance(col, str):
        return column_named(col)
    if isinstance(col, Column):
        return col
    raise PartwrightError(f"{name} must be a column's name or a Column, not {col!r}")


def _check_key_type(key_type: str | None) -> None:
    hashing.partition_for_key(None, 1, key_type=key_type)


def _once(
    name: str, function: Callable[[pa.Array], pa.Array], returns: DataType, col: str | Column
) -> Column:
    # Spark names the column after the function.
    function.__name__ = name
    udf = arrow_udf(function, returns).asNondeterministic()
    return cast("Column", udf(as_column(col)))
