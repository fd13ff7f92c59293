"""Scripts of the classic protocol by hand: events of most groups, and cases that people ask about.

A script's requests are in the order of their times. `tests/reference/README.md` describes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hand_scripts import HandScript

if TYPE_CHECKING:
    from collections.abc import Iterator

RANGE = [["range", "v0"]]
COOPERATIVE = [["cooperative-sticky", "v0"], ["range", "v0"]]


class Classic(HandScript):
    """One script of the classic protocol; each method is a request at the time reached."""

    def __init__(self, name: str, **config: Any) -> None:
        """Begins at no time."""
        super().__init__(name, "classic", config=config)

    def join(self, member: str, *, known: bool = True, **other: Any) -> Classic:
        """A member joins, or joins again."""
        usual = {
            "instance_id": None,
            "session_timeout_ms": 45_000,
            "rebalance_timeout_ms": 300_000,
            "protocols": RANGE,
            "member_id_required": True,
        }
        return self._ask("join", member=member, known=known, **{**usual, **other})

    def enter(self, member: str, **other: Any) -> Classic:
        """A new member asks for an ID, and joins with it."""
        return self.join(member, known=False, **other).join(member, **other)

    def sync(self, member: str, assignments: dict[str, str] | None = None, **other: Any) -> Classic:
        """A member asks for its assignment; a leader brings everybody's."""
        usual = {"generation": None, "instance_id": None, "protocol": "range"}
        return self._ask("sync", member=member, assignments=assignments, **{**usual, **other})

    def heartbeat(self, member: str, **other: Any) -> Classic:
        """A member sends a heartbeat."""
        return self._ask("heartbeat", member=member, **{"generation": None, "instance_id": None, **other})

    def commit(self, member: str | None, **other: Any) -> Classic:
        """A member commits an offset."""
        return self._ask("commit", member=member, **{"generation": None, "instance_id": None, **other})

    def leave(self, *members: str | None, instance_id: str | None = None) -> Classic:
        """Members leave."""
        return self._ask(
            "leave", members=[{"member": member, "instance_id": instance_id} for member in members]
        )


def scripts() -> Iterator[dict[str, Any]]:
    """Those of the classic protocol."""
    for script in (
        _three_members_eagerly(),
        _three_members_cooperatively(),
        _a_rolling_restart(),
        _two_of_one_instance(),
        _a_member_that_never_syncs(),
        _a_member_that_never_rejoins(),
        _a_full_group(),
        _a_delay_that_grows(),
        _votes(),
        _no_time_to_rejoin(),
        _nobody_and_nothing(),
        _a_list_that_was_longer(),
        _an_assignor_that_nobody_has_any_more(),
        _too_many_members_are_loaded(),
        _moves_at_any_moment(),
        _nothing_to_read(),
    ):
        yield script.question


def _three_members_eagerly() -> Classic:
    """Each member that joins causes a rebalance; the leader leaves at the end."""
    script = Classic("three members, eager", **{"group.initial.rebalance.delay.ms": 3000})
    script.enter("a").after(3000).sync("a", {"a": "t0 t1 t2"}).after(500)
    script.enter("b").after(100).heartbeat("a").after(1).join("a").after(4)
    script.sync("b").after(2).sync("a", {"a": "t0 t1", "b": "t2"}).after(3000)
    script.enter("c").after(100).heartbeat("a").join("a").after(10).heartbeat("b").join("b").after(5)
    script.sync("a", {"a": "t0", "b": "t1", "c": "t2"}).sync("b").sync("c").after(3000)
    script.commit("b").after(3000).heartbeat("a").heartbeat("b").heartbeat("c").after(1000)
    script.leave("a").after(500).heartbeat("b").join("b").after(3).heartbeat("c").join("c").after(5)
    return script.sync("c", {"b": "t0 t1", "c": "t2"}).sync("b", {"b": "t0 t1", "c": "t2"}).wait(60_000)


