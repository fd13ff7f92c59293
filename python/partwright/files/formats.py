"""The common interface of all file formats, the refusals that they share, and what text means under a key type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright._check import counted, first_line, meant, shown
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Column: TypeAlias = pa.Array | pa.ChunkedArray
TEXT_AND_BINARY = (pa.string(), pa.binary(), pa.large_string(), pa.large_binary())
"""The types whose values have any number of bytes."""

_SHOWN = 20
_TEXT_TYPES = {
    "java:short": pa.int64(),
    "java:int": pa.int64(),
    "java:long": pa.int64(),
    "digits": pa.int64(),
    "java:float": pa.float32(),
    "java:double": pa.float64(),
    "java:boolean": pa.bool_(),
}


@dataclass(frozen=True)
class ColumnRequest:
    """A requested column.

    Attributes:
        name: Its name.
        type: The type of its values in a format that has only text, or JSON's few types. Formats with types of their
            own give the column as it is.
        lenient: Whether a value that does not fit is returned as text instead of refused.
    """

    name: str
    type: pa.DataType
    lenient: bool = False


class Writable(Protocol):
    """Takes a file's bytes."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Take all of the data, and return how many bytes it was."""


class Records:
    """An open file of records, the base of all formats; it is open until the `with` ends.

    Attributes:
        format: Its name; files of the same format can replace each other.
        is_text: Whether a terminal can show it.
        read_as: What a text without a format of its own was taken for; None for others.
        done: How much of the file has been read, 0 to 1; None where nobody knows its size.
    """

    format: str
    is_text: bool
    read_as: str | None = None

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def done(self) -> float | None:
        """How much of the file has been read, 0 to 1; None where nobody knows its size."""
        return None

    def read(self, requests: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """Some columns in batches, in the file's order.

        Raises:
            PartwrightError: A column is missing or there twice, or the file cannot be read to its end.
        """
        raise NotImplementedError

    def types(self) -> Iterator[Mapping[str, pa.DataType]]:
        """The columns and their types: once, as the file declares them; of JSON, what each further part shows.

        A type that is not known is null, and nothing is known of columns of one name. An open file is read once, by
        this or by `read`.

        Raises:
            PartwrightError: The file cannot be read.
        """
        raise NotImplementedError

    def extend(
        self, key: ColumnRequest, name: str, computed: Callable[[Column], Column], sink: Writable
    ) -> None:
        """Write the whole file to `sink` with one more column, and everything else as it is.

        Args:
            key: The column that `computed` gets, batch by batch in the file's order.
            name: The new column's name.
            computed: Returns an int32 column of the same length as its argument.
            sink: Where the bytes go.

        Raises:
            PartwrightError: The key column is missing or there twice, the new one exists already, or the file cannot be
                read to its end.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@contextmanager
def whole(path: str, what: str) -> Iterator[None]:
    """Report a file that pyarrow cannot read as not whole."""
    try:
        yield
    # The last two are pyarrow's for a name that is not UTF-8 and for messages that end too early.
    except (pa.ArrowException, OSError, UnicodeDecodeError, EOFError) as error:
        raise PartwrightError(
            f"{path!r} is not a whole {what} ({first_line(error)}): it may be cut off", path=path
        ) from error


def in_one(column: Column) -> pa.Array:
    """A column without chunks.

    Examples:
        >>> len(in_one(pa.chunked_array([], pa.string())))
        0
    """
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


def longest_in(values: pa.Array) -> int:
    """The most bytes of a value of a column, at least 1; 1 if its type is neither text nor binary.

    Examples:
        >>> longest_in(pa.array(["a", "abc", None])), longest_in(pa.array([5]))
        (3, 1)
    """
    return pc.max(pc.binary_length(values)).as_py() or 1 if values.type in TEXT_AND_BINARY else 1


def in_pieces(columns: Sequence[Column], most: int) -> Iterator[tuple[Column, ...]]:
    """Columns of a batch, in pieces in which no dictionary's values, repeated row by row, have more bytes than that.

    Examples:
        >>> [len(keys) for (keys,) in in_pieces([pa.array(["abc", "abc", "a"]).dictionary_encode()], 6)]
        [2, 1]
    """
    longest = [longest_in(column.dictionary) for column in columns if pa.types.is_dictionary(column.type)]
    rows = max(1, most // max(longest, default=1))
    for start in range(0, max(len(columns[0]), 1), rows):
        yield tuple(column.slice(start, rows) for column in columns)


def text_type(key_type: str | None) -> pa.DataType:
    """The type of a key that a file has only as text, under a key type.

    Examples:
        >>> text_type("java:int"), text_type(None)
        (DataType(int64), DataType(string))
    """
    return _TEXT_TYPES.get(_core.check(1, "java", key_type) or "", pa.string())


def find_column(path: str, names: Sequence[str], name: str, *, hint: str = "") -> int:
    """The place of a column; if no name is similar, the error ends with the hint.

    Raises:
        PartwrightError: It is missing, or there more than once.
    """
    if name not in names:
        raise no_column(path, names, name, hint=hint)
    if names.count(name) > 1:
        raise PartwrightError(
            f"{path!r} has {counted(names.count(name), 'column')} named {name!r}: rename all but one of them",
            path=path,
        )
    return names.index(name)


def declared(names: Sequence[str], types: Iterable[pa.DataType]) -> Iterator[dict[str, pa.DataType]]:
    """The columns that a file declares, once; none if two have one name."""
    if len({*names}) == len(names):
        yield dict(zip(names, types, strict=False))


def path_in(names: Sequence[str], name: str) -> list[str]:
    """The path of a column: its name, or, if there is none of that name and it has dots, the path into a structure.

    Examples:
        >>> path_in(["user", "total"], "user.id"), path_in(["user.id"], "user.id"), path_in(["a.b", "c"], "a.b.d")
        (['user', 'id'], ['user.id'], ['a.b', 'd'])
    """
    if name in names or "." not in name:
        return [name]
    for known in sorted(names, key=len, reverse=True):
        if name.startswith(f"{known}."):
            return [known, *name[len(known) + 1 :].split(".")]
    return [name]


def picked(path: str, column: Column, inside: Sequence[str], name: str) -> Column:
    """A field of a column of structures, null if the structure is null.

    Raises:
        PartwrightError: It has no such field.
    """
    for field in inside:
        names = [each.name for each in column.type] if pa.types.is_struct(column.type) else []
        if field not in names:
            raise no_column(path, names, field, what=f"field of {name!r}")
        column = pc.struct_field(column, names.index(field))
    return column


def no_column(
    path: str, names: Sequence[str], name: str, *, what: str = "column", option: str = "", hint: str = ""
) -> PartwrightError:
    """The error for a missing column, which an option may have named, with the most similar names.

    Examples:
        >>> print(no_column("orders.csv", ["customer", "total"], "custmer"))
        there is no column 'custmer' in 'orders.csv': did you mean 'customer'? It has customer, total
    """
    near = meant(name, names, most=2)
    introduction = f"{near} It has" if near else ": it has"
    by = f" ({option})" if option else ""
    more = "" if near else hint
    return PartwrightError(
        f"there is no {what} {shown(name)}{by} in {path!r}{introduction} {listed(names)}{more}", path=path
    )


def listed(names: Sequence[str]) -> str:
    """The names of the columns that there are, as part of a sentence.

    Examples:
        >>> listed(["id", ""]), listed([f"c{n}" for n in range(22)])[-14:]
        ("id, ''", 'c19 and 2 more')
    """
    # A damaged file's names may be empty or blank.
    shown = ", ".join(each if each.strip() else repr(each) for each in names[:_SHOWN]) or "no columns"
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def refuse_taken(path: str, names: Sequence[str], name: str) -> None:
    """Refuse a new column whose name is in use.

    Raises:
        PartwrightError: There is such a column.
    """
    if name in names:
        raise taken(path, name)


def not_regular(path: str) -> PartwrightError:
    """The error for a pipe or a device where the file must be readable in any order."""
    return PartwrightError(
        f"{path!r} is not a regular file, and its format is not read in one go: copy it to one", path=path
    )


def taken(path: str, name: str, *, where: str = "") -> PartwrightError:
    """The error for a new column that exists already."""
    return PartwrightError(
        f"{where}{path!r} has a column {name!r} already: give the new one another name with --column",
        path=path,
    )


# Python does not read whole numbers of more than 4,300 digits.
_LONG = 100

# Arrow's own casts accept more, such as 0x10 as a number and 1 as true.
_FLOAT = r"^[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[iI]nf(?:inity)?|[nN]a[nN])$"
_FORMS = {
    pa.int64(): ("^-?[0-9]+$", "a whole number of 64 bits"),
    pa.float32(): (_FLOAT, "a floating-point number"),
    pa.float64(): (_FLOAT, "a floating-point number"),
    pa.bool_(): ("^(true|false)$", "true or false"),
}


def typed(column: Column, request: ColumnRequest, path: str, first_row: int) -> Column:
    """Convert a column of text to the wanted type.

    Args:
        column: Text.
        request: The requested column.
        path: The file's name, for errors.
        first_row: The number, in the file, of the column's first row.

    Returns:
        The column; text if the type is text, or if it is lenient and a value does not fit.

    Raises:
        PartwrightError: A text that does not fit.
    """
    if request.type == pa.string():
        return column
    form, what = _FORMS[request.type]
    if pc.all(pc.match_substring_regex(column, form)).as_py() is not False:
        try:
            return column.cast(request.type)
        except pa.ArrowInvalid:
            pass
    if request.lenient:
        return column
    row, text = next(
        (row, text)
        for row, text in enumerate(column.to_pylist(), first_row)
        if text is not None and not _fits(text, request.type, form)
    )
    raise PartwrightError(
        f"row {row} of {path!r}: {text!r} in column {request.name!r} is not {what}",
        field=request.name,
        value=text,
        path=path,
    )


def read_one(text: str, type_: pa.DataType) -> int | float | bool | None:
    """One text as a number or a boolean; None if it is neither.

    Examples:
        >>> read_one("42", pa.int64()), read_one(" 42", pa.int64())
        (42, None)
    """
    if not _fits(text, type_, _FORMS[type_][0]):
        # The caller, who knows the limits, checks whole numbers of more than 64 bits.
        whole = type_ == pa.int64() and re.fullmatch(_FORMS[type_][0], text)
        return int(text) if whole and len(text) < _LONG else None
    value: int | float | bool = pa.array([text]).cast(type_)[0].as_py()
    return value


def _fits(text: str, type_: pa.DataType, form: str) -> bool:
    one = pa.array([text])
    if not pc.match_substring_regex(one, form)[0].as_py():
        return False
    try:
        one.cast(type_)
    except pa.ArrowInvalid:
        return False
    return True
