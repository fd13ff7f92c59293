"""Plays of consumer groups: who reads what after each event, and what it costs."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from partwright import group
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.group import Timeline

    Event = dict[str, Any]

NOW_KEY = "group.initial.rebalance.delay.ms"
NOW = {NOW_KEY: 0}
LATENCY_MS = 10
FOUND_MS = 3
TOLD_MS = 2 * LATENCY_MS
"""JoinGroup and SyncGroup, where the application is inside of `poll()`."""
TAKEN_MS = TOLD_MS + 1000
"""The same, and a poll more of a member that was not."""
HEARTBEAT_MS = 3000
POLL_MS = 500
CONSUMER_HEARTBEAT_MS = 5000


def play(*events: Event, **script: Any) -> Timeline:
    """A play of the classic protocol with `range` where nothing else is said, without the first rebalance's delay."""
    config = {**(NOW if script.get("protocol") != "consumer" else {}), **script.pop("config", {})}
    if script.get("protocol") != "consumer" and not any("assignor" in event for event in events):
        script.setdefault("assignor", "range")
    script.setdefault("topics", {"t": 4})
    return group.play({**script, "config": config, "events": list(events)}, requests=True)


def join(at_ms: int, name: str, **fields: Any) -> Event:
    return {"at_ms": at_ms, "join": name, **fields}


TWO = (join(0, "c1"), join(20_000, "c2"))


def rounds(timeline: Timeline) -> list[dict[str, list[int]]]:
    """The partitions' numbers by member, of each generation."""
    return [
        {
            name: sorted(number for _, number in partitions)
            for name, partitions in sorted(each["assignment"].items())
        }
        for each in timeline.generations()
    ]


def readers(timeline: Timeline, at_ms: int) -> dict[str, str]:
    """Who reads what at a time."""
    return {
        f"{row['topic']}-{row['partition']}": row["member"]
        for row in timeline.ownership().to_pylist()
        if row["group"] and row["from_ms"] <= at_ms and (row["to_ms"] is None or at_ms < row["to_ms"])
    }


def why(timeline: Timeline) -> list[str]:
    return [each["why"] for each in timeline.generations()]


def errors(timeline: Timeline) -> list[tuple[str, str]]:
    return [(each["member"], each["error"]) for each in timeline.failures()]


def answers(timeline: Timeline, member: str, request: str) -> list[str]:
    return [
        row["error"]
        for row in timeline.requests().to_pylist()
        if (row["member"], row["request"]) == (member, request)
    ]


# The classic protocol.


def test_a_reason_names_members_whose_names_have_blanks() -> None:
    events = [join(0, "pod 1"), join(0, "pod 10"), {"at_ms": 30_000, "leave": "pod 1"}, join(60_000, "pod 1")]
    assert why(play(*events))[-2:] == ["pod 1 left", "pod 1 joined"]
    # The longest name that is one: "pod 1" begins "pod 10", too.
    events = [*events, {"at_ms": 90_000, "crash": "pod 10"}, join(200_000, "p")]
    assert why(play(*events))[-2:] == ["pod 10 sent no heartbeat in time", "p joined"]


def test_whoever_has_ended_with_an_error_does_not_stall() -> None:
    events = [
        join(0, "a"),
        join(0, "b", config={"session.timeout.ms": 5000}),
        {"at_ms": 60_000, "stall": "b", "for_ms": 1000},
        {"at_ms": 101_000, "leave": "a"},
        {"at_ms": 101_500, "subscribe": "b", "topics": ["p"]},
        {"at_ms": 102_000, "stall": "b", "for_ms": 60_000},
    ]
    timeline = play(*events, config={"max.poll.interval.ms": 30_000})
    assert [failure["error"] for failure in timeline.failures()] == ["INVALID_SESSION_TIMEOUT"]
    assert timeline.ended_ms == 102_000
    assert timeline.cost.unowned_s >= 0


def test_who_is_told_of_a_topic_that_is_gone_reads_nothing() -> None:
    events = [
        join(0, "a", topics=["p"]),
        {"at_ms": 1000, "delete_topic": "p"},
        join(60_000, "b", topics=["q"]),
    ]
    delayed = {"group.initial.rebalance.delay.ms": 3000}
    timeline = play(*events, topics={"p": 1, "q": 1}, config=delayed, until_ms=100_000)
    assert timeline.unowned_ms["q-0"] == 0


def test_a_third_member_joins_cooperatively_in_two_rounds() -> None:
    events = [join(0, "c1"), join(20_000, "c2"), join(60_000, "c3")]
    timeline = play(*events, topics={"p": 3}, assignor="cooperative-sticky")
    before, first, second = rounds(timeline)[-3:]
    assert before == {"c1": [0, 1], "c2": [2]}
    # p-1 is given up in the first round, and given anew in the second.
    assert first == {"c1": [0], "c2": [2], "c3": []}
    assert second == {"c1": [0], "c2": [2], "c3": [1]}
    assert why(timeline)[-2:] == ["c3 joined", "c1 gave up 1 partition"]
    told = [each["at_ms"] for each in timeline.generations()]
    assert readers(timeline, 60_000) == {"p-0": "c1", "p-1": "c1", "p-2": "c2"}
    # A busy member reads on until its second poll from then has taken the assignment.
    assert readers(timeline, told[-2] + TAKEN_MS) == {"p-0": "c1", "p-2": "c2"}
    assert readers(timeline, told[-1] + TAKEN_MS) == {"p-0": "c1", "p-1": "c3", "p-2": "c2"}
    assert timeline.unowned_ms["p-0"] == 0
    assert told[-1] - told[-2] - TAKEN_MS <= timeline.unowned_ms["p-1"] <= told[-1] - told[-2] + TAKEN_MS
    # What is not moved is read without a break.
    kept = [row for row in timeline.ownership().to_pylist() if row["partition"] == 0]
    assert [(row["member"], row["to_ms"]) for row in kept] == [("c1", None)]


