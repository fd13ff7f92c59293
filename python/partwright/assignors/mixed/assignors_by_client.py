"""One group under a leader of each client, compared with Java's assignor of the same name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from partwright._check import Json
from partwright.answer import Answers
from partwright.assignors.members import listed_members
from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, assignors_of
from partwright.assignors.mixed.group import Mixed, wire_name
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.members import Member
    from partwright.assignors.mixed.group import Rebalanced

_Lists = dict[str, set[tuple[str, int]]]


@dataclass(frozen=True)
class ClientAnswer:
    """One client's answer for a group as its leader.

    Attributes:
        client: The client.
        answer: `same` as Java's, `other lists` (other members read the partitions, as evenly), `other balance` (members
            have other numbers of partitions), `fails`, or `has none` if the client has no such assignor.
        error: Why it fails; None otherwise.
        spread: The fewest and the most partitions that a member has; None without an answer.
        moved: How many partitions have another reader than Java gives them.
        chance: Whether the client decides some of it at random.
        agrees: The assignors, by wire name, for which the client gives this group the same answer as Java.
        setting: The setting that names the client's assignors.
    """

    client: str
    answer: str
    error: str | None
    spread: tuple[int, int] | None
    moved: int
    chance: bool
    agrees: list[str]
    setting: str

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        spread = None if self.spread is None else {"min": self.spread[0], "max": self.spread[1]}
        return self.__dict__ | {"spread": spread}


@dataclass(frozen=True)
class ClientAnswers(Answers[ClientAnswer]):
    """Each client's answer for one group as its leader.

    Attributes:
        parts: The answers, Java's first.
        assignor: The wire name of the assignor.
        assumed: What was assumed about the group, a sentence each.
    """

    DOCUMENT = "assign_clients"
    ROWS = "clients"

    parts: tuple[ClientAnswer, ...]
    assignor: str
    assumed: tuple[str, ...] = ()

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        return {"clients": [each.to_dict() for each in self.parts]}


_SETTINGS = {
    "java": "partition.assignment.strategy",
    "librdkafka": "partition.assignment.strategy",
    "sarama": "Consumer.Group.Rebalance.GroupStrategies",
    "kafka-go": "ReaderConfig.GroupBalancers",
    "franz-go": "kgo.Balancers",
    "kafkajs": "partitionAssigners",
    "kafka-python": "partition_assignment_strategy",
    "aiokafka": "partition_assignment_strategy",
}


def by_client(
    topics: Mapping[str, int],
    members: Iterable[Member | str],
    assignor: str,
    *,
    racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
    seed: int = 0,
    balance_racks: bool = False,
) -> ClientAnswers:
    """The answer of a leader of each client for a group.

    Args:
        topics: By name, how many partitions a topic has.
        members: The members as `partwright.assign` takes them, in the order of the JoinGroup response. If no member
            names its `client`, all are of the leader's.
        assignor: The wire name of the assignor.
        racks: By topic, for each of its partitions the racks of the replicas.
        seed: The seed of a client's random choices.
        balance_racks: Whether franz-go's balancers have `BalanceRacks`.

    Raises:
        PartwrightError: The group is invalid, no client has such an assignor, or a member's client lacks it.

    Examples:
        >>> answers = by_client({"t": 12}, [{"id": f"c{i}", "topics": ["t"]} for i in range(5)], "roundrobin")
        >>> [(each.client, each.answer) for each in answers][1:4]
        [('librdkafka', 'same'), ('sarama', 'other lists'), ('kafka-go', 'same')]
    """
    members = listed_members(members, topics)
    group = Mixed.of(topics, members, racks, seed=seed, balance_racks=balance_racks)
    is_uniform = all(member.get("client") is None for member in members)
    assignor = wire_name(assignor, () if is_uniform else group.members)
    # A group runs an assignor only if all members have it.
    common = set.intersection(*(set(assignors_of(member.client)) for member in group.members))
    answers = {
        client: {
            name: _answer(group.under(name), client, is_uniform)
            for name in assignors_of(client)
            if is_uniform or name in common
        }
        for client in DEFAULT_ASSIGNORS
    }
    return ClientAnswers(tuple(_compared(client, assignor, answers) for client in answers), assignor)


def _answer(group: Mixed, client: str, is_uniform: bool) -> Rebalanced | PartwrightError:
    if is_uniform:
        group = replace(group, members=tuple(member.as_client(client) for member in group.members))
    try:
        return group.led_by(client).rebalance(client)
    except PartwrightError as error:
        return error


def _compared(
    client: str, assignor: str, answers: Mapping[str, Mapping[str, Rebalanced | PartwrightError]]
) -> ClientAnswer:
    java, own = _lists(answers["java"]), _lists(answers[client])
    agrees = [name for name, lists in own.items() if lists == java.get(name)]
    answer, setting = answers[client].get(assignor), _SETTINGS[client]
    if answer is None or isinstance(answer, PartwrightError):
        kind, error = ("has none", None) if answer is None else ("fails", str(answer))
        return ClientAnswer(client, kind, error, None, 0, False, agrees, setting)
    lists, base = own[assignor], java.get(assignor)
    sizes = sorted(map(len, lists.values()))
    kind, moved = "same", 0
    if lists != base:
        is_as_even = base is not None and sizes == sorted(map(len, base.values()))
        kind = "other lists" if is_as_even else "other balance"
        moved = sum(len(pairs - base[member]) for member, pairs in lists.items()) if base else 0
    spread, has_chance = (sizes[0], sizes[-1]), answer.chance is not None
    return ClientAnswer(client, kind, None, spread, moved, has_chance, agrees, setting)


def _lists(answers: Mapping[str, Rebalanced | PartwrightError]) -> dict[str, _Lists]:
    """By assignor, each member's partitions; an assignor that fails is left out."""
    return {
        name: {member: set(pairs) for member, pairs in answer.assignment.items()}
        for name, answer in answers.items()
        if not isinstance(answer, PartwrightError)
    }
