"""Members of several clients in one group: the bytes that they send, what each leader reads of them, and the result."""

from __future__ import annotations

import contextlib

import pytest
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor as AioSticky
from hypothesis import given
from hypothesis import strategies as st
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription
from kafka.structs import TopicPartition

from partwright.assignors.mixed.group_leaders import leaders
from partwright.assignors.mixed.leaders_view import Claim, view_member
from partwright.assignors.mixed.subscription import (
    Held,
    MemberMetadata,
    StickyUserData,
    member_metadata,
    read_sticky_user_data,
    read_subscription,
)
from partwright.assignors.strategy_setting import select_protocol
from partwright.errors import PartwrightError

NAMES = st.text(min_size=1, max_size=8)
PAIRS = st.lists(
    st.tuples(NAMES, st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple)), max_size=3
).map(tuple)
SUBSCRIPTIONS = st.builds(
    MemberMetadata,
    st.integers(0, 3),
    st.lists(NAMES, max_size=4).map(tuple),
    st.none() | st.binary(max_size=20),
    PAIRS,
    st.integers(-1, 2**31 - 1),
    st.none() | NAMES,
)
HELD = Held(("a", "b"), (("a", (1, 4)), ("b", (0,))), 7, None, None)
NEW = Held(("a", "b"), None, -1, None, None)


@given(SUBSCRIPTIONS)
def test_a_subscription_is_read_as_it_was_written(told: MemberMetadata) -> None:
    read = read_subscription(told.to_bytes())
    assert read.subscription.topics == told.topics
    assert read.subscription.user_data == told.user_data
    assert read.subscription.owned == (told.owned if told.version >= 1 else ())
    assert read.subscription.generation == (told.generation if told.version >= 2 else -1)
    assert read.subscription.rack == (told.rack if told.version >= 3 else None)
    assert (read.is_short, read.has_more) == (False, False)


@given(SUBSCRIPTIONS)
def test_kafka_python_reads_the_same(told: MemberMetadata) -> None:
    found = ConsumerProtocolSubscription.decode(told.to_bytes())
    assert tuple(found.topics) == told.topics
    assert found.user_data == told.user_data
    if told.version >= 1:
        assert tuple((each.topic, tuple(each.partitions)) for each in found.owned_partitions) == told.owned
    if told.version >= 2:
        assert found.generation_id == told.generation
    if told.version >= 3:
        assert found.rack_id == told.rack


@given(st.binary(max_size=40))
def test_other_bytes_are_refused_or_read(data: bytes) -> None:
    read_sticky_user_data(data)
    with contextlib.suppress(ValueError):
        read_subscription(data)


@given(PAIRS, st.none() | st.integers(-1, 2**31 - 1))
def test_the_user_data_of_sticky_is_read_as_it_was_written(
    owned: tuple[tuple[str, tuple[int, ...]], ...], generation: int | None
) -> None:
    assert read_sticky_user_data(StickyUserData(owned, generation).to_bytes()) == (owned, generation)


def flat(held: Held) -> list[TopicPartition]:
    return [TopicPartition(topic, each) for topic, numbers in held.owned or () for each in numbers]


@pytest.mark.parametrize("held", [NEW, HELD])
def test_kafka_pythons_members_send_what_it_sends(held: Held) -> None:
    assert (
        member_metadata("kafka-python", "range", held)
        == RangePartitionAssignor.metadata(list(held.topics)).encode()
    )
    for name, kind in (
        ("sticky", StickyPartitionAssignor),
        ("cooperative-sticky", CooperativeStickyAssignor),
    ):
        assignor = kind()
        if held.owned is not None:
            assignor.member_assignment, assignor.generation = flat(held), held.generation
        assert member_metadata("kafka-python", name, held) == assignor.metadata(list(held.topics)).encode()


@pytest.mark.parametrize("held", [NEW, HELD])
def test_aiokafkas_members_send_what_it_sends(held: Held) -> None:
    owned = None if held.owned is None else flat(held)
    told = AioSticky._metadata(list(held.topics), owned, held.generation)
    assert member_metadata("aiokafka", "sticky", held) == told.encode()


