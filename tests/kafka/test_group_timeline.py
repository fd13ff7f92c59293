"""Real groups in real time: the generations that real consumers go through while a script starts and stops them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from live_groups import happened_live

from partwright import group

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import ModuleType

    from partwright.kafka import EmbeddedKafka

    Line = dict[str, Any]

pytestmark = [pytest.mark.broker, pytest.mark.reference]

CLASSIC = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 300, "metadata.max.age.ms": 500}
CONSUMER = {"group.protocol": "consumer", "metadata.max.age.ms": 500}
BROKER = {"group.initial.rebalance.delay.ms": 0}
"""As the embedded broker has it."""
STEP_MS = 3000
"""A rebalance is over before the next member does something."""


@pytest.fixture(scope="module")
def timeline(reference: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that plays a script with kafka-clients 4.4."""
    folder: Path = tmp_path_factory.mktemp("timeline")
    return [*reference("builds").build_java(folder), "partwright.GroupTimeline"]


def happened(broker: EmbeddedKafka, timeline: list[str], script: dict[str, Any]) -> list[Line]:
    """The real members' reports, in order.

    On a busy machine a member's SyncGroup may come after the next rebalance has begun: then it misses that generation,
    and owns what it had a generation ago. Or a step of the script takes place before members learned the result of
    the last one, and one rebalance serves both. Such a play shows the machine, not the script, so it is played again,
    twice at most, on topics of its own, which the script then names.
    """
    for _ in range(2):
        lines = happened_live(broker.bootstrap_servers, timeline, script)
        if not passed_by(classic_generations(lines)) and not overtaken(script, lines):
            return lines
        again = json.dumps(script)
        for topic in script["topics"]:
            again = again.replace(topic, f"timeline-{uuid4().hex[:8]}")
        script.update(json.loads(again))
    return happened_live(broker.bootstrap_servers, timeline, script)


def passed_by(generations: Sequence[dict[str, Any]]) -> bool:
    """Whether a member got its partitions in the generations before and after one, but not in it."""
    told = [each["assignment"].keys() for each in generations]
    return any((told[at - 1] & told[at + 1]) - told[at] for at in range(1, len(told) - 1))


def overtaken(script: dict[str, Any], lines: Sequence[Line]) -> bool:
    """Whether nobody got anything between one of the script's steps and the next, in the classic protocol."""
    if "group.protocol" in script["config"]:
        return False
    told = [line["at_ms"] for line in lines if line["event"] == "told"]
    times = [*(event["at_ms"] for event in script["events"]), script["end_ms"]]
    steps = zip(script["events"], pairwise(times), strict=True)
    return any(
        not any(start <= at_ms < end for at_ms in told)
        for event, (start, end) in steps
        if not event.keys() & {"stall", "crash"}
    )


