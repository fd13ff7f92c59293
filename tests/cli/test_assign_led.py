"""`partwright assign` of groups of several clients: one sentence for each impossible group, and the pages."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


def group(*clients: str | None, assignor: str | None = "range", **fields: Any) -> str:
    """A file with a group of members a, b and so on, each with a client."""
    members = [
        {"id": chr(ord("a") + at), "topics": ["t"], "client": client} for at, client in enumerate(clients)
    ]
    found = {"assignor": assignor, "topics": {"t": 4}, "members": members} | fields
    Path("g.json").write_text(json.dumps({name: value for name, value in found.items() if value is not None}))
    return "g.json"


@pytest.mark.parametrize(
    ("clients", "assignor", "said"),
    [
        (("librdkafka", "java"), "sticky", "member 'a' is of librdkafka, which has no assignor 'sticky'"),
        (("java", "kafkajs"), "sticky", "member 'b' is of kafkajs, which has no assignor 'sticky'"),
        (("java", "aiokafka"), "cooperative-sticky", "member 'b' is of aiokafka, which has no assignor"),
        (("sarama@1.27.0",), "sticky", "sticky has no answers for sarama@1.27.0: write sarama"),
        (("java", "sarama@"), "range", "range has no answers for sarama@: write sarama or sarama@1.34.0"),
        (("java@2.8",), "sticky", "sticky has no answers for java@2.8: write java"),
        (("java",), "", "there is no assignor '' in any client"),
        ((), "range", "a group without members has no leader"),
    ],
)
@pytest.mark.parametrize("option", [["--leader", "all"], ["--clients"]])
def test_a_group_that_cannot_be_is_refused(
    refusal: Refusal, clients: tuple[str, ...], assignor: str, said: str, option: list[str]
) -> None:
    assert said in refusal("assign", group(*clients, assignor=assignor), *option)


@pytest.mark.parametrize("assignor", ["sarama:range", "server-range", "sticky@2.8", "java:range"])
def test_an_assignor_that_no_member_offers_has_no_leader(
    command: Command, refusal: Refusal, assignor: str
) -> None:
    file = group("java", "sarama", assignor=assignor)
    assert f"there is no assignor {assignor!r} in any client" in refusal("assign", file, "--leader", "b")
    code, out, _ = command("assign", file, "--json")
    assert (code, "leader" in json.loads(out)) == (0, False)


def test_fields_that_kafka_could_not_carry_are_refused(refusal: Refusal) -> None:
    for rack, said in (("\ud800", "is not UTF-8"), ("x" * 40_000, "has 40,000 bytes")):
        member = {"id": "a", "topics": ["t"], "client": "java", "rack": rack}
        assert said in refusal("assign", group(members=[member]))
    assert "members is a list of ids or of objects, such as ['c1', 'c2'], not 7" in refusal(
        "assign", group(members=7), "--leader", "all"
    )


def test_what_is_not_looked_at_is_refused(refusal: Refusal) -> None:
    file = group("java", "sarama", partition_order=[0])
    assert "partition_order is for old-roundrobin alone" in refusal("assign", file)
    assert "leave it out with --clients" in refusal("assign", file, "--clients")
    assert "seed is a whole number" in refusal("assign", group("java", seed="x"), "--clients")
    assert "the group has no assignor" in refusal("assign", group("java", assignor=None), "--clients")
    assert "no member '' in the group" in refusal("assign", group("java"), "--leader", "")


def test_all_leaders_are_not_printed_of_a_huge_group(refusal: Refusal) -> None:
    file = group("java", "sarama", topics={"t": 900_000, "u": 5_000_000})
    assert "would print 5,900,000 partitions for each of 2 leaders" in refusal(
        "assign", file, "--leader", "all"
    )


def test_the_last_generation_has_no_next_one(command: Command) -> None:
    owner = {"id": "a", "topics": ["t"], "owned": {"t": [0, 1, 2, 3]}, "generation": 2**31 - 1}
    joins = {"id": "b", "topics": ["t"], "client": "sarama"}
    code, out, _ = command("assign", group(members=[owner, joins], assignor="cooperative-sticky"), "--json")
    assert (code, json.loads(out)["rounds"]) == (0, 2)


@pytest.mark.parametrize(
    "option", [["--leader", "b"], ["--leader", "all"], ["--clients"], ["--roll-to", "sarama"]]
)
@pytest.mark.parametrize("clients", [("java", "sarama"), ("sarama", "kafka-go"), ("java",)])
def test_every_answer_about_leaders_has_a_page(
    command: Command, clients: tuple[str, ...], option: list[str]
) -> None:
    members = [
        {"id": name, "topics": ["t"], "client": client, "owned": {"t": [0, 1]} if not at else {}}
        for at, (name, client) in enumerate(zip("ba", clients, strict=False))
    ]
    code, out, err = command("assign", group(members=members), *option, "--json", "--report", "page.html")
    assert (code, err) == (0, "report: page.html\n")
    answer = json.loads(out)
    page = Path("page.html").read_text(encoding="utf-8")
    assert html.escape(answer["summary"]).replace("&#x27;", "&#39;") in page
    assert json.loads(re.search(r'id="answer"[^>]*>(.*?)</script>', page)[1]) == answer


def test_lines_have_no_page(refusal: Refusal) -> None:
    for option in (["--report", "page.html"], ["--output", "markdown"], ["--output", "html"]):
        said = refusal("assign", group("java"), "--jsonl", *option)
        assert "is for one group: leave out --jsonl" in said


@pytest.mark.parametrize(
    ("clients", "assignor", "said"),
    [
        (
            ("java", "sarama"),
            "range",
            "Each member gets the same partitions, whichever leads: any of 2 members may.",
        ),
        (("java",), "range", "Each member gets the same partitions, whichever leads: its only member may."),
        (
            ("java", "kafka-go"),
            "range",
            "Under a and b nobody gets anything, because the leader's client fails.",
        ),
    ],
)
def test_all_leaders_have_one_verdict(
    command: Command, clients: tuple[str, ...], assignor: str, said: str
) -> None:
    code, out, _ = command("assign", group(*clients, assignor=assignor), "--leader", "all", "--json")
    assert code == 0
    assert said in json.loads(out)["summary"]


def test_leaders_that_differ_are_counted(command: Command) -> None:
    file = group("java", "sarama", "java", assignor="roundrobin", topics={"t": 12})
    found = json.loads(command("assign", file, "--leader", "all", "--json")[1])
    answers = {json.dumps(each["assignment"]) for each in found["leaders"].values()}
    assert len(answers) == 2
    assert found["summary"] == "The leader matters: 3 members would give 2 different assignments."


def test_clients_have_one_verdict_in_json_and_on_top(command: Command) -> None:
    file = group("java", "java", "java", assignor="roundrobin", topics={"t": 12})
    code, out, _ = command("assign", file, "--clients", "--json")
    found = json.loads(out)
    different = [each["client"] for each in found["clients"] if each["answer"].startswith("other")]
    assert code == 0
    assert list(found) == ["summary", "clients"]
    assert different
    assert all(client in found["summary"].partition(";")[0] for client in different)
    assert "other partitions than Java" in found["summary"]
    _, out, _ = command("assign", file, "--clients")
    # A mark stands before a verdict that something fails.
    assert " ".join(out.decode().split()).removeprefix("✗ ").startswith(found["summary"])
    same = json.loads(
        command("assign", group("java", assignor="cooperative-sticky"), "--clients", "--json")[1]
    )
    assert "the same partitions as Java" in same["summary"]


def test_a_roll_says_its_steps(command: Command) -> None:
    file = group("java", "java", "java", assignor="roundrobin")
    code, out, err = command("assign", file, "--roll-to", "sarama")
    assert (code, err) == (0, "")
    assert b"Safe: no step of a roll to sarama stops a reader." in out
    _, out, err = command("assign", group(None, None), "--roll-to", "sarama")
    assert err == ""
    said = "Assumed client of each member: java; its field client can name another."
    assert said in " ".join(out.decode().split())
    file = group("java", "java", "java", assignor="roundrobin")
    code, out, _ = command("assign", file, "--roll-to", "sarama", "--json")
    found = json.loads(out)
    assert (code, found["to"]) == (0, "sarama")
    assert found["summary"].startswith("Safe: no step of a roll to sarama stops a reader. Leader last: ")
    assert [each["order"] for each in found["orders"]] == ["leader last", "leader first"]
    assert [step["replaced"] for step in found["orders"][0]["steps"]] == ["b", "c", "a"]
    code, out, _ = command("assign", group("java", "java"), "--roll-to", "kafka-go")
    assert code == 0
    assert b"Not safe: a roll to kafka-go stops readers in 1 of 2 steps." in out


@pytest.mark.parametrize("option", [["--leader", "a"], ["--clients"], ["--compare"], ["--jsonl"]])
def test_a_roll_goes_with_nothing_else(refusal: Refusal, option: list[str]) -> None:
    said = refusal("assign", group("java", "java"), "--roll-to", "sarama", *option)
    assert "--roll-to plays the steps of one group: leave out" in said


def test_a_roll_that_cannot_be_is_refused(refusal: Refusal) -> None:
    assert "there is no client 'x' in the roll" in refusal("assign", group("java"), "--roll-to", "x")
    assert "has no assignor 'range'" in refusal("assign", group("java"), "--roll-to", "kafkajs")
    assert "without members" in refusal("assign", group(), "--roll-to", "java")
