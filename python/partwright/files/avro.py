"""Avro's container files, by fastavro: some of their columns in batches.

fastavro unpacks each block as a whole and believes what it says about itself, so a file of 5 MB would take 2 GB.
Here no block may have more bytes than `LARGEST`, nor more records than bytes.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from uuid import UUID

import pyarrow as pa

from partwright._check import counted, first_line
from partwright.errors import MissingExtraError, PartwrightError
from partwright.files.formats import Records, find_column, path_in

if TYPE_CHECKING:
    from partwright.files.formats import Column, ColumnRequest, Writable

_BATCH = 1 << 14


class AvroRecords(Records):
    """An Avro file; see `partwright.files.formats.Records`. A field within a record is named by its path, `user.id`."""

    format = "avro"
    is_text = False

    def __init__(self, path: str, file: BinaryIO) -> None:
        super().__init__(file)
        try:
            import fastavro
        except ImportError as error:
            raise MissingExtraError("fastavro is missing: pip install 'partwright[avro]'") from error
        self._path = path
        try:
            self._reader = fastavro.reader(cast("BinaryIO", UncompressedAvro(file)))
        except Exception as error:  # fastavro passes on whatever its parts raise
            raise self._broken(error, f"its schema cannot be read: {first_line(error)}") from error
        try:
            # fastavro would end the process at one, and take all memory at the other.
            _takes_no_bytes(self._reader.writer_schema, {})
        except ValueError as error:
            raise PartwrightError(f"{path!r} is not read: {error}", path=path) from error

    def read(self, requests: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        names = self._names()
        paths = [path_in(names, column.name) for column in requests]
        for column, path in zip(requests, paths, strict=True):
            if path[0] not in names:
                find_column(self._path, names, column.name)
        records = iter(self._reader)
        while True:
            try:
                batch = list(islice(records, _BATCH))
            except Exception as error:
                why = "the bytes of a record are not what its schema says"
                raise self._broken(error, why) from error
            if not batch:
                return
            yield tuple(
                self._column([_at(record, path) for record in batch], column)
                for column, path in zip(requests, paths, strict=True)
            )

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`."""
        yield dict.fromkeys(self._names(), pa.null())

    def _names(self) -> list[str]:
        schema = self._reader.writer_schema
        if not isinstance(schema, dict) or schema.get("type") != "record":
            raise PartwrightError(
                f"{self._path!r} has no records: its Avro schema is not a record", path=self._path
            )
        return [field["name"] for field in schema["fields"]]

    def extend(
        self,
        key: ColumnRequest,  # noqa: ARG002 - as the protocol has it
        name: str,  # noqa: ARG002
        computed: Callable[[Column], Column],  # noqa: ARG002
        sink: Writable,  # noqa: ARG002
    ) -> None:
        """Avro files are only read."""
        raise PartwrightError(
            f"{self._path!r} is Avro, to which no column is added: write it as Parquet first, or use `check`",
            path=self._path,
        )

    def _column(self, values: list[Any], request: ColumnRequest) -> Column:
        try:
            return pa.array([str(each) if isinstance(each, UUID) else each for each in values])
        except (pa.ArrowException, OverflowError) as error:
            raise PartwrightError(
                f"column {request.name!r} of {self._path!r} is of more than one type ({first_line(error)})",
                path=self._path,
            ) from error

    def _broken(self, error: Exception, why: str) -> PartwrightError:
        """The error for a file that is not whole: ours, if its blocks say why, else why fastavro cannot read them."""
        reason = str(error) if isinstance(error, AvroBlockError) else why
        return PartwrightError(
            f"{self._path!r} is not a whole Avro file ({reason}): it may be cut off",
            path=self._path,
        )


def _at(record: Any, path: Sequence[str]) -> Any:
    for name in path:
        if not isinstance(record, dict):
            return None
        record = record.get(name)
    return record


def _takes_no_bytes(schema: Any, named: dict[str, bool | None]) -> bool:
    """Whether the values of a schema take no bytes.

    Args:
        schema: The schema.
        named: The answer for each type that has a name; None for a record around this schema.

    Raises:
        ValueError: It has a record within itself, which may be nested to any depth; or an array of values without
            bytes, of which a few bytes could claim any number.
    """
    if isinstance(schema, str):
        answer = named.get(schema, schema == "null")
        if answer is None:
            raise ValueError(
                f"its record {schema!r} has itself as a part, to any depth: write it as Parquet first"
            )
        return answer
    if isinstance(schema, list):
        # Each value of a union begins with the place of its type.
        for each in schema:
            _takes_no_bytes(each, named)
        return False
    kind = schema["type"]
    if kind in ("record", "error"):
        named[schema["name"]] = None
        fields = [_takes_no_bytes(field["type"], named) for field in schema["fields"]]
        named[schema["name"]] = all(fields)
        return all(fields)
    if kind == "array" and _takes_no_bytes(schema["items"], named):
        raise ValueError("it has an array of nulls, of which a few bytes could claim any number")
    if kind == "map":
        _takes_no_bytes(schema["values"], named)
    if kind == "fixed":
        empty: bool = schema["size"] == 0
        named[schema["name"]] = empty
        return empty
    if kind == "enum":
        named[schema["name"]] = False
    return kind not in ("array", "map", "enum") and _takes_no_bytes(kind, named)


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
