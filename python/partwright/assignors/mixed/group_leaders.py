"""What each member of a group would assign as the leader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from partwright._check import Json, unknown
from partwright.answer import Answer, Answers
from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS
from partwright.assignors.mixed.group import Mixed, wire_name
from partwright.assignors.strategy_setting import select_protocol
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    import pyarrow as pa

    from partwright.assignors.assignment import Assignment, Chance
    from partwright.assignors.members import Member
    from partwright.assignors.mixed.group import MixedMember


@dataclass(frozen=True)
class LeaderAnswer(Answer):
    """A group under one leader; its main table is that of the first rebalance's assignment.

    Attributes:
        leader: The leader's member id.
        assignor: Whose assignor answers, such as `sarama:sticky`.
        error: Why nobody gets an assignment; None if there is one. Otherwise all that follows is empty or 0.
        assignment: By member its list of (topic, partition), as the leader's client gives it in the first rebalance.
        unchanged: Whether each member gets what it owns.
        rounds: How many rebalances it takes until the group settles; None if it never does.
        moved: How many of the partitions that members own have another owner, or none, once the group has settled.
        unread: How many partitions of topics with a subscriber then have no reader.
        spread: The fewest and the most partitions that a member has then.
        idle: The members that have no partition then.
        left_out: The members whose subscription the leader cannot read: they stay in the group and get nothing.
        forgotten: The members that own partitions now without the leader knowing it.
        chance: Why this is one of several answers, if the leader's client chooses at random; otherwise None.
        answer: The first rebalance's assignment in columns, of the members that the leader can read; None without an
            assignment.
        assumed: What was assumed about the group, a sentence each.
    """

    DOCUMENT = "assign"

    leader: str
    assignor: str
    error: str | None = None
    assignment: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    unchanged: bool = False
    rounds: int | None = 0
    moved: int = 0
    unread: int = 0
    spread: tuple[int, int] = (0, 0)
    idle: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    chance: Chance | None = None
    answer: Assignment | None = None
    assumed: tuple[str, ...] = ()

    def to_arrow(self) -> pa.Table:
        """The assignment as `Assignment.to_arrow` gives it.

        Raises:
            PartwrightError: There is none.
        """
        if self.answer is None:
            raise PartwrightError(self.error or "the leader gives no assignment")
        return self.answer.to_arrow()

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        if self.error is not None:
            return {"assignor": self.assignor, "error": self.error}
        left = ("leader", "error", "answer", "assumed")
        fields_of = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in left}
        spread = {"min": self.spread[0], "max": self.spread[1]}
        return fields_of | {
            "spread": spread,
            "chance": None if self.chance is None else self.chance._asdict(),
        }

    def json_object(self) -> Json:
        """The object that `partwright assign --leader ID` prints as JSON."""
        return {"leader": self.leader, **self.to_dict()}


@dataclass(frozen=True)
class Leaders(Answers[LeaderAnswer]):
    """A group under each of its leaders.

    Attributes:
        parts: One for each leader that was asked about.
        assumed: What was assumed about the group, a sentence each.
    """

    DOCUMENT = "assign_clients"

    parts: tuple[LeaderAnswer, ...]
    assumed: tuple[str, ...] = ()

    def to_arrow(self) -> pa.Table:
        """A row for each leader, as in the JSON."""
        import pyarrow as pa  # noqa: PLC0415 - see `Answer.to_arrow`

        # An assignment has a field for each member.
        rows = [{**each.json_object(), "assignment": None} for each in self.parts]
        return pa.Table.from_pylist(rows).drop_columns("assignment")

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        return {"leaders": {each.leader: each.to_dict() for each in self.parts}}

    def json_object(self) -> Json:
        """The same as `to_dict`."""
        return self.to_dict()


def leaders(
    topics: Mapping[str, int],
    members: Iterable[Member | str],
    assignor: str | None = None,
    *,
    leader: str | None = None,
    racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
    seed: int = 0,
    balance_racks: bool = False,
) -> Leaders:
    """What happens to a group with members of several clients under each leader.

    Args:
        topics: By name, how many partitions a topic has.
        members: The members as for `partwright.assign`, in the order of the JoinGroup response. `client` names a
            member's client (default `java`), with `@VERSION` if an answer depends on it. The first is the present
            leader, so its client assigned what members own.
        assignor: The wire name of the assignor that the coordinator chose, or None: it is chosen from the members'
            clients' default lists.
        leader: The member that leads; None asks each member.
        racks: By topic, for each of its partitions the racks of the replicas.
        seed: The seed of a client's random choices.
        balance_racks: Whether franz-go's balancers have `BalanceRacks`.

    Returns:
        A sequence of one `LeaderAnswer` for each leader.

    Raises:
        PartwrightError: The group is invalid, a client or an assignor does not exist, no member has the leader's id, a
            member's client lacks the assignor, or the members have no assignor in common.

    Examples:
        >>> members = [{"id": name, "topics": ["t"], "client": name} for name in ("java", "sarama")]
        >>> for each in leaders({"t": 3}, members):
        ...     print(each.leader, each.assignor, each.assignment)
        java java:range {'java': [('t', 0), ('t', 1)], 'sarama': [('t', 2)]}
        sarama sarama:range {'java': [('t', 0), ('t', 1)], 'sarama': [('t', 2)]}
    """
    group = Mixed.of(topics, members, racks, seed=seed, balance_racks=balance_racks)
    ids = [member.id for member in group.members]
    if leader is not None and leader not in ids:
        raise unknown(leader, "member", ids, "the group")
    if assignor is None:
        assignor = select_protocol({member.id: DEFAULT_ASSIGNORS[member.client] for member in group.members})
    group = group.under(wire_name(assignor, group.members)).led_by(group.members[0].client)
    leading = [member for member in group.members if leader in (None, member.id)]
    # Leaders of one client give the same answer, unless they read different topics and assign only their own.
    answers = {_alike(member): member for member in leading}
    outcomes = {alike: _outcome_under(group, member) for alike, member in answers.items()}
    return Leaders(tuple(replace(outcomes[_alike(member)], leader=member.id) for member in leading))


def _alike(leader: MixedMember) -> tuple[str, str, tuple[str, ...]]:
    """The key by which leaders with the same answer are grouped."""
    return leader.client, leader.version, leader.held.topics if leader.client == "kafkajs" else ()


def _outcome_under(group: Mixed, leader: MixedMember) -> LeaderAnswer:
    name = f"{leader.client}:{group.assignor}{leader.version}"
    try:
        first, last, _, rounds = group.settle(leader.client, leader.version, leader.id)
    except PartwrightError as error:
        return LeaderAnswer(leader.id, name, str(error))
    readers = last.readers
    sizes = [len(pairs) for pairs in last.assignment.values()]
    return LeaderAnswer(
        leader.id,
        name,
        None,
        first.assignment,
        all(member.held.pairs == set(first.assignment[member.id]) for member in group.members),
        rounds,
        sum(readers.get(pair) != owner for pair, owner in group.owners.items()),
        max(0, group.subscribed_partitions - len(readers)),
        (min(sizes), max(sizes)),
        [member for member, pairs in last.assignment.items() if not pairs],
        first.left_out,
        first.forgotten,
        first.chance or last.chance,
        first.answer,
    )
