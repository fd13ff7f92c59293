"""An assignment: who got what, in columns until somebody asks for lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import Json, shown
from partwright.answer import Answer
from partwright.assignors.members import INT32, Group
from partwright.errors import PartwrightError


class Spread(NamedTuple):
    """How many partitions members have: the fewest, the most, and on average."""

    min: int
    max: int
    mean: float


class Chance(NamedTuple):
    """Why an assignment is one of several possible answers, and what all of them have in common.

    `same` has `sizes` if the sorted numbers of partitions per member are the same in all answers, and `moves` if the
    number of partitions that change hands is.
    """

    why: str
    same: tuple[str, ...]


class Assignment(Answer):
    """Who reads what. It stays in columns until somebody asks for lists.

    Attributes:
        members: The members' ids, in the order given.
        topics: The topics' names, in the order given; those that only members name are last.
        lists: A `pyarrow.ListArray`: for each member a list of `topic`, a place in `topics`, and `partition`.
        topic_ids: By existing topic, the ID that a broker's assignor used; None for all other assignors.
        chance: Why this is one of several answers of the client, and what those have in common; None if it is the only
            one.
        assignor: The assignor's name.
        assumed: What was assumed about the group, a sentence each; who reads a group from elsewhere sets it.
    """

    DOCUMENT = "assign"

    def __init__(
        self, group: Group, lists: pa.ListArray, assignor: str, chance: Chance | None = None
    ) -> None:
        """Wraps the core's answer for a group; `assign` makes assignments."""
        self._group = group
        self.assignor = assignor
        self.assumed: tuple[str, ...] = ()
        self.members: Sequence[str] = group.members
        self.topics: Sequence[str] = group.topics
        self.lists = lists
        self.chance = chance
        self.topic_ids: dict[str, str] | None = None
        if group.topic_ids is not None:
            existing = len(group.topics) - group.batches[0]["partitions"].null_count
            self.topic_ids = dict(zip(group.topics[:existing], group.topic_ids[:existing], strict=True))

    def to_dict(self) -> dict[str, list[tuple[str, int]]]:
        """Each member's list of (topic, partition), in the order of Kafka's own list."""
        values = self.lists.values
        names = map(self.topics.__getitem__, values.field("topic").to_pylist())
        pairs = list(zip(names, values.field("partition").to_pylist(), strict=True))
        ends = self.lists.offsets.to_pylist()
        return {name: pairs[ends[place] : ends[place + 1]] for place, name in enumerate(self.members)}

    def json_object(self) -> Json:
        """The object that `partwright assign` prints as JSON: `assignment`, and what else the answer has."""
        ids = {} if self.topic_ids is None else {"topic_ids": self.topic_ids}
        chance = {} if self.chance is None else {"chance": self.chance._asdict()}
        return {"assignment": self.to_dict(), **ids, **chance}

    def to_arrow(self) -> pa.Table:
        """A table of `member`, `topic` (both dictionaries) and `partition`; a row per partition, in the answer's order.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 2}, {"c1": ["t"]}).to_arrow().to_pylist()
            [{'member': 'c1', 'topic': 't', 'partition': 0}, {'member': 'c1', 'topic': 't', 'partition': 1}]
        """
        pairs = self.lists.values
        return self._table(pc.list_parent_indices(self.lists), pairs.field("topic"), pairs.field("partition"))

    def _table(self, members: pa.Array, topics: pa.Array, partitions: pa.Array) -> pa.Table:
        names = pa.array(self.members, pa.string()), pa.array(self.topics, pa.string())
        return pa.table(
            {
                "member": pa.DictionaryArray.from_arrays(members.cast(pa.int32()), names[0]),
                "topic": pa.DictionaryArray.from_arrays(topics, names[1]),
                "partition": partitions,
            }
        )

    def partitions_of(self, member: str) -> list[tuple[str, int]]:
        """One member's list of (topic, partition).

        Raises:
            PartwrightError: The member does not exist.
        """
        if member not in self.members:
            raise PartwrightError(f"there is no member {member!r} in the group")
        pairs = self.lists[self.members.index(member)].as_py()
        return [(self.topics[pair["topic"]], pair["partition"]) for pair in pairs]

    def owner_of(self, topic: str, partition: int) -> str | None:
        """The reader of a partition; None if there is none, and if several read it, as in share groups, the first.

        Raises:
            PartwrightError: The topic does not exist, or the partition is not a number.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 2}, {"c1": ["t"], "c2": ["t"]}).owner_of("t", 1)
            'c2'
        """
        if topic not in self.topics:
            raise PartwrightError(f"there is no topic {topic!r} in the group")
        if type(partition) is not int:
            raise PartwrightError(f"a partition is a whole number, not {shown(partition)}")
        if not 0 <= partition < INT32:
            return None
        pairs = self.lists.values
        is_it = pc.and_(
            pc.equal(pairs.field("topic"), self.topics.index(topic)),
            pc.equal(pairs.field("partition"), partition),
        )
        row = pc.index(is_it, value=True).as_py()
        return None if row < 0 else self.members[pc.list_parent_indices(self.lists)[row].as_py()]

    @property
    def absent_topics(self) -> list[str]:
        """The topics to which members subscribe and that the group lacks: nobody gets anything of them.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"orders": 2}, {"c1": ["orders", "users"]}).absent_topics
            ['users']
        """
        return self._group.absent_topics

    def claims(self) -> pa.Table:
        """The partitions that members reported to own, in the form of `to_arrow`.

        Examples:
            >>> import partwright as pw
            >>> members = [{"id": "c1", "topics": ["t"], "owned": [["t", 1]]}, {"id": "c2", "topics": ["t"]}]
            >>> pw.assign({"t": 2}, members, "sticky").claims().to_pylist()
            [{'member': 'c1', 'topic': 't', 'partition': 1}]
        """
        owned = self._group.batches[1]
        topics, partitions = owned["owned_topic"], owned["owned_partition"]
        return self._table(
            pc.list_parent_indices(topics), pc.list_flatten(topics), pc.list_flatten(partitions)
        )

    def subscribed_partitions(self) -> int:
        """How many partitions the topics with a subscriber have.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 3, "u": 2}, {"c1": ["t"]}).subscribed_partitions()
            3
        """
        topics = pc.unique(self._group.subscribed.values)
        return pc.sum(self._group.partitions.take(topics)).as_py() or 0

    def moved_from(self, previous: Assignment) -> pa.Table:
        """The partitions that changed hands since an earlier assignment.

        Returns:
            A table of `topic`, `partition`, `from` and `to`, sorted: `from` is null where nobody had the partition, and
            `to` where nobody has it now. If several members read one, as in share groups, those that keep it
            are left out.

        Raises:
            PartwrightError: The earlier one is not an assignment.
        """
        if not isinstance(previous, Assignment):
            raise PartwrightError(f"an earlier assignment is an Assignment, not {shown(previous)}")
        now, before = self._owners("to"), previous._owners("from")
        on = ["topic", "partition"]
        came = now.join(before, [*on, "to"], [*on, "from"], join_type="left anti")
        went = before.join(now, [*on, "from"], [*on, "to"], join_type="left anti")
        moved = came.join(went, on, join_type="full outer").select([*on, "from", "to"])
        return moved.sort_by([(name, "ascending") for name in moved.column_names])

    def spread(self) -> Spread:
        """How many partitions a member has.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 3}, {"c1": ["t"], "c2": ["t"]}).spread()
            Spread(min=1, max=2, mean=1.5)
        """
        if not self.members:
            return Spread(0, 0, 0.0)
        counts = pc.list_value_length(self.lists)
        ends = pc.min_max(counts).as_py()
        return Spread(ends["min"], ends["max"], pc.mean(counts).as_py())

    def per_topic_spread(self) -> dict[str, Spread]:
        """For each topic, how many of its partitions a subscriber has; topics without a reader are left out.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 3, "u": 1}, {"c1": ["t", "u"], "c2": ["t"]}).per_topic_spread()
            {'t': Spread(min=1, max=2, mean=1.5), 'u': Spread(min=1, max=1, mean=1.0)}
        """
        topic, member = self.lists.values.field("topic"), pc.list_parent_indices(self.lists)
        rows = (
            pa.table({"topic": topic, "member": member})
            .group_by(["topic", "member"])
            .aggregate([([], "count_all")])
        )
        per_topic = rows.group_by("topic").aggregate(
            [("count_all", "min"), ("count_all", "max"), ("count_all", "sum"), ("count_all", "count")]
        )
        subscribed = self._group.subscribed
        pairs = pa.table({"topic": subscribed.values, "member": pc.list_parent_indices(subscribed)})
        named = (
            pairs.group_by(["topic", "member"]).aggregate([]).group_by("topic").aggregate([([], "count_all")])
        )
        readers = dict(zip(named["topic"].to_pylist(), named["count_all"].to_pylist(), strict=True))
        spreads = {}
        for row in per_topic.sort_by("topic").to_pylist():
            members = max(readers.get(row["topic"], 0), row["count_all_count"])
            fewest = row["count_all_min"] if members == row["count_all_count"] else 0
            mean = row["count_all_sum"] / members
            spreads[self.topics[row["topic"]]] = Spread(fewest, row["count_all_max"], mean)
        return spreads

    def in_rack_share(self) -> float | None:
        """The share of partitions with a replica in their reader's rack, among the readers that have a rack.

        Returns:
            The share; None if no racks were given, or no member with a rack reads anything.

        Examples:
            >>> import partwright as pw
            >>> members = [{"id": "c1", "topics": ["t"], "rack": "a"}, {"id": "c2", "topics": ["t"], "rack": "b"}]
            >>> pw.assign({"t": 2}, members, racks={"t": [["b"], ["a"]]}).in_rack_share()
            1.0
        """
        racks, pairs = self._group.racks, self.lists.values
        if racks is None:
            return None
        reader_racks = self._group.member_racks.take(pc.list_parent_indices(self.lists))
        inside = pc.less(pairs.field("partition"), self._group.partitions.take(pairs.field("topic")))
        counted = pc.and_(pc.is_valid(reader_racks), inside)
        pairs, reader_racks = pairs.filter(counted), reader_racks.filter(counted)
        first = racks.offsets.take(pairs.field("topic"))
        replicas = racks.values.take(pc.add(first, pairs.field("partition")))
        reader = reader_racks.take(pc.list_parent_indices(replicas))
        hits = pc.list_parent_indices(replicas).filter(pc.equal(replicas.flatten(), reader))
        return pc.count_distinct(hits).as_py() / len(pairs) if len(pairs) else None

    def _owners(self, column: str) -> pa.Table:
        table = self.to_arrow()
        text = {name: table[name].cast(pa.string()) for name in ("topic", "member")}
        return pa.table({"topic": text["topic"], "partition": table["partition"], column: text["member"]})
