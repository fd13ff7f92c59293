"""Many consumer groups at once: from a table of their members to a table of who reads what.

>>> members = pa.table({"group": ["a", "b", "a"], "member": ["c1", "c1", "c2"], "topics": [["t"], ["t"], ["t"]]})
>>> assign_groups(members, {"t": 2}, "range").to_pylist()[1]
{'group': 'a', 'member': 'c2', 'topic': 't', 'partition': 1, 'position': 0}
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright._check import Fields
from partwright.assignors.custom import OwnAssignor
from partwright.assignors.group_assignment import assign_group
from partwright.assignors.members import Group
from partwright.assignors.names import resolve
from partwright.assignors.tables import (
    OPTIONAL,
    REQUIRED,
    Names,
    Table,
    check_types,
    first_null,
    is_text,
    member_columns,
    member_rows,
    once_by_topic,
    read,
    replica_places,
    whole_numbers,
)
from partwright.assignors.threads import THREADED
from partwright.errors import PartwrightError

_RACKS = pa.list_(pa.list_(pa.string()))


class Assigned(NamedTuple):
    """The partitions assigned in groups that follow one another.

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


def assign_groups(members: Table, topics: Mapping[str, int] | Table, assignor: str = "range") -> pa.Table:
    """Assign partitions in each of many groups, as `partwright.assign` does for one.

    Args:
        members: A table, or anything with Arrow's PyCapsule interface, with a row for each member of each group:
            `group`, `member` (its ID), `topics` (a list of names) and, if known, `owned` (a list of structs of `topic`
            and `partition`), `generation`, `instance_id` and `rack`. A group's members are put into Java's map in the
            order of the rows, which need not be adjacent. Other columns are ignored.
        topics: Each topic's number of partitions by name; or a table of `topic`, `partitions` and, if known, `racks`
            (for each partition a list of its replicas' racks). With a column `group`, each group has its own topics.
        assignor: See `partwright.assign`. The broker's assignors use the topic IDs that Java makes of the names,
            because a table has none; `old-range` and `old-roundrobin` do not work with tables.

    Returns:
        A table of `group`, `member`, `topic`, `partition` and `position`, the place in the member's list, which is in
        Kafka's order. Groups and members are in the order of their first rows. A member that reads nothing has no row.

    Raises:
        PartwrightError: A column is missing or of another type; a group is invalid, or Kafka's own assignor throws: the
            sentence names the group.

    Examples:
        >>> members = pa.table({"group": [7, 7], "member": ["c1", "c2"], "topics": [["t"], ["t", "u"]]})
        >>> topics = pa.table({"topic": ["t", "u"], "partitions": [1, 1]})
        >>> assign_groups(members, topics, "sticky").select(["group", "member", "topic"]).to_pylist()
        [{'group': 7, 'member': 'c1', 'topic': 't'}, {'group': 7, 'member': 'c2', 'topic': 'u'}]
    """
    check_assignor(assignor)
    table = read("members", members, REQUIRED, OPTIONAL)
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
    assigned = assign_sorted(groups, counts, table, _topics(topics, groups), assignor)
    return pa.table(
        {
            "group": table["group"].take(assigned.reader),
            "member": table["member"].cast(pa.string()).take(assigned.reader),
            "topic": assigned.topic,
            "partition": assigned.partition,
            "position": assigned.position,
        }
    )


