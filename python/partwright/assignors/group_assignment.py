"""Who in a consumer group reads what under Kafka's assignors: takes a group, returns an assignment.

>>> assign({"t": 3}, {"c1": ["t"], "c2": ["t"]}, "roundrobin").to_dict()
{'c1': [('t', 0), ('t', 2)], 'c2': [('t', 1)]}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from partwright import _core
from partwright._check import shown
from partwright.assignors.assignment import Assignment, Chance
from partwright.assignors.group_tables import group_of, owned_of
from partwright.assignors.members import Group, Member, Owned, listed_members, owned_by, refuse_turned_round
from partwright.assignors.names import resolve
from partwright.assignors.tables import Table, is_table
from partwright.assignors.threads import THREADED, ordered, thread_members
from partwright.errors import PartwrightError

_SEEDS = 2**64
_ID = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
# Java's cooperative assignor takes two rounds; other clients' may take more.
_MOST_ROUNDS = 20


class Options(NamedTuple):
    """Options for other clients' assignors, in the form that the core takes.

    A seed for random choices, and franz-go's BalanceRacks.
    """

    seed: int = 0
    balance_racks: bool = False
    as_read: bool = False
    """Whether members' owned partitions are already what the leader read, as in a group of several clients."""

    @classmethod
    def checked(cls, seed: object, *, balance_racks: object, assignor: object = None) -> Options:
        """Check the options that a caller gives, for an assignor if it is known already.

        Raises:
            PartwrightError: A value is of another type, or the assignor has no such option.

        Examples:
            >>> Options.checked(7, balance_racks=True, assignor="franz-go:sticky")
            Options(seed=7, balance_racks=True, as_read=False)
        """
        if type(seed) is not int or not 0 <= seed < _SEEDS:
            raise PartwrightError(f"seed is a whole number from 0 to {_SEEDS - 1}, not {shown(seed)}")
        if type(balance_racks) is not bool:
            raise PartwrightError(f"balance_racks is true or false, not {shown(balance_racks)}")
        if balance_racks and assignor is not None and not str(assignor).startswith("franz-go:"):
            raise PartwrightError(f"balance_racks is an option of franz-go's assignors, not of {assignor}")
        return cls(seed, balance_racks)


