"""Turn what a caller passes, one key or a column of them, into what Arrow's capsules carry, or say what to pass."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence, Sized
from datetime import date, datetime
from decimal import Decimal
from math import isnan
from numbers import Integral
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeGuard, cast
from uuid import UUID

import pyarrow as pa

from partwright._check import first_line
from partwright.errors import KeyTypeError, PartwrightError
from partwright.keys.key_text import text_bytes

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_SINGLE = (str, bytes, bytearray, memoryview, int, float, Decimal, date, UUID, pa.Scalar)
_INT64 = range(-(2**63), 2**63)
# How many digits Arrow's widest decimals have.
_WIDE = (range(1 - 10**76, 10**76), "76 digits", pa.decimal256(76, 0))
_INTEGER_KEYS = ("java:short", "java:int", "java:long", "digits")


def is_single(values: object) -> bool:
    """Whether this is one key, or None, and not a column; numpy's scalars have no dimensions."""
    if isinstance(values, pa.Array):
        return False
    if isinstance(values, _SINGLE) or _kind(type(values)) == "null":
        return True
    # Any attribute of Spark's Column exists, and is another Column.
    dimensions = getattr(values, "ndim", None)
    return isinstance(dimensions, int) and dimensions == 0


def is_expression(values: object) -> bool:
    """Whether this is a polars expression; polars is not imported for it."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(values, polars.Expr)


def _is_relation(values: object) -> TypeGuard[DuckDBPyRelation]:
    """Whether this is a DuckDB relation; DuckDB is not imported for it."""
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(values, duckdb.DuckDBPyRelation)


def as_column(values: object, key_type: str | None) -> object:
    """A column for the core: unchanged if it has Arrow's capsules, so that nothing is copied.

    Raises:
        KeyTypeError: The values are not a column of one kind.
        PartwrightError: A value that no Arrow type of its kind can hold.
    """
    if _is_relation(values) and len(values.columns) == 1:
        return values.to_arrow_table().column(0)
    if (sentence := right_form(values) or whole_floats(values, key_type)) is not None:
        raise KeyTypeError(sentence)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        dtype = str(getattr(values, "dtype", ""))
        if dtype == "Null":
            # polars' export of a column with only nulls cannot be read.
            return pa.nulls(len(cast("Sized", values)))
        if dtype == "Object":
            # polars puts the objects' addresses into its capsule.
            raise KeyTypeError(
                "a polars Series of Python objects has no key bytes: cast it to text or binary"
            )
        return values
    if isinstance(values, (list, tuple)):
        return _made(values, key_type, _from_sequence)
    if hasattr(values, "__array__"):
        return _made(values, key_type, _from_numpy)
    raise KeyTypeError(
        f"keys of type {type(values).__name__} are not a column: pass an Arrow array, a list of str, bytes or "
        "None, or one str or bytes"
    )


def as_arrow(values: object, key_type: str | None) -> pa.Array | pa.ChunkedArray:
    """A column as pyarrow has it, for Arrow's own functions.

    Raises:
        KeyTypeError, PartwrightError: See `as_column`.

    Examples:
        >>> as_arrow(["a", None], None).to_pylist()
        ['a', None]
    """
    column = as_column(values, key_type)
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    return pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pa.array(column)


def single_column(value: object, key_type: str | None) -> pa.Array:
    """One key as a column of one row.

    Raises:
        KeyTypeError: The value is of no kind that Arrow has.
        PartwrightError: A value that no Arrow type of its kind can hold.
    """
    if isinstance(value, pa.Scalar):
        return _made(value, key_type, lambda scalar, _: pa.repeat(scalar, 1))
    if hasattr(value, "__array__"):
        return _made(value, key_type, lambda array, _: pa.array([array[()]]))
    return _made([value], key_type, lambda values, _: _from_sequence(values, key_type, single=True))


def _made(values: object, key_type: str | None, make: Callable[[Any, str | None], pa.Array]) -> pa.Array:
    """Call `make` on Python objects, whose own code may raise anything."""
    try:
        return make(values, key_type)
    except (PartwrightError, MemoryError):
        raise
    except Exception as error:
        raise KeyTypeError(f"these keys are not a column of one kind: {first_line(error)}") from error


def _from_sequence(values: Sequence[object], key_type: str | None, *, single: bool = False) -> pa.Array:
    kind_of = {type_: _kind(type_) for type_ in set(map(type, values))}
    kinds = set(kind_of.values()) - {"null"}
    if "other" in kinds:
        # pyarrow must not see it: a list that contains itself overflows its stack.
        row, name = _first(values, kind_of, "other")
        reason = (
            f"a value of type {name} has no key bytes: a key is text, binary, a number, a boolean, a date, a timestamp "
            "or a UUID"
        )
        raise KeyTypeError(reason).at_row(row)
    if any(type_ is not NoneType and kind == "null" for type_, kind in kind_of.items()):
        values = [None if kind_of[type(value)] == "null" else value for value in values]
    if kinds == {"binary", "text"} and key_type is None:
        values, kinds = _texts_to_bytes(values, key_type), {"binary"}
    if len(kinds) > 1:
        places = [
            f"{name} in row {row}" for row, name in sorted(_first(values, kind_of, kind) for kind in kinds)
        ]
        raise KeyTypeError(f"the keys are of more than one kind: {', '.join(places)}")
    return _of_one_kind(kinds.pop() if kinds else "null", values, key_type, single=single)


def _of_one_kind(kind: str, values: Sequence[Any], key_type: str | None, *, single: bool) -> pa.Array:
    if kind == "null":
        return pa.nulls(len(values))
    if kind == "text":
        return _from_text(values, key_type, single=single)
    if kind == "integer":
        return _from_integers(values, key_type, single=single)
    if kind == "decimal":
        return _from_decimals(values)
    if kind == "uuid":
        storage = pa.array([value and value.bytes for value in values], pa.binary(16))
        return pa.ExtensionArray.from_storage(pa.uuid(), storage)
    return pa.array(values, pa.binary() if kind == "binary" else None)


def _from_text(values: Sequence[object], key_type: str | None, *, single: bool) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        # The result is UTF-8.
        return pa.array(_texts_to_bytes(values, key_type, single=single), pa.binary()).cast(pa.string())


def _texts_to_bytes(
    values: Sequence[Any], key_type: str | None, *, single: bool = False
) -> list[bytes | None]:
    return [
        text_bytes(value, key_type, None if single else row) if isinstance(value, str) else value
        for row, value in enumerate(values)
    ]


def _from_integers(values: Sequence[Any], key_type: str | None, *, single: bool) -> pa.Array:
    if key_type not in _INTEGER_KEYS:
        # The core refuses the type, whatever the values are.
        return pa.nulls(len(values), pa.int64())
    try:
        return pa.array(values, pa.int64())
    except OverflowError:
        limits, what, type_ = _WIDE if key_type == "digits" else (_INT64, "a 64-bit long", pa.int64())
    for row, value in enumerate(values):
        if value is not None and int(value) not in limits:
            refusal = PartwrightError(f"{value} does not fit into {what}")
            raise _placed(refusal, None if single else row)
    # Decimal does not accept numpy's numbers as Python's.
    return pa.array([None if value is None else int(value) for value in values], type_)


def _from_decimals(values: Sequence[Decimal | None]) -> pa.Array:
    exponents = [value.as_tuple().exponent for value in values if value is not None]
    # NaN and Infinity have letters as digits; pyarrow refuses them.
    scales = {max(0, -each) for each in exponents if isinstance(each, int)}
    if len(scales) > 1:
        # A column has one scale, and 1 and 1.0 are different keys.
        raise PartwrightError(
            "the decimals have different numbers of digits after the point, which a column cannot hold: give them the "
            "same by Decimal.quantize"
        )
    return pa.array(values)


def _from_numpy(values: Any, key_type: str | None) -> pa.Array:
    if getattr(getattr(values, "dtype", None), "hasobject", False):
        # pandas writes NaN for a missing object.
        items = [None if isinstance(value, float) and isnan(value) else value for value in values.tolist()]
        return _from_sequence(items, key_type)
    try:
        return pa.array(values)
    except UnicodeError:  # numpy's text may have surrogates
        return _from_sequence(values.tolist(), key_type)


def _kind(type_: type) -> str:
    """The kind of a type's values, as key types distinguish kinds; "other" has no key bytes."""
    if type_ is NoneType or (
        type_.__module__.startswith("pandas.") and type_.__name__ in {"NAType", "NaTType"}
    ):
        return "null"
    for types, kind in _KINDS:
        if issubclass(type_, types):
            return kind
    # One of numpy's objects, whose type pyarrow knows. pyarrow 26 crashes on a datetime64 before one of another type.
    return type_.__name__ if hasattr(type_, "dtype") else "other"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "text"),
    ((bytes, bytearray, memoryview), "binary"),
    (bool, "boolean"),
    (Integral, "integer"),
    (float, "float"),
    (Decimal, "decimal"),
    # A datetime is a date, too.
    (datetime, "timestamp"),
    (date, "date"),
    (UUID, "uuid"),
    (pa.Scalar, "scalar"),
)


