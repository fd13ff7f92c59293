"""Many consumer groups at once: a table of their members in, a table of who reads what out.

>>> members = pa.table({"group": ["a", "b", "a"], "member": ["c1", "c1", "c2"], "topics": [["t"], ["t"], ["t"]]})
>>> assign_groups(members, {"t": 2}, "range").to_pylist()[1]
{'group': 'a', 'member': 'c2', 'topic': 't', 'partition': 1, 'position': 0}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import Fields, first_line
from partwright.assignors.assign import assign_group
from partwright.assignors.members import Group
from partwright.assignors.names import resolve
from partwright.assignors.threads import THREADED
from partwright.errors import PartwrightError

__all__ = ["OPTIONAL", "REQUIRED", "Assigned", "Topics", "assign_groups", "assign_sorted", "check_assignor"]

# The columns of a table of members, and those that may be missing; others are not looked at.
REQUIRED = ("group", "member", "topics")
OPTIONAL = ("owned", "generation", "instance_id", "rack")
# All of them are read as plain lists.
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_Table: TypeAlias = Any
"""Whatever `pyarrow.table` takes, or one; pyarrow publishes no types."""


class Topics:
    """What groups may subscribe to: by name how many partitions a topic has, and the racks of their replicas."""

    def __init__(
        self, partitions: Mapping[str, int], racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None
    ) -> None:
        # Checked here as a whole, for a group takes no more of it than its members name.
        Group.of(partitions, (), racks)
        self._partitions = partitions
        self._racks = racks or {}
        self._places = {name: place for place, name in enumerate(partitions)}

    @classmethod
    def of_rows(cls, rows: Sequence[Fields]) -> Topics:
        """The topics of a table's rows: `topic`, `partitions` and, where it has them, `racks`.

        Raises:
            PartwrightError: A topic is there twice, or is not as it should be.
        """
        partitions: dict[str, int] = {}
        for row in rows:
            if row["topic"] in partitions:
                raise PartwrightError(f"topics has {row['topic']!r} twice: each topic once")
            partitions[row["topic"]] = row["partitions"]
        racks = {row["topic"]: row["racks"] for row in rows if row.get("racks") is not None}
        return cls(partitions, racks)

    def group(self, members: Sequence[Fields]) -> Group:
        """A group of these members, with the topics that they name: no assignor looks at the others.

        Raises:
            PartwrightError: The group is not as it should be.
        """
        named = {topic for member in members for topic in member["topics"] or ()}
        named |= {pair[0] for member in members for pair in member.get("owned") or () if pair}
        # In the order given, which is part of the answer, and without a walk through thousands of others.
        kept = sorted(named & self._places.keys(), key=self._places.__getitem__)
        racks = {name: self._racks[name] for name in kept if name in self._racks}
        return Group.of({name: self._partitions[name] for name in kept}, members, racks)


class Assigned(NamedTuple):
    """What groups that lie one after the other were given.

    Attributes:
        ends: The place of each group's first pair, and at the end how many there are.
        reader: For each pair the row of its member.
        topic: Its topic.
        partition: Its partition.
        position: Its place in its member's list, which is in Kafka's order.
    """

    ends: pa.Array
    reader: pa.Array
    topic: pa.Array
    partition: pa.Array
    position: pa.Array


def assign_groups(members: _Table, topics: Mapping[str, int] | _Table, assignor: str = "range") -> pa.Table:
    """Who reads what in each of many groups, as `partwright.assign` says of one.

    Args:
        members: A table, or whatever speaks Arrow's PyCapsule interface, with a row for each member of each group:
            `group`, `member` (its id), `topics` (a list of names) and, where they are known, `owned` (a list of structs
            of `topic` and `partition`), `generation`, `instance_id` and `rack`. A group's members are put into Java's
            map in the order of the rows; its rows need not lie together. Other columns are not looked at.
        topics: By name, how many partitions a topic has; or a table of `topic`, `partitions` and, where they are known,
            `racks` (for each partition a list of its replicas' racks). With a column `group` each group has its own.
        assignor: See `partwright.assign`. The broker's know topics by the ids that Java makes of their names, for a
            table has none; `old-range` and `old-roundrobin` are not for tables.

    Returns:
        A table of `group`, `member`, `topic`, `partition` and `position`, the place in the member's list, which is in
        Kafka's order. Groups are in the order of their first rows, members in that of theirs. Who reads nothing has
        no row.

    Raises:
        PartwrightError: A column is missing or of another type; a group is not as it should be, or Kafka's own assignor
            throws: the sentence names the group.

    Examples:
        >>> members = pa.table({"group": [7, 7], "member": ["c1", "c2"], "topics": [["t"], ["t", "u"]]})
        >>> topics = pa.table({"topic": ["t", "u"], "partitions": [1, 1]})
        >>> assign_groups(members, topics, "sticky").select(["group", "member", "topic"]).to_pylist()
        [{'group': 7, 'member': 'c1', 'topic': 't'}, {'group': 7, 'member': 'c2', 'topic': 'u'}]
    """
    check_assignor(assignor)
    table = _read("members", members, REQUIRED, OPTIONAL)
    _refuse_null("members", table["group"])
    try:
        groups = pc.unique(table["group"])
        place = pc.index_in(table["group"], groups).combine_chunks()
    except pa.ArrowNotImplementedError:
        raise PartwrightError(
            f"the column group is {table['group'].type}, by which Arrow does not group: text, numbers and dates do"
        ) from None
    # Arrow sorts stably: the members of a group stay in the order of their rows.
    table = table.take(pc.sort_indices(place))
    counts = pc.value_counts(place).field("counts").to_pylist()
    names = groups.to_pylist()
    found = assign_sorted(names, counts, table, _topics(topics, groups), assignor)
    return pa.table(
        {
            "group": table["group"].take(found.reader),
            "member": table["member"].cast(pa.string()).take(found.reader),
            "topic": found.topic,
            "partition": found.partition,
            "position": found.position,
        }
    )


def check_assignor(assignor: object) -> None:
    """Refuses an assignor that there is not, or that gives partitions to something else than members.

    Raises:
        PartwrightError: It cannot assign a table of groups.

    Examples:
        >>> check_assignor("old-range")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: old-range gives partitions to consumer threads, not to members: ...
    """
    resolve(assignor)
    if assignor in THREADED:
        raise PartwrightError(
            f"{assignor} gives partitions to consumer threads, not to members: ask partwright.assign, group by group"
        )


def assign_sorted(
    groups: Sequence[object],
    counts: Sequence[int],
    members: pa.Table,
    topics: Callable[[int], Topics],
    assignor: object,
) -> Assigned:
    """Who reads what in groups whose members lie one after the other.

    Args:
        groups: What an error calls each group.
        counts: How many members each of them has.
        members: The members, with the columns that `assign_groups` asks for; `group` may be missing.
        topics: The topics of the group of this place.
        assignor: See `partwright.assign`.

    Raises:
        PartwrightError: See `assign_groups`.
    """
    _check_types(members)
    rows = _rows(members)
    lists: list[pa.Array] = []
    names: list[str] = []
    bases: list[int] = []
    ends = [0]
    for place, (label, count) in enumerate(zip(groups, counts, strict=True)):
        try:
            group = topics(place).group(rows[ends[-1] : ends[-1] + count])
            lists.append(assign_group(group, assignor).lists)
        except PartwrightError as error:
            # Spark shows a cause first: of ours there is one sentence alone, behind it what a caller's own code raised.
            raise error.within(f"group {label!r}") from error.__cause__
        ends.append(ends[-1] + count)
        # The topics of all groups stand in one list, each group's numbers from its base.
        bases += [len(names)] * count
        names += group.topics
    if not lists:
        nothing = pa.array([], pa.int32())
        return Assigned(pa.array([0], pa.int32()), nothing, nothing.cast(pa.string()), nothing, nothing)
    whole = pa.concat_arrays(lists)
    reader, pairs = pc.list_parent_indices(whole), whole.flatten()
    topic = pc.add(pairs.field("topic").cast(pa.int64()), pa.array(bases, pa.int64()).take(reader))
    position = pc.subtract(pa.array(range(len(pairs)), pa.int32()), whole.offsets.take(reader))
    return Assigned(
        whole.offsets.take(pa.array(ends, pa.int64())),
        reader,
        pa.array(names, pa.string()).take(topic),
        pairs.field("partition"),
        position,
    )


def _rows(members: pa.Table) -> list[Fields]:
    """The members as `Group.of` takes them; what is null is not said."""
    fields = [name for name in ("topics", *OPTIONAL) if name in members.column_names]
    rows: list[Fields] = []
    ids = members["member"].to_pylist()
    for row, name in zip(members.select(fields).to_pylist(), ids, strict=True):
        if row.get("owned") is not None:
            row["owned"] = [pair and (pair["topic"], pair["partition"]) for pair in row["owned"]]
        rows.append({"id": name, **row})
    return rows


def _topics(topics: object, groups: pa.Array) -> Callable[[int], Topics]:
    if isinstance(topics, Mapping):
        shared = Topics(topics)
        return lambda _: shared
    table = _read("topics", topics, ("topic", "partitions"), ("group", "racks"))
    rows = table.select([name for name in table.column_names if name != "group"]).to_pylist()
    if "group" not in table.column_names:
        shared = Topics.of_rows(rows)
        return lambda _: shared
    _refuse_null("topics", table["group"])
    of_groups: dict[int | None, list[Fields]] = {}
    for place, row in zip(_places(table["group"], groups), rows, strict=True):
        of_groups.setdefault(place, []).append(row)
    return lambda place: Topics.of_rows(of_groups.get(place, []))


def _places(named: pa.ChunkedArray, groups: pa.Array) -> list[int | None]:
    """Each name's place among the groups. Arrow compares them: Python's values may be coarser, and NaN equals none."""
    schemas = [pa.schema([("group", names.type)]) for names in (named, groups)]
    try:
        kind = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
        found: list[int | None] = pc.index_in(named.cast(kind), groups.cast(kind)).to_pylist()
    except pa.ArrowException:
        raise PartwrightError(
            f"the column group is {named.type} in topics and {groups.type} in members: give both one type"
        ) from None
    return found


def _read(name: str, given: _Table, required: Sequence[str], optional: Sequence[str]) -> pa.Table:
    """The columns of a table that are looked at; of others even the type does not matter."""
    try:
        table = given if isinstance(given, pa.Table) else pa.table(given)
    except pa.ArrowInvalid as error:
        raise PartwrightError(f"{name} cannot be read as a table: {first_line(error)}") from None
    except (TypeError, ValueError, pa.ArrowException):
        raise PartwrightError(f"{name} is a table of {_told(required)}, not {type(given).__name__}") from None
    for column in required:
        if table.column_names.count(column) != 1:
            how = "twice" if column in table.column_names else f"not, but {', '.join(table.column_names)}"
            raise PartwrightError(f"{name} has the columns {_told(required)}: {column!r} is there {how}")
    for column in optional:
        if table.column_names.count(column) > 1:
            raise PartwrightError(f"{name} has the column {column!r} twice: each column once")
    columns = {column: table[column] for column in (*required, *optional) if column in table.column_names}
    try:
        return pa.table({column: _decoded(values) for column, values in columns.items()})
    except pa.ArrowException as error:
        raise PartwrightError(f"{name} cannot be read as a table: {first_line(error)}") from None


def _decoded(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without the encodings that Arrow's own functions do not take."""
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    # Of a dictionary its views go first: no cast takes both steps.
    values = values.cast(_plain(values.type))
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without views, as polars has them."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain(kind.value_type), kind.ordered)
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if any(is_it(kind) for is_it in _LISTS):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct(
            [(kind.field(at).name, _plain(kind.field(at).type)) for at in range(kind.num_fields)]
        )
    return kind


def _check_types(members: pa.Table) -> None:
    """Refuses columns of lists that hold something else; values are looked at group by group."""
    for name, (told, is_it) in _KINDS.items():
        kind = members.schema.field(name).type if name in members.column_names else pa.null()
        if not (pa.types.is_null(kind) or (pa.types.is_list(kind) and is_it(kind.value_type))):
            raise PartwrightError(f"the column {name} is a list of {told}, not {kind}")


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    return any(is_it(kind) for is_it in text)


def _is_pair(kind: pa.DataType) -> bool:
    if pa.types.is_null(kind):
        return True
    names = (
        {kind.field(place).name for place in range(kind.num_fields)} if pa.types.is_struct(kind) else set()
    )
    return {"topic", "partition"} <= names


_KINDS: Mapping[str, tuple[str, Callable[[pa.DataType], bool]]] = {
    "topics": ("names", _is_text),
    "owned": ("structs of topic and partition", _is_pair),
}


def _refuse_null(name: str, groups: pa.ChunkedArray) -> None:
    if groups.null_count:
        row = pc.index(pc.is_null(groups), value=True).as_py()
        raise PartwrightError(f"{name}: row {row} is of no group, its group is null")


def _told(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
