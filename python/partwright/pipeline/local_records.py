"""Read a source in this process, batch by batch: key, value, headers, and what else decides about a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.files import ColumnRequest, open_records, text_type
from partwright.files.file_sets import files_of, is_remote
from partwright.files.formats import in_one, typed
from partwright.files.opening import FORMATS
from partwright.files.scalars import text
from partwright.kafka.address import parse_kafka
from partwright.kafka.reading import Reading, headers_of
from partwright.kafka.records import reads_committed
from partwright.keys.hashing import encode, partition_for_key
from partwright.pipeline.column_roles import TypeRules, check_columns
from partwright.pipeline.json_values import json_rows, refuse_types
from partwright.pipeline.source import OnlySparkError
from partwright.producer.records import HEADERS

if TYPE_CHECKING:
    from partwright.files.formats import Column
    from partwright.kafka.reading import Run
    from partwright.pipeline.settings import RunSettings, SourceColumns
    from partwright.pipeline.topic_source import Source

_PARTITION = pa.int32()
_MOST_ROWS, _MOST_BYTES = 1 << 16, 16 << 20
# Without an end, pyarrow 26 refuses a column with a null.
_LONGEST = 2**31 - 1


class SourceBatch(NamedTuple):
    """Some records of a source, in its order.

    Attributes:
        keys: Their keys, ready to be hashed.
        values: Their value bytes.
        headers: Their headers; None if the source has none.
        timestamps: Their times in milliseconds since 1970, null for now; None if none are kept.
        named: The partitions that they name; None if none do.
        fields: What the strategy `field` goes by; None for others.
    """

    keys: pa.Array
    values: pa.Array
    headers: pa.Array | None = None
    timestamps: pa.Array | None = None
    named: pa.Array | None = None
    fields: pa.Array | None = None


class WantedKeys(NamedTuple):
    """The keys whose records are taken.

    Attributes:
        keys: Their bytes.
        begin: How many bytes before them are not compared: a schema's ID.
    """

    keys: frozenset[bytes]
    begin: int = 0


def inspect_source(source: Source, settings: RunSettings) -> Source:
    """Refuse what only Spark reads, and columns that are not there or are of another type.

    Returns:
        The source with its columns' types.

    Raises:
        OnlySparkError: It is such a source.
        PartwrightError: It is such a column.
        KeyTypeError: The key or the value has such a type.
    """
    columns = settings.columns._replace(key=source.key)
    if source.format == "kafka":
        if columns.key != "key" or columns.value not in {None, "value"}:
            raise OnlySparkError(
                "of a topic, --runner local takes the records' own keys and values: leave --key and --value out, or "
                f"{_SPARK}"
            )
        return source
    if source.format not in FORMATS:
        raise OnlySparkError(
            f"--format {source.format} is one of Spark's, which --runner local does not read: {_SPARK}"
        )
    types = _types(source)
    if not types:
        raise PartwrightError(f"{source.name} has several columns of one name: rename all but one of them")
    check_columns(types, source, columns, _RULES)
    if columns.value is None:
        _refuse_json(source, types)
    return replace(source, types=types)


_SPARK = "say --runner spark"


def _check_key(kind: pa.DataType, name: str, key_type: str | None) -> None:
    if _is_text(kind) and text_type(key_type) != pa.string():
        return
    try:
        partition_for_key(pa.nulls(0, kind), 1, key_type=key_type)
    except PartwrightError as error:
        raise type(error)(f"the key column {name!r}: {error}") from None


_RULES = TypeRules[pa.DataType](
    check_key=_check_key,
    is_value=lambda kind: _is_text(kind) or _is_binary(kind),
    is_time=lambda kind: pa.types.is_timestamp(kind) or kind in {pa.int32(), pa.int64(), pa.null()},
    is_number=lambda kind: _is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind),
    shown=str,
    how=_SPARK,
)


def _refuse_json(source: Source, types: Mapping[str, pa.DataType]) -> None:
    """Refuse columns of which no JSON is made here as Spark makes it."""
    refuse_types(types, source.name)
    if not all(types) or len({name.casefold() for name in types}) < len(types):
        raise OnlySparkError(
            f"{source.name} has a column without a name, or two whose names differ only in case, to which Spark gives "
            f"names of its own: name the column of the values with --value, or {_SPARK}"
        )
    path = Path(str(source.path))
    if path.is_dir() and any(
        "=" in part for file in files_of(str(path), _is_known) for part in Path(file).parts[:-1]
    ):
        raise OnlySparkError(
            f"the names of folders such as day=1 around the files of {source.name} are columns, whose types Spark "
            f"infers: name the column of the values with --value, or {_SPARK}"
        )


def _is_known(name: str) -> bool:
    return not name.startswith(("_", "."))


def _types(source: Source) -> dict[str, pa.DataType]:
    """The columns of a source's files and their types, all of them.

    Raises:
        PartwrightError: A column has other types in other files.
    """
    types: dict[str, pa.DataType] = {}
    with open_records(str(source.path), source.format) as records:
        for each in records.types():
            for name, kind in each.items():
                plain = kind.value_type if pa.types.is_dictionary(kind) else kind
                known = types.setdefault(name, plain)
                if pa.types.is_null(known) or source.format == "json":
                    types[name] = plain
                elif plain != known and not pa.types.is_null(plain):
                    raise PartwrightError(
                        f"the column {name!r} of {source.name} is {known} in one file and {plain} in another: write it "
                        "with one type"
                    )
    # Spark sorts the fields of JSON, whose order may differ from line to line.
    return dict(sorted(types.items())) if source.format == "json" else types


def source_batches(
    source: Source, columns: SourceColumns, only_keys: WantedKeys | None, limit: int | None
) -> Iterator[SourceBatch]:
    """The records of a source, in its order: files by their names, a topic by partition and offset.

    Args:
        source: The source.
        columns: Which of its columns are what.
        only_keys: The keys whose records are taken; None takes all.
        limit: How many of the first records are taken; None takes all.

    Raises:
        PartwrightError: A file cannot be read to its end; or see `Reading`.
    """
    batches = _topic(source) if source.format == "kafka" else _file(source, columns)
    left = limit
    for batch in batches:
        some = batch if only_keys is None else _of_keys(batch, columns.key_type, only_keys)
        if left is not None:
            some = _sliced(some, slice(0, left))
            left -= len(some.keys)
        if len(some.keys):
            yield some
        if left == 0:
            return


def _file(source: Source, columns: SourceColumns) -> Iterator[SourceBatch]:
    key, key_text = str(columns.key), text_type(columns.key_type)
    named = {key, columns.value, columns.timestamp, columns.partition, columns.field}
    requests = [
        ColumnRequest(name, pa.string() if pa.types.is_null(kind) else kind)
        for name, kind in source.types.items()
        if columns.value is None or name in named
    ]
    path, row, null = str(source.path), 0, source.options.get("nullValue")
    with open_records(path, source.format) as records:
        for arrays in _cut(records.read(requests)):
            by_name = {
                each.name: _without(in_one(column), null)
                for each, column in zip(requests, arrays, strict=True)
            }
            keys = by_name[key]
            if _is_text(keys.type):
                keys = in_one(typed(keys, ColumnRequest(key, key_text), path, row))
            row += len(keys)
            yield SourceBatch(
                keys,
                json_rows(by_name) if columns.value is None else by_name[columns.value].cast(pa.binary()),
                None,
                None
                if columns.timestamp is None
                else _milliseconds(by_name[columns.timestamp], columns.timestamp),
                None
                if columns.partition is None
                else _numbers(by_name[columns.partition], columns.partition),
                None if columns.field is None else by_name[columns.field],
            )


def _cut(batches: Iterable[tuple[Column, ...]]) -> Iterator[tuple[Column, ...]]:
    """Batches of so few rows that their JSON fits into memory."""
    for columns in batches:
        count = len(columns[0])
        size = max(1, sum(each.nbytes for each in columns))
        rows = max(1, min(_MOST_ROWS, count * _MOST_BYTES // size))
        for start in range(0, count, rows):
            yield tuple(each.slice(start, rows) for each in columns)


def _without(column: pa.Array, null: str | None) -> pa.Array:
    """The column, plain, with nulls for the text that stands for a missing value."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if null is None or not _is_text(column.type):
        return column
    return pc.if_else(pc.equal(column, text(null)), pa.nulls(1, column.type)[0], column)


