"""Roll a group from its clients to another one, member by member: what each step costs, and which order is safe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from partwright import _core
from partwright._check import Json
from partwright.answer import Answers
from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, client_of
from partwright.assignors.mixed.group import Mixed, MixedMember, wire_name
from partwright.assignors.strategy_setting import select_protocol
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.members import Member


class RollStep(NamedTuple):
    """One member is stopped, and one of the new client is started in its place.

    Attributes:
        replaced: The member that is stopped.
        leader: The member that leads when the new one has joined.
        assignor: Whose assignor answers then.
        error: Why nobody gets an assignment; None if there is one. Otherwise all that follows is empty or 0.
        rebalances: How many there are until the group settles; None if it never does.
        moved: How many partitions of the members that stay have another reader afterwards.
        unread: How many partitions nobody reads afterwards.
        left_out: The members whose subscription the leader cannot read: they get nothing.
        forgotten: The members that own partitions without the leader knowing it.
    """

    replaced: str
    leader: str
    assignor: str
    error: str | None
    rebalances: int | None = 0
    moved: int = 0
    unread: int = 0
    left_out: Sequence[str] = ()
    forgotten: Sequence[str] = ()

    @property
    def is_safe(self) -> bool:
        """Whether the group settles and all partitions are read afterwards."""
        return self.error is None and self.rebalances is not None and not self.unread and not self.left_out


@dataclass(frozen=True)
class Roll:
    """A group's members replaced in one order.

    Attributes:
        order: `leader last` or `leader first`.
        steps: One for each member.
    """

    order: str
    steps: list[RollStep]

    @property
    def unsafe(self) -> int:
        """How many steps are not safe."""
        return sum(not step.is_safe for step in self.steps)

    @property
    def moved(self) -> int:
        """How many partitions of members that stay change their reader, over all steps."""
        return sum(step.moved for step in self.steps)

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        steps = [
            {**step._asdict(), "left_out": list(step.left_out), "forgotten": list(step.forgotten)}
            for step in self.steps
        ]
        return {"order": self.order, "unsafe_steps": self.unsafe, "moved": self.moved, "steps": steps}


@dataclass(frozen=True)
class Rolls(Answers[Roll]):
    """A group's members replaced in each order; the main table has a row for each order.

    Attributes:
        parts: The orders, the better one first.
        to: The new client, as it was given.
        assumed: What was assumed about the group, a sentence each.
    """

    DOCUMENT = "assign_clients"
    ROWS = "orders"

    parts: tuple[Roll, ...]
    to: str
    assumed: tuple[str, ...] = ()

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        return {"to": self.to, "orders": [each.to_dict() for each in self.parts]}


def roll(
    topics: Mapping[str, int],
    members: Iterable[Member | str],
    to: str,
    assignor: str | None = None,
    *,
    racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
    seed: int = 0,
    balance_racks: bool = False,
) -> Rolls:
    """Calculate what it costs to replace a group's members, one by one, with members of another client.

    Each step stops a member, which leaves the group, and starts one of the new client, which joins it. The first member
    is the first leader. When the leader leaves, the next one is the first in the coordinator's map of the members. A
    new member's ID is the old one with the client's name appended, so that the order of IDs stays. The group settles
    before each step.

    Args:
        topics: By name, how many partitions a topic has.
        members: The members as `partwright.assignors.mixed.group_leaders.leaders` takes them.
        to: The new client, with `@VERSION` if an answer depends on it.
        assignor: The wire name of the assignor that all have, or None: it is chosen from the clients' default lists.
        racks: By topic, for each of its partitions the racks of the replicas.
        seed: The seed of a client's random choices.
        balance_racks: Whether franz-go's balancers have `BalanceRacks`.

    Returns:
        The two orders, the better one first: with fewer steps that are not safe, then with fewer partitions moved.

    Raises:
        PartwrightError: The group is invalid, a client or an assignor does not exist, a client lacks it, or the clients
            have no assignor in common.

    Examples:
        >>> members = [{"id": f"c{i}", "topics": ["t"], "client": "java"} for i in range(3)]
        >>> for each in roll({"t": 12}, members, "sarama", "roundrobin"):
        ...     print(each.order, [step.moved for step in each.steps])
        leader last [0, 0, 7]
        leader first [0, 7, 0]
    """
    group = Mixed.of(topics, members, racks, seed=seed, balance_racks=balance_racks)
    client, version = client_of(to, "the roll")
    new = tuple(replace(member.as_client(client), version=version) for member in group.members)
    if assignor is None:
        old = {member.id: DEFAULT_ASSIGNORS[member.client] for member in group.members}
        assignor = select_protocol({**old, f"the new {client}": DEFAULT_ASSIGNORS[client]})
    group = group.under(wire_name(assignor, (*group.members, *new))).led_by(group.members[0].client)
    first = [member.id for member in group.members]
    orders = {"leader last": [*first[1:], first[0]], "leader first": first}
    rolls = [Roll(name, _steps(group, order, client + version)) for name, order in orders.items()]
    return Rolls(tuple(sorted(rolls, key=lambda each: (each.unsafe, each.moved))), to)


def _steps(group: Mixed, order: Sequence[str], to: str) -> list[RollStep]:
    leader = group.members[0]
    try:
        # Members may not own all their partitions yet.
        settlement = group.settle(leader.client, leader.version, leader.id)
        group = settlement.group.after(settlement.last, leader.client)
    except PartwrightError:
        # A group that cannot rebalance stays as it is; the first step reports the same error, if it still holds.
        pass
    steps = []
    for replaced in order:
        step, group, leader = _step(group, replaced, leader, to)
        steps.append(step)
    return steps


def _step(group: Mixed, replaced: str, leader: MixedMember, to: str) -> tuple[RollStep, Mixed, MixedMember]:
    old = next(member for member in group.members if member.id == replaced)
    stay = tuple(member for member in group.members if member is not old)
    new = _joining(old, to, {member.id for member in stay})
    if leader.id == replaced:
        names = [member.id for member in stay]
        leader = stay[_core.walk_names(names)[0]] if stay else new
    owners = {pair: member.id for member in stay for pair in member.held.pairs}
    name = f"{leader.client}:{group.assignor}{leader.version}"
    forgotten: dict[str, None] = {}
    rebalances: int | None = 0
    now, left_out, unread = replace(group, members=stay), [], 0
    try:
        for members in (stay, (*stay, new)):
            if not members:
                continue
            known = {member.id: member for member in now.members}
            now = replace(now, members=tuple(known.get(member.id, member) for member in members))
            settlement = now.settle(leader.client, leader.version, leader.id)
            now = settlement.group.after(settlement.last, leader.client)
            more = settlement.rounds
            rebalances = None if rebalances is None or more is None else rebalances + more
            forgotten |= dict.fromkeys(settlement.first.forgotten)
            left_out, unread = settlement.first.left_out, now.subscribed_partitions - len(now.owners)
    except PartwrightError as error:
        stopped = replace(group, members=(*stay, new))
        return RollStep(replaced, leader.id, name, str(error)), stopped, _same(leader, stopped)
    readers = now.owners
    moved = sum(readers.get(pair) != owner for pair, owner in owners.items())
    step = RollStep(replaced, leader.id, name, None, rebalances, moved, unread, left_out, list(forgotten))
    return step, now, _same(leader, now)


def _joining(old: MixedMember, to: str, taken: set[str]) -> MixedMember:
    """The member that replaces another one: it reads the same topics, and owns nothing yet."""
    client, version = client_of(to, "the roll")
    held = old.held._replace(owned=None, generation=-1, echo=None)
    name = f"{old.id}-{client}"
    while name in taken:
        name += "-new"
    return replace(old, id=name, client=client, version=version, held=held)


def _same(leader: MixedMember, group: Mixed) -> MixedMember:
    return next(member for member in group.members if member.id == leader.id)