def _three_members_cooperatively() -> Classic:
    """A partition that moves takes two rounds: the member that gave it up joins again."""
    script = Classic("three members, cooperative", **{"group.initial.rebalance.delay.ms": 0})
    coop: dict[str, Any] = {"protocols": COOPERATIVE}
    chosen: dict[str, Any] = {"protocol": "cooperative-sticky"}
    script.enter("a", **coop).sync("a", {"a": "t0 t1"}, **chosen).after(3000)
    script.enter("b", **coop).heartbeat("a").join("a", **coop)
    script.sync("a", {"a": "t0", "b": ""}, **chosen).sync("b", **chosen).after(20)
    changed = {"protocols": [["cooperative-sticky", "v0 t0"], ["range", "v0"]]}
    script.join("a", **changed).after(50).heartbeat("b").join("b", **coop)
    script.sync("b", **chosen).sync("a", {"a": "t0", "b": "t1"}, **chosen).after(3000)
    script.enter("c", **coop).heartbeat("b").heartbeat("a").join("b", **coop).join("a", **changed).after(9)
    return script.sync("a", {"a": "t0", "b": "t1", "c": ""}, **chosen).sync("c", **chosen).sync("b", **chosen)


def _a_rolling_restart() -> Classic:
    """Static members return within their session timeouts: nobody else notices."""
    script = Classic("a rolling restart of static members", **{"group.initial.rebalance.delay.ms": 3000})
    names = ("a", "b", "c")
    for name in names:
        script.after(100).join(name, known=False, instance_id=f"i-{name}")
    script.after(20_000).wait()
    for name in names:
        script.sync(name, {"a": "t0", "b": "t1", "c": "t2"} if name == "a" else None, instance_id=f"i-{name}")
    for name in names:
        script.after(3000).join(name, known=False, instance_id=f"i-{name}").after(100)
        script.sync(name, instance_id=f"i-{name}")
        for other in names:
            script.after(10).heartbeat(other, instance_id=f"i-{other}")
    # The last one takes too long, and is missed.
    return script.wait(44_000).heartbeat("a", instance_id="i-a").heartbeat("b", instance_id="i-b").wait(5000)


def _two_of_one_instance() -> Classic:
    """The second one takes the first one's place; the first one's requests are refused."""
    script = Classic("two members of one instance", **{"group.initial.rebalance.delay.ms": 1000})
    script.join("a", known=False, instance_id="i").after(500).join("b", known=False, instance_id="i").after(
        5000
    )
    script.sync("a", {"a": "t0"}, instance_id="i").sync("b", {"b": "t0"}, instance_id="i").after(100)
    script.heartbeat("a", instance_id="i").heartbeat("b", instance_id="i").after(100)
    script.join("c", known=False, instance_id="i").after(10).heartbeat("b", instance_id="i", generation=1)
    script.commit("b", instance_id="i").join("b", instance_id="i").leave("b", instance_id="i")
    return script.sync("c", instance_id="i").leave(None, instance_id="i").wait(60_000)


def _a_member_that_never_syncs() -> Classic:
    """It is removed when a rebalance timeout has passed since the group's members were named."""
    script = Classic("a member that never syncs", **{"group.initial.rebalance.delay.ms": 0})
    quick: dict[str, Any] = {"rebalance_timeout_ms": 10_000, "session_timeout_ms": 30_000}
    script.enter("a", **quick).sync("a", {"a": "t0"}).enter("b", **quick).join("a", **quick)
    script.after(100).sync("a", {"a": "t0", "b": "t1"}).after(9000).heartbeat("a").heartbeat("b").after(899)
    return (
        script.heartbeat("b").after(1).heartbeat("a").heartbeat("b").join("a", **quick).sync("a", {"a": "t0"})
    )


def _a_member_that_never_rejoins() -> Classic:
    """The others wait for it for the longest rebalance timeout, or until its session is over."""
    script = Classic("a member that never rejoins", **{"group.initial.rebalance.delay.ms": 0})
    quick: dict[str, Any] = {"rebalance_timeout_ms": 10_000, "session_timeout_ms": 30_000}
    script.enter("a", **quick).sync("a", {"a": "t0"}).enter("b", **quick).join("a", **quick)
    script.sync("a", {"a": "t0", "b": "t1"}).sync("b").after(1000).enter("c", **quick).join("b", **quick)
    for _ in range(3):
        script.after(3000).heartbeat("a").heartbeat("b").commit("a")
    return script.wait(999).wait(1).heartbeat("a").sync("b", {"b": "t0", "c": "t1"}).sync("c").wait(60_000)


