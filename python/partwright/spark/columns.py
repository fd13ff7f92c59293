"""Partitions, hashes and key bytes as Spark columns, in classic Spark and Spark Connect.

Each is a UDF over Arrow arrays (engine `arrow`, in `engines/arrow.py`), or an expression of Spark's own (engine `jvm`,
in `engines/jvm.py`). With `arrow`, only the key's column crosses to Python, in batches of
`spark.sql.execution.arrow.maxRecordsPerBatch` rows. The workers need the package `partwright`: a UDF that is sent to
them names its functions.

The UDFs are marked as nondeterministic, though they are not: Spark copies a deterministic UDF into each
filter and join on its column and runs it once for every copy. Marked, it runs once per row. docs/spark.md says what
that costs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import index
from typing import TYPE_CHECKING, SupportsIndex

from pyspark.sql import Column
from pyspark.sql.functions import col as column_named
from pyspark.sql.types import BinaryType, IntegerType

from partwright import _core
from partwright._check import shown
from partwright.errors import PartwrightError
from partwright.keys import hashing
from partwright.spark.engines import arrow, jvm
from partwright.spark.engines.choice import JVM, choose_engine

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType


def partition_for_key(
    col: str | Column,
    n: SupportsIndex,
    client: str = "java",
    key_type: str | None = None,
    *,
    engine: str | None = None,
) -> Column:
    """The partition that a client's producer gives a record with each key, as `partwright.partition_for_key`.

    Args:
        col: The keys, by name or as a Column: a string or binary, or under a `java:` key type numbers and
            booleans.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile, a name in `partwright.clients()`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        engine: `arrow`, which runs the core in Spark's Python workers and has every rule, or `jvm`, an expression that
            stays in Spark's Java processes; by default the session's setting `spark.partwright.engine`, or `arrow`.

    Returns:
        An int column, null where the client does not hash the key.

    Raises:
        PartwrightError: At once: `n` is out of range, the client, key type or engine is unknown, `col` has another
            type, or engine `jvm` has no expression for the rule. As Spark's `PythonException`, when a job runs: keys of
            a type that the key type does not take, a value that does not fit; `partwright.spark.first_sentence` finds
            the sentence in it.

    Examples:
        >>> flights.select(partition_for_key("tailnum", 12))
        DataFrame[partition_for_key(tailnum): int]
    """
    key_type = _core.check(n, client, key_type)
    placed = hashing.placer(n, client, key_type)
    if choose_engine(engine) == JVM:
        return _named("partition_for_key", jvm.partition_of(as_column(col), index(n), client, key_type), col)
    return _once("partition_for_key", placed, IntegerType(), col)


def murmur2(col: str | Column, key_type: str | None = None, *, engine: str | None = None) -> Column:
    """Kafka's murmur2 of each key, as Java's signed int; see `partwright.murmur2`.

    Args:
        col: The keys; see `partition_for_key`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        engine: `arrow` or `jvm`; see `partition_for_key`.

    Returns:
        An int column, null where the key is null.

    Raises:
        PartwrightError: As `partition_for_key` does.

    Examples:
        >>> flights.select(murmur2("tailnum"))
        DataFrame[murmur2(tailnum): int]
    """
    key_type = _core.check(1, "java", key_type)
    if choose_engine(engine) == JVM:
        return _named("murmur2", jvm.murmur2_of(as_column(col), key_type), col)
    return _once("murmur2", partial(hashing.murmur2, key_type=key_type), IntegerType(), col)


def encode(col: str | Column, key_type: str | None = None) -> Column:
    """The bytes that a record's key has on the wire; see `partwright.encode`.

    Args:
        col: The values, by name or as a Column.
        key_type: How a value becomes key bytes; the default only takes strings and binary.

    Returns:
        A binary column, null where the value is null: what Spark's Kafka sink takes as `key`.

    Raises:
        PartwrightError: As `partition_for_key` does.

    Examples:
        >>> orders.select(encode("id", "java:long").alias("key"))
        DataFrame[key: binary]
    """
    key_type = _core.check(1, "java", key_type)
    return _once("encode", partial(hashing.encode, key_type=key_type), BinaryType(), col)


def as_column(col: str | Column, name: str = "col") -> Column:
    """A table's column by its name; a Column is returned unchanged.

    Args:
        col: What the user passed.
        name: How the error's sentence calls it.

    Raises:
        PartwrightError: Neither a name nor a Column; no session is active.
    """
    if isinstance(col, str):
        try:
            return column_named(col)
        except AssertionError:
            # Classic PySpark's own AssertionError, which has no message.
            raise PartwrightError("no Spark session is active: start one before you name a column") from None
    if arrow.is_column(col):
        return col
    raise PartwrightError(f"{name} must be a column's name or a Column, not {shown(col)}")


def shown_name(col: str | Column) -> str:
    """Spark's name of a column inside the name of a column derived from it."""
    # A Column shows its name only in its repr, in Spark Connect as in classic Spark.
    return col if isinstance(col, str) else repr(col).removeprefix("Column<'").removesuffix("'>")


def _named(function: str, expression: Column, col: str | Column) -> Column:
    """An expression under the name that the Arrow UDF has."""
    return expression.alias(f"{function}({shown_name(col)})")


def _once(
    name: str, function: Callable[[pa.Array], pa.Array], returns: DataType, col: str | Column
) -> Column:
    return arrow.column(name, function, returns, [shown_name(col)], [as_column(col)])
