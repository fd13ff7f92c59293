"""A broker that goes in a script: its partitions have no leader for a time, and their readers read on afterwards."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.group import play
from partwright.group.script_events import ELECTION_MS

if TYPE_CHECKING:
    from partwright.group import Timeline

JOINS: list[dict[str, Any]] = [{"at_ms": 0, "join": "a"}, {"at_ms": 0, "join": "b"}]
PROTOCOLS: list[dict[str, Any]] = [
    {"protocol": "classic", "assignor": "range"},
    {"protocol": "classic", "assignor": "cooperative-sticky"},
    {"protocol": "consumer"},
]


def gone(at_ms: int, **more: object) -> dict[str, Any]:
    return {"at_ms": at_ms, "broker": {"t": [1, 2]}, **more}


def lived(*events: dict[str, Any], **more: object) -> Timeline:
    return play({"topics": {"t": 4}, "records_per_s": 10, **more, "events": [*JOINS, *events]})


@pytest.mark.parametrize("how", PROTOCOLS)
def test_its_partitions_are_unread_for_so_long_and_nothing_moves(how: dict[str, Any]) -> None:
    before, after = (
        lived(until_ms=90_000, **how),
        lived(gone(60_000, election_ms=800), until_ms=90_000, **how),
    )
    for name, more in (("t-0", 0), ("t-1", 800), ("t-2", 800), ("t-3", 0)):
        assert after.unowned_ms[name] == before.unowned_ms[name] + more
    assert after.moved == before.moved
    assert list(after.generations()) == list(before.generations())
    # Readers go on where they were: what nobody read meanwhile is read then, and nothing twice.
    assert after.cost.read_twice == before.cost.read_twice
    assert after.cost.not_read == pytest.approx(before.cost.not_read + 2 * 8)
    spans = [each for each in after.ownership().to_pylist() if each["partition"] == 1]
    assert [(each["from_ms"], each["to_ms"]) for each in spans[-2:]] == [
        (spans[-2]["from_ms"], 60_000),
        (60_800, None),
    ]
    assert spans[-1]["member"] == spans[-2]["member"]
    assert after.without_leader() == [
        {"partition": f"t-{number}", "from_ms": 60_000, "to_ms": 60_800} for number in (1, 2)
    ]


def test_by_default_it_is_a_killed_broker() -> None:
    timeline = lived(gone(60_000))
    assert {each["to_ms"] - each["from_ms"] for each in timeline.without_leader()} == {ELECTION_MS}
    assert "without_leader" in timeline.to_dict()
    assert "without_leader" not in lived().to_dict()


def test_who_is_given_a_partition_without_a_leader_reads_it_once_there_is_one() -> None:
    timeline = lived(gone(60_000, election_ms=20_000), {"at_ms": 62_000, "leave": "b"}, assignor="range")
    # b had 2 and 3.
    spans = [each for each in timeline.ownership().to_pylist() if each["partition"] == 2]
    assert [each["member"] for each in spans] == ["b", "a"]
    assert (spans[0]["to_ms"], spans[1]["from_ms"]) == (60_000, 80_000)
    moved = {row["partition"]: row for row in timeline.partitions().to_pylist()}
    assert (moved[2]["moves"], moved[3]["moves"], moved[2]["longest_ms"]) == (1, 1, 20_000)
    # b committed when it closed all that it had read before the broker went.
    assert moved[2]["read_twice"] == moved[3]["read_twice"] == 0


@pytest.mark.parametrize("how", PROTOCOLS)
def test_its_groups_go_to_another_coordinator_with_the_election(how: dict[str, Any]) -> None:
    events = [gone(60_000, election_ms=5_000, coordinates=True)]
    moved = lived(*events, until_ms=120_000, **how)
    alone = lived({"at_ms": 65_000, "move_coordinator": True}, until_ms=120_000, **how)
    assert list(moved.generations()) == list(alone.generations())
    assert moved.unowned_ms["t-1"] == alone.unowned_ms["t-1"] + 5_000


def test_no_partition_is_read_without_a_leader_and_all_time_is_counted(seed: int) -> None:
    drawn = random.Random(seed)
    for _ in range(60):
        events: list[dict[str, Any]] = [*JOINS, {"at_ms": 0, "join": "c"}]
        at_ms, free_ms = 20_000, 0
        for _ in range(drawn.randint(1, 6)):
            at_ms += drawn.randint(0, 15_000)
            if at_ms >= free_ms and drawn.random() < 0.6:
                for_ms = drawn.randint(0, 30_000)
                free_ms = at_ms + for_ms
                led = drawn.sample(range(6), drawn.randint(1, 6))
                events.append(gone(at_ms, election_ms=for_ms) | {"broker": {"t": led}})
            else:
                events.append({"at_ms": at_ms, "restart": drawn.choice("abc"), "down_ms": 0})
        how = drawn.choice(PROTOCOLS)
        until_ms = 200_000
        timeline = play({"topics": {"t": 6}, "events": events, "until_ms": until_ms, **how})
        spans = timeline.ownership().to_pylist()
        began = min(each["from_ms"] for each in spans)
        for number in range(6):
            read = [
                (each["from_ms"], until_ms if each["to_ms"] is None else each["to_ms"])
                for each in spans
                if each["partition"] == number
            ]
            assert all(before[1] <= after[0] for before, after in pairwise(read)), seed
            unread = until_ms - began - sum(to - since for since, to in read)
            assert timeline.unowned_ms[f"t-{number}"] == unread, (seed, events)
            for each in timeline.without_leader():
                if each["partition"] == f"t-{number}":
                    inside = [span for span in read if span[0] < each["to_ms"] and span[1] > each["from_ms"]]
                    assert not inside, (seed, events)


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"broker": 2}, 'broker has the partitions that it leads, by topic, as {"t": [0, 3]}, not 2'),
        ({"broker": {}}, "broker has the partitions that it leads"),
        ({"broker": {"u": [0]}}, "there is no topic 'u'"),
        ({"broker": {"t": [4]}}, "a partition of t is a whole number from 0 to 3, not 4"),
        ({"broker": {"t": [0]}, "election_ms": -1}, "election_ms is a whole number"),
        ({"broker": {"t": [0]}, "coordinates": 1}, "coordinates is true or false, not 1"),
    ],
)
def test_what_is_refused(event: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError, match=re.escape(sentence)) as caught:
        lived({"at_ms": 60_000, **event})
    assert "event 3" in str(caught.value)


def test_a_partition_loses_its_leader_only_once() -> None:
    with pytest.raises(
        pw.PartwrightError, match=re.escape("t-1 has no leader until 69300 ms: let it go later")
    ):
        lived(gone(60_000), gone(65_000))
    assert lived(gone(60_000), gone(60_000 + ELECTION_MS)).unowned_ms["t-1"] >= 2 * ELECTION_MS