def member(name: str, client: str, owned: list[tuple[str, int]] | None = None) -> dict[str, object]:
    found: dict[str, object] = {"id": name, "topics": ["t"], "client": client}
    return found if owned is None else {**found, "owned": owned, "generation": 5}


def test_any_leader_shares_by_range_alike() -> None:
    clients = ("java", "librdkafka", "sarama", "franz-go", "kafka-python", "aiokafka")
    found = leaders({"t": 13}, [member(f"m{at}", client) for at, client in enumerate(clients)], "range")
    assert [each.assignor for each in found] == [f"{client}:range" for client in clients]
    readers = [{name: sorted(pairs) for name, pairs in each.assignment.items()} for each in found]
    assert all(each == readers[0] for each in readers)
    assert all(each.error is None and each.rounds == 1 and not each.forgotten for each in found)


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_any_leader_shares_static_members_by_range_alike_unless_one_is_dynamic(is_dynamic: bool) -> None:
    clients = ("java", "librdkafka", "sarama", "franz-go", "kafka-python")
    # In Kafka a member's ID begins with its instance ID, or else with its client ID.
    static = [
        {**member(f"pod-{9 - at}-7f3a", client), "instance_id": f"pod-{9 - at}"}
        for at, client in enumerate(clients)
    ]
    last = member("app-91c0", "aiokafka") | ({} if is_dynamic else {"instance_id": "app"})
    readers = [
        {name: sorted(pairs) for name, pairs in each.assignment.items()}
        for each in leaders({"t": 13}, [*static, last], "range")
    ]
    assert len(readers) == 6
    assert all(each == readers[0] for each in readers) is not is_dynamic


def test_kafka_go_shares_a_group_with_nobody() -> None:
    by = {
        each.leader: each
        for each in leaders({"t": 4}, [member("j", "java"), member("k", "kafka-go")], "range")
    }
    assert "SchemaException" in (by["j"].error or "")
    assert "kafka-go#1196" in (by["k"].error or "")
    (led,) = leaders({"t": 4}, [member("r", "librdkafka"), member("k", "kafka-go")], "range", leader="r")
    assert (led.left_out, led.idle, led.unread) == (["k"], ["k"], 0)


def test_saramas_members_forget_under_another_leader() -> None:
    owned = {"j": [("t", 0), ("t", 1)], "s": [("t", 2), ("t", 3)]}
    group = [member("j", "java", owned["j"]), member("s", "sarama", owned["s"])]
    by = {each.leader: each for each in leaders({"t": 4}, group, "sticky")}
    assert by["j"].forgotten == by["s"].forgotten == ["s"]
    # A sarama leader told them what they own, so they know it.
    by = {each.leader: each for each in leaders({"t": 4}, group[::-1], "sticky")}
    assert by["s"].forgotten == []
    assert by["s"].unchanged


def test_a_sarama_leader_fails_on_empty_user_data() -> None:
    (led,) = leaders({"t": 4}, [member("s", "sarama"), member("a", "aiokafka")], "sticky", leader="s")
    assert "no bytes" in (led.error or "")


@pytest.mark.parametrize(
    ("leader", "claim"),
    [
        ("java", Claim((), -1)),
        ("franz-go", Claim((), 0)),
        ("aiokafka", None),
        ("kafka-python", Claim(HELD.owned, 7)),
    ],  # type: ignore[arg-type]
)
def test_only_kafka_python_reads_its_own_user_data(leader: str, claim: Claim | None) -> None:
    found = view_member(leader, "sticky", "m", member_metadata("kafka-python", "sticky", HELD))
    assert found is not None
    assert found.claim == claim


