"""Scripts of groups that are none: each is refused in one sentence, by the number of its event."""

from __future__ import annotations

import re
from typing import Any

import pytest

from partwright import group
from partwright.errors import PartwrightError

Event = dict[str, Any]

JOIN = {"at_ms": 0, "join": "c1"}
MOST = 2**31 - 1


def refused(script: object) -> str:
    """The sentence."""
    with pytest.raises(PartwrightError) as caught:
        group.play(script)  # type: ignore[arg-type]
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


def script(*events: object, **fields: Any) -> dict[str, Any]:
    return {"topics": {"t": 4}, "events": list(events), **fields}


EVENTS: dict[str, list[Event]] = {
    "there is no event 'jion' in a script: did you mean 'join'?": [{"jion": "c2"}],
    "there is no member 'c2' in the group": [{"leave": "c2"}],
    "there is no member 'C1' in the group": [{"crash": "C1"}],
    "'c1' is there already: let it leave, crash or restart": [{"join": "c1"}],
    "a member is named by text, not ''": [{"join": ""}],
    "a member is named by text, not": [{"join": chr(0xD800)}],
    "a member is named by text, not 7": [{"join": 7}],
    "topics is empty: a consumer that subscribes to nothing is not a member, so let it leave": [
        {"join": "c2", "topics": []}
    ],
    "a topic is named by text, not ''": [{"join": "c2", "topics": [""]}, {"create_topic": {"": 1}}],
    "topics: a list is needed, not 3": [{"join": "c2", "topics": 3}],
    "instance_id is text, not ''": [{"join": "c2", "instance_id": ""}],
    # What `JoinGroupRequest.validateGroupInstanceId` of kafka-clients 4.4.0 refuses.
    "group.instance.id 'a b' is refused by Kafka: ": [{"join": "c2", "instance_id": "a b"}],
    "group.instance.id '..' is refused by Kafka: ": [{"join": "c2", "instance_id": ".."}],
    "249 letters at most": [{"join": "c2", "instance_id": "x" * 250}],
    "did you mean 'LEAVE_GROUP'?": [{"leave": "c1", "operation": "LEAVE_GRUP"}],
    "member_id is text, not 1": [{"join": "c2", "member_id": 1}, {"join": "c2", "member_id": ["m", 1]}],
    "member_id 'm' was another's": [{"join": "c2", "member_id": ["m", "m"]}],
    "member_id is text, not []": [{"join": "c2", "member_id": []}],
    'there is no assignor "rnage"': [{"join": "c2", "assignor": "rnage"}],
    "partition.assignment.strategy is a list or text": [{"join": "c2", "assignor": 1}],
    "partition.assignment.strategy cannot have 'sticky@2.3'": [{"join": "c2", "assignor": "sticky@2.3"}],
    "config has no field 'group.max.size'": [{"join": "c2", "config": {"group.max.size": 4}}],
    "session.timeout.ms is a whole": [
        {"join": "c2", "config": {"session.timeout.ms": True}},
        {"join": "c2", "config": {"session.timeout.ms": "5" * 5001}},
    ],
    "heartbeat.interval.ms (45000) must be less than session.timeout.ms (45000)": [
        {"join": "c2", "config": {"heartbeat.interval.ms": 45_000}}
    ],
    "poll_ms is a whole number from 0 to": [{"join": "c2", "poll_ms": -1}],
    "has no field 'for_ms'": [{"join": "c2", "for_ms": 1}],
    "operation is DEFAULT, LEAVE_GROUP, REMAIN_IN_GROUP": [
        {"leave": "c1", "operation": "LEAVE"},
        {"leave": "c1", "operation": []},
    ],
    "a member is named by text, not []": [{"leave": []}, {"commit": []}],
    "down_ms is a whole number from 0 to": [{"restart": "c1", "down_ms": -1}],
    "has no for_ms: say for how long 'c1' does not poll": [{"stall": "c1"}],
    "for_ms is a whole number from 1 to": [{"stall": "c1", "for_ms": 0}],
    "has no topics: say what 'c1' subscribes to": [{"subscribe": "c1"}],
    "topics is empty": [{"subscribe": "c1", "topics": []}],
    "'c1' has subscribed and cannot assign itself": [{"assign": "c1", "partitions": [["t", 0]]}],
    "has no partitions: say what 'a' reads": [{"assign": "a"}],
    "a partition of t is a whole number from 0 to 3": [{"assign": "a", "partitions": [["t", 4]]}],
    "there is no topic 'u'": [
        {"assign": "a", "partitions": [["u", 0]]},
        {"add_partitions": {"u": 1}},
        {"delete_topic": "u"},
    ],
    "a topic is named by text, not ['t']": [{"assign": "a", "partitions": [[["t"], 0]]}],
    "partitions are pairs of a topic and a number": [{"assign": "a", "partitions": ["t"]}],
    "add_partitions has numbers of partitions by topic": [{"add_partitions": {}}],
    "topic t is a whole number from 1 to": [
        {"add_partitions": {"t": 0}},
        {"add_partitions": {"t": True}},
        {"add_partitions": {"t": MOST}},
    ],
    "the topics have 1000004 partitions together": [{"add_partitions": {"t": 10**6}}],
    "there is a topic 't' already: say add_partitions, or take": [{"create_topic": {"t": 1}}],
    "partitions together, and a play takes 1000000": [{"create_topic": {"u": MOST}}],
    "there is no topic ['t']": [{"delete_topic": ["t"]}],
    "move_coordinator is true, not 1": [{"move_coordinator": 1}],
    "move_coordinator is true, not False": [{"move_coordinator": False}],
    "there is no member 'c9' in the group": [{"commit": "c9"}],
    "config is an object, not []": [{"join": "c2", "config": []}],
    "poll_timeout_ms is a whole number from 1 to": [{"join": "c2", "poll_timeout_ms": 0}],
    "listener: true, false, or the milliseconds of a callback": [{"join": "c2", "listener": "no"}],
    "record_ms is a number from 0 to": [{"join": "c2", "record_ms": -1}],
    "poll_ms follows from record_ms": [{"join": "c2", "record_ms": 1, "poll_ms": 1}],
    "not '--5'": [{"join": "c2", "config": {"session.timeout.ms": "--5"}}],
    "generation is a whole number from -1 to": [{"commit": "c1", "generation": -2}],
    "says join and leave at once": [{"join": "c2", "leave": "c1"}],
    "says nothing: one of join, leave, crash": [{}],
}
"""Events at 5 ms, by what is said of them."""
AT_NO_TIME: dict[str, list[Any]] = {
    "has no at_ms": [{"join": "c2"}],
    "at_ms is a whole number from 0 to": [
        {"at_ms": -1, "join": "c2"},
        {"at_ms": 2**63, "join": "c2"},
        {"at_ms": 1.0, "join": "c2"},
        {"at_ms": True, "join": "c2"},
        {"at_ms": float("nan"), "join": "c2"},
        {"at_ms": "5", "join": "c2"},
    ],
    "is an object with at_ms, not 7": [7],
    "is an object with at_ms, not []": [[]],
    "is an object with at_ms, not None": [None],
}


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        *(({"at_ms": 5, **event}, sentence) for sentence, events in EVENTS.items() for event in events),
        *((event, sentence) for sentence, events in AT_NO_TIME.items() for event in events),
    ],
)
def test_an_event_that_is_none_is_named_by_its_number(event: object, sentence: str) -> None:
    told = refused(script(JOIN, event))
    assert re.match(r"event 2\b", told), told
    assert sentence in told


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            [{"at_ms": 5, "leave": "c1"}, {"at_ms": 4, "join": "c2"}],
            "event 3: time runs backwards, from 5 to 4 ms",
        ),
        ([{"at_ms": 5, "leave": "c1"}, {"at_ms": 6, "leave": "c1"}], "event 3: 'c1' is not there at 6 ms"),
        (
            [{"at_ms": 5, "leave": "c1"}, {"at_ms": 4, "crash": "c1"}],
            "event 3: time runs backwards, from 5 to 4",
        ),
        (
            [{"at_ms": 5, "crash": "c1"}, {"at_ms": 6, "commit": "c1"}],
            "event 3: 'c1' has crashed, and only a running consumer can commit",
        ),
        (
            [{"at_ms": 5, "join": "a", "member_id": "m"}, {"at_ms": 6, "join": "b", "member_id": "m"}],
            "event 3: member_id 'm' was another's",
        ),
        (
            [{"at_ms": 5, "restart": "c1", "down_ms": 10}, {"at_ms": 6, "crash": "c1"}],
            "event 3: 'c1' is down until 15 ms",
        ),
        (
            [{"at_ms": 5, "assign": "a", "partitions": [["t", 0]]}, {"at_ms": 6, "join": "a"}],
            "event 3: 'a' has assigned itself partitions and cannot subscribe as well",
        ),
        (
            [{"at_ms": 5, "delete_topic": "t"}, {"at_ms": 6, "add_partitions": {"t": 1}}],
            "event 3: topic 't' was deleted before",
        ),
        (
            [{"at_ms": 5, "delete_topic": "t"}, {"at_ms": 6, "create_topic": {"t": 1}}],
            "event 3: 't' was deleted, and to Kafka a topic that takes its name is another one",
        ),
    ],
)
def test_an_event_must_fit_what_came_before(more: list[Event], sentence: str) -> None:
    assert refused(script(JOIN, *more)).startswith(sentence)


