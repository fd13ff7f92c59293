"""Short forms: what each word makes of the members that are there."""

from __future__ import annotations

from partwright.group import play
from partwright.group.short_form import expand


def short(text: str) -> list[tuple[int, str, object]]:
    """The events of a short form after the first five members have joined: when, what, who."""
    events = expand(f"+5, {text}", every_ms=60_000, down_ms=5000)[5:]
    return [
        (each["at_ms"], *next((kind, each[kind]) for kind in each if kind not in {"at_ms", "down_ms"}))
        for each in events
    ]


def test_a_roll_takes_so_many_members_at_a_time() -> None:
    assert [at_ms for at_ms, _, _ in short("roll2")] == [60_000, 60_000, 75_000, 75_000, 90_000]
    assert short("roll40%") == short("roll2")
    assert [at_ms for at_ms, _, _ in short("roll/30s")] == [60_000, 95_000, 130_000, 165_000, 200_000]
    assert short("roll1") == short("roll")
    # The next word comes when the last one has been back for a while.
    assert short("roll2, -1")[-1] == (165_000, "leave", "c5")


def test_a_roll_may_go_to_another_client() -> None:
    events = expand("+2, roll/1m to franz-go, surge2 to sarama@1.34.0", every_ms=60_000, down_ms=5000)[2:]
    assert events[:2] == [
        {"at_ms": 60_000, "restart": "c1", "down_ms": 5000, "client": "franz-go"},
        {"at_ms": 125_000, "restart": "c2", "down_ms": 5000, "client": "franz-go"},
    ]
    assert [each["client"] for each in events[2:] if "join" in each] == ["sarama@1.34.0"] * 2


def test_a_surge_never_has_fewer_members_nor_more_than_it_may() -> None:
    found = short("surge2/20s")
    there = 5
    for at_ms in sorted({each[0] for each in found}):
        there += sum(1 if kind == "join" else -1 for at, kind, _ in found if at == at_ms)
        assert 5 <= there <= 7
    assert there == 5
    assert {who for _, kind, who in found if kind == "leave"} == {"c1", "c2", "c3", "c4", "c5"}
    assert {who for _, kind, who in found if kind == "join"} == {"c6", "c7", "c8", "c9", "c10"}


def test_a_node_a_broker_and_a_pause() -> None:
    assert short("node2") == [
        (60_000, "crash", "c5"),
        (60_000, "crash", "c4"),
        (65_000, "join", "c6"),
        (65_000, "join", "c7"),
    ]
    assert short("broker") == [(60_000, "move_coordinator", True)]
    assert short("wait 1m30s, -1") == [(210_000, "leave", "c5")]


def test_an_autoscaler_follows_its_load() -> None:
    found = short("scale 4..8: 100 900 400 / 75")
    # 2 are raised to 4, 12 are cut to 8, and 6 are 6.
    assert [(at_ms, kind) for at_ms, kind, _ in found] == [
        (60_000, "leave"),
        *[(120_000, "join")] * 4,
        *[(180_000, "leave")] * 2,
    ]


def test_every_word_is_played() -> None:
    words = "+4, roll2, surge50%, node1, scale 2..6: 10 60 20 / 10, broker, wait 5s, t+2, roll/1s"
    for protocol in ("classic", "consumer"):
        timeline = play({"topics": {"t": 6}, "protocol": protocol, "events": words})
        assert timeline.is_settled
        assert timeline.unread_at_the_end() == []
