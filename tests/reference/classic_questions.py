"""Random scripts of the classic protocol: rebalances and disturbances."""

from __future__ import annotations

from typing import Any

from group_questions import Script


class ClassicStory(Script):
    """A script of the classic protocol."""

    kind = "classic"

    def __init__(self, seed: str) -> None:
        """Draws timeouts, and the members' assignors."""
        super().__init__(seed)
        self.session_ms = {name: self._one(6000, 6000, 10_000, 30_000, 45_000) for name in self.names}
        self.rebalance_ms = {name: self._one(1000, 5000, 60_000, 300_000) for name in self.names}
        self.config: dict[str, Any] = {
            "group.initial.rebalance.delay.ms": self._one(0, 0, 1, 100, 3000, 3000)
        }
        if self._happens(0.2):
            self.config["group.max.size"] = self._one(1, 2, 3, 3, 5)
        if self._happens(0.1):
            self.config |= {"group.min.session.timeout.ms": 10_000, "group.max.session.timeout.ms": 30_000}
        self.asks_again = self._happens(0.8)
        common = self._one([["range"]], [["range", "sticky"]], [["sticky", "range"], ["range", "sticky"]])
        self.protocols = {name: self._metadata(self._one(*common)) for name in self.names}
        if self._happens(0.3):
            odd = self._one(["sticky"], ["roundrobin"], ["roundrobin", "range"], ["sticky", "range"])
            self.protocols[self._someone()] = self._metadata(odd)

    def given(self) -> dict[str, Any]:
        """The coordinator's settings."""
        return {"config": self.config}

    def scene(self) -> None:
        """Most of the time, a whole rebalance or a round of heartbeats."""
        self._forget(min(self.session_ms.values()))
        rare = {"commits": 1, "leaves": 1.2, "returns": 1.5, "changes": 1, "wrong": 1.5}
        scene = self._likely(rebalance=6, joins=2, syncs=2, beats=4, waits=2, **rare)
        if not self.heard and self._happens(0.8):
            scene = "rebalance"
        getattr(self, f"_{scene}")()

    def _metadata(self, names: list[str]) -> list[list[str]]:
        return [[name, f"{name[0]}{self.random.randint(0, 2)}"] for name in names]

    def _join(self, name: str, **other: Any) -> None:
        known = name in self.heard and self._happens(0.96)
        asks_again = self.asks_again if self._happens(0.95) else not self.asks_again
        usual: dict[str, Any] = {
            "known": known,
            "instance_id": self._instance(name),
            "session_timeout_ms": self.session_ms[name],
            "rebalance_timeout_ms": self.rebalance_ms[name],
            "protocols": self.protocols[name],
            "member_id_required": asks_again,
        }
        if asks_again and self._happens(0.1):
            usual["can_skip_assignment"] = False
        self._ask("join", member=name, **{**usual, **other})
        self.heard[name] = self.at_ms
        if not known and asks_again and name not in self.instances and self._happens(0.95):
            self._gap()
            self._ask("join", member=name, **{**usual, "known": True})

    def _sync(self, name: str, **other: Any) -> None:
        protocol = self.protocols[name][0][0] if self._happens(0.1) else None
        # A member that is not the leader brings its list for nothing.
        assignments = {each: f"{each}{self.random.randint(0, 9)}" for each in self._shuffled(0.9)}
        usual = {"generation": None, "instance_id": self._instance(name), "protocol": protocol}
        brings = None if self._happens(0.1) else assignments
        self._ask("sync", member=name, assignments=brings, **{**usual, **other})

    def _heartbeat(self, name: str, **other: Any) -> None:
        self._ask(
            "heartbeat", member=name, **{"generation": None, "instance_id": self._instance(name), **other}
        )

    def _rebalance(self) -> None:
        self._joins()
        if not self.config["group.initial.rebalance.delay.ms"] or self._happens(0.5):
            self._gap()
        else:
            self.at_ms += self._one(1, 2) * self.config["group.initial.rebalance.delay.ms"]
        self._syncs()

    def _joins(self) -> None:
        for name in self._shuffled(self._one(0.4, 0.8, 1.0, 1.0), strangers=True):
            self._join(name)
            self._gap()

    def _syncs(self) -> None:
        for name in self._shuffled(self._one(0.7, 1.0, 1.0)):
            self._sync(name)
            self._gap()

    def _beats(self) -> None:
        for _ in range(self._one(1, 1, 2, 3)):
            for name in self._shuffled(self._one(0.5, 1.0)):
                self._heartbeat(name)
                self._gap()
            self.at_ms += self._one(0, 100, 3000, 5999)

    def _commits(self) -> None:
        for name in self._shuffled(0.5):
            self._ask("commit", member=name, generation=None, instance_id=self._instance(name))
            self._gap()
        if self._happens(0.1):
            self._ask("commit", member=None, generation=-1, instance_id=None)

    def _leaves(self) -> None:
        leaving: list[dict[str, Any]] = [
            {"member": name, "instance_id": self._instance(name)} for name in self._shuffled(0.4)
        ]
        for each in leaving:
            if self._happens(0.9):
                self.heard.pop(each["member"], None)
            if each["instance_id"] and self._happens(0.5):
                each["member"] = None
        self._ask("leave", members=leaving or [{"member": self._someone(), "instance_id": None}])
        self._gap()

    def _returns(self) -> None:
        """A member has been restarted, and knows no ID: a static member gets its place back."""
        name = self._one(*self.instances) if self.instances and self._happens(0.8) else self._someone()
        if self._happens(0.2):
            self.protocols[name] = self._metadata([protocol for protocol, _ in self.protocols[name]][::-1])
        self._join(name, known=False)
        self._gap()
        self._sync(name)

    def _changes(self) -> None:
        """A member joins again, with other metadata or the same."""
        name = self._someone()
        if self._happens(0.7):
            self.protocols[name] = self._metadata([protocol for protocol, _ in self.protocols[name]])
        self._join(name)
        self._gap()

    def _wrong(self) -> None:
        """A member sends something unexpected."""
        name, generation = self._someone(), self._one(-1, 0, 1, 1, 2, 2, 3, 4)
        wrong = self._likely(beat=2, sync=2, commit=2, protocol=1, join=1, session=1, nobody=1, timeout=1)
        if wrong == "beat":
            self._heartbeat(name, generation=generation)
        elif wrong == "sync":
            self._sync(name, generation=generation)
        elif wrong == "protocol":
            self._sync(name, protocol=self._one("range", "sticky", "nothing"))
        elif wrong == "commit":
            self._ask("commit", member=name, generation=generation, instance_id=self._instance(name, 0.3))
        elif wrong == "join":
            self._join(name, instance_id=self._one(None, "i", "j"), known=self._happens(0.5))
        elif wrong == "session":
            self._join(name, session_timeout_ms=self._one(5999, 1_800_001, 9999, 30_001))
        elif wrong == "timeout":
            # Not 0: with static members only, the coordinator would ask itself again and again at one instant.
            self._join(name, rebalance_timeout_ms=self._one(1, 2, 999))
        else:
            self._heartbeat("x", generation=generation)
        self._gap()

    def _waits(self) -> None:
        """Until a timeout, or just before it."""
        timeouts = [*self.session_ms.values(), *self.rebalance_ms.values()]
        timeouts.append(self.config["group.initial.rebalance.delay.ms"])
        self.at_ms += max(0, self._one(*timeouts) + self._one(-1, 0, 0, 1, 1))
        if self._happens(0.5):
            self._ask("wait")
