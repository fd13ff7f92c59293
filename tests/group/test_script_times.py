"""Times of a script that are drawn: when, and from what."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from partwright import group
from partwright.group.durations import Draws
from partwright.group.script import read_script

SCRIPT: dict[str, Any] = {"topics": {"t": 8}, "assignor": "range", "events": "+4, roll"}


def polls(**fields: Any) -> list[int]:
    """The time between polls with which each member starts."""
    actions = read_script({**SCRIPT, **fields}).actions
    return [action["join"][1]["poll_ms"] for _, action in actions if "join" in action]


def test_each_start_has_a_time_of_its_own_and_a_seed_repeats_them() -> None:
    spread = {"from": 200, "to": 90_000}
    found = polls(poll_ms=spread)
    assert len(found) == len(set(found)) == 8
    assert all(200 <= each <= 90_000 for each in found)
    assert polls(poll_ms=spread, seed=0) == found
    assert polls(poll_ms=spread, seed=1) != found
    assert polls(poll_ms=700) == [700] * 8


def test_a_member_keeps_what_its_own_events_say() -> None:
    events = [
        {"at_ms": 0, "join": "fixed", "poll_ms": 300},
        {"at_ms": 0, "join": "drawn", "poll_ms": {"among": [1, 2]}},
        {"at_ms": 0, "join": "records", "record_ms": 4},
        {"at_ms": 0, "join": "default"},
        *({"at_ms": 9000, "restart": name} for name in ("fixed", "drawn", "records", "default")),
    ]
    found = polls(events=events, poll_ms={"from": 5000, "to": 6000})
    for first, again in (found[:4], found[4:]), (found[4:], found[:4]):
        assert (first[0], first[2]) == (again[0], again[2]) == (300, 2000)
        assert first[1] in {1, 2}
        assert 5000 <= first[3] <= 6000


def test_restarts_are_drawn_in_short_forms_and_in_events() -> None:
    spread = {"from": 2000, "to": 9000}
    rolled = read_script({**SCRIPT, "down_ms": spread}).actions
    gone = [at_ms for at_ms, action in rolled if "leave" in action]
    back = [at_ms for at_ms, action in rolled if "join" in action][4:]
    down = [joined - left for left, joined in zip(gone, back, strict=True)]
    assert len(set(down)) > 1
    assert all(2000 <= each <= 9000 for each in down)
    # The next one goes ten seconds after this one is back.
    assert gone[1:] == [each + 10_000 for each in back[:-1]]
    events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 5000, "restart": "c1", "down_ms": spread}]
    at_ms, _ = read_script({**SCRIPT, "events": events}).actions[-1]
    assert 7000 <= at_ms <= 14_000
    assert read_script({**SCRIPT, "latency_ms": {"among": [7]}}).latency_ms == 7
    assert group.play({**SCRIPT, "down_ms": spread, "seed": 5}).ended_ms > 0


def test_a_log_normal_time_has_its_median_and_its_percentile() -> None:
    draws = Draws(848)
    found = sorted(draws.time_ms({"p50": 300, "p99": 2000}, "poll_ms") for _ in range(20_000))
    assert statistics.median(found) == pytest.approx(300, rel=0.05)
    assert found[19_799] == pytest.approx(2000, rel=0.15)
    assert draws.time_ms({"p50": 5, "p99": 5}, "poll_ms") == 5
