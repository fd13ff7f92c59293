"""Lives of groups, played: the documents' example round by round, each event, and what must hold of any script."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

import partwright as pw
from partwright.group.play_script import VARIANTS

STILL = {"poll_ms": 0, "latency_ms": 0}
"""What a rebalance takes is the protocol's alone."""


def lives(events: Any, **more: Any) -> pw.group.Timeline:
    return pw.group.play({"topics": {"t": 4}, "assignor": "range", **STILL, "events": events, **more})


def counts(timeline: pw.group.Timeline) -> list[dict[str, int]]:
    return [
        {name: len(those) for name, those in each["assignment"].items()} for each in timeline.generations()
    ]


def owned(timeline: pw.group.Timeline) -> dict[tuple[str, int], list[tuple[str, int, int | None]]]:
    """By partition who read it from when to when."""
    found: dict[tuple[str, int], list[tuple[str, int, int | None]]] = {}
    for row in timeline.ownership().to_pylist():
        found.setdefault((row["topic"], row["partition"]), []).append(
            (row["member"], row["from_ms"], row["to_ms"])
        )
    return found


def test_the_documents_example_takes_two_rebalances() -> None:
    """c1[p1,p2], c2[p3], and c3 joins: in the first nobody reads p2, in the second c3 does."""
    topics = {"p": 3}
    start = [
        {"at_ms": 0, "join": "c1", "member_id": "m1"},
        {"at_ms": 0, "join": "c2", "member_id": "m0"},
    ]
    timeline = pw.group.play(
        {
            "topics": topics,
            "assignor": "cooperative-sticky",
            **STILL,
            "events": [*start, {"at_ms": 60_000, "join": "c3"}],
        }
    )
    before, first, second = [each["assignment"] for each in timeline.generations()]
    (moved,) = [pair for pair in before["c2"] if pair not in first["c2"]] or [
        pair for pair in before["c1"] if pair not in first["c1"]
    ]
    assert sorted(map(len, before.values())) == [1, 2]
    assert first["c3"] == []
    assert sum(map(len, first.values())) == 2
    assert second == {**first, "c3": [moved]}
    assert timeline.moved == 1
    # Who keeps a partition reads on; what moves is unread from the first rebalance to the second.
    one, two = [each["at_ms"] for each in timeline.generations()][1:]
    assert timeline.unowned_ms == {
        f"p-{number}": two - one if ("p", number) == moved else 0 for number in range(3)
    }


def test_an_eager_group_gives_all_up_first() -> None:
    timeline = lives(
        [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}, {"at_ms": 61_000, "join": "c3"}],
        latency_ms=10,
    )
    assert counts(timeline) == [{"c1": 2, "c2": 2}, {"c1": 2, "c2": 1, "c3": 1}]
    _, second = timeline.generations()
    # Members hear of it with their next heartbeat, every three seconds since JoinGroup was answered, and commit first.
    assert 63_000 < second["at_ms"] < 63_200
    assert max(timeline.unowned_ms.values()) < 200
    assert all(63_000 < spans[0][2] < 63_200 for spans in owned(timeline).values())


def test_a_crash_is_missed_when_its_session_ends() -> None:
    timeline = lives(
        [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}, {"at_ms": 20_000, "crash": "c2"}],
        config={"session.timeout.ms": 10_000, "group.initial.rebalance.delay.ms": 0},
    )
    # Its last heartbeat was at 18,000 ms.
    missed = list(timeline.generations())[-1]
    assert missed["why"] == "c2 sent no heartbeat in time"
    assert 28_000 <= missed["at_ms"] <= 31_000
    assert counts(timeline)[-1] == {"c1": 4}
    assert timeline.unowned_ms["t-2"] == missed["at_ms"] - 20_000


def test_records_are_read_again_where_nobody_has_committed_them() -> None:
    events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}, {"at_ms": 23_500, "crash": "c2"}]
    timeline = lives(events, records_per_s=100)
    # It committed at 21,000 ms, each five seconds since it had been assigned; c1 had committed what it gave up.
    assert 2 * 2.4 * 100 <= timeline.cost.read_twice <= 2 * 2.6 * 100
    assert timeline.cost.not_read == pytest.approx(sum(timeline.unowned_ms.values()) / 1000 * 100)
    gone = [*events[:2], {"at_ms": 23_500, "leave": "c2"}]
    assert lives(gone, records_per_s=100).cost.read_twice == 0


def test_a_member_that_does_not_poll_is_out_after_max_poll_interval_ms() -> None:
    start = [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}]
    stall = {"at_ms": 10_000, "stall": "c2", "for_ms": 90_000}
    short = lives([*start, stall])
    assert len(counts(short)) == 1
    timeline = lives([*start, stall], config={"max.poll.interval.ms": 60_000})
    assert [each["why"] for each in timeline.generations()][1:] == ["c2 left", "c2 joined"]
    assert [each["at_ms"] for each in timeline.generations()][1] >= 70_000
    assert counts(timeline)[-1] == {"c1": 2, "c2": 2}


