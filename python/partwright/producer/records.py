"""Records for a producer: a table in record batches, with the columns that decide where records go."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import counted, is_path, options, refused, shown
from partwright.errors import PartwrightError
from partwright.files.formats import TEXT_AND_BINARY, find_column
from partwright.files.scalars import array_of, as_whole
from partwright.keys.columns import as_column
from partwright.keys.hashing import encode
from partwright.user_code import message_of

if TYPE_CHECKING:
    from partwright.cluster import Cluster
    from partwright.producer.configs import Configs

_T = TypeVar("_T")

# The names that kafka-python gives the parts of a header.
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_PLAIN = ("utf8", "bytes", "java:string", None)


@dataclass(frozen=True, slots=True)
class Workload:
    """Which columns of a table are the parts of its records, by name; in Spark also as a Column.

    A column that is not named here is the one with the part's own name, such as `size`, if the table has it. Spark uses
    no column that is not named, except that `write_stream` takes `key` and `value`.

    Attributes:
        key: The keys, of any type that `partition_for_key` takes.
        partition: The partitions that records name, whole numbers (of any type, such as float64); null if a record
            names none.
        value: The values, text or binary; only their sizes count, except for a partitioner of your own.
        size: The values' sizes in bytes, instead of the values; null for a null value.
        time: The times: whole numbers of milliseconds, or timestamps. Without it nothing lingers.
        field: What the strategy `field` goes by.
        headers: For each record a list of structs of a name (text or binary) and a value (the same, or null), as in
            Spark and kafka-python, or a map; null means no headers. A partitioner of your own sees batches without
            headers.

    Examples:
        >>> from partwright import Producer
        >>> records = {"id": ["TT0124", None], "bytes": [100, 100]}
        >>> Producer({"orders": 3}).place(records, Workload(key="id", size="bytes")).to_pylist()
        [1, 0]
    """

    key: Any = None
    partition: Any = None
    value: Any = None
    size: Any = None
    time: Any = None
    field: Any = None
    headers: Any = None


class ProducerRecords:
    """A table of records whose columns were found.

    Args:
        records: An Arrow table, batch or stream, a dict of columns, or a file's name.
        topic: The topic of all of them; None if there is a column `topic`, or only one topic.
        workload: Which columns are the records' parts.
        cluster: The existing topics.
        places: By topic, its place among the producer's.
        key_type: How a key becomes key bytes.

    Raises:
        PartwrightError: The records are not a table, a named column is missing, or the topic is not clear.
    """

    def __init__(
        self,
        records: object,
        topic: str | None,
        workload: Workload | None,
        cluster: Cluster,
        places: Mapping[str, int],
        key_type: str | None,
    ) -> None:
        workload = options(workload, Workload, "workload")
        names = {}
        for what in (each.name for each in fields(Workload)):
            name = getattr(workload, what)
            if name is not None and not isinstance(name, str):
                raise PartwrightError(
                    f"the column of each record's {what} is named by text, not {shown(name)}"
                )
            names[what] = what if name is None else name
        self._reader = _reader(records, names, key_type)
        column_names = self._reader.schema.names
        self._column_places = {
            what: find_column("the table", column_names, name)
            for what, name in names.items()
            if name in column_names or getattr(workload, what) is not None
        }
        if topic is None and "topic" in column_names:
            self._column_places["topic"] = find_column("the table", column_names, "topic")
        elif topic is None and len(cluster.topics) != 1:
            raise PartwrightError(
                f"the cluster has {counted(len(cluster.topics), 'topic')}, and the records name none: say which, "
                f"with topic="
            )
        else:
            topic = next(iter(cluster.topics)) if topic is None else topic
            cluster.partitions(topic)
        self._topic, self._places = topic, places

    def batches(self) -> Iterator[RecordChunk]:
        """Yield the records in their order, batch by batch.

        Raises:
            PartwrightError: A stream of another library fails midway.
        """
        while True:
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            except PartwrightError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever the stream's own code raises
                raise PartwrightError(f"the table of records ends in an error: {message_of(error)}") from None
            columns = {what: batch.column(place) for what, place in self._column_places.items()}
            yield RecordChunk(columns, batch, self._topic, self._places)


def _reader(records: object, names: Mapping[str, str], key_type: str | None) -> pa.RecordBatchReader:
    if is_path(records):
        from partwright.files import read_file  # noqa: PLC0415 - a table in memory needs no reader of files

        return read_file(records, {names[what] for what in ("partition", "size", "time")})
    if isinstance(records, Mapping):
        columns = {name: _column(name, column, names, key_type) for name, column in records.items()}
        records = _made("a dict", lambda: pa.table(columns))
    if isinstance(records, pa.RecordBatch):
        records = pa.Table.from_batches([records])
    if isinstance(records, pa.RecordBatchReader):
        # If we read it through the C interface, an error of its own code would end in that code's traceback.
        return records
    if not hasattr(records, "__arrow_c_stream__"):
        raise PartwrightError(
            f"this {type(records).__name__} is not a table of records: pass an Arrow table, a dict of columns or "
            "a file's name"
        )
    for data_type in getattr(records, "dtypes", ()):
        _refuse_objects(data_type)
    return _made(f"a {type(records).__name__}", lambda: pa.RecordBatchReader.from_stream(records))


def _column(
    name: object, column: object, names: Mapping[str, str], key_type: str | None
) -> pa.Array | pa.ChunkedArray:
    if not isinstance(name, str):
        raise PartwrightError(f"a column is named by text, not {shown(name)}")
    if name == names["key"]:
        column = as_column(column, key_type)
    if name == names["headers"] and isinstance(column, (list, tuple)):
        return _made(f"the column {name!r} (a {type(column).__name__})", lambda: pa.array(column, HEADERS))
    if isinstance(column, (list, tuple)):
        # A list that contains itself overflows Arrow's stack.
        row = next(
            (row for row, each in enumerate(column) if isinstance(each, (list, tuple, dict, set))), None
        )
        if row is not None:
            held = type(column[row]).__name__
            raise PartwrightError(f"a {held} is not a value of a record, in the column {name!r}").at_row(row)
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    _refuse_objects(getattr(column, "dtype", None))
    return _made(
        f"the column {name!r} (a {type(column).__name__})",
        lambda: pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else array_of(column),
    )


def _refuse_objects(data_type: object) -> None:
    if str(data_type) == "Object":
        # polars puts the objects' addresses into its capsule.
        raise PartwrightError(
            "a polars column of Python objects has no values of records: cast it to text or binary"
        )


def _made(what: str, make: Callable[[], _T]) -> _T:
    """Convert what a caller passes, whose own code may raise anything."""
    try:
        return make()
    except (PartwrightError, MemoryError):
        raise
    except Exception as error:
        raise PartwrightError(f"{what} cannot become a table of records: {message_of(error)}") from error


class ProducerRow(NamedTuple):
    """A record as your own partitioner gets it; a size of -1 means null."""

    key: object
    key_bytes: bytes | None
    value: object
    value_bytes: bytes | None
    value_size: int
    time: int

    @property
    def key_size(self) -> int:
        """How many bytes the key has."""
        return -1 if self.key_bytes is None else len(self.key_bytes)


class RecordChunk:
    """A batch of records, with their columns by role."""

    def __init__(
        self,
        columns: Mapping[str, pa.Array],
        records: pa.RecordBatch,
        topic: str | None,
        places: Mapping[str, int],
    ) -> None:
        self._columns, self._topic, self._places = columns, topic, places
        self._rows: int = records.num_rows
        self.records = records

    def __len__(self) -> int:
        return self._rows

    @cached_property
    def topics(self) -> pa.Array | None:
        """The index of each record's topic; None if all records are of the first topic.

        Raises:
            PartwrightError: A topic that the cluster does not have.
        """
        if self._topic is not None:
            place = self._places[self._topic]
            return None if place == 0 else pa.repeat(pa.scalar(place, pa.int32()), self._rows)
        named = pc.dictionary_encode(_texts(self._columns["topic"], "topic"))
        places = pa.array([self._places.get(name) for name in named.dictionary.to_pylist()], pa.int32())
        indices = pc.take(places, named.indices)
        if indices.null_count:
            row = _first_null(indices)
            name = named[row].as_py()
            what = "a null topic" if name is None else f"topic {name!r}"
            raise PartwrightError(f"the record names {what}, which the cluster does not have").at_row(row)
        return indices

    def topic_names(self) -> list[str]:
        """The topic of each record."""
        names, places = list(self._places), self.topics
        return names[:1] * self._rows if places is None else [names[place] for place in places.to_pylist()]

    def rows(self, key_type: str | None) -> Iterator[ProducerRow]:
        """The records one by one, as your own partitioner gets them."""
        keys = _listed(self._columns.get("key"), self._rows)
        values = _listed(self._columns.get("value"), self._rows)
        key_bytes = _listed(None if self.keys() is None else encode(self.keys(), key_type), self._rows)
        sizes = _listed(self.value_sizes(), self._rows)
        times = _listed(self.times(), self._rows)
        for key, data, value, size, time in zip(keys, key_bytes, values, sizes, times, strict=True):
            value_bytes = value.encode() if isinstance(value, str) else value
            yield ProducerRow(key, data, value, value_bytes, -1 if size is None else size, time or 0)

    def keys(self) -> pa.Array | None:
        """The keys."""
        return self._columns.get("key")

    def partitions(self) -> pa.Array | None:
        """The partitions that records name.

        Raises:
            PartwrightError: They are not numbers of 32 bits.
        """
        return self._numbers("partition", pa.int32())

    def times(self) -> pa.Array | None:
        """When records are sent, in milliseconds.

        Raises:
            PartwrightError: They are neither numbers nor timestamps; one is null.
        """
        column = self._columns.get("time")
        if column is not None and pa.types.is_timestamp(column.type):
            in_ms = pc.CastOptions(pa.timestamp("ms", column.type.tz), allow_time_truncate=True)
            try:
                column = column.cast(options=in_ms).cast(pa.int64())
            except pa.ArrowInvalid as error:
                raise PartwrightError(f"a time is not a number of 64 bits: {error}") from None
            self._columns = {**self._columns, "time": column}
        times = self._numbers("time", pa.int64())
        if times is not None and times.null_count:
            refusal = PartwrightError("a record must have a time if others have one, not null")
            raise refusal.at_row(_first_null(times))
        return times

    def value_sizes(self) -> pa.Array | None:
        """How many bytes each value has, null for a null value.

        Raises:
            PartwrightError: Values are neither text nor binary; a size is negative.
        """
        if "size" in self._columns:
            sizes: pa.Array = self._numbers("size", pa.int32())
            row = _first(pc.less(sizes, 0))
            if row >= 0:
                raise PartwrightError(f"a value has 0 bytes or more, not {sizes[row]}").at_row(row)
            return sizes
        values = self._columns.get("value")
        return None if values is None else _lengths(values, "a value")

    def header_sizes(self) -> pa.Array | None:
        """How many bytes the names and the values of each record's headers have.

        Returns:
            A list for each record, of structs of `name_size` and `value_size` (int32), null for a null value; None if
            no record has headers.

        Raises:
            PartwrightError: They are not lists of names and values, or a header has no name.
        """
        headers = self._columns.get("headers")
        if headers is None or pa.types.is_null(headers.type):
            return None
        lists = _header_lists(headers)
        # `flatten` leaves out the values under a null list.
        names, values = pc.list_flatten(lists).flatten()
        if names.null_count:
            row = pc.list_parent_indices(lists)[_first_null(names)]
            raise PartwrightError("a header must have a name, not null").at_row(row.as_py())
        parts = (("name", names), ("value", values))
        sizes = [_lengths(part, f"a header's {what}", "give its bytes") for what, part in parts]
        counts = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int32())
        ends = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(counts)])
        pairs = pa.StructArray.from_arrays(sizes, ["name_size", "value_size"])
        return pa.ListArray.from_arrays(ends, pairs)

    def key_sizes(self, key_type: str | None) -> pa.Array | None:
        """How many bytes each key has, null for a null key."""
        keys = self._columns.get("key")
        if keys is None:
            return None
        plain = key_type in _PLAIN and _has_lengths(keys.type)
        return _lengths(keys if plain else encode(keys, key_type), "a key")

    def field(self, configs: Configs) -> pa.Array | None:
        """The input of the strategy `field`: the column as it is, or the networks of its addresses.

        Raises:
            PartwrightError: A text that is not an address.
        """
        column = self._columns.get("field")
        if column is None or configs.field_type == "value":
            return column
        named = pc.dictionary_encode(_texts(column, "field"))
        networks = []
        for place, text in enumerate(named.dictionary.to_pylist()):
            try:
                networks.append(network(text, configs))
            except PartwrightError as error:
                raise error.at_row(_first(pc.equal(named.indices, place))) from None
        return pc.take(pa.array(networks, pa.binary()), named.indices)

    def by_topic(
        self, keys: pa.Array, place: Callable[[pa.Array, int], pa.Array], cluster: Cluster
    ) -> pa.Array:
        """The partitions of keys, each by its topic's number of partitions; null where a record names its own."""
        named = self.partitions()
        has_none = None if named is None or named.null_count == self._rows else pc.is_null(named)
        if self._topic is not None and has_none is None:
            return place(keys, len(cluster.partitions(self._topic)))
        # A type without key bytes is refused before Arrow has to split it.
        place(keys.slice(0, 0), 1)
        placed = pa.nulls(self._rows, pa.int32())
        for topic, of_topic in self._by_topic():
            mask = of_topic if has_none is None else pc.and_(of_topic, has_none)
            rows = pc.indices_nonzero(mask)
            try:
                some = place(pc.take(_without_views(keys), rows), len(cluster.partitions(topic)))
            except PartwrightError as error:
                raise error.moved(partial(_row_of, rows)) from None
            placed = pc.replace_with_mask(placed, mask, some)
        return placed

    def _by_topic(self) -> Iterator[tuple[str, pa.Array]]:
        """The topics that occur, each with a mask of its records."""
        if self._topic is not None:
            yield self._topic, pa.repeat(pa.scalar(value=True), self._rows)
            return
        names = list(self._places)
        for place in pc.unique(self.topics).to_pylist():
            yield names[place], pc.equal(self.topics, place)

    def _numbers(self, what: str, data_type: pa.DataType) -> pa.Array | None:
        column = self._columns.get(what)
        if column is None or column.type == data_type:
            return column
        column = as_whole(column)
        if not (pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
            raise PartwrightError(f"the column of each record's {what} has whole numbers, not {column.type}")
        try:
            return column.cast(data_type)
        except pa.ArrowInvalid:
            beyond = 2 ** (data_type.bit_width - 1)
            rows = enumerate(column.to_pylist())
            row, number = next((row, each) for row, each in rows if each and not -beyond <= each < beyond)
            reason = f"is a number of {data_type.bit_width} bits, not {number}"
            raise refused(number, f"a {what}", reason).at_row(row) from None


def network(text: str, configs: Configs) -> bytes:
    """An address as bytes, of which only the first `prefix` bits count.

    Raises:
        PartwrightError: It is not an address.
    """
    try:
        address = ipaddress.ip_address(text.strip())
    except (AttributeError, ValueError):
        raise PartwrightError(f"{text!r} is not an IP address, as field.type address asks for") from None
    prefix = (
        configs.field_prefix_ipv4 if isinstance(address, ipaddress.IPv4Address) else configs.field_prefix_ipv6
    )
    return ipaddress.ip_network((address.packed, prefix), strict=False).network_address.packed


def _has_lengths(data_type: pa.DataType) -> bool:
    return data_type in TEXT_AND_BINARY or pa.types.is_fixed_size_binary(data_type)


def _header_lists(headers: pa.Array) -> pa.Array:
    """Headers of any list type as lists of structs of a name and a value."""
    if pa.types.is_map(headers.type):
        # Arrow cannot count the pairs of a map.
        fields = [("key", headers.type.key_type), ("value", headers.type.item_type)]
        return headers.cast(pa.list_(pa.struct(fields)))
    is_list = pa.types.is_list(headers.type) or pa.types.is_large_list(headers.type)
    pair = headers.type.value_type if is_list else None
    if pair is None or not pa.types.is_struct(pair) or pair.num_fields != 2:  # noqa: PLR2004 - a name and a value
        raise PartwrightError(
            f"the column of each record's headers has lists of structs of a name and a value, not {headers.type}"
        )
    return headers


def _lengths(values: pa.Array, what: str, instead: str = "give its size, or its bytes") -> pa.Array:
    if pa.types.is_dictionary(values.type):
        return pc.take(_lengths(values.dictionary, what, instead), values.indices)
    if pa.types.is_string_view(values.type) or pa.types.is_binary_view(values.type):
        values = values.cast(pa.large_binary())
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.int32())
    if not _has_lengths(values.type):
        raise PartwrightError(f"{what} of {values.type} has no bytes of its own: {instead}")
    return pc.binary_length(values).cast(pa.int32())


def _row_of(rows: pa.Array, place: int) -> int:
    row: int = rows[place].as_py()
    return row


def _texts(column: pa.Array, what: str) -> pa.Array:
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise PartwrightError(f"the column of each record's {what} has text, not {column.type}") from None


def _without_views(keys: pa.Array) -> pa.Array:
    """Cast a column of views, from which Arrow cannot take rows."""
    if pa.types.is_string_view(keys.type):
        return keys.cast(pa.large_string())
    return keys.cast(pa.large_binary()) if pa.types.is_binary_view(keys.type) else keys


def _first(flags: pa.Array) -> int:
    """The first row whose flag is set; -1 if there is none."""
    return int(pc.index(flags, pa.scalar(value=True)).as_py())


def _first_null(column: pa.Array) -> int:
    return _first(pc.is_null(column))


def _listed(column: pa.Array | None, rows: int) -> list[Any]:
    return [None] * rows if column is None else column.to_pylist()
