"""Groups from pasted text: of Kafka's tool with and without members, and of rpk, as printed and with collapsed blanks.

`consumer_groups/offsets-*` were printed by `kafka-consumer-groups.sh --describe` of Kafka 4.3.1 for librdkafka's
members on a real broker; rpk's text is written after its source (`rpk/pkg/cli/group/describe.go`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import partwright as pw
from partwright.assignors.pasted_group import is_pasted, read_pasted

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]

TEXTS = Path(__file__).parent / "consumer_groups"
NAMED = [f"{kind}-{version}.txt" for kind in ("classic", "modern", "idle") for version in ("4.1.1", "4.3.1")]
NAMED += [f"offsets-{kind}-4.3.1.txt" for kind in ("classic", "modern", "idle", "verbose")] + ["kaf-0.2.txt"]
RPK = """GROUP                  billing
COORDINATOR-NODE       0
COORDINATOR-PARTITION  __consumer_offsets/11
STATE                  Stable
BALANCER               cooperative-sticky
MEMBERS                3
TOTAL-LAG              4

TOPIC   PARTITION  CURRENT-OFFSET  LOG-START-OFFSET  LOG-END-OFFSET  LAG  MEMBER-ID                                   INSTANCE-ID  CLIENT-ID  HOST
orders  0          8               0                 8               0    app 1-f626af20-eeed-4007-8ee8-1067e0711583               app 1      10.0.0.17
orders  1          -               0                 0               -    pod-0-9d0b2a30-9917-407d-a7ad-3abfe00aa53c  pod-0        app        10.0.0.18
orders  2          4               0                 8               4
"""  # noqa: E501 - a table's line is one line


HEADER = "GROUP TOPIC PARTITION CURRENT-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"


def collapsed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


@pytest.mark.parametrize("name", NAMED)
def test_a_collapsed_paste_is_the_same_group(name: str) -> None:
    text = (TEXTS / name).read_text(encoding="utf-8")
    assert is_pasted(text)
    assert read_pasted(collapsed(text)) == read_pasted(text)


def test_offsets_tell_who_reads_what() -> None:
    group, notes, _ = read_pasted((TEXTS / "offsets-classic-4.3.1.txt").read_text(encoding="utf-8"))
    assert group["topics"] == {"orders": 5, "users": 3}
    assert {each["id"]: each["owned"] for each in group["members"]} == {
        "app-e1343de2-6648-47fa-b71b-8783ecbfc96b": {"orders": [2, 3], "users": [1]},
        "app 1-f626af20-eeed-4007-8ee8-1067e0711583": {"orders": [0, 1], "users": [0]},
        "static-2-9d0b2a30-9917-407d-a7ad-3abfe00aa53c": {"orders": [4], "users": [2]},
    }
    assert notes == (
        "read as kafka-consumer-groups.sh --describe, group classic: 3 members",
        "assumed numbers of partitions: orders=5,users=3; correct them with --topics",
        "members that read nothing are not in this text: --members --verbose has them",
    )


def test_the_members_of_an_older_tool_show_how_many_partitions_there_are() -> None:
    group, notes, _ = read_pasted(
        "GROUP   CONSUMER-ID   HOST         CLIENT-ID   #PARTITIONS   ASSIGNMENT\n"
        "g       c-1           /10.0.0.17   app         3             orders(0,4), users(2)\n"
        "g       c-2           /10.0.0.18   app         1             orders(1)\n"
    )
    assert group["topics"] == {"orders": 5, "users": 3}
    assert [each["owned"] for each in group["members"]] == [{"orders": [0, 4], "users": [2]}, {"orders": [1]}]
    assert notes == (
        "read as kafka-consumer-groups.sh --describe --members, group g: 2 members",
        "assumed numbers of partitions: orders=5,users=3; correct them with --topics",
        "assumed subscriptions: 2 members to all topics; correct them with --subscriptions",
    )


@pytest.mark.parametrize("change", [str, collapsed])
def test_rpk_tells_the_assignor_and_how_many_members_there_are(change: Callable[[str], str]) -> None:
    group, notes, _ = read_pasted(change(RPK))
    assert (group["assignor"], group["topics"]) == ("cooperative-sticky", {"orders": 3})
    first, second, idle = group["members"]
    assert (first["id"], first["owned"]) == ("app 1-f626af20-eeed-4007-8ee8-1067e0711583", {"orders": [0]})
    assert second["id"] == "pod-0-9d0b2a30-9917-407d-a7ad-3abfe00aa53c"
    assert second["owned"] == {"orders": [1]}
    assert (idle["id"], idle["owned"]) == ("idle-1", {})
    assert notes[0] == "read as rpk group describe, group billing: 3 members"
    assert notes[2] == "1 of 3 members reads nothing: called idle-1 and so on"


def test_the_command_recognises_a_paste_by_itself(command: Command) -> None:
    file = str(TEXTS / "offsets-modern-4.3.1.txt")
    code, out, err = command("assign", file, "--assignor", "sticky", "--json")
    group = read_pasted(Path(file).read_text(encoding="utf-8")).group
    lists = pw.assign(group["topics"], group["members"], "sticky").to_dict()
    answer = json.loads(out)
    assert (code, err, answer["assignment"]) == (0, "", json.loads(json.dumps(lists)))
    assert answer["assumed"][1].startswith("assumed numbers of partitions: orders=5,users=3")
    code, out, err = command("assign", file, "--topics", "orders=6,users=3", "--compare", "--json")
    assert (code, err) == (0, "")
    assert "assumed numbers" not in out.decode()


@pytest.mark.parametrize(
    ("text", "more", "sentence"),
    [
        (
            "no such thing",
            [],
            "(char 0), and no text of kafka-consumer-groups.sh --describe or rpk group describe",
        ),
        (
            HEADER,
            [],
            "the group has no members",
        ),
        (
            HEADER + "g t x 1 0 c-1 /h c\n",
            [],
            "line 2: 'x' is not a partition's number: paste whole lines",
        ),
        (
            HEADER + "g t\n",
            [],
            "line 2: there are fewer values than columns: paste whole lines",
        ),
        (
            HEADER + "g t 0 1 0 c-1 /h c\nh t 0 1 0 c-1 /h c\n",
            [],
            "the text has several groups, g and h: name one with --group, or describe one",
        ),
        (
            HEADER + "g t 4 1 0 c-1 /h c\n",
            ["--topics", "t=3"],
            "the text has partition 4 of 't', and --topics has t=3",
        ),
        ("GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\ng c-1 /h c 1\n", [], "there is no column ASSIGNMENT"),
    ],
)
def test_what_is_refused(text: str, more: list[str], sentence: str, refusal: Refusal, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(text, encoding="utf-8")
    assert sentence in refusal("assign", tmp_path / "p.txt", "--assignor", "range", *more)


CLIENT_IDS = {
    "rdkafka": "librdkafka",
    "sarama": "sarama",
    "kgo": "franz-go",
    "kafkajs": "kafkajs",
    "kafka-python-3.0.12": "kafka-python",
    "aiokafka-0.14.0": "aiokafka",
    "consumer-billing-1": "java",
    "reader@host-1 (github.com/segmentio/kafka-go)": "kafka-go",
}


@pytest.mark.parametrize(("client_id", "client"), CLIENT_IDS.items())
def test_a_clients_default_client_id_tells_the_client(client_id: str, client: str) -> None:
    rows = [
        f"g       c-1           /10.0.0.17   {client_id:<45}   1             orders(0)",
        f"g       c-2           /10.0.0.18   {'billing':<45}   1             orders(1)",
    ]
    header = f"GROUP   CONSUMER-ID   HOST         {'CLIENT-ID':<45}   #PARTITIONS   ASSIGNMENT"
    for topics in (None, {"orders": 2}):
        group, _, said = read_pasted("\n".join([header, *rows]), topics)
        assert [each["client"] for each in group["members"]] == [client, "java"]
        assert said == (
            f"1 member taken for {client}, by the client id {client_id!r}",
            "1 member taken for java, by its own client id 'billing', which says nothing",
        )


@pytest.mark.parametrize(
    ("client_id", "client", "tool"),
    [
        ("rpk", "franz-go", "rpk"),
        ("ClickHouse 19.15.2.2", "librdkafka", "ClickHouse"),
        ("app-5f2c-StreamThread-1-consumer", "java", "Kafka Streams"),
        ("connector-consumer-sink-0", "java", "Kafka Connect"),
        ("console-consumer", "java", "kafka-console-consumer.sh"),
    ],
)
def test_the_client_ids_of_tools_say_what_they_are(client_id: str, client: str, tool: str) -> None:
    group, _, said = read_pasted(HEADER + f"g t 0 1 0 c-1 /h {client_id}\n")
    assert group["members"][0]["client"] == client
    assert said == (f"1 member taken for {client}, by the client id {client_id!r} of {tool}",)


def test_clients_are_guessed_from_offsets_and_by_rpk_too() -> None:
    group, _, said = read_pasted(HEADER + "g t 0 1 0 c-1 /h sarama\ng t 1 1 0 c-2 /h sarama\n")
    assert [each["client"] for each in group["members"]] == ["sarama", "sarama"]
    assert said == ("2 members taken for sarama, by the client id 'sarama'",)
    group, _, said = read_pasted(RPK.replace("app        10.0.0.18", "kgo        10.0.0.18"))
    assert [each["client"] for each in group["members"]] == ["java", "franz-go", "java"]
    assert said[2] == "1 member taken for java, by nothing: the text lacks its client id"


@pytest.mark.parametrize("name", ["modern-4.3.1.txt", "offsets-classic-4.3.1.txt"])
def test_nothing_is_guessed_where_the_broker_assigns_or_no_client_id_tells(name: str) -> None:
    group, _, said = read_pasted((TEXTS / name).read_text(encoding="utf-8"))
    assert said == ()
    assert not any("client" in each for each in group["members"])


def test_the_command_says_what_it_takes_members_for(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "pasted.txt"
    file.write_text(HEADER + "g t 0 1 0 c-1 /h rdkafka\ng t 1 1 0 c-2 /h rdkafka\n")
    code, out, err = command("assign", file, "--assignor", "range", "--json")
    answer = json.loads(out)
    assert (code, err, answer["assignment"]) == (0, "", {"c-1": [["t", 0]], "c-2": [["t", 1]]})
    assert "2 members taken for librdkafka, by the client id 'rdkafka'" in answer["assumed"]
    code, out, err = command("assign", file, "--assignor", "range", "--roll-to", "sarama")
    assert code == 0
    assert "librdkafka:range" in out.decode()
    code, out, _ = command("assign", file, "--explain", "--json")
    assert (code, json.loads(out)["assignor"]) == (0, "librdkafka:range")