def test_an_eager_member_gives_up_everything_in_each_rebalance() -> None:
    timeline = play(*TWO, join(60_000, "c3"))
    assert rounds(timeline) == [
        {"c1": [0, 1, 2, 3]},
        {"c1": [0, 1], "c2": [2, 3]},
        {"c1": [0, 1], "c2": [2], "c3": [3]},
    ]
    at_ms = list(timeline.generations())[-1]["at_ms"]
    assert 60_000 < at_ms <= 60_000 + HEARTBEAT_MS + POLL_MS
    assert readers(timeline, at_ms) == {}
    assert len(readers(timeline, at_ms + TAKEN_MS)) == 4
    assert min(timeline.unowned_ms.values()) >= 2 * TOLD_MS


def test_the_first_rebalance_waits_for_more_members() -> None:
    timeline = play(*(join(500 * number, f"c{number}") for number in range(4)), config={NOW_KEY: 3000})
    assert len(rounds(timeline)) == 1
    assert next(timeline.generations())["at_ms"] == 6000 + FOUND_MS + LATENCY_MS
    # Before the group reads anything, nothing is left unread; each member takes its own when it polls.
    assert min(timeline.unowned_ms.values()) == 0
    assert max(timeline.unowned_ms.values()) < POLL_MS


def test_a_member_that_leaves_is_missed_at_the_next_heartbeat() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "leave": "c1"})
    assert rounds(timeline)[-1] == {"c2": [0, 1, 2, 3]}
    last = list(timeline.generations())[-1]
    assert (last["leader"], last["why"]) == ("c2", "c1 left")
    assert 60_000 <= last["at_ms"] <= 60_000 + HEARTBEAT_MS + POLL_MS
    # It leaves once its last commit is answered.
    assert readers(timeline, 60_000 + LATENCY_MS) == {"t-2": "c2", "t-3": "c2"}


def test_the_last_member_s_leaving_makes_a_generation_of_nobody() -> None:
    timeline = play(join(0, "c1"), {"at_ms": 60_000, "leave": "c1"})
    last = list(timeline.generations())[-1]
    assert last == {"generation": 2, "at_ms": 60_010, "why": "c1 left", "leader": None, "assignment": {}}
    assert timeline.protocols() == ["range", None]


def test_a_member_that_crashes_is_missed_a_session_after_its_last_heartbeat() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "crash": "c2"}, config={"session.timeout.ms": 10_000})
    heard = [
        row["at_ms"]
        for row in timeline.requests().to_pylist()
        if (row["member"], row["request"]) == ("c2", "Heartbeat")
    ]
    assert heard[-1] <= 60_000 < heard[-1] + HEARTBEAT_MS
    last = list(timeline.generations())[-1]
    assert last["why"] == "c2 sent no heartbeat in time"
    missed = heard[-1] + 10_000
    assert missed <= last["at_ms"] <= missed + HEARTBEAT_MS + POLL_MS
    longest = timeline.partitions().column("longest_ms").to_pylist()[2]
    assert 0 <= longest - (last["at_ms"] - 60_000) <= TAKEN_MS
    assert 0 <= timeline.unowned_ms["t-2"] - longest <= TAKEN_MS


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_dynamic_member_leaves_where_it_stalls_for_too_long(protocol: str) -> None:
    stall = {"at_ms": 60_000, "stall": "c2", "for_ms": 50_000}
    timeline = play(*TWO, stall, protocol=protocol, config={"max.poll.interval.ms": 20_000})
    assert why(timeline)[-2] == "c2 left"
    assert rounds(timeline)[-2:] == [{"c1": [0, 1, 2, 3]}, {"c1": [0, 1], "c2": [2, 3]}]
    left, back = (each["at_ms"] for each in list(timeline.generations())[-2:])
    assert 80_000 <= left <= 80_000 + CONSUMER_HEARTBEAT_MS + POLL_MS
    assert 110_000 <= back <= 110_000 + CONSUMER_HEARTBEAT_MS + POLL_MS


def test_a_static_member_that_stalls_for_too_long_is_not_missed_within_its_session() -> None:
    config = {"max.poll.interval.ms": 20_000}
    short = {"at_ms": 60_000, "stall": "c2", "for_ms": 50_000}
    timeline = play(*TWO, short, static=True, config=config)
    assert len(rounds(timeline)) == 2
    assert answers(timeline, "c2", "LeaveGroup") == []
    assert readers(timeline, 100_000) == {"t-0": "c1", "t-1": "c1"}
    assert readers(timeline, timeline.ended_ms)["t-3"] == "c2"
    # Its heartbeats end with the last poll's limit, and a session later it is gone.
    timeline = play(*TWO, {**short, "for_ms": 90_000}, static=True, config=config)
    assert why(timeline)[-2] == "c2 sent no heartbeat in time"
    gone = list(timeline.generations())[-2]["at_ms"]
    assert 80_000 + 45_000 - HEARTBEAT_MS <= gone <= 80_000 + 45_000 + HEARTBEAT_MS + POLL_MS