def test_a_stalled_member_keeps_the_others_waiting() -> None:
    start = [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}]
    timeline = lives(
        [*start, {"at_ms": 20_000, "stall": "c2", "for_ms": 40_000}, {"at_ms": 21_000, "join": "c3"}]
    )
    assert list(timeline.generations())[1]["at_ms"] == 60_000
    assert timeline.cost.longest_s > 35


@pytest.mark.parametrize(("down_ms", "generations"), [(5_000, 1), (41_000, 1), (60_000, 3)])
def test_a_static_member_that_returns_in_time_is_not_missed(down_ms: int, generations: int) -> None:
    events = [
        {"at_ms": 0, "join": "c1"},
        {"at_ms": 0, "join": "c2"},
        {"at_ms": 60_000, "restart": "c2", "down_ms": down_ms},
    ]
    timeline = lives(events, static=True)
    assert len(counts(timeline)) == generations
    assert counts(timeline)[-1] == {"c1": 2, "c2": 2}


def test_partitions_are_noticed_when_the_leader_looks() -> None:
    events = [
        {"at_ms": 0, "join": "c1"},
        {"at_ms": 0, "join": "c2"},
        {"at_ms": 100_000, "add_partitions": {"t": 4}},
    ]
    timeline = lives(events)
    last = list(timeline.generations())[-1]
    # The other member hears of it by its next heartbeat.
    assert last["why"] == "c1 saw that the topics changed"
    assert 300_000 <= last["at_ms"] <= 303_200
    assert 0 <= timeline.unowned_ms["t-4"] - (last["at_ms"] - 100_000) <= 200
    assert lives(events, protocol="consumer", assignor="uniform").unowned_ms["t-4"] < 15_000


def test_a_group_becomes_cooperative_in_two_steps() -> None:
    """Every member is restarted once with both assignors, and once more with the new one alone."""
    events: list[dict[str, Any]] = [{"at_ms": 0, "join": name, "assignor": "range"} for name in ("c1", "c2")]
    for number, assignor in enumerate(["cooperative-sticky, range", "cooperative-sticky"]):
        for place, name in enumerate(("c1", "c2")):
            at_ms = 60_000 * (1 + 2 * number + place)
            events.append({"at_ms": at_ms, "restart": name, "assignor": assignor, "down_ms": 1000})
    timeline = pw.group.play({"topics": {"t": 4}, "events": events})
    assert timeline.failures() == []
    assert timeline.protocols()[0] == "range"
    assert timeline.protocols()[-1] == "cooperative-sticky"
    at_once = [*events[:2], {"at_ms": 60_000, "restart": "c1", "assignor": "cooperative-sticky"}]
    (failure,) = pw.group.play({"topics": {"t": 4}, "events": at_once}).failures()
    assert failure["error"] == "INCONSISTENT_GROUP_PROTOCOL"


def test_commits_of_old_generations_are_refused() -> None:
    events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 10_000, "commit": "c1"}, {"at_ms": 60_000, "join": "c2"}]
    late = [{"at_ms": 90_000, "commit": "c1", "generation": 1}, {"at_ms": 91_000, "leave": "c2"}]
    gone = {"at_ms": 120_000, "commit": "c2"}
    told = [each["error"] for each in lives([*events, *late, gone]).commits()]
    assert told == ["NONE", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"]


def test_who_was_missed_commits_in_vain() -> None:
    events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}, {"at_ms": 60_000, "crash": "c2"}]
    told = lives([*events, {"at_ms": 120_000, "commit": "c2"}]).commits()
    assert [each["error"] for each in told] == ["UNKNOWN_MEMBER_ID"]


def test_a_session_beyond_the_groups_limits_is_refused() -> None:
    (failure,) = lives([{"at_ms": 0, "join": "c1"}], config={"session.timeout.ms": 5000}).failures()
    assert failure == {"at_ms": 3, "member": "c1", "error": "INVALID_SESSION_TIMEOUT"}


def test_a_stable_group_does_not_notice_that_its_coordinator_moves() -> None:
    events = [
        {"at_ms": 0, "join": "c1"},
        {"at_ms": 0, "join": "c2"},
        {"at_ms": 60_000, "move_coordinator": True},
    ]
    assert len(counts(lives([*events, {"at_ms": 100_000, "stall": "c1", "for_ms": 1}]))) == 1


def test_the_leader_alone_is_told_of_the_members() -> None:
    script = {"topics": {"t": 4}, "events": [{"at_ms": 0, "join": f"c{number}"} for number in (1, 2, 3)]}
    rows = pw.group.play(script, requests=True).requests().to_pylist()
    joined = {
        row["member"]: row["members"]
        for row in rows
        if row["request"] == "JoinGroup" and row["error"] == "NONE"
    }
    assert joined == {"c1": 3, "c2": 0, "c3": 0}
    assert {row["leader_id"] for row in rows if row["request"] == "JoinGroup" and row["error"] == "NONE"} == {
        "c1"
    }
    assert sum(row["error"] == "MEMBER_ID_REQUIRED" for row in rows) == 3


