"""A group with members of several clients: one rebalance after the other, until it settles.

The leader's client decides. Each member sends the bytes of its own client (`subscription.py`), the leader reads them as
the leader's client does (`leaders_view.py`), and the leader's assignor answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright._check import counted, shown, unknown
from partwright.assignors.group_assignment import Options, assign_group
from partwright.assignors.members import INT32, Group, listed_members
from partwright.assignors.mixed.clients import answering_version, check_client, client_of, wire_names
from partwright.assignors.mixed.leaders_view import view_member
from partwright.assignors.mixed.subscription import Held, Pairs, StickyUserData, in_order, member_metadata
from partwright.assignors.names import short_name
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.assignment import Assignment, Chance
    from partwright.assignors.members import Member
    from partwright.assignors.mixed.leaders_view import Claim

_COOPERATIVE = "cooperative-sticky"
_STATEFUL = ("sticky", _COOPERATIVE)
_NO_OPTIONS = Options()
_MOST_ROUNDS = 100
_LONGEST_TEXT = 2**15 - 1
"""Kafka writes the length of a text in two bytes."""
# These clients put empty user data into an assignment; others put null.
_EMPTY_USER_DATA = {"kafka-python", "aiokafka", "kafkajs", "librdkafka"}


@dataclass(frozen=True)
class MixedMember:
    """A member, and what it will send when it joins.

    Attributes:
        id: Its member id.
        client: Its client.
        version: `@VERSION` of the client, or empty.
        held: What it knows.
        instance_id: Its `group.instance.id`, or None.
    """

    id: str
    client: str
    version: str
    held: Held
    instance_id: str | None

    @classmethod
    def of(cls, member: Member) -> MixedMember:
        """Read a member as `partwright.assign` takes one, with a `client`; `Group.of` has checked the rest.

        Raises:
            PartwrightError: The client is unknown.
        """
        fields: Mapping[str, Any] = member
        client, version = client_of(fields.get("client"), f"member {fields['id']!r}")
        owned, generation = fields.get("owned"), fields.get("generation")
        held = Held(
            tuple(fields["topics"]),
            None if owned is None else by_topic(owned),
            -1 if generation is None else generation,
            fields.get("rack"),
            None,
        )
        return cls(str(fields["id"]), client, version, held, fields.get("instance_id"))

    def as_client(self, client: str) -> MixedMember:
        """The same member with another client."""
        return replace(self, client=client, version="")


@dataclass(frozen=True)
class Rebalanced:
    """The result of one rebalance.

    Attributes:
        assignment: By member, its list of (topic, partition) in the order of the assignor's own list.
        left_out: The members that the leader could not read.
        forgotten: The members that own partitions without the leader knowing it.
        chance: Why this is one of several answers, if the leader's client chooses at random.
        answer: The assignment in columns, of the members that the leader could read.
    """

    assignment: dict[str, list[tuple[str, int]]]
    left_out: list[str]
    forgotten: list[str]
    chance: Chance | None
    answer: Assignment

    @property
    def readers(self) -> dict[tuple[str, int], str]:
        """The reader of each partition."""
        return {pair: member for member, pairs in self.assignment.items() for pair in pairs}


class LeaderRebalances(NamedTuple):
    """A group's rebalances under one leader, until nobody has to give up a partition.

    Attributes:
        first: The first rebalance.
        last: The last one.
        group: The group as it was before the last one.
        rounds: The number of rebalances; None if they never end.
    """

    first: Rebalanced
    last: Rebalanced
    group: Mixed
    rounds: int | None


@dataclass(frozen=True)
class Mixed:
    """A group between two rebalances.

    Attributes:
        topics: By name, how many partitions a topic has.
        members: The members in the order of the JoinGroup response.
        assignor: The wire name of the assignor that the coordinator chose.
        racks: By topic, for each of its partitions the racks of the replicas; None if no racks are known.
        options: The seed of a client's random choices, and whether franz-go's balancers have `BalanceRacks`.
    """

    topics: Mapping[str, int]
    members: tuple[MixedMember, ...]
    assignor: str
    racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None
    options: Options = _NO_OPTIONS

    @classmethod
    def of(
        cls,
        topics: Mapping[str, int],
        members: Iterable[Member | str],
        racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
        *,
        seed: int = 0,
        balance_racks: bool = False,
    ) -> Mixed:
        """Check a group as a caller passes it; its assignor is named later, by `under`.

        Raises:
            PartwrightError: A member or an option is invalid, or the group has no members.
        """
        members = listed_members(members, topics)
        # `Group.of` checks all fields, and explains what is wrong.
        Group.of(topics, members, racks)
        mixed = tuple(MixedMember.of(member) for member in members)
        if not mixed:
            raise PartwrightError("a group without members has no leader")
        for member in mixed:
            owned = (topic for topic, _ in member.held.owned or ())
            for text in (*member.held.topics, *owned, member.held.rack or ""):
                _check_text(member.id, text)
        return cls(topics, mixed, "", racks, Options.checked(seed, balance_racks=balance_racks))

    def under(self, assignor: str) -> Mixed:
        """The same group of another assignor."""
        return replace(self, assignor=assignor)

    def led_by(self, leader: str) -> Mixed:
        """The same group with an assignment by a leader of that client, whose user data sarama's members echo."""
        members = (
            member if member.held.owned is None else replace(member, held=echoing(member.held, leader))
            for member in self.members
        )
        return replace(self, members=tuple(members))

    @property
    def subscribed_partitions(self) -> int:
        """How many partitions the topics with a subscriber have."""
        subscribed = {topic for member in self.members for topic in member.held.topics}
        return sum(self.topics.get(topic, 0) for topic in subscribed)

    def rebalance(self, leader: str, version: str = "", leading: str | None = None) -> Rebalanced:
        """One rebalance under a leader of a client.

        Args:
            leader: The leader's client.
            version: `@VERSION` of it, or nothing.
            leading: The leader's id; by default the first member's.

        Raises:
            PartwrightError: The leader fails.
        """
        seen, no_racks, left_out, forgotten = [], [], [], []
        # A kafkajs leader assigns only its own topics, and its assignor takes the first member for the leader.
        for member in sorted(self.members, key=lambda each: leader == "kafkajs" and each.id != leading):
            metadata = member_metadata(member.client, self.assignor, member.held, member.version)
            view = view_member(leader, self.assignor, member.id, metadata, version)
            if view is None:
                left_out.append(member.id)
                continue
            fields: dict[str, object] = {"id": member.id, "topics": list(view.topics), "rack": view.rack}
            if leader == "kafka-go":
                fields["rack"] = view.user_data.decode(errors="replace") or None
            if member.instance_id is not None:
                fields["instance_id"] = member.instance_id
            if member.held.owned and not self._believes(leader + version, view.claim):
                forgotten.append(member.id)
            if view.claim is not None:
                fields["owned"] = [(topic, each) for topic, numbers in view.claim.owned for each in numbers]
                fields["generation"] = view.claim.generation
            seen.append(fields)
            no_racks.append(view.no_rack)
        answering = answering_version(leader, self.assignor, version) or ""
        name = self.assignor if leader == "java" else f"{leader}:{self.assignor}{answering}"
        options = self.options._replace(as_read=True)
        if leader != "franz-go":
            options = options._replace(balance_racks=False)
        group = Group.of(self.topics, seen, self.racks, no_racks=no_racks)
        answer = assign_group(group, name, None, options)
        nothing: dict[str, list[tuple[str, int]]] = {member.id: [] for member in self.members}
        return Rebalanced(nothing | answer.to_dict(), left_out, forgotten, answer.chance, answer)

    def settle(self, leader: str, version: str = "", leading: str | None = None) -> LeaderRebalances:
        """All rebalances under a leader of a client, until the group settles.

        Args:
            leader: See `rebalance`.
            version: See `rebalance`.
            leading: See `rebalance`.

        Raises:
            PartwrightError: The leader fails.
        """
        now, rounds = self, 1
        first = last = self.rebalance(leader, version, leading)
        while now.must_revoke(last):
            if rounds == _MOST_ROUNDS:
                return LeaderRebalances(first, last, now, None)
            now = now.after(last, leader)
            last = now.rebalance(leader, version, leading)
            rounds += 1
        return LeaderRebalances(first, last, now, rounds)

    def _believes(self, leader: str, claim: Claim | None) -> bool:
        """Whether a leader knows which partitions a member owns, if its assignor asks for them at all."""
        if self.assignor not in _STATEFUL:
            return True
        if claim is None or not claim.owned or leader == "librdkafka@1.6":
            return False
        return not (leader.startswith("franz-go") and claim.generation < 0)

    def after(self, rebalanced: Rebalanced, leader: str) -> Mixed:
        """The group when each member has its new partitions and joins again."""
        # By then all members have the same generation, so the newest one also counts for members that are behind.
        generation = min(max((member.held.generation for member in self.members), default=-1) + 1, INT32 - 1)
        members = []
        for member in self.members:
            pairs = rebalanced.assignment[member.id]
            if leader == "sarama" and member.client == "sarama" and not pairs:
                # sarama's leader sends nothing to a member without partitions, so that member keeps its earlier user
                # data.
                held = member.held._replace(owned=())
            else:
                held = member.held._replace(owned=by_topic(pairs), generation=max(generation, 1))
                held = echoing(held, leader)
            members.append(replace(member, held=held))
        return replace(self, members=tuple(members))

    def must_revoke(self, rebalanced: Rebalanced) -> bool:
        """Whether a member has to give up a partition and joins again, as members of cooperative groups do."""
        if self.assignor != _COOPERATIVE:
            return False
        return any(not member.held.pairs <= set(rebalanced.assignment[member.id]) for member in self.members)

    @property
    def owners(self) -> dict[tuple[str, int], str]:
        """The owner of each partition."""
        return {pair: member.id for member in self.members for pair in member.held.pairs}


