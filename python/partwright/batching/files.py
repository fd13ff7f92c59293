"""A file of records for a simulation: its columns as Arrow batches, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import refuse_many
from partwright.audit.record_columns import checked_n, counts, milliseconds
from partwright.cluster import Broker, Cluster, Partition
from partwright.errors import PartwrightError
from partwright.files import ColumnRequest, text_type
from partwright.files.formats import in_one
from partwright.keys.hashing import encode

if TYPE_CHECKING:
    from partwright.files import Records

_TYPES = {"time": pa.int64(), "key": pa.binary(), "partition": pa.int64(), "size": pa.int64()}


def led_in_turn(partitions: int, brokers: int) -> Cluster:
    """A topic whose partition i is led by broker i mod `brokers`.

    Raises:
        PartwrightError: The number of partitions is invalid or too large.

    Examples:
        >>> [each.leader for each in led_in_turn(4, 3).partitions("topic")]
        [0, 1, 2, 0]
    """
    count = checked_n(partitions) or 0
    refuse_many(count, "a simulation")
    topic = tuple(Partition(each, each % brokers) for each in range(count))
    return Cluster(tuple(map(Broker, range(brokers))), {"topic": topic})


def reader(
    opened: Callable[[], Records],
    names: Mapping[str, str | None],
    key_type: str | None,
    read: Callable[[int, float | None], None],
) -> pa.RecordBatchReader:
    """The records of a file, whose bytes are read when they are asked for.

    Args:
        opened: Opens the file; see `partwright.files.open_records`.
        names: The columns by role: `time`, `key`, `partition`, `value` and `size`; None for one that the file does not
            have.
        key_type: How a key becomes key bytes.
        read: Called with how many rows have been read, and how much of the file.

    Returns:
        Batches of `time` (int64, milliseconds), `size` (int64, bytes of the value) and, if they are named, `key`
        (binary) and `partition` (int64).

    Raises:
        PartwrightError: A column does not exist or is named twice, or a value is invalid; with the row.
    """
    column_names = {what: name for what, name in names.items() if name is not None}
    for name in column_names.values():
        if list(column_names.values()).count(name) > 1:
            raise PartwrightError(f"{name!r} cannot be two of the columns: name another one")
    columns = [
        what for what in _TYPES if what in column_names or (what == "size" and "value" in column_names)
    ]
    schema = pa.schema([(what, _TYPES[what]) for what in columns])
    return pa.RecordBatchReader.from_batches(schema, _batches(opened, column_names, key_type, schema, read))


def _batches(
    opened: Callable[[], Records],
    column_names: Mapping[str, str],
    key_type: str | None,
    schema: pa.Schema,
    read: Callable[[int, float | None], None],
) -> Iterator[pa.RecordBatch]:
    texts = {"key": text_type(key_type), "value": pa.string()}
    requests = [
        ColumnRequest(name, texts.get(what, pa.int64()), lenient=what not in texts)
        for what, name in column_names.items()
    ]
    row = 0
    with opened() as records:
        for batch in records.read(requests):
            arrays = _arrays(dict(zip(column_names, batch, strict=True)), key_type, row)
            made = pa.record_batch([arrays[what] for what in schema.names], schema=schema)
            yield made
            row += made.num_rows
            read(row, records.done)


def _arrays(columns: Mapping[str, pa.Array], key_type: str | None, row: int) -> dict[str, pa.Array]:
    arrays = {"time": milliseconds(columns["time"], row)}
    if "key" in columns:
        arrays["key"] = in_one(encode(columns["key"], key_type)).cast(pa.binary())
    if "partition" in columns:
        arrays["partition"] = counts(columns["partition"], "partition", row)
    if "size" in columns:
        arrays["size"] = counts(columns["size"], "size", row)
    elif "value" in columns:
        values = in_one(columns["value"])
        if not (pa.types.is_string(values.type) or pa.types.is_binary(values.type)):
            values = _text(values)
        arrays["size"] = pc.binary_length(values).cast(pa.int64())
    return arrays


def _text(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.large_binary() if pa.types.is_binary_view(values.type) else pa.large_string())
    except pa.ArrowException:
        raise PartwrightError(
            f"the values are {values.type}, and a record's are text or bytes: name their sizes with --size"
        ) from None