def check_assignor(assignor: object) -> None:
    """Refuse an unknown assignor, or one that assigns to something other than members.

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
    groups: Sequence[object] | pa.Array,
    counts: Sequence[int],
    members: pa.Table,
    topics: Topics | GroupTopics,
    assignor: object,
) -> Assigned:
    """Assign partitions in groups whose members are in adjacent rows.

    Args:
        groups: What an error calls each group.
        counts: How many members each of them has.
        members: The members, with the columns that `assign_groups` asks for; `group` may be missing.
        topics: The topics of all groups, or of each.
        assignor: See `partwright.assign`.

    Raises:
        PartwrightError: See `assign_groups`.
    """
    check_types(members)
    ends = [0, *accumulate(counts)]
    name = resolve(assignor)
    if isinstance(name, OwnAssignor):
        return _one_by_one(groups, ends, members, topics, name)
    names, racks = topics.known(), Names()
    columns = member_columns(members, names, racks)
    of_topics = topics.columns(names, racks)
    # A group before the first invalid one may fail in the assignor; that error comes first.
    odd = len(counts) if columns.odd is None else bisect_right(ends, columns.odd) - 1
    fine = odd if of_topics.odd is None else min(odd, of_topics.odd)
    whole = names.column()
    assigned = _core.assign_groups(
        name,
        pa.array(ends[: fine + 1], pa.int32()),
        columns.batch,
        whole,
        of_topics.batch,
        of_topics.of_groups,
    )
    refused = assigned if isinstance(assigned, int) else fine
    if isinstance(assigned, int) or refused < len(counts):
        _one_by_one(groups, ends, members, topics, name, range(refused, refused + 1))
        label = _label(groups, refused)
        raise PartwrightError(f"group {label!r} is refused with others and not alone: please report it")
    first, reader, topic, partition, position = assigned
    return Assigned(first, reader, whole.take(topic), partition, position)


def _one_by_one(
    groups: Sequence[object] | pa.Array,
    ends: Sequence[int],
    members: pa.Table,
    topics: Topics | GroupTopics,
    assignor: object,
    places: range | None = None,
) -> Assigned:
    """The same for all or a few groups in Python: for users' own assignors, and to word a refusal."""
    rows: list[tuple[int, str, int, int]] = []
    first_pairs = [0]
    for place in places or range(len(ends) - 1):
        first, end = ends[place : place + 2]
        try:
            group = topics.group(member_rows(members.slice(first, end - first)), place)
            lists = assign_group(group, assignor).to_dict()
        except PartwrightError as error:
            # Spark shows the cause first. So our sentence has no cause of ours, only an exception of the caller's own
            # code.
            raise error.within(f"group {_label(groups, place)!r}") from error.__cause__
        for reader, pairs in enumerate(lists.values(), first):
            rows += [(reader, *pair, position) for position, pair in enumerate(pairs)]
        first_pairs.append(len(rows))
    columns = zip(*rows, strict=True) if rows else [()] * 4
    kinds = (pa.int32(), pa.string(), pa.int32(), pa.int32())
    return Assigned(pa.array(first_pairs, pa.int32()), *map(pa.array, columns, kinds))


def _label(groups: Sequence[object] | pa.Array, place: int) -> object:
    label = groups[place]
    return label.as_py() if isinstance(label, pa.Scalar) else label


def _topics(topics: object, groups: pa.Array) -> Topics | GroupTopics:
    if isinstance(topics, Mapping):
        return Topics(topics)
    table = read("topics", topics, ("topic", "partitions"), ("group", "racks"))
    rows = table.select([name for name in table.column_names if name != "group"])
    if "group" not in table.column_names:
        return Topics.of_table(rows)
    _refuse_null("topics", table["group"])
    place = _places(table["group"], groups)
    # A stable sort: a group's topics stay in the order of their rows. Groups without members come last, and are
    # dropped.
    order = pc.sort_indices(place).slice(0, len(place) - place.null_count)
    tally = pc.value_counts(place.drop_null())
    counts = dict(zip(tally.field("values").to_pylist(), tally.field("counts").to_pylist(), strict=True))
    return GroupTopics(rows.take(order), [counts.get(place, 0) for place in range(len(groups))])


def _places(named: pa.ChunkedArray, groups: pa.Array) -> pa.Array:
    """Each name's index among the groups. Arrow compares: Python's values may be coarser, and NaN equals nothing."""
    schemas = [pa.schema([("group", names.type)]) for names in (named, groups)]
    try:
        kind = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
        return pc.index_in(named.cast(kind), groups.cast(kind)).combine_chunks()
    except pa.ArrowException:
        raise PartwrightError(
            f"the column group is {named.type} in topics and {groups.type} in members: give both one type"
        ) from None


def _refuse_null(name: str, groups: pa.ChunkedArray) -> None:
    if groups.null_count:
        row = first_null(groups)
        raise PartwrightError(f"{name}: row {row} has no group: its group is null")