def _first(values: Sequence[object], kind_of: dict[type, str], kind: str) -> tuple[int, str]:
    """The first row with a value of each kind, and the value's type."""
    return next(
        (row, type(value).__name__) for row, value in enumerate(values) if kind_of[type(value)] == kind
    )


def _placed(refusal: PartwrightError, row: int | None) -> PartwrightError:
    return refusal if row is None else refusal.at_row(row)


_FORMS = {
    "pandas.DataFrame": "pass one of its columns, df['key']",
    "pandas.DataFrameGroupBy": "pass one of its columns before it is grouped, df['key']",
    "pandas.SeriesGroupBy": "pass the Series before it is grouped",
    "pandas.Expression": "pass the column itself, df['key']",
    "polars.DataFrame": "pass pl.col('key') within its with_columns, or df['key']",
    "polars.LazyFrame": "pass pl.col('key') within its with_columns",
    "pyarrow.Table": "pass one of its columns, table['key']",
    "pyarrow.RecordBatch": "pass one of its columns, batch['key']",
    "pyarrow.RecordBatchReader": "pass one of its columns, reader.read_all()['key']",
    "duckdb.DuckDBPyRelation": "pass one of its columns, relation['key']",
    "duckdb.Expression": "pass the column itself, relation['key']",
    "datafusion.DataFrame": "call the function of this name in partwright.datafusion, with df, 'key'",
    "datafusion.Expr": "call the function of this name in partwright.datafusion, with df, 'key'",
    "pyspark.DataFrame": "call partwright.spark.with_partition(df, key='key', n=N)",
    "pyspark.Column": "call the function of this name in partwright.spark",
}
"""What to do instead, by the type of another library."""
# They are iterable, but lack the order or the length of a column. A dict is left out: list(dict) gives its names, so a
# user who passes a dict of columns would hash those.
_ONE_BY_ONE = ("set", "frozenset", "generator", "range", "map", "filter", "dict_keys", "dict_values")
# The key types under which a user means whole numbers; None because floats have no key bytes of their own.
_WHOLE = {None, "digits", "java:short", "java:int", "java:long"}