def _a_full_group() -> Classic:
    """The coordinator gives IDs to more members than the group accepts."""
    script = Classic("a full group", **{"group.initial.rebalance.delay.ms": 1000, "group.max.size": 2})
    for name in ("a", "b", "c"):
        script.join(name, known=False)
    for name in ("c", "a", "b"):
        script.after(10).join(name)
    script.after(3000).sync("c", {"a": "t0", "c": "t1"}).sync("a").join("d", known=False).after(5)
    return script.leave("a").join("c").sync("c", {"c": "t0 t1"}).enter("d").join("c").wait(50_000)


def _a_delay_that_grows() -> Classic:
    """While new members join, the first rebalance keeps waiting, up to the longest rebalance timeout."""
    script = Classic("a delay that grows", **{"group.initial.rebalance.delay.ms": 3000})
    for name in ("a", "b", "c", "d"):
        script.enter(name, rebalance_timeout_ms=10_000).after(2900)
    return (
        script.enter("e", rebalance_timeout_ms=10_000).wait(600).sync("a", {"a": "t0"}).sync("e").wait(5000)
    )


def _votes() -> Classic:
    """The assignor is one that all members have, and of these the one that most prefer."""
    script = Classic("votes", **{"group.initial.rebalance.delay.ms": 100})
    for name, brought in {"a": "range sticky", "b": "sticky range", "c": "sticky range roundrobin"}.items():
        script.enter(name, protocols=[[each, name] for each in brought.split()])
    script.after(200).sync("a", {"a": "t0"}, protocol="range").sync("b", protocol="sticky")
    script.enter("d", protocols=[["roundrobin", "d"]]).enter("e", protocols=[["range", "e"]])
    for name in ("b", "c", "a"):
        script.join(name, protocols=[["range", name]])
    return script.sync("a", {"a": "t0"}).sync("e").leave("e").join("a", protocols=[["sticky", "a"]])


def _no_time_to_rejoin() -> Classic:
    """Dynamic members that give a rebalance no time, and then static ones that give it a millisecond."""
    script = Classic("no time to rejoin", **{"group.initial.rebalance.delay.ms": 0})
    script.enter("a", rebalance_timeout_ms=0).sync("a", {"a": "t0"}).after(10)
    script.enter("b", rebalance_timeout_ms=0).heartbeat("a").wait(10).join("a", known=False).wait(50_000)
    static = {"rebalance_timeout_ms": 1, "session_timeout_ms": 6000}
    script.join("c", known=False, instance_id="i", **static).wait(1).sync("c", {"c": "t0"}, instance_id="i")
    script.join("d", known=False, instance_id="j", **static).wait(1000).heartbeat("c", instance_id="i")
    return script.wait(7000)


def _nobody_and_nothing() -> Classic:
    """Requests of members that do not exist, in a group that does not exist, and in an empty one."""
    script = Classic("nobody and nothing", **{"group.initial.rebalance.delay.ms": 3000})
    for _ in range(2):
        script.heartbeat("a", generation=0).sync("a", generation=0).leave("a").commit("a", generation=0)
        script.commit(None, generation=-1).join("a").leave(None, instance_id="i")
        script.join("a", instance_id="i").heartbeat("a", generation=0, instance_id="i")
        script.join("z", known=False, session_timeout_ms=5999).join("z", known=False).wait(50_000)
    return script


def _a_list_that_was_longer() -> Classic:
    """For each member the log has its metadata for the chosen assignor: the same list may differ after a move."""
    script = Classic("a list that was longer", **{"group.initial.rebalance.delay.ms": 0})
    both: dict[str, Any] = {"protocols": [["range", "v0"], ["cooperative-sticky", "v0"]]}
    script.enter("a", **both).sync("a", {"a": "t0 t1"}).after(100).enter("b", **both).join("a", **both)
    script.sync("a", {"a": "t0", "b": "t1"}).sync("b").after(1000).join("b", **both).move().after(1)
    script.heartbeat("a").heartbeat("b").join("b").after(100).join("b", **both).after(3000).heartbeat("a")
    return (
        script.join("a", **both)
        .sync("a", {"a": "t0", "b": "t1"})
        .sync("b")
        .join("b", **both)
        .move()
        .wait(45_000)
    )