def test_a_stall_delays_a_rebalance_for_all() -> None:
    stall = {"at_ms": 60_000, "stall": "c2", "for_ms": 50_000}
    timeline = play(*TWO, stall, join(70_000, "c3"))
    assert list(timeline.generations())[-1]["at_ms"] == 110_000 + LATENCY_MS
    assert rounds(timeline)[-1] == {"c1": [0, 1], "c2": [2], "c3": [3]}
    # c1 has given up all it had at its next heartbeat and waits.
    assert {"t-0", "t-1"}.isdisjoint(readers(timeline, 75_000))
    assert timeline.unowned_ms["t-0"] >= 110_000 - 70_000 - HEARTBEAT_MS - POLL_MS


def test_a_stall_without_a_rebalance_changes_nothing() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "stall": "c2", "for_ms": 50_000})
    assert len(rounds(timeline)) == 2
    assert timeline.failures() == []


def test_a_static_member_returns_unnoticed() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "restart": "c2"}, static=True)
    assert len(rounds(timeline)) == 2
    # It is closed when its commit is answered, and back five seconds after the script's word.
    longest = timeline.partitions().column("longest_ms").to_pylist()
    assert longest[2:] == [5000 - LATENCY_MS + FOUND_MS + TOLD_MS] * 2
    assert max(longest[:2]) <= TOLD_MS + LATENCY_MS


def test_a_static_member_that_returns_too_late_was_missed() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "restart": "c2", "down_ms": 60_000}, static=True)
    assert why(timeline)[-2:] == ["c2 sent no heartbeat in time", "c2 joined"]
    assert rounds(timeline)[-2:] == [{"c1": [0, 1, 2, 3]}, {"c1": [0, 1], "c2": [2, 3]}]


def test_a_dynamic_member_s_restart_is_two_rebalances() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "restart": "c2"})
    assert why(timeline)[-2:] == ["c2 left", "c2 joined"]


def test_how_a_member_is_closed_is_its_own_to_say() -> None:
    stays = play(*TWO, {"at_ms": 60_000, "leave": "c2", "operation": "REMAIN_IN_GROUP"})
    assert why(stays)[-1] == "c2 sent no heartbeat in time"
    goes = play(*TWO, {"at_ms": 60_000, "leave": "c2", "operation": "LEAVE_GROUP"}, static=True)
    assert why(goes)[-1] == "c2 left"
    assert list(goes.generations())[-1]["at_ms"] < 70_000
    default = play(*TWO, {"at_ms": 60_000, "leave": "c2"}, static=True)
    assert why(default)[-1] == "c2 sent no heartbeat in time"


def test_two_members_of_one_instance_id_fence_one_another() -> None:
    timeline = play(join(0, "c1", instance_id="i"), join(20_000, "c2", instance_id="i"))
    assert errors(timeline) == [("c1", "FENCED_INSTANCE_ID")]
    assert set(readers(timeline, timeline.ended_ms).values()) == {"c2"}


