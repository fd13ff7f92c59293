"""Groups from the text that `kafka-consumer-groups.sh` of Kafka 3.9.2, 4.1.1 and 4.3.1 printed for a real broker.

`consumer_groups/` has its text unchanged: `classic` has a static member and a client ID with a blank, `modern` is
a group of KIP-848, and most members of `idle` read nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import partwright as pw
from partwright.assignors.pasted_group import read_pasted, read_topics

TEXTS = Path(__file__).parent / "consumer_groups"
EXAMPLES = str(TEXTS.parent / "assign_examples.json")
TOPICS = {"orders": 5, "users": 3, "a.b-c_d": 2}
HEADER = "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT\n"


def text(name: str) -> str:
    return (TEXTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", ["4.1.1", "4.3.1"])
def test_members_own_what_the_tool_says_they_read(version: str) -> None:
    everything = [*TOPICS]
    classic = read_pasted(text(f"classic-{version}"), TOPICS).group
    assert classic["topics"] == TOPICS
    assert classic["members"] == [
        {
            "id": "static-2-0688108d-f08b-4911-9837-84e60411f269",
            "topics": everything,
            "owned": {"orders": [4], "users": [2]},
            "generation": 1,
            "instance_id": "static-2",
        },
        {
            "id": "app 1-a10fd822-b20f-4cec-b0ea-b7159cc1fc53",
            "topics": everything,
            "owned": {"orders": [0, 1], "users": [0]},
            "generation": 1,
        },
        {
            "id": "app-842a609f-e788-4b47-a0ed-3b276055ee41",
            "topics": everything,
            "owned": {"a.b-c_d": [0, 1], "orders": [2, 3], "users": [1]},
            "generation": 1,
        },
    ]
    modern = read_pasted(text(f"modern-{version}"), {"orders": 5, "users": 3}).group["members"]
    assert [each["owned"] for each in modern] == [
        {"orders": [1, 2, 3, 4]},
        {"orders": [0], "users": [0, 1, 2]},
    ]
    idle = read_pasted(text(f"idle-{version}"), {"a.b-c_d": 2}).group["members"]
    assert [each["owned"] for each in idle] == [{}, {}, {"a.b-c_d": [0]}, {}, {}, {}, {"a.b-c_d": [1]}]


def test_a_group_that_is_balanced_stays_as_it_is() -> None:
    group = read_pasted(text("modern-4.3.1"), {"orders": 5, "users": 3}).group
    found = pw.assign(group["topics"], group["members"], "sticky").to_dict()
    assert [sorted(pairs) for pairs in found.values()] == [
        sorted((topic, at) for topic, those in member["owned"].items() for at in those)
        for member in group["members"]
    ]


@pytest.mark.parametrize("name", ["classic", "modern", "idle"])
def test_a_tool_that_names_no_topics_is_refused(name: str) -> None:
    with pytest.raises(pw.PartwrightError, match=r"names no topics, which the tool of Kafka 3\.8 and 3\.9"):
        read_pasted(text(f"{name}-3.9.2"), TOPICS)


def test_old_tools_put_partitions_into_parentheses() -> None:
    """As in `ConsumerGroupCommand.scala`."""
    line = "g     c-1         /h   c         3           users(2), orders(0,1)\n"
    (member,) = read_pasted(HEADER + line, TOPICS).group["members"]
    assert member["owned"] == {"users": [2], "orders": [0, 1]}


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ("", "this is not the text of kafka-consumer-groups.sh --describe or rpk group describe: it has no"),
        ("Error: Consumer group 'g' does not exist.\n", "this is not the text of kafka-consumer-groups.sh"),
        (HEADER, "the group has no members: there is nobody to assign anything to"),
        ("GROUP TOPIC PARTITION NEW-OFFSET\ng t 0 7", "line 1: this is the text of kafka-consumer-groups"),
        ("\nGROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\ng c /h c 1", "line 2: there is no column ASSIGNMENT"),
        (HEADER + "g     c-1         /h   c         1           t:0", "the text has partition 0 of 't', and --topics"),
        (HEADER + "g     c-1         /h   c         1           orders", "line 2: 'orders' is not an assignment"),
        (HEADER + "group-1 c-1 c 1 orders:0", "line 2: there is no host, such as /10.0.0.17: paste whole lines"),
        (
            HEADER + "g     c           /h   c         0           -\nh     c           /h   c         0           -\n",
            "the text has several groups, g and h: name one with --group",
        ),
    ],
)  # fmt: skip
def test_what_is_no_text_of_the_tool_is_refused(told: str, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        read_pasted(told, TOPICS)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    "given", ["", "orders", "orders=", "=5", "orders=five", "orders=-1", "a=1,,b=2", "a=²"]
)
def test_topics_are_named_with_their_numbers(given: str) -> None:
    assert read_topics("orders=5, a=b=3") == {"orders": 5, "a=b": 3}
    with pytest.raises(pw.PartwrightError, match="topics are named as orders=12,users=7, not"):
        read_topics(given)
    with pytest.raises(pw.PartwrightError, match="topics has 'a' twice: each topic once"):
        read_topics("a=1,a=1")


def run(*words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "partwright", "assign", *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_command_takes_the_tools_text() -> None:
    file = str(TEXTS / "classic-4.3.1.txt")
    topics = ["--topics", "orders=5,users=3,a.b-c_d=2"]
    code, out, said = run(file, *topics, "--assignor", "sticky", "--json")
    group = read_pasted(text("classic-4.3.1"), TOPICS).group
    lists = pw.assign(TOPICS, group["members"], "sticky").to_dict()
    answer = json.loads(out)
    assert (code, said, answer["assignment"]) == (0, "", json.loads(json.dumps(lists)))
    assumed = "assumed subscriptions: 3 members to all topics; correct them with --subscriptions"
    assert answer["assumed"][1:] == [assumed]
    code, out, said = run(file, "--topics", "orders=5", "--assignor", "sticky")
    assert (code, out) == (2, "")
    assert said.startswith(f"partwright: {file}, the text has partition 2 of 'users', and --topics has no")
    code, out, said = run(file, *topics, "--compare", "--json")
    assert [(each["assignor"], each["moved"]) for each in json.loads(out)["assignors"]][2:] == [
        ("sticky", 1),
        ("cooperative-sticky", 1),
        ("server-uniform", 1),
        ("server-range", 10),
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("f", "--topics", "t=1", "--jsonl"), "--jsonl is for groups in JSON: a live Kafka or a tool's text has one"),
        (("f", "--topics", "t=1", "--group", "g"), "'f' cannot be read: No such file or directory"),
        ((EXAMPLES, "--group", "g"), "--group names a group of a live Kafka, kafka://host:port, or of a tool's text"),
        (("kafka://h:1",), "'kafka://h:1' has many groups: name one with --group"),
        (("kafka://h:1", "--topics", "t=1"), "'kafka://h:1' knows how many partitions its topics have: leave out"),
        (("kafka://h:1/t", "--group", "g"), "'kafka://h:1/t' names a topic, and a group reads several: write"),
        (("kafka:h:1", "--group", "g"), "'kafka:h:1' is not a topic's address: write kafka://host:port/topic"),
        (("nowhere", "--topics", "t=1"), "'nowhere' cannot be read: No such file or directory"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_together_are_refused(words: tuple[str, ...], sentence: str) -> None:
    code, out, said = run(*words, "--assignor", "range")
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert said.startswith(f"partwright: {sentence}")