def _milliseconds(column: pa.Array, name: str) -> pa.Array:
    if not pa.types.is_timestamp(column.type):
        return _numbers(column, name, pa.int64())
    in_ms = pc.CastOptions(pa.timestamp("ms", column.type.tz), allow_time_truncate=True)
    try:
        return column.cast(options=in_ms).cast(pa.int64())
    except pa.ArrowException as error:
        raise PartwrightError(
            f"the column {name!r} has a time that milliseconds cannot count: {error}"
        ) from None


def _numbers(column: pa.Array, name: str, kind: pa.DataType = _PARTITION) -> pa.Array:
    try:
        return column.cast(kind)
    except pa.ArrowException as error:
        raise PartwrightError(f"the column {name!r} does not hold whole numbers: {error}") from None


def _topic(source: Source) -> Iterator[SourceBatch]:
    topic = str(parse_kafka(source.name)[1])
    config = source.config
    if config is None:
        raise RuntimeError(f"{source.name} has no configuration")
    # Partition by partition, so that a second reading has the same order.
    for partition, window in sorted((source.windows or {}).items()):
        reading = Reading(
            config, topic, {partition: window}, committed=reads_committed(config), topic_id=source.topic_id
        )
        for runs in reading.runs():
            for run in runs:
                if run.records:
                    yield _of_run(run)
        if reading.deleted:
            raise PartwrightError(
                f"Kafka deleted {counted(reading.deleted, 'offset')} of partition {partition} of {source.name} while "
                "it was read, and nothing was written: run again"
            )
        reading.refuse_another()


