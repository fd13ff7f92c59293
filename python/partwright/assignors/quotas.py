"""A member's share of a topic's partitions: the assignors' arithmetic, on numbers and on columns.

`partitions` of one topic, or of all that a group reads, are shared out among `members`. Each argument is a number or an
Arrow column of whole numbers; a row with a null in any of them gives a null.

>>> [max_quota(12, members) for members in (4, 5, 7)]
[3, 3, 2]
>>> range_start([0, 1, 2], 8, 3).to_pylist(), range_length([0, 1, 2], 8, 3).to_pylist()
([0, 3, 6], [3, 3, 2])
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import index as as_index
from typing import Any, TypeAlias

import pyarrow as pa

from partwright import _core
from partwright._check import counted, refused, shown
from partwright.errors import PartwrightError
from partwright.files.scalars import array_of

__all__ = ["max_quota", "min_quota", "over_max_quota", "range_length", "range_start", "under_min_quota"]

Numbers: TypeAlias = Any
"""A whole number, None, a list of them, or any object with Arrow's PyCapsule interface."""

_Values: TypeAlias = pa.Scalar | pa.Array | pa.ChunkedArray
_MOST = 2**31 - 1
# The size of an int32.
_BYTES = 4
# How many numbers are written at a time.
_PIECE = 1 << 15
_FLAGS = ("under_min_quota", "over_max_quota")


def min_quota(partitions: Numbers, members: Numbers) -> Numbers:
    """The least that every member has: partitions divided by members, rounded down.

    This is `minQuota` of `AbstractStickyAssignor`, and the partitions per consumer of `RangeAssignor`.

    Args:
        partitions: The number of partitions, 0 to 2^31-1.
        members: How many members share them, 1 to 2^31-1.

    Returns:
        An int, or an int32 column if one of the arguments is a column.

    Raises:
        PartwrightError: A number is out of its range, an argument has no whole numbers, or columns differ in length.

    Examples:
        >>> min_quota(8, 3), min_quota([8, None, 2], 3).to_pylist()
        (2, [2, None, 0])
    """
    return _of("min_quota", partitions=partitions, members=members)


def max_quota(partitions: Numbers, members: Numbers) -> Numbers:
    """The most that a member has: partitions divided by members, rounded up.

    Args:
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        As `min_quota` does.

    Raises:
        PartwrightError: As `min_quota` does.

    Examples:
        >>> max_quota(8, 3), max_quota(9, 3)
        (3, 3)
    """
    return _of("max_quota", partitions=partitions, members=members)


def under_min_quota(owned: Numbers, partitions: Numbers, members: Numbers) -> Numbers:
    """Whether a member with `owned` partitions has less than `min_quota`, so that it should get more.

    Args:
        owned: How many partitions it has, 0 to 2^31-1.
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        A bool, or a boolean column if one of the arguments is a column.

    Raises:
        PartwrightError: As `min_quota` does.

    Examples:
        >>> under_min_quota([1, 2, 3, 4], 8, 3).to_pylist()
        [True, False, False, False]
    """
    return _of("under_min_quota", owned=owned, partitions=partitions, members=members)


def over_max_quota(owned: Numbers, partitions: Numbers, members: Numbers) -> Numbers:
    """Whether a member with `owned` partitions has more than `max_quota`, so that it should lose some.

    Args:
        owned: See `under_min_quota`.
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        As `under_min_quota` does.

    Raises:
        PartwrightError: As `min_quota` does.

    Examples:
        >>> over_max_quota([1, 2, 3, 4], 8, 3).to_pylist()
        [False, False, False, True]
    """
    return _of("over_max_quota", owned=owned, partitions=partitions, members=members)


def range_start(index: Numbers, partitions: Numbers, members: Numbers) -> Numbers:
    """The first partition of a topic that `RangeAssignor` gives to a member, if racks do not count.

    Args:
        index: The member's place among those that subscribe to the topic, from 0, in `RangeAssignor`'s order: static
            members by `group.instance.id`, then the others by their ids.
        partitions: How many partitions the topic has; see `min_quota`.
        members: How many members subscribe to it; see `min_quota`.

    Returns:
        As for `min_quota`. If `range_length` is 0, it is where the member's range would begin.

    Raises:
        PartwrightError: As `min_quota` does; a place that is not among the members.

    Examples:
        >>> range_start(1, 8, 3)
        3
    """
    return _of("range_start", index=index, partitions=partitions, members=members)


def range_length(index: Numbers, partitions: Numbers, members: Numbers) -> Numbers:
    """How many partitions of a topic `RangeAssignor` gives to a member, if racks do not count.

    Args:
        index: See `range_start`.
        partitions: See `range_start`.
        members: See `range_start`.

    Returns:
        As `min_quota` does.

    Raises:
        PartwrightError: As `range_start` does.

    Examples:
        >>> [range_length(index, 8, 3) for index in range(3)]
        [3, 3, 2]
    """
    return _of("range_length", index=index, partitions=partitions, members=members)


