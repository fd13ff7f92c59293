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
MONTH = 31 * 24 * 3_600_000
TIMEOUT = "session.timeout.ms"
A_TIME = "poll_ms is a number, or an object of from and to, p50 and p99, or among"
ITSELF = {"assign": "z", "partitions": [["t", 0]]}
FIELDS = (
    "protocol", "assignor", "topics", "config", "events", "static", "every_ms", "down_ms", "until_ms", "records_per_s",
    "poll_ms", "record_ms", "poll_timeout_ms", "listener", "idle_topics", "latency_ms",
)  # fmt: skip


def refused(script: object) -> PartwrightError:
    """The error, of one sentence."""
    with pytest.raises(PartwrightError) as caught:
        group.play(script)  # type: ignore[arg-type]
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    return caught.value


def script(*events: object, **fields: Any) -> dict[str, Any]:
    return {"topics": {"t": 4}, "events": list(events), **fields}


def filled(place: Any, value: object) -> Any:
    """The place with the value instead of its dots."""
    if isinstance(place, dict):
        return {name: filled(each, value) for name, each in place.items()}
    if isinstance(place, list):
        return [filled(each, value) for each in place]
    return value if place is ... else place


NUMBERS: list[tuple[dict[str, Any], str, int, int, list[Any]]] = [
    ({"at_ms": ..., "join": "c2"}, "at_ms", 0, MONTH, [-1, 2**63, 1.0, True, float("nan"), "5"]),
    ({"join": "c2", "poll_ms": ...}, "poll_ms", 0, MOST, [-1]),
    ({"join": "c2", "poll_timeout_ms": ...}, "poll_timeout_ms", 1, MOST, [0]),
    (
        {"join": "c2", "listener": ...},
        "listener: true, false, or the milliseconds of a callback,",
        0,
        MOST,
        ["no"],
    ),
    ({"join": "c2", "config": {TIMEOUT: ...}}, TIMEOUT, 1, MOST, [True, "--5", "5" * 5001]),
    ({"restart": "c1", "down_ms": ...}, "down_ms", 0, MONTH, [-1]),
    ({"stall": "c1", "for_ms": ...}, "for_ms", 1, MONTH, [0]),
    ({"assign": "a", "partitions": [["t", ...]]}, "a partition of t", 0, 3, [4]),
    ({"add_partitions": {"t": ...}}, "topic t", 1, MOST, [0, True]),
    ({"commit": "c1", "generation": ...}, "generation", -1, MOST, [-2]),
    ({"topics": {"t": ...}}, "the number of partitions of topic t", 1, MOST, [0]),
    ({"config": {"group.max.size": ...}}, "group.max.size", 1, MOST, [0, float("nan")]),
    ({"until_ms": ...}, "until_ms", 0, MONTH, [-1, True, MONTH + 1]),
    ({"poll_ms": ...}, "poll_ms", 0, MOST, [1.5]),
    ({"poll_ms": {"from": 9, "to": ...}}, "poll_ms: to", 9, MOST, [2]),
    ({"latency_ms": ...}, "latency_ms", 0, MONTH, [-1]),
    ({"latency_ms": {"p50": ..., "p99": 3}}, "latency_ms: p50", 1, MOST, [0]),
    ({"every_ms": ...}, "every_ms", 0, MONTH, ["x"]),
    ({"down_ms": ...}, "down_ms", 0, MONTH, [-1, "3s"]),
    ({"seed": ...}, "seed", 0, 2**63 - 1, [-1]),
]
"""Where a number is, how it is called, its bounds, and what is not within them."""


def is_event(place: dict[str, Any]) -> bool:
    return next(iter(place), "") not in {*FIELDS, "seed", "latencyms"}


def given(place: dict[str, Any], value: object) -> dict[str, Any]:
    """A script with the value at its place: in its second event, or in itself."""
    found = filled(place, value)
    return script(JOIN, {"at_ms": 5, **found}) if is_event(place) else {**script(JOIN), **found}


@pytest.mark.parametrize(("place", "field", "low", "high", "wrong"), NUMBERS)
def test_a_number_has_bounds(
    place: dict[str, Any], field: str, low: int, high: int, wrong: list[Any]
) -> None:
    for value in wrong:
        error = refused(given(place, value))
        assert (error.row, error.field, error.value is value) == (1 if is_event(place) else None, field, True)
        assert str(error.reason).startswith(f"is a whole number from {low} to {high}, not {repr(value)[:40]}")
        where = "event 2: " if is_event(place) else "a script: " if field.startswith("poll_ms") else ""
        assert str(error) == f"{where}{field} {error.reason}"


