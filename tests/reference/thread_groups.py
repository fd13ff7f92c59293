"""Random groups of the consumers before Kafka 0.11, whose assignors go by thread: see `groups.py`.

They own nothing, so that a story is a few groups alike. `old-roundrobin` is asked about groups that meet its
conditions: as many streams and the same topics for every member.
"""

from __future__ import annotations

import random
from typing import Any

ASSIGNORS = ("old-range", "old-roundrobin")
LETTERS = ("\u00e9", "\uff45", "\U0001f600", "!", "-", "z", "")


class ThreadStory:
    """One group and what happens to it; `group` is the question of the present round."""

    def __init__(self, seed: str, assignor: str) -> None:
        """Draws topics and members; `seed` names the story."""
        self.random = random.Random(seed)
        self.assignor = assignor
        self.made = 0
        self.naming = self.random.choice(["plain", "host", "letters", "threads"])
        self.streams = self.random.randint(1, 12)
        self.alike = assignor == "old-roundrobin" or self.random.random() < 0.5
        most = self.random.choice([2, 4, 9])
        self.topics = {
            f"{self.random.choice(['T', 'orders', 'a.b_c', 'Clicks-'])}{number}": self._partitions(most)
            for number in range(self.random.randint(1, most))
        }
        self.subscribed = self._subscription()
        self.members = [self._member() for _ in range(self.random.randint(1, most))]

    @property
    def group(self) -> dict[str, Any]:
        """The question, in the format of `partwright assign`."""
        return {"assignor": self.assignor, "topics": dict(self.topics), "members": list(self.members)}

    def go_on(self, _assignment: dict[str, list[list[Any]]]) -> None:
        """Lets something happen."""
        for name in self.random.sample(list(self.topics), self.random.randint(0, len(self.topics))):
            self.topics[name] = self._partitions(self.random.choice([2, 20]))
        if len(self.members) > 1 and self.random.random() < 0.6:
            self.members.pop(self.random.randrange(len(self.members)))
        for _ in range(self.random.randint(0, 3)):
            self.members.insert(self.random.randint(0, len(self.members)), self._member())

    def _partitions(self, most: int) -> int:
        return 0 if self.random.random() < 0.05 else self.random.randint(1, 6 * most)

    def _subscription(self) -> list[str]:
        topics = self.random.sample(list(self.topics), self.random.randint(0, len(self.topics)))
        missing = ["missing"] if self.random.random() < 0.1 else []
        return topics + missing + (topics[:1] if self.random.random() < 0.1 else [])

    def _member(self) -> dict[str, Any]:
        self.made += 1
        number = self.made
        topics = self.subscribed if self.alike else self._subscription()
        if self.naming == "threads":
            return {"id": f"C{number}-0", "topics": topics}
        name = {
            "plain": f"C{number}",
            "host": f"group_host{number % 3}-{self.random.getrandbits(40)}-{self.random.getrandbits(32):08x}",
            "letters": f"{self.random.choice(LETTERS)}{number}{self.random.choice(LETTERS)}",
        }[self.naming]
        streams = self.streams if self.assignor == "old-roundrobin" else self.random.randint(1, 12)
        return {"id": name, "topics": topics, "streams": streams}