def assign(
    topics: Mapping[str, int] | Table,
    members: Iterable[Member | str] | Mapping[str, Iterable[str]] | Table,
    assignor: object = "range",
    *,
    racks: Mapping[str, Sequence[Sequence[str | None]]] | Table | None = None,
    topic_ids: Mapping[str, str] | None = None,
    owned: Assignment | Mapping[str, Any] | Table | None = None,
    partition_order: Sequence[int] | None = None,
    seed: int = 0,
    balance_racks: bool = False,
) -> Assignment:
    """Assign partitions exactly as Kafka's own assignor does, down to the order of each list.

    Args:
        topics: Each topic's number of partitions by name; or a table of `topic`, `partitions` and, if known, `racks`
            (for each partition a list of its replicas' racks). A table is Arrow's, a frame, or a file's name.
        members: The members in the order of the JoinGroup response, in which they are put into Java's map: objects with
            `id` and `topics`, and, if the member has them, `owned` (a list of (topic, partition), or lists of
            partitions by topic), `generation` (in which it owned them), `instance_id` and `rack`; or lists of topics by
            ID; or only IDs, which subscribe to all topics. For `old-range` and `old-roundrobin` also `streams`, the
            number of its threads, or their numbers by topic. Or a table of `member` (its ID), `topics` (a list of
            names; in a file of text `orders,users`) and, if known, `owned` (a list of structs of `topic` and
            `partition`), `generation`, `instance_id` and `rack`.
        assignor: Its name in Kafka: `range`, `roundrobin`, `sticky` or `cooperative-sticky`, or its class there; one of
            the broker's own, `server-uniform`, `server-range` or `server-simple`; an older one: `sticky@2.8`,
            `cooperative-sticky@2.8`, `sticky@2.3`, `old-range` or `old-roundrobin`; another client's as
            `CLIENT:ASSIGNOR`, such as `librdkafka:range` (`partwright.assignors.names.client_assignors` has all of
            them); or your own, as an object, a class or a path such as `mine:Mine`: see
            `partwright.assignors.consumer_partition_assignor`.
        racks: By topic, for each of its partitions the racks of the replicas; or an Arrow table of `topic` and `racks`.
        topic_ids: By topic, its ID as Kafka writes it; only the broker's assignors use it. A topic without one gets the
            ID that Java derives from its name.
        owned: An earlier assignment, or its `to_arrow` or `to_dict`: each member owns the partitions that it got there.
            Also lists of partitions by member and topic, `{"c1": {"orders": [0, 1]}}`. Members that the group lacks
            have left it.
        partition_order: The order in which `old-roundrobin` deals the partitions of the one topic, instead of the order
            of their hash codes.
        seed: The seed of another client's random choices (`Assignment.chance` tells you if there are any).
        balance_racks: Whether franz-go's balancers have `BalanceRacks`.

    Returns:
        The assignment. The client's quirks are part of it: see docs/assignors.md.

    Raises:
        PartwrightError: The group is invalid, or the client's own assignor throws, dies or never ends.

    Examples:
        >>> first = assign({"t": 3}, {"c1": ["t"], "c2": ["t"]}, "sticky")
        >>> first.to_dict()
        {'c1': [('t', 0), ('t', 2)], 'c2': [('t', 1)]}
        >>> second = assign({"t": 3}, {"c1": ["t"], "c2": ["t"], "c3": ["t"]}, "sticky", owned=first)
        >>> second.moved_from(first).to_pylist()
        [{'topic': 't', 'partition': 2, 'from': 'c1', 'to': 'c3'}]
        >>> import pyarrow as pa
        >>> members = pa.table({"member": ["c1", "c2"], "topics": [["t"], ["t"]]})
        >>> assign({"t": 3}, members, "sticky", owned=first.to_arrow()).to_dict() == first.to_dict()
        True
        >>> assign({"t": 3}, ["c1", "c2"], "sticky", owned={"c2": {"t": [0, 1]}}).to_dict()
        {'c1': [('t', 2)], 'c2': [('t', 0), ('t', 1)]}
    """
    refuse_turned_round(topics, members, "assign")
    resolved = resolve(assignor)
    name = resolved if isinstance(resolved, str) else resolved.name
    before = None if owned is None else _before(owned)
    order = None if partition_order is None else ordered(partition_order, topics, name)
    if resolved in THREADED:
        if is_table(members) or is_table(topics):
            raise PartwrightError(
                f"{name} gives partitions to consumer threads: its members and topics cannot be tables"
            )
        members = thread_members(listed_members(members, topics), topics, name)
    group = group_of(topics, members, racks, before, order)
    options = Options.checked(seed, balance_racks=balance_racks, assignor=resolved)
    return assign_group(group, resolved, topic_ids, options)


def _before(owned: Assignment | Mapping[str, Any] | Table) -> Owned:
    """The partitions that members own by an earlier assignment."""
    if isinstance(owned, Assignment):
        return Owned(owned.members, owned.topics, owned.lists)
    if isinstance(owned, Mapping):
        return owned_by(owned)
    if not is_table(owned):
        raise PartwrightError(
            f"owned= is an Assignment, a table of its columns or partitions by member, not {shown(owned)}"
        )
    return owned_of(owned)


