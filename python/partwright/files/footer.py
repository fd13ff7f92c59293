"""A Parquet file's footer, to which one column can be added; the fields' numbers are from parquet.thrift."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from partwright.files.thrift import List, Struct, read_struct, values_at, write_struct

MAGIC = b"PAR1"
_LENGTH = 4
_I32, _BINARY, _STRUCT = 5, 8, 12

# FileMetaData
_SCHEMA, _GROUPS, _KEY_VALUES, _ORDERS, _ENCRYPTION, _SIGNING_KEY = 2, 4, 5, 7, 8, 9
# SchemaElement
_TYPE, _REPETITION, _NAME, _CHILDREN = 1, 3, 4, 5
_INT32, _OPTIONAL = 1, 1
# RowGroup
_CHUNKS, _BYTES, _COMPRESSED = 1, 2, 6
# ColumnChunk, and the ColumnMetaData in it
_FILE, _CHUNK_OFFSET, _META = 1, 2, 3
_META_CODEC, _META_VALUES, _META_BYTES, _META_COMPRESSED = 4, 5, 6, 7
_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE = 9, 10, 11
# KeyValue
_KEY, _VALUE = 1, 2
_ARROW_SCHEMA = b"ARROW:schema"
# ParquetReadSupport.SPARK_METADATA_KEY: Spark sees only the columns that are named there.
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
# AvroReadSupport.AVRO_SCHEMA_METADATA_KEY and its older name: parquet-avro refuses a file with an extra column.
_AVRO_SCHEMAS = (b"parquet.avro.schema", b"avro.schema")


def footer_length(end: bytes) -> int:
    """The length of the footer, from a Parquet file's last bytes.

    Raises:
        ValueError: A Parquet file does not end like this.

    Examples:
        >>> footer_length(bytes([44, 1, 0, 0]) + b"PAR1")
        300
    """
    if end[-len(MAGIC) :] != MAGIC:
        raise ValueError("the file does not end in PAR1")
    return int.from_bytes(end[-len(MAGIC) - _LENGTH : -len(MAGIC)], "little")


class Chunk(NamedTuple):
    """What a footer says about a column in one row group.

    Attributes:
        codec: The number of its compression.
        values: How many values it has, nulls included.
        size: The bytes of its pages, uncompressed.
        has_dictionary: Whether it begins with a dictionary.
    """

    codec: int
    values: int
    size: int
    has_dictionary: bool


def chunks_of(footer: bytes, leaves: Sequence[int], groups: int) -> dict[int, list[Chunk]]:
    """What a footer says about some columns in each row group, by the column's place.

    pyarrow's own objects for this end the process if the footer contradicts itself, where its readers only raise.

    Args:
        footer: The footer, without the length and the magic bytes after it.
        leaves: The columns' places among those that have pages.
        groups: How many row groups there are.

    Raises:
        ValueError: It is not a footer, or lacks what describes a column.
    """
    ordered = sorted(set(leaves))
    chunks = [_chunk(meta) for meta in values_at(footer, [_GROUPS, None, _CHUNKS, frozenset(ordered), _META])]
    if len(chunks) != groups * len(ordered):
        raise ValueError("a row group lacks a column chunk")
    return {leaf: chunks[place :: len(ordered)] for place, leaf in enumerate(ordered)}


def _chunk(meta: object) -> Chunk:
    if not isinstance(meta, Struct) or not {_META_CODEC, _META_VALUES, _META_BYTES} <= meta.keys():
        raise ValueError("a column chunk has no codec, values or size")
    return Chunk(
        meta.get_value(_META_CODEC),
        meta.get_value(_META_VALUES),
        meta.get_value(_META_BYTES),
        _DICTIONARY_PAGE in meta,
    )


class Footer:
    """A Parquet file's metadata.

    Args:
        data: The footer, without the length and the magic bytes after it.

    Raises:
        ValueError: It is not a footer.
    """

    def __init__(self, data: bytes) -> None:
        self._file = read_struct(data)
        if _SCHEMA not in self._file or _GROUPS not in self._file:
            raise ValueError("the footer has no schema or no row groups")

    @property
    def is_encrypted(self) -> bool:
        """Whether columns are encrypted or the footer is signed."""
        return _ENCRYPTION in self._file or _SIGNING_KEY in self._file

    @property
    def is_of_other_files(self) -> bool:
        """Whether the pages are in other files, as with a data set's `_metadata`."""
        return any(_FILE in chunk for group in self._groups for chunk in group.get_value(_CHUNKS).items)

    @property
    def _groups(self) -> list[Struct]:
        groups: list[Struct] = self._file.get_value(_GROUPS).items
        return groups

    def add_column(self, name: str) -> None:
        """Add a nullable int32 column as the last one in the schema; each row group must get its chunk.

        Raises:
            ValueError: A schema that Arrow, Spark or Avro left in the footer cannot be read, or cannot have the name.
        """
        schema = self._file.get_value(_SCHEMA).items
        schema[0].set_value(_CHILDREN, schema[0].get_value(_CHILDREN) + 1)
        schema.append(
            Struct({_TYPE: (_I32, _INT32), _REPETITION: (_I32, _OPTIONAL), _NAME: (_BINARY, name.encode())})
        )
        if _ORDERS in self._file:
            # The only order that exists: the type's own.
            self._file.get_value(_ORDERS).items.append(Struct({1: (_STRUCT, Struct())}))
        for pair in self._file.get_value(_KEY_VALUES, List(_STRUCT, [])).items:
            if pair.get_value(_KEY) in _WIDER:
                pair.set_value(_VALUE, _WIDER[pair.get_value(_KEY)](pair.get_value(_VALUE), name))

    def add_chunk(self, group: int, written: bytes, at: int) -> memoryview:
        """Take the only column of the only row group of another Parquet file.

        Args:
            group: The row group that gets it.
            written: The other file.
            at: The position of its pages in this file.

        Returns:
            The pages.
        """
        end = memoryview(written)[-len(MAGIC) - _LENGTH :]
        other = Footer(written[len(written) - len(end) - footer_length(bytes(end)) : -len(end)])
        chunk = other._groups[0].get_value(_CHUNKS).items[0]
        meta = chunk.get_value(_META)
        start = meta.get_value(_DICTIONARY_PAGE) or meta.get_value(_DATA_PAGE)
        for field in (_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE):
            if field in meta:
                meta.set_value(field, meta.get_value(field) - start + at)
        chunk.set_value(_CHUNK_OFFSET, 0)
        # Its own indexes and bloom filters would lie outside its pages.
        kept = Struct({field: chunk[field] for field in (_CHUNK_OFFSET, _META)})
        ours = self._groups[group]
        ours.get_value(_CHUNKS).items.append(kept)
        for total, part in ((_BYTES, _META_BYTES), (_COMPRESSED, _META_COMPRESSED)):
            if total in ours:
                ours.set_value(total, ours.get_value(total) + meta.get_value(part))
        return memoryview(written)[start : start + meta.get_value(_META_COMPRESSED)]

    def to_bytes(self) -> bytes:
        """The footer with its length and the magic bytes: the end of a file."""
        data = write_struct(self._file)
        return data + len(data).to_bytes(_LENGTH, "little") + MAGIC


def _wider_arrow(schema: bytes, name: str) -> bytes:
    known = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(schema)))
    # pyarrow keeps a copy of the schema here as well, and reads this one.
    about = {
        key: _WIDER[key](value, name) if key in _WIDER else value
        for key, value in (known.metadata or {}).items()
    }
    return base64.b64encode(known.append(pa.field(name, pa.int32())).with_metadata(about).serialize())


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


# The schemas that readers trust more than the file's own.
_WIDER = {
    _ARROW_SCHEMA: _wider_arrow,
    _SPARK_SCHEMA: _wider_spark,
    **dict.fromkeys(_AVRO_SCHEMAS, _wider_avro),
}
