"""How evenly a group of each size reads its topics, and what moves with each added replica.

>>> counts = replica_counts({"t": 6}, 4)
>>> [(each.replicas, each.most, each.least, each.moved) for each in counts.rows]
[(1, 6, 6, 0), (2, 3, 3, 3), (3, 2, 2, 3), (4, 2, 1, 1)]
>>> counts.even, counts.useful
((1, 2, 3), (1, 2, 3))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import Json, counted, refused, shown, whole
from partwright.answer import Answer
from partwright.assignors.group_assignment import stable_assignment
from partwright.assignors.names import resolve
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.assignment import Assignment

_MOST_REPLICAS = 10_000
_MOST_THREADS = 1000
_MOST_MEMBERS = 2_000_000


class ReplicaCount(NamedTuple):
    """One number of replicas.

    Attributes:
        replicas: How many.
        most: How many partitions the replica with the most reads.
        least: How many the one with the fewest reads.
        idle: How many replicas read nothing.
        idle_threads: How many consumers read nothing, of all replicas.
        moved: How many partitions change hands when the last of these replicas is added.
        paused: How many partitions nobody reads during that rebalance: all of them under an eager assignor.
        even: Whether all consumers read equally many.
        divides: Whether the number of replicas divides the number of partitions. Autoscalers use this rule (KEDA's
            `ensureEvenDistributionOfPartitions`); it ignores topics, threads and the assignor.
        apart: The largest difference between two consumers in the partitions of one topic.
    """

    replicas: int
    most: int
    least: int
    idle: int
    idle_threads: int
    moved: int
    paused: int
    even: bool
    divides: bool
    apart: int


@dataclass(frozen=True)
class ReplicaCounts(Answer):
    """Several numbers of replicas compared.

    Attributes:
        rows: The numbers, in order.
        partitions: How many partitions the topics have.
        threads: How many consumers a replica has.
        assignor: The assignor.
    """

    DOCUMENT = "advise"
    ROWS = "replicas"

    rows: tuple[ReplicaCount, ...]
    partitions: int
    threads: int
    assignor: str

    @property
    def even(self) -> tuple[int, ...]:
        """The numbers with which all consumers read equally many."""
        return tuple(each.replicas for each in self.rows if each.even)

    @property
    def useful(self) -> tuple[int, ...]:
        """The numbers with which the busiest replica reads less than with any smaller number: others only cost more."""
        useful: list[ReplicaCount] = []
        for each in self.rows:
            if not useful or each.most < useful[-1].most:
                useful.append(each)
        return tuple(each.replicas for each in useful)

    @property
    def wrongly_even(self) -> tuple[int, ...]:
        """The numbers that an autoscaler's divisor rule counts as even, though they are not."""
        return tuple(each.replicas for each in self.rows if each.divides and not each.even)

    @property
    def left_out(self) -> tuple[int, ...]:
        """The useful numbers that the divisor rule never takes."""
        useful = set(self.useful)
        return tuple(each.replicas for each in self.rows if each.replicas in useful and not each.divides)

    def to_dict(self) -> Json:
        """The object that `partwright advise --replicas --json` prints, without its summary."""
        lists = ("even", "useful", "wrongly_even", "left_out")
        return {
            "replicas": [each._asdict() for each in self.rows],
            **{name: getattr(self, name) for name in ("partitions", "threads", "assignor")},
            **{name: list(getattr(self, name)) for name in lists},
        }


