"""Read the needed columns of tables of members and topics, as types that Arrow's own functions take."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import first_line, is_path
from partwright.errors import PartwrightError
from partwright.files.scalars import as_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["OPTIONAL", "REQUIRED", "Table", "check_types", "is_table", "is_text", "read"]

# The columns of a table of members, and the optional ones; other columns are ignored.
REQUIRED = ("group", "member", "topics")
OPTIONAL = ("owned", "generation", "instance_id", "rack")
# Whole numbers of any type.
_NUMBERS = {"partitions", "partition", "generation"}
# These are all read as plain lists.
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
Table: TypeAlias = Any
"""A pyarrow table, or anything that `pyarrow.table` takes; pyarrow publishes no types."""


def is_table(given: object) -> bool:
    """Whether something is an Arrow table, offers one through the PyCapsule interface, or names a file of one.

    Examples:
        >>> is_table(pa.table({"a": [1]})), is_table({"a": [1]})
        (True, False)
    """
    return (
        isinstance(given, (pa.Table, pa.RecordBatch))
        or hasattr(given, "__arrow_c_stream__")
        or is_path(given)
    )


def read(
    name: str,
    given: Table,
    required: Sequence[str],
    optional: Sequence[str],
    *,
    keeps_dictionaries: bool = False,
) -> pa.Table:
    """The named columns of a table; the others are ignored, whatever their types are.

    Raises:
        PartwrightError: It is not a table, or lacks a column.
    """
    if is_path(given):
        given = _of_file(given)
    try:
        table = given if isinstance(given, pa.Table) else pa.table(given)
    except pa.ArrowInvalid as error:
        raise PartwrightError(f"{name} cannot be read as a table: {first_line(error)}") from None
    except (TypeError, ValueError, pa.ArrowException):
        raise PartwrightError(
            f"{name} is a table of {_enumerated(required)}, not {type(given).__name__}"
        ) from None
    for column in required:
        if table.column_names.count(column) != 1:
            how = "twice" if column in table.column_names else f"not, but {', '.join(table.column_names)}"
            raise PartwrightError(
                f"{name} has the columns {_enumerated(required)}: {column!r} is there {how}"
            )
    for column in optional:
        if table.column_names.count(column) > 1:
            raise PartwrightError(f"{name} has the column {column!r} twice: each column once")
    columns = {column: table[column] for column in (*required, *optional) if column in table.column_names}
    try:
        columns = {column: _decoded(each, keeps_dictionaries) for column, each in columns.items()}
        return pa.table(
            {name: as_whole(each) if name in _NUMBERS else each for name, each in columns.items()}
        )
    except pa.ArrowException as error:
        raise PartwrightError(f"{name} cannot be read as a table: {first_line(error)}") from None


def _of_file(file: str | os.PathLike[str]) -> pa.Table:
    """The table in a file; where it has only text, several topics are `orders,users` or a JSON list."""
    from partwright.files import read_file  # noqa: PLC0415 - a table in memory needs no reader of files

    table = read_file(file, _NUMBERS).read_all()
    place = table.schema.get_field_index("topics")
    if place < 0 or not is_text(table.schema.field(place).type):
        return table
    lists = pa.array(map(_names, table.column(place).to_pylist()), pa.list_(pa.string()))
    return table.set_column(place, "topics", lists)


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    with suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, list) and all(isinstance(each, str) for each in found):
            return found
    # No topic's name has a comma or a space.
    return [name.strip() for name in text.split(",") if name.strip()]


def _decoded(values: pa.ChunkedArray, keeps_dictionaries: bool) -> pa.ChunkedArray:
    """A column without the encodings that Arrow's own functions do not take."""
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    # In a dictionary, views are replaced first: no cast takes both steps.
    values = values.cast(_plain(values.type))
    is_dictionary = pa.types.is_dictionary(values.type)
    return values.cast(values.type.value_type) if is_dictionary and not keeps_dictionaries else values


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without views, which polars uses."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain(kind.value_type), kind.ordered)
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if any(is_it(kind) for is_it in _LISTS):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct(
            [(kind.field(at).name, _plain(kind.field(at).type)) for at in range(kind.num_fields)]
        )
    return kind


def check_types(members: pa.Table) -> None:
    """Refuse columns that are not lists of the right type; values are checked later.

    Raises:
        PartwrightError: A column is not a list of what it should hold.
    """
    for name, (told, is_it) in _KINDS.items():
        kind = members.schema.field(name).type if name in members.column_names else pa.null()
        if not (pa.types.is_null(kind) or (pa.types.is_list(kind) and is_it(kind.value_type))):
            raise PartwrightError(f"the column {name} is a list of {told}, not {kind}")


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text, or nothing but nulls.

    Examples:
        >>> is_text(pa.dictionary(pa.int32(), pa.string())), is_text(pa.int32())
        (True, False)
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    return any(is_it(kind) for is_it in text)


def _is_pair(kind: pa.DataType) -> bool:
    if pa.types.is_null(kind):
        return True
    names = (
        {kind.field(place).name for place in range(kind.num_fields)} if pa.types.is_struct(kind) else set()
    )
    return {"topic", "partition"} <= names


_KINDS: Mapping[str, tuple[str, Callable[[pa.DataType], bool]]] = {
    "topics": ("names", is_text),
    "owned": ("structs of topic and partition", _is_pair),
}


def _enumerated(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
