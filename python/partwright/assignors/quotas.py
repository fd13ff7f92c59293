"""How many partitions of a topic are a member's share, and which: the assignors' arithmetic, on numbers and on columns.

`partitions` of one topic, or of all that a group reads, are shared out among `members`. Each argument is a number or an
Arrow column of whole numbers; a row with a null in any of them gives a null.

>>> [max_quota(12, members) for members in (4, 5, 7)]
[3, 3, 2]
>>> range_start([0, 1, 2], 8, 3).to_pylist(), range_length([0, 1, 2], 8, 3).to_pylist()
([0, 3, 6], [3, 3, 2])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import index as as_index
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import refused, shown
from partwright.errors import PartwrightError

__all__ = ["max_quota", "min_quota", "over_max_quota", "range_length", "range_start", "under_min_quota"]

Numbers: TypeAlias = Any
"""A whole number, None, a list of them, or whatever speaks Arrow's PyCapsule interface."""

_Values: TypeAlias = pa.Scalar | pa.Array | pa.ChunkedArray
_Compare: TypeAlias = Callable[[_Values, object], _Values]
_MOST = 2**31 - 1


def min_quota(partitions: Numbers, members: Numbers) -> Numbers:
    """What every member has at least: the whole part of partitions by members.

    It is `minQuota` of `AbstractStickyAssignor`, and what `RangeAssignor` calls the partitions per consumer.

    Args:
        partitions: How many partitions there are, 0 to 2^31-1.
        members: How many members share them, 1 to 2^31-1.

    Returns:
        An int, or an int32 column where one of the arguments is a column.

    Raises:
        PartwrightError: A number is out of its range, an argument has no whole numbers, or columns differ in length.

    Examples:
        >>> min_quota(8, 3), min_quota([8, None, 2], 3).to_pylist()
        (2, [2, None, 0])
    """
    return _result(_shared(partitions, members)[0], pa.int32())


def max_quota(partitions: Numbers, members: Numbers) -> Numbers:
    """What no member has more of: partitions by members, rounded up.

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
    return _result(_rounded_up(*_shared(partitions, members)), pa.int32())


def under_min_quota(owned: Numbers, partitions: Numbers, members: Numbers) -> Numbers:
    """Whether a member with so many partitions has less than `min_quota`, and is to get more.

    Args:
        owned: How many partitions it has, 0 to 2^31-1.
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        A bool, or a boolean column where one of the arguments is a column.

    Raises:
        PartwrightError: As `min_quota` does.

    Examples:
        >>> under_min_quota([1, 2, 3, 4], 8, 3).to_pylist()
        [True, False, False, False]
    """
    held, parts, those = _aligned(owned=owned, partitions=partitions, members=members)
    return _result(pc.less(held, pc.divide(parts, those)), pa.bool_())


def over_max_quota(owned: Numbers, partitions: Numbers, members: Numbers) -> Numbers:
    """Whether a member with so many partitions has more than `max_quota`, and is to lose some.

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
    held, parts, those = _aligned(owned=owned, partitions=partitions, members=members)
    return _result(pc.greater(held, _rounded_up(*_quotient(parts, those))), pa.bool_())


def range_start(index: Numbers, partitions: Numbers, members: Numbers) -> Numbers:
    """The first partition of a topic that `RangeAssignor` gives to a member, where racks do not count.

    Args:
        index: The member's place among those that subscribe to the topic, from 0, in `RangeAssignor`'s order: static
            members by `group.instance.id`, then the others by their ids.
        partitions: How many partitions the topic has; see `min_quota`.
        members: How many members subscribe to it; see `min_quota`.

    Returns:
        As `min_quota` does. Where `range_length` is 0 it is where the member's range would begin.

    Raises:
        PartwrightError: As `min_quota` does; a place that is not among the members.

    Examples:
        >>> range_start(1, 8, 3)
        3
    """
    place, quota, extra = _ranged(index, partitions, members)
    return _result(
        pc.add(pc.multiply(place, quota), pc.min_element_wise(place, extra, skip_nulls=False)), pa.int32()
    )


