"""Tables of members, topics and racks: their columns, checked as a whole, and converted to the core's numbers.

This module finds a wrong value; `partwright.assignors.members`, which reads members one by one, explains it.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import Fields, enumeration, first_line, is_path
from partwright.errors import PartwrightError
from partwright.files.scalars import as_whole

INT32 = 2**31
"""Larger than any of Kafka's numbers, which are Java's `int`."""

# The columns of a table of members, and the optional ones; other columns are ignored.
REQUIRED = ("group", "member", "topics")
OPTIONAL = ("owned", "generation", "instance_id", "rack")
# Whole numbers of any type.
_NUMBERS = {"partitions", "partition", "generation"}
# These are all read as plain lists.
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
Table: TypeAlias = Any
"""A pyarrow table, or anything that `pyarrow.table` takes; pyarrow publishes no types."""


def is_table(value: object) -> bool:
    """Whether something is an Arrow table, offers one through the PyCapsule interface, or names a file of one.

    Examples:
        >>> is_table(pa.table({"a": [1]})), is_table({"a": [1]})
        (True, False)
    """
    return (
        isinstance(value, (pa.Table, pa.RecordBatch))
        or hasattr(value, "__arrow_c_stream__")
        or is_path(value)
    )


def read(
    name: str,
    source: Table,
    required: Sequence[str],
    optional: Sequence[str],
    *,
    keeps_dictionaries: bool = False,
) -> pa.Table:
    """The named columns of a table; the others are ignored, whatever their types are.

    Raises:
        PartwrightError: It is not a table, or lacks a column.
    """
    if is_path(source):
        source = _of_file(source)
    try:
        table = source if isinstance(source, pa.Table) else pa.table(source)
    except pa.ArrowInvalid as error:
        raise PartwrightError(f"{name} cannot be read as a table: {first_line(error)}") from None
    except (TypeError, ValueError, pa.ArrowException):
        raise PartwrightError(
            f"{name} is a table of {enumeration(required)}, not {type(source).__name__}"
        ) from None
    for column in required:
        if table.column_names.count(column) != 1:
            how = "twice" if column in table.column_names else f"not, but {', '.join(table.column_names)}"
            raise PartwrightError(
                f"{name} has the columns {enumeration(required)}: {column!r} is there {how}"
            )
    for column in optional:
        if table.column_names.count(column) > 1:
            raise PartwrightError(f"{name} has the column {column!r} twice: each column once")
    columns = {column: table[column] for column in (*required, *optional) if column in table.column_names}
    try:
        columns = {column: _decoded(each, keeps_dictionaries) for column, each in columns.items()}
        return pa.table(
            {name: as_whole(each) if name in _NUMBERS else each for name, each in columns.items()}
        )
    except pa.ArrowException as error:
        raise PartwrightError(f"{name} cannot be read as a table: {first_line(error)}") from None


def _of_file(file: str | os.PathLike[str]) -> pa.Table:
    """The table in a file; where it has only text, several topics are `orders,users` or a JSON list."""
    from partwright.files import read_file  # noqa: PLC0415 - a table in memory needs no reader of files

    table = read_file(file, _NUMBERS).read_all()
    place = table.schema.get_field_index("topics")
    if place < 0 or not is_text(table.schema.field(place).type):
        return table
    lists = pa.array(map(_names, table.column(place).to_pylist()), pa.list_(pa.string()))
    return table.set_column(place, "topics", lists)


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    with suppress(ValueError):
        names = json.loads(text)
        if isinstance(names, list) and all(isinstance(each, str) for each in names):
            return names
    # No topic's name has a comma or a space.
    return [name.strip() for name in text.split(",") if name.strip()]


def _decoded(values: pa.ChunkedArray, keeps_dictionaries: bool) -> pa.ChunkedArray:
    """A column without the encodings that Arrow's own functions do not take."""
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    # In a dictionary, views are replaced first: no cast takes both steps.
    values = values.cast(_plain(values.type))
    is_dictionary = pa.types.is_dictionary(values.type)
    return values.cast(values.type.value_type) if is_dictionary and not keeps_dictionaries else values


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without views, which polars uses."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain(kind.value_type), kind.ordered)
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if any(is_it(kind) for is_it in _LISTS):
        return pa.list_(_plain(kind.value_type))
    return (
        pa.struct([(field.name, _plain(field.type)) for field in kind]) if pa.types.is_struct(kind) else kind
    )


def check_types(members: pa.Table) -> None:
    """Refuse columns that are not lists of the right type; values are checked later.

    Raises:
        PartwrightError: A column is not a list of what it should hold.
    """
    for name, (what, is_it) in _KINDS.items():
        kind = members.schema.field(name).type if name in members.column_names else pa.null()
        if not (pa.types.is_null(kind) or (pa.types.is_list(kind) and is_it(kind.value_type))):
            raise PartwrightError(f"the column {name} is a list of {what}, not {kind}")


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text, or nothing but nulls.

    Examples:
        >>> is_text(pa.dictionary(pa.int32(), pa.string())), is_text(pa.int32())
        (True, False)
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    return any(is_it(kind) for is_it in text)


