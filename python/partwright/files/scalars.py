"""Single values for Arrow's kernels, made from buffers: pyarrow's own way from a Python value imports pandas first.

If pandas is installed, that costs half a second at each start of the command.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def array_of(values: Any) -> pa.Array:
    """`pa.array`, but pyarrow 26 ends the process for a datetime64 of numpy before another of numpy's types.

    Raises:
        pyarrow.ArrowException: The values are not of one type. Other exceptions of Python may come, too.

    Examples:
        >>> array_of([1, None]).to_pylist()
        [1, None]
    """
    if isinstance(values, (list, tuple)) or getattr(getattr(values, "dtype", None), "hasobject", False):
        types = {type_.__name__ for type_ in set(map(type, values)) if hasattr(type_, "dtype")}
        if "datetime64" in types and len(types) > 1:
            raise pa.ArrowInvalid(f"cannot mix numpy's {' and '.join(sorted(types))}")
    return pa.array(values)


def as_whole(column: pa.Array) -> pa.Array:
    """Floating-point and decimal numbers without a fraction as int64, NaN as null; any other column as it is.

    Examples:
        >>> as_whole(pa.array([1.0, float("nan")])).to_pylist(), as_whole(pa.array([1.5])).to_pylist()
        ([1, None], [1.5])
    """
    numbers = column
    if pa.types.is_floating(column.type):
        numbers = column.cast(pa.float64())
        # A program that has no null among its numbers writes NaN.
        numbers = pc.if_else(pc.is_nan(numbers), pa.nulls(1, pa.float64())[0], numbers)
    elif not pa.types.is_decimal(column.type):
        return column
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def binary_column(values: Sequence[bytes]) -> pa.Array:
    """A column of binary.

    Examples:
        >>> binary_column([b"a", b"", b"bc"]).to_pylist()
        [b'a', b'', b'bc']
    """
    offsets = struct.pack(f"={len(values) + 1}i", *accumulate(map(len, values), initial=0))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers)


def number(value: int) -> pa.Scalar:
    """A whole number of 64 bits.

    Examples:
        >>> number(-7)
        <pyarrow.Int64Scalar: -7>
    """
    return number_column([value])[0]


def number_column(values: Sequence[int]) -> pa.Array:
    """A column of whole numbers of 64 bits.

    Examples:
        >>> number_column([3, -7]).to_pylist()
        [3, -7]
    """
    buffer = pa.py_buffer(struct.pack(f"={len(values)}q", *values))
    return pa.Array.from_buffers(pa.int64(), len(values), [None, buffer])


def text(value: str) -> pa.Scalar:
    """A text.

    Examples:
        >>> text("a")
        <pyarrow.StringScalar: 'a'>
    """
    return binary_column([value.encode()]).cast(pa.string())[0]


def _boolean(bits: bytes) -> pa.Scalar:
    return pa.Array.from_buffers(pa.bool_(), 1, [None, pa.py_buffer(bits)])[0]


TRUE = _boolean(b"\x01")
FALSE = _boolean(b"\x00")