def range_length(index: Numbers, partitions: Numbers, members: Numbers) -> Numbers:
    """How many partitions of a topic `RangeAssignor` gives to a member, where racks do not count.

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
    place, quota, extra = _ranged(index, partitions, members)
    return _result(pc.add(quota, pc.less(place, extra).cast(pa.int64())), pa.int32())


def _shared(partitions: Numbers, members: Numbers) -> tuple[_Values, _Values]:
    return _quotient(*_aligned(partitions=partitions, members=members))


def _ranged(index: Numbers, partitions: Numbers, members: Numbers) -> tuple[_Values, _Values, _Values]:
    place, parts, those = _aligned(index=index, partitions=partitions, members=members)
    wrong = pc.greater_equal(place, those)
    outside = _first(wrong)
    if outside is not None:
        found, of = _at(place, outside), _at(those, outside)
        raise _placed(
            refused(found, "index", f"is 0 to {of - 1} among {of} members, not {found}"), wrong, outside
        )
    return place, *_quotient(parts, those)


def _quotient(partitions: _Values, members: _Values) -> tuple[_Values, _Values]:
    """What each has, and how many have one more."""
    quota = pc.divide(partitions, members)
    return quota, pc.subtract(partitions, pc.multiply(quota, members))


def _rounded_up(quota: _Values, extra: _Values) -> _Values:
    return pc.add(quota, pc.greater(extra, 0).cast(pa.int64()))


def _aligned(**given: Numbers) -> list[_Values]:
    """The arguments as 64-bit scalars and columns, all of them in range and the columns of one length."""
    found = {name: _checked(name, values) for name, values in given.items()}
    lengths = {name: len(values) for name, values in found.items() if not isinstance(values, pa.Scalar)}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise PartwrightError(f"the columns are of more than one length: {told} rows")
    return list(found.values())


def _checked(name: str, given: Numbers) -> _Values:
    values = _read(name, given)
    if not (pa.types.is_integer(values.type) or pa.types.is_null(values.type)):
        raise PartwrightError(f"{name} is whole numbers, not {values.type}")
    least = 1 if name == "members" else 0
    if pa.types.is_uint64(values.type):
        wrong = pc.or_(*(compare(values, pa.scalar(end, pa.uint64())) for compare, end in _ends(least)))
    else:
        values = values.cast(pa.int64())
        wrong = pc.or_(*(compare(values, end) for compare, end in _ends(least)))
    outside = _first(wrong)
    if outside is not None:
        found = _at(values, outside)
        raise _placed(refused(found, name, f"is {least} to {_MOST}, not {found}"), values, outside)
    return values.cast(pa.int64())


def _ends(least: int) -> tuple[tuple[_Compare, int], ...]:
    return (pc.less, least), (pc.greater, _MOST)


def _read(name: str, given: Numbers) -> _Values:
    if given is None:
        return pa.scalar(None, pa.int64())
    if isinstance(given, (pa.Scalar, pa.Array, pa.ChunkedArray)):
        return given
    try:
        # numpy's columns have the method too, and refuse it.
        if not isinstance(given, bool) and hasattr(given, "__index__") and not getattr(given, "ndim", 0):
            return pa.scalar(as_index(given), pa.int64())
        if hasattr(given, "__arrow_c_stream__"):
            return pa.chunked_array(given)
        if type(given).__module__.startswith("pandas."):
            # Only as a whole is a Series of pandas' nullable numbers known to Arrow.
            return pa.array(given)
        if hasattr(given, "__arrow_c_array__") or not isinstance(given, (str, bytes, Mapping)):
            return pa.array(given if hasattr(given, "__arrow_c_array__") else [*given])
    except (pa.ArrowException, TypeError, OverflowError):
        pass
    raise PartwrightError(
        f"{name} is a whole number from 0 to {_MOST}, or a column of them, not {shown(given)}"
    )


def _first(wrong: _Values) -> int | None:
    """The first row that is wrong; 0 where there are no rows, and the one number is."""
    if isinstance(wrong, pa.Scalar):
        return 0 if wrong.as_py() else None
    row: int = pc.index(wrong, value=True).as_py()
    return None if row < 0 else row


def _placed(refusal: PartwrightError, wrong: _Values, row: int) -> PartwrightError:
    return refusal if isinstance(wrong, pa.Scalar) else refusal.at_row(row)


def _at(values: _Values, row: int) -> int:
    found: int = (values if isinstance(values, pa.Scalar) else values[row]).as_py()
    return found


def _result(found: _Values, kind: pa.DataType) -> Numbers:
    found = found.cast(kind)
    return found.as_py() if isinstance(found, pa.Scalar) else found
