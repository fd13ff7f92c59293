"""SQL functions over the same core: `kafka_partition` and `kafka_murmur2`; those of quotas are in `quotas.py`.

Those of engine jvm are in `engines/jvm_sql.py`.

What is constant for a Python column arrives here row by row, as SQL's arguments may differ by row: rows are
grouped by these, and each group is one call.

Unlike the columns of `partwright.spark.columns`, these are not marked as nondeterministic: SQL asks for them
in join conditions and inside of aggregates, as in `count_if(kafka_partition(key, 12) <> partition)`, where
Spark takes only deterministic functions.  A filter on their result may run them once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import IntegerType

from partwright.errors import PartwrightError
from partwright.keys import hashing
from partwright.spark.engines import arrow
from partwright.spark.engines.choice import JVM, chosen
from partwright.spark.executors.ask import is_classic
from partwright.spark.quotas import SQL_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from partwright._check import Fields

__all__ = ["register"]


def register(spark: SparkSession, *, engine: str | None = None) -> None:
    """Make the SQL functions known to a session, classic or of Spark Connect, until it ends.

    - `kafka_partition(key, n[, client[, key_type]])`: the partition, as `partwright.partition_for_key` has it;
      an int, null where the client does not go by the key.
    - `kafka_murmur2(key[, key_type])`: Kafka's murmur2, as `partwright.murmur2` has it; an int, null where the
      key is null.
    - `kafka_min_quota(partitions, members)`, `kafka_max_quota`, `kafka_under_min_quota(owned, partitions, members)`,
      `kafka_over_max_quota`, `kafka_range_start(index, partitions, members)` and `kafka_range_length`: as
      `partwright.quotas` has them; null where an argument is null.

    PySpark 3.5 and 4.0 hand numbers among NULLs over to Python as floats. There a whole number from 2^53 on among NULLs
    is refused, and so is a float or a double that is not whole (a whole one is taken for a bigint); leave the NULLs out
    with WHERE, or use the columns of `partwright.spark`.

    `n`, `client` and `key_type` may be literals or columns.  A null `key_type` is the key's own: utf8 for a
    string, bytes for a binary.

    With engine `jvm`, in classic sessions, the functions of keys become expressions that stay in Spark's Java
    processes. `n`, `client` and `key_type` are constants then, and a wrong one is refused as Spark reads the query. The
    functions of quotas stay as they are.

    Args:
        spark: The session.
        engine: `arrow` or `jvm`, for the functions of keys; see `partition_for_key`.

    Raises:
        PartwrightError: `spark` is no session, or was stopped; there is no such engine, or engine `jvm` in Spark
            Connect. As Spark's `PythonException`, when a
            query runs: `n` null or out of range, an unknown client or key type, a key that has no key bytes under it,
            a number that is not certain. With engine `jvm` as Spark's own error, where no expression is exact as well.
            In both `partwright.spark.first_sentence` finds the sentence.

    Examples:
        >>> register(spark)
        >>> spark.sql("SELECT kafka_partition('TT0124', 15)").first()[0]
        10
    """
    functions = SQL_FUNCTIONS
    classic = is_classic(spark)
    if chosen(engine, spark) == JVM:
        _register_expressions(spark, classic)
    else:
        of_keys = (kafka_partition, kafka_murmur2)
        functions = {function.__name__: (function, IntegerType()) for function in of_keys} | functions
    for name, (function, returns) in functions.items():
        spark.udf.register(name, arrow.sql_function(name, function, returns))


def _register_expressions(spark: SparkSession, classic: bool) -> None:
    if not classic:
        raise PartwrightError(
            "engine jvm has no SQL functions in Spark Connect, because they live in Spark's Java process: use "
            "engine='arrow'"
        )
    from partwright.spark.engines.jvm_sql import register_expressions  # noqa: PLC0415 - pyspark-client has no py4j

    register_expressions(spark)


def kafka_partition(
    key: pa.Array,
    n: pa.Array | None = None,
    client: pa.Array | None = None,
    key_type: pa.Array | None = None,
) -> pa.Array:
    """The SQL function of this name, over one batch."""
    if n is None:
        raise PartwrightError(
            "kafka_partition takes a key and n, the topic's number of partitions, and n is missing"
        )

    def place(keys: pa.Array, settings: Fields) -> pa.Array:
        count, named = settings["n"], settings.get("client", "java")
        for name, setting in (("n, the number of partitions,", count), ("client", named)):
            if setting is None:
                raise PartwrightError(f"kafka_partition: {name} is NULL")
        return hashing.partition_for_key(keys, count, named, settings.get("key_type"))

    return _by_group(key, {"n": n, "client": client, "key_type": key_type}, place)


def kafka_murmur2(
    key: pa.Array,
    key_type: pa.Array | None = None,
) -> pa.Array:
    """The SQL function of this name, over one batch."""

    def hash_keys(keys: pa.Array, settings: Fields) -> pa.Array:
        return hashing.murmur2(keys, key_type=settings.get("key_type"))

    return _by_group(key, {"key_type": key_type}, hash_keys)


def _by_group(
    keys: pa.Array,
    settings: dict[str, pa.Array | None],
    function: Callable[[pa.Array, Fields], pa.Array],
) -> pa.Array:
    """The function over the keys of each distinct combination of settings, in the keys' order.

    Args:
        keys: One batch's keys.
        settings: By name, a column as long as `keys`, or None where the argument was left out.
        function: From some of the keys and their common settings to an int32 column as long.
    """
    given = {name: column for name, column in settings.items() if column is not None}
    if len(keys) == 0:
        return pa.array([], pa.int32())
    # A literal is the same all over its batch.
    if all(_is_constant(column) for column in given.values()):
        return function(keys, {name: column[0].as_py() for name, column in given.items()})
    table = pa.table({**given, "row": pa.array(range(len(keys)), pa.int64())})
    groups = table.group_by(list(given), use_threads=False).aggregate([("row", "list")]).to_pylist()
    rows = [group.pop("row_list") for group in groups]
    parts = [function(keys.take(pa.array(mine)), group) for mine, group in zip(rows, groups, strict=True)]
    order = pa.array([row for mine in rows for row in mine])
    return pa.concat_arrays(parts).take(pc.sort_indices(order))


def _is_constant(column: pa.Array) -> bool:
    return len(column.unique()) == 1
