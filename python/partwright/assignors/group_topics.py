"""The topics of many groups: shared by all groups, or separate for each."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright.assignors.columns import Names, replica_places, whole_numbers
from partwright.assignors.members import Group
from partwright.assignors.tables import is_text
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright._check import Fields

__all__ = ["GroupTopics", "Topics"]

_RACKS = pa.list_(pa.list_(pa.string()))


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
    def of_rows(cls, rows: Sequence[Fields]) -> Topics:
        """The topics of a table's rows: `topic`, `partitions` and, if the table has them, `racks`.

        Raises:
            PartwrightError: A topic occurs twice, or is invalid.
        """
        partitions: dict[str, int] = {}
        for row in rows:
            if row["topic"] in partitions:
                raise PartwrightError(f"topics has {row['topic']!r} twice: each topic once")
            partitions[row["topic"]] = row["partitions"]
        racks = {row["topic"]: row["racks"] for row in rows if row.get("racks") is not None}
        return cls(partitions, racks)

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
        return Topics.of_rows(self._topics.slice(first, end - first).to_pylist()).group(members)

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
            odd.append(pc.index(pc.is_null(topic), value=True).as_py())
        partitions = whole_numbers(columns["partitions"], 0, odd)
        if partitions.null_count:
            odd.append(pc.index(pc.is_null(partitions), value=True).as_py())
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
