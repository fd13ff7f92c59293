"""A group from round to round; each answer must meet what Kafka's own tests of its sticky assignors demand."""

from __future__ import annotations

from itertools import chain, permutations
from typing import Any, TypeAlias

import pytest

import partwright as pw

Pairs: TypeAlias = list[tuple[str, int]]
ROUNDS = 4
"""A cooperative group must be settled after this many rounds more."""


def pairs(text: str) -> Pairs:
    return [(topic, int(number)) for topic, number in (each.rsplit("-", 1) for each in text.split())]


def texts(found: dict[str, Pairs]) -> dict[str, str]:
    return {
        name: " ".join(f"{topic}-{partition}" for topic, partition in given) for name, given in found.items()
    }


def is_valid_and_balanced(
    topics: dict[str, int], members: dict[str, dict[str, Any]], found: dict[str, Pairs]
) -> bool:
    """Whether each partition is read once, by a subscriber, and no other subscriber has two partitions less."""
    given = list(chain.from_iterable(found.values()))
    named = {topic for member in members.values() for topic in member["topics"]}
    if sorted(given) != sorted((topic, at) for topic in named for at in range(topics.get(topic, 0))):
        return False
    read = {name: {topic for topic, _ in lists} for name, lists in found.items()}
    if found.keys() != members.keys() or any(read[name] - {*members[name]["topics"]} for name in found):
        return False
    return not any(
        len(found[more]) - len(found[fewer]) > 1 and read[more] & {*members[fewer]["topics"]}
        for more, fewer in permutations(found, 2)
    )


class Story:
    """Members join, leave and keep what they got; `round` assigns.

    Attributes:
        topics: How many partitions each topic has.
        first: The round's first answer. `round` returns the answer with which a cooperative group has settled.
        withheld: The partitions that the first answer gave to nobody, because they still have to be revoked.
    """

    def __init__(self, assignor: str, broker_racks: str, member_racks: str) -> None:
        self.assignor = assignor
        self.topics: dict[str, int] = {}
        self.members: dict[str, dict[str, Any]] = {}
        self.first: dict[str, str] = {}
        self.withheld: set[str] = set()
        self._broker_racks, self._member_racks = broker_racks, member_racks
        self._found: dict[str, Pairs] = {}

    def joins(self, name: str, topics: str, owned: str = "", generation: int | None = None) -> None:
        member = {"id": name, "topics": topics.split(), "owned": pairs(owned), "generation": generation}
        if self._member_racks:
            # A member keeps its rack however often it joins.
            member["rack"] = self._member_racks[sum(map(ord, name)) % len(self._member_racks)]
        self.members[name] = member

    def leaves(self, *names: str) -> None:
        for name in names:
            del self.members[name]

    def keep(self, generation: int = 1) -> None:
        """All members own what they got last."""
        for name in self.members.keys() & self._found.keys():
            self.members[name] |= {"owned": self._found[name], "generation": generation}

    def round(self) -> dict[str, str]:
        found = self._found = self._answer()
        self.first = texts(found)
        named = {topic for member in self.members.values() for topic in member["topics"]}
        every = {f"{topic}-{at}" for topic in named for at in range(self.topics.get(topic, 0))}
        self.withheld = every - {pair for given in self.first.values() for pair in given.split()}
        if self.assignor == "cooperative-sticky":
            again = 0
            while self._revokes():
                again += 1
                assert again <= ROUNDS
                self.keep()
                found = self._found = self._answer()
        assert is_valid_and_balanced(self.topics, self.members, found), found
        return texts(found)

    def is_level(self) -> bool:
        """Whether no member has two partitions more than another."""
        sizes = [len(given) for given in self._found.values()]
        return max(sizes) - min(sizes) <= 1

    def swaps(self) -> set[tuple[str, str, str]]:
        """The pairs of members that gave each other a partition of one topic since they last kept theirs."""
        owners = {pair: name for name, member in self.members.items() for pair in member["owned"]}
        moves = {
            (topic, owners[topic, at], name)
            for name, given in self._found.items()
            for topic, at in given
            if owners.get((topic, at), name) != name
        }
        return {(topic, one, other) for topic, one, other in moves if (topic, other, one) in moves}

    def _revokes(self) -> bool:
        """Whether members lose something; a lost partition must not go to another member at once."""
        owned = {name: {*member["owned"]} for name, member in self.members.items()}
        revoked = set().union(*(owned[name] - {*given} for name, given in self._found.items()))
        added = set().union(*({*given} - owned[name] for name, given in self._found.items()))
        assert not revoked & added
        return bool(revoked)

    def _answer(self) -> dict[str, Pairs]:
        brokers: list[str | None] = [*self._broker_racks] or [None] * 3
        racks = {
            topic: [[brokers[(at + copy + place) % 3] for copy in range(3)] for at in range(count)]
            for place, (topic, count) in enumerate(self.topics.items())
        }
        return pw.assign(self.topics, self.members.values(), self.assignor, racks=racks).to_dict()


@pytest.fixture(params=["sticky", "cooperative-sticky"])
def assignor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Each replica set is in all racks, so racks are known but decide nothing.
@pytest.fixture(
    params=[("", "abcde"), ("abc", ""), ("abc", "abc")],
    ids=["no broker racks", "no member racks", "racks"],
)
def story(request: pytest.FixtureRequest, assignor: str) -> Story:
    return Story(assignor, *request.param)
