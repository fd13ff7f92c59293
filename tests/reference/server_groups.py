"""Random groups for the broker's own assignors: the stories of `groups.py`, with the details that matter only to them.

Topics have IDs, often with one hash code or in one bin; members own dozens of partitions, so that the order of Java's
set of them matters; topics are deleted while members still own partitions of them.
"""

from __future__ import annotations

import base64
from typing import Any

from groups import Story

__all__ = ["ASSIGNORS", "FewStory", "ServerStory"]

ASSIGNORS = ("server-uniform", "server-range", "server-simple")
TREE = 8
"""So many keys in one bin of Java's map become a tree. Where they have one hash code and no order of their own, as
`TopicIdPartition` has none, Java sorts them by where they lie in memory, which is another order on another day."""


class ServerStory(Story):
    """One of the broker's groups, and its events."""

    def __init__(self, seed: str, assignor: str) -> None:
        """Draws topics and members as for a client, then their ids."""
        super().__init__(seed, assignor)
        self.replicas = {}
        for member in self.members:
            member.pop("rack", None)
            member.pop("generation", None)
        if self._happens(0.3):
            times = self.random.choice([3, 5, 10])
            self.topics = {name: times * count for name, count in self.topics.items()}
        if self._happens(0.1):
            # More than the twelve that Java's first table holds.
            self.topics |= {
                f"m{number}": self.random.randint(1, 3) for number in range(self.random.randint(10, 28))
            }
            self._regroup()
        self.ids = self.random.choice(["none", "none", "any", "some", "colliding", "one-bin"])
        self._keep_off_trees()
        self.code = self.random.getrandbits(32)
        self.topic_ids: dict[str, str] = {}

    @property
    def group(self) -> dict[str, Any]:
        """The question, in the format of `partwright assign`."""
        question = super().group
        for name in self.topics:
            if (
                name not in self.topic_ids
                and self.ids != "none"
                and (self.ids != "some" or self._happens(0.5))
            ):
                self.topic_ids[name] = self._id()
        if self.topic_ids:
            question["topic_ids"] = dict(self.topic_ids)
        return question

    def go_on(self, assignment: dict[str, list[list[Any]]]) -> None:
        """Lets the members own what they got, in any order, and lets something happen."""
        super().go_on(assignment)
        if self._happens(0.1) and len(self.topics) > 1:
            del self.topics[self.random.choice(list(self.topics))]
        for member in self.members:
            member.pop("generation", None)
            member.pop("rack", None)
            owned = member.get("owned")
            if owned and self._happens(0.4):
                owned = list(owned)
                self.random.shuffle(owned)
                member["owned"] = owned

    def _keep_off_trees(self) -> None:
        many = self.assignor == "server-simple" and len(self.topics) >= TREE
        if many and self.ids in {"colliding", "one-bin"}:
            self.ids = "any"

    def _id(self) -> str:
        most, lower = self.random.getrandbits(64), self.random.getrandbits(32)
        code = self.code
        if self.ids == "one-bin":
            code = code & 0xFFFF | self.random.getrandbits(8) << 24
        elif self.ids != "colliding":
            code = self.random.getrandbits(32)
        # The hash code depends on the two longs' exclusive or, folded from 64 to 32 bits.
        least = most ^ ((lower ^ code) << 32 | lower)
        return base64.urlsafe_b64encode((most << 64 | least).to_bytes(16, "big")).decode().rstrip("=")


class FewStory(ServerStory):
    """A group with many topics, whose members have one of a few subscriptions in turn."""

    def __init__(self, seed: str, assignor: str) -> None:
        """Draws as before, and then new topics and subscriptions."""
        super().__init__(seed, assignor)
        self.shape = "equal"
        self.topics = {
            f"t{number:02}": self.random.randint(1, 4) for number in range(self.random.randint(30, 80))
        }
        self._keep_off_trees()
        names = list(self.topics)
        ends = [
            sorted(self.random.choices(range(len(names) + 1), k=2)) for _ in range(self.random.randint(1, 3))
        ]
        self.members += [self._member() for _ in range(self.random.randint(10, 40))]
        for member in self.members:
            start, stop = self.random.choice(ends)
            member.pop("owned", None)
            member.pop("rack", None)
            member.pop("generation", None)
            member["topics"] = names[start:stop]