SCRIPTS: dict[str, list[dict[str, Any]]] = {
    "a script has no topics: name at least one": [{"topics": {}}],
    "a script has no topics": [{"topics": None}],
    "topics are numbers of partitions by name": [{"topics": True}, {"topics": ["t"]}],
    "topic t is a whole number from 1 to": [{"topics": {"t": 0}}],
    "a topic is named by text, not ''": [{"topics": {"": 1}}],
    "the topics have 2147483647 partitions together": [{"topics": {"t": MOST}}],
    "a topic is named by text, not 1": [{"topics": {1: 1}}],
    "a script's protocol is classic or consumer, not 'Classic'": [{"protocol": "Classic"}],
    "a script's protocol is classic or consumer, not []": [{"protocol": []}],
    "partition.assignment.strategy is empty": [{"assignor": []}],
    "with the protocol consumer the broker assigns": [{"protocol": "consumer", "assignor": "sticky"}],
    "group.remote.assignor is text, not ['range']": [{"protocol": "consumer", "assignor": ["range"]}],
    'there is no assignor "uniform"; known: range,': [{"assignor": "uniform"}],
    "config is an object, not []": [{"config": []}],
    "config is an object, not 3": [{"config": 3}],
    "config has no field 'session.timeout'": [{"config": {"session.timeout": 1}}],
    "enable.auto.commit is true or false, not 1": [{"config": {"enable.auto.commit": 1}}],
    "group.max.size is a whole number from 1 to": [
        {"config": {"group.max.size": 0}},
        {"config": {"group.max.size": float("nan")}},
    ],
    "group.consumer.assignors is empty": [
        {"config": {"group.consumer.assignors": []}},
        {"config": {"group.consumer.assignors": " "}},
    ],
    "static is true or false, not 1": [{"static": 1}],
    "until_ms is a whole number from 0 to": [{"until_ms": -1}, {"until_ms": True}],
    "records_per_s is a number from 0 to 1e+15, not nan": [{"records_per_s": float("nan")}],
    "records_per_s is a number from 0 to 1e+15, not -1": [{"records_per_s": -1}],
    "records_per_s is a number from 0 to 1e+15, not True": [{"records_per_s": True}],
    "records_per_s is a number from 0 to 1e+15, not '1'": [{"records_per_s": "1"}],
    "a script: poll_ms is a whole number from 0 to": [{"poll_ms": 1.5}],
    "latency_ms is a whole number from 0 to": [{"latency_ms": -1}],
    "a script has no field 'latencyms': did you mean 'latency_ms'?": [{"latencyms": 1}],
    "a script has no members: let somebody join": [{"events": []}, {"events": "roll"}],
    'events are a list, or a short form in quotes, such as "+2, roll", not 3': [{"events": 3}],
    "events: a list is needed, not 3.5": [{"events": 3.5}],
    "is classic or consumer, not 'consumr': did you mean 'consumer'?": [{"protocol": "consumr"}],
    "did you mean range?": [{"assignor": "rnage"}],
    "word 1 of the events is unknown: ": [{"events": "+\u0662"}, {"events": "x" * 10_000}],
    "topics 'a.b' and 'a_b' cannot stand side by side": [{"topics": {"a.b": 1, "a_b": 1}}],
    "group.consumer.heartbeat.interval.ms (45000) must be less than group.consumer.session.timeout.ms (45000)": [
        {"config": {"group.consumer.heartbeat.interval.ms": 45_000}}
    ],
    "events: a list is needed, not None": [{"events": None}],
    "word 1 of the events is unknown: ''": [{"events": ""}],
    "word 2 of the events is unknown: ''": [{"events": "+1,"}],
    "did you mean 'roll'?": [{"events": "+1, Rol"}],
    "word 2 of the events takes 2 members away, and 1 are there": [{"events": "+1, -2"}],
    "word 1 of the events makes more than 100000 members": [{"events": "+100001"}],
    "event 2: there is no topic 'u'": [{"events": "+1, u+2"}],
    "records_per_s is a number from 0 to 1e+15": [{"records_per_s": 10**400}],
    "config is an object, not 0": [{"config": 0}],
    "every_ms is a whole number": [{"every_ms": "x"}],
    "down_ms is a whole number": [{"down_ms": -1}],
}