def test_a_consumer_that_assigns_itself_is_beside_the_group() -> None:
    events = [
        {"at_ms": 0, "join": "c1"},
        {"at_ms": 5000, "assign": "x", "partitions": [["t", 0]]},
        {"at_ms": 9000, "leave": "x"},
    ]
    timeline = lives(events)
    assert counts(timeline) == [{"c1": 4}]
    assert [row for row in timeline.ownership().to_pylist() if not row["group"]] == [
        {"member": "x", "topic": "t", "partition": 0, "from_ms": 5000, "to_ms": 9000, "group": False}
    ]


def test_a_static_member_of_the_consumer_protocol_that_crashes_cannot_return_at_once() -> None:
    events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 10_000, "crash": "c1"}, {"at_ms": 20_000, "join": "c1"}]
    (failure,) = lives(events, protocol="consumer", assignor="uniform", static=True).failures()
    assert failure["error"] == "UNRELEASED_INSTANCE_ID"


def test_the_json_is_that_of_the_interfaces() -> None:
    told = lives([{"at_ms": 0, "join": "c1"}]).to_dict()
    assert told == {
        "generations": [
            {
                "generation": 1,
                "at_ms": 3003,
                "why": "c1 joined",
                "leader": "c1",
                "assignment": {"c1": [("t", 0), ("t", 1), ("t", 2), ("t", 3)]},
            }
        ],
        "moved": 0,
        "unowned_ms": {"t-0": 0, "t-1": 0, "t-2": 0, "t-3": 0},
    }


def test_a_comparison_plays_each_protocol_with_and_without_static_members() -> None:
    compared = pw.group.compare({"topics": {"t": 8}, "events": "+4, roll"})
    assert list(compared) == [(name, static) for name in VARIANTS for static in (False, True)]
    for (name, static), timeline in compared.items():
        assert timeline.is_settled
        assert timeline.failures() == []
        # Who returns in time is not missed, whatever the protocol.
        assert static == (timeline.cost.generations <= 2), name


def script_of(draw: random.Random) -> dict[str, Any]:
    """Members come and go at any time, topics grow."""
    there: dict[str, int] = {}
    events: list[dict[str, Any]] = []
    at_ms = 0
    for number in range(draw.randint(1, 25)):
        at_ms += draw.choice([0, 1, 700, 3000, 10_000, 47_000])
        names = [name for name, since in there.items() if since <= at_ms]
        kind = draw.choice(["join", "join", "leave", "crash", "restart", "stall", "grow", "move"])
        if kind == "join" or not names:
            events.append({"at_ms": at_ms, "join": f"c{number}", "topics": draw.choice([["t"], ["t", "u"]])})
            there[f"c{number}"] = at_ms
        elif kind in {"leave", "crash"}:
            del there[name := draw.choice(names)]
            events.append({"at_ms": at_ms, kind: name})
        elif kind == "restart":
            down_ms = draw.choice([0, 100, 5000, 50_000])
            there[name := draw.choice(names)] = at_ms + down_ms
            events.append({"at_ms": at_ms, "restart": name, "down_ms": down_ms})
        elif kind == "stall":
            events.append(
                {"at_ms": at_ms, "stall": draw.choice(names), "for_ms": draw.choice([10, 5000, 70_000])}
            )
        elif kind == "grow":
            events.append({"at_ms": at_ms, "add_partitions": {draw.choice("tu"): draw.randint(1, 3)}})
        else:
            events.append({"at_ms": at_ms, "move_coordinator": True})
    return {
        "topics": {"t": draw.randint(1, 7), "u": draw.randint(1, 5)},
        "events": events,
        "static": draw.random() < 0.3,
        "config": {"max.poll.interval.ms": 60_000, "session.timeout.ms": draw.choice([6000, 45_000])},
        **draw.choice(list(VARIANTS.values())),
        **draw.choice([{}, STILL]),
    }


def test_whatever_happens_each_partition_has_one_reader_in_the_end(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(400):
        script = script_of(draw)
        timeline = pw.group.play(script)
        told = (seed, script)
        assert timeline.is_settled, told
        numbers = [each["generation"] for each in timeline.generations()]
        # A coordinator that takes over goes on from what was written: a rebalance under way then never was.
        if not any("move_coordinator" in event for event in script["events"]):
            assert all(one < other for one, other in pairwise(numbers)), told
        spans = owned(timeline)
        for those in spans.values():
            assert all(one[2] is not None and one[2] <= other[1] for one, other in pairwise(those)), told
        last = next(reversed(list(timeline.generations())), {"assignment": {}})
        if last["assignment"] and not timeline.failures():
            readers = {pair: those[-1][0] for pair, those in spans.items() if those[-1][2] is None}
            assert readers == {pair: name for name, those in last["assignment"].items() for pair in those}, (
                told
            )
