"""Refusals that the driver can make before any job: columns that do not exist, keys without key bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import ArrayType, DecimalType, MapType, StructType

from partwright._check import first_line, meant
from partwright.errors import KeyTypeError, PartwrightError
from partwright.files.formats import listed
from partwright.keys import hashing
from partwright.spark.columns import as_column
from partwright.spark.engines.choice import refuse_stopped

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

# The Arrow types that Spark sends to Python for possible key types; PySpark's own function for it is not public.
_ARROW_TYPES = {
    "string": pa.string(),
    "char": pa.string(),
    "varchar": pa.string(),
    "binary": pa.binary(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "void": pa.null(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def check_frame(df: object) -> None:
    """Refuse what is no DataFrame of Spark.

    Raises:
        PartwrightError: It is something else, such as pandas' DataFrame, a column or a table's name.
    """
    if not hasattr(df, "isStreaming"):
        package = type(df).__module__.partition(".")[0]
        owner = "" if package == "builtins" else f"{package}'s "
        raise PartwrightError(
            f"a DataFrame of Spark is needed, not {owner}{type(df).__name__}: spark.table(name) and "
            "spark.createDataFrame(rows) give one, and tables in memory and files have partwright's own functions of "
            "the same names"
        )


def type_of(df: DataFrame, col: str | Column, name: str) -> DataType:
    """The Spark type of a column of a table; Spark Connect asks its server.

    Args:
        df: The table.
        col: The column, by name or as a Column.
        name: How the error's sentence calls it, such as `key`.

    Raises:
        PartwrightError: There is no column of this name; the table is none; the session was stopped.
    """
    check_frame(df)
    refuse_stopped(df.sparkSession)
    if isinstance(col, str) and _is_plain(col) and not _has_column(df, col):
        raise PartwrightError(_absent(col, df, name))
    try:
        return df.select(as_column(col, name)).schema[0].dataType
    except AnalysisException as error:
        if not isinstance(col, str):
            raise  # Spark's own message is about the user's expression.
        if _condition(error).startswith("UNRESOLVED_COLUMN"):
            raise PartwrightError(_absent(col, df, name)) from None
        reason = first_line(error)
        raise PartwrightError(f"{name} cannot be taken from the column {col!r}: {reason}") from None


def order_list(order_by: str | Column | Sequence[str | Column], of: str) -> list[str | Column]:
    """One or several columns as a list.

    Args:
        order_by: What the user passed.
        of: What they are for, as the end of a sentence.

    Raises:
        PartwrightError: There is none.
    """
    order = [*order_by] if isinstance(order_by, (list, tuple)) else [cast("str | Column", order_by)]
    if not order:
        raise PartwrightError(f"order_by is empty: name the columns {of}")
    return order


def order_columns(df: DataFrame, order: Sequence[str | Column]) -> list[Column]:
    """The columns that put a table's rows in order.

    Raises:
        PartwrightError: One of them does not exist.
    """
    for each in order:
        type_of(df, each, "order_by")
    return [as_column(each, "order_by") for each in order]


def check_key(df: DataFrame, key: str | Column, key_type: str | None, name: str | None = None) -> DataType:
    """Refuse a key that does not exist, or whose type has no key bytes under the key type.

    The core gets an empty column of the Arrow type that Spark would send, so that the sentence has a single source.

    Args:
        df: The table.
        key: The column of the keys, by name or as a Column.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        name: The user's name for the column; by default the one that `key` is.

    Returns:
        The key's Spark type.

    Raises:
        KeyTypeError: The type has no key bytes, with the key types to choose from.
        PartwrightError: There is no column of this name; an unknown key type.
    """
    kind = type_of(df, key, "key")
    check_key_type(kind, key_type, name or key, _way_to_bytes(kind, name or key))
    return kind


def check_key_type(kind: DataType, key_type: str | None, key: str | Column, way: str) -> None:
    """Refuse a type without key bytes under the key type.

    Args:
        kind: The key's Spark type.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        key: The key's column, as the sentence names it.
        way: What to pass instead of a type that is no key, as the sentence's end.

    Raises:
        KeyTypeError: The type has no key bytes, with the key types to choose from.
    """
    called = _called(key)
    arrow_type = (
        pa.decimal128(kind.precision, kind.scale)
        if isinstance(kind, DecimalType)
        else _ARROW_TYPES.get(kind.typeName())
    )
    if arrow_type is None:
        raise KeyTypeError(
            f"{called} is {kind.simpleString()}, which has no key bytes: a key is a string, binary, a number, a "
            f"boolean, a date or a timestamp{way}"
        )
    try:
        # `pa.array` would import pandas.
        hashing.partition_for_key(pa.nulls(0, arrow_type), 1, key_type=key_type)
    except KeyTypeError as error:
        raise error.within(f"{called} is {kind.simpleString()}") from None


def _way_to_bytes(kind: DataType, key: str | Column) -> str:
    """What to pass instead of a key of several values."""
    if not isinstance(kind, (ArrayType, MapType, StructType)):
        return ""
    text = "make text of it with to_json, in the form that its producer writes"
    if isinstance(kind, StructType) and kind.names and isinstance(key, str):
        return f"; name a field of it, such as {key}.{kind.names[0]}, or {text}"
    return f"; {text}"


def _condition(error: AnalysisException) -> str:
    """The error's condition, which PySpark 3.5 calls its class, and which its Connect has only in brackets."""
    named = error.getCondition() if hasattr(error, "getCondition") else error.getErrorClass()
    return named or first_line(error).lstrip("[")


def _called(key: str | Column) -> str:
    return f"the key column {key!r}" if isinstance(key, str) else "the key column"


def _is_plain(name: str) -> bool:
    """Whether Spark takes a name as a single word, neither as a path into a struct nor as quoted."""
    return "." not in name and "`" not in name


def _has_column(df: DataFrame, name: str) -> bool:
    """Whether Spark might find a column; if there is none, asking Spark prints a stack trace."""
    return name.lower() in (column.lower() for column in df.columns)


def _absent(col: str, df: DataFrame, name: str) -> str:
    if col in df.columns:
        quoted = col.replace("`", "``")
        return f"{col!r} is a path into a struct to Spark: write a column of this name in backquotes, '`{quoted}`'"
    near = meant(col, df.columns, most=2)
    hint = f"{near} It has" if near else "; the columns are"
    return f"there is no column {col!r} for {name}{hint} {listed(df.columns)}"
