"""Run a function over Arrow columns as a Spark column, or over a Spark table.

From PySpark 4.1 on, it is an Arrow UDF. PySpark 3.5 and 4.0 have a pandas UDF for a column, which `pandas_udf.py` feeds
without loss, and `mapInArrow` for a table.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import StructField, StructType

from partwright.spark.engines.choice import OF_TASKS
from partwright.spark.executors.sealed import seal
from partwright.spark.requirements import is_remote, pyspark_version, require_pandas

if TYPE_CHECKING:
    from pyspark.sql._typing import UserDefinedFunctionLike
    from pyspark.sql.types import DataType

Batches: TypeAlias = Iterator[tuple[pa.Array, ...]]
"""A task's batches, each with the requested columns."""

# Type checkers do not see it, because it is made while its module is imported.
_arrow_udf: Any = getattr(sf, "arrow_udf", None)


def column(
    name: str,
    function: Callable[..., pa.Array],
    returns: DataType,
    names: Sequence[str],
    cols: Sequence[Column],
) -> Column:
    """A function over Arrow arrays as a column, marked as nondeterministic: it runs once a row.

    Args:
        name: The function's name, which appears in the column's name.
        function: Takes the columns' arrays of one batch and returns an array of the same length.
        returns: The Spark type of its result.
        names: Its arguments, in order, as they appear in the column's name.
        cols: The same arguments as columns.
    """
    if _arrow_udf is not None:
        function = _over_arrays(function, name)
        return cast("Column", _arrow_udf(seal(function), returns).asNondeterministic()(*cols))
    made: Column = _pandas_udf().column(name, function, returns, cols)
    return made.alias(f"{name}({', '.join(names)})")


def sql_function(name: str, function: Callable[..., pa.Array], returns: DataType) -> UserDefinedFunctionLike:
    """A function over Arrow arrays for `spark.udf.register`; Spark takes it as deterministic.

    Args:
        name: Its name.
        function: Takes one batch's arrays and returns an array of the same length; SQL may leave out arguments with a
            default.
        returns: The Spark type of what it gives.
    """
    if _arrow_udf is not None:
        return cast("UserDefinedFunctionLike", _arrow_udf(seal(_over_arrays(function, name)), returns))
    made: UserDefinedFunctionLike = _pandas_udf().sql_function(name, function, returns)
    return made


def _pandas_udf() -> ModuleType:
    """The module for a PySpark without Arrow UDFs."""
    require_pandas()
    from partwright.spark.engines import pandas_udf  # noqa: PLC0415 - newer PySparks need no pandas

    return pandas_udf


def with_column(
    df: DataFrame,
    name: str,
    function: Callable[[Batches], Iterator[pa.Array]],
    returns: DataType,
    cols: Sequence[Column],
    keep: Sequence[str] = ("*",),
) -> DataFrame:
    """A table with one more column, which a function makes task by task, whatever the columns' types.

    Args:
        df: The table.
        name: The column's name; a column of that name is replaced.
        function: Takes a task's batches of the columns and returns an array for each batch, in order.
        returns: The Spark type of what it gives.
        cols: Its arguments, in order.
        keep: The table's columns that stay; by default all of them.
    """
    kept = df.select(*keep)
    if _arrow_udf is None:
        return _mapped(kept.schema, df.select(*keep, *cols), StructField(name, returns), function)

    # Spark looks for exactly these annotations, and passes a single column as it is.
    def over_tuples(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        return function(batches)

    def over_arrays(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        return function((array,) for array in batches)

    over_batches: Any = over_arrays if len(cols) == 1 else over_tuples
    over_batches.__name__ = OF_TASKS
    udf = _arrow_udf(seal(over_batches), returns).asNondeterministic()
    made = cast("Column", udf(*cols))
    return df.withColumn(name, made) if [*keep] == ["*"] else df.select(*keep, made.alias(name))


def _mapped(
    kept: StructType, df: DataFrame, made: StructField, function: Callable[[Batches], Iterator[pa.Array]]
) -> DataFrame:
    """The same with `mapInArrow`: the first columns are kept, and the function takes the others."""
    require_pandas()
    width = len(kept.fields)
    # As in `withColumn`, case does not distinguish names unless the session says so.
    is_exact = df.sparkSession.conf.get("spark.sql.caseSensitive", "false") == "true"
    same = str if is_exact else str.lower
    replaced = {place for place, field in enumerate(kept.fields) if same(field.name) == same(made.name)}
    fields = [made if place in replaced else field for place, field in enumerate(kept.fields)]
    schema = StructType(fields if replaced else [*fields, made])

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        taken: deque[pa.RecordBatch] = deque()

        def others() -> Batches:
            for batch in batches:
                taken.append(batch)
                yield tuple(batch.columns[width:])

        for array in function(others()):
            columns = taken.popleft().columns[:width]
            columns = [array if place in replaced else each for place, each in enumerate(columns)]
            columns = columns if replaced else [*columns, array]
            yield pa.RecordBatch.from_arrays(columns, [str(place) for place in range(len(columns))])

    mapped.__name__ = OF_TASKS
    return _by_place(df).mapInArrow(seal(mapped), schema)


def _by_place(df: DataFrame) -> DataFrame:
    """A table whose columns are named by position, because `mapInArrow` takes columns by name and names may repeat."""
    return df.toDF(*map(str, range(len(df.columns))))


def to_arrow(df: DataFrame) -> pa.Table:
    """A table's rows on the driver, as from `DataFrame.toArrow`, which PySpark 3.5 lacks."""
    if hasattr(df, "toArrow"):
        return df.toArrow()
    require_pandas()
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - it needs pandas

    def as_bytes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array([_written(batch)], pa.binary())], ["batch"])

    rows = _by_place(df).mapInArrow(seal(as_bytes), "batch binary").collect()
    if not rows:
        return to_arrow_schema(df.schema).empty_table()
    return pa.concat_tables(pa.ipc.open_stream(row[0]).read_all() for row in rows).rename_columns(df.columns)


def _written(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def is_column(value: object) -> bool:
    """Whether this is a Column, also a Spark Connect one, whose class in PySpark 3.5 is not a subclass."""
    if isinstance(value, Column):
        return True
    if pyspark_version() >= _ONE_CLASS or not is_remote():
        return False
    from pyspark.sql.connect.column import Column as Remote  # noqa: PLC0415 - it needs grpcio

    return isinstance(value, Remote)


_ONE_CLASS = (4, 0)


def _over_arrays(function: Callable[..., pa.Array], name: str) -> Callable[..., pa.Array]:
    # Spark looks for exactly `pa.Array` in these annotations, and names a column after the function. SQL may name
    # arguments.
    def called(*columns: pa.Array, **named: pa.Array) -> pa.Array:
        return function(*columns, **named)

    called.__name__ = name
    return called
