"""Clusters in the forms in which people have them: each tool's sample, what stands around it, and wrong pastes.

`pastes/README.md` says where each sample is from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import partwright as pw
from partwright.cluster import Cluster
from partwright.cluster.pasted_cluster import read_pasted_cluster

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]

TEXTS = Path(__file__).parent / "pastes"
FIRST = (1, (1, 2))
ORDERS = [(1, (1, 2)), (2, (2, 1)), (2, (2, 1)), (1, (1, 2)), (2, (2, 1))]
USERS = [(2, (2, 1)), (1, (1, 2)), (2, (2, 1))]
RPK = {"orders": [(1, (1, 0)), (2, (2, 1)), (0, (0, 2))], "users": [(2, (2, 0))]}
REASSIGNMENT = """{"version":1,
 "partitions":
   [{"topic":"a","partition":3,"replicas":[4,5],"log_dirs":["any","any"]},
    {"topic":"a","partition":1,"replicas":[5,4],"log_dirs":["any","any"]}]
}
"""


def text(name: str) -> str:
    return (TEXTS / name).read_text(encoding="utf-8")


def placed(cluster: Cluster) -> dict[str, list[tuple[int | None, tuple[int, ...]]]]:
    return {
        name: [(each.leader, each.replicas) for each in sorted(those, key=lambda each: each.id)]
        for name, those in cluster.topics.items()
        if name != "__consumer_offsets"
    }


@pytest.mark.parametrize(
    ("name", "tool", "topics"),
    [
        ("topics-4.3.1.txt", "kafka-topics.sh --describe", {"orders": ORDERS, "users": USERS}),
        ("kcat-1.7.1.txt", "kcat -L", {"orders": ORDERS, "users": USERS}),
        ("kcat-1.7.1.json", "kcat -L -J", {"orders": ORDERS, "users": USERS}),
        ("generate-4.3.1.txt", "Kafka's reassignment JSON", {"orders": ORDERS, "users": USERS}),
        ("log-dirs-4.3.1.txt", "kafka-log-dirs.sh --describe", {"orders": [FIRST] * 5, "users": [FIRST] * 3}),
        ("rpk-detailed-25.txt", "rpk cluster info -d", RPK),
        ("rpk-25.json", "rpk cluster info --format json", RPK),
        (
            "topics-0.10.txt",
            "kafka-topics.sh --describe",
            {"topic-name": [(4, (4, 2)), (5, (5, 3)), (1, (1, 4)), (2, (2, 5)), (3, (3, 1))]},
        ),
        (
            "kcat-2015.txt",
            "kcat -L",
            {"engrcloud.core.kafka.install-test": [(3, (3, 1, 2)), (4, (4, 2, 3)), (5, (5, 3, 4))]},
        ),
    ],
)  # fmt: skip
def test_each_tool_is_read_and_named(name: str, tool: str, topics: object, command: Command) -> None:
    cluster, notes = read_pasted_cluster(text(name))
    assert placed(cluster) == topics
    assert placed(Cluster.from_json(text(name))) == topics
    assert notes[0].startswith(f"read as {tool}: ")
    code, out, err = command("reassign", TEXTS / name, "--add", "9", "--no-racks", "--json")
    assert (code, err) == (0, "")
    assumed = json.loads(out)["assumed"]
    assert assumed[:-1] == list(notes)
    assert assumed[-1].startswith("--out DIR writes plan.json, which kafka-reassign-partitions.sh takes")


def test_racks_are_those_of_rpk() -> None:
    assert [each.rack for each in read_pasted_cluster(text("rpk-detailed-25.txt")).cluster.brokers] == [
        "a",
        "b",
        "c",
    ]
    assert [each.rack for each in read_pasted_cluster(text("rpk-25.json")).cluster.brokers] == ["a", "b", "c"]


def test_a_part_of_a_topic_is_planned_alone() -> None:
    """As in the JSON that people write by hand, whose partitions have holes."""
    cluster, notes = read_pasted_cluster(REASSIGNMENT)
    assert [(each.id, each.leader, each.replicas) for each in cluster.partitions("a")] == [
        (3, 4, (4, 5)),
        (1, 5, (5, 4)),
    ]
    assert notes[1] == "leaders are not in it: the first replica of each partition counts as its leader"
    plan = pw.cluster.reassign(cluster, add=[7])
    assert {each["topic"] for each in json.loads(plan.json())["partitions"]} <= {"a"}
    assert plan.replicas_moved == 1


AROUND = {
    "prompt": lambda own: f"$ kafka-topics.sh --describe\n{own}\n[me@host ~]$ \n",
    "fence": lambda own: f"```\n{own}\n```\n",
    "quotation": lambda own: "\n".join(f"> {line}" for line in own.splitlines()),
    "windows": lambda own: own.replace("\n", "\r\n"),
    "collapsed": lambda own: "\n".join(" ".join(line.split()) for line in own.splitlines()),
    "mark": lambda own: f"\ufeff{own}",
}


@pytest.mark.parametrize(
    "name", ["topics-4.3.1.txt", "kcat-1.7.1.txt", "rpk-detailed-25.txt", "generate-4.3.1.txt"]
)
@pytest.mark.parametrize("change", AROUND.values(), ids=AROUND)
def test_what_stands_around_it_is_passed_over(name: str, change: Callable[[str], str]) -> None:
    assert read_pasted_cluster(change(text(name))) == read_pasted_cluster(text(name))


def test_a_partition_without_leader_has_none() -> None:
    line = "Topic: t\tPartition: 0\tLeader: {}\tReplicas: 1,2\tIsr: \n"
    for leader in ("none", "-1"):
        (partition,) = read_pasted_cluster(line.format(leader)).cluster.partitions("t")
        assert (partition.leader, partition.replicas, partition.in_sync_replicas) == (None, (1, 2), ())


WRONG = {
    "rpk without replicas": (text("rpk-25.txt"), "rpk cluster info names no replicas: take rpk cluster info -d"),
    "cut topics": (text("topics-4.3.1.txt").rsplit("\tReplicas", 1)[0], "line 10: 'Topic: users\\tPartition: 2"),
    "missing lines": (
        "\n".join(text("topics-4.3.1.txt").splitlines()[:4]),
        "line 1: topic 'orders' has 5 partitions, and 3 of them are listed: paste all",
    ),
    "cut kcat": (text("kcat-1.7.1.txt")[:-20], "is cut: paste whole lines"),
    "cut rpk": (text("rpk-detailed-25.txt").rstrip()[:-2], "is cut: paste whole lines"),
    "two tools": (text("topics-4.3.1.txt") + text("kcat-1.7.1.txt"), "this is of kafka-topics.sh --describe and"),
    "topics to move": ('{"topics": [{"topic": "t"}], "version": 1}', "it has no 'partitions'"),
    "election": ('{"partitions": [{"topic": "t", "partition": 0}]}', "it has no 'replicas'"),
    "cut JSON": (text("generate-4.3.1.txt")[:200], "line 2: this is not JSON"),
    "cut fields": ('{"topics": [{"topic": "t", "partitions": [{"partition": 0}]}]}', "it has no 'replicas'"),
    "a broker's name": ('{"brokers": [{"broker": "x", "logDirs": []}]}', "invalid literal for int() with base 10: 'x'"),
    "a group": ("GROUP TOPIC PARTITION\ng t 0\n", "this is neither JSON nor the text of kafka-topics.sh"),
    "nothing": ("", "this is neither JSON nor the text of kafka-topics.sh"),
    "a wrong type": ('{"version": 1, "partitions": 3}', "partitions: a list is needed, not 3"),
    "text for a number": ('{"partitions": [{"topic": "t", "partition": "0", "replicas": [1]}]}', "not '0'"),
}  # fmt: skip


@pytest.mark.parametrize(("pasted", "sentence"), WRONG.values(), ids=WRONG)
def test_a_wrong_paste_is_refused_in_one_sentence(
    pasted: str, sentence: str, refusal: Refusal, tmp_path: Path
) -> None:
    path = tmp_path / "p.txt"
    path.write_text(pasted, encoding="utf-8")
    assert sentence in refusal("reassign", path, "--add", "9")
