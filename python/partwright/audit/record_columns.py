"""Convert users' columns to the columns of an audit: key bytes, partitions, timestamps and offsets."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import MOST_LONG, first_line, refused, shown, spelled
from partwright.errors import KeyTypeError, PartwrightError
from partwright.files.formats import in_one
from partwright.files.scalars import FALSE, TRUE, array_of, number
from partwright.keys.columns import as_arrow
from partwright.keys.hashing import encode, partition_for_key

if TYPE_CHECKING:
    from partwright.keys.hashing import Column

# A whole number of 64 bits, except for the last few; a program that has only floats writes it with a point and zeros.
_WHOLE = r"^(-?0*(?:[0-9]{1,18}|[0-8][0-9]{18}))(?:\.0*)?$"
_ABSENT = ("", "NaN")
# The largest partition, because n is at most 2^31-1.
_LARGEST = 2**31 - 2
# The largest size of a record, whose length is stored in 32 bits.
_LARGEST_SIZE = 2**31 - 1
_RANGES = {"offset": "from 0 on", "size": f"from 0 to {_LARGEST_SIZE}", "timestamp": "of milliseconds"}


def checked_n(n: SupportsIndex | None, parameter: str = "n") -> int | None:
    """Check a number of partitions; None means that it has to be found.

    Args:
        n: The number.
        parameter: The name under which the caller gives it.

    Raises:
        PartwrightError: It is invalid.

    Examples:
        >>> checked_n(12), checked_n(None)
        (12, None)
    """
    if n is None:
        return None
    try:
        partition_for_key(None, n)
    except PartwrightError as error:
        if parameter == "n" or error.reason is None:
            raise
        raise refused(n, spelled(parameter), error.reason).knowing(field=parameter) from None
    return index(n)


def columns(
    key: Column,
    partition: object,
    timestamp: object = None,
    offset: object = None,
    key_type: str | None = None,
    first_row: int = 0,
) -> tuple[pa.Array, pa.Array, pa.Array | None, pa.Array | None]:
    """The columns that `Observed.add` takes.

    Args:
        key: The keys.
        partition: Their partitions, whole numbers without nulls or text of such.
        timestamp: Their times, whole numbers of milliseconds or times, null if unknown; None if none are known.
        offset: Their offsets, whole numbers or text of such, the same.
        key_type: How a key becomes bytes.
        first_row: The row of the whole file that is the columns' first.

    Returns:
        Key bytes, partitions, milliseconds since 1970 and offsets: binary and whole numbers of 64 bits.

    Raises:
        PartwrightError: A value is invalid; with its row.

    Examples:
        >>> columns(["a"], ["4"])[1].to_pylist()
        [4]
    """
    return (
        in_one(encode(as_arrow(key, key_type), key_type)),
        places(partition, first_row),
        None if timestamp is None else milliseconds(array_named(timestamp, "timestamp"), first_row),
        None if offset is None else counts(offset, "offset", first_row),
    )


def places(
    partitions: object,
    first_row: int = 0,
    n: int | None = None,
) -> pa.Array:
    """Partitions as whole numbers of 64 bits.

    Raises:
        PartwrightError: A value is not a partition, or not below n; with its row, counted from `first_row`.

    Examples:
        >>> places(["4", "7.0"]).to_pylist()
        [4, 7]
    """
    column = array_named(partitions, "partition")
    numbers = whole_numbers(column, "partition", first_row, n)
    largest = _LARGEST if n is None else n - 1
    if numbers.null_count or not _are_within(numbers, largest):
        wrong = pc.or_(pc.less(numbers, number(0)), pc.greater(numbers, number(largest)))
        _refuse_first(pc.fill_null(wrong, TRUE), column, "partition", first_row, n)
    return numbers


def counts(values: object, what: str, first_row: int = 0) -> pa.Array:
    """Offsets or sizes as whole numbers of 64 bits, null if unknown.

    Args:
        values: A column of whole numbers, or of text of such.
        what: What one is called, such as `offset`.
        first_row: The row of the whole file that is the column's first.

    Raises:
        PartwrightError: A value is not a whole number, is negative, or is too large for a record's size; with its row.

    Examples:
        >>> counts(["4", None], "offset").to_pylist()
        [4, None]
    """
    column = array_named(values, what)
    numbers = whole_numbers(column, what, first_row)
    largest = _LARGEST_SIZE if what == "size" else MOST_LONG
    if not _are_within(numbers, largest):
        wrong = pc.or_(pc.less(numbers, number(0)), pc.greater(numbers, number(largest)))
        _refuse_first(pc.fill_null(wrong, FALSE), column, what, first_row)
    return numbers


def whole_numbers(
    column: pa.Array | pa.ChunkedArray, what: str, first_row: int = 0, n: int | None = None
) -> pa.Array:
    """A column of whole numbers as int64, however a program has written it: `7`, ` 7` and `7.0` are 7.

    Args:
        column: Whole numbers, floating-point or decimal numbers, or text of such. NaN, as a number or text, and empty text are null.
        what: What one is called: `partition`, `offset` or `size`.
        first_row: The row of the whole file that is the column's first.
        n: How many partitions the topic has, for the sentence of a refusal.

    Raises:
        KeyTypeError: The column is of another type.
        PartwrightError: A value is not a whole number; with its row.

    Examples:
        >>> whole_numbers(pa.array(["3", " 3.0", "", None]), "partition").to_pylist()
        [3, 3, None, None]
        >>> whole_numbers(pa.array([3.0, 3.5]), "partition")
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: row 1 is in 3.5, which is not a partition: they are whole numbers from 0 to 2147483646
    """  # noqa: E501 - the error's sentence is one line
    column = in_one(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    type_ = column.type
    if pa.types.is_integer(type_) or pa.types.is_null(type_):
        # A number that is too large becomes negative, which is just as wrong.
        return column.cast(pa.int64(), safe=False)
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        size = pc.abs(column.cast(pa.float64()))
        # Arrow's kernels do not take floats of 16 bits. A program that has no null among its numbers writes NaN.
        numbers = column if pa.types.is_decimal(type_) else column.cast(pa.float64())
        numbers = pc.if_else(pc.is_nan(size), pa.nulls(1, numbers.type)[0], numbers)
        is_whole = pc.and_(pc.equal(pc.trunc(numbers), numbers), pc.less(size, pa.scalar(2.0**63)))
    elif pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        # Nearly all columns of text are digits only, which Arrow converts at once unless there are too many.
        if pc.all(pc.ascii_is_decimal(column.cast(pa.string())), min_count=0).as_py():
            with suppress(pa.ArrowInvalid):
                return column.cast(pa.int64())
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        text = pc.if_else(_is_absent(text), pa.nulls(1, pa.string())[0], text)
        is_whole = pc.match_substring_regex(text, _WHOLE)
        numbers = pc.replace_substring_regex(text, _WHOLE, r"\1")
    else:
        raise KeyTypeError(
            f"{what}s of type {type_} are not whole numbers: name another column with {spelled(what)}"
        )
    if pc.all(is_whole, min_count=0).as_py():
        return numbers.cast(pa.int64())
    return _refuse_first(pc.fill_null(pc.invert(is_whole), FALSE), column, what, first_row, n)


def _refuse_first(
    wrong: pa.Array, column: pa.Array, what: str, first_row: int, n: int | None = None
) -> NoReturn:
    """Refuse the first of a column's wrong values, with its row."""
    row = pc.indices_nonzero(wrong)[0].as_py()
    value = column[row].as_py()
    text = str(value) if isinstance(value, Decimal) else shown(value)
    if what == "partition":
        of, end = ("", _LARGEST) if n is None else (f" of {n}", n - 1)
        # Empty text and NaN are null, too.
        is_null = value is None or text == "nan" or (isinstance(value, str) and value.strip() in _ABSENT)
        place = "no partition" if is_null else f"{text}, which is not a partition"
        reason = f"is in {place}{of}: they are whole numbers from 0 to {end}"
        if is_null:
            reason += "; leave out rows without one, whose records were not written"
    else:
        reason = f"has the {what} {text}, which is not a whole number {_RANGES[what]}"
    raise PartwrightError(
        f"row {first_row + row} {reason}", row=first_row + row, field=what, value=value, reason=reason
    )


