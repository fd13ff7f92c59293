"""Scripts of the consumer protocol (KIP-848) by hand: events of most groups, and cases that people ask about.

A script's requests are in the order of their times. `tests/reference/README.md` describes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hand_scripts import HandScript

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERVAL = "group.consumer.assignment.interval.ms"


class Consumer(HandScript):
    """One script of the consumer protocol; each method is a request at the time reached."""

    def __init__(self, name: str, topics: dict[str, int], **config: Any) -> None:
        """Begins at no time."""
        super().__init__(name, "consumer", config=config, topics=topics)

    def beat(self, member: str, **other: Any) -> Consumer:
        """A member sends a heartbeat, and nothing else."""
        usual = {
            "epoch": None,
            "instance_id": None,
            "rack_id": None,
            "rebalance_timeout_ms": -1,
            "topics": None,
            "assignor": None,
            "owned": None,
        }
        return self._ask("heartbeat", member=member, **{**usual, **other})

    def join(self, member: str, *topics: str, **other: Any) -> Consumer:
        """A member joins."""
        usual: dict[str, Any] = {"epoch": 0, "rebalance_timeout_ms": 300_000, "owned": {}}
        return self.beat(member, topics=list(topics), **{**usual, **other})

    def done(self, *members: str) -> Consumer:
        """Members have given up and taken what they were told to."""
        for member in members:
            self.beat(member, owned="last")
        return self

    def leave(self, member: str, **other: Any) -> Consumer:
        """A member leaves."""
        return self.beat(member, **{"epoch": -1, **other})

    def topics(self, **topics: int) -> Consumer:
        """From now on these topics exist."""
        return self._ask("topics", topics=topics)

    def commit(self, member: str, epoch: int | None = None, **partitions: list[int]) -> Consumer:
        """A member commits offsets."""
        return self._ask("commit", member=member, epoch=epoch, partitions=partitions)


def scripts() -> Iterator[dict[str, Any]]:
    """Those of the consumer protocol."""
    for script in (
        _three_members(),
        _joins_within_a_second(),
        _an_empty_group(),
        _static_members(),
        _a_slow_revoker(),
        _lost_answers(),
        _commits_of_older_epochs(),
        _topics_change(),
        _subscriptions_and_assignors_change(),
        _a_tie_of_assignors(),
        _ids_of_one_bin(),
        _a_coordinator_that_moves(),
        _partitions_of_one_bin(),
        _topics_of_one_bin(),
    ):
        yield script.question


def _three_members() -> Consumer:
    """Each member that joins gets what the others have given up."""
    script = Consumer("three members", {"t": 6})
    script.join("a", "t").after(5000).join("b", "t").after(10).done("a").after(10).done("a", "b").after(5000)
    script.join("c", "t").beat("c").done("b").done("a").done("c").done("a", "b", "c").done("c").after(5000)
    return script.leave("a").done("b").after(1000).done("b").done("c").wait(44_999).wait(1)


def _joins_within_a_second() -> Consumer:
    """A target assignment is made at most once a second, at the next request of any member."""
    script = Consumer("joins within a second", {"t": 6})
    script.join("a", "t").after(1).join("b", "t").after(100).join("c", "t").done("a", "b", "c").after(898)
    script.done("a").after(1).done("b").done("a", "a", "c", "b").after(500).leave("c").done("a").after(499)
    return script.done("a", "b").after(1).done("a").done("b")


def _an_empty_group() -> Consumer:
    """Does an empty group remember when its last assignment was made?"""
    script = Consumer("an empty group", {"t": 3})
    script.join("a", "t").after(2000).leave("a").after(10).join("b", "t").after(10).join("c", "t").done(
        "b", "c"
    )
    return script.after(1000).done("c").done("b").leave("b").leave("c").join("a", "t").done("a").wait(45_000)


def _static_members() -> Consumer:
    """One returns after it has announced that, one without a word; another member replaces one."""
    script = Consumer("static members", {"t": 4}, **{INTERVAL: 0})
    one, two = {"instance_id": "i"}, {"instance_id": "j"}
    script.join("a", "t", **one).join("b", "t", **two).done("a").beat("a", owned="last", **one)
    script.beat("b", owned="last", **two).after(1000).leave("a", epoch=-2, **one).beat("b", **two)
    script.join("c", "t", **one).beat("c", **one).beat("a", epoch=3, **one).after(1000)
    script.join("d", "t", **two).join("b", "t", **two).leave("b", epoch=-2, instance_id="nowhere")
    script.leave("b", epoch=-2, **two).after(44_999).beat("c", **one).wait(1).beat("c", owned="last", **one)
    return script.join("d", "t", **two).leave("d", **two).leave("c").wait(100_000)


def _a_slow_revoker() -> Consumer:
    """It still owns what it should give up, until its rebalance timeout is over."""
    script = Consumer("a slow revoker", {"t": 4}, **{INTERVAL: 0})
    script.join("a", "t", rebalance_timeout_ms=10_000).join("b", "t").after(1000).beat("a").done("b")
    for _ in range(3):
        script.after(3000).beat("a", owned={"t": [0, 1, 2, 3]}).done("b")
    return script.after(999).beat("a").wait(1).beat("a").done("b").join("a", "t").done("b", "a", "b")


def _lost_answers() -> Consumer:
    """A member that does not know its new epoch sends the previous one."""
    script = Consumer("lost answers", {"t": 4}, **{INTERVAL: 0})
    script.join("a", "t").join("b", "t").beat("a").done("a").beat("a", epoch=2, owned={"t": [0, 1]})
    script.beat("a", epoch=2, owned={"t": [0, 1, 2]}).beat("a", epoch=2).beat("a", epoch=9, owned="last")
    script.beat("b", epoch=1, owned={}).join("b", "t").beat("b", epoch=0, owned={}).done("b", "a", "b")
    return script.beat("x", epoch=3).beat("b", epoch=2, owned={}).beat("b", epoch=1, owned={})


def _commits_of_older_epochs() -> Consumer:
    """A partition that a member has had all along accepts an older epoch, a newer partition does not."""
    script = Consumer("commits of older epochs", {"t": 4}, **{INTERVAL: 0})
    script.commit("a", 0, t=[0]).join("a", "t").join("b", "t").beat("a").done("a").done("b")
    for epoch in (1, 2, 3, 4):
        script.commit("a", epoch, t=[0]).commit("b", epoch, t=[2]).commit("a", epoch, t=[2])
    script.leave("b").done("a").done("a").commit("a", 2, t=[0]).commit("a", 2, t=[0, 2]).commit("a", 3, t=[2])
    return script.commit("", -1, t=[0]).leave("a").commit("", -1, t=[0]).commit("a", 4, t=[0])


def _topics_change() -> Consumer:
    """A group notices topics when one of its members sends a request."""
    script = Consumer("topics change", {"t": 2}, **{INTERVAL: 0})
    script.join("a", "t", "u").join("b", "t", "u").beat("a").done("a", "b").topics(t=4).done("a").done("b")
    script.topics(t=4, v=3).done("a").topics(t=4, u=2, v=3).done("b", "a", "b").topics(u=2).beat("b").done(
        "b", "a"
    )
    return script.topics(u=2, t=5).done("a", "b", "a", "b").topics().done("a", "b", "a")


def _subscriptions_and_assignors_change() -> Consumer:
    """The assignor is the one that most members prefer, otherwise the coordinator's first one."""
    script = Consumer("subscriptions and assignors change", {"t": 3, "u": 3}, **{INTERVAL: 0})
    script.join("a", "t", "u").join("b", "t", "u", assignor="range").done("a", "a", "b").beat(
        "a", assignor="range"
    )
    script.beat("b", assignor="uniform").done("b", "a").beat("b", topics=["u"]).beat(
        "b", topics=["u"], owned="last"
    )
    script.done("a", "b").beat("a", topics=[]).done("a", "b").beat("a", topics=["t", "t"]).done("a", "b")
    return (
        script.beat("a", assignor="nothing")
        .beat("b", rack_id="r")
        .beat("b", rebalance_timeout_ms=1)
        .done("b")
    )


