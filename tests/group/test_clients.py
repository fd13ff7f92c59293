"""Groups with members of several clients in scripts: the leader's client assigns, step by step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from partwright.assignors.mixed.clients import client_of
from partwright.assignors.mixed.group import Mixed, MixedMember
from partwright.group import leaders_client, play, play_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

TOPICS = {"orders": 7, "users": 4}
EAGER = ["range", "roundrobin"]


def joins(*clients: str, **more: object) -> list[dict[str, Any]]:
    return [{"at_ms": 0, "join": f"c{at}", "client": client, **more} for at, client in enumerate(clients)]


def move(old: str, new: str, members: int = 3, **more: object) -> dict[str, Any]:
    """A group that is rolled from one client to another, member by member."""
    rolled = [
        {"at_ms": 60_000 * (at + 1), "restart": f"c{at}", "client": new, "down_ms": 2_000}
        for at in range(members)
    ]
    return {"topics": TOPICS, "events": [*joins(*[old] * members), *rolled], **more}


@pytest.fixture
def asked_of(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What leaders are told of: the order of the members that JoinGroup's answer has."""
    found: list[dict[str, Any]] = []
    ask = leaders_client.LeadersClient.__call__

    def note(self: leaders_client.LeadersClient, group: Any) -> Any:
        found.append(group)
        return ask(self, group)

    monkeypatch.setattr(leaders_client.LeadersClient, "__call__", note)
    return found


def expected(
    generations: list[dict[str, Any]],
    asked_of: list[dict[str, Any]],
    clients: Mapping[str, str],
    assignor: str,
) -> Iterator[tuple[dict[str, Any], dict[str, list[tuple[str, int]]]]]:
    """Each generation with what a mixed group gives, of what members owned in the generation before."""
    before: dict[str, list[tuple[str, int]]] = {}
    led_before = "java"
    told_of = {group["generation"]: group for group in asked_of}
    for number, generation in enumerate(generations):
        if generation["generation"] not in told_of:
            continue
        ids = [member["id"] for member in told_of[generation["generation"]]["members"]]
        members = []
        for member in ids:
            group: dict[str, Any] = {"id": member, "topics": list(TOPICS), "client": clients[member]}
            if member in before:
                group |= {"owned": before[member], "generation": generations[number - 1]["generation"]}
            members.append(MixedMember.of(group))
        leader = told_of[generation["generation"]]["leader"]
        client, version = client_of(clients[ids[leader]], "the test")
        mixed = Mixed(TOPICS, tuple(members), assignor).led_by(led_before)
        found = mixed.rebalance(client, version).assignment
        yield generation, {member.split("-")[0]: pairs for member, pairs in found.items()}
        before, led_before = found, client


@pytest.mark.parametrize(
    ("old", "new", "assignor"),
    [
        *[("librdkafka", "java", assignor) for assignor in (*EAGER, "cooperative-sticky")],
        *[("sarama", "franz-go", assignor) for assignor in (*EAGER, "sticky", "cooperative-sticky")],
        *[("java", "sarama", assignor) for assignor in ("roundrobin", "sticky", "cooperative-sticky")],
        *[("aiokafka", "kafka-python", assignor) for assignor in (*EAGER, "sticky")],
        ("kafka-python@2.2", "librdkafka@2.1", "range"),
        ("kafkajs", "kafkajs", "RoundRobinAssigner"),
        ("kafka-go", "kafka-go", "rack-affinity"),
    ],
)
def test_each_step_of_a_move_is_what_the_leaders_client_gives(
    old: str, new: str, assignor: str, asked_of: list[dict[str, Any]]
) -> None:
    timeline = play(move(old, new, client=old, assignor=assignor))
    assert timeline.is_settled
    assert timeline.failures() == []
    generations = list(timeline.generations())
    # Each start has an id of its own: c0, then c0-2.
    clients = {f"c{at}": old for at in range(3)} | {f"c{at}-2": new for at in range(3)}
    steps = list(expected(generations, asked_of, clients, assignor))
    assert len(steps) >= 4
    for generation, lists in steps:
        assert generation["assignment"] == lists, generation
        assert generation["assignor"].startswith((f"{old.partition('@')[0]}:", f"{new.partition('@')[0]}:"))
    assert generations[0]["assignor"].startswith(old.partition("@")[0])
    assert generations[-1]["assignor"].startswith(new.partition("@")[0])