@pytest.mark.parametrize("age_ms", [7000, 300_000])
def test_new_partitions_are_noticed_when_the_leader_looks_at_the_topics(age_ms: int) -> None:
    grows = {"at_ms": 60_000, "add_partitions": {"t": 2}}
    timeline = play(*TWO, grows, config={"metadata.max.age.ms": age_ms})
    number = -(-60_000 // age_ms)
    looks = number * age_ms
    # Each look waits for a thread that has the network, and so does its answer.
    late_ms = number * 200
    at_ms = list(timeline.generations())[-1]["at_ms"]
    assert looks <= at_ms <= looks + late_ms + HEARTBEAT_MS + 2 * POLL_MS
    assert rounds(timeline)[-1] == {"c1": [0, 1, 2], "c2": [3, 4, 5]}
    # It is unread since it was made.
    assert 0 <= timeline.unowned_ms["t-5"] - (at_ms + TOLD_MS - 60_000) <= POLL_MS


def test_a_topic_is_made_and_deleted() -> None:
    both = ["t", "u"]
    events = [
        join(0, "c1", topics=both),
        {"at_ms": 60_000, "create_topic": {"u": 2}},
        {"at_ms": 120_000, "delete_topic": "u"},
    ]
    timeline = play(*events, config={"metadata.max.age.ms": 5000}, topics={"t": 1})
    assignments = [each["assignment"]["c1"] for each in timeline.generations()]
    assert assignments == [[("t", 0)], [("t", 0), ("u", 0), ("u", 1)], [("t", 0)]]
    spans = [row for row in timeline.ownership().to_pylist() if row["topic"] == "u"]
    assert [row["to_ms"] for row in spans] == [120_000, 120_000]


def test_a_member_subscribes_to_another_topic() -> None:
    events = [join(0, "c1", topics=["t"]), {"at_ms": 60_000, "subscribe": "c1", "topics": ["u"]}]
    timeline = play(*events, topics={"t": 1, "u": 2})
    assert readers(timeline, 50_000) == {"t-0": "c1"}
    assert readers(timeline, timeline.ended_ms) == {"u-0": "c1", "u-1": "c1"}
    assert why(timeline)[-1] == "c1 changed its subscription"


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_at_rest_does_not_notice_that_its_coordinator_moves(protocol: str) -> None:
    move = {"at_ms": 60_000, "move_coordinator": True}
    timeline = play(*TWO, move, protocol=protocol, until_ms=200_000)
    assert len(rounds(timeline)) == 2
    assert timeline.is_settled
    assert timeline.failures() == []


def test_a_moved_coordinator_has_only_heard_of_the_assignor_that_was_chosen() -> None:
    both = ["cooperative-sticky", "range"]
    first, second = join(0, "c1", assignor=both), join(60_000, "c2", assignor="range")
    assert errors(play(first, second)) == []
    moved = play(first, {"at_ms": 30_000, "move_coordinator": True}, second)
    assert errors(moved) == [("c2", "INCONSISTENT_GROUP_PROTOCOL")]


def test_a_group_in_a_rebalance_begins_it_anew_where_its_coordinator_moves() -> None:
    timeline = play(*TWO, join(60_000, "c3"), {"at_ms": 60_100, "move_coordinator": True})
    assert "NOT_COORDINATOR" in answers(timeline, "c3", "JoinGroup")
    assert rounds(timeline)[-1] == {"c1": [0, 1], "c2": [2], "c3": [3]}
    generations = [each["generation"] for each in timeline.generations()]
    assert generations == sorted(set(generations))


@pytest.mark.parametrize(
    ("protocol", "old", "refused"),
    [("classic", 1, "ILLEGAL_GENERATION"), ("consumer", 1, "STALE_MEMBER_EPOCH")],
)
def test_a_commit_of_an_old_generation_is_refused(protocol: str, old: int, refused: str) -> None:
    stale = {"at_ms": 60_000, "commit": "c1", "generation": old}
    timeline = play(*TWO, stale, {"at_ms": 60_000, "commit": "c1"}, protocol=protocol)
    assert timeline.commits() == [
        {"at_ms": 60_000, "member": "c1", "error": refused},
        {"at_ms": 60_000, "member": "c1", "error": "NONE"},
    ]


@pytest.mark.parametrize(
    ("script", "events", "ended"),
    [
        ({"config": {"session.timeout.ms": 4000}}, [join(0, "c1")], ("c1", "INVALID_SESSION_TIMEOUT")),
        ({"config": {"group.max.size": 1}}, TWO, ("c2", "GROUP_MAX_SIZE_REACHED")),
        (
            {},
            [join(0, "c1", assignor="range"), join(20_000, "c2", assignor="sticky")],
            ("c2", "INCONSISTENT_GROUP_PROTOCOL"),
        ),
        (
            {"protocol": "consumer", "config": {"group.consumer.max.size": 1}},
            TWO,
            ("c2", "GROUP_MAX_SIZE_REACHED"),
        ),
        (
            {"protocol": "consumer"},
            [join(0, "c1", instance_id="i"), join(20_000, "c2", instance_id="i")],
            ("c2", "UNRELEASED_INSTANCE_ID"),
        ),
    ],
)
def test_a_member_that_is_refused_for_good_ends(
    script: dict[str, Any], events: list[Event], ended: tuple[str, str]
) -> None:
    timeline = play(*events, **script)
    assert errors(timeline) == [ended]
    assert timeline.is_settled
    assert ended[0] not in readers(timeline, timeline.ended_ms).values()


def test_a_group_goes_over_to_cooperative_sticky_in_two_rolls() -> None:
    names, both = ("c1", "c2", "c3"), ["cooperative-sticky", "range"]
    events = [join(0, name, assignor="range") for name in names]
    for step, (name, assignor) in enumerate(
        (name, to) for to in (both, "cooperative-sticky") for name in names
    ):
        events.append({"at_ms": 60_000 * (step + 1), "restart": name, "assignor": assignor})
    timeline = play(*events)
    # The first is refused by nobody: whoever knows both votes with the others.
    assert timeline.failures() == []
    protocols = timeline.protocols()
    turn = protocols.index("cooperative-sticky")
    assert set(protocols[:turn]) == {"range"}
    assert set(protocols[turn:]) == {"cooperative-sticky"}
    # It turns when the last that knows range alone has gone.
    assert list(timeline.generations())[turn]["at_ms"] > 180_000
    assert len(readers(timeline, timeline.ended_ms)) == 4


def test_one_step_is_not_enough_to_go_over_to_cooperative_sticky() -> None:
    events = [
        join(0, "c1"),
        join(0, "c2"),
        {"at_ms": 60_000, "restart": "c1", "assignor": "cooperative-sticky"},
    ]
    events[:2] = [{**event, "assignor": "range"} for event in events[:2]]
    assert errors(play(*events)) == [("c1", "INCONSISTENT_GROUP_PROTOCOL")]


# KIP-848.


def test_a_member_of_the_consumer_protocol_joins_without_a_break_for_others() -> None:
    timeline = play(*TWO, protocol="consumer")
    assert rounds(timeline) == [{"c1": [0, 1, 2, 3]}, {"c1": [0, 1], "c2": [2, 3]}]
    assert {each["leader"] for each in timeline.generations()} == {None}
    assert timeline.protocols() == [None, None]
    assert timeline.unowned_ms["t-0"] == timeline.unowned_ms["t-1"] == 0
    # What c1 has given up, c2 is told of with its own next heartbeat.
    assert 0 < timeline.unowned_ms["t-2"] <= CONSUMER_HEARTBEAT_MS


def test_a_member_of_the_consumer_protocol_leaves_and_crashes() -> None:
    leaves = play(*TWO, {"at_ms": 60_000, "leave": "c1"}, protocol="consumer")
    assert why(leaves)[-1] == "c1 left"
    assert rounds(leaves)[-1] == {"c2": [0, 1, 2, 3]}
    crashes = play(*TWO, {"at_ms": 60_000, "crash": "c1"}, protocol="consumer")
    assert why(crashes)[-1] == "c1 sent no heartbeat in time"
    at_ms = list(crashes.generations())[-1]["at_ms"]
    assert 60_000 + 45_000 - CONSUMER_HEARTBEAT_MS <= at_ms <= 60_000 + 45_000 + CONSUMER_HEARTBEAT_MS


def test_a_static_member_of_the_consumer_protocol_leaves_for_a_while() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "restart": "c1"}, protocol="consumer", static=True)
    assert len(rounds(timeline)) == 2
    left = [row for row in timeline.requests().to_pylist() if row["generation"] == -2]
    assert [(row["member"], row["at_ms"], row["error"]) for row in left] == [
        ("c1", 60_000 + LATENCY_MS, "NONE")
    ]
    # It takes two polls more to take its partitions up.
    assert 5000 <= timeline.unowned_ms["t-0"] <= 5000 + 2 * POLL_MS
    late = {"at_ms": 60_000, "restart": "c1", "down_ms": 60_000}
    timeline = play(*TWO, late, protocol="consumer", static=True)
    assert why(timeline)[-2:] == ["c1 sent no heartbeat in time", "c1 subscribed"]


