"""Parquet files. A new column goes after the old ones: no byte of the other columns is decoded or moved.

A Parquet file is pages of columns, then a footer that says where each one is. So the old pages are copied as they are,
the new column's pages follow them, row group by row group, and the footer is written with both. Everything that the old
columns have stays (codecs, encodings, statistics, indexes, bloom filters), also what pyarrow would not write again.
"""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.files.footer import Footer, chunks_of, footer_length
from partwright.files.formats import (
    TEXT_AND_BINARY,
    Records,
    declared,
    find_column,
    in_pieces,
    longest_in,
    not_regular,
    path_in,
    picked,
    refuse_taken,
    whole,
)
from partwright.files.lines import LONGEST

if TYPE_CHECKING:
    from partwright.files.footer import Chunk
    from partwright.files.formats import Column, ColumnRequest, Writable

# The most rows of a batch; the most bytes of a field in it are those of a line of a text file.
_BATCH = 1 << 18
_COPIED = 8 << 20
# The most bytes of a column's pages that are held at once.
_BUFFER = 1 << 20
# The end of Parquet's footer: its length and the magic bytes.
_END = 8
# The most bytes of a dictionary's index; for a million values it has 20 bits.
_INDEX_BYTES = 3
# parquet.thrift's CompressionCodec, by pyarrow's names, without LZO, which no pyarrow writes.
_CODECS = {1: "SNAPPY", 2: "GZIP", 4: "BROTLI", 5: "LZ4", 6: "ZSTD", 7: "LZ4"}
# pyarrow does not write larger ones.
_LARGEST_GROUP = 64 << 20