def milliseconds(column: pa.Array | pa.ChunkedArray, first_row: int = 0) -> pa.Array:
    """Milliseconds since 1970, as in Kafka: whole numbers stay as they are, times and ISO 8601 text are converted.

    Raises:
        PartwrightError: A value is neither; with its row.

    Examples:
        >>> milliseconds(pa.array(["1970-01-01T00:00:01Z", "7"])).to_pylist()
        [1000, 7]
    """
    column = in_one(column)
    try:
        if pa.types.is_integer(column.type):
            return column.cast(pa.int64())
        if _is_number(column.type):
            return whole_numbers(column, "timestamp", first_row)
        if pa.types.is_timestamp(column.type):
            return _floor(column)
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        whole = pc.or_(pc.match_substring_regex(text, _WHOLE), _is_absent(text))
        none = pa.nulls(1, pa.string())[0]
        numbers = whole_numbers(pc.if_else(whole, text, none), "timestamp")
        others = pc.if_else(whole, none, text)
        zoned = pc.match_substring_regex(others, "(?:Z|[-+][0-9]{2}:?[0-9]{2})$")
        plain = pc.if_else(zoned, none, others).cast(pa.timestamp("ns"))
        utc = pc.if_else(zoned, others, none).cast(pa.timestamp("ns", "UTC"))
        return pc.coalesce(numbers, _floor(plain), _floor(utc))
    except pa.ArrowException as error:
        raise PartwrightError(
            f"the timestamps from row {first_row} on are not times ({first_line(error)}): they are whole "
            "numbers of milliseconds, or text such as 2026-01-31T12:00:00Z"
        ) from error


