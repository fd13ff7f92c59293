"""One group under a leader of each client, compared with Java's assignor of the same name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from partwright.answer import Answers
from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, assignors_of
from partwright.assignors.mixed.group import Mixed
from partwright.assignors.mixed.members import listed_members, mixed_members, wire_name
from partwright.assignors.options import Options
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partwright._check import Json
    from partwright.assignors.members import Member
    from partwright.assignors.mixed.group import Rebalanced

__all__ = ["ClientAnswer", "ClientAnswers", "by_client"]

_JAVA = "java"


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
        >>> found = by_client({"t": 12}, [{"id": f"c{i}", "topics": ["t"]} for i in range(5)], "roundrobin")
        >>> [(each.client, each.answer) for each in found][1:4]
        [('librdkafka', 'same'), ('sarama', 'other lists'), ('kafka-go', 'same')]
    """
    members = listed_members(members, topics)
    found = mixed_members(topics, members, racks)
    is_uniform = all(member.get("client") is None for member in members)
    assignor = wire_name(assignor, () if is_uniform else found)
    options = Options.checked(seed, balance_racks=balance_racks)
    # A group runs an assignor only if all members have it.
    common = set.intersection(*(set(assignors_of(member.client)) for member in found))
    answers = {
        client: {
            name: _answer(Mixed(topics, found, name, racks, options), client, is_uniform)
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
    java, own = answers[_JAVA], answers[client]
    agrees = [name for name, answer in own.items() if name in java and _same(answer, java[name])]
    found = own.get(assignor)
    base = java.get(assignor)
    error = str(found) if isinstance(found, PartwrightError) else None
    if found is None or isinstance(found, PartwrightError):
        answer = "has none" if found is None else "fails"
        return ClientAnswer(client, answer, error, None, 0, False, agrees, _SETTINGS[client])
    moved, answer = 0, "same"
    if not _same(found, base):
        answer = "other lists" if _sizes(found) == _sizes(base) else "other balance"
        moved = _apart(found, base)
    sizes = _sizes(found)
    return ClientAnswer(
        client,
        answer,
        None,
        (sizes[0], sizes[-1]),
        moved,
        found.chance is not None,
        agrees,
        _SETTINGS[client],
    )


def _same(found: Rebalanced | PartwrightError, other: Rebalanced | PartwrightError | None) -> bool:
    if isinstance(found, PartwrightError) or other is None or isinstance(other, PartwrightError):
        return False
    return _readers(found) == _readers(other)


def _readers(found: Rebalanced) -> dict[str, set[tuple[str, int]]]:
    return {member: set(pairs) for member, pairs in found.assignment.items()}


def _sizes(found: Rebalanced | PartwrightError | None) -> list[int]:
    if found is None or isinstance(found, PartwrightError):
        return []
    return sorted(len(pairs) for pairs in found.assignment.values())


def _apart(found: Rebalanced, other: Rebalanced | PartwrightError | None) -> int:
    if other is None or isinstance(other, PartwrightError):
        return 0
    theirs = other.readers
    return sum(theirs.get(pair) != member for member, pairs in found.assignment.items() for pair in pairs)
