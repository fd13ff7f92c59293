"""What each leader's client assigns in a play with members of several clients, and what that leader does not see.

The core plays the group, and asks here at each rebalance. What a member sends, what a leader reads of it and what its
assignor answers is said by `partwright.assignors.mixed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from partwright._check import Json
from partwright.assignors.mixed.clients import client_of
from partwright.assignors.mixed.group import Mixed, MixedMember, by_topic, echoing
from partwright.assignors.mixed.subscription import Held
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.mixed.subscription import Pairs

_STICKY, _SARAMA = "sticky", "sarama"
_NOBODY: Json = {"assignor": None, "left_out": [], "forgotten": [], "chance": False}
"""Where nobody has assigned: the group is empty, its leader has ended, or the broker kept what there was."""


class LeadersClient:
    """Answers for the leaders of one play.

    Args:
        members: The members' names.
        topics: The topics' names.

    Attributes:
        failures: Leaders that ended with an error of their client's: `at_ms`, `member` and `error`, a sentence.
    """

    def __init__(self, members: Sequence[str], topics: Sequence[str]) -> None:
        self._members, self._topics = members, list(topics)
        self._numbers = {name: number for number, name in enumerate(topics)}
        self._leaders: dict[int, str] = {}
        self._echoes: dict[str, bytes | None] = {}
        self._answers: dict[int, Json] = {}
        self.failures: list[Json] = []

    def __call__(self, question: Json) -> list[list[tuple[int, int]]] | None:
        """The partitions of each member, by the numbers of the topics; None if the leader's client fails.

        Args:
            question: The group as the answer of JoinGroup tells its leader of it.
        """
        members = tuple(self._member(each, question["assignor"]) for each in question["members"])
        names = {each["id"]: self._name(each) for each in question["members"]}
        leader = members[question["leader"]]
        group = Mixed(dict(question["topics"]), members, question["assignor"])
        try:
            rebalanced = group.rebalance(leader.client, leader.version, leader.id)
        except PartwrightError as error:
            self.failures.append(
                {"at_ms": question["at_ms"], "member": names[leader.id], "error": str(error)}
            )
            return None
        self._leaders[question["generation"]] = leader.client
        self._answers[question["generation"]] = {
            "assignor": f"{leader.client}:{question['assignor']}{leader.version}",
            "left_out": [names[member] for member in rebalanced.left_out],
            "forgotten": [names[member] for member in rebalanced.forgotten],
            "chance": rebalanced.chance is not None,
        }
        return [
            [(self._numbers[topic], partition) for topic, partition in rebalanced.assignment[member.id]]
            for member in members
        ]

    def answer_of(self, generation: int) -> Json:
        """What a generation's leader answered with, and what it did not see."""
        return self._answers.get(generation, _NOBODY)

    def _name(self, member: Json) -> str:
        number = member["member"]
        return str(member["id"]) if number is None else self._members[number]

    def _member(self, fields: Json, assignor: str) -> MixedMember:
        client, version = client_of(fields["client"], "a member")
        remembered: list[tuple[int, int]]
        remembered, of = fields["remembers"] or ([], -1)
        owned, generation = (
            (remembered, of)
            if assignor == _STICKY
            else (_as_listed(fields["owned"], remembered), fields["generation"])
        )
        held = Held(
            tuple(self._topics[number] for number in fields["topics"]),
            self._by_topic(owned) if generation >= 0 else None,
            generation,
            None,
            None,
        )
        if client == _SARAMA:
            held = held._replace(echo=self._echo(fields["id"], self._by_topic(remembered), of))
        return MixedMember(fields["id"], client, version, held, fields["instance_id"])

    def _echo(self, member: str, partitions: Pairs, generation: int) -> bytes | None:
        """The user data that a member of sarama's was sent with its last assignment."""
        leader = self._leaders.get(generation)
        if leader is None:
            return None
        if partitions or leader != _SARAMA:
            # A leader of sarama's sends nothing to whom it gives nothing: that member keeps what it had.
            held = Held((), partitions, generation, None, None)
            self._echoes[member] = echoing(held, leader).echo
        return self._echoes.get(member)

    def _by_topic(self, places: Sequence[tuple[int, int]]) -> Pairs:
        return by_topic((self._topics[topic], partition) for topic, partition in places)


def _as_listed(owned: Sequence[tuple[int, int]], listed: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What a member owns in the order in which it was given it; what was not in that list comes last.

    >>> _as_listed([(0, 1), (0, 2), (1, 0)], [(1, 0), (0, 2), (0, 5)])
    [(1, 0), (0, 2), (0, 1)]
    """
    places = {place: at for at, place in enumerate(listed)}
    return sorted(owned, key=lambda place: (places.get(place, len(places)), place))
