"""Convert users' columns to the columns of an audit: key bytes, partitions, timestamps and offsets."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import MOST_LONG, counted, first_line
from partwright.audit.check import LONG, whole_numbers
from partwright.errors import PartwrightError
from partwright.files.formats import in_one
from partwright.files.scalars import TRUE, array_of, number
from partwright.keys.hashing import encode, partition_for_key

if TYPE_CHECKING:
    from typing import SupportsIndex

    from partwright.keys.hashing import Column

# The largest partition, because n is at most 2^31-1.
_LARGEST = 2**31 - 2
# The largest size of a record, whose length is stored in 32 bits.
_LARGEST_SIZE = 2**31 - 1

__all__ = ["Columns", "checked_n", "columns", "counts", "milliseconds", "places"]


def checked_n(n: SupportsIndex | None) -> int | None:
    """Check a number of partitions; None means that it has to be found.

    Raises:
        PartwrightError: It is invalid.

    Examples:
        >>> checked_n(12), checked_n(None)
        (12, None)
    """
    if n is None:
        return None
    partition_for_key(None, n)
    return index(n)


class Columns(NamedTuple):
    """Columns of one length.

    Attributes:
        keys: Key bytes, null if there is no key.
        partitions: Whole numbers of 64 bits from 0 on, without nulls.
        times: Milliseconds since 1970, null if unknown; None if none are known.
        offsets: Whole numbers of 64 bits, the same.
    """

    keys: pa.Array
    partitions: pa.Array
    times: pa.Array | None
    offsets: pa.Array | None


def columns(
    keys: Column,
    partitions: object,
    timestamps: object = None,
    offsets: object = None,
    key_type: str | None = None,
    first_row: int = 0,
) -> Columns:
    """The columns that `Observed.add` takes.

    Raises:
        PartwrightError: They differ in length, or a value is invalid; with its row, counted from `first_row`.

    Examples:
        >>> columns(["a"], ["4"]).partitions.to_pylist()
        [4]
    """
    key_bytes = in_one(encode(keys, key_type))
    found = Columns(
        key_bytes,
        places(partitions, first_row),
        None if timestamps is None else milliseconds(_array(timestamps, "timestamp"), first_row),
        None if offsets is None else counts(offsets, "offset", first_row),
    )
    for name, column in zip(found._fields[1:], found[1:], strict=True):
        if column is not None and len(column) != len(key_bytes):
            raise PartwrightError(
                f"there are {counted(len(key_bytes), 'key')} and {len(column)} {name}: give as many of each"
            )
    return found


def places(
    partitions: object,
    first_row: int = 0,
    n: int | None = None,
) -> pa.Array:
    """Partitions as whole numbers of 64 bits.

    Raises:
        PartwrightError: A value is not a partition, or not below n; with its row, counted from `first_row`.

    Examples:
        >>> places(["4", "7"]).to_pylist()
        [4, 7]
    """
    given = _array(partitions, "partition")
    found = whole_numbers(given)
    end = _LARGEST + 1 if n is None else n
    if not found.null_count and _are_within(found, end - 1):
        return found
    none = pc.fill_null(pc.or_(pc.less(found, number(0)), pc.greater_equal(found, number(end))), TRUE)
    for row in pc.indices_nonzero(none)[:1].to_pylist():
        value = given[row].as_py()
        said = "is in no partition" if value is None else f"is in {value!r}, which is not a partition"
        of = "" if n is None else f" of {n}"
        reason = f"{said}{of}: they are whole numbers from 0 to {end - 1}"
        raise PartwrightError(
            f"row {first_row + row} {reason}", row=first_row + row, value=value, reason=reason
        )
    return found


def counts(given: object, what: str, first_row: int = 0) -> pa.Array:
    """Offsets or sizes as whole numbers of 64 bits, null if unknown.

    Args:
        given: A column of whole numbers, or of text of such.
        what: What one is called, such as `offset`.
        first_row: The row of the whole file that is the column's first.

    Raises:
        PartwrightError: A value is not a whole number, is negative, or is too large for a record's size; with its row.

    Examples:
        >>> counts(["4", None], "offset").to_pylist()
        [4, None]
    """
    column = _array(given, what)
    found = whole_numbers(column, LONG)
    largest, up_to = (_LARGEST_SIZE, f"to {_LARGEST_SIZE}") if what == "size" else (MOST_LONG, "on")
    if found.null_count == column.null_count and _are_within(found, largest):
        return found
    wrong = pc.fill_null(pc.or_(pc.less(found, number(0)), pc.greater(found, number(largest))), TRUE)
    for row in pc.indices_nonzero(pc.and_(wrong, pc.is_valid(column)))[:1].to_pylist():
        value = column[row].as_py()
        reason = f"has the {what} {value!r}, which is not a whole number from 0 {up_to}"
        raise PartwrightError(
            f"row {first_row + row} {reason}", row=first_row + row, field=what, value=value, reason=reason
        )
    return found


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
        if pa.types.is_integer(column.type) or pa.types.is_null(column.type):
            return column.cast(pa.int64())
        if pa.types.is_timestamp(column.type):
            return _floor(column)
        text = column.cast(pa.string())
        whole = pc.match_substring_regex(text, "^-?[0-9]{1,18}$")
        none = pa.nulls(1, pa.string())[0]
        numbers = pc.if_else(whole, text, none).cast(pa.int64())
        others = pc.if_else(whole, none, text)
        zoned = pc.match_substring_regex(others, "(?:Z|[-+][0-9]{2}:?[0-9]{2})$")
        plain = pc.if_else(zoned, none, others).cast(pa.timestamp("ns"))
        there = pc.if_else(zoned, others, none).cast(pa.timestamp("ns", "UTC"))
        return pc.coalesce(numbers, _floor(plain), _floor(there))
    except pa.ArrowException as error:
        raise PartwrightError(
            f"the timestamps from row {first_row} on are not times ({first_line(error)}): they are whole "
            "numbers of milliseconds, or text such as 2026-01-31T12:00:00Z"
        ) from error


def _are_within(column: pa.Array, largest: int) -> bool:
    """Whether every number in a column is from 0 to `largest`; nulls do not count."""
    ends = pc.min_max(column).as_py()
    return ends["min"] is None or 0 <= ends["min"] <= ends["max"] <= largest


def _floor(times: pa.Array) -> pa.Array:
    if times.type.unit == "ms":
        return times.cast(pa.int64())
    # Casting seconds cuts nothing off, but may overflow.
    is_exact = times.type.unit == "s"
    whole = times.cast(pa.timestamp("ms", times.type.tz), safe=is_exact)
    # Arrow's own cast rounds towards 1970 from both sides.
    is_later = pc.greater(whole.cast(times.type, safe=False), times)
    return pc.subtract(whole.cast(pa.int64()), is_later.cast(pa.int64()))


def _array(values: Any, what: str) -> pa.Array:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return in_one(values)
    try:
        return in_one(pa.chunked_array(values)) if hasattr(values, "__arrow_c_stream__") else array_of(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise PartwrightError(f"the {what}s are not a column of one kind: {first_line(error)}") from error
