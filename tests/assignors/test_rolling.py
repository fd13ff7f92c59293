"""Rolls a group to another client: the cost of each step, and which order is safe."""

from __future__ import annotations

import itertools

import pytest

from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, assignors_of
from partwright.assignors.mixed.rolling import roll
from partwright.errors import PartwrightError

ALIKE = ("java", "librdkafka", "sarama", "franz-go", "kafka-python", "aiokafka")


def members(*clients: str) -> list[dict[str, object]]:
    return [{"id": f"c{at}", "topics": ["t"], "client": client} for at, client in enumerate(clients)]


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(ALIKE, 2)))
def test_a_roll_with_range_moves_only_what_the_order_of_ids_asks_for(old: str, new: str) -> None:
    rolls = roll({"t": 12}, members(*[old] * 3), new, "range")
    assert [each.order for each in rolls] == ["leader last", "leader first"]
    for each in rolls:
        assert (each.unsafe, each.moved) == (0, 0)
        assert all(step.rebalances == 2 and not step.forgotten for step in each.steps)


def test_each_step_replaces_one_member_and_the_leader_stays_while_it_can() -> None:
    (last, first) = sorted(
        roll({"t": 6}, members(*["java"] * 3), "sarama", "range"), key=lambda each: each.order, reverse=True
    )
    assert [step.replaced for step in last.steps] == ["c1", "c2", "c0"]
    assert [step.leader for step in last.steps][:2] == ["c0", "c0"]
    assert last.steps[-1].assignor == "sarama:range"
    assert [step.replaced for step in first.steps] == ["c0", "c1", "c2"]
    assert first.steps[0].leader != "c0"


def test_no_order_is_safe_with_kafka_go() -> None:
    for each in roll({"t": 6}, members(*["java"] * 3), "kafka-go", "range"):
        assert [step.is_safe for step in each.steps] == [False, False, True]
        assert "SchemaException" in (each.steps[0].error or "")
    # librdkafka stays the leader, and leaves kafka-go out.
    steps = roll({"t": 6}, members("librdkafka", "librdkafka"), "kafka-go", "range")[0].steps
    assert (steps[0].error, steps[0].left_out, steps[0].is_safe) == (None, ["c1-kafka-go"], False)


def test_what_saramas_members_forget_is_said() -> None:
    found = {each.order: each for each in roll({"t": 12}, members(*["java"] * 4), "sarama", "sticky")}
    assert any("c1-sarama" in step.forgotten for step in found["leader last"].steps)


def test_a_group_of_one_has_a_new_leader_in_its_one_step() -> None:
    (step,) = roll({"t": 3}, members("java"), "franz-go")[0].steps
    assert (step.leader, step.rebalances, step.unread) == ("c0-franz-go", 1, 0)


@pytest.mark.parametrize("old", DEFAULT_ASSIGNORS)
@pytest.mark.parametrize("new", DEFAULT_ASSIGNORS)
def test_any_pair_is_rolled_or_refused(old: str, new: str) -> None:
    for assignor in {*assignors_of(old), *assignors_of(new)}:
        group = [
            {"id": f"c{at}", "topics": ["t", "u"][: 1 + at % 2], "client": old, "rack": "r"}
            for at in range(4)
        ]
        if assignor not in assignors_of(old) or assignor not in assignors_of(new):
            with pytest.raises(PartwrightError, match="has no assignor"):
                roll({"t": 7, "u": 2}, group, new, assignor)
            continue
        for each in roll({"t": 7, "u": 2}, group, new, assignor):
            assert len(each.steps) == 4
            assert all(step.moved <= 9 and 0 <= step.unread <= 9 for step in each.steps)


def test_a_new_members_id_is_not_one_that_is_there() -> None:
    group: list[dict[str, object]] = [
        {"id": name, "topics": ["t"], "client": "java"} for name in ("a", "a-sarama")
    ]
    found = {each.order: each for each in roll({"t": 4}, group, "sarama", "range")}
    assert found["leader first"].steps[1].replaced == "a-sarama"
    assert found["leader first"].unsafe == 0


def test_what_cannot_be_rolled_is_refused() -> None:
    with pytest.raises(
        PartwrightError, match="there is no client 'samara' in the roll: did you mean 'sarama'"
    ):
        roll({"t": 1}, members("java"), "samara")
    with pytest.raises(PartwrightError, match="no assignor in common"):
        roll({"t": 1}, members("java"), "kafkajs")
    with pytest.raises(PartwrightError, match="no answers for sarama@9"):
        roll({"t": 1}, members("java"), "sarama@9", "range")
    with pytest.raises(PartwrightError, match="without members"):
        roll({"t": 1}, [], "sarama")
