"""A group in Arrow's tables gives the same answer as in lists, for every assignor; other tables are refused."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.assignors.names import assignors
from partwright.assignors.threads import THREADED

NAMES = pa.dictionary(pa.int16(), pa.string())
ASSIGNORS = [name for name in assignors() if name not in THREADED]


def random_group(draw: random.Random) -> tuple[dict[str, int], list[dict[str, Any]], dict[str, Any]]:
    """Topics, members, and the racks of some topics."""
    topics = {f"t{number}": draw.randint(0, 6) for number in draw.sample(range(9), 6)}
    racks = {
        name: [[draw.choice([None, "a", "b", "c"]) for _ in range(draw.randint(0, 3))] for _ in range(count)]
        for name, count in topics.items()
        if draw.random() < 0.7
    }
    members = []
    for place in draw.sample(range(20), draw.randint(1, 9)):
        subscribed = draw.sample([*topics, "absent"], draw.randint(1, 5))
        member: dict[str, Any] = {"id": f"c{place}", "topics": subscribed}
        if draw.random() < 0.5:
            pairs = [
                (topic, at)
                for topic in subscribed
                for at in range(topics.get(topic, 0))
                if draw.random() < 0.3
            ]
            member |= {"owned": pairs, "generation": draw.randint(-1, 2)}
        if draw.random() < 0.3:
            member["instance_id"] = f"i{place % 5}"
        if draw.random() < 0.6:
            member["rack"] = draw.choice(["", "a", "b", "d"])
        members.append(member)
    return topics, members, racks


def tables_of(
    topics: dict[str, int], members: list[dict[str, Any]], racks: dict[str, Any], names: pa.DataType
) -> tuple[pa.Table, pa.Table]:
    """The same as tables of members and of topics; `names` is the type of topics' names in lists."""
    pair = pa.struct([("topic", names), ("partition", pa.int64())])
    columns = {
        "member": pa.array([each["id"] for each in members]),
        "topics": pa.array([each["topics"] for each in members], pa.list_(names)),
        "owned": pa.array(
            [
                [{"topic": topic, "partition": at} for topic, at in each["owned"]]
                if "owned" in each
                else None
                for each in members
            ],
            pa.list_(pair),
        ),
        "generation": pa.array([each.get("generation") for each in members], pa.int64()),
        "instance_id": pa.array([each.get("instance_id") for each in members], pa.string()),
        "rack": pa.array([each.get("rack") for each in members], pa.string()),
    }
    of_topics = {
        "topic": pa.array(list(topics), pa.string()),
        "partitions": pa.array(list(topics.values()), pa.int64()),
        "racks": pa.array([racks.get(name) for name in topics], pa.list_(pa.list_(pa.string()))),
    }
    return pa.table(columns), pa.table(of_topics)


