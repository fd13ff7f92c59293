"""Random consumer groups over several rounds: what a group may look like when its assignor is asked.

A group's story starts with topics, members and subscriptions, and continues from an assignor's answer: members
join, leave, crash and come back with claims of an old generation, two claim the same partition, topics grow. Everything
depends only on the seed.
"""

from __future__ import annotations

import random
from typing import Any

ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
RACKS = ("a", "b", "c", "rack-1")
ODD_LETTERS = ("\u00e9", "\uff45", "\U0001f600", "\uff5e", "z", "")
"""As UTF-8 the face comes last, as UTF-16, by which Java sorts, before the two wide letters."""
SMALL, MEDIUM = 0.75, 0.97


class Story:
    """One group and what happens to it; `group` is the question of the present round."""

    def __init__(self, seed: str, assignor: str) -> None:
        """Draws topics and members; `seed` names the story."""
        self.random = random.Random(seed)
        self.assignor = assignor
        self.generation = self.random.choice([-1, 1, 5])
        self.made = 0
        self.naming = self.random.choice(["plain", "plain", "client", "unicode", "colliding"])
        self.shape = self.random.choice(
            ["equal", "equal", "shuffled", "subsets", "subsets", "one-odd", "split"]
        )
        self.racked = self.random.random() < 0.35
        self.static = self.random.random() < 0.25
        size = self.random.random()
        most = 4 if size < SMALL else 12 if size < MEDIUM else 40
        self.topics = {
            name: self._partitions(most) for name in self._topic_names(self.random.randint(1, most))
        }
        self.replicas = (
            {name: self._replicas(count) for name, count in self.topics.items()} if self.racked else {}
        )
        self.members = [self._member() for _ in range(self.random.randint(1, 2 * most))]
        self.gone: list[dict[str, Any]] = []
        if self._happens(0.2):
            self._claim_at_random()

    @property
    def group(self) -> dict[str, Any]:
        """The question, in the format of `partwright assign`."""
        question: dict[str, Any] = {"assignor": self.assignor, "topics": dict(self.topics)}
        if self.replicas:
            question["racks"] = dict(self.replicas)
        question["members"] = [dict(member) for member in self.members]
        return question

    def go_on(self, assignment: dict[str, list[list[Any]]]) -> None:
        """Lets the members own what they got, and lets something happen."""
        self.generation = max(1, self.generation + 1)
        for member in self.members:
            if self._happens(0.97):
                member["owned"] = assignment[member["id"]]
                member["generation"] = self.generation
        for likely, event in [
            (0.4, self._leave), (0.5, self._join), (0.25, self._return), (0.15, self._claim_twice),
            (0.2, self._grow), (0.05, self._shrink), (0.15, self._subscribe_anew), (0.1, self._forget),
            (0.1, self._lose_generation), (0.3, self._shuffle), (0.05, self._claim_at_random), (0.1, self._regroup),
        ]:  # fmt: skip
            if self._happens(likely):
                event()
        if not self.members:
            self._join()

    def _happens(self, likely: float) -> bool:
        return self.random.random() < likely

    def _partitions(self, most: int) -> int:
        return 0 if self._happens(0.03) else self.random.randint(1, 3 * most)

    def _replicas(self, count: int) -> list[list[str | None]]:
        if self._happens(0.1):
            return [[] for _ in range(count)]
        known: list[str | None] = list(RACKS[: self.random.randint(1, 4)])
        if self._happens(0.1):
            known.append(None)
        factor = self.random.randint(1, min(3, len(known)))
        return [self.random.sample(known, factor) for _ in range(count)]

    def _topic_names(self, count: int) -> list[str]:
        names = self.random.choice(
            [
                [f"t{number}" for number in range(count)],
                [f"topic-{number:03}" for number in range(count)],
                [_colliding("t", number) for number in range(count)],
                [
                    f"{self.random.choice(['orders', 'Clicks', 'a.b_c', 'x'])}{number}"
                    for number in range(count)
                ],
            ]
        )
        self.random.shuffle(names)
        return names

    def _member(self) -> dict[str, Any]:
        self.made += 1
        number = self.made
        name = {
            "plain": f"c{number}",
            "client": f"consumer-{number}-{self.random.getrandbits(64):016x}",
            "unicode": f"{self.random.choice(ODD_LETTERS)}{number}",
            "colliding": _colliding("", number),
        }[self.naming]
        member: dict[str, Any] = {"id": name, "topics": self._subscription(number)}
        if self.static and self._happens(0.7):
            member["instance_id"] = f"i{self.random.randint(0, 20)}"
        if self.racked and self._happens(0.8):
            member["rack"] = "" if self._happens(0.05) else self.random.choice(RACKS)
        if self._happens(0.1):
            member["owned"] = []
        if self._happens(0.1):
            member["generation"] = self.generation
        return member

    def _subscription(self, number: int) -> list[str]:
        names = list(self.topics)
        missing = ["missing"] if self._happens(0.03) else []
        if self.shape != "equal" and self._happens(0.03):
            return []
        if self.shape == "subsets":
            chosen = self.random.sample(names, self.random.randint(min(1, len(names)), len(names)))
            return chosen + missing + (chosen[:1] if self._happens(0.05) else [])
        if self.shape == "one-odd" and number == 1:
            return names[:1]
        if self.shape == "split":
            half = (len(names) + 1) // 2
            return names[:half] if number % 4 == 0 else names[half:]
        if self.shape == "shuffled":
            self.random.shuffle(names)
        return names

    def _leave(self) -> None:
        for _ in range(self.random.randint(1, max(1, len(self.members) // 3))):
            if self.members:
                self.gone.append(self.members.pop(self.random.randrange(len(self.members))))

    def _join(self) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.members.insert(self.random.randint(0, len(self.members)), self._member())

    def _return(self) -> None:
        if self.gone:
            self.members.append(self.gone.pop(self.random.randrange(len(self.gone))))

    def _claim_twice(self) -> None:
        for _ in range(self.random.randint(1, 3)):
            one, other = self.random.choice(self.members or [{}]), self.random.choice(self.members or [{}])
            if other.get("owned"):
                one["owned"] = [*one.get("owned", []), self.random.choice(other["owned"])]
                one.setdefault("generation", self.generation)

    def _claim_at_random(self) -> None:
        every = [[name, partition] for name, count in self.topics.items() for partition in range(count)]
        for member in self.members:
            if every and self._happens(0.5):
                member["owned"] = self.random.sample(every, self.random.randint(0, min(10, len(every))))
                member["generation"] = self.random.randint(-1, 4)

    def _grow(self) -> None:
        for name in self.random.sample(list(self.topics), self.random.randint(1, len(self.topics))):
            self.topics[name] += self.random.randint(0, 4)
        self._place()

    def _shrink(self) -> None:
        name = self.random.choice(list(self.topics))
        self.topics[name] = max(0, self.topics[name] - 1)
        self._place()

    def _place(self) -> None:
        for name in self.replicas:
            self.replicas[name] = self._replicas(self.topics[name])

    def _subscribe_anew(self) -> None:
        for member in self.members:
            if self._happens(0.3):
                member["topics"] = self._subscription(self.random.randint(1, 8))

    def _regroup(self) -> None:
        self.shape = self.random.choice(["equal", "shuffled", "subsets", "one-odd", "split"])
        for number, member in enumerate(self.members):
            member["topics"] = self._subscription(number + 1)

    def _forget(self) -> None:
        for member in self.members:
            if self._happens(0.2):
                member.pop("owned", None)

    def _lose_generation(self) -> None:
        for member in self.members:
            if self._happens(0.3):
                member["generation"] = self.random.choice([-1, self.generation - 1, self.generation - 2, 0])

    def _shuffle(self) -> None:
        self.random.shuffle(self.members)


def _colliding(prefix: str, number: int) -> str:
    """Names of which sixteen have one hash code, like "Aa" and "BB"."""
    letters = "".join("BB" if number >> bit & 1 else "Aa" for bit in range(4))
    return f"{prefix}{letters}{number >> 4 or ''}"