@pytest.mark.parametrize(
    ("fields", "sentence"), [(fields, sentence) for sentence, those in SCRIPTS.items() for fields in those]
)
def test_a_script_that_is_none_is_refused(fields: dict[str, Any], sentence: str) -> None:
    assert sentence in refused({**script(JOIN), **fields})


def test_what_ends_before_its_events_is_refused() -> None:
    told = refused(script(JOIN, {"at_ms": 500, "leave": "c1"}, until_ms=100))
    assert told == "event 2 is at 500 ms, and until_ms is 100: play for longer"


@pytest.mark.parametrize("given", [None, [], "+1", 7, b"", {1: 2}, {}, {"topics": {"t": 1}}])
def test_what_is_no_script_is_refused(given: object) -> None:
    refused(given)
    with pytest.raises(PartwrightError):
        group.compare(given)  # type: ignore[arg-type]


ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, -(2**63), 1.0, 1.5, float("nan"), float("inf"), "", " ", "t",
    "c1", "-1", "é", chr(0xD800), "x" * 10_000, "\0", b"t", [], [[]], ["t"], ["t", "t"], [None], [1], {}, {"t": 1},
    {"t": True}, {"": 1}, {1: 2}, {"t": {"t": 1}}, (), [["t", 0]], [["t", -1]], [[None, 0]], {"a"}, object(), range(3),
]  # fmt: skip
FULL: dict[str, Event] = {
    "join": {
        "join": "c3",
        "topics": ["t"],
        "instance_id": "i",
        "member_id": "m",
        "config": {},
        "poll_ms": 1,
        "poll_timeout_ms": 1,
        "listener": 0,
    },
    "leave": {"leave": "c1", "operation": "DEFAULT"},
    "crash": {"crash": "c1"},
    "restart": {"restart": "c1", "assignor": "range", "down_ms": 5},
    "stall": {"stall": "c1", "for_ms": 100},
    "subscribe": {"subscribe": "c1", "topics": ["t"]},
    "assign": {"assign": "a", "partitions": [["t", 0]]},
    "add_partitions": {"add_partitions": {"t": 1}},
    "create_topic": {"create_topic": {"u": 1}},
    "delete_topic": {"delete_topic": "t"},
    "move_coordinator": {"move_coordinator": True},
    "commit": {"commit": "c1", "generation": 1},
}
TWO = [JOIN, {"at_ms": 1000, "join": "c2"}]


