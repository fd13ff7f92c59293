"""Thrift's compact protocol, read into plain values and written again: the format of a Parquet file's footer.

This module does not know what the fields mean, so fields of later versions survive unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_INTEGERS = (_I16, _I32, _I64)
# A list with this many items or more has its length after its first byte.
_LONG_LIST = 15
_MORE = 0x80
_DOUBLE_BYTES = 8
# The type of a boolean field is its value.
_SIZES = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: _DOUBLE_BYTES}
_DEEPEST = 64

Value: TypeAlias = Any


@dataclass
class List:
    """A list of values of one type."""

    type: int
    items: list[Value]


class Struct(dict[int, tuple[int, Value]]):
    """Fields by their IDs, each with its type."""

    def get_value(self, field: int, default: Value = None) -> Value:
        """A field's value, or a default if it is not there."""
        return self[field][1] if field in self else default

    def set_value(self, field: int, value: Value) -> None:
        """Give an existing field another value."""
        self[field] = (self[field][0], value)


def read_struct(data: bytes | memoryview) -> Struct:
    """The struct at the start of some bytes.

    Raises:
        ValueError: The bytes are not a struct.

    Examples:
        >>> read_struct(bytes([0x15, 0x54, 0x00]))
        {1: (5, 42)}
    """
    try:
        return _ThriftReader(data).struct(0)
    except IndexError:
        raise ValueError("the bytes end within a struct") from None


def values_at(data: bytes | memoryview, path: Sequence[int | Collection[int] | None]) -> Iterator[Value]:
    """The values at a path in the struct at the start of some bytes, in their order; all others are skipped.

    Args:
        data: The bytes.
        path: At each step the ID of a field or the place of a list's item, or several of them; None for each item.

    Raises:
        ValueError: The bytes are not a struct, or a step leads into a number or a text.

    Examples:
        >>> data = write_struct(Struct({1: (9, List(5, [7, 8])), 2: (5, 42)}))
        >>> list(values_at(data, [2])), list(values_at(data, [1, None])), list(values_at(data, [3]))
        ([42], [7, 8], [])
    """
    try:
        steps = [{step} if isinstance(step, int) else step for step in path]
        yield from _ThriftReader(data).values_at(_STRUCT, steps, 0)
    except IndexError:
        raise ValueError("the bytes end within a struct") from None


def write_struct(struct: Struct) -> bytes:
    r"""A struct's bytes, with its fields in the order of their IDs.

    Examples:
        >>> write_struct(Struct({1: (5, 42)}))
        b'\x15T\x00'
    """
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