def test_older_kafka_python_is_understood_by_java() -> None:
    metadata = member_metadata("kafka-python", "sticky", HELD, "@2.2")
    assert metadata == member_metadata("aiokafka", "sticky", HELD)
    found = view_member("java", "sticky", "m", metadata)
    assert found is not None
    assert found.claim == Claim(HELD.owned, 7)
    # kafka-python 3 expects a version in front of the user data.
    found = view_member("kafka-python", "sticky", "m", metadata)
    assert found is not None
    assert found.claim != Claim(HELD.owned, 7)


@pytest.mark.parametrize("version", ["@2.1", "@1.6"])
def test_older_librdkafka_tells_no_rack_and_no_generation(version: str) -> None:
    held = HELD._replace(rack="r")
    told = read_subscription(member_metadata("librdkafka", "cooperative-sticky", held, version)).subscription
    assert (told.version, told.owned, told.generation, told.rack) == (1, HELD.owned, -1, None)


RACKS = {"t": [["r2"], ["r2"], ["r1"], ["r1"]]}


def test_a_librdkafka_leader_tells_an_empty_rack_from_null_and_none() -> None:
    owned = [("t", number) for number in range(4)]
    first = {**member("a", "librdkafka"), "rack": "r1"}
    group = {client: [first, member("b", client, owned)] for client in ("java", "librdkafka", "kafka-python")}
    led = {
        client: leaders({"t": 4}, members, "cooperative-sticky", racks=RACKS, leader="a")[0]
        for client, members in group.items()
    }
    # A null rack is near to all partitions, so the first ones move; an empty one is near to none, so those near a move.
    assert led["java"].assignment == {"a": [], "b": [("t", 2), ("t", 3)]}
    assert led["librdkafka"].assignment == {"a": [], "b": [("t", 0), ("t", 1)]}
    assert "version before 3" in (led["kafka-python"].error or "")
    assert "since 2.2.0" in (led["kafka-python"].error or "")
    assert leaders({"t": 4}, group["kafka-python"], "cooperative-sticky", leader="a")[0].error is None


def test_librdkafka_1_6_dies_of_kafka_go() -> None:
    group = [member("r", "librdkafka@1.6"), member("k", "kafka-go")]
    (led,) = leaders({"t": 4}, group, "range", leader="r")
    assert "1.6.0 to 1.8.2" in (led.error or "")


def test_a_version_that_the_assignor_lacks_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        PartwrightError,
        match=r"no answers for librdkafka@2: write librdkafka or librdkafka@2\.6\.0 or librdkafka@2\.1 or ",
    ):
        leaders({"t": 1}, [member("x", "librdkafka@2")], "cooperative-sticky")
    with pytest.raises(PartwrightError, match=r"no answers for kafka-python@2\.2"):
        leaders({"t": 1}, [member("x", "kafka-python@2.2")], "cooperative-sticky")


def test_the_coordinator_chooses_what_all_have() -> None:
    assert (
        select_protocol({"a": ["range", "cooperative-sticky"], "b": ["cooperative-sticky"]})
        == "cooperative-sticky"
    )
    with pytest.raises(PartwrightError, match="no assignor in common"):
        leaders({"t": 1}, [member("k", "kafkajs"), member("j", "java")])
    with pytest.raises(
        PartwrightError, match="there is no client 'samara' in member 'x': did you mean 'sarama'"
    ):
        leaders({"t": 1}, [member("x", "samara")])
    with pytest.raises(PartwrightError, match="there is no member 'y' in the group"):
        leaders({"t": 1}, [member("x", "sarama")], leader="y")
    with pytest.raises(PartwrightError, match="without members"):
        leaders({"t": 1}, [])


def test_each_leader_of_kafkajs_deals_out_its_own_topics() -> None:
    group = [{**member("a", "kafkajs"), "topics": ["t"]}, {**member("b", "kafkajs"), "topics": ["u"]}]
    by = {each.leader: each.assignment for each in leaders({"t": 2, "u": 2}, group)}
    assert by["a"] == {"a": [("t", 0)], "b": [("t", 1)]}
    assert by["b"] == {"a": [("u", 0)], "b": [("u", 1)]}