def is_played_or_refused(told: Any, number: int | None = None) -> None:
    timeline, sentence = None, ""
    try:
        timeline = group.play(told)
    except PartwrightError as error:
        sentence = str(error)
    assert "\n" not in sentence
    if timeline is None:
        assert number is None or re.match(rf"event {number}\b", sentence), sentence
        return
    timeline.to_dict()
    timeline.chart()
    timeline.partitions()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("kind", FULL)
def test_odd_values_in_events_are_played_or_refused(kind: str, protocol: str) -> None:
    for field in ("at_ms", *FULL[kind]):
        for odd in ODD:
            event = {"at_ms": 2000, **FULL[kind], field: odd}
            is_played_or_refused(script(*TWO, event, protocol=protocol, until_ms=20_000), 3)


FIELDS = (
    "protocol", "assignor", "topics", "config", "events", "static", "every_ms", "down_ms", "until_ms", "records_per_s",
    "poll_ms", "record_ms", "poll_timeout_ms", "listener", "idle_topics", "latency_ms",
)  # fmt: skip
KEYS = (
    "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "auto.commit.interval.ms",
    "metadata.max.age.ms", "enable.auto.commit", "partition.assignment.strategy", "group.remote.assignor",
    "group.initial.rebalance.delay.ms", "group.min.session.timeout.ms", "group.max.session.timeout.ms",
    "group.max.size", "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms",
    "group.consumer.assignment.interval.ms", "group.consumer.max.size", "group.consumer.assignors",
)  # fmt: skip


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_odd_values_in_scripts_are_played_or_refused(protocol: str) -> None:
    for odd in ODD:
        for field in FIELDS:
            is_played_or_refused({**script(*TWO, protocol=protocol), field: odd})
        for key in KEYS:
            is_played_or_refused(script(*TWO, protocol=protocol, config={key: odd}))
        is_played_or_refused(odd)


