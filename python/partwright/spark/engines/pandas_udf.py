"""A function over Arrow arrays as a pandas UDF, for PySpark 3.5 and 4.0, which have no Arrow UDF.

Spark first turns each batch into pandas' Series: numbers with nulls become floats, which change a bigint beyond 2^53
and turn a null into a NaN. So a column's values are sent as bytes (numbers as their text), with the name of their type,
and become Arrow's again here. That text knows only one NaN, Java's. A function called from SQL gets its arguments as
they are, and refuses uncertain values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as sf

from partwright.errors import PartwrightError
from partwright.spark.executors.sealed import seal
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from pyspark.sql._typing import UserDefinedFunctionLike
    from pyspark.sql.types import DataType

# Type checkers do not see it, because it is made while its module is imported.
_pandas_udf: Any = sf.pandas_udf  # type: ignore[attr-defined]
# Arrow's types by Spark's names; a type's position here is sent with the values.
_TYPES = {
    "string": pa.string(),
    "binary": pa.binary(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "void": pa.null(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_ARROW = [*_TYPES.values()]
_DECIMAL = len(_ARROW)
_OTHER = -1
# How Spark writes a timestamp as JSON, here as the instant that it is: its cast to a string depends on the session's
# zone, which has some hours twice.
_INSTANT = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", "timeZone": "UTC"}
# Beyond this, a float64 stands for more than one whole number.
_CERTAIN = 2**53


def column(name: str, function: Callable[..., pa.Array], returns: DataType, cols: Sequence[Column]) -> Column:
    """See `partwright.spark.engines.arrow.column`; the column has no name of its own yet."""

    def called(*series: pd.Series) -> pd.Series:
        arrays = [_read(name, kind, values) for kind, values in zip(series[::2], series[1::2], strict=True)]
        return _series(function(*arrays))

    # A plan shows its name.
    called.__name__ = name
    udf = _pandas_udf(seal(called), returns).asNondeterministic()
    return cast("Column", udf(*(part for col in cols for part in _type_and_bytes(col))))


def sql_function(name: str, function: Callable[..., pa.Array], returns: DataType) -> UserDefinedFunctionLike:
    """See `partwright.spark.engines.arrow.sql_function`."""

    def called(*series: pd.Series, **named: pd.Series) -> pd.Series:
        arrays = [_guessed(name, each) for each in series]
        return _series(function(*arrays, **{key: _guessed(name, each) for key, each in named.items()}))

    called.__name__ = name
    return cast("UserDefinedFunctionLike", _pandas_udf(seal(called), returns))


def _type_and_bytes(col: Column) -> tuple[Column, Column]:
    """Two columns in place of one: the position of its type, which Spark knows when it plans, and its values' bytes.

    Spark accepts these casts for any type, and computes the values once.
    """
    kind = sf.typeof(col)
    place = sf.when(kind.startswith("string"), sf.lit(0)).when(kind.startswith("decimal"), sf.lit(_DECIMAL))
    for at, known in enumerate(_TYPES):
        place = place.when(kind == known, sf.lit(at))
    place = place.otherwise(sf.lit(_OTHER)).cast("tinyint")
    # In an array, not in a struct, whose name of the field is another one each time: then Spark takes the column of a
    # `groupBy` for two.
    instant = sf.get_json_object(sf.to_json(sf.array(col), _INSTANT), "$[0]")
    text = (
        sf.when(place == _OTHER, kind)
        .when((kind == "timestamp") & col.isNotNull(), instant)
        .otherwise(col.cast("string"))
    )
    return place, text.cast("binary")


def _read(name: str, kind: pd.Series, values: pd.Series) -> pa.Array:
    """The column that was sent."""
    if not len(kind):
        return pa.nulls(0)
    arrived = pa.Array.from_pandas(values, type=pa.binary())
    place = int(kind.iloc[0])
    if place == _OTHER:
        raise PartwrightError(
            f"{name} takes strings, binaries, numbers, booleans, dates and timestamps, not "
            f"{arrived[0].as_py().decode()}"
        )
    # Not a cast, which would refuse bytes that are not text: Spark's strings may contain them.
    texts = arrived.view(pa.string())
    if place == _DECIMAL:
        return _decimals(texts)
    to = _ARROW[place]
    if pa.types.is_binary(to):
        return arrived
    if pa.types.is_null(to):
        return pa.nulls(len(arrived))
    return pc.cast(texts, to)


def _decimals(texts: pa.Array) -> pa.Array:
    """Decimals from their text, in which Spark writes all digits of the scale, or an exponent (`0E-8`)."""
    known = next((text for text in texts if text.is_valid), None)
    scale = 0 if known is None else -cast("int", Decimal(known.as_py()).as_tuple().exponent)
    return pc.cast(texts, pa.decimal128(38, scale))


def _guessed(name: str, series: pd.Series) -> pa.Array:
    """An argument from SQL as Spark passes it, of unknown type; refused if its values are uncertain.

    Whole numbers with nulls come as float64, and so does a double, in which NaN also stands for null.
    """
    if series.dtype.kind == "M":
        raise PartwrightError(
            f"{name}: PySpark {'.'.join(map(str, pyspark_version()))} hands timestamps over without their zone: use "
            "the column of partwright.spark instead of SQL"
        )
    missing = series.isna()
    if series.dtype.kind != "f" or not missing.any():
        return pa.Array.from_pandas(series)
    present = series[~missing]
    uncertain = present[(present % 1 != 0) | (present.abs() >= _CERTAIN)]
    if series.dtype == "float32" or len(uncertain):
        value = next(iter([*uncertain, *present]), "NaN")
        raise PartwrightError(
            f"{name}: PySpark {'.'.join(map(str, pyspark_version()))} hands numbers with NULLs over as floats, of "
            f"which {value} may stand for another number: leave the NULLs out with WHERE, or use the column of "
            "partwright.spark instead of SQL"
        )
    return pa.array(series.where(~missing, 0).astype("int64").to_numpy(), mask=missing.to_numpy())


def _series(made: Any) -> pd.Series:
    """The result as an Arrow-backed pandas Series: nulls stay nulls."""
    return made.to_pandas(types_mapper=pd.ArrowDtype)
