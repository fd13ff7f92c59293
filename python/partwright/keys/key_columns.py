"""Columns of records as Arrow's, whether records are tables, frames, rows, columns, or batches of these.

>>> [keys.to_pylist() for keys in key_arrays(pa.table({"user": ["a", None]}), "user")]
[['a', None]]
>>> [keys.to_pylist() for keys in key_arrays([{"user": "a"}, {"user": "b"}], "user")]
[['a', 'b']]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from partwright._check import counted, first_line
from partwright.errors import KeyTypeError, PartwrightError
from partwright.files.formats import find_column, no_column
from partwright.files.scalars import array_of
from partwright.keys.columns import as_arrow, is_single

# How much is read at once, so that memory does not grow with a column and 32-bit offsets suffice.
_MOST_ROWS = 1 << 17
# Their columns are Series; `as_arrow` handles what a Series hides from Arrow.
_FRAMES = {"pandas", "polars"}


def key_arrays(records: object, key: str | None, key_type: str | None = None) -> Iterator[pa.Array]:
    """The keys of some records, piece by piece in their order.

    Args:
        records: See `record_columns`; if `key` is None, a column of keys, or an iterable of such columns.
        key: The column with the key; None if the records are the keys.
        key_type: How a value will become key bytes, which decides Arrow's type for Python's numbers.

    Yields:
        Arrays of 131,072 rows at most.

    Raises:
        PartwrightError: The records are of another kind, or have no such column, or two of that name.
    """
    if key is not None:
        for (keys,) in record_columns(records, [key], key_type):
            yield keys
    elif isinstance(records, Iterator) and not hasattr(records, "__arrow_c_stream__"):
        for each in records:
            yield from key_arrays(each, None, key_type)
    else:
        for column in _key_column(records, key_type):
            for first in range(0, len(column), _MOST_ROWS):
                yield column.slice(first, _MOST_ROWS)


def record_columns(
    records: Any, names: Sequence[str], key_type: str | None = None
) -> Iterator[tuple[pa.Array, ...]]:
    """Some columns of records, piece by piece in their order.

    Args:
        records: An Arrow table, record batch or stream, a DuckDB relation, a frame of pandas or polars, a dict of
            columns, a list of dicts, or an iterable of these.
        names: The columns, the key's first.
        key_type: How a key will become key bytes, which decides Arrow's type for Python's numbers.

    Yields:
        Arrays of 131,072 rows at most, as many as there are names.

    Raises:
        PartwrightError: The records are of another kind, or have no such column, or two of that name.

    Examples:
        >>> [[column.to_pylist() for column in piece] for piece in record_columns({"user": ["a"], "at": [7]}, ["user"])]
        [[['a']]]
    """
    if hasattr(records, "mapInArrow"):
        # It has Arrow's stream, too, but that would bring all of it into this process.
        raise KeyTypeError(
            "a Spark DataFrame is read by Spark: call check, fingerprint, resize or check_copartition of "
            "partwright.spark, or pass df.toArrow()"
        )
    for batch in _batches(records, names, key_type):
        for first in range(0, batch.num_rows, _MOST_ROWS):
            yield tuple(batch.slice(first, _MOST_ROWS).columns)


def _key_column(keys: object, key_type: str | None) -> Iterable[pa.Array]:
    """The chunks of a column of keys."""
    if is_single(keys):
        raise PartwrightError(f"{keys!r} is one key, not a column of keys: pass a list, or an Arrow array")
    if isinstance(keys, (list, tuple)) and any(isinstance(each, Mapping) for each in keys):
        raise PartwrightError("these are rows, not keys: say which of their members is the key, with key=")
    # Looked up on the type, because a LazyFrame computes its `columns`.
    is_table = isinstance(keys, pa.RecordBatchReader) or hasattr(type(keys), "columns")
    chunks = [] if is_table else _chunks(keys, key_type)
    if is_table or any(pa.types.is_struct(chunk.type) for chunk in chunks):
        raise PartwrightError(f"a {type(keys).__name__} has columns: say which of them is the key, with key=")
    return chunks


def _batches(records: Any, names: Sequence[str], key_type: str | None) -> Iterator[pa.RecordBatch]:
    """Batches of these columns; a stream is read only when they are asked for."""
    kind = type(records).__name__
    if isinstance(records, (list, tuple)) and all(isinstance(each, Mapping) for each in records):
        columns: list[Any] = [_members(records, name) for name in names]
    elif isinstance(records, Mapping):
        columns = [_of_dict(records, name) for name in names]
    elif _is_frame(records):
        for name in names:
            find_column(kind, column_names(records), name)
        columns = [records[name] for name in names]
    elif hasattr(records, "__arrow_c_stream__") or hasattr(records, "__arrow_c_array__"):
        yield from _streamed(records, kind, names)
        return
    elif isinstance(records, (list, tuple, Iterator)):
        for each in records:
            yield from _batches(each, names, key_type)
        return
    else:
        raise KeyTypeError(
            f"this {kind} is not a table of records: give an Arrow table, a frame of pandas or polars in memory, a "
            "list of dicts, an iterator of these, a file's name, or kafka://host:port/topic"
        )
    key, *others = columns
    chunked = [pa.chunked_array(_chunks(key, key_type)), *map(_converted, others, names[1:])]
    for name, column in zip(names[1:], chunked[1:], strict=True):
        if len(column) != len(chunked[0]):
            raise PartwrightError(
                f"the column {names[0]!r} has {counted(len(chunked[0]), 'row')} and {name!r} {len(column):,}: give as "
                "many in each"
            )
    yield from pa.Table.from_arrays(chunked, [str(at) for at, _ in enumerate(chunked)]).to_batches()


def column_names(records: Any) -> list[str]:
    """The names of a table's columns; none where only reading would show them, as of a stream.

    Examples:
        >>> column_names(pa.table({"user": ["a"], "at": [7]})), column_names([{"user": "a"}]), column_names(iter([]))
        (['user', 'at'], ['user'], [])
    """
    if isinstance(records, (list, tuple)) and records and all(isinstance(each, Mapping) for each in records):
        records = records[0]
    if isinstance(records, Mapping):
        return list(map(str, records))
    if _is_frame(records):
        return [name for name in records.columns if isinstance(name, str)]
    # Those of pyarrow's tables and of DuckDB's relations; a stream's schema would be read from it.
    for attribute in ("column_names", "columns") if hasattr(records, "__arrow_c_stream__") else ():
        if isinstance(names := getattr(records, attribute, None), list):
            return names
    return []


def _is_frame(records: object) -> bool:
    """Whether this is a DataFrame of pandas or polars, in memory."""
    package = type(records).__module__.partition(".")[0]
    return package in _FRAMES and hasattr(records, "__array__") and hasattr(records, "columns")


def _members(rows: Sequence[Mapping[str, object]], name: str) -> list[object]:
    """One member of each row, None if a row lacks it; a member that no row has is taken for a typing mistake."""
    if rows and not any(name in row for row in rows):
        raise no_column("the rows", column_names(rows), name, what="member")
    return [row.get(name) for row in rows]


def _of_dict(columns: Mapping[str, object], name: str) -> object:
    """A column of a dict of columns."""
    find_column("the dict", column_names(columns), name)
    if is_single(columns[name]):
        raise KeyTypeError(
            "one dict is one row, not a table of records: give a list of them, or a dict of columns"
        )
    return columns[name]


def _streamed(records: Any, kind: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    try:
        if hasattr(records, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(records)
        else:
            reader = pa.Table.from_batches([pa.record_batch(records)]).to_reader()
    except pa.ArrowInvalid as error:
        raise KeyTypeError(
            f"a {kind} has no columns to have a {names[0]!r} among them: leave out key="
        ) from error
    places = [find_column(kind, reader.schema.names, name) for name in names]
    for batch in reader:
        yield batch.select(places)


def _converted(values: Any, name: str) -> pa.ChunkedArray:
    """A column of another kind than keys."""
    try:
        if isinstance(values, pa.ChunkedArray) or hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        return pa.chunked_array([array_of(values)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise PartwrightError(f"the column {name!r} is not of one kind: {first_line(error)}") from error


def _chunks(column: object, key_type: str | None) -> list[pa.Array]:
    """The chunks of one column, as pyarrow has them."""
    arrow = as_arrow(column, key_type)
    return list(arrow.chunks) if isinstance(arrow, pa.ChunkedArray) else [arrow]