def test_a_long_time_is_played_soon() -> None:
    month = 31 * 24 * 3_600_000
    timeline = group.play(script(JOIN, until_ms=month))
    assert (timeline.ended_ms, timeline.is_settled) == (month, True)
    assert refused(script(JOIN, until_ms=month + 1)).startswith("until_ms is a whole number from 0 to")


def test_the_numbers_of_a_script_may_be_text_in_its_config() -> None:
    config = {"session.timeout.ms": "10000", "group.max.size": "2", "enable.auto.commit": "FALSE"}
    numbers = {"session.timeout.ms": 10_000, "group.max.size": 2, "enable.auto.commit": False}
    events = [*TWO, {"at_ms": 60_000, "crash": "c1"}]
    texts, plain = (group.play(script(*events, config=each)).to_dict() for each in (config, numbers))
    assert texts == plain


def test_a_consumer_that_assigns_itself_may_do_so_again_and_crash() -> None:
    first = {"at_ms": 1000, "assign": "a", "partitions": [["t", 0]]}
    again = {"at_ms": 2000, "assign": "a", "partitions": [["t", 1], ["t", 2]]}
    timeline = group.play(script(first, again, {"at_ms": 3000, "crash": "a"}))
    rows = [(row["partition"], row["from_ms"], row["to_ms"]) for row in timeline.ownership().to_pylist()]
    assert rows == [(0, 1000, 2000), (1, 2000, 3000), (2, 2000, 3000)]


def test_a_play_goes_on_to_what_consumers_beside_the_group_do() -> None:
    events = [
        {"at_ms": 200_000, "assign": "z", "partitions": [["t", 0], ["t", 1]]},
        {"at_ms": 400_000, "leave": "z"},
    ]
    assert group.play(script(JOIN, *events)).ended_ms == 400_000
    alone = group.play(script(*events))
    assert (alone.ended_ms, alone.cost.generations) == (400_000, 0)


def test_a_consumer_that_assigns_itself_reads_no_topic_that_is_gone() -> None:
    events = [
        {"at_ms": 1000, "assign": "z", "partitions": [["t", 0], ["u", 1]]},
        {"at_ms": 2000, "delete_topic": "t"},
        {"at_ms": 3000, "crash": "z"},
    ]
    timeline = group.play({"topics": {"t": 1, "u": 2}, "events": events})
    rows = [(row["topic"], row["from_ms"], row["to_ms"]) for row in timeline.ownership().to_pylist()]
    assert rows == [("t", 1000, 2000), ("u", 1000, 3000)]


