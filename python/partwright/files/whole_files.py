"""All columns of a file as a stream of record batches, wherever a function takes a table of records."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.files.formats import ColumnRequest, in_one
from partwright.files.opening import open_records

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["read_file"]


def read_file(file: str | os.PathLike[str], numbers: Collection[str] = ()) -> pa.RecordBatchReader:
    """The records of a file, a folder or a pattern, whose format its name tells.

    Args:
        file: Its name.
        numbers: The columns that are whole numbers, also where the file has only text; other columns of csv are text.

    Raises:
        PartwrightError: There is no such file, it holds no records, or a column's type changes within it.
    """
    path = os.fspath(file)
    if path == "-":
        raise PartwrightError("stdin is read once, and a table is read more often: name a file")
    types: dict[str, pa.DataType] = {}
    with open_records(path) as records:
        for each in records.types():
            types = dict(each)
    wanted = [
        ColumnRequest(name, _column_type(kind, is_number=name in numbers)) for name, kind in types.items()
    ]
    batches = _batches(path, wanted)
    first = next(batches, None)
    schema = pa.schema([(each.name, each.type) for each in wanted]) if first is None else first.schema
    started = () if first is None else (first,)
    return pa.RecordBatchReader.from_batches(schema, chain(started, _of_schema(path, batches, schema)))


def _column_type(kind: pa.DataType, *, is_number: bool) -> pa.DataType:
    is_text = pa.types.is_null(kind) or pa.types.is_string(kind)
    return kind if not is_text else pa.int64() if is_number else pa.string()


def _batches(path: str, wanted: Sequence[ColumnRequest]) -> Iterator[pa.RecordBatch]:
    names = [each.name for each in wanted]
    with open_records(path) as records:
        for columns in records.read(wanted):
            yield pa.RecordBatch.from_arrays([in_one(column) for column in columns], names)


def _of_schema(path: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        try:
            yield batch.cast(schema)
        except (pa.ArrowException, ValueError) as error:
            raise PartwrightError(
                f"a column of {path!r} is of several types ({first_line(error)}): write it with one type",
                path=path,
            ) from None