def _an_assignor_that_nobody_has_any_more() -> Classic:
    """Members that could have continued with `range` no longer can: their new coordinator does not know of it."""
    script = Classic("an assignor that nobody has any more", **{"group.initial.rebalance.delay.ms": 0})
    chosen: dict[str, Any] = {"protocol": "cooperative-sticky"}
    script.enter("a", protocols=COOPERATIVE).sync("a", {"a": "t0 t1"}, **chosen).after(100).move().after(10)
    script.enter("b").join("a", protocols=COOPERATIVE).enter("b")
    return (
        script.sync("a", {"a": "t0 t1"}, **chosen).enter("b").join("a", protocols=COOPERATIVE).wait(300_000)
    )


def _too_many_members_are_loaded() -> Classic:
    """Static members who stay away are kept: a coordinator that loads more than it accepts begins a rebalance."""
    script = Classic(
        "too many members are loaded", **{"group.initial.rebalance.delay.ms": 100, "group.max.size": 3}
    )
    quick: dict[str, Any] = {"rebalance_timeout_ms": 10_000}
    read = {"a": "t0", "b": "t1", "c": "t2", "d": "t3"}
    for name in ("a", "b", "c"):
        script.join(name, known=False, instance_id=f"i-{name}", **quick)
    script.after(1000)
    for name in ("b", "c", "a"):
        script.sync(name, read, instance_id=f"i-{name}")
    # The leader joins again: while others are waited for, one more joins, and the last one stays away.
    script.join("a", instance_id="i-a", **quick).enter("d", **quick).join("b", instance_id="i-b", **quick)
    script.wait(10_000)
    for name in ("a", "b", "d"):
        script.sync(name, read, instance_id=None if name == "d" else f"i-{name}")
    script.after(100).move().heartbeat("d").heartbeat("c", instance_id="i-c").after(100)
    script.join("d", **quick).join("a", instance_id="i-a", **quick).join("b", instance_id="i-b", **quick)
    return script.join("c", instance_id="i-c", **quick).wait(10_000).wait(60_000)


def _moves_at_any_moment() -> Classic:
    """Requests that wait are answered, IDs that were given are forgotten, and so is a static member's new ID."""
    script = Classic("moves at any moment", **{"group.initial.rebalance.delay.ms": 100})
    static = {"instance_id": "i"}
    script.move().join("a", known=False).move().join("a").enter("a").move().heartbeat("a", generation=0)
    script.enter("a").join("b", known=False, **static).after(1000).sync("b", **static).move()
    script.sync("a", {"a": "t0"}).enter("a").join("b", known=False, **static).after(1000)
    both = {"a": "t0", "b": "t1"}
    script.sync("b", both, **static).sync("a", both).move().heartbeat("a").heartbeat("b", **static)
    script.after(10).join("c", known=False).join("a").move().after(10).join("c").heartbeat("a").heartbeat(
        "b", **static
    )
    # Its new ID is written at once while the group is stable, otherwise only with the next assignment.
    script.join("b", known=False, **static).move().heartbeat("b", **static).enter("c")
    script.join("b", known=False, **static).move().heartbeat("b", **static).join("b", **static)
    script.join("b", known=False, **static).sync("b", **static).heartbeat("a").commit("a").leave("a")
    return script.move().wait(44_999).wait(1).wait(300_000).move().join("a").enter("a")


def _nothing_to_read() -> Classic:
    """A member that is assigned nothing gets no bytes, and so does one that the leader does not mention."""
    script = Classic("nothing to read", **{"group.initial.rebalance.delay.ms": 0})
    script.enter("a").sync("a", {"a": ""}).sync("a").enter("b").join("a").sync("b").sync("a")
    return script.sync("b").move().sync("b").sync("a", generation=0).sync("b", {"b": "t0"})
