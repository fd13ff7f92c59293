"""Members that live as real consumers do; times named real are those of kafka-clients 4.4.0, asked the same."""

from __future__ import annotations

from typing import Any

import pytest

from partwright import group
from partwright.errors import PartwrightError

PROTOCOLS = {
    "range": {"assignor": "range"},
    "cooperative-sticky": {"assignor": "cooperative-sticky"},
    "consumer": {"protocol": "consumer", "assignor": "uniform"},
}


def spans(script: dict[str, Any], member: str, **more: Any) -> list[tuple[int, int | None]]:
    """When a member read partition 0 or more, each span once."""
    timeline = group.play({"topics": {"t": 4}, "until_ms": 1_200_000, **script}, **more)
    rows = timeline.ownership().to_pylist()
    return sorted({(row["from_ms"], row["to_ms"]) for row in rows if row["member"] == member}, key=str)


def first_read(script: dict[str, Any], member: str, **more: Any) -> int:
    return min(since for since, _ in spans(script, member, **more))


def join(at_ms: int, name: str, **fields: Any) -> dict[str, Any]:
    return {"at_ms": at_ms, "join": name, **fields}


@pytest.mark.parametrize(
    ("protocol", "real_ms"), [("range", 76_190), ("cooperative-sticky", 126_180), ("consumer", 86_180)]
)
def test_a_joiner_beside_a_member_that_polls_every_ten_seconds(protocol: str, real_ms: int) -> None:
    script = {**PROTOCOLS[protocol], "poll_ms": 10_000, "events": [join(0, "c1"), join(60_000, "c2")]}
    assert abs(first_read(script, "c2") - real_ms) <= 100


def test_a_classic_member_that_polls_more_seldom_than_its_session_needs_another_to_get_in() -> None:
    alone = {"assignor": "range", "poll_ms": 60_000, "events": [join(0, "c1")]}
    assert spans(alone, "c1") == []
    real_ms = 840_010
    helped = {**alone, "events": [join(0, "c1"), join(720_000, "c2")]}
    assert first_read(helped, "c1") == real_ms
    # KIP-848's network thread beats whatever the application does.
    assert first_read({**alone, **PROTOCOLS["consumer"]}, "c1") <= 120_000


def test_what_is_withdrawn_and_given_back_in_a_stall_is_acknowledged_without_a_poll() -> None:
    events = [
        join(0, "c1"),
        join(0, "c2"),
        {"at_ms": 30_000, "stall": "c1", "for_ms": 30_000},
        {"at_ms": 31_000, "leave": "c2"},
        join(43_000, "c2"),
    ]
    config = {"max.poll.interval.ms": 60_000}
    script = {**PROTOCOLS["consumer"], "config": config, "events": events, "until_ms": 120_000}
    (back,) = {since for since, _ in spans(script, "c2") if since > 43_000}
    real_ms = 55_309
    assert back == real_ms


@pytest.mark.parametrize(
    ("protocol", "real_ms"),
    [
        ("range", [3013, 23_013, 28_020, 48_020, 53_020, 73_020]),
        ("consumer", [3, 20_013, 25_000, 45_000, 50_000, 70_000]),
    ],
)
def test_an_application_that_polls_too_seldom_joins_and_leaves_again(
    protocol: str, real_ms: list[int]
) -> None:
    script = {**PROTOCOLS[protocol], "poll_ms": 25_000, "events": [join(0, "c1")], "until_ms": 400_000}
    config = {"max.poll.interval.ms": 20_000}
    timeline = group.play({**script, "topics": {"t": 4}, "config": config})
    at_ms = [each["at_ms"] for each in timeline.generations()]
    assert all(abs(ours - real) <= 100 for ours, real in zip(at_ms, real_ms, strict=False))
    assert len(at_ms) > len(real_ms)
    assert timeline.failures() == []


def test_a_dynamic_member_of_the_consumer_protocol_leaves_in_spite_of_remain_in_group() -> None:
    leave = {"at_ms": 60_000, "leave": "c2", "operation": "REMAIN_IN_GROUP"}
    events = [join(0, "c1"), join(0, "c2"), leave]
    for protocol, at_most in (("consumer", 70_000), ("range", 110_000)):
        timeline = group.play({"topics": {"t": 4}, "events": events, **PROTOCOLS[protocol]})
        last = list(timeline.generations())[-1]
        assert set(last["assignment"]) == {"c1"}
        assert at_most - 10_000 <= last["at_ms"] <= at_most


def test_a_listener_takes_the_time_of_its_callbacks() -> None:
    script = {**PROTOCOLS["consumer"], "events": [join(0, "c1")], "until_ms": 60_000}
    without, with_it = (first_read({**script, "listener": listener}, "c1") for listener in (False, 300))
    assert with_it - without == 300
    assert first_read({**script, "listener": True}, "c1") == without


def test_how_often_an_application_polls_follows_from_the_time_of_a_record() -> None:
    events = [join(0, "c1"), join(60_000, "c2")]
    script = {"topics": {"t": 4}, "assignor": "range", "events": events}
    by_record = group.play({**script, "record_ms": 20, "config": {"max.poll.records": 250}})
    assert by_record.to_dict() == group.play({**script, "poll_ms": 5_000}).to_dict()


def test_a_member_without_records_takes_part_in_a_rebalance_at_once() -> None:
    script = {**PROTOCOLS["cooperative-sticky"], "poll_ms": 10_000, "poll_timeout_ms": 10_000}
    busy, idle = (
        first_read({**script, "idle_topics": topics, "events": [join(0, "c1"), join(60_000, "c2")]}, "c2")
        for topics in ([], ["t"])
    )
    assert idle < busy
    with pytest.raises(PartwrightError, match=r"^idle_topics: there is no topic 'u' in the script"):
        group.play({**script, "idle_topics": ["u"], "topics": {"t": 1}, "events": [join(0, "c1")]})


def test_a_race_is_slow_fast_or_drawn() -> None:
    script = {"topics": {"t": 4}, **PROTOCOLS["consumer"], "events": [join(0, "c1"), join(60_000, "c2")]}
    slow, fast = (group.play(script, race=race).to_dict() for race in ("slow", "fast"))
    assert slow != fast
    assert group.play(script, race=7).to_dict() == group.play(script, race=7).to_dict()
    assert {race: cost.unowned_s for race, cost in group.races(script).items()} == {
        race: group.play(script, race=race).cost.unowned_s for race in ("slow", "fast")
    }
    for race in ("quick", True, 1.5, 2**63):
        with pytest.raises(PartwrightError, match=r"^race is slow, fast or a seed"):
            group.play(script, race=race)  # type: ignore[arg-type]