@pytest.mark.parametrize("client", ["librdkafka", "franz-go", "aiokafka"])
@pytest.mark.parametrize("assignor", EAGER)
def test_a_client_that_assigns_as_java_does_lives_the_same_life(client: str, assignor: str) -> None:
    script = {"topics": TOPICS, "assignor": assignor, "events": "+3, x1, roll, orders+4, -1"}
    # Their default session timeouts differ.
    script["config"] = {"session.timeout.ms": 45_000}
    java, other = play(script), play({**script, "client": client})
    assert other.cost == java.cost
    for ours, theirs in zip(other.generations(), java.generations(), strict=True):
        # librdkafka lists topics in another order.
        lists, javas = ours["assignment"], theirs["assignment"]
        assert {member: set(lists[member]) for member in lists} == {each: set(javas[each]) for each in javas}
        assert client == "librdkafka" or lists == javas
        assert ours["assignor"] in (f"{client}:{assignor}", None)
        assert "assignor" not in theirs


@pytest.mark.parametrize("assignor", [*EAGER, "sticky", "cooperative-sticky"])
@pytest.mark.parametrize("static", [False, True])
def test_java_on_the_wire_lives_as_java_in_the_core(
    assignor: str, static: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = "+4, x1, roll, orders+4, +2, surge2, -1, broker, node2"
    script = {"topics": TOPICS, "assignor": assignor, "static": static, "events": events}
    in_the_core = play(script)
    # Java's leaders are asked as those of other clients are.
    monkeypatch.setattr(play_script, "JAVA", "no client")
    on_the_wire = play(script)
    assert on_the_wire.cost == in_the_core.cost
    for ours, theirs in zip(on_the_wire.generations(), in_the_core.generations(), strict=True):
        assert {name: ours[name] for name in theirs} == theirs
        assert ours["assignor"] in (f"java:{assignor}", None)


def given_up(client: str, assignors: list[str]) -> set[int]:
    """What the first member stops reading when a second one joins."""
    script = {"topics": {"t": 6}, "client": client, "assignor": assignors, "events": "+1, +1"}
    spans = play(script).ownership().to_pylist()
    return {each["partition"] for each in spans if each["member"] == "c1" and each["to_ms"] is not None}


@pytest.mark.parametrize(
    ("client", "assignors", "count"),
    [
        ("java", ["cooperative-sticky"], 3),
        ("java", ["cooperative-sticky", "range"], 6),
        ("sarama", ["cooperative-sticky"], 3),
        ("sarama", ["cooperative-sticky", "range"], 6),
        ("franz-go", ["cooperative-sticky", "range"], 3),
        ("franz-go@1.21", ["cooperative-sticky", "range"], 3),
        ("franz-go", ["range", "cooperative-sticky"], 6),
    ],
)
def test_whether_a_member_keeps_its_partitions_is_its_own_clients_rule(
    client: str, assignors: list[str], count: int
) -> None:
    # Real members do the same: tests/kafka/test_go_members.py.
    assert len(given_up(client, assignors)) == count


def test_a_member_of_franz_go_gives_up_late_when_the_assignor_becomes_an_eager_one() -> None:
    events: list[dict[str, Any]] = [
        {"at_ms": 0, "join": "a", "assignor": ["cooperative-sticky", "range"]},
        {"at_ms": 60_000, "join": "b", "assignor": ["range"]},
    ]
    script: dict[str, Any] = {"topics": {"t": 6}, "client": "franz-go"}
    timeline = play({**script, "events": events})
    assert timeline.protocols() == ["cooperative-sticky", "range"]
    # It has kept them until it takes what it is given, and then nobody asks for a second rebalance.
    first = [each for each in timeline.ownership().to_pylist() if each["member"] == "a"]
    (second, _) = [each["at_ms"] for each in timeline.generations()][::-1]
    assert all(each["to_ms"] is None or each["to_ms"] >= second for each in first)
    # From then on it is as eager as any.
    events += [{"at_ms": 120_000, "join": "c", "assignor": ["range"]}]
    spans = play({**script, "events": events}).ownership().to_pylist()
    assert not [
        each
        for each in spans
        if each["member"] == "a" and each["from_ms"] < 120_000 and each["to_ms"] is None
    ]


def test_a_member_joins_only_if_all_have_an_assignor_in_common() -> None:
    events = [*joins("sarama"), {"at_ms": 60_000, "join": "go", "client": "franz-go"}]
    timeline = play({"topics": TOPICS, "events": events})
    (failure,) = timeline.failures()
    assert (failure["member"], failure["error"]) == ("go", "INCONSISTENT_GROUP_PROTOCOL")
    assert [each["assignor"] for each in timeline.generations()] == ["sarama:range"]
    # The coordinator takes what all have, whatever else they have.
    events[1]["assignor"] = ["cooperative-sticky", "range"]
    timeline = play({"topics": TOPICS, "events": events})
    assert timeline.failures() == []
    assert timeline.protocols() == ["range", "range"]


def test_a_leader_that_cannot_read_a_member_ends_and_the_next_one_leads() -> None:
    timeline = play(move("java", "kafka-go", assignor="range"))
    (first, second) = timeline.failures()
    assert (first["member"], second["member"]) == ("c1", "c2")
    assert "SchemaException" in first["error"]
    led = [(each["leader"], each["assignor"], bool(each["assignment"])) for each in timeline.generations()]
    assert led[0] == ("c0", "java:range", True)
    assert ("c1", None, False) in led
    assert led[-1][1:] == ("kafka-go:range", True)
    assert timeline.unread_at_the_end() == []


def test_a_client_that_throws_ends_its_leaders_one_by_one() -> None:
    events = [
        {"at_ms": 0, "join": "c0", "topics": ["orders"]},
        {"at_ms": 0, "join": "c1", "topics": ["orders", "users"]},
    ]
    timeline = play({"topics": TOPICS, "client": "kafka-python", "assignor": "roundrobin", "events": events})
    failure, *_ = timeline.failures()
    assert "KeyError" in failure["error"]
    assert {each["member"] for each in timeline.failures()} < {"c0", "c1"}


def test_a_leader_of_librdkafka_leaves_out_kafka_go() -> None:
    events = [*joins("librdkafka"), {"at_ms": 60_000, "join": "go", "client": "kafka-go"}]
    *_, last = play({"topics": TOPICS, "assignor": "range", "events": events}).generations()
    assert (last["leader"], last["left_out"], last["assignment"]["go"]) == ("c0", ["go"], [])


def test_saramas_members_forget_when_another_client_leads() -> None:
    timeline = play(move("java", "sarama", assignor="sticky", members=2))
    told = [(each["leader"], each["assignor"], each["forgotten"]) for each in timeline.generations()]
    # Java's leader has put no user data into what it gave c0, so that c0 does not even know of its own.
    assert told == [
        ("c0", "java:sticky", []),
        ("c1", "java:sticky", []),
        ("c1", "java:sticky", []),
        ("c0", "sarama:sticky", ["c0"]),
    ]


def test_a_leader_of_kafkajs_deals_out_its_own_topics() -> None:
    events = [
        {"at_ms": 0, "join": "c0", "topics": ["users"]},
        {"at_ms": 0, "join": "c1", "topics": ["orders"]},
        {"at_ms": 60_000, "leave": "c0"},
        {"at_ms": 120_000, "join": "c2", "topics": ["users"]},
    ]
    generations = list(play({"topics": TOPICS, "client": "kafkajs", "events": events}).generations())
    first = {topic for pairs in generations[0]["assignment"].values() for topic, _ in pairs}
    last = {topic for pairs in generations[-1]["assignment"].values() for topic, _ in pairs}
    assert (generations[0]["leader"], first) == ("c0", {"users"})
    assert (generations[-1]["leader"], last) == ("c1", {"orders"})


@pytest.mark.parametrize(
    ("client", "session_ms"),
    [("java", 45_000), ("sarama", 10_000), ("kafka-go", 30_000), ("librdkafka@1.6", 10_000)],
)
def test_a_crashed_member_is_missed_after_its_own_clients_session(client: str, session_ms: int) -> None:
    script: dict[str, Any] = {
        "topics": TOPICS,
        "client": client,
        "events": "+2, x1",
        "assignor": "roundrobin",
    }
    *_, missed = play(script).generations()
    # The coordinator counts from the last heartbeat.
    assert 60_000 + session_ms - 4_000 <= missed["at_ms"] <= 60_000 + session_ms + 4_000
    *_, missed = play({**script, "config": {"session.timeout.ms": 20_000}}).generations()
    assert 76_000 <= missed["at_ms"] <= 84_000


def test_static_members_and_other_topics_are_told_to_the_leader(asked_of: list[dict[str, Any]]) -> None:
    events = [
        *joins("librdkafka", "java"),
        {"at_ms": 60_000, "subscribe": "c1", "topics": ["users"]},
        {"at_ms": 120_000, "crash": "c0"},
        {"at_ms": 125_000, "join": "c0", "client": "sarama"},
    ]
    timeline = play({"topics": TOPICS, "assignor": "range", "static": True, "events": events})
    assert timeline.failures() == []
    assert [member["instance_id"] for member in asked_of[0]["members"]] == ["c0", "c1"]
    (changed,) = (each for each in asked_of if any(len(member["topics"]) == 1 for member in each["members"]))
    assert [member["topics"] for member in changed["members"]] == [[0, 1], [1]]
    *_, last = timeline.generations()
    assert last["assignment"]["c1"]
    assert all(topic == "users" for topic, _ in last["assignment"]["c1"])


def test_with_kip_848_the_broker_assigns_for_those_clients_that_speak_it() -> None:
    script = {"topics": TOPICS, "protocol": "consumer", "events": "+2"}
    java = play(script)
    for client in ("librdkafka", "franz-go"):
        assert list(play({**script, "client": client}).generations()) == list(java.generations())


def test_older_consumers_of_kip_848_live_otherwise_until_they_are_rolled() -> None:
    def lives(client: str, events: str, protocol: str = "consumer") -> list[dict[str, Any]]:
        script = {"topics": TOPICS, "protocol": protocol, "client": client, "events": events}
        rows: list[dict[str, Any]] = play(script).ownership().to_pylist()
        return rows

    ends = {client: lives(client, "+2, +1") for client in ("java", "java@4.1", "java@4.2", "java@4.3")}
    assert len({str(rows) for rows in ends.values()}) == len(ends)
    assert lives("java@4.4", "+2, +1") == ends["java"]
    assert lives("java@4.0", "+2, +1") == ends["java@4.1"]
    rolled = lives("java@4.1", "+2, roll to java@4.4")
    assert rolled == lives("java@4.1", "+2, roll to java")
    assert rolled not in (lives("java@4.1", "+2, roll"), lives("java", "+2, roll"))
    assert lives("java@4.1", "+2, +1", "classic") == lives("java", "+2, +1", "classic")


def test_a_member_keeps_the_assignors_that_it_sets_and_takes_its_new_clients_defaults() -> None:
    events = [
        {"at_ms": 0, "join": "c1", "client": "franz-go"},
        {"at_ms": 60_000, "restart": "c1", "client": "aiokafka"},
        {"at_ms": 120_000, "restart": "c1", "assignor": "range"},
        {"at_ms": 180_000, "restart": "c1", "client": "sarama"},
        {"at_ms": 240_000, "restart": "c1", "client": "java", "assignor": "sticky"},
    ]
    led = [each["assignor"] for each in play({"topics": TOPICS, "events": events}).generations()]
    wanted = [
        *["franz-go:cooperative-sticky", "aiokafka:roundrobin", "aiokafka:range"],
        *["sarama:range", "java:sticky"],
    ]
    assert [assignor for assignor in led if assignor is not None] == wanted


def test_the_command_says_who_assigns_and_what_the_leader_does_not_see(
    told: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "move.json"
    file.write_text(json.dumps(move("java", "sarama", members=2)))
    code, out, err = told("group", file, "--assignor", "sticky", "--width", "60")
    assert (code, err) == (0, "")
    assert "c0, java:sticky" in out
    assert "The leader did not know what c0 owned in generation" in out
    code, out, _ = told("group", "--topic", "t=4", "--events", "+2", "--client", "kafkajs", "--json")
    (generation,) = json.loads(out)["generations"]
    assert (code, generation["assignor"]) == (0, "kafkajs:RoundRobinAssigner")
    file.write_text(json.dumps(move("java", "kafka-go", assignor="range")))
    code, out, _ = told("group", file)
    assert "c1 ended at" in out
    assert ": a java leader fails on what member" in out
    assert "nothing is assigned" in out