class _ThriftReader:
    def __init__(self, data: bytes | memoryview) -> None:
        self._data = data
        self._at = 0

    def struct(self, depth: int) -> Struct:
        fields = Struct()
        for field, type_ in self._fields(depth):
            fields[field] = (type_, self._value(type_, depth))
        return fields

    def values_at(self, type_: int, path: Sequence[Collection[int] | None], depth: int) -> Iterator[Value]:
        if not path:
            yield self._value(type_, depth)
            return
        if type_ == _STRUCT:
            steps = self._fields(depth + 1)
        elif type_ in {_LIST, _SET}:
            steps = self._items(depth + 1)
        else:
            raise ValueError(f"a value of type {type_}, where a struct or a list belongs")
        for step, inside in steps:
            if path[0] is None or step in path[0]:
                yield from self.values_at(inside, path[1:], depth + 1)
            else:
                self._at = _after(self._data, self._at, inside, depth + 1)

    def _fields(self, depth: int) -> Iterator[tuple[int, int]]:
        """The ID and type of each field of a struct, whose value must then be read."""
        _refuse_deep(depth)
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else _signed(self._number())
            yield field, head & 0x0F

    def _items(self, depth: int) -> Iterator[tuple[int, int]]:
        """The place and type of each item of a list, whose value must then be read."""
        _refuse_deep(depth)
        type_, size = self._list_head()
        # A boolean of a list is a byte, not its type.
        yield from ((place, _BYTE if type_ in {_TRUE, _FALSE} else type_) for place in range(size))

    def _value(self, type_: int, depth: int) -> Value:
        if type_ in _INTEGERS:
            return _signed(self._number())
        if type_ == _BINARY:
            return self._bytes(self._number())
        if type_ == _STRUCT:
            return self.struct(depth + 1)
        if type_ in {_LIST, _SET}:
            return self._list(depth + 1)
        if type_ in {_TRUE, _FALSE, _BYTE}:
            # The type of a boolean field is its value.
            return self._byte() if type_ == _BYTE else type_ == _TRUE
        if type_ == _DOUBLE:
            return self._bytes(_DOUBLE_BYTES)
        raise ValueError(f"a value of type {type_}")

    def _list(self, depth: int) -> List:
        _refuse_deep(depth)
        type_, size = self._list_head()
        item = _BYTE if type_ in {_TRUE, _FALSE} else type_
        return List(type_, [self._value(item, depth) for _ in range(size)])

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        size = head >> 4
        return head & 0x0F, self._number() if size == _LONG_LIST else size

    def _byte(self) -> int:
        byte = self._data[self._at]
        self._at += 1
        return byte

    def _bytes(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise IndexError
        taken, self._at = bytes(self._data[self._at : end]), end
        return taken

    def _number(self) -> int:
        number, self._at = _number_at(self._data, self._at)
        return number


def _after(data: bytes | memoryview, at: int, type_: int, depth: int) -> int:
    """Where a value ends that begins at a position; beyond the bytes if it is a text that is cut off."""
    if type_ in _INTEGERS:
        while data[at] & _MORE:
            at += 1
        return at + 1
    if type_ in _SIZES:
        return at + _SIZES[type_]
    if type_ == _BINARY:
        size, at = _number_at(data, at)
        return at + size
    _refuse_deep(depth + 1)
    if type_ == _STRUCT:
        while head := data[at]:
            # The field's ID is in its first byte, or follows it.
            at = at + 1 if head >> 4 else _after(data, at + 1, _I16, depth)
            at = _after(data, at, head & 0x0F, depth + 1)
        return at + 1
    if type_ in {_LIST, _SET}:
        return _after_list(data, at, depth + 1)
    raise ValueError(f"a value of type {type_}")


def _after_list(data: bytes | memoryview, at: int, depth: int) -> int:
    head, at = data[at], at + 1
    size, inside = head >> 4, head & 0x0F
    if size == _LONG_LIST:
        size, at = _number_at(data, at)
    if inside in {_TRUE, _FALSE, _BYTE}:
        return at + size
    for _ in range(size):
        at = _after(data, at, inside, depth)
    return at


def _number_at(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The number at a position, and where it ends."""
    number, shift = 0, 0
    while (byte := data[at]) & _MORE:
        number |= (byte & (_MORE - 1)) << shift
        at, shift = at + 1, shift + 7
    return number | byte << shift, at + 1


def _refuse_deep(depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError(f"structs within structs, more than {_DEEPEST} deep")


def _signed(number: int) -> int:
    """Zigzag: 0, -1, 1, -2 are 0, 1, 2, 3."""
    return (number >> 1) ^ -(number & 1)


def _write_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for field, (type_, value) in sorted(struct.items()):
        marked = (_TRUE if value else _FALSE) if type_ in {_TRUE, _FALSE} else type_
        if 0 < field - before <= _LONG_LIST:
            out.append((field - before) << 4 | marked)
        else:
            out.append(marked)
            _write_number(out, _zigzag(field))
        before = field
        if type_ not in {_TRUE, _FALSE}:
            _write_value(out, type_, value)
    out.append(0)


def _write_value(out: bytearray, type_: int, value: Value) -> None:
    if type_ in _INTEGERS:
        _write_number(out, _zigzag(value))
    elif type_ == _BINARY:
        _write_number(out, len(value))
        out += value
    elif type_ == _STRUCT:
        _write_struct(out, value)
    elif type_ in {_LIST, _SET}:
        size = len(value.items)
        out.append(min(size, _LONG_LIST) << 4 | value.type)
        if size >= _LONG_LIST:
            _write_number(out, size)
        for item in value.items:
            _write_value(out, value.type, item)
    elif type_ == _DOUBLE:
        out += value
    else:
        out.append(value)


def _write_number(out: bytearray, number: int) -> None:
    while number >= _MORE:
        out.append((number & (_MORE - 1)) | _MORE)
        number >>= 7
    out.append(number)


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (~number << 1) | 1
