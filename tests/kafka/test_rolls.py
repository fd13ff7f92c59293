"""Rolls of four to eight real Java consumers on a real broker, compared with plays of the same roll.

Partitions move as often, and no real roll is cheaper than the played one. How much more it costs depends on the
machine, as members are programs that start, load classes and wait for a processor: docs/rollouts.md has figures.
A member of KIP-848 learns of a change with its next heartbeat, so a partition may go to its next reader directly or
through a third one: members of the play send theirs when the real ones did, and the roll is played earlier and later.
"""

from __future__ import annotations

from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import pytest
from live_groups import happened_live

from partwright import group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from partwright.kafka import EmbeddedKafka

    Line = dict[str, Any]
    Owned = dict[tuple[str, int], set[str]]

pytestmark = [pytest.mark.broker, pytest.mark.reference]

PARTITIONS = 8
CLASSIC = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 1000}
CONSUMER = {"group.protocol": "consumer"}
DOWN_MS = 3000
POLL_MS = 10
"""How long a poll of `GroupTimeline` waits for records, of which there are none; the next one comes at once."""
BUSY_MS = 1000
"""How long a slow application works between two polls."""


class Roll(NamedTuple):
    """What is rolled.

    Attributes:
        protocol: classic or consumer.
        assignor: The assignor.
        static: Whether members have a `group.instance.id`.
        members: How many there are.
        busy_ms: How long each works between two polls.
    """

    protocol: str
    assignor: str
    static: bool
    members: int = 4
    busy_ms: int = 0


ROLLS = [
    Roll("classic", "range", static=False),
    Roll("classic", "cooperative-sticky", static=False, members=8, busy_ms=BUSY_MS),
    Roll("classic", "range", static=True, members=6, busy_ms=BUSY_MS),
    Roll("consumer", "uniform", static=False),
    Roll("consumer", "uniform", static=True, busy_ms=BUSY_MS),
]
ROUGHLY = 0.05
HEARTBEAT_MS = 5000
"""How often a member of KIP-848 sends a heartbeat."""
SHIFTS_MS = (-400, 0, 400)
"""How much later the play of a roll begins, for a real member is told of something a little later than it happens, and
slow members poll at other moments."""


