"""A consumer group from Arrow tables: members, topics, racks, and an earlier assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import shown
from partwright.assignors.members import Group, Owned, owned_before, replica_lists
from partwright.assignors.tables import (
    OPTIONAL,
    Names,
    check_types,
    first_null,
    is_table,
    is_text,
    member_columns,
    member_rows,
    once_by_topic,
    one_chunk,
    read,
    replica_places,
    whole_numbers,
)
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.tables import Table

_MEMBERS = ("member", "topics")


def group_of(
    topics: Mapping[str, int] | Table,
    members: Any,
    racks: Mapping[str, Any] | Table | None = None,
    owned: Owned | None = None,
    order: Sequence[int] | None = None,
) -> Group:
    """A group from the arguments of `partwright.assign`, each of which is a table or the form that `Group.of` takes.

    Raises:
        PartwrightError: The group is invalid.

    Examples:
        >>> members = pa.table({"member": ["c1"], "topics": [["t", "u"]]})
        >>> group = group_of(pa.table({"topic": ["t"], "partitions": [2]}), members)
        >>> group.topics, group.partitions.to_pylist(), group.subscribed.to_pylist()
        (['t', 'u'], [2, 0], [[0, 1]])
    """
    if is_table(topics):
        table = read("topics", topics, ("topic", "partitions"), ("racks",))
        if "racks" in table.column_names:
            if racks is not None:
                raise PartwrightError("topics has a column racks, and racks= is given too: leave one out")
            racks = table.select(["topic", "racks"])
        topics = once_by_topic("topics", table, "partitions")
    if not is_table(members):
        return Group.of(topics, members, _as_mapping(racks), owned, order)
    # Refuses invalid topics.
    Group.of(topics, ())
    table = read("members", members, _MEMBERS, OPTIONAL)
    check_types(table)
    names, rack_names = Names(topics), Names()
    columns = member_columns(table, names, rack_names)
    batch = columns.batch
    has_twice = pc.count_distinct(batch["id"]).as_py() < len(batch)
    says_twice = owned is not None and batch["owned_topic"].null_count < len(batch)
    if columns.odd is not None or has_twice or says_twice:
        Group.of(topics, member_rows(table), _as_mapping(racks), owned, order)
        raise PartwrightError("members is refused as a table and not as a list: please report it")
    if owned is not None:
        of_topic, of_partition = owned_before(owned, batch["id"].to_pylist(), names.numbers)
        batch = batch.set_column(batch.schema.get_field_index("owned_topic"), "owned_topic", of_topic)
        batch = batch.set_column(
            batch.schema.get_field_index("owned_partition"), "owned_partition", of_partition
        )
    replicas = _replicas(topics, racks, names, rack_names)
    return Group.of_columns(topics, list(names.numbers), batch, replicas, rack_names.numbers, order)


def owned_of(owned_rows: Table) -> Owned:
    """The partitions that members own, from a table like `Assignment.to_arrow`'s; a member's rows stay in their order.

    Raises:
        PartwrightError: It is not such a table, or a row is invalid.

    Examples:
        >>> table = pa.table({"member": ["b", "a", "b"], "topic": ["t", "t", "u"], "partition": [0, 1, 2]})
        >>> owned = owned_of(table)
        >>> owned.members, owned.topics, owned.lists.to_pylist()[0]
        (['b', 'a'], ['t', 'u'], [{'topic': 0, 'partition': 0}, {'topic': 1, 'partition': 2}])
    """
    table = read("owned", owned_rows, ("member", "topic", "partition"), (), keeps_dictionaries=True)
    member, members = _numbered(table["member"], "member")
    topic, topics = _numbered(table["topic"], "topic")
    odd: list[int] = []
    partition = whole_numbers(table["partition"].combine_chunks(), 0, odd)
    if partition.null_count:
        odd.append(first_null(partition))
    if odd:
        row = min(odd)
        value = table["partition"][row].as_py()
        raise PartwrightError(f"owned: row {row} has {shown(value)}, which is not a partition")
    if not pc.all(pc.less_equal(member.slice(0, max(len(member) - 1, 0)), member.slice(1))).as_py():
        # Arrow sorts stably.
        order = pc.sort_indices(member)
        member, topic, partition = (column.take(order) for column in (member, topic, partition))
    pairs_of = pc.value_counts(member)
    counts = dict(
        zip(pairs_of.field("values").to_pylist(), pairs_of.field("counts").to_pylist(), strict=True)
    )
    ends = [0, *accumulate(counts.get(place, 0) for place in range(len(members)))]
    pairs = pa.StructArray.from_arrays([topic, partition], ["topic", "partition"])
    return Owned(members, topics, pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pairs))


def _numbered(column: pa.ChunkedArray, name: str) -> tuple[pa.Array, list[str]]:
    """A column of text as indices into a list of distinct names."""
    if not is_text(column.type):
        raise PartwrightError(f"owned: the column {name} is text, not {column.type}")
    values = one_chunk(column)
    names = values.dictionary.to_pylist() if pa.types.is_dictionary(values.type) else None
    if names is None or None in names or len(set(names)) < len(names):
        values = values.cast(pa.string()).dictionary_encode()
        names = values.dictionary.to_pylist()
    if values.null_count:
        row = first_null(values)
        raise PartwrightError(f"owned: row {row} has no {name}")
    return values.indices.cast(pa.int32()), names


def _as_mapping(racks: Mapping[str, Any] | Table | None) -> Mapping[str, Any] | None:
    """Racks in the form that `Group.of` takes."""
    if racks is None or not is_table(racks):
        return racks
    racks_by_topic = once_by_topic("racks", read("racks", racks, ("topic", "racks"), ()), "racks")
    return {topic: lists for topic, lists in racks_by_topic.items() if lists is not None}


def _replicas(
    topics: Mapping[str, int], racks: Mapping[str, Any] | Table | None, names: Names, rack_names: Names
) -> pa.ListArray | None:
    """For each topic and partition, the numbers of its replicas' racks."""
    if racks is None or not is_table(racks):
        return replica_lists(racks, topics, names.numbers, rack_names.numbers) if racks else None
    table = read("racks", racks, ("topic", "racks"), ())
    partitions = pa.array(topics.values(), pa.int32())
    odd: list[int] = []
    rows = pc.index_in(pa.array(topics, pa.string()), table["topic"].cast(pa.string()).combine_chunks())
    is_known = len(rows) - rows.null_count == table.num_rows
    lists = one_chunk(table["racks"]).take(rows)
    places = replica_places(lists, partitions, rack_names, odd) if is_known else None
    if odd or not is_known:
        Group.of(topics, (), _as_mapping(racks))
        raise PartwrightError("racks is refused as a table and not as lists: please report it")
    if places is None:
        return None
    inner = places.values
    if places.null_count:
        # If a topic's racks are unknown, each of its partitions gets an empty list.
        nothing = pa.array([[]] * max(topics.values()), inner.type)
        spans = zip(places.is_valid().to_pylist(), places.offsets.to_pylist(), topics.values(), strict=False)
        inner = pa.concat_arrays(
            [inner.slice(first, count) if known else nothing.slice(0, count) for known, first, count in spans]
        )
    # Topics that only members name have no partitions.
    counts = [*topics.values(), *[0] * (len(names.numbers) - len(topics))]
    return pa.ListArray.from_arrays(pa.array([0, *accumulate(counts)], pa.int32()), inner)