def right_form(values: object) -> str | None:
    """The sentence for something that is not a column, with what to pass instead; None if nothing is known about it.

    Examples:
        >>> import pyarrow as pa
        >>> right_form(pa.table({"k": ["a"]}))
        "a pyarrow.Table is not a column of keys: pass one of its columns, table['key']"
        >>> right_form({"a"})
        'keys of type set are not a column: pass list(keys)'
    """
    # A library's own subclasses count too: Spark has one Column for classic and one for Connect.
    for type_ in type(values).__mro__:
        name = f"{type_.__module__.split('.', 1)[0].lstrip('_')}.{type_.__name__}"
        if name in _FORMS:
            return f"a {name} is not a column of keys: {_FORMS[name]}"
    name = type(values).__name__
    return f"keys of type {name} are not a column: pass list(keys)" if name in _ONE_BY_ONE else None


def whole_floats(values: Any, key_type: str | None) -> str | None:
    """The sentence for a refused pandas column of floats that are all whole numbers; None for any other column.

    pandas has no null in `int64`, so one null makes floats of a column of whole numbers.

    Examples:
        >>> import pandas as pd
        >>> whole_floats(pd.Series([42, None]), "java:long")
        "pandas turned these whole numbers into float64, as it does if one is null: pass keys.astype('Int64')"
        >>> whole_floats(pd.Series([1.5, None]), "java:long")
    """
    if key_type not in _WHOLE or not type(values).__module__.startswith("pandas."):
        return None
    name = str(values.dtype)
    if name not in {"float32", "float64"}:
        return None
    known = values.dropna()
    if known.empty or not (known % 1 == 0).all():
        return None
    sentence = (
        f"pandas turned these whole numbers into {name}, as it does if one is null: pass keys.astype('Int64')"
    )
    if key_type is not None:
        return sentence
    return (
        f"{sentence} with key_type='digits' (the number as text) or the java: type that its producer writes; "
        "java:double takes the floats as they are"
    )
