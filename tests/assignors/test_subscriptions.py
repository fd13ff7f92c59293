"""Subscriptions that a text lacks: assumed from what members read, corrected by hand, and said in each answer."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from partwright.assignors.current_group import group_now
from partwright.assignors.pasted_group import read_pasted
from partwright.assignors.subscriptions import subscriptions_of
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]

OFFSETS = """GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
g clicks 0 5 5 0 clicks-1 /10.0.0.1 a
g clicks 1 5 5 0 clicks-2 /10.0.0.2 a
g orders 0 5 5 0 orders-1 /10.0.0.3 b
g orders 1 5 5 0 orders-2 /10.0.0.4 b
"""
MEMBERS = """GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT
g clicks-1 /10.0.0.1 a 1 clicks(0)
g clicks-2 /10.0.0.2 a 1 clicks(1)
g orders-1 /10.0.0.3 b 2 orders(0,1)
g orders-2 /10.0.0.4 b 0 -
g other-1 /10.0.0.5 c 0 -
"""
APART = (
    "assumed subscriptions, as members read separate sets of topics: 2 members to clicks, 2 members to orders; "
    "correct them with --subscriptions"
)


@pytest.fixture
def pasted(tmp_path: Path) -> Path:
    path = tmp_path / "pasted.txt"
    path.write_text(OFFSETS, encoding="utf-8")
    return path


def of(text: str, **more: Any) -> dict[str, list[str]]:
    return {each["id"]: each["topics"] for each in read_pasted(text, **more).group["members"]}


def test_members_of_two_services_subscribe_to_what_their_service_reads() -> None:
    found = read_pasted(OFFSETS)
    assert of(OFFSETS) == {
        "clicks-1": ["clicks"],
        "clicks-2": ["clicks"],
        "orders-1": ["orders"],
        "orders-2": ["orders"],
    }
    assert APART in found.notes
    assert group_now(found.group["topics"], found.group["members"], "range").would_move == 0


def test_an_idle_member_subscribes_as_members_of_its_client_id_do() -> None:
    assert of(MEMBERS) == {
        "clicks-1": ["clicks"],
        "clicks-2": ["clicks"],
        "orders-1": ["orders"],
        "orders-2": ["orders"],
        "other-1": ["clicks", "orders"],
    }
    assert read_pasted(MEMBERS).notes[-1] == (
        "assumed subscriptions, as members read separate sets of topics: 2 members to clicks, 1 member to orders, 1 "
        "member without partitions to orders, 1 member without partitions to all topics; correct them with "
        "--subscriptions"
    )
    told = read_pasted(MEMBERS, {"clicks": 2, "orders": 2}).group["members"]
    assert {each["id"]: each["topics"] for each in told} == of(MEMBERS)


def test_one_member_that_reads_both_makes_them_one_service() -> None:
    both = OFFSETS + "g orders 2 5 5 0 clicks-1 /10.0.0.1 a\n"
    assert set(map(tuple, of(both).values())) == {("clicks", "orders")}
    assert read_pasted(both).notes[-1] == (
        "assumed subscriptions: 4 members to all topics; correct them with --subscriptions"
    )


def test_nothing_is_assumed_where_each_member_reads_every_topic() -> None:
    lines = OFFSETS.splitlines()
    assert not any("subscriptions" in note for note in read_pasted("\n".join(lines[:3])).notes)


def test_a_topic_that_nobody_reads_is_named() -> None:
    topics = {"clicks": 2, "orders": 2, "users": 3}
    notes = read_pasted(OFFSETS, topics).notes
    assert notes[-2:] == (APART, "nobody subscribes to users; name who does with --subscriptions")
    everybody = {"a": ["clicks"], "b": ["clicks", "orders"]}
    assert read_pasted(OFFSETS, {**topics, "views": 1}, everybody).notes[-1] == (
        "nobody subscribes to users and views; name who does with --subscriptions"
    )


def one_partition_each(*client_ids: str) -> str:
    rows = [
        f"g {topic} 0 5 5 0 {topic}-1 /10.0.0.1 {name}"
        for topic, name in zip(("orders", "users", "clicks"), client_ids, strict=True)
    ]
    return "\n".join([OFFSETS.splitlines()[0], *rows])


@pytest.mark.parametrize(
    ("client_ids", "sets"),
    [
        (("app", "app", "app"), [{"orders", "users", "clicks"}] * 3),
        (("app", "app", "web"), [{"orders", "users"}, {"orders", "users"}, {"clicks"}]),
        (("rdkafka", "rdkafka", "rdkafka"), [{"orders"}, {"users"}, {"clicks"}]),
        (("consumer-g-1", "consumer-g-1", "sarama"), [{"orders"}, {"users"}, {"clicks"}]),
    ],
)
def test_members_with_an_own_client_id_in_common_are_one_service(
    client_ids: tuple[str, ...], sets: list[set[str]]
) -> None:
    assert [set(those) for those in of(one_partition_each(*client_ids)).values()] == sets


def test_a_service_with_one_partition_a_topic_would_move(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(one_partition_each("app", "app", "app"), encoding="utf-8")
    _, out, _ = command("assign", path, "--assignor", "range", "--explain", "--json")
    assert json.loads(out)["would_move"] == 2


def test_an_idle_member_subscribes_as_its_twin_does() -> None:
    read: dict[str, list[str]] = {"x-1": ["a"], "y-1": ["a", "b"], "z": ["c"], "x-2": []}
    for name in ("X", "rdkafka"):
        found, _ = subscriptions_of(["a", "b", "c"], read, {"x-1": name, "x-2": name})
        assert found == {"x-1": ["a", "b"], "y-1": ["a", "b"], "z": ["c"], "x-2": ["a", "b"]}


def test_a_topic_that_a_member_reads_and_is_denied_is_said(command: Command, pasted: Path) -> None:
    said = (
        "members read topics to which they do not subscribe by --subscriptions: 'clicks-1' reads clicks; check "
        "--subscriptions"
    )
    words = ["--subscriptions", "clicks-1=orders"]
    for form in (["--compare"], ["--assignor", "range", "--explain"], ["--assignor", "range"]):
        code, out, _ = command("assign", pasted, *form, *words, "--json")
        assert (code, said in json.loads(out)["assumed"]) == (0, True), form
    code, out, _ = command("assign", pasted, "--compare", *words)
    assert (code, said[1:] in " ".join(out.decode().split())) == (0, True)
    _, out, _ = command("assign", pasted, "--assignor", "range", *words)
    assert said[1:] in " ".join(out.decode().split())
    many = {f"c{number}": ["t"] for number in range(9)}
    _, notes = subscriptions_of(["t", "u"], many, named={name: ["u"] for name in many})
    assert "'c5' reads t, 3 more likewise; " in notes[0]


def test_sets_are_the_connected_components(seed: int) -> None:
    drawn = random.Random(seed)
    for _ in range(300):
        topics = [f"t{number}" for number in range(drawn.randint(1, 7))]
        read = {
            f"c{number}": drawn.sample(topics, drawn.randint(1, min(2, len(topics))))
            for number in range(drawn.randint(1, 7))
        }
        groups = [set(those) for those in read.values()]
        while True:
            joined = next(((a, b) for a in groups for b in groups if a is not b and a & b), None)
            if joined is None:
                break
            groups = [each for each in groups if each not in joined] + [joined[0] | joined[1]]
        expected = {
            member: next(each for each in groups if set(those) <= each) if len(groups) > 1 else set(topics)
            for member, those in read.items()
        }
        found, _ = subscriptions_of(topics, read)
        assert {member: set(those) for member, those in found.items()} == expected, seed


@pytest.mark.parametrize(
    "named",
    [
        {"clicks-1": ["clicks", "orders"], "clicks-2": ["clicks"], "b": ["orders"]},
        {"a": ["clicks"], "orders-1": ("orders",), "orders-2": ["orders", "clicks"]},
    ],
)
def test_named_subscriptions_are_taken_and_leave_nothing_to_assume(named: dict[str, list[str]]) -> None:
    found = of(OFFSETS, subscriptions=named)
    whose = {"a": ["clicks-1", "clicks-2"], "b": ["orders-1", "orders-2"]}
    for name, topics in named.items():
        for member in whose.get(name, [name]):
            assert found[member] == list(topics)
    assert not any("subscriptions" in note for note in read_pasted(OFFSETS, subscriptions=named).notes)
    some = read_pasted(OFFSETS, subscriptions={"a": ["clicks"]}).notes[-1]
    assert "topics: 2 members to orders; " in some


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        (5, "subscriptions is an object of members and their topics, not 5"),
        ({"a": "clicks"}, "subscriptions of 'a': a list is needed, not 'clicks'"),
        ({"a": [1]}, "subscriptions of 'a': 1 is not of type str"),
        ({"a": []}, "subscriptions has no topics for 'a': name one, or leave it out"),
        ({"x": ["clicks"]}, "there is no member or client ID 'x' in the group"),
        ({"a": ["clikcs"]}, "there is no topic 'clikcs' in the group: did you mean 'clicks'?"),
        ({"a": ["clicks"], "clicks-1": ["clicks"]}, "subscriptions has 'clicks-1' twice"),
    ],
)
def test_wrong_subscriptions_are_refused(named: Any, sentence: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        read_pasted(OFFSETS, subscriptions=named)
    assert sentence in str(refused.value)


def test_every_form_of_the_answer_says_what_was_assumed(command: Command, pasted: Path) -> None:
    said = APART[0].upper() + APART[1:] + "."

    def text(*words: str) -> str:
        code, out, err = command("assign", pasted, *words)
        assert (code, "assumed subscriptions" in err) == (0, False)
        return " ".join(out.decode().split())

    for words in (
        ["--assignor", "range"],
        ["--assignor", "range", "--leader", "all"],
        ["--assignor", "range", "--explain"],
        ["--compare"],
        ["--assignor", "range", "--clients"],
        ["--assignor", "range", "--roll-to", "librdkafka"],
    ):
        shown = text(*words)
        assert said in shown, words
        code, out, _ = command("assign", pasted, *words, "--json")
        answer = json.loads(out)
        assert (code, APART in answer["assumed"]) == (0, True), words
        file = pasted.with_name("page.html")
        text(*words, "--report", str(file))
        page = file.read_text(encoding="utf-8")
        assert said in page
        assert f'"{APART}"' in page


def test_nothing_would_move_and_nobody_is_idle(command: Command, pasted: Path) -> None:
    _, out, _ = command("assign", pasted, "--assignor", "range", "--explain", "--json")
    explained = json.loads(out)
    # A newcomer belongs to one of the two services.
    assert (explained["would_move"], explained["joiner_moves"]) == (0, [0, 2])
    _, out, _ = command("assign", pasted, "--compare", "--json")
    for each in json.loads(out)["assignors"]:
        assert (each["spread"]["min"], each["spread"]["max"], each["moved"]) == (1, 1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "a = clicks, orders\n\nb=orders\n",
        '{"a": ["clicks", "orders"], "b": ["orders"]}',
        None,
    ],
)
def test_the_command_takes_subscriptions_from_words_and_files(
    text: str | None, command: Command, pasted: Path
) -> None:
    words = ["--subscriptions", "a=clicks,orders", "--subscriptions", "b=orders"]
    if text is not None:
        file = pasted.with_name("subscriptions")
        file.write_text(text, encoding="utf-8")
        words = ["--subscriptions", str(file)]
    code, out, _ = command("assign", pasted, "--assignor", "range", *words, "--json")
    answer = json.loads(out)
    assert code == 0
    assert not any("subscriptions" in note for note in answer["assumed"])
    # Range gives the first of all four members what a topic has.
    assert answer["assignment"]["clicks-1"] == [["clicks", 0], ["orders", 0]]
    code, out, _ = command("assign", pasted, "--explain", "--assignor", "range", *words, "--json")
    assert json.loads(out)["would_move"] == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a="], "subscriptions are named as member=orders,users, not 'a='"),
        (["=clicks"], "subscriptions are named as member=orders,users, not '=clicks'"),
        (["a=clicks,"], "subscriptions are named as member=orders,users, not 'a=clicks,'"),
        (["a=clicks", "a=orders"], "--subscriptions names 'a' twice: give it one list of topics"),
        (["nowhere"], "'nowhere' cannot be read"),
        (["empty"], "empty names no member: write member=topic,topic in it"),
        (["list"], "list, subscriptions are named as member=orders,users, not '[1]'"),
        (["twice"], "twice, 'a' is there twice"),
        (["strange"], "strange, subscriptions of 'a': a list is needed, not 5"),
        (["none"], "none, subscriptions has no topics for 'a'"),
        (["x=clicks"], "there is no member or client ID 'x' in the group"),
    ],
)
@pytest.mark.usefixtures("own_folder")
def test_what_the_command_refuses(words: list[str], sentence: str, refusal: Refusal, pasted: Path) -> None:
    files = {"empty": "\n", "list": "[1]", "twice": '{"a": ["x"], "a": ["y"]}', "strange": '{"a": 5}'}
    for name, text in {**files, "none": '{"a": []}'}.items():
        Path(name).write_text(text, encoding="utf-8")
    asked = [word for value in words for word in ("--subscriptions", value)]
    assert sentence in refusal("assign", pasted, "--assignor", "range", *asked)


@pytest.mark.usefixtures("own_folder")
def test_subscriptions_are_refused_where_the_source_has_them(refusal: Refusal) -> None:
    group = {"topics": {"t": 1}, "members": [{"id": "c", "topics": ["t"]}]}
    Path("g.json").write_text(json.dumps(group), encoding="utf-8")
    asked = ["--assignor", "range", "--subscriptions", "c=t"]
    assert "in JSON, members have their topics" in refusal("assign", "g.json", *asked)
    assert "--jsonl is for groups in JSON" in refusal("assign", "g.json", *asked, "--jsonl")
    assert "stdin is the group" in refusal("assign", "-", "--assignor", "range", "--subscriptions", "-")
    assert "name it with --group" in refusal("rollout", "--topic", "t=1", "--subscriptions", "c=t")


def test_idle_members_that_the_text_lists_are_not_said_to_be_missing() -> None:
    listed = OFFSETS + "g - - - - - orders-3 /10.0.0.5 b\n"
    found = read_pasted(listed)
    assert found.group["members"][-1]["topics"] == ["orders"]
    assert not any("are not in this text" in note for note in found.notes)
