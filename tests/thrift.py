"""A Parquet file's footer, in Thrift's compact protocol, read into values and written again: for damaged files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["List", "Struct", "footer_of", "read_struct", "with_footer", "write_struct"]

_MAGIC = b"PAR1"

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_INTEGERS = (_I16, _I32, _I64)
# A list with this many items or more has its length after its first byte.
_LONG_LIST = 15
_MORE = 0x80
_DOUBLE_BYTES = 8
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


def footer_of(data: bytes) -> Struct:
    """The footer of a Parquet file."""
    length = int.from_bytes(data[-8:-4], "little")
    return read_struct(data[-8 - length : -8])


def with_footer(data: bytes, footer: Struct) -> bytes:
    """A Parquet file with another footer."""
    length = int.from_bytes(data[-8:-4], "little")
    end = write_struct(footer)
    return data[: -8 - length] + end + len(end).to_bytes(4, "little") + _MAGIC


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

    def _fields(self, depth: int) -> Iterator[tuple[int, int]]:
        """The ID and type of each field of a struct, whose value must then be read."""
        _refuse_deep(depth)
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else _signed(self._number())
            yield field, head & 0x0F

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