def answer(topics: Any, members: Any, assignor: str, racks: Any = None) -> pw.Assignment | str:
    """The answer of `assign`, or its error."""
    try:
        return pw.assign(topics, members, assignor, racks=racks)
    except pw.PartwrightError as error:
        return str(error)


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_tables_say_what_lists_say(assignor: str, seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(60):
        topics, members, racks = random_group(draw)
        table, of_topics = tables_of(
            topics, members, racks, draw.choice([pa.string(), pa.large_string(), NAMES])
        )
        # In chunks, and as slices of a longer table.
        cut, longer = draw.randint(0, len(members)), pa.concat_tables([table, table]).combine_chunks()
        table = pa.concat_tables([longer.slice(len(members), cut), longer.slice(cut, len(members) - cut)])
        expected = answer(topics, members, assignor, racks)
        if isinstance(expected, str):
            assert answer(of_topics, table, assignor) == expected
            continue
        ways = [
            pw.assign(of_topics, table, assignor),
            pw.assign(topics, table, assignor, racks=racks),
            pw.assign(topics, table, assignor, racks=of_topics.select(["racks", "topic"])),
            pw.assign(of_topics, members, assignor),
        ]
        for found in ways:
            assert found.to_dict() == expected.to_dict()
            assert found.topics == expected.topics
            assert found.claims() == expected.claims()
            assert found.in_rack_share() == expected.in_rack_share()
            assert found.per_topic_spread() == expected.per_topic_spread()


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky", "server-uniform"])
def test_an_assignments_own_columns_go_back_in(assignor: str, seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(60):
        topics, members, _ = random_group(draw)
        members = [{"id": each["id"], "topics": each["topics"]} for each in members]
        first = pw.assign(topics, members, assignor)
        new = {"id": "new", "topics": ["t1", "absent"]}
        others = [*draw.sample(members, draw.randint(0, len(members) - 1)), new]
        # Topics in another order have other numbers, and some are gone.
        fewer = {name: topics[name] for name in draw.sample(list(topics), draw.randint(1, len(topics)))}
        expected = pw.assign(fewer, others, assignor, owned=first).to_dict()
        table, of_topics = tables_of(fewer, others, {}, NAMES)
        own = first.to_arrow()
        mixed = pa.concat_tables([own.slice(len(own) // 2), own.slice(0, len(own) // 2)])
        given = {name: [tuple(pair) for pair in pairs] for name, pairs in first.to_dict().items()}
        again: dict[str, list[Any]] = {name: [] for name in given}
        for row in mixed.to_pylist():
            again[row["member"]].append((row["topic"], row["partition"]))
        of_mixed = [
            {**each, **({"owned": again[each["id"]]} if each["id"] in again else {})} for each in others
        ]
        assert pw.assign(of_topics, table, assignor, owned=first).to_dict() == expected
        assert pw.assign(of_topics, table, assignor, owned=own).to_dict() == expected
        assert pw.assign(fewer, others, assignor, owned=own).to_dict() == expected
        assert (
            pw.assign(fewer, table, assignor, owned=mixed).to_dict()
            == pw.assign(fewer, of_mixed, assignor).to_dict()
        )


def test_frames_of_others_are_tables_too() -> None:
    polars = pytest.importorskip("polars")
    members = polars.DataFrame({"member": ["c1", "c2"], "topics": [["t"], ["t", "u"]]})
    topics = polars.DataFrame({"topic": ["t", "u"], "partitions": [3, 1]})
    first = pw.assign(topics, members, "sticky")
    assert first.to_dict() == pw.assign({"t": 3, "u": 1}, {"c1": ["t"], "c2": ["t", "u"]}, "sticky").to_dict()
    again = pw.assign(topics, members.slice(1), "sticky", owned=polars.from_arrow(first.to_arrow()))
    assert len(again.to_dict()["c2"]) == 4
    assert pw.assign(topics, members.clear(), "range").to_dict() == {}


ONE = pa.table({"member": ["c"], "topics": [["t"]]})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (({"t": 1}, pa.table({"member": ["c"]})),
         "members has the columns member and topics: 'topics' is there not, but member"),
        (({"t": -1}, ONE), "topics: 't' has -1 partitions, not 0 to 2147483647"),
        ((pa.table({"topic": ["t", "t"], "partitions": [1, 1]}), ONE), "topics has 't' twice: each topic once"),
        ((pa.table({"topic": ["t"]}), ONE),
         "topics has the columns topic and partitions: 'partitions' is there not, but topic"),
        (({"t": 1}, pa.concat_tables([ONE, ONE])), "members has 'c' twice: each id once"),
        (({"t": 1}, ONE.append_column("rack", [[3]])), "member 'c': rack is text, not 3"),
        (({"t": 1}, ONE.append_column("generation", [[-2]])), "member 'c': generation is -1 to 2147483647, not -2"),
        (({"t": 1}, pa.table({"member": ["c"], "topics": ["t"]})), "the column topics is a list of names, not string"),
        (({"t": 1}, pa.table({"member": ["c"], "topics": [[None]]})), "member 'c': a topic is text, not None"),
        (({"t": 1}, ONE, "old-range"),
         "old-range gives partitions to consumer threads: its members and topics cannot be tables"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_a_group_is_refused(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign(*arguments)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("owned", "sentence"),
    [
        ({"member": ["c"], "topic": ["t"]},
         "owned has the columns member, topic and partition: 'partition' is there not, but member, topic"),
        ({"member": ["c"], "topic": ["t"], "partition": [-1]}, "owned: row 0 has -1, which is not a partition"),
        ({"member": ["c", "c"], "topic": ["t", "t"], "partition": [1, None]},
         "owned: row 1 has None, which is not a partition"),
        ({"member": ["c"], "topic": ["t"], "partition": ["1"]}, "owned: row 0 has '1', which is not a partition"),
        ({"member": ["c", None], "topic": ["t", "t"], "partition": [1, 2]}, "owned: row 1 has no member"),
        ({"member": [1], "topic": ["t"], "partition": [1]}, "owned: the column member is text, not int64"),
    ],
)  # fmt: skip
def test_what_is_no_earlier_assignment_is_refused(owned: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign({"t": 1}, ONE, "sticky", owned=pa.table(owned))
    assert str(refused.value) == sentence


def test_what_is_owned_and_racks_are_said_once() -> None:
    first = pw.assign({"t": 1}, ONE)
    owned = ONE.append_column("owned", [[[{"topic": "t", "partition": 0}]]])
    with pytest.raises(pw.PartwrightError, match="'c' says what it owned, and so does owned=: leave one out"):
        pw.assign({"t": 1}, owned, owned=first)
    topics = pa.table({"topic": ["t"], "partitions": [1], "racks": [[["a"]]]})
    with pytest.raises(
        pw.PartwrightError, match=r"^topics has a column racks, and racks= is given too: leave one out$"
    ):
        pw.assign(topics, ONE, racks={"t": [["a"]]})
    for odd, sentence in [
        ({"topic": ["u"], "racks": [[["a"]]]}, "racks has a topic 'u' that topics lacks"),
        ({"topic": ["t"], "racks": [[["a"], ["b"]]]}, "racks of topic 't': 2 lists, but it has 1 partition"),
        ({"topic": ["t"], "racks": [[[1]]]}, "racks of topic 't': [1] is not a list of racks"),
        ({"topic": ["t"], "racks": [[None]]}, "racks of topic 't': None is not a list of racks"),
        ({"topic": ["t", "t"], "racks": [[["a"]], [["a"]]]}, "racks has 't' twice: each topic once"),
    ]:
        with pytest.raises(pw.PartwrightError) as refused:
            pw.assign({"t": 1}, ONE, racks=pa.table(odd))
        assert str(refused.value) == sentence