def test_the_broker_notices_new_partitions_itself() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "add_partitions": {"t": 2}}, protocol="consumer")
    assert why(timeline)[-1] == "the topics that the group reads have changed"
    assert list(timeline.generations())[-1]["at_ms"] <= 60_000 + CONSUMER_HEARTBEAT_MS
    assert timeline.moved == 2


# What clients do of themselves.


def test_a_topic_that_is_made_is_noticed_within_a_second() -> None:
    # `Metadata` asks again for what it misses, however old it may grow.
    events = [join(0, "c1", topics=["t", "u"]), {"at_ms": 60_500, "create_topic": {"u": 1}}]
    timeline = play(*events)
    assert rounds(timeline)[-1] == {"c1": [0, 0, 1, 2, 3]}
    assert 60_500 < list(timeline.generations())[-1]["at_ms"] <= 61_500 + POLL_MS


def test_a_topic_that_is_deleted_is_missed_by_who_reads_it() -> None:
    events = [join(0, "c1", topics=["t", "u"]), {"at_ms": 60_000, "delete_topic": "u"}]
    timeline = play(*events, topics={"t": 1, "u": 1})
    assert list(timeline.generations())[-1]["at_ms"] <= 60_100 + POLL_MS


def test_a_member_subscribes_in_the_midst_of_a_rebalance() -> None:
    stall = {"at_ms": 60_000, "stall": "c2", "for_ms": 20_000}
    events = [
        *TWO,
        stall,
        join(61_000, "c3", topics=["t"]),
        {"at_ms": 70_000, "subscribe": "c3", "topics": ["t", "u"]},
    ]
    timeline = play(*events, topics={"t": 3, "u": 1})
    assert timeline.is_settled
    assert why(timeline)[-2:] == ["c3 joined", "c3 changed its subscription"]
    assert len(readers(timeline, timeline.ended_ms)) == 4
    last = list(timeline.generations())[-1]["assignment"]
    assert ("u", 0) in [*last["c1"], *last["c2"], *last["c3"]]


def test_a_subscription_to_the_same_topics_changes_nothing() -> None:
    for protocol in ("classic", "consumer"):
        events = [
            join(0, "c1", topics=["t", "u"]),
            {"at_ms": 60_000, "subscribe": "c1", "topics": ["u", "t"]},
        ]
        assert len(rounds(play(*events, topics={"t": 3, "u": 1}, protocol=protocol))) == 1


def test_a_member_of_the_consumer_protocol_subscribes_with_its_next_heartbeat() -> None:
    events = [join(0, "c1", topics=["t"]), {"at_ms": 61_000, "subscribe": "c1", "topics": ["u"]}]
    timeline = play(*events, topics={"t": 1, "u": 2}, protocol="consumer")
    assert 61_000 < list(timeline.generations())[-1]["at_ms"] <= 61_000 + CONSUMER_HEARTBEAT_MS
    # Even before the coordinator has answered that it is a member.
    events[1] |= {"at_ms": 1}
    timeline = play(*events, topics={"t": 1, "u": 2}, protocol="consumer")
    assert timeline.failures() == []
    assert readers(timeline, timeline.ended_ms) == {"u-0": "c1", "u-1": "c1"}


def test_a_static_member_that_has_stalled_for_too_long_forgets_its_id() -> None:
    stall = {"at_ms": 60_000, "stall": "c2", "for_ms": 50_000}
    timeline = play(*TWO, stall, static=True, config={"max.poll.interval.ms": 20_000})
    joins = [row for row in timeline.requests().to_pylist() if row["request"] == "JoinGroup"]
    back = [(row["error"], row["generation"]) for row in joins if row["at_ms"] > 100_000]
    assert back == [("NONE", 2)]
    assert len({row["member_id"] for row in joins if row["member"] == "c2"}) == 2