KINDS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("a member is named by text", {"join": ...}, ["", chr(0xD800), 7]),
    ("a member is named by text", {"leave": ...}, [[]]),
    ("a member is named by text", {"commit": ...}, [[]]),
    ("a topic is named by text", {"join": "c2", "topics": [...]}, [""]),
    ("a topic is named by text", {"assign": "a", "partitions": [[..., 0]]}, [["t"]]),
    ("instance_id is text", {"join": "c2", "instance_id": ...}, [""]),
    ("member_id is text", {"join": "c2", "member_id": ...}, [1, []]),
    ("member_id is text", {"join": "c2", "member_id": ["m", ...]}, [1]),
    ("operation is DEFAULT, LEAVE_GROUP, REMAIN_IN_GROUP", {"leave": "c1", "operation": ...}, ["LEAVE", []]),
    ("topics: a list is needed", {"join": "c2", "topics": ...}, [3]),
    ("partitions are pairs of a topic and a number", {"assign": "a", "partitions": [...]}, ["t"]),
    ('add_partitions has numbers of partitions by topic, as {"t": 4}', {"add_partitions": ...}, [{}]),
    ("move_coordinator is true", {"move_coordinator": ...}, [1, False]),
    ("config is an object", {"join": "c2", "config": ...}, [[]]),
    (f"record_ms is a number from 0 to {MOST}", {"join": "c2", "record_ms": ...}, [-1]),
    (A_TIME, {"join": "c2", "poll_ms": ...}, [{"from": 1}]),
    ("config is an object", {"config": ...}, [[], 3, 0]),
    ('topics are numbers of partitions by name, as {"t": 4}', {"topics": ...}, [True, ["t"]]),
    ("a script's protocol is classic or consumer", {"protocol": ...}, ["Classic", [], "consumr"]),
    ("group.remote.assignor is text", {"protocol": "consumer", "assignor": ...}, [["range"]]),
    ("enable.auto.commit is true or false", {"config": {"enable.auto.commit": ...}}, [1]),
    ("static is true or false", {"static": ...}, [1]),
    ("records_per_s is a number from 0 to 1e+15", {"records_per_s": ...}, [float("nan"), -1, True, "1"]),
    ('events are a list, or a short form in quotes, such as "+2, roll"', {"events": ...}, [3]),
    ("events: a list is needed", {"events": ...}, [3.5, None]),
    (f"a script: {A_TIME}", {"poll_ms": ...}, [{"from": 2}]),
]
"""What a value has to be, where it is, and what is of another kind."""


@pytest.mark.parametrize(("wanted", "place", "wrong"), KINDS)
def test_a_value_is_of_its_kind(wanted: str, place: dict[str, Any], wrong: list[Any]) -> None:
    for value in wrong:
        error = refused(given(place, value))
        assert error.row == (1 if is_event(place) else None)
        where = "event 2: " if is_event(place) else ""
        assert re.fullmatch(
            re.escape(f"{where}{wanted}, not {value!r}") + "(: did you mean '.*'[?])?", str(error)
        )


