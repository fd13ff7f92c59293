"""Assignments: their columns and figures, each refusal, and properties of any group."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.assignors.assignment import Spread
from partwright.assignors.names import CLIENT_ASSIGNORS, assignors
from partwright.documents.assign import document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ONE = {"t": 5, "u": 3}
TWO = [{"id": "c1", "topics": ["t", "u"]}, {"id": "c2", "topics": ["t"]}]


# Figures.


def test_an_assignment_is_the_same_as_lists_and_as_columns() -> None:
    found = pw.assign(ONE, TWO, "sticky")
    lists = found.to_dict()
    rows = [(row["member"], row["topic"], row["partition"]) for row in found.to_arrow().to_pylist()]
    assert rows == [(member, *pair) for member, pairs in lists.items() for pair in pairs]
    assert {member: found.partitions_of(member) for member in lists} == lists
    assert all(found.owner_of(*pair) == member for member, pairs in lists.items() for pair in pairs)
    assert found.owner_of("t", 5) is None
    assert repr(found) == (
        "<Assignment: 2 members read 8 partitions by sticky, 4 each, but 3 apart in t: --compare shows what other "
        "assignors give.>"
    )


def test_its_figures_are_those_of_its_lists() -> None:
    found = pw.assign({**ONE, "v": 0}, [*TWO, {"id": "c3", "topics": []}], "range")
    assert found.spread() == Spread(0, 6, 8 / 3)
    assert found.per_topic_spread() == {"t": Spread(2, 3, 2.5), "u": Spread(3, 3, 3.0)}
    assert found.in_rack_share() is None


def test_a_topic_that_a_reader_has_nothing_of_counts() -> None:
    members = {"c1": ["t"], "c2": ["t"], "c3": ["t", "t"]}
    assert pw.assign({"t": 2}, members).per_topic_spread() == {"t": Spread(0, 1, 2 / 3)}


def test_what_has_moved_is_told_with_who_had_it() -> None:
    before = pw.assign({"t": 2, "gone": 1}, {"c1": ["t", "gone"]}, "sticky")
    after = pw.assign({"t": 3}, {"c2": ["t"], "c1": ["t"]}, "sticky", owned=before)
    assert after.to_dict() == {"c2": [("t", 2)], "c1": [("t", 0), ("t", 1)]}
    assert after.moved_from(before).to_pylist() == [
        {"topic": "gone", "partition": 0, "from": "c1", "to": None},
        {"topic": "t", "partition": 2, "from": None, "to": "c2"},
    ]
    assert after.moved_from(after).num_rows == 0


def test_who_keeps_a_partition_that_several_read_has_not_moved_it() -> None:
    two = [{"id": name, "topics": ["t"]} for name in ("c1", "c2")]
    before = pw.assign({"t": 1}, two, "server-simple")
    assert before.to_dict() == {"c1": [("t", 0)], "c2": [("t", 0)]}
    assert before.owner_of("t", 0) == "c1"
    assert before.moved_from(before).num_rows == 0
    after = pw.assign({"t": 1}, [*two, {"id": "c3", "topics": ["t"]}], "server-simple", owned=before)
    assert after.moved_from(before).to_pylist() == [{"topic": "t", "partition": 0, "from": None, "to": "c3"}]
    gone = pw.assign({"t": 1}, two[:1], "server-simple", owned=after)
    assert gone.moved_from(after).to_pylist() == [
        {"topic": "t", "partition": 0, "from": name, "to": None} for name in ("c2", "c3")
    ]


def test_an_earlier_assignment_is_what_members_own() -> None:
    draw = random.Random(1)
    for _ in range(50):
        topics = {f"t{number}": draw.randint(0, 9) for number in range(draw.randint(1, 5))}
        names = [f"c{number}" for number in range(draw.randint(2, 8))]
        before = pw.assign(
            topics,
            {name: draw.sample(list(topics), draw.randint(1, len(topics))) for name in names},
            "sticky",
        )
        grown = dict(draw.sample([*topics.items(), ("new", 4)], len(topics) + 1))
        members: list[dict[str, Any]] = [
            {"id": name, "topics": [*grown, "absent"]} for name in [*names[1:], "joins"]
        ]
        owned = before.to_dict()
        told = [
            {**member, "owned": owned[member["id"]]} if member["id"] in owned else member
            for member in members
        ]
        for assignor in ["sticky", "cooperative-sticky"]:
            assert (
                pw.assign(grown, members, assignor, owned=before).to_dict()
                == pw.assign(grown, told, assignor).to_dict()
            )


def test_the_share_in_racks_counts_readers_with_a_rack() -> None:
    racks: dict[str, list[list[str | None]]] = {"t": [["a", "b"], ["b"], ["c", None], []]}
    members = [
        {"id": "c1", "topics": ["t"], "rack": "b"},
        {"id": "c2", "topics": ["t"], "rack": "x"},
        {"id": "c3", "topics": ["t"]},
    ]
    found = pw.assign({"t": 4}, members, "roundrobin", racks=racks)
    assert found.to_dict() == {"c1": [("t", 0), ("t", 3)], "c2": [("t", 1)], "c3": [("t", 2)]}
    assert found.in_rack_share() == pytest.approx(1 / 3)
    assert pw.assign({"t": 4}, members[2:], racks=racks).in_rack_share() is None


def test_racks_and_an_earlier_assignment_of_other_topics_go_together() -> None:
    before = pw.assign({"t": 2, "gone": 2}, {"c1": ["t", "gone"], "c2": ["t", "gone"]}, "sticky")
    members = [{"id": name, "topics": ["t"], "rack": rack} for name, rack in [("c1", "b"), ("c2", "a")]]
    found = pw.assign({"t": 2}, members, "sticky", racks={"t": [["a"], ["b"]]}, owned=before)
    assert found.to_dict() == {"c1": [("t", 1)], "c2": [("t", 0)]}
    assert found.in_rack_share() == 1.0


def test_a_group_may_be_empty() -> None:
    found = pw.assign({"t": 2}, {}, "range")
    assert found.to_dict() == {}
    assert found.spread() == Spread(0, 0, 0.0)
    assert found.per_topic_spread() == {}
    assert found.to_arrow().num_rows == found.moved_from(found).num_rows == 0


# Any group.


# old-roundrobin takes only equal subscriptions.
@pytest.mark.parametrize("assignor", [name for name in assignors() if name != "old-roundrobin"])
def test_each_partition_has_one_reader_who_subscribes_to_it(assignor: str) -> None:
    draw = random.Random(assignor)
    for _ in range(200):
        topics = {f"t{number}": draw.randint(0, 12) for number in range(draw.randint(1, 6))}
        members = {
            f"c{number}": draw.sample(list(topics), draw.randint(1, len(topics)))
            for number in range(draw.randint(1, 9))
        }
        pairs = pw.assign(topics, members, assignor).to_dict()
        read = [pair for member in pairs for pair in pairs[member]]
        subscribed = {topic for those in members.values() for topic in those}
        if assignor == "server-simple":
            # A share group's members read partitions together.
            read = list(set(read))
        assert sorted(read) == sorted((topic, at) for topic in subscribed for at in range(topics[topic]))
        assert all(topic in members[member] for member, those in pairs.items() for topic, _ in those)


@pytest.mark.parametrize("assignor", ["roundrobin", "sticky", "server-uniform"])
def test_equal_subscriptions_are_balanced_within_one(assignor: str) -> None:
    draw = random.Random(assignor)
    for _ in range(200):
        topics = {f"t{number}": draw.randint(0, 12) for number in range(draw.randint(1, 6))}
        spread = pw.assign(
            topics, {f"c{number}": list(topics) for number in range(draw.randint(1, 20))}, assignor
        ).spread()
        assert spread.max - spread.min <= 1


def test_a_second_round_of_the_same_members_moves_nothing() -> None:
    draw = random.Random(2)
    for _ in range(200):
        topics = {f"t{number}": draw.randint(0, 12) for number in range(draw.randint(1, 6))}
        members = {f"c{number}": list(topics) for number in range(draw.randint(1, 9))}
        first = pw.assign(topics, members, "sticky")
        for assignor in ["sticky", "cooperative-sticky", "server-uniform"]:
            assert pw.assign(topics, members, assignor, owned=first).moved_from(first).num_rows == 0


# Threads.

MEMBER = {"id": "c", "topics": ["t"]}
MEMBER_FIELDS = "id, topics, owned, generation, instance_id, rack, client"
FIELDS = "assignor, topics, topic_ids, racks, partition_order, seed, balance_racks"


def test_threads_are_dealt_by_their_names() -> None:
    members = [{"id": "C10", "topics": ["t"], "streams": 2}, {"id": "C1", "topics": ["t"], "streams": 11}]
    found = pw.assign({"t": 13}, members, "old-range").to_dict()
    # As text, C1-10 comes before C1-2, and C10 after all of C1.
    assert {name: pairs[0][1] for name, pairs in found.items()} == {
        "C10-0": 11,
        "C10-1": 12,
        "C1-0": 0,
        "C1-1": 1,
        "C1-10": 2,
        **{f"C1-{thread}": thread + 1 for thread in range(2, 10)},
    }


def test_an_old_group_may_be_empty_or_read_nothing() -> None:
    for assignor in ["old-range", "old-roundrobin"]:
        assert pw.assign({"t": 2}, [], assignor).to_dict() == {}
        assert pw.assign({"t": 1}, [{**MEMBER, "streams": None}], assignor).to_dict() == {"c": [("t", 0)]}
        members = [{"id": "C", "topics": ["gone"], "streams": 2}]
        assert pw.assign({"t": 2}, members, assignor).to_dict() == {"C-0": [], "C-1": []}


def test_streams_may_be_given_by_topic() -> None:
    members = [{"id": "C", "topics": ["t", "u"], "streams": {"t": 2, "u": 1}}]
    found = pw.assign({"t": 3, "u": 2}, members, "old-range").to_dict()
    assert found == {"C-0": [("t", 0), ("t", 1), ("u", 0), ("u", 1)], "C-1": [("t", 2)]}
    even = [{"id": name, "topics": ["t", "u"], "streams": {"u": 2, "t": 2}} for name in ("C", "D")]
    plain = [{**member, "streams": 2} for member in even]
    for topics in ({"t": 3, "u": 2}, {"t": 9}):
        said = [pw.assign(topics, those, "old-roundrobin").to_dict() for those in (even, plain)]
        assert said[0] == said[1]


def test_topics_of_one_hash_code_come_in_the_order_of_scalas_maps() -> None:
    names = ["".join("BB" if number >> bit & 1 else "Aa" for bit in range(4)) for number in range(14)]
    topics = dict.fromkeys(names, 1)
    members = [{"id": "C", "topics": names, "streams": 3}]
    first = [pairs[0][0] for pairs in pw.assign(topics, members, "old-roundrobin").to_dict().values()]
    # By kafka_2.11 0.10.2.2; up to twelve topics come in the order of their names.
    assert first == ["AaAaBBAa", "AaAaAaAa", "AaAaAaBB"]
    few = dict.fromkeys(names[:12], 1)
    found = pw.assign(few, [{**members[0], "topics": names[:12]}], "old-roundrobin").to_dict()
    assert [pairs[0][0] for pairs in found.values()] == sorted(few)[:3]


def test_threads_of_lists_that_are_walked_over_once_read_all_of_them() -> None:
    once = {"id": "C", "topics": iter(["t"]), "owned": iter([("t", 0)]), "streams": 2}
    assert pw.assign({"t": 2}, [once], "old-range").to_dict() == {"C-0": [("t", 0)], "C-1": [("t", 1)]}
    both = pw.assign({"t": 2}, {name: iter(["t"]) for name in ("C", "D")}, "old-roundrobin")
    assert sorted(map(len, both.to_dict().values())) == [1, 1]


ONCE = "partition_order has each partition from 0 to {} once, not {}"


@pytest.mark.parametrize(
    ("topics", "assignor", "order", "sentence"),
    [
        ({"t": 2}, "range", [0, 1], "partition_order is for old-roundrobin alone: leave it out for range"),
        ({"t": 2, "u": 1}, "old-roundrobin", [0, 1],
         "partition_order is for a group with one topic: give topics one, or leave it out"),
        ({"t": 2}, "old-roundrobin", "01", "partition_order is a list of partitions, not '01'"),
        ({"t": 2}, "old-roundrobin", [0, 0], ONCE.format(1, [0, 0])),
        ({"t": 2}, "old-roundrobin", [0, "1"], ONCE.format(1, [0, "1"])),
        ({"t": 2**31 - 1}, "old-roundrobin", [0], ONCE.format(2**31 - 2, [0])),
    ],
)  # fmt: skip
def test_an_order_that_cannot_be_is_refused(
    topics: dict[str, int], assignor: str, order: Any, sentence: str
) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign(topics, [MEMBER], assignor, partition_order=order)
    assert str(refused.value) == sentence


# Refusals.


@pytest.mark.parametrize(
    ("fields", "assignor", "sentence"),
    [
        ({"streams": 2}, "sticky@2.3", " has streams, which only old-range and old-roundrobin know"),
        ({"streams": {"t": 1}}, "range", " has streams, which only old-range and old-roundrobin know"),
        *(({"streams": each}, "old-range", f": streams is 1 to 10000, not {each}") for each in (0, True, [2])),
        *(({"streams": {"t": each}}, name, f": streams of 't' is 1 to 10000, not {each!r}")
          for each, name in ((0, "old-range"), (-1, "old-roundrobin"), ("2", "old-range"))),
        ({"streams": {"t": 1, "u": 1}}, "old-range", ": streams has 'u', to which the member does not subscribe"),
        ({"topics": ["t", "u"], "streams": {"t": 1}}, "old-range",
         ": streams lacks 'u', to which the member subscribes: say how many it has"),
        ({"streams": {}}, "old-range", ": streams by topic has no topic: give it one, or a number"),
        *(({"topics": each}, "range", f": topics is a list of names, not {each!r}") for each in (None, "t", 3)),
        ({"topics": [["t"]]}, "range", ": a topic is text, not ['t']"),
        ({"topic": 1}, "range",
         f" has no field 'topic': did you mean 'topics'? There are {MEMBER_FIELDS} and streams"),
        ({"owned": "t"}, "range", ": owned is a list of [topic, partition], not 't'"),
        ({"owned": [["t"]]}, "range", ": owned is a list of [topic, partition], not of ['t']"),
        ({"owned": {"t": 0}}, "range", ": owned has a list of partitions by topic, not 0"),
        ({"owned": [["t", -1]]}, "range", ": owned has -1, which is not a partition"),
        ({"owned": [["t", "0"]]}, "range", ": owned has '0', which is not a partition"),
        ({"generation": -2}, "range", ": generation is -1 to 2147483647, not -2"),
        ({"rack": 1}, "range", ": rack is text, not 1"),
        ({"instance_id": 1}, "range", ": instance_id is text, not 1"),
    ],
)  # fmt: skip
def test_a_member_that_is_none_is_refused(fields: dict[str, Any], assignor: str, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign({"t": 1}, [{**MEMBER, **fields}], assignor)
    assert str(refused.value) == f"member 'c'{sentence}"
    if fields.keys() == {"topics"}:
        with pytest.raises(pw.PartwrightError) as refused:
            pw.assign({"t": 1}, {"c": fields["topics"]}, assignor)
        assert str(refused.value) == f"member 'c'{sentence}"


BY_NAME = "topics has a number of partitions by name, such as {'orders': 12}, not "
A_LIST = "members is a list of ids or of objects, such as ['c1', 'c2'], not None"
AN_ID = "a member is its id, or an object with id and topics, not ['c']"
ASSIGNORS = ", ".join(assignors())


@pytest.mark.parametrize(
    ("topics", "members", "assignor", "sentence"),
    [
        ([1], [MEMBER], "range", BY_NAME + "[1]"),
        (["c1"], {"c1": ["t"]}, "range", BY_NAME + "['c1']"),
        ({1: 1}, [MEMBER], "range", "topics: a name is text, not 1"),
        *(({"t": each}, [MEMBER], "range", f"topics: 't' has {each} partitions, not 0 to 2147483647")
          for each in (True, -1)),
        ({"t": 1}, "c", "range",
         ("the format of 'c' is not known: its name must end in one of .csv, .tsv, .json, .jsonl, .ndjson, "
          ".parquet, .arrow, .feather, .ipc, .avro, .txt, .log, .out, or name the format with RecordSource(format=)")),
        *(({"t": 1}, None, name, A_LIST) for name in ("range", "old-range")),
        *(({"t": 1}, [["c"]], name, AN_ID) for name in ("range", "old-roundrobin")),
        ({"t": 1}, [{"id": 1}], "range", "a member's id is text, not 1"),
        ({"t": 1}, [{"id": "c"}], "range", "member 'c': topics is a list of names, not None"),
        ({"t": 1}, [{"name": "c"}], "range",
         f"a member has no field 'name': there are {MEMBER_FIELDS} and streams"),
        (["c1", "c2"], {"t": 3}, "range", "topics first, then members: pw.assign({'t': 3}, ['c1', 'c2'])"),
        ({"c1": ["t"]}, {"t": 3}, "range", "topics first, then members: pw.assign({'t': 3}, {'c1': ['t']})"),
        ({"t": 1}, [MEMBER, MEMBER], "range", "members has 'c' twice: each id once"),
        ({"t": 1}, [{**MEMBER, "streams": 1}, {"id": "c-0", "topics": ["t"]}], "old-range",
         "members has 'c-0' twice: each id once"),
        ({"t": 1}, [{"id": "c", "topics": ["t", "u"], "streams": {"t": 2, "u": 1}}], "old-roundrobin",
         "old-roundrobin needs the same number of streams for every topic: 'c' has 2 for 't' and 1 for 'u'"),
        ({"t": 1}, [{"id": f"c{each}", "topics": ["t"], "streams": 10_000} for each in range(51)], "old-range",
         "the threads have 510,000 subscriptions together, and a group takes 500000: give members fewer streams"),
        ({"t": 1}, [{**MEMBER, "streams": 2}, {"id": "d", "topics": ["t"]}], "old-roundrobin",
         "old-roundrobin needs members with the same number of streams: 'c' has 2, 'd' has 1"),
        ({"t": 1}, {"c": ["t"], "d": ["t", "u"]}, "old-roundrobin",
         "old-roundrobin needs members with the same topics: 'd' subscribes to 'u', 'c' does not"),
        ({"t": 1}, {"\ud800": ["t"]}, "range", r"id: '\ud800' is not UTF-8, as every name in Kafka is"),
        ({"t": 1}, [MEMBER], "stiky", f'there is no assignor "stiky"; known: {ASSIGNORS}; did you mean sticky?'),
        ({"t": 1}, [{**MEMBER, "streams": 2}], "old-rang",
         f'there is no assignor "old-rang"; known: {ASSIGNORS}; did you mean old-range?'),
        *(({"t": 1}, [MEMBER], each, f"an assignor is named by text, not {each}") for each in (None, ["range"])),
        ({"t": 2**31 - 1}, [MEMBER], "range",
         "the members subscribe to more partitions than one group may have, 134217728"),
        ({"t": 1}, [], "sticky",
         "sticky has no assignment for a group without members (Kafka's own assignor throws ArithmeticException)"),
    ],
)  # fmt: skip
def test_a_group_that_is_none_is_refused(topics: Any, members: Any, assignor: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign(topics, members, assignor)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("racks", "sentence"),
    [
        ([1], "racks has a list of lists by topic, not [1]"),
        ({"u": [[]]}, "racks has a topic 'u' that topics lacks"),
        ({"t": [["a"]]}, "racks of topic 't': 1 lists, but it has 2 partitions"),
        ({"t": 5}, "racks of topic 't': 5, but it has 2 partitions"),
        ({"t": ["a", "b"]}, "racks of topic 't': 'a' is not a list of racks"),
        ({"t": [[1], []]}, "racks of topic 't': [1] is not a list of racks"),
    ],
)
def test_racks_that_are_none_are_refused(racks: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign({"t": 2}, [MEMBER], racks=racks)
    assert str(refused.value) == sentence


def test_what_a_member_owns_is_said_once() -> None:
    before = pw.assign({"t": 2}, [MEMBER])
    with pytest.raises(pw.PartwrightError, match="'c' says what it owned, and so does owned=: leave one out"):
        pw.assign({"t": 2}, [{**MEMBER, "owned": []}], owned=before)
    with pytest.raises(pw.PartwrightError, match=r"an earlier assignment is an Assignment, not \{\}"):
        before.moved_from({})  # type: ignore[arg-type]
    with pytest.raises(
        pw.PartwrightError,
        match="owned= is an Assignment, a table of its columns or partitions by member, not 5",
    ):
        pw.assign({"t": 2}, [MEMBER], owned=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "ask", [lambda found: found.partitions_of("x"), lambda found: found.owner_of("x", 0)]
)
def test_who_is_not_in_the_group_is_refused(ask: Callable[[Any], object]) -> None:
    for odd in ("0", True, 0.0):
        with pytest.raises(pw.PartwrightError, match=f"a partition is a whole number, not {odd!r}"):
            pw.assign(ONE, TWO).owner_of("t", odd)  # type: ignore[arg-type]
    assert [pw.assign(ONE, TWO).owner_of("t", far) for far in (-1, 2**31, 2**70)] == [None] * 3
    with pytest.raises(pw.PartwrightError, match=r"there is no (member|topic) 'x' in the group"):
        ask(pw.assign(ONE, TWO))


# The command.


def run(*words: str, stdin: str | bytes = "") -> tuple[int, str, str]:
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "partwright", "assign", *words], input=given, capture_output=True, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


GROUP = {"assignor": "range", "topics": ONE, "members": TWO}


def test_the_command_says_what_python_says(tmp_path: Path) -> None:
    file = tmp_path / "group.json"
    file.write_text(json.dumps(GROUP, indent=1), encoding="utf-8")
    for options, assignor in [([], "range"), (["--assignor", "roundrobin"], "roundrobin")]:
        code, out, said = run(str(file), *options, "--json")
        assert (code, said) == (0, "")
        lists = pw.assign(ONE, TWO, assignor).to_dict()
        answer = json.loads(out)
        summary = answer.pop("summary")
        assert answer == {"assignment": {name: [list(pair) for pair in lists[name]] for name in lists}}
        code, out, said = run(str(file), *options)
        assert (code, said) == (0, "")
        assert " ".join(out.split()).startswith(
            f"{summary} What each member reads member partitions topics reads "
        )


def test_the_verdict_counts_what_a_cooperative_assignor_withholds() -> None:
    owned = [{"id": "c1", "topics": ["t"], "owned": [["t", 0], ["t", 1], ["t", 2]], "generation": 1}]
    said = []
    for count in range(3):
        members = owned + [{"id": f"d{each}", "topics": ["t"]} for each in range(count)]
        found = pw.assign({"t": 3}, members, "cooperative-sticky")
        said.append(document(found).verdicts[0])
    assert said[1].text == (
        "2 members read 2 partitions by cooperative-sticky, 0 to 2 each; 1 partition has no reader until the next "
        "rebalance."
    )
    assert said[2].text.endswith("0 to 1 each; 2 partitions have no reader until the next rebalance.")
    assert said[0].text == "1 member reads 3 partitions by cooperative-sticky, 3 each."


def test_the_verdict_is_in_the_json_but_in_lines_only_where_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "group.json"
    file.write_text(json.dumps(GROUP), encoding="utf-8")
    plain = json.loads(run("-", "--jsonl", stdin=json.dumps(GROUP))[1])
    told = json.loads(run(str(file), "--json")[1])
    [verdict] = document(pw.assign(ONE, TWO, "range")).verdicts
    assert list(plain) == ["assignment"]
    assert told == {"summary": verdict.text, **plain}
    led = json.loads(run(str(file), "--leader", "c1", "--json")[1])
    assert led["summary"] == verdict.text.replace("by range", "by java:range")
    _, lines, _ = run("-", "--jsonl", "--json", stdin=json.dumps(GROUP))
    assert json.loads(lines) == told
    lines = run("-", "--jsonl", "--leader", "all", stdin=json.dumps(GROUP))[1]
    assert list(json.loads(lines)) == ["leaders"]
    every = json.loads(run(str(file), "--leader", "all", "--json")[1])
    assert list(every) == ["summary", "leaders"]


def test_groups_come_a_line_each() -> None:
    lines = [json.dumps({**GROUP, "assignor": assignor, "topic_ids": {}}) for assignor in CLIENT_ASSIGNORS]
    code, out, said = run("-", "--jsonl", stdin="\n".join([*lines, "", "{}"]))
    assert code == 2
    assert [set(json.loads(line)["assignment"]) for line in out.splitlines()] == [{"c1", "c2"}] * len(lines)
    assert said == (
        f"partwright: stdin, line {len(lines) + 2}: the group has no assignor: name it (or give --assignor)\n"
    )


@pytest.mark.parametrize(
    ("stdin", "sentence"),
    [
        ("", "stdin: this is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[]", "stdin: a group is an object with assignor, topics and members"),
        (b"\xff", "stdin is not UTF-8 (invalid start byte)"),
        ("[" * 100_000, "stdin: this is nested too deeply"),
        (f'{{"topics": {{"t": {"9" * 5000}}}}}', "stdin: this has a number of more digits than Python reads"),
        ('{"topics": {"t": 1, "t": 2}}', "stdin: 't' is there twice in one object"),
        ('{"assignor": "range", "members": []}', "stdin: the group has no topics: name it"),
        (
            json.dumps({**GROUP, "x": 1}),
            f"stdin: a group has no field 'x': use {FIELDS} and members",
        ),
        (
            json.dumps({**GROUP, "members": {"c": ["t"]}}),
            'stdin: members is a list of objects with "id" and "topics", not an object',
        ),
        (
            json.dumps({**GROUP, "topics": 1}),
            "stdin: topics has a number of partitions by name, such as {'orders': 12}, not 1",
        ),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_sentence(stdin: str | bytes, sentence: str) -> None:
    assert run("-", stdin=stdin) == (2, "", f"partwright: {sentence}\n")


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    code, _, said = run(str(tmp_path / "none.json"))
    assert (code, said.count("\n")) == (2, 1)
    assert "none.json' cannot be read: No such file or directory" in said
