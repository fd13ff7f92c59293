"""Compares assignors: each figure must equal a count over the assignor's own lists, and the command prints them."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.assignors.compare import COMPARED, compare

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 20261121


def group(draw: random.Random) -> dict[str, Any]:
    """Some topics and members; some members own what an earlier, smaller group got."""
    topics = {f"t{place}": draw.randrange(1, 9) for place in range(draw.randrange(1, 5))}
    ids = [f"c{place}" for place in range(draw.randrange(1, 6))]
    members: list[dict[str, Any]] = [
        {"id": name, "topics": draw.sample(list(topics), draw.randrange(1, len(topics) + 1))} for name in ids
    ]
    before = pw.assign(topics, members[: draw.randrange(1, len(members) + 1)], "sticky").to_dict()
    for member in members:
        if member["id"] in before:
            member |= {"owned": [list(pair) for pair in before[member["id"]]], "generation": 1}
        member["rack"] = draw.choice(["a", "b"])
    racks = {name: [[draw.choice("ab")] for _ in range(count)] for name, count in topics.items()}
    return {"topics": topics, "members": members, "racks": racks}


def test_each_figure_is_what_the_lists_say() -> None:
    draw = random.Random(SEED)
    for _ in range(60):
        given = group(draw)
        members = given["members"]
        found = compare(given["topics"], given["members"], racks=given["racks"])
        assert [each.assignor for each in found] == [*COMPARED]
        for each in found:
            lists = pw.assign(
                given["topics"], given["members"], each.assignor, racks=given["racks"]
            ).to_dict()
            owner = {pair: name for name, pairs in lists.items() for pair in pairs}
            subscribers = {
                topic: [m["id"] for m in given["members"] if topic in m["topics"]]
                for topic in given["topics"]
            }
            counts = Counter((topic, name) for (topic, _), name in owner.items())
            claimed = {tuple(pair): member["id"] for member in members for pair in member.get("owned", ())}
            assert (each.spread.min, each.spread.max) == (
                min(map(len, lists.values())),
                max(map(len, lists.values())),
            )
            read = {topic for topic, _ in owner}
            apart = [
                max(counts[topic, name] for name in names) - min(counts[topic, name] for name in names)
                for topic, names in subscribers.items()
                if topic in read
            ]
            assert each.topic_spread == max(apart, default=0)
            assert each.moved == sum(owner.get(pair) != name for pair, name in claimed.items())
            asked = sum(given["topics"][topic] for topic, names in subscribers.items() if names)
            assert each.unread == asked - len(owner)
            assert (each.error, each.seconds) == (None, None)
            rack_of = {member["id"]: member["rack"] for member in members}
            near = [given["racks"][t][p][0] == rack_of[name] for (t, p), name in owner.items()]
            assert each.in_rack_share == (pytest.approx(sum(near) / len(near)) if near else None)


def test_what_kafka_throws_is_said_beside_the_others() -> None:
    ticks = iter(range(100))
    found = compare({"t": 4}, [], clock=lambda: float(next(ticks)))
    assert [(each.assignor, each.error is None, each.seconds) for each in found] == [
        ("range", True, 1.0),
        ("roundrobin", False, None),
        ("sticky", False, None),
        ("cooperative-sticky", False, None),
        ("server-uniform", True, 1.0),
        ("server-range", True, 1.0),
    ]
    with pytest.raises(pw.PartwrightError, match=r"^members has 'c1' twice: each id once$"):
        compare({"t": 4}, [{"id": "c1", "topics": ["t"]}] * 2)


@pytest.mark.usefixtures("own_folder")
def test_the_command_prints_them(told: Callable[..., tuple[int, str, str]]) -> None:
    given = group(random.Random(SEED))
    Path("group.json").write_text(json.dumps(given), encoding="utf-8")
    code, out, err = told("assign", "group.json", "--compare", "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["summary"].startswith("Take ")
    printed = answer["assignors"]
    wanted = [each.to_dict() for each in compare(given["topics"], given["members"], racks=given["racks"])]
    assert all(each["seconds"] > 0 for each in printed)
    assert [each | {"seconds": None} for each in printed] == wanted
    code, out, err = told("assign", "group.json", "--compare")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == answer["summary"]
    for each in wanted:
        row = next(line for line in out.splitlines() if line.split()[:1] == [each["assignor"]])
        assert row.split()[1:-1] == [
            *(str(each["spread"]["min"]), "to", str(each["spread"]["max"])),
            *(str(each["topic_spread"]), str(each["moved"]), str(each["unread"])),
            f"{each['in_rack_share']:.1%}",
        ]


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["group.json", "--compare", "--jsonl"],
            "--compare asks today's assignors about one group: leave out --jsonl",
        ),
        (["group.json", "--compare", "--assignor", "range"], "about one group: leave out --assignor"),
        (["group.json", "--compare"], "group.json: the group has no members: name it"),
    ],
)
def test_wrong_use_is_one_sentence(words: list[str], sentence: str, refusal: Callable[..., str]) -> None:
    Path("group.json").write_text('{"topics": {"t": 1}}', encoding="utf-8")
    assert sentence in refusal("assign", *words)


def test_the_brokers_go_by_the_ids_that_are_given() -> None:
    owned = [["t", 0], ["t", 1], ["t", 2], ["u", 0], ["u", 1]]
    members = [{"id": "c1", "topics": ["t", "u"], "owned": owned}, {"id": "c2", "topics": ["t", "u"]}]
    ids = {"t": "qqLWNgD3cE5N4Q9mk2oxjQ", "u": "AAAAAAAAAAAAAAAAAAAAAg"}

    def apart(ids: dict[str, str]) -> int:
        found = compare({"t": 3, "u": 2}, members, topic_ids=ids)
        return next(each.topic_spread for each in found if each.assignor == "server-uniform")

    # c1 keeps the topic that comes first in Java's map of IDs.
    assert (apart({}), apart(ids)) == (3, 2)
