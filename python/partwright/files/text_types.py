"""The meaning of text under a key type: numbers and booleans of a file that has only text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.files.formats import Column, ColumnRequest

__all__ = ["read_one", "typed"]

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


def typed(column: Column, wanted: ColumnRequest, path: str, first_row: int) -> Column:
    """Convert a column of text to the wanted type.

    Args:
        column: Text.
        wanted: The requested column.
        path: The file's name, for errors.
        first_row: The number, in the file, of the column's first row.

    Returns:
        The column; text if the type is text, or if it is lenient and a value does not fit.

    Raises:
        PartwrightError: A text that does not fit.
    """
    if wanted.type == pa.string():
        return column
    form, what = _FORMS[wanted.type]
    if pc.all(pc.match_substring_regex(column, form)).as_py() is not False:
        try:
            return column.cast(wanted.type)
        except pa.ArrowInvalid:
            pass
    if wanted.lenient:
        return column
    row, text = next(
        (row, text)
        for row, text in enumerate(column.to_pylist(), first_row)
        if text is not None and not _fits(text, wanted.type, form)
    )
    raise PartwrightError(
        f"row {row} of {path!r}: {text!r} in column {wanted.name!r} is not {what}",
        field=wanted.name,
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
    found: int | float | bool = pa.array([text]).cast(type_)[0].as_py()
    return found


def _fits(text: str, type_: pa.DataType, form: str) -> bool:
    one = pa.array([text])
    if not pc.match_substring_regex(one, form)[0].as_py():
        return False
    try:
        one.cast(type_)
    except pa.ArrowInvalid:
        return False
    return True
