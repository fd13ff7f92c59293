"""Random scripts of consumer groups: each settles with one reader for every partition, and its figures hold."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from partwright import group

Event = dict[str, Any]

SOME_MS = [0, 1, 10, 300, 700, 3000, 5000, 11_000, 50_000, 130_000]


def a_script(seed: int) -> dict[str, Any]:
    """Whatever may happen to a group, in any order; consumers join at last, so that somebody is there."""
    draw = random.Random(seed)
    protocol = draw.choice(["classic", "consumer"])
    assignors = ["range", "roundrobin", "sticky", "cooperative-sticky"]
    script: dict[str, Any] = {
        "protocol": protocol,
        "assignor": draw.choice(assignors if protocol == "classic" else ["uniform", "range"]),
        "topics": {f"t{number}": draw.randint(1, 9) for number in range(draw.randint(1, 3))},
        "static": draw.random() < 0.4,
        "poll_ms": draw.choice([0, 1, 100, 500, 4000]),
        "latency_ms": draw.choice([0, 1, 10, 2000]),
        "config": {
            "metadata.max.age.ms": draw.choice([5000, 20_000, 60_000, 300_000]),
            # A member that needs longer for its polls than a rebalance may take is put out again and again.
            "max.poll.interval.ms": draw.choice([30_000, 300_000]),
            "enable.auto.commit": draw.random() < 0.5,
            "group.initial.rebalance.delay.ms": draw.choice([0, 3000]),
        },
        "records_per_s": 1,
    }
    if script["poll_ms"] == 4000:
        # If a leader's metadata expires between its polls, and others subscribe to more than it does, a classic group
        # never comes to rest, and neither does a real one.
        script["config"]["metadata.max.age.ms"] *= 4
    return {**script, "events": _Events(draw, script).all()}


class _Events:
    """Of a script: members that are there, and what may happen to them."""

    def __init__(self, draw: random.Random, script: dict[str, Any]) -> None:
        self.draw, self.topics = draw, list(script["topics"])
        self.is_sticky = script["assignor"] == "sticky"
        self.moves = not (script["static"] and script["protocol"] == "classic")
        # KIP-848's coordinator takes no other for a static member that has crashed, until its session is over, or that
        # is still closing: a callback or a stall, of 70 s at most, keeps it from that.
        is_kept_out = script["protocol"] == "consumer" and script["static"]
        self.kept = [] if is_kept_out else ["leave", "crash"]
        self.down_ms = [100_000] if is_kept_out else [0, 1, 5000, 60_000]
        self.there: dict[str, int] = {}
        self.gone: list[str] = []
        self.deleted: list[str] = []
        # Some wait for topics that nobody has made yet.
        self.waited = ["later"]
        self.all_topics = [*self.topics, "later"]
        self.made = 0

    def all(self) -> list[Event]:
        draw, at_ms = self.draw, 0
        events: list[Event] = []
        kinds = [name for name in dir(self) if name.startswith("a_")]
        for _ in range(draw.randint(1, 18)):
            at_ms += draw.choice(SOME_MS)
            ready = [name for name, since in self.there.items() if since <= at_ms]
            kind = draw.choice([*kinds, "a_join", "a_join"]) if ready else "a_join"
            event = getattr(self, kind)(at_ms, draw.choice(ready) if ready else "")
            events.append({"at_ms": at_ms, **event})
        # A last one subscribes to everything: nothing is left without a subscriber.
        return [*events, {"at_ms": at_ms + draw.choice(SOME_MS), "join": "last", "topics": self.all_topics}]

    def some(self) -> list[str]:
        # Kafka's own `sticky` fails or gives topics to whoever is not subscribed, of members that have changed theirs.
        if self.is_sticky:
            return self.all_topics
        return self.draw.sample(self.all_topics, self.draw.randint(1, len(self.all_topics)))

    def a_join(self, at_ms: int, _: str) -> Event:
        if self.gone and self.draw.random() < 0.5:
            name = self.gone.pop()
        else:
            name, self.made = f"c{self.made}", self.made + 1
        self.there[name] = at_ms
        return {"join": name, "topics": self.some()}

    def a_departure(self, _: int, name: str) -> Event:
        kind = self.draw.choice(["leave", "crash"])
        del self.there[name]
        if kind in self.kept:
            self.gone.append(name)
        return {kind: name}

    def a_restart(self, at_ms: int, name: str) -> Event:
        down_ms = self.draw.choice(self.down_ms)
        self.there[name] = at_ms + down_ms
        return {"restart": name, "down_ms": down_ms}

    def a_stall(self, _: int, name: str) -> Event:
        return {"stall": name, "for_ms": self.draw.choice([1, 4000, 15_000, 70_000])}

    def a_subscription(self, _: int, name: str) -> Event:
        return {"subscribe": name, "topics": self.some()}

    def a_commit(self, _: int, name: str) -> Event:
        return {"commit": name}

    def a_move(self, at_ms: int, name: str) -> Event:
        # A static member that returns in a rebalance is not written: who moves then fences it for good.
        return {"move_coordinator": True} if self.moves else self.a_stall(at_ms, name)

    def a_topic(self, _: int, __: str) -> Event:
        if self.waited and self.draw.random() < 0.3:
            return {"create_topic": {self.waited.pop(): self.draw.randint(1, 9)}}
        name = self.draw.choice([name for name in self.topics if name not in self.deleted])
        if self.draw.random() < 0.3 and len(self.deleted) < len(self.topics) - 1:
            self.deleted.append(name)
            return {"delete_topic": name}
        return {"add_partitions": {name: self.draw.randint(1, 3)}}


def check(script: dict[str, Any]) -> None:
    timeline = group.play(script)
    assert timeline.is_settled
    assert timeline.failures() == []
    numbers = [each["generation"] for each in timeline.generations()]
    # A coordinator that takes over goes on from the last generation whose leader had sent a SyncGroup.
    if not any("move_coordinator" in event for event in script["events"]):
        assert all(before < after for before, after in pairwise(numbers))
    times = [each["at_ms"] for each in timeline.generations()]
    assert times == sorted(times)
    rows = timeline.ownership().to_pylist()
    spans: dict[tuple[str, int], list[tuple[int, int | None]]] = {}
    for row in rows:
        spans.setdefault((row["topic"], row["partition"]), []).append((row["from_ms"], row["to_ms"]))
    for those in spans.values():
        for (_, ends), (begins, _) in pairwise(those):
            assert ends is not None
            assert ends <= begins
    counts = dict(script["topics"])
    for event in script["events"]:
        for topic, more in event.get("add_partitions", {}).items():
            counts[topic] += more
        counts |= event.get("create_topic", {})
        counts.pop(event.get("delete_topic"), None)
    read = Counter((row["topic"], row["partition"]) for row in rows if row["to_ms"] is None)
    assert read == {(topic, number): 1 for topic, count in counts.items() for number in range(count)}
    # What the last generation says is what is so.
    last = list(timeline.generations())[-1]["assignment"]
    said = {(topic, number): name for name, those in last.items() for topic, number in those}
    assert said == {(row["topic"], row["partition"]): row["member"] for row in rows if row["to_ms"] is None}
    ended = timeline.ended_ms
    assert all(0 <= idle <= ended for idle in timeline.unowned_ms.values())
    assert timeline.cost.longest_s * 1000 <= max(timeline.unowned_ms.values()) + 1e-6
    timeline.chart()


@given(st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_every_script_settles_with_one_reader_a_partition(seed: int) -> None:
    check(a_script(seed))
