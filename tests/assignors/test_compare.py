"""Compares assignors: each figure must equal a count over the assignor's own lists, and the command prints them."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.assignors.assignment import Spread
from partwright.assignors.comparison import COMPARED, Compared, Comparison, compare
from partwright.assignors.current_group import group_now
from partwright.documents import assign, assign_compared
from partwright.rendering.terminal import TerminalStyle
from partwright.rendering.terminal import text as terminal

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


# franz-go#795: the member that had all of T3 first keeps as much of it as balance allows.
TOPICS = {"T1": 24, "T2": 24, "T3": 96}
NEW = [{"id": name, "topics": [*TOPICS]} for name in ("c1", "c2")]
OWNED: list[dict[str, Any]] = [
    {**NEW[0], "owned": {"T3": [*range(24, 96)]}, "generation": 1},
    {**NEW[1], "owned": {"T1": [*range(24)], "T2": [*range(24)], "T3": [*range(24)]}, "generation": 1},
]


def test_the_verdict_judges_by_the_spread_within_a_topic_and_says_so() -> None:
    assert said(compare(TOPICS, NEW)) == [
        (
            "Take range, roundrobin, sticky, cooperative-sticky or server-range, which are equal: 72 partitions a "
            "member, 0 apart in one topic."
        ),
        "Least even within a topic is server-uniform, 48 apart in one topic.",
        "Judged by partitions a member, then by the spread within a topic.",
    ]
    found = compare(TOPICS, OWNED)
    apart = {each.assignor: each.topic_spread for each in found}
    assert (apart["sticky"], apart["roundrobin"], apart["range"]) == (48, 0, 0)
    # The maintainer's advice there.
    assert said(found) == [
        "Take roundrobin: 72 partitions a member, 0 apart in one topic, 72 partitions move.",
        "Least even within a topic are sticky, cooperative-sticky and server-uniform, 48 apart in one topic.",
        "Fewest moves: sticky, cooperative-sticky and server-uniform, 0 partitions move.",
        "Judged by partitions a member, then by the spread within a topic, then by moves.",
    ]


def said(found: Comparison) -> list[str]:
    return [verdict.text for verdict in assign_compared.document(found).verdicts]


def side_by_side(*parts: Compared) -> Comparison:
    return Comparison(parts, 2, {"t": 4})


def compared(name: str, least: int, most: int, apart: int, moved: int = 0, unread: int = 0) -> Compared:
    return Compared(name, None, Spread(least, most, 0.0), apart, moved, unread, None, None)


def test_who_is_better_by_a_later_figure_is_named() -> None:
    assert said(side_by_side(compared("a", 2, 2, 3), compared("b", 1, 3, 1), compared("c", 2, 2, 3))) == [
        "Take a or c, which are equal: 2 partitions a member, 3 apart in one topic.",
        "Least even is b, 1 to 3 partitions a member.",
        "Most even within a topic: b, 1 apart in one topic.",
        "Judged by partitions a member, then by the spread within a topic.",
    ]
    assert said(side_by_side(compared("a", 2, 2, 1, 1), compared("b", 0, 4, 4, 2, 3))) == [
        "Take a: 2 partitions a member, 1 apart in one topic, 1 partition moves.",
        "Least even is b, 0 to 4 partitions a member until the next rebalance.",
        (
            "Judged by partitions a member, then by the spread within a topic, then by moves, then by partitions "
            "without a reader."
        ),
    ]
    found = [compared("a", 2, 2, 1), compared("b", 2, 2, 1, 0, 3)]
    assert said(side_by_side(*found))[1] == "Worst is b, 3 unread until the next rebalance."
    assert said(side_by_side(*found[:1], *found[:1])) == [
        "Take any: all 2 assignors are equal: 2 partitions a member, 1 apart in one topic.",
        "Judged by partitions a member, then by the spread within a topic.",
    ]


def test_no_sentence_contradicts_the_rows_below_it() -> None:
    """In random groups, whatever the verdict takes is beaten by no row in the order that it names."""
    draw = random.Random(SEED)
    for _ in range(60):
        asked = group(draw)
        found = compare(asked["topics"], asked["members"], racks=asked["racks"])
        head = said(found)[0].partition(":")[0]
        names = re.split(r"[ ,]+", head)
        taken = [each for each in found if each.assignor in names or names[:2] == ["Take", "any"]]
        assert taken
        for each in taken:
            order = [(one.spread.max - one.spread.min, one.topic_spread, one.moved) for one in found]
            assert (each.spread.max - each.spread.min, each.topic_spread, each.moved) == min(order)


def test_the_page_counts_the_spread_within_a_topic_too() -> None:
    (spread,) = assign_compared.document(compare(TOPICS, NEW)).sections
    assert spread.sentence == "2 members, 3 topics, 144 partitions; fewest and most are those of a member."
    assert [(row["assignor"], row["least"], row["most"], row["apart"]) for row in spread.rows] == [
        ("range", 72, 72, 0),
        ("roundrobin", 72, 72, 0),
        ("sticky", 72, 72, 0),
        ("cooperative-sticky", 72, 72, 0),
        ("server-uniform", 72, 72, 48),
        ("server-range", 72, 72, 0),
    ]


def test_the_page_marks_all_that_tie() -> None:
    found = side_by_side(compared("a", 2, 2, 1, 3), compared("b", 1, 3, 3, 6), compared("c", 2, 2, 1, 3))
    (spread,) = assign_compared.document(found).sections
    assert [spread.rows[place]["assignor"] for place in sorted(spread.picked)] == ["a", "c"]
    assert [(row["assignor"], row["moved"], row["unread"]) for row in spread.rows] == [
        ("a", 3, 0), ("b", 6, 0), ("c", 3, 0),
    ]  # fmt: skip
    near = side_by_side(*(replace(compared(name, 2, 2, 1, 1, 2), in_rack_share=0.5) for name in "ab"))
    (spread,) = assign_compared.document(near).sections
    assert [column.title for column in spread.columns][-2:] == ["unread", "in rack"]


def test_two_equal_ends_are_one_number() -> None:
    printed = terminal(assign_compared.document(compare(TOPICS, NEW)), TerminalStyle(88))
    assert "72 to 72" not in printed
    assert re.search(r"range +72 +72 +0 ", printed)


def test_one_assignment_says_how_far_apart_members_are_in_a_topic() -> None:
    (verdict,) = assign.document(pw.assign(TOPICS, NEW, "server-uniform")).verdicts
    assert verdict.text == (
        "2 members read 144 partitions by server-uniform, 72 each, but 48 apart in T3: --compare shows what other "
        "assignors give."
    )
    (verdict,) = assign.document(pw.assign(TOPICS, NEW, "range")).verdicts
    assert verdict.text == "2 members read 144 partitions by range, 72 each."
    topics = {"a": 3, "b": 4}
    members = [{"id": name, "topics": [*topics]} for name in ("c1", "c2")]
    (verdict,) = assign.document(pw.assign(topics, members, "server-uniform")).verdicts
    assert "as even as can be" not in verdict.text


def test_a_group_as_it_is_says_how_far_apart_members_are_in_a_topic() -> None:
    now = group_now(TOPICS, OWNED, "sticky")
    assert assign.document(now).verdicts[-1].text == "Within T3, members are 48 partitions apart."
    assert now.to_dict()["apart"] == {"topic": "T3", "partitions": 48}
    alone = group_now({"t": 3}, [{**NEW[0], "topics": ["t"], "owned": {"t": [0]}}], "range")
    assert alone.apart == ("t", 0)
    assert not any("apart" in verdict.text for verdict in assign.document(alone).verdicts)


NEAR = "Members subscribe to ordrs, which is not among the topics: did you mean 'orders'?"


@pytest.mark.parametrize(
    ("topics", "members", "sentences"),
    [
        ({"orders": 2}, {"c1": ["orders"], "c2": ["ordrs"]}, {NEAR}),
        (
            {"orders": 2},
            {"c1": ["orders", "x"], "c2": ["y", "orders", "x"]},
            {"Members subscribe to x and y, which are not among the topics."},
        ),
        ({"orders": 2}, {"c1": ["orders"]}, set()),
        ({}, {"c1": ["orders"]}, {"Members subscribe to orders, which is not among the topics."}),
    ],
)
def test_a_topic_that_the_group_lacks_is_named(
    topics: dict[str, int], members: dict[str, list[str]], sentences: set[str]
) -> None:
    for made in (
        assign.document(pw.assign(topics, members)),
        assign_compared.document(compare(topics, members)),
    ):
        said = {each.text for each in made.verdicts if "not among the topics" in each.text}
        assert said == sentences
    table = pa.table({"member": list(members), "topics": list(members.values())})
    assert pw.assign(topics, table).absent_topics == pw.assign(topics, members).absent_topics


def test_a_topic_that_only_an_owner_names_is_not_subscribed_to() -> None:
    members = [{"id": "c1", "topics": ["t"], "owned": [["gone", 0]]}]
    assert pw.assign({"t": 1}, members, "sticky").absent_topics == []


def test_a_group_without_members_says_so() -> None:
    for made in (assign.document(pw.assign({"t": 2}, [])), assign_compared.document(compare({"t": 2}, []))):
        assert made.verdicts[0].text == "The group has no members, so nobody reads anything."


def test_turned_round_topics_and_members_are_refused_with_the_right_call() -> None:
    sentence = re.escape("topics first, then members: pw.compare({'t': 2}, ['c1'])")
    with pytest.raises(pw.PartwrightError, match=f"^{sentence}$"):
        compare(["c1"], {"t": 2})  # type: ignore[arg-type] # what people write


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
    assert " ".join(out.split()).startswith(answer["summary"])
    for each in wanted:
        row = next(line for line in out.splitlines() if line.split()[:1] == [each["assignor"]])
        assert row.split()[1:-1] == [
            *(str(each["spread"]["min"]), str(each["spread"]["max"])),
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