def _of_run(run: Run) -> SourceBatch:
    records = run.records
    return SourceBatch(
        pa.array([each.key() for each in records], pa.binary()),
        pa.array([each.value() for each in records], pa.binary()),
        pa.array([[*map(_header, headers_of(each))] for each in records], HEADERS),
        pa.array([_time(*each.timestamp()) for each in records], pa.int64()),
    )


def _time(kind: int, milliseconds: int) -> int | None:
    """A record's time; None if it has none (`TIMESTAMP_NOT_AVAILABLE`)."""
    return milliseconds if kind else None


def _header(header: tuple[str, bytes | None]) -> dict[str, object]:
    return {"key": header[0], "value": header[1]}


def key_bytes(keys: pa.Array, key_type: str | None) -> pa.Array:
    """The keys' bytes in Kafka; `confluent:strip-id` removes the header for hashing only."""
    if (_is_text(keys.type) or _is_binary(keys.type)) and key_type != "java:uuid":
        return keys.cast(pa.binary())
    return in_one(encode(keys, key_type)).cast(pa.binary())


def _of_keys(batch: SourceBatch, key_type: str | None, only_keys: WantedKeys) -> SourceBatch:
    """Only the records of some keys, compared by their bytes."""
    wire = pc.binary_slice(key_bytes(batch.keys, key_type), only_keys.begin, _LONGEST)
    kept = pc.is_in(wire, pa.array(sorted(only_keys.keys), pa.binary()))
    return SourceBatch(*(None if each is None else each.filter(kept) for each in batch))


def _sliced(batch: SourceBatch, some: slice) -> SourceBatch:
    return SourceBatch(*(None if each is None else each[some] for each in batch))


def file_facts(source: Source) -> dict[str, tuple[int, int]]:
    """For each of the source's files, its size in bytes and the time of its last change in milliseconds.

    Nothing is known of files in other file systems: their records tell whether they change.

    Raises:
        PartwrightError: A file is gone.
    """
    if source.path is None or is_remote(source.path):
        return {}
    facts = {}
    for file in files_of(source.path, _is_known):
        try:
            about = Path(file).stat()
        except OSError as error:
            raise PartwrightError(
                f"{file!r} cannot be read ({error.strerror}): check its name", path=file
            ) from None
        facts[file] = about.st_size, about.st_mtime_ns // 1_000_000
    return facts


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    is_plain = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return bool(is_plain or pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind))
