"""Random scripts of members that join groups, send heartbeats, fall silent, come back and leave, in both protocols.

A script is drawn without the coordinator's answers, from what its members have most likely been told. Everything
depends only on the seed. `tests/reference/README.md` describes the requests.
"""

from __future__ import annotations

import random
from typing import Any

NAMES = tuple("abcdefghijklmn")
GAPS_MS = (0, 0, 0, 0, 1, 3, 10, 100, 500)


class Script:
    """One random script; `question` writes it down."""

    kind = ""
    chooses_ids = False
    """Whether a member's name is its id, on whose hash code the orders of Java's maps hang."""

    def __init__(self, seed: str) -> None:
        """Draws the members; `seed` names the script."""
        self.random = random.Random(seed)
        self.seed = seed
        self.at_ms = 0
        self.requests: list[dict[str, Any]] = []
        self.heard: dict[str, int] = {}
        """When members that are likely to be in the group last said something."""
        self.names = tuple(self._ids(NAMES[: self._one(1, 2, 2, 3, 3, 3, 4, 4, 6, 6, 6, 14)]))
        self.moves = self._one(0, 0, 0.02, 0.1)
        """How likely the coordinator moves after a request: at any moment, as brokers do."""
        # Two names of one instance follow each other where they are drawn alike.
        self.instances = {
            name: self._one("i", "j", f"i-{name}") for name in self.names if self._happens(0.35)
        }

    def question(self, length: int) -> dict[str, Any]:
        """The script, with at most this many requests."""
        length = self.random.randint(length // 2, length)
        question: dict[str, Any] = {"name": self.seed, "kind": self.kind, **self.given()}
        while len(self.requests) < length:
            self.scene()
        return {**question, "requests": self.requests[:length]}

    def given(self) -> dict[str, Any]:
        """The part before the requests."""
        raise NotImplementedError

    def scene(self) -> None:
        """Lets something happen."""
        raise NotImplementedError

    def _forget(self, session_ms: int) -> None:
        """The members that have been silent for so long that they have most likely heard that they are out."""
        for name, said_ms in list(self.heard.items()):
            if self.at_ms - said_ms >= session_ms and self._happens(0.8):
                del self.heard[name]

    def _ask(self, request: str, **what: Any) -> None:
        if what.get("member") in self.heard:
            self.heard[what["member"]] = self.at_ms
        self.requests.append({"at_ms": self.at_ms, "request": request, **what})
        if request != "move" and self._happens(self.moves):
            self._ask("move")

    def _ids(self, names: tuple[str, ...]) -> list[str]:
        """Names as they are, with distinct letters appended, or all with one hash code."""
        drawn = self._one("letters", "letters", "letters", "short", "one hash code")
        if not self.chooses_ids or drawn == "short":
            return list(names)
        if drawn == "letters":
            return [f"{name}-{self.random.getrandbits(32):08x}" for name in names]
        same = "".join(self._one("Aa", "BB") for _ in range(3))
        numbers = self.random.sample(range(16), len(names))
        return [same + "".join(("Aa", "BB")[number >> bit & 1] for bit in range(4)) for number in numbers]

    def _one(self, *among: Any) -> Any:
        return self.random.choice(among)

    def _likely(self, **weights: float) -> str:
        return self.random.choices(list(weights), list(weights.values()))[0]

    def _happens(self, likely: float) -> bool:
        return self.random.random() < likely

    def _gap(self) -> None:
        self.at_ms += self._one(*GAPS_MS)

    def _shuffled(self, share: float = 1.0, *, strangers: bool = False) -> list[str]:
        """This share of the members in any order; with strangers, or with hardly any."""
        known = [name for name in self.names if strangers or name in self.heard or self._happens(0.05)]
        names = [name for name in known if self._happens(share)]
        self.random.shuffle(names)
        return names

    def _someone(self) -> str:
        return self._one(*self.names)

    def _instance(self, name: str, wrong: float = 0.03) -> str | None:
        """Its own, usually."""
        if self._happens(wrong):
            return self._one(None, "i", "j", "nowhere")
        return self.instances.get(name)