def test_ids_are_drawn_in_turn_for_whoever_is_no_longer_known() -> None:
    stall = {"at_ms": 60_000, "stall": "c2", "for_ms": 50_000}
    again = {"at_ms": 160_000, "stall": "c2", "for_ms": 50_000}
    events = [TWO[0], {**TWO[1], "member_id": ["m1", "m2"]}, stall, again]
    timeline = play(*events, config={"max.poll.interval.ms": 20_000})
    rows = [row for row in timeline.requests().to_pylist() if row["member"] == "c2"]
    joined = dict.fromkeys(row["member_id"] for row in rows if row["request"] == "JoinGroup")
    # A script's IDs may be used up.
    assert list(joined) == ["m1", "m2", "c2"]


def test_a_member_that_is_out_reads_nothing_of_what_it_subscribes_to_anew() -> None:
    events = [
        join(0, "c1", topics=["t", "u"]),
        {"at_ms": 60_000, "stall": "c1", "for_ms": 100_000},
        {"at_ms": 70_000, "subscribe": "c1", "topics": ["u"]},
        {"at_ms": 120_000, "subscribe": "c1", "topics": ["t", "u"]},
    ]
    timeline = play(*events, topics={"t": 1, "u": 1}, config={"max.poll.interval.ms": 30_000})
    both = {"t-0": "c1", "u-0": "c1"}
    assert [readers(timeline, at_ms) for at_ms in (59_000, 80_000, 130_000)] == [both, {"u-0": "c1"}, {}]
    assert readers(timeline, timeline.ended_ms) == both


def test_a_consumer_that_is_closing_leaves_though_its_successor_has_joined() -> None:
    events = [join(0, "c1", listener=1500), {"at_ms": 60_000, "restart": "c1", "down_ms": 1000}]
    rows = [row for row in play(*events).requests().to_pylist() if row["at_ms"] > 60_000]
    said = [(row["request"], row["error"]) for row in rows if row["request"] != "Heartbeat"]
    assert said[:2] == [("JoinGroup", "MEMBER_ID_REQUIRED"), ("LeaveGroup", "NONE")]
    assert [row["at_ms"] for row in rows if row["request"] == "LeaveGroup"] == [61_500 + LATENCY_MS]


def test_a_broker_that_loses_its_group_refuses_the_requests_that_wait_behind_others() -> None:
    """A broker answers a connection's requests in turn: c2's heartbeats wait for the answer to its SyncGroup."""
    events = [
        join(0, "c1", poll_ms=10_000),
        join(5000, "c2"),
        {"at_ms": 29_500, "move_coordinator": True},
    ]
    timeline = play(*events, assignor="cooperative-sticky")
    refused = [
        (row["at_ms"], row["request"])
        for row in timeline.requests().to_pylist()
        if (row["member"], row["error"]) == ("c2", "NOT_COORDINATOR")
    ]
    assert refused == [(29_510, "SyncGroup"), *[(29_510, "Heartbeat")] * 3]


def test_a_static_member_that_returns_with_fewer_topics_takes_part_in_one_rebalance_more() -> None:
    for assignor in ("range", "sticky", "cooperative-sticky"):
        events = [
            join(0, "c1", topics=["t", "u"]),
            join(20_000, "c2", topics=["t", "u"]),
            {"at_ms": 60_000, "restart": "c2", "topics": ["t"]},
        ]
        timeline = play(*events, topics={"t": 2, "u": 2}, static=True, assignor=assignor, latency_ms=0)
        assert timeline.is_settled
        assert {name for part, name in readers(timeline, timeline.ended_ms).items() if part[0] == "u"} == {
            "c1"
        }


# What is beside the group, short forms, figures.


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_consumers_that_assign_themselves_partitions_are_beside_the_group(protocol: str) -> None:
    events = [
        {"at_ms": 30_000, "assign": "a", "partitions": [["t", 0], ["t", 3]]},
        {"at_ms": 40_000, "leave": "a"},
    ]
    with_it, without = play(*TWO, *events, protocol=protocol), play(*TWO, protocol=protocol)
    assert rounds(with_it) == rounds(without)
    assert with_it.unowned_ms == without.unowned_ms
    beside = [row for row in with_it.ownership().to_pylist() if not row["group"]]
    assert [(row["partition"], row["from_ms"], row["to_ms"]) for row in beside] == [
        (0, 30_000, 40_000),
        (3, 30_000, 40_000),
    ]
    alone = play(events[0])
    assert list(alone.generations()) == []
    assert [row["to_ms"] for row in alone.ownership().to_pylist()] == [None, None]


def test_short_forms_are_scripts() -> None:
    text = group.play({"topics": {"t": 4}, "events": "+2, x1, -1, t+2, roll", "every_ms": 30_000})
    events = [
        join(0, "c1"),
        join(0, "c2"),
        {"at_ms": 30_000, "crash": "c2"},
        {"at_ms": 60_000, "leave": "c1"},
        {"at_ms": 90_000, "add_partitions": {"t": 2}},
    ]
    assert text.to_dict() == group.play({"topics": {"t": 4}, "events": events}).to_dict()
    rolled = group.play({"topics": {"t": 4}, "events": "+2, roll", "static": True, "down_ms": 7000})
    downs = [
        {"at_ms": 60_000, "restart": "c1", "down_ms": 7000},
        {"at_ms": 77_000, "restart": "c2", "down_ms": 7000},
    ]
    written = {"topics": {"t": 4}, "events": [join(0, "c1"), join(0, "c2"), *downs], "static": True}
    assert rolled.to_dict() == group.play(written).to_dict()


