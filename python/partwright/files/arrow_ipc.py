"""Files in Arrow's own format, file or stream: the same record batches with one more column."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

import pyarrow as pa

from partwright.errors import PartwrightError
from partwright.files.file_sets import is_remote
from partwright.files.formats import (
    Records,
    declared,
    find_column,
    in_one,
    in_pieces,
    not_regular,
    path_in,
    picked,
    refuse_taken,
    whole,
)
from partwright.files.lines import LONGEST

if TYPE_CHECKING:
    _Reader: TypeAlias = pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader
    _Writer: TypeAlias = pa.ipc.RecordBatchFileWriter | pa.ipc.RecordBatchStreamWriter

    from partwright.files.formats import Column, ColumnRequest, Writable

_FILE = b"ARROW1"
_FEATHER_1 = b"FEA1"
# The end of a file: four bytes of length, and the magic bytes.
_FOOTER_END = 4 + len(_FILE)
# The number of this field in the footer's table (Arrow's File.fbs).
_RECORD_BATCHES = 3
_CODECS = {0: "lz4", 1: "zstd"}


class ArrowRecords(Records):
    """A file of record batches; see `partwright.files.formats.Records`."""

    format = "arrow"
    is_text = False

    def __init__(self, path: str, file: BinaryIO, size: int | None) -> None:
        super().__init__(file)
        self._path = path
        self._size = size
        if size is None:
            raise not_regular(path)
        # Records a second time, to be read without Python.
        self._source = file if isinstance(file, pa.NativeFile) else _native(path, file)
        start = self._source.read(len(_FILE))
        self._source.seek(0)
        self._is_file = start.startswith(_FILE)
        if start.startswith(_FEATHER_1):
            raise PartwrightError(
                f"{path!r} is a Feather file of version 1, which is not Arrow's format: write it again, such as "
                "with pyarrow.feather",
                path=path,
            )

    @property
    def done(self) -> float | None:
        """See `Records`."""
        return self._source.tell() / self._size if self._size else None

    def close(self) -> None:
        """Close the file."""
        self._source.close()
        super().close()

    def read(self, requests: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        schema = self._reader().schema
        paths = [path_in(schema.names, column.name) for column in requests]
        places = [find_column(self._path, schema.names, first) for first, *_ in paths]
        # Fields come in the file's order, each once.
        field_places = sorted(set(places))
        self._source.seek(0)
        reader = self._reader(pa.ipc.IpcReadOptions(included_fields=field_places))
        for batch, _ in self._batches(reader):
            yield from in_pieces(
                [
                    picked(self._path, batch.column(field_places.index(place)), inside, first)
                    for place, (first, *inside) in zip(places, paths, strict=True)
                ],
                LONGEST,
            )

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`."""
        schema = self._reader().schema
        yield from declared(schema.names, schema.types)

    def extend(
        self, key: ColumnRequest, name: str, computed: Callable[[Column], Column], sink: Writable
    ) -> None:
        """See `Records`."""
        # The reader reports whatever is not a whole file.
        self._reader()
        codec = self._codec()
        self._source.seek(0)
        reader = self._reader()
        names = reader.schema.names
        first, *inside = path_in(names, key.name)
        place = find_column(self._path, names, first)
        refuse_taken(self._path, names, name)
        schema = reader.schema.append(pa.field(name, pa.int32()))
        options = pa.ipc.IpcWriteOptions(compression=codec, emit_dictionary_deltas=True)
        with self._writer(reader, sink, schema, options) as writer:
            for batch, metadata in self._batches(reader):
                keys = picked(self._path, batch.column(place), inside, first)
                columns = [*batch.columns, in_one(computed(keys))]
                writer.write_batch(
                    pa.RecordBatch.from_arrays(columns, schema=schema), custom_metadata=metadata
                )

    def _reader(self, options: object = None) -> _Reader:
        with whole(self._path, "Arrow file or stream"):
            return (pa.ipc.open_file if self._is_file else pa.ipc.open_stream)(self._source, options=options)

    def _writer(self, reader: _Reader, sink: Writable, schema: pa.Schema, options: object) -> _Writer:
        if not self._is_file:
            return pa.ipc.new_stream(sink, schema, options=options)
        # pyarrow can read and write the file's own metadata from 21 on.
        about = {"metadata": reader.metadata} if hasattr(reader, "metadata") else {}
        return pa.ipc.new_file(sink, schema, options=options, **about)

    def _batches(self, reader: _Reader) -> Iterator[tuple[pa.RecordBatch, pa.KeyValueMetadata | None]]:
        if self._is_file:
            for place in range(reader.num_record_batches):
                with whole(self._path, "Arrow file or stream"):
                    read = reader.get_batch_with_custom_metadata(place)
                    # Damage inside is refused by whatever reads it next, in its own words.
                    read.batch.validate()
                yield read.batch, read.custom_metadata
            return
        while True:
            try:
                with whole(self._path, "Arrow file or stream"):
                    read = reader.read_next_batch_with_custom_metadata()
                    read.batch.validate()
            except StopIteration:
                return
            yield read.batch, read.custom_metadata

    def _codec(self) -> str | None:
        """How the buffers are compressed, which pyarrow does not reveal."""
        with whole(self._path, "Arrow file or stream"):
            if self._is_file:
                place = self._first_batch()
                if place is None:
                    return None
                self._source.seek(place)
                return _codec_of(memoryview(pa.ipc.read_message(self._source).metadata))
            self._source.seek(0)
            for message in pa.ipc.MessageReader.open_stream(self._source):
                if message.type == "record batch":
                    return _codec_of(memoryview(message.metadata))
        return None

    def _first_batch(self) -> int | None:
        """Where a file's first record batch begins, by the footer; None if it has none."""
        # The footer, its length, and the magic bytes.
        self._source.seek(self._source.size() - _FOOTER_END)
        length = int.from_bytes(self._source.read(4), "little")
        self._source.seek(self._source.size() - _FOOTER_END - length)
        footer = memoryview(self._source.read(length))
        at = _field(footer, _number(footer, 0, 4), _RECORD_BATCHES)
        if at is None:
            return None
        blocks = at + _number(footer, at, 4)
        return _number(footer, blocks + 4, 8) if _number(footer, blocks, 4) else None


def _native(path: str, file: BinaryIO) -> pa.NativeFile:
    """A file for pyarrow, which opens local files itself."""
    return pa.PythonFile(file, mode="r") if is_remote(path) else pa.OSFile(os.fsencode(path))


def _codec_of(message: memoryview) -> str | None:
    """The codec of a record batch's message, a flatbuffer; the fields' numbers are from Arrow's Message.fbs."""
    table = _number(message, 0, 4)
    for field in (2, 3):
        at = _field(message, table, field)
        if at is None:
            return None
        table = at + _number(message, at, 4)
    at = _field(message, table, 0)
    return _CODECS[0 if at is None else message[at]]


def _field(message: memoryview, table: int, field: int) -> int | None:
    """The position of a table's field; None if it has its default."""
    layout = table - int.from_bytes(message[table : table + 4], "little", signed=True)
    entry = 4 + 2 * field
    offset = _number(message, layout + entry, 2) if entry < _number(message, layout, 2) else 0
    return table + offset if offset else None


def _number(message: memoryview, at: int, size: int) -> int:
    return int.from_bytes(message[at : at + size], "little")