REFUSED: dict[str, list[Any]] = {
    "there is no event 'jion' in a script: did you mean 'join'?": [{"jion": "c2"}],
    "there is no member 'c2' in the group": [{"leave": "c2"}],
    "there is no member 'C1' in the group": [{"crash": "C1"}],
    "there is no member 'c9' in the group": [{"commit": "c9"}],
    "'c1' is there already: let it leave, crash or restart": [{"join": "c1"}],
    "topics is empty: a consumer that subscribes to nothing is not a member, so let it leave": [
        *({"join": "c2", "topics": []}, {"subscribe": "c1", "topics": []})
    ],
    # What `JoinGroupRequest.validateGroupInstanceId` of kafka-clients 4.4.0 refuses.
    "group.instance.id 'a b' is refused by Kafka: ": [{"join": "c2", "instance_id": "a b"}],
    "group.instance.id '..' is refused by Kafka: ": [{"join": "c2", "instance_id": ".."}],
    "249 letters at most": [{"join": "c2", "instance_id": "x" * 250}],
    "did you mean 'LEAVE_GROUP'?": [{"leave": "c1", "operation": "LEAVE_GRUP"}],
    "member_id 'm' was another's": [{"join": "c2", "member_id": ["m", "m"]}],
    'there is no assignor "rnage"': [{"join": "c2", "assignor": "rnage"}],
    "partition.assignment.strategy is a list or text": [{"join": "c2", "assignor": 1}],
    "partition.assignment.strategy cannot have 'sticky@2.3'": [{"join": "c2", "assignor": "sticky@2.3"}],
    "config has no field 'group.max.size'": [{"join": "c2", "config": {"group.max.size": 4}}],
    f"heartbeat.interval.ms (45000) must be less than {TIMEOUT} (45000)": [
        {"join": "c2", "config": {"heartbeat.interval.ms": 45_000}}
    ],
    "has no field 'for_ms'": [{"join": "c2", "for_ms": 1}],
    "has no for_ms: say for how long 'c1' does not poll": [{"stall": "c1"}],
    "has no topics: say what 'c1' subscribes to": [{"subscribe": "c1"}],
    "'c1' has subscribed and cannot assign itself": [{"assign": "c1", "partitions": [["t", 0]]}],
    "has no partitions: say what 'a' reads": [{"assign": "a"}],
    "there is no topic 'u'": [
        *({"assign": "a", "partitions": [["u", 0]]}, {"add_partitions": {"u": 1}}, {"delete_topic": "u"}),
        {"events": "+1, u+2"},
    ],
    "there is no topic ['t']": [{"delete_topic": ["t"]}],
    "a topic is named by text, not ''": [{"create_topic": {"": 1}}, {"topics": {"": 1}}],
    "a topic is named by text, not 1": [{"topics": {1: 1}}],
    f"topic t is a whole number from 1 to {MOST}, not {MOST + 4}": [{"add_partitions": {"t": MOST}}],
    "the topics have 1000004 partitions together": [{"add_partitions": {"t": 10**6}}],
    "there is a topic 't' already: say add_partitions, or take": [{"create_topic": {"t": 1}}],
    "partitions together, and a play takes 1000000": [{"create_topic": {"u": MOST}}],
    "poll_ms follows from record_ms": [{"join": "c2", "record_ms": 1, "poll_ms": 1}],
    "says join and leave at once": [{"join": "c2", "leave": "c1"}],
    "says nothing: one of join, leave, crash": [{}],
    "event 3: time runs backwards, from 5 to 4 ms": [
        *(({"leave": "c1"}, {"at_ms": 4, "join": "c2"}), ({"leave": "c1"}, {"at_ms": 4, "crash": "c1"}))
    ],
    "event 3: 'c1' is not there at 6 ms": [({"leave": "c1"}, {"leave": "c1"})],
    "event 3: 'c1' has crashed, and only a running consumer can commit": [
        ({"crash": "c1"}, {"commit": "c1"})
    ],
    "event 3: member_id 'm' was another's": [
        ({"join": "a", "member_id": "m"}, {"join": "b", "member_id": "m"})
    ],
    "event 3: 'c1' is down until 15 ms": [({"restart": "c1", "down_ms": 10}, {"crash": "c1"})],
    "event 3: topic 't' was deleted before": [({"delete_topic": "t"}, {"add_partitions": {"t": 1}})],
    "event 3: 't' was deleted, and to Kafka a topic that takes its name is another one": [
        ({"delete_topic": "t"}, {"create_topic": {"t": 1}})
    ],
    "event 3: 'z' has assigned itself partitions and cannot subscribe as well": [
        (ITSELF, {"subscribe": "z", "topics": ["t"]}),
        *((ITSELF, {"join": "z"}), (ITSELF, {"restart": "z"}), (ITSELF, {"commit": "z"})),
        (ITSELF, {"stall": "z", "for_ms": 1}),
    ],
    "event 3: operation is DEFAULT": [(ITSELF, {"leave": "z", "operation": "NOPE"})],
    "event 2: group.instance.id 'pod 1' is refused by Kafka: ": [
        {"static": True, "events": [JOIN, {"at_ms": 0, "join": "pod 1"}]}
    ],
    "a script has no topics: name at least one": [{"topics": {}}, {"topics": None}],
    "the topics have 2147483647 partitions together": [{"topics": {"t": MOST}}],
    "partition.assignment.strategy is empty": [{"assignor": []}],
    "with the protocol consumer the broker assigns": [{"protocol": "consumer", "assignor": "sticky"}],
    'there is no assignor "uniform"; known: range,': [{"assignor": "uniform"}],
    "config has no field 'session.timeout'": [{"config": {"session.timeout": 1}}],
    "group.consumer.assignors is empty": [
        {"config": {"group.consumer.assignors": each}} for each in ([], " ")
    ],
    "a script has no field 'latencyms': did you mean 'latency_ms'?": [{"latencyms": 1}],
    "a script has no members: let somebody join": [{"events": []}, {"events": "roll"}],
    "not 'consumr': did you mean 'consumer'?": [{"protocol": "consumr"}],
    "did you mean range?": [{"assignor": "rnage"}],
    "topics 'a.b' and 'a_b' cannot stand side by side": [{"topics": {"a.b": 1, "a_b": 1}}],
    "group.consumer.heartbeat.interval.ms (45000) must be less than group.consumer.session.timeout.ms (45000)": [
        {"config": {"group.consumer.heartbeat.interval.ms": 45_000}}
    ],
    "records_per_s is a number from 0 to 1e+15": [{"records_per_s": 10**400}],
    "a script: poll_ms: among has no latency: name at least one": [{"poll_ms": {"among": []}}],
    "a script: poll_ms follows from record_ms": [{"poll_ms": {"from": 1, "to": 2}, "record_ms": 3}],
    "word 1 of the events is unknown: ": [{"events": "+\u0662"}, {"events": "x" * 10_000}],
    "word 1 of the events is unknown: ''": [{"events": ""}],
    "word 2 of the events is unknown: ''": [{"events": "+1,"}],
    "word 2 of the events is unknown: 'roll to'": [{"events": "+1, roll to"}],
    "word 2 of the events is unknown: 'wait'": [{"events": "+2, wait"}],
    "word 2 of the events is unknown: 'scale 4..12'": [{"events": "+2, scale 4..12"}],
    "word 2 of the events is unknown: 'scale 5..2: 1 / 1'; an autoscaler is scale LOW..HIGH": [
        {"events": "+2, scale 5..2: 1 / 1"}
    ],
    "an autoscaler is scale LOW..HIGH": [
        {"events": f"+2, scale 1..2: {each}"} for each in ("1 / 0", ". / 1")
    ],
    "did you mean 'roll'?": [{"events": "+1, Rol"}],
    "word 2 of the events takes 0 members at a time: let it be at least 1": [
        *({"events": "+2, roll0"}, {"events": "+2, roll0%"})
    ],
    "word 2 of the events: the time is a time such as 20s, 1m30s or 500ms": [{"events": "+2, roll/soon"}],
    "word 2 of the events takes 2 members away, and 1 are there": [{"events": "+1, -2"}],
    "word 2 of the events takes 3 members away, and 2 are there": [{"events": "+2, node3"}],
    "word 1 of the events makes more than 100000 members: '+100001'": [{"events": "+100001"}],
    "word 2 of the events makes more than 100000 members: 'surge1'": [{"events": "+60000, surge1"}],
    "event 2: there is no client 'frans-go' in a script: did you mean 'franz-go'": [
        {"events": "+1, roll to frans-go"}
    ],
}
"""By what is said of it: a script's second event, its second and third, at 5 and 6 ms, or what else a script has."""