def echoing(held: Held, leader: str) -> Held:
    """The member's state with the user data that this leader puts into an assignment, which sarama's members echo."""
    if leader == "sarama":
        return held._replace(echo=StickyUserData(in_order(held.owned), held.generation).to_bytes())
    return held._replace(echo=b"" if leader in _EMPTY_USER_DATA else None)


def by_topic(pairs: Mapping[str, Iterable[int]] | Iterable[tuple[str, int]]) -> Pairs:
    """Partitions by topic, both in the order of their first occurrence."""
    if isinstance(pairs, Mapping):
        return tuple((topic, tuple(numbers)) for topic, numbers in pairs.items())
    lists: dict[str, list[int]] = {}
    for topic, partition in pairs:
        lists.setdefault(topic, []).append(partition)
    return by_topic(lists)


def wire_name(assignor: object, members: Iterable[MixedMember]) -> str:
    """The name under which members offer an assignor, if each member's client has it.

    Raises:
        PartwrightError: No client has it, or a member's client lacks it, at all or in that version.

    Examples:
        >>> wire_name("org.apache.kafka.clients.consumer.RangeAssignor", ())
        'range'
    """
    name = short_name(assignor)
    known = wire_names()
    if not isinstance(name, str) or name not in known:
        raise unknown(assignor, "assignor", known, "any client")
    for member in members:
        check_client(f"member {member.id!r}", member.client, member.version, name)
    return name


def _check_text(member: str, text: str) -> None:
    try:
        length = len(text.encode())
    except UnicodeEncodeError:
        raise PartwrightError(
            f"member {member!r}: {shown(text)} is not UTF-8, as every name in Kafka is", value=text
        ) from None
    if length > _LONGEST_TEXT:
        raise PartwrightError(
            f"member {member!r}: {shown(text)} has {counted(length, 'byte')}, and a text in Kafka has {_LONGEST_TEXT} "
            "at most",
            value=text,
        )