def _are_within(column: pa.Array, largest: int) -> bool:
    """Whether every number in a column is from 0 to `largest`; nulls do not count."""
    ends = pc.min_max(column).as_py()
    return ends["min"] is None or 0 <= ends["min"] <= ends["max"] <= largest


def _is_absent(text: pa.Array) -> pa.Array:
    """Which values are the text that a program without nulls writes for one."""
    return pc.is_in(text, pa.array(_ABSENT, pa.string()), skip_nulls=True)


def _is_number(type_: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_null, pa.types.is_floating, pa.types.is_decimal)
    return any(each(type_) for each in kinds)


def _floor(times: pa.Array) -> pa.Array:
    if times.type.unit == "ms":
        return times.cast(pa.int64())
    # Casting seconds cuts nothing off, but may overflow.
    is_exact = times.type.unit == "s"
    whole = times.cast(pa.timestamp("ms", times.type.tz), safe=is_exact)
    # Arrow's own cast rounds towards 1970 from both sides.
    is_later = pc.greater(whole.cast(times.type, safe=False), times)
    return pc.subtract(whole.cast(pa.int64()), is_later.cast(pa.int64()))


def array_named(values: Any, what: str) -> pa.Array:
    """A column as one array, if it is not Arrow's already.

    Args:
        values: The column.
        what: What one of its values is called.

    Raises:
        PartwrightError: The values are not of one kind.

    Examples:
        >>> array_named([7, None], "partition").to_pylist()
        [7, None]
    """
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return in_one(values)
    try:
        return in_one(pa.chunked_array(values)) if hasattr(values, "__arrow_c_stream__") else array_of(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise PartwrightError(f"the {what}s are not a column of one kind: {first_line(error)}") from error
