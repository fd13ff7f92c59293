"""Parquet files, read and written by pyarrow: with one more column, a file is written again, batch by batch.

pyarrow writes the values, the schema with its metadata, and the codecs of the columns as they were; encodings, pages
and indexes are its own, bloom filters go, and a row group has at most as many rows as a batch. A type that it would
write as another one is refused.
"""

from __future__ import annotations

import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.files.formats import (
    TEXT_AND_BINARY,
    Records,
    declared,
    find_column,
    in_one,
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
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from partwright.files.formats import Column, ColumnRequest, Writable

__all__ = ["ParquetRecords"]

# The most rows of a batch; the most bytes of a field in it are those of a line of a text file.
_BATCH = 1 << 18
# The most bytes of a column's pages that are held at once.
_BUFFER = 1 << 20
# The most bytes of a dictionary's index; for a million values it has 20 bits.
_INDEX_BYTES = 3
# Codecs that pyarrow's writer calls otherwise than its reader.
_CODECS = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4", "UNKNOWN": "NONE"}


class ParquetRecords(Records):
    """A Parquet file; see `partwright.files.formats.Records`."""

    format = "parquet"
    is_text = False

    def __init__(self, path: str, file: BinaryIO, size: int | None) -> None:
        super().__init__(file)
        self._path = path
        if size is None:
            raise not_regular(path)
        self._read = 0
        self._known: dict[int, list[Any]] = {}
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

    def read(self, wanted: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        names = self._parquet.schema_arrow.names
        paths = [path_in(names, column.name) for column in wanted]
        for first, *_ in paths:
            find_column(self._path, names, first)
        reader = self._reader([first for first, *inside in paths if not inside])
        for batch in self._batches(reader, list(dict.fromkeys(first for first, *_ in paths))):
            yield from in_pieces(
                [
                    # A name with a dot may also match what lies deeper under such a path.
                    picked(self._path, batch.column(batch.schema.names.index(first)), inside, first)
                    for first, *inside in paths
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
        schema = self._parquet.schema_arrow
        first, *inside = path_in(schema.names, key.name)
        place = find_column(self._path, schema.names, first)
        refuse_taken(self._path, schema.names, name)
        options = self._options(pa.field(name, pa.int32()))
        # A type without key bytes is refused before a large file is read.
        computed(picked(self._path, pa.nulls(0, schema.field(place).type), inside, first))
        with pq.ParquetWriter(sink, **options) as writer:
            for batch in self._batches(self._parquet, schema.names):
                keys = picked(self._path, batch.column(place), inside, first)
                columns = [*batch.columns, in_one(computed(keys))]
                rows = pa.RecordBatch.from_arrays(columns, schema=options["schema"])
                writer.write_batch(rows, max(1, rows.num_rows))

    def _options(self, new: pa.Field) -> dict[str, Any]:
        """How pyarrow writes the file with a new column: the schema, the codecs, and times of 96 bits as such.

        Raises:
            PartwrightError: A column's type would become another one, or the file has no pages of its own.
        """
        leaves = [self._parquet.schema.column(leaf) for leaf in range(len(self._parquet.schema))]
        chunks = [chunks[0] for leaf in range(len(leaves)) if (chunks := self._chunks(leaf))]
        if any(chunk.file_path for chunk in chunks):
            raise PartwrightError(
                f"the records of {self._path!r} are in other files: name one of those", path=self._path
            )
        schema = self._parquet.schema_arrow
        try:
            metadata = {
                name: _WIDER[name](value, new.name) if name in _WIDER else value
                for name, value in (schema.metadata or {}).items()
            }
        except ValueError as error:
            raise PartwrightError(
                f"the footer of {self._path!r} cannot be read: {error}", path=self._path
            ) from error
        options = {
            "schema": schema.append(new).with_metadata(metadata or None),
            "compression": {
                chunk.path_in_schema: _CODECS.get(chunk.compression, chunk.compression) for chunk in chunks
            },
            "use_deprecated_int96_timestamps": any(leaf.physical_type == "INT96" for leaf in leaves),
        }
        empty = io.BytesIO()
        pq.ParquetWriter(empty, **options).close()
        written = pq.ParquetFile(empty).schema
        for at, leaf in enumerate(leaves):
            kept = written.column(at).logical_type
            if leaf.physical_type != "INT96" and str(leaf.logical_type) != str(kept):
                raise PartwrightError(
                    f"the column {leaf.path!r} of {self._path!r} is of type {leaf.logical_type}, and pyarrow would "
                    f"write it as {kept}: add the column where the file is made",
                    path=self._path,
                )
        return options

    def _reader(self, names: Sequence[str]) -> pq.ParquetFile:
        """A reader that returns as dictionaries those columns that are dictionaries throughout."""
        schema = self._parquet.schema_arrow
        # The types that pyarrow returns as dictionaries.
        texts = [name for name in names if schema.field(name).type in TEXT_AND_BINARY]
        dictionaries = [name for name in texts if self._is_dictionary(name, self._leaves(name)[0])]
        return self._with_dictionaries(dictionaries) if dictionaries else self._parquet

    def _is_dictionary(self, name: str, leaf: int) -> bool:
        # If a dictionary became too large, its writer continued with the values themselves, four bytes or more each.
        # Making a dictionary of those again would take longer than hashing them.
        chunks = self._chunks(leaf)
        return bool(chunks) and all(
            chunk.has_dictionary_page
            and (
                chunk.total_uncompressed_size < (most := _INDEX_BYTES * chunk.num_values)
                or chunk.total_uncompressed_size - self._dictionary(name, group).nbytes < most
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

    def _batches(self, reader: pq.ParquetFile, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        rows = min((self._rows_at_once(reader, name) for name in names), default=_BATCH)
        with whole(self._path, "Parquet file"):
            batches = reader.iter_batches(rows, columns=names, use_threads=False)

        def following() -> pa.RecordBatch | None:
            with whole(self._path, "Parquet file"):
                return next(batches, None)

        # The next batch is decoded while this one is looked at: neither holds Python's lock for long.
        with ThreadPoolExecutor(1, "partwright-parquet") as ahead:
            coming = ahead.submit(following)
            while (batch := coming.result()) is not None:
                coming = ahead.submit(following)
                self._read += batch.num_rows
                yield batch

    def _rows_at_once(self, reader: pq.ParquetFile, name: str) -> int:
        """How many rows of a field may be decoded at once."""
        if pa.types.is_primitive(self._parquet.schema_arrow.field(name).type):
            return _BATCH
        leaves = self._leaves(name)
        mean = max(
            (
                chunk.total_uncompressed_size // max(chunk.num_values, 1)
                for leaf in leaves
                for chunk in self._chunks(leaf)
            ),
            default=1,
        )
        if mean > LONGEST:
            raise PartwrightError(
                f"the values of {name!r} in {self._path!r} have up to {counted(mean, 'byte')} on average in a row "
                f"group, more than the {LONGEST >> 20} MiB of a value that is read: name another column",
                path=self._path,
            )
        longest = 1
        if not pa.types.is_dictionary(reader.schema_arrow.field(name).type):
            groups = range(self._parquet.num_row_groups)
            longest = max((self._longest(leaf, group) for leaf in leaves for group in groups), default=1)
        return max(1, min(_BATCH, LONGEST // max(mean, longest, 1)))

    def _longest(self, leaf: int, group: int) -> int:
        """The most bytes of a value in a column's dictionary, which each row may have for a few bits."""
        column = self._parquet.schema.column(leaf)
        return longest_in(self._dictionary(column.path, group)) if column.physical_type == "BYTE_ARRAY" else 1

    def _chunks(self, leaf: int) -> list[Any]:
        """What the footer says about one of the file's columns, row group by row group."""
        if leaf not in self._known:
            path = self._parquet.schema.column(leaf).path
            groups = range(self._parquet.num_row_groups)
            for group in groups:
                # If a footer contradicts itself, pyarrow's own objects for it end the process; its reader only raises.
                with whole(self._path, "Parquet file"):
                    next(self._parquet.iter_batches(1, [group], [path], use_threads=False), None)
            self._known[leaf] = [self._parquet.metadata.row_group(group).column(leaf) for group in groups]
        return self._known[leaf]

    def _leaves(self, name: str) -> list[int]:
        """Those of the file's columns that belong to a field."""
        schema = self._parquet.schema
        return [leaf for leaf in range(len(schema)) if f"{schema.column(leaf).path}.".startswith(f"{name}.")]


def _wider_spark(schema: bytes, name: str) -> bytes:
    return _wider_json(schema, {"name": name, "type": "integer", "nullable": True, "metadata": {}})


def _wider_avro(schema: bytes, name: str) -> bytes:
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"its Avro schema cannot have a field {name!r}, give it another name with --column")
    return _wider_json(schema, {"name": name, "type": ["null", "int"], "default": None})


def _wider_json(schema: bytes, field: dict[str, object]) -> bytes:
    match known := json.loads(schema):
        case {"fields": list() as fields}:
            fields.append(field)
            return json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode()
    raise ValueError(f"the schema {schema.decode()[:40]!r} in it has no fields")


# The schemas that readers trust more than the file's own. Spark sees only the columns that are named in its
# (ParquetReadSupport.SPARK_METADATA_KEY); parquet-avro refuses a file with an extra column
# (AvroReadSupport.AVRO_SCHEMA_METADATA_KEY and its older name).
_WIDER = {
    b"org.apache.spark.sql.parquet.row.metadata": _wider_spark,
    b"parquet.avro.schema": _wider_avro,
    b"avro.schema": _wider_avro,
}