def test_a_timeline_as_an_object_has_what_the_command_prints() -> None:
    told = play(*TWO).to_dict()
    assert list(told) == ["generations", "moved", "unowned_ms"]
    assert [list(each) for each in told["generations"]] == [
        ["generation", "at_ms", "why", "leader", "assignment"]
    ] * 2
    assert json.loads(json.dumps(told))["generations"][0] == {
        "generation": 1,
        "at_ms": 13,
        "why": "c1 joined",
        "leader": "c1",
        "assignment": {"c1": [["t", 0], ["t", 1], ["t", 2], ["t", 3]]},
    }
    assert told["moved"] == 2
    assert told["unowned_ms"] == {"t-0": 30, "t-1": 30, "t-2": 319, "t-3": 319}
    commits = play(*TWO, {"at_ms": 60_000, "commit": "c1"}, config={"group.max.size": 1}).to_dict()
    assert list(commits)[3:] == ["failures", "commits"]


def test_figures_are_what_one_counts_by_hand() -> None:
    # c1 polls at 0, 500, ...; it reads from 33 ms on, commits at the first poll after 5 s of it (5.5 s) and 10.5 s, and
    # crashes at 12 s: 1.5 s are read twice. c2 finds its coordinator in 3 ms, and joins in three answers of 10 ms each.
    config = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 2000}
    events = [join(0, "c1"), {"at_ms": 12_000, "crash": "c1"}, join(30_000, "c2")]
    timeline = play(*events, topics={"t": 2}, config=config, records_per_s=10)
    assert timeline.unowned_ms == {"t-0": 18_033, "t-1": 18_033}
    cost = timeline.cost
    assert (cost.generations, cost.moved) == (3, 2)
    assert cost.unowned_s == pytest.approx(36.066)
    assert cost.longest_s == pytest.approx(18.033)
    assert cost.not_read == pytest.approx(360.66)
    assert cost.read_twice == pytest.approx(2 * 1.5 * 10)
    table = timeline.partitions()
    assert table.column("moves").to_pylist() == [1, 1]
    assert table.column("read_twice").to_pylist() == pytest.approx([15, 15])
    assert table.column("not_read").to_pylist() == pytest.approx([180.33, 180.33])


def test_what_is_closed_in_order_is_not_read_twice() -> None:
    for closes in ({"leave": "c1"}, {"restart": "c1"}):
        timeline = play(*TWO, {"at_ms": 63_000, **closes}, records_per_s=10)
        assert timeline.cost.read_twice == 0
    config = {"enable.auto.commit": "false"}
    timeline = play(join(0, "c1"), {"at_ms": 12_000, "restart": "c1"}, config=config, records_per_s=10)
    # Nothing was ever committed: all of it is read again.
    assert timeline.cost.read_twice == pytest.approx(4 * 11.98 * 10, abs=4 * 0.2)


def test_a_comparison_plays_a_script_under_each_protocol() -> None:
    compared = group.compare({"topics": {"t": 12}, "events": "+3, roll", "records_per_s": 5})
    names = ["range", "sticky", "cooperative-sticky", "consumer"]
    assert list(compared) == [(name, static) for name in names for static in (False, True)]
    for (name, static), timeline in compared.items():
        alone = {"topics": {"t": 12}, "events": "+3, roll", "records_per_s": 5, "static": static}
        variant = (
            {"protocol": "consumer", "assignor": "uniform"} if name == "consumer" else {"assignor": name}
        )
        assert timeline.cost == group.play({**alone, **variant}).cost
        assert timeline.is_settled
    for name in names:
        assert compared[name, True].cost.moved <= compared[name, False].cost.moved
        assert compared[name, True].cost.generations < compared[name, False].cost.generations


@pytest.mark.parametrize("own", [{"assignor": "range"}, {"instance_id": "i"}])
def test_a_comparison_chooses_assignors_itself(own: dict[str, str]) -> None:
    with pytest.raises(PartwrightError, match=f"^event 1 names its own {next(iter(own))}"):
        group.compare({"topics": {"t": 1}, "events": [join(0, "c1", **own)]})


def test_a_chart_has_a_row_a_member() -> None:
    timeline = play(*TWO, {"at_ms": 60_000, "crash": "c2"})
    for width in (40, 77, 100, 300):
        lines = timeline.chart(width).splitlines()
        assert [line.split()[0] for line in lines[1:]] == ["c1", "c2", "nobody"]
        assert max(map(len, lines)) <= width
        assert lines[0].split()[:2] == ["0", "s"]
    assert lines[1].split()[1].strip(".").replace(".", "").strip("4") == "2" * lines[1].count("2") != ""
    assert "2" in lines[3]
    for width in (39, 0, -1, True, 60.0, "60", None):
        with pytest.raises(PartwrightError, match=r"^a chart's width is a whole number from 40 to 1000"):
            timeline.chart(width)  # type: ignore[arg-type]


