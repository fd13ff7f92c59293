"""The keys of records as Arrow columns, whether records are tables, frames, rows, or batches of these.

>>> [keys.to_pylist() for keys in key_columns(pa.table({"user": ["a", None]}), "user")]
[['a', None]]
>>> [keys.to_pylist() for keys in key_columns([{"user": "a"}, {"user": "b"}], "user")]
[['a', 'b']]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from partwright.errors import KeyTypeError, PartwrightError
from partwright.files.formats import find_column, no_column
from partwright.keys.as_column import as_arrow, is_single

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["key_columns"]

# How much is read at once, so that memory does not grow with a column and 32-bit offsets suffice.
_MOST_ROWS = 1 << 17
# Their columns are Series; `as_arrow` handles what a Series hides from Arrow.
_FRAMES = {"pandas", "polars"}


def key_columns(records: object, key: str | None, key_type: str | None = None) -> Iterator[pa.Array]:
    """The keys of some records, piece by piece in their order.

    Args:
        records: An Arrow table, record batch or stream, a frame of pandas or polars, a list of dicts, or an iterable of
            these; if `key` is None, a column of keys, or an iterable of such columns.
        key: The column with the key; None if the records are the keys.
        key_type: How a value will become key bytes, which decides Arrow's type for Python's numbers.

    Yields:
        Arrays of 131,072 rows at most.

    Raises:
        PartwrightError: The records are of another kind, or have no such column, or two of that name.
    """
    if isinstance(records, Iterator) and not hasattr(records, "__arrow_c_stream__"):
        for each in records:
            yield from key_columns(each, key, key_type)
        return
    for column in _key_column(records, key_type) if key is None else _columns_named(records, key, key_type):
        for first in range(0, len(column), _MOST_ROWS):
            yield column.slice(first, _MOST_ROWS)


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


def _columns_named(records: Any, key: str, key_type: str | None) -> Iterable[pa.Array]:
    """The chunks of a column of records; a stream's are read only when they are asked for."""
    kind = type(records).__name__
    if isinstance(records, (list, tuple)):
        if all(isinstance(each, Mapping) for each in records):
            return _chunks(_members(records, key), key_type)
        return key_columns(iter(records), key, key_type)
    if _is_frame(records):
        find_column(kind, [name for name in records.columns if isinstance(name, str)], key)
        return _chunks(records[key], key_type)
    try:
        if hasattr(records, "__arrow_c_stream__"):
            return _streamed(pa.RecordBatchReader.from_stream(records), kind, key)
        if hasattr(records, "__arrow_c_array__"):
            return _streamed(pa.Table.from_batches([pa.record_batch(records)]).to_reader(), kind, key)
    except pa.ArrowInvalid as error:
        raise KeyTypeError(f"a {kind} has no columns to have a {key!r} among them: leave out key=") from error
    if isinstance(records, Mapping):
        raise KeyTypeError("one dict is one row, not a table of records: give a list of them")
    raise KeyTypeError(
        f"a {kind} is not a table of records: give an Arrow table, a frame of pandas or polars, a list of dicts, or an "
        "iterator of these"
    )


def _is_frame(records: object) -> bool:
    """Whether this is a DataFrame of pandas or polars, in memory."""
    package = type(records).__module__.partition(".")[0]
    return package in _FRAMES and hasattr(records, "__array__") and hasattr(records, "columns")


def _members(rows: Sequence[Mapping[str, object]], key: str) -> list[object]:
    """One member of each row, None if a row lacks it; a member that no row has is taken for a typing mistake."""
    if rows and not any(key in row for row in rows):
        raise no_column("the rows", list(map(str, rows[0])), key, what="member")
    return [row.get(key) for row in rows]


def _streamed(reader: pa.RecordBatchReader, kind: str, key: str) -> Iterator[pa.Array]:
    at = find_column(kind, reader.schema.names, key)
    return (batch.column(at) for batch in reader)


def _chunks(column: object, key_type: str | None) -> list[pa.Array]:
    """The chunks of one column, as pyarrow has them."""
    arrow = as_arrow(column, key_type)
    return list(arrow.chunks) if isinstance(arrow, pa.ChunkedArray) else [arrow]