def _is_pair(kind: pa.DataType) -> bool:
    return pa.types.is_null(kind) or (pa.types.is_struct(kind) and {"topic", "partition"} <= {*kind.names})


_KINDS: Mapping[str, tuple[str, Callable[[pa.DataType], bool]]] = {
    "topics": ("names", is_text),
    "owned": ("structs of topic and partition", _is_pair),
}


class Names:
    """Names and their numbers, in the order in which they came.

    Attributes:
        numbers: The number of each name.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.numbers = {name: number for number, name in enumerate(known)}

    def places(self, values: pa.Array) -> pa.Array:
        """The number of each name in a column of text; a new name gets the next one, and a null has none.

        Examples:
            >>> names = Names(["a", "b"])
            >>> names.places(pa.array(["c", "b", None])).to_pylist(), list(names.numbers)
            ([2, 1, None], ['a', 'b', 'c'])
        """
        if pa.types.is_null(values.type):
            return values.cast(pa.int32())
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        elif any(name not in self.numbers for name in values.dictionary.to_pylist()):
            # The dictionary may have a null, or names that no row uses.
            values = values.cast(values.type.value_type).dictionary_encode()
        numbers = [self.numbers.setdefault(name, len(self.numbers)) for name in values.dictionary.to_pylist()]
        indices = values.indices.cast(pa.int32())
        return (
            indices if numbers == list(range(len(numbers))) else pa.array(numbers, pa.int32()).take(indices)
        )

    def column(self) -> pa.Array:
        """The names, by number."""
        return pa.array(list(self.numbers), pa.string())


class MemberColumns(NamedTuple):
    """Members in the form that the core takes.

    Attributes:
        batch: The record batch; from row `odd` on it may be anything.
        odd: The first wrong row; None if all are right.
    """

    batch: pa.RecordBatch
    odd: int | None


def member_columns(members: pa.Table, topics: Names, racks: Names) -> MemberColumns:
    """A table of members, whose lists were checked by `check_types`, in columns; topics and racks get numbers.

    Examples:
        >>> table = pa.table({"member": ["c1", "c2"], "topics": [["t", "u"], [None]]})
        >>> columns = member_columns(table, Names(["t"]), Names())
        >>> columns.odd, columns.batch["topics"][0].as_py()
        (1, [0, 1])
    """
    odd: list[int] = []
    columns_of = {name: one_chunk(members[name]) for name in members.column_names}
    nothing = pa.nulls(members.num_rows)
    ids = _texts(columns_of["member"], odd)
    if ids.null_count:
        odd.append(first_null(ids))
    rack = _texts(columns_of.get("rack", nothing), odd)
    # An empty rack counts as no rack.
    rack = pc.if_else(pc.equal(rack, ""), pa.scalar(None, pa.string()), rack)
    generation = whole_numbers(columns_of.get("generation", nothing), -1, odd)
    subscribed = _Lists(columns_of["topics"])
    if subscribed.nulls is not None:
        odd.append(pc.index(subscribed.nulls, value=True).as_py())
    topic_names = subscribed.names(subscribed.values, odd)
    subscriptions = subscribed.of(topics.places(topic_names))
    owned = _Lists(columns_of.get("owned", nothing))
    of_topic, of_partition = owned.values, owned.values
    if pa.types.is_struct(owned.values.type):
        if owned.values.null_count:
            odd.append(owned.row(first_null(owned.values)))
        of_topic, of_partition = owned.values.field("topic"), owned.values.field("partition")
    owned_topic = topics.places(owned.names(of_topic, odd))
    items: list[int] = []
    partition = whole_numbers(of_partition, 0, items)
    if partition.null_count:
        items.append(first_null(partition))
    odd += map(owned.row, items)
    columns = {
        "id": ids,
        "instance_id": _texts(columns_of.get("instance_id", nothing), odd),
        "rack": racks.places(rack),
        "generation": pc.fill_null(generation, -1),
        "topics": subscriptions,
        "owned_topic": owned.of(owned_topic),
        "owned_partition": owned.of(partition),
    }
    return MemberColumns(pa.RecordBatch.from_pydict(columns), min(odd, default=None))


def member_rows(members: pa.Table) -> list[Fields]:
    """The members as `Group.of` takes them; a null counts as not given."""
    fields = [name for name in ("topics", *OPTIONAL) if name in members.column_names]
    rows: list[Fields] = []
    ids = members["member"].to_pylist()
    for row, name in zip(members.select(fields).to_pylist(), ids, strict=True):
        if row.get("owned") is not None:
            row["owned"] = [pair and (pair["topic"], pair["partition"]) for pair in row["owned"]]
        rows.append({"id": name, **row})
    return rows


def replica_places(
    lists: pa.Array, partitions: pa.Array, racks: Names, odd: list[int]
) -> pa.ListArray | None:
    """For each topic and partition, the numbers of its replicas' racks; -1 for a replica without a rack.

    Args:
        lists: By topic a list of lists of names, or null if its racks are unknown.
        partitions: How many partitions each topic has.
        racks: The racks' names and numbers.
        odd: Gets the index of the first topic with invalid racks.

    Examples:
        >>> names, lists = Names(), pa.array([[["a", None], ["b"]], None])
        >>> replica_places(lists, pa.array([2, 1]), names, []).to_pylist()
        [[[0, -1], [1]], None]
    """
    if lists.null_count == len(lists):
        return None
    outer = _Lists(lists)
    if not (pa.types.is_list(lists.type) and (pa.types.is_list(outer.values.type) or not len(outer.values))):
        odd.append(pc.index(pc.is_valid(lists), value=True).as_py())
        return None
    short = pc.fill_null(pc.not_equal(pc.list_value_length(lists), partitions), False)
    if pc.any(short).as_py():
        odd.append(pc.index(short, value=True).as_py())
    inner = _Lists(outer.values)
    if inner.nulls is not None:
        odd.append(outer.row(first_null(outer.values)))
    items: list[int] = []
    places = racks.places(_texts(inner.values, items))
    odd += [outer.row(inner.row(item)) for item in items]
    return outer.of(pa.ListArray.from_arrays(inner.offsets, places.fill_null(-1)))


def whole_numbers(values: pa.Array, least: int, odd: list[int]) -> pa.Array:
    """Whole numbers as int32; `odd` gets the place of the first value that is not one from `least` to 2^31-1."""
    if pa.types.is_integer(values.type):
        try:
            numbers = values.cast(pa.int32())
        except pa.ArrowInvalid:
            numbers = values.cast(pa.int32(), safe=False)
        else:
            smallest = pc.min(numbers).as_py()
            if smallest is None or smallest >= least:
                return numbers
    else:
        numbers = pa.nulls(len(values), pa.int32())
    for place, value in enumerate(values.to_pylist()):
        if value is not None and (type(value) is not int or not least <= value < INT32):
            odd.append(place)
            break
    return numbers


class _Lists:
    """A column of lists without the values that no list uses: before, after and between the lists."""

    def __init__(self, lists: pa.Array) -> None:
        self.nulls = lists.is_null() if lists.null_count else None
        if pa.types.is_null(lists.type):
            self.offsets, self.values = pa.array([0] * (len(lists) + 1), pa.int32()), pa.nulls(0)
            return
        self.offsets, self.values = lists.offsets, lists.values
        ends = self.offsets[0].as_py(), self.offsets[len(lists)].as_py()
        if self.nulls is not None or ends != (0, len(self.values)):
            lengths = pc.fill_null(pc.list_value_length(lists), 0)
            self.offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])
            self.values = lists.flatten()

    def of(self, values: pa.Array) -> pa.ListArray:
        """Lists of the same lengths over other values."""
        return pa.ListArray.from_arrays(self.offsets, values, mask=self.nulls)

    def row(self, item: int) -> int:
        """The index of the list that holds a value."""
        return bisect_right(self.offsets.to_pylist(), item) - 1

    def names(self, values: pa.Array, odd: list[int]) -> pa.Array:
        """The values as text; `odd` gets the index of the list with the first value that is not text."""
        items: list[int] = []
        texts = (
            values if pa.types.is_dictionary(values.type) and is_text(values.type) else _texts(values, items)
        )
        # A dictionary's own values may be null, too.
        if texts.null_count or (pa.types.is_dictionary(texts.type) and texts.dictionary.null_count):
            texts = texts.cast(pa.string())
            items += [first_null(texts)] if texts.null_count else []
        odd += map(self.row, items)
        return texts


def _texts(values: pa.Array, odd: list[int]) -> pa.Array:
    """The values as text; if they are of another type, `odd` gets the index of the first, and all become null."""
    if is_text(values.type):
        return values.cast(pa.string())
    if values.null_count < len(values):
        odd.append(pc.index(pc.is_valid(values), value=True).as_py())
    return pa.nulls(len(values), pa.string())


def first_null(values: pa.Array) -> int:
    """The place of the first null."""
    place: int = pc.index(pc.is_null(values), value=True).as_py()
    return place


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array; a column of one chunk is not copied."""
    if column.num_chunks == 1:
        return column.chunk(0)
    whole = column.combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole


def once_by_topic(name: str, table: pa.Table, column: str) -> dict[str, Any]:
    """A column as a dict by topic; a topic that occurs twice is refused."""
    topics = table["topic"].to_pylist()
    values = dict(zip(topics, table[column].to_pylist(), strict=True))
    if len(values) < len(topics):
        twice = next(topic for at, topic in enumerate(topics) if topic in topics[:at])
        raise PartwrightError(f"{name} has {twice!r} twice: each topic once")
    return values
