"""Compare assignors on one group: how even it is, and how many partitions move, stay unread or are read in their rack.

>>> members = [{"id": "c1", "topics": ["t", "u"]}, {"id": "c2", "topics": ["t", "u"]}]
>>> [(each.assignor, each.spread.min, each.spread.max) for each in compare({"t": 3, "u": 3}, members)][:2]
[('range', 2, 4), ('roundrobin', 3, 3)]
>>> compare({"t": 3, "u": 3}, ["c1", "c2"]).to_arrow().select(["assignor", "fewest", "most"]).to_pylist()[0]
{'assignor': 'range', 'fewest': 2, 'most': 4}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from partwright._check import Json, listed
from partwright.answer import Answers
from partwright.assignors.assignment import Assignment, Spread
from partwright.assignors.group_assignment import assign_group
from partwright.assignors.group_tables import group_of
from partwright.assignors.members import Member, refuse_turned_round
from partwright.assignors.names import CLIENT_ASSIGNORS, resolve
from partwright.assignors.tables import Table
from partwright.errors import PartwrightError

COMPARED = (*CLIENT_ASSIGNORS, "server-uniform", "server-range")
"""The assignors of today's consumer groups: the ones that members can set, and the broker's own (KIP-848)."""

_PARTITION = ["topic", "partition"]
_SCHEMA = pa.schema(
    [
        ("assignor", pa.string()),
        ("fewest", pa.int32()),
        ("most", pa.int32()),
        ("mean", pa.float64()),
        ("topic_spread", pa.int32()),
        ("moved", pa.int32()),
        ("unread", pa.int32()),
        ("in_rack_share", pa.float64()),
        ("seconds", pa.float64()),
        ("error", pa.string()),
    ]
)


@dataclass(frozen=True)
class Compared:
    """One assignor's result for a group.

    Attributes:
        assignor: Its name in Kafka.
        error: Why it has no assignment; None if it has one. Otherwise all that follows is None or 0.
        spread: How many partitions a member has.
        topic_spread: The largest difference, in partitions of one topic, between members that subscribe to it.
        moved: How many partitions their reported owner loses.
        unread: How many partitions of topics with a subscriber nobody reads until the next rebalance.
        in_rack_share: The share of the partitions with a replica in their reader's rack; None without racks.
        seconds: How long it took, without the time to read the group into columns; None without a clock.
    """

    assignor: str
    error: str | None
    spread: Spread
    topic_spread: int
    moved: int
    unread: int
    in_rack_share: float | None
    seconds: float | None

    def to_dict(self) -> Json:
        """As in the JSON."""
        return self.__dict__ | {"spread": self.spread._asdict()}


@dataclass(frozen=True)
class Comparison(Answers[Compared]):
    """Each assignor's result for one group.

    Attributes:
        parts: The results, in the order of the assignors.
        members: How many members the group has.
        topics: Its topics, each with its number of partitions.
        assumed: What was assumed about the group, a sentence each.
        absent_topics: The topics to which members subscribe and that the group lacks.
    """

    DOCUMENT = "assign_compared"
    ROWS = "assignors"

    parts: tuple[Compared, ...]
    members: int
    topics: Mapping[str, int]
    assumed: tuple[str, ...] = ()
    absent_topics: tuple[str, ...] = ()

    def to_arrow(self) -> pa.Table:
        """A row for each assignor: its figures, with `fewest`, `most` and `mean` in place of the spread.

        Where an assignor has no assignment, all but `assignor` and `error` are null.
        """
        rows = []
        for each in self.parts:
            fewest, most, mean = each.spread
            row = {**each.__dict__, "fewest": fewest, "most": most, "mean": mean}
            rows.append(row if each.error is None else {"assignor": each.assignor, "error": each.error})
        return pa.Table.from_pylist(rows, _SCHEMA)

    def to_dict(self) -> Json:
        """As in the JSON."""
        return {"assignors": [each.to_dict() for each in self.parts]}


def compare(
    topics: Mapping[str, int] | Table,
    members: Iterable[Member | str] | Mapping[str, Iterable[str]] | Table,
    assignors: Iterable[object] = COMPARED,
    *,
    racks: Mapping[str, Sequence[Sequence[str | None]]] | Table | None = None,
    topic_ids: Mapping[str, str] | None = None,
    clock: Callable[[], float] | None = None,
) -> Comparison:
    """Compare assignors on one group.

    `partwright.batching.compare` compares strategies and `partwright.group.compare` protocols. Each gives an answer
    whose `to_arrow()` has a row for each, and names it in the first column.

    Args:
        topics: See `partwright.assign`.
        members: See `partwright.assign`.
        assignors: Names of assignors, of other clients too, or your own, as `partwright.assign` takes one; by default
            those of today's consumer groups.
        racks: See `partwright.assign`.
        topic_ids: See `partwright.assign`.
        clock: A function that returns seconds; None measures no time.

    Returns:
        The answer, a sequence of `Compared`.

    Raises:
        PartwrightError: The group is invalid, or there is no such assignor.

    Examples:
        >>> parts = compare({"t": 3}, [{"id": "c1", "topics": ["t"]}, {"id": "c2", "topics": ["t"]}])
        >>> parts.to_arrow().select(["assignor", "moved"]).to_pylist()[0]
        {'assignor': 'range', 'moved': 0}
        >>> [each.spread.max for each in compare({"t": 3}, ["c1", "c2"], ["sticky", "sarama:range"])]
        [2, 2]
    """
    refuse_turned_round(topics, members, "compare")
    group = group_of(topics, members, racks)
    parts = []
    for assignor in map(
        resolve, [assignors] if isinstance(assignors, str) else listed(assignors, "assignors")
    ):
        name = assignor if isinstance(assignor, str) else assignor.name
        began = None if clock is None else clock()
        try:
            assignment = assign_group(group, assignor, topic_ids)
        except PartwrightError as error:
            parts.append(Compared(name, str(error), Spread(0, 0, 0.0), 0, 0, 0, None, None))
            continue
        seconds = None if clock is None or began is None else clock() - began
        parts.append(_figures(name, assignment, seconds))
    counts = dict(zip(group.topics, group.batches[0]["partitions"].to_pylist(), strict=True))
    known = {name: count for name, count in counts.items() if count is not None}
    return Comparison(tuple(parts), len(group.members), known, absent_topics=tuple(group.absent_topics))


def _figures(name: str, assignment: Assignment, seconds: float | None) -> Compared:
    of_topics = [each.max - each.min for each in assignment.per_topic_spread().values()]
    owners = _text(assignment.to_arrow())
    claims = _text(assignment.claims())
    kept = claims.join(owners, ["topic", "partition", "member"], join_type="left semi")
    # If several members claim a partition, it is enough that one keeps it.
    lost = claims.join(kept, _PARTITION, join_type="left anti").group_by(_PARTITION).aggregate([])
    read = owners.group_by(_PARTITION).aggregate([])
    return Compared(
        name,
        None,
        assignment.spread(),
        max(of_topics, default=0),
        lost.num_rows,
        # Kafka's quirks may assign a partition past its topic's count.
        max(0, assignment.subscribed_partitions() - read.num_rows),
        assignment.in_rack_share(),
        seconds,
    )


def _text(table: pa.Table) -> pa.Table:
    for name in ("topic", "member"):
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast("string"))
    return table