@pytest.mark.parametrize(
    ("what", "sentence"), [(what, sentence) for sentence, those in REFUSED.items() for what in those]
)
def test_what_is_no_script_is_one_sentence(what: Any, sentence: str) -> None:
    events = what if isinstance(what, tuple) else (what,)
    if is_event(events[0]):
        error = refused(script(JOIN, *({"at_ms": 5 + at, **event} for at, event in enumerate(events))))
        assert error.row == len(events)
        assert re.match(rf"event {len(events) + 1}\b", str(error))
    else:
        error = refused({**script(JOIN), **what})
    assert sentence in str(error)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"join": "c2"}, "has no at_ms: name it"),
        *((each, f"is an object with at_ms, not {each}") for each in (7, [], None)),
    ],
)
def test_an_event_is_an_object_with_its_time(event: object, said: str) -> None:
    assert str(refused(script(JOIN, event))) == f"event 2 {said}"


def test_what_ends_before_its_events_is_refused() -> None:
    error = refused(script(JOIN, {"at_ms": 500, "leave": "c1"}, until_ms=100))
    assert str(error) == "event 2 is at 500 ms, and until_ms is 100: play for longer"


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
    "join": {"join": "c3", "topics": ["t"], "instance_id": "i", "member_id": "m", "config": {}, "poll_ms": 1}
    | {"poll_timeout_ms": 1, "listener": 0},
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
    timeline = group.play(script(JOIN, until_ms=MONTH))
    assert (timeline.ended_ms, timeline.is_settled) == (MONTH, True)


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


def test_topics_that_are_made_collide_with_those_that_are_there() -> None:
    made = {"at_ms": 5, "create_topic": {"a_b": 1}}
    error = refused({"topics": {"a.b": 1}, "events": [JOIN, made]})
    assert str(error).startswith("event 2: topics 'a.b' and 'a_b' cannot stand side by side")
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