def _a_tie_of_assignors() -> Consumer:
    """One member prefers each: in 4.4.0, each heartbeat of one of them causes another epoch."""
    script = Consumer("a tie of assignors", {"t": 5})
    script.join("a", "t", assignor="range").after(5000).join("b", "t", assignor="uniform")
    for _ in range(2):
        script.after(5000).done("a").after(100).done("b")
    return (
        script.join("c", "t", assignor="range")
        .after(5000)
        .done("a", "b", "c")
        .after(5000)
        .done("a", "b", "c")
    )


def _ids_of_one_bin() -> Consumer:
    """If members share a bin of the coordinator's map, an assignor gets the last one first."""
    script = Consumer("ids of one bin", {"t": 2, "u": 6})
    members = ("m9-9f8", "m5-c5b", "m10-487", "m11-5b3")
    for member in members:
        script.join(member, "t", "u")
    for _ in range(3):
        script.after(1000).done(*members)
    script.leave("m5-c5b").join("m5-c5b", "t", "u").done(*members).done(*members).move().done(*members)
    return (
        script.leave("m11-5b3")
        .join("m12-0", "t", "u")
        .done(*members[:3], "m12-0")
        .done(*members[:3], "m12-0")
    )


def _a_coordinator_that_moves() -> Consumer:
    """Everything is written; sessions, and the time to give up partitions, begin anew."""
    script = Consumer("a coordinator that moves", {"t": 4}, **{INTERVAL: 0})
    static = {"instance_id": "i"}
    script.move().commit("", -1, t=[0]).move().commit("a", 1, t=[0]).join(
        "a", "t", rebalance_timeout_ms=10_000
    ).move().done("a")
    script.join("b", "t", **static).after(9000).beat("a").after(9000).move().beat(
        "a", owned={"t": [0, 1, 2, 3]}
    )
    script.after(9999).beat("b", **static).move().wait(9999).wait(1).beat("a").done("b").after(1000)
    script.leave("b", epoch=-2, **static).move().after(44_999).join("c", "t", **static).move().beat(
        "b", **static
    )
    return script.done("c").join("d", "t", assignor="range").move().done("d", "c", "d", "c").wait(45_000)


def _partitions_of_one_bin() -> Consumer:
    """A set with fewer bins than partitions is walked in the order of insertion, and its end is given up."""
    script = Consumer("partitions of one bin", {"t": 40}, **{INTERVAL: 0})
    for member in ("a", "b", "c", "d", "e", "f"):
        script.join(member, "t")
    for member in ("b", "c", "d"):
        script.leave(member)
    for member in ("b", "c", "d"):
        script.join(member, "t")
    return script.move().join("g", "t").done("a", "e", "g")


def _topics_of_one_bin() -> Consumer:
    """What a member gives up of topics that share a bin depends on how it got them, by `range` or by `uniform`."""
    topics = {"alerts": 3, "logs": 4, "metrics": 6, "payments": 3, "orders": 5}
    script = Consumer("topics of one bin", topics, **{INTERVAL: 0})
    for assignor in ("uniform", "range", "uniform"):
        for member in ("a", "b", "c", "d"):
            script.join(member, *topics, assignor=assignor)
        script.beat("a", topics=["metrics", "alerts"]).move().beat("a", topics=list(topics)[::-1])
        script.leave("b").leave("c").join("c", "logs", "metrics").leave("c")
    return script