def test_a_static_member_that_is_back_before_its_former_consumer_has_left_is_refused() -> None:
    """The real consumer of kafka-clients 4.4.0 gets UnreleasedInstanceIdException at the same millisecond."""
    events = [
        join(300, "c0", topics=["t0", "later"]),
        {"at_ms": 300, "restart": "c0", "down_ms": 60_000},
        {"at_ms": 130_300, "restart": "c0", "down_ms": 1},
    ]
    timeline = play(
        *events,
        protocol="consumer",
        topics={"t0": 7},
        assignor="range",
        static=True,
        poll_ms=4000,
        latency_ms=10,
        records_per_s=1,
        config={"metadata.max.age.ms": 60_000, "enable.auto.commit": True},
        until_ms=200_000,
    )
    assert timeline.failures() == [{"at_ms": 134_301, "member": "c0", "error": "UNRELEASED_INSTANCE_ID"}]


def test_a_deleted_partition_has_no_reader_and_waits_for_none() -> None:
    """A leader that has not looked at the topics since assigns it all the same."""
    events = [
        join(0, "a", topics=["t"]),
        join(0, "b", topics=["t", "u"]),
        {"at_ms": 60_000, "delete_topic": "u"},
        join(60_300, "c", topics=["t"]),
    ]
    timeline = play(*events, topics={"t": 2, "u": 4}, until_ms=900_000)
    last = max(row["to_ms"] for row in timeline.ownership().to_pylist() if row["topic"] == "u")
    assert last == 60_000
    assert all(timeline.unowned_ms[f"u-{number}"] == 0 for number in range(4))
    assert not [name for name in timeline.unread_at_the_end() if name.startswith("u")]


def test_a_vote_for_an_assignor_is_not_outvoted_by_those_who_name_none() -> None:
    events = [join(0, "a"), join(5000, "b", assignor="range")]
    timeline = play(*events, protocol="consumer", topics={"t": 5, "u": 3}, until_ms=60_000)
    assert [each["generation"] for each in timeline.generations()] == [2, 3]
    assert timeline.is_settled


def test_consumers_of_like_names_have_ids_of_their_own() -> None:
    events = [join(0, "c1"), join(0, "c1-2"), {"at_ms": 60_000, "restart": "c1"}]
    timeline = play(*events, protocol="consumer", topics={"t": 6})
    assert timeline.is_settled
    assert sorted(Counter(readers(timeline, timeline.ended_ms).values()).items()) == [("c1", 3), ("c1-2", 3)]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_what_was_committed_before_a_crash_is_not_read_twice(protocol: str) -> None:
    crash = {"at_ms": 63_000, "crash": "c2"}
    config = {"enable.auto.commit": False}
    records = {"records_per_s": 100, "config": config, "protocol": protocol}
    plain = play(*TWO, crash, **records).cost.read_twice
    committed = play(*TWO, {"at_ms": 62_900, "commit": "c2"}, crash, **records).cost.read_twice
    # What c2's two partitions had come to since the first record: nobody had committed any of it before.
    saved = plain - committed
    assert 2 * 100 * 62 < saved < 2 * 100 * 63


def test_who_crashes_in_a_stall_had_read_nothing_since_it_began() -> None:
    stall = {"at_ms": 62_000, "stall": "c2", "for_ms": 60_000}
    crash = {"at_ms": 84_000, "crash": "c2"}
    cost = play(*TWO, stall, crash, records_per_s=100).cost
    assert 0 <= cost.read_twice <= 2 * 100 * 5


@pytest.mark.parametrize("second", [{"at_ms": 61_000, "for_ms": 1000}, {"at_ms": 85_000, "for_ms": 20_000}])
def test_stalls_that_overlap_are_one(second: dict[str, int]) -> None:
    """c2 does not poll for longer than it may, and is put out once."""
    first = {"at_ms": 60_000, "stall": "c2", "for_ms": 40_000}
    config = {"max.poll.interval.ms": 30_000}
    one = play(*TWO, first, config=config)
    both = play(*TWO, first, {"stall": "c2", **second}, config=config)
    assert len(list(both.generations())) == len(list(one.generations())) == 4
    left = [each["at_ms"] for each in both.generations() if set(each["assignment"]) == {"c1"}]
    # The last poll was at 60,809 ms or before, and the thread looks every 100 ms.
    assert len(left) == 2
    assert 90_000 <= left[1] <= 91_500


def test_what_nobody_reads_at_the_end_is_named() -> None:
    timeline = play(join(0, "a", topics=["t"]), topics={"t": 1, "u": 2})
    assert timeline.unread_at_the_end() == ["u-0", "u-1"]
    assert play(join(0, "a"), {"at_ms": 60_000, "leave": "a"}).unread_at_the_end() == []


def test_a_chart_wants_what_was_kept() -> None:
    timeline = group.play({"topics": {"t": 1}, "events": "+1"}, ownership=False)
    for ask in (timeline.chart, timeline.ownership):
        with pytest.raises(PartwrightError, match="ownership=True"):
            ask()
    with pytest.raises(PartwrightError, match="from 40 to 1000"):
        group.play({"topics": {"t": 1}, "events": "+1"}).chart(1001)


def test_a_chart_keeps_its_width_and_its_rows() -> None:
    timeline = play(join(0, "n" * 200), join(0, "my\npod"))
    lines = timeline.chart(60).split("\n")
    assert max(map(len, lines)) <= 60
    assert len(lines) == 4