def _of(rule: str, **arguments: Numbers) -> Numbers:
    """The core's answer: a number if all arguments are numbers, otherwise a column with the arguments' chunks."""
    columns_of = {name: _whole_numbers(name, values) for name, values in arguments.items()}
    columns = {name: values for name, values in columns_of.items() if not isinstance(values, pa.Scalar)}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        lengths_of = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise PartwrightError(f"the columns differ in length: {lengths_of} rows")
    ones = {
        name: pa.array([values.as_py()], values.type)
        for name, values in columns_of.items()
        if name not in columns
    }
    if not any(isinstance(values, pa.ChunkedArray) for values in columns.values()):
        answer = _of_arrays(rule, columns_of, columns | ones, 0)
        return answer if columns else answer[0].as_py()
    chunks, row = [], 0
    # A table's batches end wherever one of its columns begins a new chunk, and copy nothing.
    table = pa.table(columns)
    for batch in table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]:
        chunks.append(_of_arrays(rule, columns_of, {name: batch[name] for name in columns} | ones, row))
        row += len(batch)
    return pa.chunked_array(chunks, pa.bool_() if rule in _FLAGS else pa.int32())


def _of_arrays(
    rule: str, arguments: Mapping[str, _Values], arrays: Mapping[str, pa.Array], first_row: int
) -> pa.Array:
    columns = [(arrays[name], isinstance(arguments[name], pa.Scalar)) for name in arguments]
    if rule in _FLAGS:
        flags = _core.quotas(rule, columns, None)
        if isinstance(flags, tuple):
            raise _refusal(arguments, list(arguments)[flags[0]], first_row + flags[1])
        return flags
    rows = max((len(values) for values, is_one in columns if not is_one), default=1)
    numbers = pa.allocate_buffer(_BYTES * rows)
    # An empty memoryview cannot be cast.
    room = memoryview(numbers).cast("i") if rows else memoryview(b"")
    valid = _core.quotas(rule, columns, [room[at : at + _PIECE] for at in range(0, rows, _PIECE)])
    if isinstance(valid, tuple):
        raise _refusal(arguments, list(arguments)[valid[0]], first_row + valid[1])
    if valid is None:
        return pa.Array.from_buffers(pa.int32(), rows, [None, numbers])
    # The bits of a sliced column begin within a buffer, so two columns are combined into a new one.
    bits = pa.concat_arrays([valid, valid.slice(0, 0)]) if valid.offset else valid
    return pa.Array.from_buffers(pa.int32(), rows, [bits.buffers()[1], numbers])


def _refusal(arguments: Mapping[str, _Values], name: str, row: int) -> PartwrightError:
    """The error for an argument that the core refused in one row."""
    number, members = _at(arguments[name], row), _at(arguments["members"], row)
    least = 1 if name == "members" else 0
    if least <= number <= _MOST:
        reason = f"is 0 to {members - 1} among {counted(members, 'member')}, not {number}"
        is_of_row = any(not isinstance(arguments[each], pa.Scalar) for each in (name, "members"))
    else:
        reason = f"is {least} to {_MOST}, not {number}"
        is_of_row = not isinstance(arguments[name], pa.Scalar)
    refusal = refused(number, name, reason)
    return refusal.at_row(row) if is_of_row else refusal


def _whole_numbers(name: str, argument: Numbers) -> _Values:
    values = _read(name, argument)
    if pa.types.is_null(values.type):
        return values.cast(pa.int64())
    if not pa.types.is_integer(values.type):
        raise PartwrightError(f"{name} is whole numbers, not {values.type}")
    return values


def _read(name: str, argument: Numbers) -> _Values:
    if argument is None:
        return pa.scalar(None, pa.int64())
    if isinstance(argument, (pa.Scalar, pa.Array, pa.ChunkedArray)):
        return argument
    try:
        # numpy's arrays have this method too, but it raises.
        if (
            not isinstance(argument, bool)
            and hasattr(argument, "__index__")
            and not getattr(argument, "ndim", 0)
        ):
            return pa.scalar(as_index(argument), pa.int64())
        if hasattr(argument, "__arrow_c_stream__"):
            return pa.chunked_array(argument)
        if type(argument).__module__.startswith("pandas."):
            # Arrow reads pandas' nullable numbers only from the Series itself.
            return array_of(argument)
        if hasattr(argument, "__arrow_c_array__") or not isinstance(argument, (str, bytes, Mapping)):
            return array_of(argument if hasattr(argument, "__arrow_c_array__") else [*argument])
    except (pa.ArrowException, TypeError, OverflowError):
        pass
    raise PartwrightError(
        f"{name} is a whole number from 0 to {_MOST}, or a column of them, not {shown(argument)}"
    )


def _at(values: _Values, row: int) -> int:
    number: int = (values if isinstance(values, pa.Scalar) else values[row]).as_py()
    return number