class Topics:
    """The topics that all groups share: by name the number of partitions, and the racks of their replicas."""

    def __init__(
        self, partitions: Mapping[str, int], racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None
    ) -> None:
        # All topics are checked here, because a group only looks at the ones that its members name.
        Group.of(partitions, (), racks)
        self._partitions = partitions
        self._racks = racks or {}
        self._places = {name: place for place, name in enumerate(partitions)}

    @classmethod
    def of_table(cls, table: pa.Table) -> Topics:
        """The topics of a table's rows: `topic`, `partitions` and, if the table has them, `racks`.

        Raises:
            PartwrightError: A topic occurs twice, or is invalid.
        """
        partitions = once_by_topic("topics", table, "partitions")
        racks = once_by_topic("topics", table, "racks") if "racks" in table.column_names else {}
        return cls(partitions, {topic: lists for topic, lists in racks.items() if lists is not None})

    def group(self, members: Sequence[Fields], place: int = 0) -> Group:  # noqa: ARG002 - as GroupTopics has it
        """A group of these members with the topics that they name; no assignor looks at the others.

        Args:
            members: Its members.
            place: The group's index, unused here because all groups share these topics.

        Raises:
            PartwrightError: The group is invalid.
        """
        named = {topic for member in members for topic in member["topics"] or ()}
        named |= {pair[0] for member in members for pair in member.get("owned") or () if pair}
        # In the order given, on which the answer depends, and without going through thousands of other topics.
        kept = sorted(named & self._places.keys(), key=self._places.__getitem__)
        racks = {name: self._racks[name] for name in kept if name in self._racks}
        return Group.of({name: self._partitions[name] for name in kept}, members, racks)

    def known(self) -> Names:
        """Their names, numbered."""
        return Names(self._partitions)

    def columns(self, names: Names, racks: Names) -> _TopicColumns:
        """The topics in the form that the core takes; they are valid."""
        places = pa.array([names.numbers[name] for name in self._partitions], pa.int32())
        partitions = pa.array(self._partitions.values(), pa.int32())
        lists = [self._racks.get(name) for name in self._partitions] if self._racks else []
        of_racks = pa.array(
            [None if each is None else [list(those) for those in each] for each in lists], _RACKS
        )
        replicas = replica_places(of_racks, partitions, racks, [])
        return _TopicColumns(_topic_batch(places, partitions, replicas), None, None)


class GroupTopics:
    """The topics of each group, if every group has its own.

    Args:
        topics: The columns `topic`, `partitions` and perhaps `racks`; a group's rows lie one after the other.
        counts: How many of the rows each group has.
    """

    def __init__(self, topics: pa.Table, counts: Sequence[int]) -> None:
        self._topics = topics
        self._ends = [0, *accumulate(counts)]

    def group(self, members: Sequence[Fields], place: int) -> Group:
        """The group at this place, of these members; see `Topics.group`.

        Raises:
            PartwrightError: The group or one of its topics is invalid.
        """
        first, end = self._ends[place : place + 2]
        return Topics.of_table(self._topics.slice(first, end - first)).group(members)

    def known(self) -> Names:
        """No names, because no group knows another's topics."""
        return Names()

    def columns(self, names: Names, racks: Names) -> _TopicColumns:
        """The topics in the form that the core takes, and the first group with an invalid topic."""
        odd: list[int] = []
        columns = {name: self._topics[name].combine_chunks() for name in self._topics.column_names}
        topic = columns["topic"]
        if not is_text(topic.type):
            odd += [0] if len(topic) else []
            topic = pa.nulls(len(topic), pa.string())
        elif topic.null_count:
            odd.append(first_null(topic))
        partitions = whole_numbers(columns["partitions"], 0, odd)
        if partitions.null_count:
            odd.append(first_null(partitions))
        replicas = None
        if "racks" in columns:
            replicas = replica_places(columns["racks"], partitions, racks, odd)
        places = pc.fill_null(names.places(topic.cast(pa.string())), 0)
        batch = _topic_batch(places, pc.fill_null(partitions, 0), replicas)
        group = bisect_right(self._ends, min(odd)) - 1 if odd else None
        return _TopicColumns(batch, pa.array(self._ends, pa.int32()), group)


class _TopicColumns(NamedTuple):
    """Topics in the core's form, where each group's topics begin, and the first group with an invalid topic."""

    batch: pa.RecordBatch
    of_groups: pa.Array | None
    odd: int | None


def _topic_batch(places: pa.Array, partitions: pa.Array, racks: pa.ListArray | None) -> pa.RecordBatch:
    columns = {"name": places, "partitions": partitions}
    return pa.RecordBatch.from_pydict(columns if racks is None else {**columns, "racks": racks})