class ParquetRecords(Records):
    """A Parquet file; see `partwright.files.formats.Records`."""

    format = "parquet"
    is_text = False

    def __init__(self, path: str, file: BinaryIO, size: int | None) -> None:
        super().__init__(file)
        self._path = path
        if size is None:
            raise not_regular(path)
        self._size = size
        self._read = 0
        self._known: dict[int, list[Chunk]] = {}
        with whole(self._path, "Parquet file"):
            self._parquet = pq.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER)

    @property
    def done(self) -> float | None:
        """See `Records`."""
        return self._read / self._parquet.metadata.num_rows if self._parquet.metadata.num_rows else None

    def close(self) -> None:
        """Close the file."""
        self._parquet.close()
        super().close()

    def read(self, requests: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        names = self._parquet.schema_arrow.names
        paths = [path_in(names, column.name) for column in requests]
        for first, *_ in paths:
            find_column(self._path, names, first)
        column_names = [first for first, *_ in paths]
        whole_ones = [first for first, *inside in paths if not inside]
        for columns in self._batches(
            self._reader(whole_ones), range(self._parquet.num_row_groups), column_names
        ):
            yield from in_pieces(
                [
                    picked(self._path, column, inside, first)
                    for column, (first, *inside) in zip(columns, paths, strict=True)
                ],
                LONGEST,
            )

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`."""
        schema = self._parquet.schema_arrow
        yield from declared(schema.names, schema.types)

    def extend(
        self, key: ColumnRequest, name: str, computed: Callable[[Column], Column], sink: Writable
    ) -> None:
        """See `Records`."""
        names = self._parquet.schema_arrow.names
        first, *inside = path_in(names, key.name)
        place = find_column(self._path, names, first)
        refuse_taken(self._path, names, name)
        footer, length = self._footer(name)
        codec = self._codec(first)
        reader = self._parquet if inside else self._reader([first])
        # A type without key bytes is refused before a large file is copied.
        computed(picked(self._path, pa.nulls(0, self._parquet.schema_arrow.field(place).type), inside, first))
        at = self._copy(sink, self._size - _END - length)
        for group in range(self._parquet.num_row_groups):
            keys = (columns[0] for columns in self._batches(reader, [group], [first]))
            parts = [
                part
                for key_part in keys
                for part in _chunks(computed(picked(self._path, key_part, inside, first)))
            ]
            written = io.BytesIO()
            table = pa.table({name: pa.chunked_array(parts, pa.int32())})
            pq.write_table(table, written, _LARGEST_GROUP, compression=codec, store_schema=False)
            at += sink.write(footer.add_chunk(group, written.getvalue(), at))
        sink.write(footer.to_bytes())

    def _reader(self, names: Sequence[str]) -> pq.ParquetFile:
        """A reader that returns as dictionaries those columns that are dictionaries throughout."""
        schema = self._parquet.schema_arrow
        # The types that pyarrow returns as dictionaries.
        texts = [name for name in names if schema.field(name).type in TEXT_AND_BINARY]
        named_chunks = zip(texts, self._chunks([self._leaves(name)[0] for name in texts]), strict=True)
        dictionaries = [
            name for name, chunks in named_chunks if chunks and self._are_dictionaries(name, chunks)
        ]
        return self._with_dictionaries(dictionaries) if dictionaries else self._parquet

    def _are_dictionaries(self, name: str, chunks: Sequence[Chunk]) -> bool:
        # If a dictionary became too large, its writer continued with the values themselves, four bytes or more each.
        # Making a dictionary of those again would take longer than hashing them.
        return all(
            chunk.has_dictionary
            and (
                chunk.size < (most := _INDEX_BYTES * chunk.values)
                or chunk.size - self._dictionary(name, group).nbytes < most
            )
            for group, chunk in enumerate(chunks)
        )

    def _with_dictionaries(self, paths: Sequence[str]) -> pq.ParquetFile:
        with whole(self._path, "Parquet file"):
            return pq.ParquetFile(
                self._file,
                metadata=self._parquet.metadata,
                read_dictionary=paths,
                pre_buffer=False,
                buffer_size=_BUFFER,
            )

    def _dictionary(self, path: str, group: int) -> pa.Array:
        """The dictionary of a column in a row group, which is decoded as a whole for the first value."""
        column = pa.nulls(0)
        # Some encodings cannot be read like this, and have no dictionary; what is damaged is reported when it is read.
        with suppress(OSError, pa.ArrowException):
            batches = self._with_dictionaries([path]).iter_batches(1, [group], [path], use_threads=False)
            column = next((batch.column(0) for batch in batches), column)
        while pa.types.is_struct(column.type):
            column = column.field(0)
        return column.dictionary if pa.types.is_dictionary(column.type) else pa.nulls(0)

    def _batches(
        self,
        reader: pq.ParquetFile,
        groups: Sequence[int],
        names: Sequence[str],
    ) -> Iterator[tuple[Column, ...]]:
        unique_names = list(dict.fromkeys(names))
        self._chunks([leaf for name in unique_names if self._is_wide(name) for leaf in self._leaves(name)])
        rows = min((self._rows_at_once(reader, name, groups) for name in unique_names), default=_BATCH)
        with whole(self._path, "Parquet file"):
            batches = reader.iter_batches(rows, groups, unique_names, use_threads=False)

        def following() -> pa.RecordBatch | None:
            with whole(self._path, "Parquet file"):
                return next(batches, None)

        # The next batch is decoded while this one is looked at: neither holds Python's lock for long.
        with ThreadPoolExecutor(1, "partwright-parquet") as ahead:
            coming = ahead.submit(following)
            while (batch := coming.result()) is not None:
                coming = ahead.submit(following)
                self._read += batch.num_rows
                # A name with a dot may also match what lies deeper under such a path.
                yield tuple(batch.column(batch.schema.names.index(name)) for name in names)

    def _rows_at_once(self, reader: pq.ParquetFile, name: str, groups: Sequence[int]) -> int:
        """How many rows of a field in some row groups may be decoded at once."""
        if not self._is_wide(name):
            return _BATCH
        mean = longest = 1
        leaves = self._leaves(name)
        for chunks in self._chunks(leaves):
            mean = max([mean, *(chunks[group].size // max(chunks[group].values, 1) for group in groups)])
        if mean > LONGEST:
            raise PartwrightError(
                f"the values of {name!r} in {self._path!r} have up to {counted(mean, 'byte')} on average in a row "
                f"group, more than the {LONGEST >> 20} MiB of a value that is read: name another column",
                path=self._path,
            )
        if not pa.types.is_dictionary(reader.schema_arrow.field(name).type):
            longest = max((self._longest(leaf, group) for leaf in leaves for group in groups), default=1)
        return max(1, min(_BATCH, LONGEST // max(mean, longest)))

    def _longest(self, leaf: int, group: int) -> int:
        """The most bytes of a value in a column's dictionary, which each row may have for a few bits."""
        column = self._parquet.schema.column(leaf)
        return longest_in(self._dictionary(column.path, group)) if column.physical_type == "BYTE_ARRAY" else 1

    def _is_wide(self, name: str) -> bool:
        """Whether a value of a field may have any number of bytes."""
        return not pa.types.is_primitive(self._parquet.schema_arrow.field(name).type)

    @contextmanager
    def _unreadable_footer(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError) as error:
            raise PartwrightError(
                f"the footer of {self._path!r} cannot be read: {error}", path=self._path
            ) from error

    @functools.cached_property
    def _footer_bytes(self) -> bytes:
        self._file.seek(-_END, os.SEEK_END)
        length = footer_length(self._file.read(_END))
        self._file.seek(-_END - length, os.SEEK_END)
        return self._file.read(length)

    def _chunks(self, leaves: Sequence[int]) -> list[list[Chunk]]:
        """What the footer says about some of the file's columns, each row group by row group."""
        unknown = [leaf for leaf in leaves if leaf not in self._known]
        if unknown:
            with self._unreadable_footer():
                self._known |= chunks_of(self._footer_bytes, unknown, self._parquet.num_row_groups)
        return [self._known[leaf] for leaf in leaves]

    def _footer(self, new: str) -> tuple[Footer, int]:
        """The file's metadata with the new column, and its length without it."""
        with self._unreadable_footer():
            data = self._footer_bytes
            footer = Footer(data)
            footer.add_column(new)
        if footer.is_encrypted:
            raise PartwrightError(
                f"{self._path!r} is encrypted or signed: write it again without that", path=self._path
            )
        if footer.is_of_other_files:
            raise PartwrightError(
                f"the records of {self._path!r} are in other files: name one of those", path=self._path
            )
        for group in range(self._parquet.num_row_groups):
            rows = self._parquet.metadata.row_group(group).num_rows
            if rows > _LARGEST_GROUP:
                raise PartwrightError(
                    f"row group {group} of {self._path!r} has {counted(rows, 'row')}, more than the "
                    f"{_LARGEST_GROUP:,} that a "
                    "column can be written for: write the file with smaller ones first",
                    path=self._path,
                )
        return footer, len(data)

    def _codec(self, name: str) -> str:
        """The new column's compression, which is the key's."""
        (chunks,) = self._chunks(self._leaves(name)[:1])
        return _CODECS.get(chunks[0].codec, "NONE") if chunks else "NONE"

    def _leaves(self, name: str) -> list[int]:
        """Those of the file's columns that belong to a field."""
        schema = self._parquet.schema
        return [leaf for leaf in range(len(schema)) if f"{schema.column(leaf).path}.".startswith(f"{name}.")]

    def _copy(self, sink: Writable, size: int) -> int:
        """Copy the start of the file, and return its length."""
        self._file.seek(0)
        left = size
        while left:
            try:
                data = self._file.read(min(left, _COPIED))
            except OSError as error:
                raise PartwrightError(
                    f"{self._path!r} cannot be read ({error.strerror})", path=self._path
                ) from error
            if not data:
                raise PartwrightError(f"{self._path!r} has become shorter while it was read", path=self._path)
            left -= sink.write(data)
        return size


def _chunks(column: Column) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]
