"""Random scripts of a group's life: consumers that poll slowly, stall, crash, roll and return, in both protocols.

All of a script depends on its seed. It is one that `partwright group` takes.
"""

from __future__ import annotations

import random
from typing import Any

NAMES = ("c1", "c2", "c3", "c4", "c5", "c6")
ASSIGNORS = {
    "classic": ["range", "sticky", "cooperative-sticky", "cooperative-sticky", "roundrobin"],
    "consumer": ["uniform", "uniform", "range"],
}
GAPS_MS = (0, 20, 300, 2000, 5000, 12_000, 30_000, 60_000)
SETTLING_MS = 60_000


def script(seed: str, protocol: str) -> dict[str, Any]:
    """One script."""
    return _Story(seed, protocol).script()


class _Story:
    """What happens, drawn from what is there."""

    def __init__(self, seed: str, protocol: str) -> None:
        self.random = random.Random(seed)
        self.protocol = protocol
        self.at_ms = 0
        self.events: list[dict[str, Any]] = []
        self.there: list[str] = []
        self.topics = {"t": self._one(1, 2, 4, 6, 12)}
        if self._happens(0.3):
            self.topics["u"] = self._one(1, 3)
        self.counts = dict(self.topics)
        self.given = self._given()
        self.poll_ms = self.given["poll_ms"]

    def script(self) -> dict[str, Any]:
        """The whole of it."""
        for _ in range(self._one(1, 2, 2, 3, 4)):
            self._join()
            self._goes_on(self._one(0, 0, 0, 40, 1500, 7000))
        for _ in range(self.random.randint(1, 6)):
            self._goes_on(self._one(*GAPS_MS) + self.random.randint(0, 2999))
            self._happen()
        settled_ms = SETTLING_MS + 8 * self.poll_ms
        return {**self.given, "events": self.events, "until_ms": self.at_ms + settled_ms}

    def _given(self) -> dict[str, Any]:
        config: dict[str, Any] = {"metadata.max.age.ms": self._one(10_000, 60_000)}
        if self._happens(0.3):
            config["enable.auto.commit"] = False
        if self._happens(0.3):
            config["max.poll.interval.ms"] = self._one(15_000, 30_000, 60_000)
        if self.protocol == "classic":
            config["group.initial.rebalance.delay.ms"] = self._one(0, 3000)
            if self._happens(0.3):
                config["session.timeout.ms"], config["heartbeat.interval.ms"] = self._one(
                    (10_000, 3000), (30_000, 1000)
                )
        given: dict[str, Any] = {
            "protocol": self.protocol,
            "assignor": self._one(*ASSIGNORS[self.protocol]),
            "topics": self.topics,
            "config": config,
            "poll_ms": self._one(100, 500, 500, 1000, 2000, 5000, 10_000),
        }
        if self._happens(0.25):
            given["static"] = True
        if self._happens(0.3):
            given["listener"] = self._one(True, True, 200, 1500)
        if self._happens(0.2):
            given["poll_timeout_ms"] = self._one(10, 300, 1000)
        if self._happens(0.2):
            given["latency_ms"] = self._one(1, 50)
        return given

    def _goes_on(self, ms: int) -> None:
        self.at_ms += ms

    def _event(self, **what: Any) -> None:
        self.events.append({"at_ms": self.at_ms, **what})

    def _join(self) -> None:
        absent = [name for name in NAMES if name not in self.there]
        if not absent:
            return
        name = self._one(*absent)
        own: dict[str, Any] = {}
        if len(self.topics) > 1 and self._happens(0.2):
            own["topics"] = ["t"]
        if self._happens(0.1):
            own["poll_ms"] = self._one(200, 3000)
        self._event(join=name, **own)
        self.there.append(name)

    def _happen(self) -> None:
        likely = {
            "join": 4,
            "leave": 3,
            "crash": 2,
            "stall": 3,
            "restart": 2,
            "roll": 1,
            "grow": 2,
            "move": 0.5,
        }
        kind = self.random.choices(list(likely), list(likely.values()))[0]
        if kind == "join" or not self.there:
            self._join()
        elif kind == "grow":
            topic = self._one(*self.counts)
            self._event(add_partitions={topic: self._one(1, 2)})
        elif kind == "move":
            self._event(move_coordinator=True)
        elif kind == "roll":
            for name in list(self.there):
                self._event(restart=name, down_ms=3000)
                self._goes_on(13_000)
        else:
            getattr(self, f"_{kind}")(self._one(*self.there))

    def _leave(self, name: str) -> None:
        operation = {} if self._happens(0.7) else {"operation": self._one("LEAVE_GROUP", "REMAIN_IN_GROUP")}
        self._event(leave=name, **operation)
        self.there.remove(name)

    def _crash(self, name: str) -> None:
        self._event(crash=name)
        self.there.remove(name)

    def _stall(self, name: str) -> None:
        self._event(
            stall=name, for_ms=self._one(3000, 10_000, 20_000, 50_000, 70_000) + self.random.randint(0, 999)
        )

    def _restart(self, name: str) -> None:
        down_ms = self._one(1000, 5000, 20_000)
        self._event(restart=name, down_ms=down_ms)
        self._goes_on(down_ms)

    def _one(self, *among: Any) -> Any:
        return self.random.choice(among)

    def _happens(self, likely: float) -> bool:
        return self.random.random() < likely