def replica_counts(
    topics: Mapping[str, int], most: int, least: int = 1, *, threads: int = 1, assignor: object = "range"
) -> ReplicaCounts:
    """How evenly groups of each size read their topics, as `partwright.assign` says.

    All replicas subscribe to all topics. The group grows by one replica at a time, whose consumers come last in the
    order of members, and own what `assign` gave them in the step before. Kafka draws members' IDs, so a real newcomer
    may be anywhere among them: under `range` and `roundrobin` its place changes who reads what, but never how many.

    Args:
        topics: By name, how many partitions.
        most: The largest number of replicas, up to 10,000.
        least: The smallest one.
        threads: How many consumers each replica has.
        assignor: See `partwright.assign`.

    Returns:
        A row for each number of replicas, and which of them are worth taking.

    Raises:
        PartwrightError: A number is invalid, or `partwright.assign` refuses the group.

    Examples:
        >>> replica_counts({"a": 3, "b": 3}, 6, 6).rows[0]._asdict()
        {'replicas': 6, 'most': 2, 'least': 0, 'idle': 3, 'idle_threads': 3, 'moved': 0, 'paused': 6, 'even': False, 'divides': True, 'apart': 1}
        >>> replica_counts({"a": 3, "b": 3}, 6, 6, assignor="roundrobin").even
        (6,)
    """  # noqa: E501 - an example is one line
    whole(most, "the largest number of replicas", 1, _MOST_REPLICAS)
    whole(least, "the smallest number of replicas", 1, _MOST_REPLICAS)
    if least > most:
        raise refused(
            least, "the smallest number of replicas", f"is above the largest: {least} to {shown(most)}"
        )
    whole(threads, "threads", 1, _MOST_THREADS)
    count = threads * (most * (most + 1) - least * (least - 1)) // 2
    if count > _MOST_MEMBERS:
        raise PartwrightError(
            f"groups of {least} to {counted(most, 'replica')} with {counted(threads, 'thread')} have "
            f"{counted(count, 'member')} together, and {_MOST_MEMBERS:,} are taken: ask for fewer"
        )
    if not topics:
        raise PartwrightError("there are no topics: name at least one, with its number of partitions")
    names = list(topics)
    resolved = resolve(assignor)
    name = resolved if isinstance(resolved, str) else resolved.name
    rows = []
    before: Assignment | None = None
    owners: pa.Array | None = None
    total = 0
    for replicas in range(max(1, least - 1), most + 1):
        members = dict.fromkeys(_members(replicas, threads, most), names)
        before = stable_assignment(topics, members, resolved, owned=before)
        was, owners = owners, _owners(before)
        total = before.subscribed_partitions()
        if replicas >= least:
            rows.append(_row(replicas, threads, before, was, owners, total, is_eager=_is_eager(name)))
    return ReplicaCounts(tuple(rows), total, threads, name)


def _members(replicas: int, threads: int, most: int) -> Iterator[str]:
    """Consumers' names, which sort in the order of joining: a newcomer is always last."""
    wide, deep = len(str(most)), len(str(threads))
    for replica in range(1, replicas + 1):
        for thread in range(1, threads + 1):
            yield f"{replica:0{wide}}-{thread:0{deep}}" if threads > 1 else f"{replica:0{wide}}"


def _owners(assignment: Assignment) -> pa.Array:
    """For each partition in order, the index of its reader."""
    pairs = assignment.lists.values
    place = pc.add(
        pc.multiply(pairs.field("topic").cast(pa.int64()), 2**31), pairs.field("partition").cast(pa.int64())
    )
    return pc.list_parent_indices(assignment.lists).take(pc.sort_indices(place))


def _row(
    replicas: int,
    threads: int,
    assignment: Assignment,
    was: pa.Array | None,
    owners: pa.Array,
    total: int,
    *,
    is_eager: bool,
) -> ReplicaCount:
    counts = pc.list_value_length(assignment.lists).to_pylist()
    of_replicas = [sum(counts[first : first + threads]) for first in range(0, len(counts), threads)]
    # An unread partition is missing here: if an assignor leaves some unread, the arrays differ in length.
    moved = 0 if was is None or len(was) != len(owners) else pc.sum(pc.not_equal(was, owners)).as_py() or 0
    return ReplicaCount(
        replicas=replicas,
        most=max(of_replicas),
        least=min(of_replicas),
        idle=of_replicas.count(0),
        idle_threads=counts.count(0),
        moved=moved,
        paused=0 if was is None else total if is_eager else moved,
        even=max(counts) == min(counts),
        divides=total % replicas == 0,
        apart=max((each.max - each.min for each in assignment.per_topic_spread().values()), default=0),
    )


def _is_eager(name: str) -> bool:
    """Whether all members give up what they read in each rebalance."""
    plain = name.rpartition(":")[2].partition("@")[0]
    return plain != "cooperative-sticky" and not plain.startswith("server-")
