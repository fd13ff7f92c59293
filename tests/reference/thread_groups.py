"""Random groups of the consumers before Kafka 0.11, whose assignors go by thread: see `groups.py`.

They own nothing, so a story is a few similar groups. `old-roundrobin` is asked only about groups that meet its
conditions: as many streams for every topic, and as many streams and the same topics for every member.

It is also asked about topics with one hash code. Partitions whose texts have one hash code come in the order of Scala's
maps, which grow with their thirteenth topic: such groups have more topics than that.
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
        self.colliding = assignor == "old-roundrobin" and self.random.random() < 0.4
        if self.colliding:
            self.topics = {name: self._partitions(1) for name in self._colliding_names()}
        else:
            self.topics = {
                f"{self.random.choice(['T', 'orders', 'a.b_c', 'Clicks-'])}{number}": self._partitions(most)
                for number in range(self.random.randint(1, most))
            }
        self.by_topic = self.random.random() < 0.3
        self.subscribed = self._subscription()
        self.members = [self._member() for _ in range(self.random.randint(1, most))]

    @property
    def group(self) -> dict[str, Any]:
        """The question, in the format of `partwright assign`."""
        return {"assignor": self.assignor, "topics": dict(self.topics), "members": list(self.members)}

    def go_on(self, _assignment: dict[str, list[list[Any]]]) -> None:
        """Lets something happen."""
        for name in self.random.sample(list(self.topics), self.random.randint(0, len(self.topics))):
            self.topics[name] = self._partitions(1 if self.colliding else self.random.choice([2, 20]))
        if len(self.members) > 1 and self.random.random() < 0.6:
            self.members.pop(self.random.randrange(len(self.members)))
        for _ in range(self.random.randint(0, 3)):
            self.members.insert(self.random.randint(0, len(self.members)), self._member())

    def _colliding_names(self) -> list[str]:
        """Names with few hash codes: "Aa" and "BB" share one."""
        count = self.random.choice([3, 6, 14, 14, 20, 30])
        names = {
            "".join(self.random.choice(["Aa", "BB"]) for _ in range(self.random.choice([2, 3, 6])))
            + self.random.choice(["", "", "0"])
            for _ in range(2 * count)
        }
        return self.random.sample(sorted(names), min(count, len(names)))

    def _partitions(self, most: int) -> int:
        return 0 if self.random.random() < 0.05 else self.random.randint(1, 6 * most)

    def _subscription(self) -> list[str]:
        least = len(self.topics) - 2 if self.colliding else 0
        topics = self.random.sample(list(self.topics), self.random.randint(least, len(self.topics)))
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
        if not (topics and self.by_topic and self.random.random() < 0.7):
            return {"id": name, "topics": topics, "streams": streams}
        is_even = self.assignor == "old-roundrobin"
        by_topic = {topic: streams if is_even else self.random.randint(1, 6) for topic in topics}
        return {"id": name, "topics": topics, "streams": by_topic}