@pytest.mark.parametrize(
    "event",
    [
        {"subscribe": "z", "topics": ["t"]},
        {"join": "z"},
        {"restart": "z"},
        {"stall": "z", "for_ms": 1},
        {"commit": "z"},
    ],
)
def test_a_consumer_that_assigns_itself_is_no_member(event: Event) -> None:
    assign = {"at_ms": 0, "assign": "z", "partitions": [["t", 0]]}
    sentence = refused(script(JOIN, assign, {"at_ms": 1, **event}))
    assert "'z' has assigned itself partitions and cannot subscribe as well" in sentence
    assert refused(script(JOIN, assign, {"at_ms": 1, "leave": "z", "operation": "NOPE"})).startswith(
        "event 3: operation is DEFAULT"
    )


def test_members_that_are_static_have_names_that_are_ids() -> None:
    sentence = refused({"topics": {"t": 1}, "static": True, "events": [{"at_ms": 0, "join": "pod 1"}]})
    assert sentence.startswith("event 1: group.instance.id 'pod 1' is refused by Kafka: ")


def test_topics_that_are_made_collide_with_those_that_are_there() -> None:
    made = {"at_ms": 5, "create_topic": {"a_b": 1}}
    sentence = refused({"topics": {"a.b": 1}, "events": [JOIN, made]})
    assert sentence.startswith("event 2: topics 'a.b' and 'a_b' cannot stand side by side")
    gone = {"at_ms": 4, "delete_topic": "a.b"}
    assert group.play({"topics": {"a.b": 1}, "events": [JOIN, gone, made]}).cost.generations


@pytest.mark.parametrize(
    "fields",
    [{"assignor": "stiky"}, {"protocol": "nonsense"}, {"static": "maybe"}],
    ids=lambda fields: next(iter(fields)),
)
def test_a_comparison_checks_what_it_leaves_out(fields: dict[str, Any]) -> None:
    with pytest.raises(PartwrightError):
        group.compare(script(JOIN, **fields))


@pytest.mark.parametrize("key", ["partition.assignment.strategy", "group.remote.assignor"])
def test_a_comparison_chooses_the_assignors_of_all(key: str) -> None:
    event = {"at_ms": 5, "join": "c2", "config": {key: "range"}}
    with pytest.raises(PartwrightError, match=f"event 2 names its own {key}, which a comparison chooses"):
        group.compare({"topics": {"t": 4}, "events": (JOIN, event)})


@pytest.mark.parametrize(
    "event",
    [
        {"request": "join", "protocols": 5},
        {"request": "join", "protocols": [["range", 5]]},
        {"request": "join", "instance_id": 5},
        {"request": "sync", "assignments": [1]},
        {"request": "leave", "members": [5]},
    ],
)
def test_a_request_with_a_field_of_another_kind_is_refused(event: Event) -> None:
    with pytest.raises(PartwrightError, match="of another kind than it takes"):
        group.ClassicGroup().step({"at_ms": 0, **event})


@pytest.mark.parametrize(
    "fields",
    [
        {"topics": 5},
        {"topics": [["a"]]},
        {"owned": 5},
        {"owned": {"t": [2**40]}},
        {"assignor": 5},
        {"rack_id": 5},
    ],
)
def test_a_heartbeat_with_a_field_of_another_kind_is_refused(fields: Event) -> None:
    event = {"request": "heartbeat", "at_ms": 0, "member_id": "a", "epoch": 0, "topics": ["t"], "owned": {}}
    with pytest.raises(PartwrightError, match="of another kind than it takes"):
        group.ConsumerGroup(topics={"t": 2}).step({**event, "rebalance_timeout_ms": 1000, **fields})


@pytest.mark.parametrize("topics", [5, {"t": -1}, {"t": "x"}, ["t"]])
def test_topics_of_a_coordinator_are_checked(topics: Any) -> None:
    with pytest.raises(PartwrightError):
        group.ConsumerGroup(topics=topics)
