"""SQL functions over the same core: the functions of keys are in `keys/sql.py`, those of quotas in `quotas.py`.

Those of engine jvm are in `engines/jvm_sql.py`.

Unlike the columns of `partwright.spark.columns`, these are not marked as nondeterministic: SQL needs them in join
conditions and inside aggregates, as in `count_if(kafka_partition(key, 12) <> partition)`, where Spark takes only
deterministic functions. A filter on their result may run them once more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType

from partwright.errors import PartwrightError
from partwright.keys.sql import as_named, kafka_murmur2, kafka_partition
from partwright.spark.engines import arrow
from partwright.spark.engines.choice import JVM, choose_engine
from partwright.spark.executors.replies import is_classic
from partwright.spark.quotas import SQL_FUNCTIONS

# Each under its name in Python, and under one that says in SQL whose it is.
_OF_KEYS: dict[str, Callable[..., Any]] = {
    "partition_for_key": kafka_partition,
    "murmur2": kafka_murmur2,
    "kafka_partition": kafka_partition,
    "kafka_murmur2": kafka_murmur2,
}


def register(spark: SparkSession, *, engine: str | None = None) -> None:
    """Make the SQL functions known to a session, classic or of Spark Connect, until it ends.

    - `partition_for_key(key, n[, client[, key_type]])`: the partition, as `partwright.partition_for_key` has it;
      an int, null where the client does not use the key. `kafka_partition` is its other name.
    - `murmur2(key[, key_type])`: Kafka's murmur2, as `partwright.murmur2` has it; an int, null where the key is null.
      `kafka_murmur2` is its other name.
    - `kafka_min_quota(partitions, members)`, `kafka_max_quota`, `kafka_under_min_quota(owned, partitions, members)`,
      `kafka_over_max_quota`, `kafka_range_start(index, partitions, members)` and `kafka_range_length`: as in
      `partwright.quotas`; null where an argument is null.

    PySpark 3.5 and 4.0 pass numbers in a column with NULLs to Python as floats. There, a column with NULLs refuses
    whole numbers from 2^53 on, and floats and doubles that are not whole (a whole one is taken for a bigint); leave the
    NULLs out with WHERE, or use the columns of `partwright.spark`.

    `n`, `client` and `key_type` may be literals or columns.  A null `key_type` is the key's own: utf8 for a
    string, bytes for a binary.

    With engine `jvm`, in classic sessions, the functions of keys become expressions that stay in Spark's Java
    processes. `n`, `client` and `key_type` are constants then, and a wrong one is refused as Spark reads the query. The
    functions of quotas stay as they are.

    Args:
        spark: The session.
        engine: `arrow` or `jvm`, for the functions of keys; see `partition_for_key`.

    Raises:
        PartwrightError: `spark` is not a session, or was stopped; the engine is unknown, or is `jvm` in Spark Connect.
            As Spark's `PythonException`, when a query runs: `n` is null or out of range, the client or key type is
            unknown, a key has no key bytes under it, or a number may have changed on its way. With engine `jvm`, as
            Spark's own error, also if no expression is exact. In both, `partwright.spark.first_sentence` finds the
            sentence.

    Examples:
        >>> register(spark)
        >>> spark.sql("SELECT partition_for_key('TT0124', 15)").first()[0]
        10
    """
    functions = dict(SQL_FUNCTIONS)
    classic = is_classic(spark)
    if choose_engine(engine, spark) == JVM:
        _register_expressions(spark, classic)
    else:
        functions |= {name: (as_named(function, name), IntegerType()) for name, function in _OF_KEYS.items()}
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
