"""Refuse columns that a source does not have, or whose types will not do: the same for Spark's types and Arrow's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from partwright.errors import KeyTypeError, PartwrightError
from partwright.files.formats import listed, no_column

if TYPE_CHECKING:
    from partwright.pipeline.settings import SourceColumns
    from partwright.pipeline.topic_source import Source

_Type = TypeVar("_Type")


@dataclass(frozen=True)
class TypeRules(Generic[_Type]):
    """What may be which column, by its type.

    Attributes:
        check_key: Refuses a type of the key's column, whose name follows, under a key type.
        is_value: Whether a value may have it.
        is_time: Whether a timestamp may have it.
        is_number: Whether a partition may have it.
        shown: Its name.
        how: What to do to give Spark's reader an option.
    """

    check_key: Callable[[_Type, str, str | None], None]
    is_value: Callable[[_Type], bool]
    is_time: Callable[[_Type], bool]
    is_number: Callable[[_Type], bool]
    shown: Callable[[_Type], str]
    how: str


def check_columns(
    types: Mapping[str, _Type], source: Source, columns: SourceColumns, rules: TypeRules[_Type]
) -> None:
    """Refuse columns that a source does not have, or whose types will not do.

    Args:
        types: The source's columns.
        source: The source.
        columns: Those that are asked for.
        rules: What their types may be.

    Raises:
        PartwrightError: There is no such column, or its type is none for what it should be.
        KeyTypeError: The key or the value has such a type.
    """
    if columns.key is None:
        raise PartwrightError(f"say which column is the key with --key: {source.name} has {listed([*types])}")
    named = {
        "--key": columns.key,
        "--value": columns.value,
        "--timestamp": columns.timestamp,
        "--partition": columns.partition,
        "--field": columns.field,
    }
    for option, name in named.items():
        if name is not None and name not in types:
            raise _no_column(source, [*types], name, option, rules.how)
    rules.check_key(types[columns.key], columns.key, columns.key_type)
    if columns.value is not None and not rules.is_value(types[columns.value]):
        raise KeyTypeError(
            f"the value column {columns.value!r} is {rules.shown(types[columns.value])}, but a record's value is text "
            "or binary: leave --value out to write all columns as JSON"
        )
    fitting = (
        ("--timestamp", rules.is_time, "timestamps are timestamps, or whole numbers of milliseconds"),
        ("--partition", rules.is_number, "partitions are whole numbers"),
    )
    for option, fits, hint in fitting:
        column = named[option]
        if column is not None and not fits(types[column]):
            raise PartwrightError(f"the column {column!r} ({option}) is {rules.shown(types[column])}: {hint}")


def _no_column(source: Source, names: list[str], name: str, option: str, how: str) -> PartwrightError:
    """The error for a column that is not there, with the delimiter that a csv with a single name may have."""
    delimiters = [each for each in ";\t|" if source.format == "csv" and len(names) == 1 and each in names[0]]
    if not delimiters:
        return no_column(source.name, names, name, option=option)
    sep = delimiters[0].replace("\t", "\\t")
    return PartwrightError(
        f"there is no column {name!r} ({option}) in {source.name!r}, whose only column is {names[0]!r}: if '{sep}' "
        f"stands between its fields, {how} --option 'sep={sep}'"
    )
