"""A program that asks for keys whose buffers end right before a page that nothing may read.

`test_capsules.py` runs it in its own process, because a read too far ends it; the last line names the column. Each
answer is compared with the answer for the same key alone.
"""

from __future__ import annotations

import ctypes
import mmap
import random
from array import array
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Iterator

N = 997
LONGEST = 64
ROWS = (1, 8, 9, 17, 33)
CLIENTS = pw.clients()["client"].to_pylist()
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Room:
    """Memory whose last page may not be read."""

    def __init__(self) -> None:
        self._size = 4 * mmap.PAGESIZE
        self._memory = mmap.mmap(-1, self._size)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._end = self._start + self._size - mmap.PAGESIZE
        if _libc.mprotect(self._end, mmap.PAGESIZE, 0):
            raise OSError(ctypes.get_errno(), "mprotect")

    def ending(self, data: bytes) -> pa.Buffer:
        """The data, right before the end, over whatever was there."""
        assert len(data) <= self._end - self._start
        ctypes.memmove(self._end - len(data), data, len(data))
        return pa.foreign_buffer(self._end - len(data), len(data), self)


BITMAP, PLACES, DATA, INDICES = Room(), Room(), Room(), Room()


@cache
def key(length: int) -> bytes:
    """A text of this many bytes."""
    return bytes(random.Random(length).choices(range(33, 127), k=length))


@cache
def hashed(length: int) -> int | None:
    return pw.murmur2(key(length))


@cache
def placed(length: int, client: str) -> int | None:
    return pw.partition_for_key(key(length), N, client)


def validity(present: list[bool]) -> pa.Buffer:
    bits = sum(1 << row for row, is_there in enumerate(present) if is_there)
    return BITMAP.ending(bits.to_bytes((len(present) + 7) // 8, "little"))


def offsets(kind: pa.DataType, code: str, lengths: list[int], bitmap: pa.Buffer | None) -> pa.Array:
    places = array(code, [0])
    for length in lengths:
        places.append(places[-1] + length)
    data = DATA.ending(b"".join(map(key, lengths)))
    return pa.Array.from_buffers(kind, len(lengths), [bitmap, PLACES.ending(places.tobytes()), data])


def views(lengths: list[int], bitmap: pa.Buffer | None) -> pa.Array:
    heads, data = b"", b""
    for length in lengths:
        head = length.to_bytes(4, "little")
        if length <= 12:
            heads += head + key(length).ljust(12, b"\0")
        else:
            heads += head + key(length)[:4] + bytes(4) + len(data).to_bytes(4, "little")
            data += key(length)
    return pa.Array.from_buffers(
        pa.string_view(), len(lengths), [bitmap, PLACES.ending(heads), DATA.ending(data)]
    )


def fixed(lengths: list[int], bitmap: pa.Buffer | None) -> pa.Array:
    width = lengths[-1]
    data = DATA.ending(key(width) * len(lengths))
    return pa.Array.from_buffers(pa.binary(width), len(lengths), [bitmap, data])


def columns(lengths: list[int], bitmap: pa.Buffer | None) -> Iterator[tuple[str, pa.Array, list[int]]]:
    """Each kind of column, with the lengths of its keys; one after another, because they share the same memory."""
    yield "string", offsets(pa.string(), "i", lengths, bitmap), lengths
    yield "large_string", offsets(pa.large_string(), "q", lengths, bitmap), lengths
    yield "string_view", views(lengths, bitmap), lengths
    yield "fixed_size_binary", fixed(lengths, bitmap), [lengths[-1]] * len(lengths)
    # As many values as rows, in another order.
    indices = array("b", reversed(range(len(lengths))))
    type_ = pa.dictionary(pa.int8(), pa.string())
    values = offsets(pa.string(), "i", lengths[::-1], None)
    buffers = [bitmap, INDICES.ending(indices.tobytes())]
    yield "dictionary", pa.DictionaryArray.from_buffers(type_, len(lengths), buffers, values), lengths


def compared(column: pa.Array, expected: list[Any], found: pa.Array, said: str) -> None:
    present = column.is_valid().to_pylist()
    wanted = [value if is_there else None for value, is_there in zip(expected, present, strict=True)]
    assert found.to_pylist() == wanted, said


def ask(said: str, column: pa.Array, lengths: list[int]) -> None:
    compared(column, [hashed(length) for length in lengths], pw.murmur2(column), said)
    for client in CLIENTS:
        found = pw.partition_for_key(column, N, client)
        if not column.null_count:
            compared(column, [placed(length, client) for length in lengths], found, f"{said}, {client}")
    assert [value for value in pw.encode(column).to_pylist() if value is not None] == [
        key(length)
        for length, is_there in zip(lengths, column.is_valid().to_pylist(), strict=True)
        if is_there
    ], said


def main() -> None:
    draw = random.Random(7)
    asked = 0
    for last in range(LONGEST + 1):
        for rows in ROWS:
            # As long as the last one, or of any length.
            of_any = [draw.randint(0, LONGEST) for _ in range(rows - 1)] + [last]
            for lengths in ([last] * rows, of_any):
                present = [draw.random() < 0.8 for _ in lengths]
                for bitmap in (None, validity(present)):
                    for kind, column, found in columns(lengths, bitmap):
                        said = f"{kind} of {rows} rows, the last of {last} bytes"
                        print(said, flush=True)  # noqa: T201
                        ask(said, column, found)
                        ask(f"{said}, from the second on", column[1:], found[1:])
                        asked += 2
    print(f"{asked} columns")  # noqa: T201


if __name__ == "__main__":
    main()
