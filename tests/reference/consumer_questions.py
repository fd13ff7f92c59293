"""Random scripts of the consumer protocol (KIP-848): members that settle, and disturbances."""

from __future__ import annotations

from typing import Any

from group_questions import Script

TOPICS = ["orders", "payments", "clicks", "users", "events", "logs", "metrics", "alerts", "carts", "views"]


class ConsumerStory(Script):
    """A script of the consumer protocol."""

    kind = "consumer"
    chooses_ids = True

    def __init__(self, seed: str) -> None:
        """Draws topics and timeouts."""
        super().__init__(seed)
        # IDs of many topics share bins of Java's maps, and so do the numbers of many partitions.
        self.many, most = self._one(([], 6), ([], 6), ([], 40), (TOPICS, 6))
        self.many = self.random.sample(self.many, self.random.randint(2, 8)) if self.many else []
        names = self.many or self._one("t", "tu", "tu", "tuv")
        self.topics = {name: self.random.randint(1, most) for name in names}
        self.counts = dict(self.topics)
        self.config: dict[str, Any] = {
            "group.consumer.session.timeout.ms": self._one(1000, 10_000, 45_000, 45_000),
            "group.consumer.heartbeat.interval.ms": self._one(100, 500),
            "group.consumer.assignors": self._one(["uniform", "range"], ["range", "uniform"], ["uniform"]),
        }
        interval = self._one(None, None, 0, 0, 100, 5000)
        if interval is not None:
            self.config["group.consumer.assignment.interval.ms"] = interval
        if self._happens(0.1):
            self.config["group.consumer.max.size"] = self._one(1, 2, 3, 5)
        self.rebalance_ms = self._one(1000, 5000, 300_000)
        alike = self._happens(0.6)
        common = self._subscription()
        self.subscribed = {name: common if alike else self._subscription() for name in self.names}

    def given(self) -> dict[str, Any]:
        """The coordinator's settings, and the first topics."""
        return {"config": self.config, "topics": dict(self.topics)}

    def scene(self) -> None:
        """Most of the time, members join and settle."""
        scene = self._likely(
            joins=3,
            settles=6,
            beats=3,
            leaves=1.2,
            returns=1,
            subscribes=1.2,
            wrong=1.5,
            topics=1.2,
            commits=1,
            waits=2,
        )
        if not self.heard and self._happens(0.8):
            scene = "joins"
        getattr(self, f"_{scene}")()

    def _subscription(self) -> list[str]:
        if self.many:
            return self.random.sample(self.many, self.random.randint(1, len(self.many)))
        return self._one(["t"], ["t"], ["t", "u"], ["u", "t"], ["u"], ["t", "u", "v"], [])

    def _beat(self, name: str, **other: Any) -> None:
        usual: dict[str, Any] = {
            "epoch": None,
            "instance_id": self._instance(name, 0.01),
            "rack_id": None,
            "rebalance_timeout_ms": -1,
            "topics": None,
            "assignor": None,
            "owned": None,
        }
        self._ask("heartbeat", member=name, **{**usual, **other})
        self._gap()

    def _full(self, name: str, **other: Any) -> None:
        usual = {"rebalance_timeout_ms": self.rebalance_ms, "topics": self.subscribed[name], "owned": "last"}
        if self._happens(0.15):
            usual["assignor"] = self._one("uniform", "range", "uniform", "range", "nothing")
        if self._happens(0.1):
            usual["rack_id"] = self._one("r1", "r2")
        self._beat(name, **{**usual, **other})

    def _join(self, name: str, **other: Any) -> None:
        self._full(name, **{"epoch": 0, "owned": {}, **other})
        self.heard[name] = self.at_ms

    def _joins(self) -> None:
        for name in self._shuffled(self._one(0.3, 0.6, 1.0), strangers=True):
            if name not in self.heard or self._happens(0.1):
                self._join(name)

    def _settles(self) -> None:
        """All members give up and take what they are told to, for some rounds."""
        for _ in range(self._one(1, 2, 2, 3)):
            for name in self._shuffled(self._one(0.7, 1.0)):
                self._beat(name, owned="last") if self._happens(0.85) else self._full(name)
            self.at_ms += self._one(0, 100, 500, 999, 1000, 3000)
            self._forget(self.config["group.consumer.session.timeout.ms"])

    def _beats(self) -> None:
        """Members that report nothing of what they own, or still own what they were to give up."""
        for name in self._shuffled(0.6):
            self._beat(name, owned=self._one(None, None, self._owned()))

    def _owned(self) -> dict[str, list[int]]:
        return {
            topic: [each for each in range(count) if self._happens(0.6)]
            for topic, count in self.topics.items()
            if self._happens(0.7)
        }

    def _leaves(self) -> None:
        name = self._someone()
        self._beat(name, epoch=-2 if name in self.instances and self._happens(0.7) else -1)
        self.heard.pop(name, None)

    def _returns(self) -> None:
        """A member is restarted, static or not, with a farewell or without; another may take its place."""
        name = self._one(*self.instances) if self.instances and self._happens(0.8) else self._someone()
        if self._happens(0.7):
            self._beat(name, epoch=-2 if name in self.instances else -1)
            self.heard.pop(name, None)
        heir = self._someone() if self._happens(0.5) else name
        self._join(heir, instance_id=self.instances.get(name))
        if self._happens(0.5):
            self._beat(name)

    def _subscribes(self) -> None:
        name = self._someone()
        self.subscribed[name] = self._subscription()
        self._beat(name, topics=self.subscribed[name], owned=self._one(None, "last"))

    def _wrong(self) -> None:
        """Old answers sent again, and requests that the coordinator refuses."""
        name, epoch = self._someone(), self._one(1, 2, 2, 3, 3, 4, 5, 7)
        wrong = self._likely(epoch=4, owned=2, request=1, stranger=1)
        if wrong == "epoch":
            self._beat(name, epoch=epoch, owned=self._one(None, "last", "last", self._owned()))
        elif wrong == "owned":
            self._full(name, owned=self._owned(), epoch=self._one(None, epoch))
        elif wrong == "stranger":
            self._beat("x", epoch=self._one(epoch, -1), instance_id=self._one(None, "i", "nowhere"))
        else:
            refused: list[dict[str, Any]] = [
                {"epoch": -3},
                {"epoch": 0},
                {"epoch": 0, "rebalance_timeout_ms": -1},
                {"epoch": 0, "owned": {"t": [0]}},
                {"epoch": 0, "topics": None},
                {"epoch": -2, "instance_id": None},
                {"instance_id": ""},
                {"rack_id": ""},
            ]
            self._full(name, **self._one(*refused))

    def _topics(self) -> None:
        """Topics grow, are created and deleted; one that comes back has at least as many partitions."""
        among = [self.many[place : place + 2] for place in range(len(self.many))] or ["t", "u", "tu", "v"]
        for name in self._one(*among):
            if name in self.topics and self._happens(0.4):
                del self.topics[name]
            else:
                self.counts[name] = self.counts.get(name, 0) + self.random.randint(name not in self.counts, 3)
                self.topics[name] = self.counts[name]
        self._ask("topics", topics=dict(self.topics))
        self._gap()

    def _commits(self) -> None:
        for name in self._shuffled(0.4):
            epoch = self._one(None, None, 1, 2, 3, 4)
            partitions = {topic: [self.random.randrange(count)] for topic, count in self.topics.items()}
            self._ask("commit", member=name, epoch=epoch, partitions=partitions or {"t": [0]})
            self._gap()
        if self.heard and self._happens(0.1):
            self._ask("commit", member="", epoch=-1, partitions={"t": [0]})

    def _waits(self) -> None:
        session_ms = self.config["group.consumer.session.timeout.ms"]
        self.at_ms += max(
            0, self._one(session_ms, self.rebalance_ms, 1000, 1000, 100) + self._one(-1, 0, 0, 1)
        )
        if self._happens(0.5):
            self._ask("wait")