def assign_group(
    group: Group, assignor: object, topic_ids: Mapping[str, str] | None = None, options: Options | None = None
) -> Assignment:
    """An assignor's answer for a group that is already in columns.

    Raises:
        PartwrightError: The assignor does not exist, Kafka's own throws, or your own gives an invalid answer.
    """
    resolved = resolve(assignor)
    if takes_topic_ids(resolved):
        group = with_topic_ids(group, topic_ids)
    if isinstance(resolved, str):
        seed, balance_racks, as_read = options or Options()
        lists, left = _core.assign(resolved, *group.batches, seed, balance_racks, as_read)
        return Assignment(group, lists, resolved, None if left is None else Chance(left[0], tuple(left[1])))
    return Assignment(group, resolved.lists(group), resolved.name)


def takes_topic_ids(assignor: object) -> bool:
    """Whether an assignor uses the topics' IDs: the broker's own do.

    Examples:
        >>> takes_topic_ids("server-uniform"), takes_topic_ids("range")
        (True, False)
    """
    return isinstance(assignor, str) and assignor.startswith("server-")


def with_topic_ids(group: Group, topic_ids: object) -> Group:
    """A group whose topics have IDs; IDs of unknown topics are left out.

    Raises:
        PartwrightError: An ID is invalid, or two topics have the same.

    Examples:
        >>> from partwright.assignors.members import Group
        >>> with_topic_ids(Group.of({"t": 2, "u": 1}, {"c1": ["t"]}), {"u": "qqLWNgD3cE5N4Q9mk2oxjQ"}).topic_ids
        ['41jvpIn1MGKxDdcxa2Vkng', 'qqLWNgD3cE5N4Q9mk2oxjQ']
    """
    by_name = {} if topic_ids is None else topic_ids
    if not isinstance(by_name, Mapping):
        raise PartwrightError(f"topic_ids has an id by topic, not {shown(by_name)}")
    for name, text in by_name.items():
        if not isinstance(text, str) or not _ID.fullmatch(text):
            raise PartwrightError(
                f"topic_ids: {name!r} has {shown(text)}, which is not an id as Kafka writes it: "
                "22 letters of A-Z, a-z, 0-9, - and _"
            )
    ids = _core.topic_ids(group.topics, [by_name.get(name) for name in group.topics])
    known: dict[str, str] = {}
    for name, text in zip(group.topics, ids, strict=True):
        other = known.setdefault(text, name)
        if other != name:
            raise PartwrightError(f"topic_ids: {other!r} and {name!r} have the same id, {text}: each its own")
    topics, members = group.batches
    column = pa.array(ids, pa.string())
    return replace(group, topic_ids=ids, batches=(topics.append_column("id", column), members))


def stable_assignment(
    topics: Mapping[str, int],
    members: Mapping[str, Iterable[str]] | Iterable[Mapping[str, Any]],
    assignor: object,
    *,
    owned: Assignment | None = None,
) -> Assignment:
    """A cooperative assignor's final assignment, when nothing is withheld any more.

    It is the answer of `partwright.assign`, repeated as long as that withholds partitions that another member owned.

    Args:
        topics: See `partwright.assign`.
        members: See `partwright.assign`.
        assignor: See `partwright.assign`.
        owned: See `partwright.assign`.

    Raises:
        PartwrightError: See `partwright.assign`.

    Examples:
        >>> members = [{"id": "c1", "topics": ["t"], "owned": [["t", 0], ["t", 1]], "generation": 1}]
        >>> stable_assignment({"t": 2}, [*members, {"id": "c2", "topics": ["t"]}], "cooperative-sticky").to_dict()
        {'c1': [('t', 0)], 'c2': [('t', 1)]}
    """
    assignment = assign(topics, members, assignor, owned=owned)
    again = members
    if not isinstance(members, Mapping):
        # From then on members own the partitions that they were given.
        again = [
            {name: each[name] for name in each if name not in {"owned", "generation"}} for each in members
        ]
    for _ in range(_MOST_ROUNDS):
        if len(assignment.lists.values) == assignment.subscribed_partitions():
            break
        assignment = assign(topics, again, assignor, owned=assignment)
    return assignment
