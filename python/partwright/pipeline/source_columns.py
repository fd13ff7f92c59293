"""Refuse a run for its source's columns and their types: by its files, in a second, and later by Spark's schema."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_type

from partwright.errors import PartwrightError
from partwright.files import ColumnRequest, open_records, text_type
from partwright.files.opening import FORMATS
from partwright.pipeline.column_roles import TypeRules, check_columns
from partwright.spark.marks import HEADERS
from partwright.spark.schema import check_key_type

if TYPE_CHECKING:
    from partwright.files import Records
    from partwright.pipeline.settings import SourceColumns
    from partwright.pipeline.topic_source import Source

NUMBERS: dict[str | None, T.DataType] = {
    "java:short": T.ShortType(),
    "java:int": T.IntegerType(),
    "java:long": T.LongType(),
    "digits": T.LongType(),
    "java:float": T.FloatType(),
    "java:double": T.DoubleType(),
    "java:boolean": T.BooleanType(),
}
"""The types that Spark casts text to before one of Java's serializers takes it."""
# A look at the files that takes longer than Spark needs to start is left to Spark.
_SECONDS = 20.0
# Spark has no such types, and reads larger ones.
_UNSIGNED = {pa.uint8(): T.ShortType(), pa.uint16(): T.IntegerType(), pa.uint32(): T.LongType()}
_TOPICS = T.StructType(
    [
        T.StructField(name, kind)
        for name, kind in {
            "key": T.BinaryType(),
            "value": T.BinaryType(),
            "topic": T.StringType(),
            "partition": T.IntegerType(),
            "offset": T.LongType(),
            "timestamp": T.TimestampType(),
            "timestampType": T.IntegerType(),
            "headers": HEADERS,
        }.items()
    ]
)
"""The columns that Spark's Kafka connector gives each topic."""


def check_schema(schema: T.StructType, source: Source, columns: SourceColumns) -> None:
    """Refuse columns that a source does not have, or whose types will not do; see `check_columns`."""
    check_columns({each.name: each.dataType for each in schema}, source, columns, _RULES)


def _check_key(kind: T.DataType, name: str, key_type: str | None) -> None:
    is_number = isinstance(kind, T.StringType) and key_type in NUMBERS
    check_key_type(NUMBERS[key_type] if is_number else kind, key_type, name, "; name a column of such a type")


_TIMES = (T.TimestampType, T.TimestampNTZType, T.IntegerType, T.LongType, T.NullType)
_RULES = TypeRules[T.DataType](
    check_key=_check_key,
    is_value=lambda kind: isinstance(kind, (T.StringType, T.BinaryType, T.NullType)),
    is_time=lambda kind: isinstance(kind, _TIMES),
    is_number=lambda kind: isinstance(kind, (T.StringType, T.IntegralType, T.NullType)),
    shown=lambda kind: kind.simpleString(),
    how="add",
)


def refuse_by_files(path: str | None, source: Source, columns: SourceColumns) -> None:
    """Refuse what the source's files, or a topic's fixed columns, show to be wrong, before anything is started.

    Nothing is refused of which Spark may have another opinion, and nothing that cannot be read here.

    Args:
        path: The files, as the user named them; None for a topic.
        source: The source.
        columns: Those that are asked for.

    Raises:
        PartwrightError: See `check_columns`; or one of the first keys is not what the key type says, or the first
            lines of a file are not JSON, or it is not Parquet.
        KeyTypeError: See `check_columns`.
    """
    if source.format == "kafka":
        check_schema(_TOPICS, source, columns)
    if path is None or source.format not in FORMATS:
        return
    try:
        with open_records(path, source.format) as records:
            refusal = _refusal(records, source, columns)
        refusal = refusal or _misfit(path, source, columns)
    except PartwrightError as error:
        refusal = error if _is_broken(error, source.format) else None
    if refusal is not None:
        raise refusal


def _is_broken(error: PartwrightError, source_format: str) -> bool:
    """Whether Spark cannot read the file either: it is not Parquet at all, or a line of it is not JSON to anybody.

    Spark takes single quotes, `INF`, and a carriage return alone as the end of a line. What follows a line's first
    object it leaves out without a word, so such a line counts as broken.
    """
    if source_format == "parquet":
        return re.search("magic bytes|file size", str(error.__cause__)) is not None
    line = error.value if source_format == "json" else None
    return isinstance(line, str) and not re.search("['\r]|INF", line)


def _refusal(records: Records, source: Source, columns: SourceColumns) -> PartwrightError | None:
    """What is wrong once all columns are known; None as soon as nothing is."""
    refusal, until = None, time.monotonic() + _SECONDS
    for types in records.types():
        # To columns without a name, and to two of one name, Spark gives other names.
        is_renamed = len({name.casefold() for name in types}) < len(types) or not all(types)
        if is_renamed or time.monotonic() > until:
            return None
        schema = T.StructType([T.StructField(name, _spark_type(kind)) for name, kind in types.items()])
        try:
            check_schema(schema, source, columns)
        except PartwrightError as error:
            refusal = error
        else:
            return None
    return refusal


def _misfit(path: str, source: Source, columns: SourceColumns) -> PartwrightError | None:
    """The refusal of one of the first keys, if it is text that neither we nor Spark read as its number."""
    has_own_nulls = bool(source.options.get("nullValue"))
    if columns.key_type not in NUMBERS or columns.key is None or has_own_nulls:
        return None
    request = ColumnRequest(columns.key, text_type(columns.key_type))
    try:
        with open_records(path, source.format) as records:
            next(iter(records.read([request])), None)
    except PartwrightError as error:
        is_misfit = isinstance(error.value, str) and not _sparks_number(error.value, request.type)
        return error if is_misfit else None
    return None


def _sparks_number(text: str, kind: pa.DataType) -> bool:
    """Whether Spark, which takes more than `partwright.files`, may read a text as a number or a boolean."""
    word = text.strip().lower()
    if pa.types.is_boolean(kind):
        return word in {"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"}
    if pa.types.is_integer(kind):
        return re.fullmatch("[+-]?[0-9]+", word) is not None
    try:
        float(word.rstrip("df"))
    except ValueError:
        return word in {"inf", "+inf", "-inf"}
    return True


def _spark_type(kind: pa.DataType) -> T.DataType:
    """The type that Spark has for a file's column; void if only Spark knows."""
    # In Parquet, a duration is a whole number.
    if kind in _UNSIGNED or pa.types.is_duration(kind):
        return _UNSIGNED.get(kind, T.NullType())
    try:
        return from_arrow_type(kind, prefer_timestamp_ntz=True)
    except PySparkException:
        return T.NullType()