@pytest.fixture(scope="module")
def timeline(reference: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that plays a script with kafka-clients 4.4."""
    folder: Path = tmp_path_factory.mktemp("rolls")
    return [*reference("builds").build_java(folder), "partwright.GroupTimeline"]


def script_of(rolled: Roll) -> tuple[dict[str, Any], int]:
    """A script whose members are each away for a while in turn, and the time when the roll begins."""
    topic = f"roll-{uuid4().hex[:8]}"
    # Members of KIP-848 are told to send a heartbeat every five seconds, and each step needs two. With steps of 22 s no
    # new one joins or leaves within a second of another's heartbeat, which could then be the one before or after it.
    is_classic = rolled.protocol == "classic"
    begins_ms, step_ms = (10_000, 12_000) if is_classic else (30_000, 22_000)

    def join(at_ms: int, name: str) -> dict[str, Any]:
        event = {"at_ms": at_ms, "join": name, "topics": [topic], "assignor": rolled.assignor}
        event |= {"instance_id": f"i-{name}"} if rolled.static else {}
        return event | ({"poll_ms": rolled.busy_ms} if rolled.busy_ms else {})

    events = [join(0, f"c{number}") for number in range(rolled.members)]
    for number in range(rolled.members):
        at_ms = begins_ms + number * step_ms
        # A static member is closed without a word; the new one gets its place.
        events.append({"at_ms": at_ms, "crash" if rolled.static else "leave": f"c{number}"})
        events.append(join(at_ms + DOWN_MS, f"{'c' if rolled.static else 'n'}{number}"))
    end_ms = begins_ms + rolled.members * step_ms + 5000
    config = CLASSIC if is_classic else CONSUMER
    return {"topics": {topic: PARTITIONS}, "config": config, "events": events, "end_ms": end_ms}, begins_ms


def owned(lines: Sequence[Line]) -> Iterator[tuple[int, dict[str, set[tuple[str, int]]]]]:
    """The times of changes, and what each real member reads from then on."""
    reads: dict[str, set[tuple[str, int]]] = {}
    for line in lines:
        pairs = {(topic, partition) for topic, partition in line.get("partitions", [])}
        if line["event"] == "has":
            reads[line["member"]] = pairs
        elif line["event"] in {"revoked", "lost"}:
            reads[line["member"]] = reads.get(line["member"], set()) - pairs
        elif line["event"] in {"leaves", "crashes", "failed"}:
            reads[line["member"]] = set()
        else:
            continue
        yield line["at_ms"], {name: set(those) for name, those in reads.items()}


def measured(lines: Sequence[Line], begins_ms: int, end_ms: int) -> tuple[float, int]:
    """The seconds of partitions without a reader from the roll on, and how often a partition moved."""
    unread = moved = 0
    last: dict[tuple[str, int], str] = {}
    steps = [*owned(lines), (end_ms, {})]
    for (at_ms, reads), (until_ms, _) in pairwise(steps):
        readers = {pair: name for name, pairs in reads.items() for pair in pairs}
        moved += sum(at_ms >= begins_ms and last.get(pair, name) != name for pair, name in readers.items())
        last |= readers
        unread += (PARTITIONS - len(readers)) * max(0, until_ms - max(at_ms, begins_ms))
    return unread / 1000, moved


def played(
    rolled: Roll, script: dict[str, Any], lines: Sequence[Line], begins_ms: int, later_ms: int = 0
) -> tuple[float, int, int]:
    """The seconds without a reader, the moves and the rebalances of the played roll, if it begins later by this much.

    Its members have the IDs that the coordinator or the real ones drew, and join in step with the real heartbeats.
    """
    first_ms: dict[str, int] = {}
    ids: dict[str, list[str]] = {}
    for line in lines:
        if line["event"] in {"told", "has"} and line["member_id"] not in {"", *ids.get(line["member"], [])}:
            ids.setdefault(line["member"], []).append(line["member_id"])
            first_ms.setdefault(line["member"], line["at_ms"])
    events: list[dict[str, Any]] = []
    for event in script["events"]:
        told = {"poll_ms": POLL_MS, **event} if "join" in event else {**event}
        if event["at_ms"] >= begins_ms:
            told["at_ms"] += later_ms
        elif "group.protocol" in script["config"]:
            told["at_ms"] = first_ms[event["join"]] % HEARTBEAT_MS
        if "join" in event:
            told["member_id"] = ids[event["join"]].pop(0)
        if rolled.static and "crash" in event:
            told = {
                "at_ms": told["at_ms"],
                "restart": event["crash"],
                "down_ms": DOWN_MS,
                "member_id": ids[event["crash"]][0],
            }
        elif rolled.static and event["at_ms"] >= begins_ms:
            continue
        elif "leave" in event:
            told["operation"] = "LEAVE_GROUP"
        events.append(told)
    events.sort(key=itemgetter("at_ms"))
    is_classic = "group.protocol" not in script["config"]
    config = {key: value for key, value in script["config"].items() if key != "group.protocol"}
    asked = {
        "protocol": "classic" if is_classic else "consumer",
        "topics": script["topics"],
        # The embedded broker's own.
        "config": {**config, "enable.auto.commit": "false", "group.initial.rebalance.delay.ms": 0},
        "latency_ms": 1,
        "poll_timeout_ms": POLL_MS,
        "idle_topics": [*script["topics"]],
        "until_ms": script["end_ms"] + later_ms,
        "events": events,
    }
    begins_ms += later_ms
    whole = group.play(asked)
    start = group.play({**asked, "events": events[: rolled.members], "until_ms": begins_ms})
    gaps = [
        (max(begun, begins_ms), ended)
        for begun, ended in whole.readers().gap_times(whole.ended_ms)
        if ended > begins_ms
    ]
    rebalances = sum(at_ms >= begins_ms for at_ms in whole.readers().rebalance_times())
    return sum(ended - begun for begun, ended in gaps) / 1000, whole.moved - start.moved, rebalances


@pytest.mark.parametrize("rolled", ROLLS, ids=lambda rolled: "-".join(map(str, rolled)))
def test_a_roll_of_real_consumers_is_what_is_played(
    broker: EmbeddedKafka,
    timeline: list[str],
    rolled: Roll,
    record_property: Callable[[str, object], None],
) -> None:
    script, begins_ms = script_of(rolled)
    lines = happened_live(broker.bootstrap_servers, timeline, script)
    assert [line for line in lines if line["event"] == "failed"] == []
    unread_s, moved = measured(lines, begins_ms, script["end_ms"])
    shifts = SHIFTS_MS if rolled.protocol == "consumer" or rolled.busy_ms else [0]
    plays = [played(rolled, script, lines, begins_ms, shift) for shift in shifts]
    least_s = min(seconds for seconds, _, _ in plays)
    record_property("unread_s", (unread_s, least_s))
    assert min(moves for _, moves, _ in plays) <= moved <= max(moves for _, moves, _ in plays)
    if rolled.protocol == "classic":
        rebalances = min(count for _, _, count in plays)
        real = {
            line["generation"] for line in lines if line["event"] == "told" and line["at_ms"] >= begins_ms
        }
        assert len(real) - rolled.static >= rebalances
    assert least_s * (1 - ROUGHLY) <= unread_s