def classic_generations(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """By generation: its leader, and the partitions that each member got in it.

    The leader is the member whose assignor was asked last before; nobody leads if a static leader has returned.
    """
    found: dict[int, dict[str, Any]] = {}
    asked: set[str] = set()
    for line in lines:
        name = line["member"]
        if line["event"] == "assign":
            asked.add(name)
        elif line["event"] == "told":
            number = line["generation"]
            new = {"generation": number, "at_ms": line["at_ms"], "leader": None, "assignment": {}}
            generation = found.setdefault(number, new)
            generation["assignment"][name] = sorted(line["partitions"])
            if name in asked:
                asked.remove(name)
                generation["leader"] = name
    return [found[number] for number in sorted(found)]


def consumer_generations(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """By epoch: the partitions that each member finally got in it; nobody leads."""
    found: dict[int, dict[str, Any]] = {}
    for line in lines:
        if line["event"] == "has" and line["generation"] > 0:
            number = line["generation"]
            new = {"generation": number, "at_ms": line["at_ms"], "leader": None, "assignment": {}}
            found.setdefault(number, new)["assignment"][line["member"]] = sorted(line["partitions"])
    return [found[number] for number in sorted(found)]


def script_of_play(script: dict[str, Any], lines: Sequence[Line]) -> dict[str, Any]:
    """The same script for `partwright.group.play`, with the member IDs that the coordinator or the members drew.

    Real consumers of these scripts poll every 10 ms, and on one machine answers take no time.
    """
    ids: dict[str, list[str]] = {}
    for line in lines:
        if line["event"] in ("told", "has") and line["member_id"]:
            drawn = ids.setdefault(line["member"], [])
            if line["member_id"] not in drawn:
                drawn.append(line["member_id"])
    counts, events = dict(script["topics"]), []
    for event in script["events"]:
        told = {**event}
        if "add_partitions" in event:
            (topic, count), *_ = event["add_partitions"].items()
            told["add_partitions"] = {topic: count - counts[topic]}
            counts[topic] = count
        elif "join" in event:
            told["member_id"] = ids[event["join"]].pop(0)
        elif "restart" in event:
            told |= {"down_ms": 0, "member_id": ids[event["restart"]].pop(0)}
        elif "leave" in event:
            told["operation"] = "LEAVE_GROUP"
        events.append(told)
    config = {key: value for key, value in script["config"].items() if key != "group.protocol"}
    is_classic = "group.protocol" not in script["config"]
    return {
        "protocol": "classic" if is_classic else "consumer",
        "topics": script["topics"],
        "config": {**config, "enable.auto.commit": "false", **(BROKER if is_classic else {})},
        "poll_ms": 10,
        "latency_ms": 1,
        "until_ms": script["end_ms"],
        "events": events,
    }


def compare(real: Sequence[dict[str, Any]], script: dict[str, Any], lines: Sequence[Line]) -> None:
    """The same generations, with the same leaders and assignments, and not much earlier or later."""
    fields = ("generation", "leader", "assignment")
    simulated = group.play(script_of_play(script, lines)).to_dict()["generations"]
    for each in simulated:
        each["assignment"] = {
            name: sorted(map(list, partitions)) for name, partitions in each["assignment"].items()
        }
    assert [{field: each[field] for field in fields} for each in simulated] == [
        {field: each[field] for field in fields} for each in real
    ]
    # A real member needs some time to start, most of all the first.
    for ours, theirs in zip(simulated, real, strict=True):
        assert -500 <= theirs["at_ms"] - ours["at_ms"] <= STEP_MS


def at_rest(lines: Sequence[Line], at_ms: int) -> dict[str, Any]:
    """For each member that is in the group at a time: its epoch and the partitions that it reads."""
    found: dict[str, Any] = {}
    for line in lines:
        if line["at_ms"] < at_ms and line["event"] in ("leaves", "crashes"):
            found.pop(line["member"], None)
        elif line["at_ms"] < at_ms and line["event"] == "has":
            found[line["member"]] = [line["generation"], sorted(line["partitions"])]
    return found


def compare_at_rest(lines: Sequence[Line], script: dict[str, Any]) -> None:
    """The same epoch and the same partitions of each member before each event, and at the end.

    Between these times, members of KIP-848's protocol make their steps at their own times.
    """
    timeline = group.play(script_of_play(script, lines))
    spans, generations = timeline.ownership().to_pylist(), list(timeline.generations())
    for at_ms in [*(event["at_ms"] for event in script["events"][1:]), script["end_ms"]]:
        epoch = [each["generation"] for each in generations if each["at_ms"] < at_ms][-1]
        real = at_rest(lines, at_ms)
        simulated: dict[str, Any] = {name: [epoch, []] for name in real}
        for span in spans:
            if span["from_ms"] < at_ms and (span["to_ms"] is None or at_ms <= span["to_ms"]):
                simulated[span["member"]][1].append([span["topic"], span["partition"]])
        assert {name: [of, sorted(those)] for name, (of, those) in simulated.items()} == real


def three(config: dict[str, Any], *more: dict[str, Any], partitions: int = 6, **joins: Any) -> dict[str, Any]:
    """Three members join a topic's group one after the other; then more happens, one step each."""
    topic = f"timeline-{uuid4().hex[:8]}"
    events: list[dict[str, Any]] = [
        {"join": name, "topics": [topic], "instance_id": None, **joins} for name in ("c1", "c2", "c3")
    ]
    for event in more:
        grown = {"add_partitions": {topic: event["add_partitions"]}} if "add_partitions" in event else event
        events.append(grown)
    timed = [{"at_ms": number * STEP_MS, **event} for number, event in enumerate(events)]
    return {
        "topics": {topic: partitions},
        "config": config,
        "events": timed,
        "end_ms": len(timed) * STEP_MS,
    }


def spread(generation: dict[str, Any]) -> dict[str, list[int]]:
    """The partitions' numbers by member: there is one topic."""
    return {
        name: [number for _, number in partitions]
        for name, partitions in sorted(generation["assignment"].items())
    }


def test_an_eager_group(broker: EmbeddedKafka, timeline: list[str]) -> None:
    script = three(CLASSIC, {"leave": "c1"}, {"add_partitions": 8}, assignor="range")
    lines = happened(broker, timeline, script)
    real = classic_generations(lines)
    compare(real, script, lines)
    assert [spread(each) for each in real] == [
        {"c1": [0, 1, 2, 3, 4, 5]},
        {"c1": [0, 1, 2], "c2": [3, 4, 5]},
        {"c1": [0, 1], "c2": [2, 3], "c3": [4, 5]},
        {"c2": [0, 1, 2], "c3": [3, 4, 5]},
        {"c2": [0, 1, 2, 3], "c3": [4, 5, 6, 7]},
    ]
    assert [each["generation"] for each in real] == [1, 2, 3, 4, 5]
    assert [each["leader"] for each in real[:3]] == ["c1"] * 3
    assert real[3]["leader"] == real[4]["leader"] in {"c2", "c3"}
    # Everything is given up before anything is assigned.
    revoked = [line["partitions"] for line in lines if line["event"] == "revoked" and line["member"] == "c2"]
    assert [len(partitions) for partitions in revoked] == [3, 2, 3]


def test_a_cooperative_group(broker: EmbeddedKafka, timeline: list[str]) -> None:
    script = three(CLASSIC, {"leave": "c3"}, assignor="cooperative-sticky")
    lines = happened(broker, timeline, script)
    real = classic_generations(lines)
    compare(real, script, lines)
    assert [each["generation"] for each in real] == [1, 2, 3, 4, 5, 6]
    sizes = [{name: len(those) for name, those in spread(each).items()} for each in real]
    assert sizes == [
        {"c1": 6},
        {"c1": 3, "c2": 0},
        {"c1": 3, "c2": 3},
        {"c1": 2, "c2": 2, "c3": 0},
        {"c1": 2, "c2": 2, "c3": 2},
        {"c1": 3, "c2": 3},
    ]
    # Nobody gives up more than what moves.
    for before, after in pairwise(spread(each) for each in real):
        for name in before.keys() & after.keys():
            assert set(before[name]) <= set(after[name]) or set(after[name]) <= set(before[name])


def test_a_static_member_returns_unnoticed(broker: EmbeddedKafka, timeline: list[str]) -> None:
    script = three(CLASSIC, {"restart": "c1"}, {"restart": "c2"}, assignor="range")
    for event in script["events"][:3]:
        event["instance_id"] = f"i-{event['join']}"
    lines = happened(broker, timeline, script)
    real = classic_generations(lines)
    compare(real, script, lines)
    assert [each["generation"] for each in real] == [1, 2, 3]
    assert spread(real[-1]) == {"c1": [0, 1], "c2": [2, 3], "c3": [4, 5]}
    told = [line["member"] for line in lines if line["event"] == "told" and line["generation"] == 3]
    assert sorted(told) == ["c1", "c1", "c2", "c2", "c3"]
    ids = {line["member_id"] for line in lines if line["event"] == "told" and line["member"] == "c1"}
    assert len(ids) == 2


def test_a_static_member_that_polls_too_late_leaves_a_partition_to_nobody_for_a_while(
    broker: EmbeddedKafka, timeline: list[str]
) -> None:
    """It loses all it has, and returns to less without having given anything up, so no rebalance follows at once."""
    late = {**CLASSIC, "session.timeout.ms": 45_000, "max.poll.interval.ms": 5000}
    script = three(late, partitions=5, assignor="cooperative-sticky")
    for event in script["events"]:
        event["instance_id"] = f"i-{event['join']}"
    script["events"][2]["at_ms"] += 2000
    script["events"].insert(2, {"at_ms": 2 * STEP_MS, "stall": "c1", "for_ms": 10_000})
    script["end_ms"] = 30_000
    lines = happened(broker, timeline, script)
    real = classic_generations(lines)
    compare(real, script, lines)
    sizes = [{name: len(those) for name, those in spread(each).items()} for each in real]
    assert sizes[2:] == [
        {"c1": 3, "c2": 2},
        {"c1": 2, "c2": 2, "c3": 0},
        # Only now does the coordinator miss the SyncGroup of c1's previous member.
        {"c1": 2, "c2": 2, "c3": 1},
    ]
    assert real[4]["at_ms"] - real[3]["at_ms"] >= late["max.poll.interval.ms"]
    assert [line["member"] for line in lines if line["event"] == "lost"] == ["c1"]


def test_a_member_that_crashes_is_missed_later(broker: EmbeddedKafka, timeline: list[str]) -> None:
    script = three(CLASSIC, {"crash": "c3"}, assignor="range")
    script["end_ms"] += CLASSIC["session.timeout.ms"]
    lines = happened(broker, timeline, script)
    real = classic_generations(lines)
    compare(real, script, lines)
    assert [spread(each) for each in real[2:]] == [
        {"c1": [0, 1], "c2": [2, 3], "c3": [4, 5]},
        {"c1": [0, 1, 2], "c2": [3, 4, 5]},
    ]
    crashed_ms = next(line["at_ms"] for line in lines if line["event"] == "crashes")
    # Its last heartbeat was up to an interval before it.
    least = CLASSIC["session.timeout.ms"] - CLASSIC["heartbeat.interval.ms"]
    assert least <= real[3]["at_ms"] - crashed_ms <= CLASSIC["session.timeout.ms"] + STEP_MS


def test_a_group_of_the_consumer_protocol(broker: EmbeddedKafka, timeline: list[str]) -> None:
    script = three(CONSUMER, {"leave": "c1"}, assignor="uniform")
    # The broker tells members to send a heartbeat every five seconds, so they do not learn of others' joins any sooner.
    for event in script["events"]:
        event["at_ms"] *= 5
    script["end_ms"] *= 5
    lines = happened(broker, timeline, script)
    real = consumer_generations(lines)
    compare_at_rest(lines, script)
    assert [line for line in lines if line["event"] == "failed"] == []
    last: dict[str, list[Any]] = {}
    for line in lines:
        if line["event"] == "has" and line["member"] != "c1":
            last[line["member"]] = line["partitions"]
    assert sorted(number for those in last.values() for _, number in those) == [0, 1, 2, 3, 4, 5]
    assert {len(those) for those in last.values()} == {3}
    assert len(real) >= 4


def test_a_static_member_of_the_consumer_protocol_returns_unnoticed(
    broker: EmbeddedKafka, timeline: list[str]
) -> None:
    script = three(CONSUMER, {"restart": "c1"}, assignor="uniform")
    for event in script["events"]:
        event["at_ms"] *= 4
    for event in script["events"][:3]:
        event["instance_id"] = f"i-{event['join']}"
    script["end_ms"] *= 4
    lines = happened(broker, timeline, script)
    assert [line for line in lines if line["event"] == "failed"] == []
    compare_at_rest(lines, script)
    crashed_ms = next(line["at_ms"] for line in lines if line["event"] == "crashes")
    before = [line for line in lines if line["event"] == "has" and line["at_ms"] <= crashed_ms]
    after = [line for line in lines if line["event"] == "has" and line["at_ms"] > crashed_ms]
    assert {line["member"] for line in after} == {"c1"}
    mine = [line for line in before if line["member"] == "c1"]
    assert sorted(after[-1]["partitions"]) == sorted(mine[-1]["partitions"]) != []
    assert after[-1]["generation"] == mine[-1]["generation"]
    assert after[-1]["member_id"] != mine[-1]["member_id"]
