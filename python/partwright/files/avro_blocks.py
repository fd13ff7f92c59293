"""An Avro file's blocks, uncompressed within bounds, as a file without compression that fastavro reads.

fastavro unpacks each block as a whole and believes what it says about itself, so a file of 5 MB would take 2 GB.
Here no block may have more bytes than `LARGEST`, nor more records than bytes.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from partwright._check import counted, first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LARGEST", "AvroBlockError", "UncompressedAvro"]

LARGEST = 64 << 20
"""The most bytes of a block; writers begin a new one after 16 to 64 KiB."""
_MAGIC, _CODEC = b"Obj\x01", b"avro.codec"
_SYNC = 16
_MORE = 0x80
_LONGEST_NUMBER = 10
# Some records have no bytes at all, those that have only nulls.
_RECORDS_OF_NOTHING = 1 << 16


class AvroBlockError(ValueError):
    """A file's header or a block cannot be read, for the reason that the error's text gives."""


class UncompressedAvro(io.RawIOBase):
    """The file that an Avro file would be without compression.

    Args:
        file: The file, at its beginning.

    Raises:
        AvroBlockError: When it is read: it is not an Avro file, its codec is not known, or a block is not whole or
            larger than it may be.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._parts = _parts(file)
        self._part = memoryview(b"")

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """That many bytes, or fewer at the end."""
        taken = [b""]
        while size:
            if not self._part:
                try:
                    part = next(self._parts, None)
                except Exception as error:  # the codecs have errors of many kinds
                    raise AvroBlockError(first_line(error)) from error
                if part is None:
                    break
                self._part = memoryview(part)
                continue
            some = self._part if size < 0 else self._part[:size]
            self._part = self._part[len(some) :]
            taken.append(bytes(some))
            size -= len(some) if size > 0 else 0
        return b"".join(taken)


def _parts(file: BinaryIO) -> Iterator[bytes]:
    metadata, sync = _header(file)
    codec = metadata.get(_CODEC, b"null").decode(errors="replace")
    if codec not in _UNPACK:
        raise ValueError(f"its codec {codec!r} is none of {', '.join(_UNPACK)}")
    pairs = b"".join(_text(name) + _text(value) for name, value in {**metadata, _CODEC: b"null"}.items())
    yield _MAGIC + _long(len(metadata.keys() | {_CODEC})) + pairs + _long(0) + sync
    while (records := _number(file)) is not None:
        data = _sized_bytes(file)
        if file.read(_SYNC) != sync:
            raise ValueError("a block does not end where it says")
        block = _UNPACK[codec](data)
        if not 0 <= records <= max(len(block), _RECORDS_OF_NOTHING):
            raise ValueError(f"a block of {counted(len(block), 'byte')} has {counted(records, 'record')}")
        yield _long(records) + _long(len(block))
        yield block
        yield sync


def _header(file: BinaryIO) -> tuple[dict[bytes, bytes], bytes]:
    """The metadata, and the bytes between two blocks."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("it does not begin as an Avro file does")
    metadata = {}
    while pairs := _number(file):
        if pairs < 0:
            # Then the size of the pairs in bytes follows.
            _number(file)
        for _ in range(abs(pairs)):
            name = _sized_bytes(file)
            metadata[name] = _sized_bytes(file)
    return metadata, file.read(_SYNC)


def _sized_bytes(file: BinaryIO) -> bytes:
    """Bytes whose number stands before them."""
    size = _number(file)
    if size is None:
        raise ValueError("it ends where a part should begin")
    if not 0 <= size <= LARGEST:
        raise ValueError(f"a part has {counted(size, 'byte')}, and may have 0 to {LARGEST:,}")
    data = file.read(size)
    if len(data) < size:
        raise ValueError("it ends within a block")
    return data


def _number(file: BinaryIO) -> int | None:
    """The number that comes next; None at the end of the file."""
    number = _unsigned(file)
    return None if number is None else (number >> 1) ^ -(number & 1)


def _unsigned(file: BinaryIO) -> int | None:
    number = 0
    for place in range(_LONGEST_NUMBER):
        byte = file.read(1)
        if not byte:
            if place:
                raise ValueError("it ends within a number")
            return None
        number |= (byte[0] & (_MORE - 1)) << 7 * place
        if byte[0] < _MORE:
            return number
    raise ValueError(f"a number has more than {_LONGEST_NUMBER} bytes")


def _long(number: int) -> bytes:
    """A number that is not negative."""
    number <<= 1
    out = bytearray()
    while number >= _MORE:
        out.append((number & (_MORE - 1)) | _MORE)
        number >>= 7
    out.append(number)
    return bytes(out)


def _text(data: bytes) -> bytes:
    return _long(len(data)) + data


def _too_large() -> ValueError:
    return ValueError(f"a block has more than {LARGEST:,} bytes, uncompressed")


def _deflate(data: bytes) -> bytes:
    unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
    block = unpacking.decompress(data, LARGEST)
    if unpacking.unconsumed_tail:
        raise _too_large()
    return block


def _bzip2(data: bytes) -> bytes:
    return _all_of(bz2.BZ2Decompressor(), data)


def _xz(data: bytes) -> bytes:
    return _all_of(lzma.LZMADecompressor(memlimit=2 * LARGEST), data)


def _all_of(unpacking: bz2.BZ2Decompressor | lzma.LZMADecompressor, data: bytes) -> bytes:
    block = unpacking.decompress(data, LARGEST)
    if not unpacking.eof:
        raise _too_large() if len(block) == LARGEST else ValueError("a block is not whole")
    return block


def _zstandard(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.py_buffer(data), "zstd") as unpacking:
        block: bytes = unpacking.read(LARGEST + 1)
    if len(block) > LARGEST:
        raise _too_large()
    return block


def _snappy(data: bytes) -> bytes:
    # The last four bytes are a checksum.
    return _sized("snappy", data[:-4], _unsigned(io.BytesIO(data)) or 0)


def _lz4(data: bytes) -> bytes:
    return _sized("lz4_raw", data[4:], int.from_bytes(data[:4], "little"))


def _sized(codec: str, data: bytes, size: int) -> bytes:
    """A block that says how large it is uncompressed."""
    if size > LARGEST:
        raise _too_large()
    block: bytes = pa.Codec(codec).decompress(data, size, asbytes=True)
    return block


_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _deflate,
    "bzip2": _bzip2,
    "xz": _xz,
    "snappy": _snappy,
    "zstandard": _zstandard,
    "lz4": _lz4,
}
