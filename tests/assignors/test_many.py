"""Each of many groups at once gets the answer of `assign`; input that is not a table of groups is refused."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.assignors.names import assignors
from partwright.assignors.threads import THREADED


def random_groups(seed: int, count: int) -> tuple[dict[str, int], dict[str, list[dict[str, Any]]]]:
    """Topics that groups share, and each group's members."""
    draw = random.Random(seed)
    topics = {f"t{number}": draw.randint(0, 9) for number in draw.sample(range(40), 40)}
    groups = {}
    for number in range(count):
        subscribed = draw.sample([*topics, "absent"], draw.randint(1, 5))
        members = []
        for place in range(draw.randint(1, 7)):
            name = f"c{place}-{draw.randrange(1000)}é"
            own = (
                subscribed
                if draw.random() < 0.7
                else draw.sample(subscribed, draw.randint(1, len(subscribed)))
            )
            member: dict[str, Any] = {"id": name, "topics": own}
            if draw.random() < 0.5:
                pairs = [
                    (topic, at) for topic in own for at in range(topics.get(topic, 0)) if draw.random() < 0.4
                ]
                member |= {"owned": pairs, "generation": draw.randint(0, 2)}
            if draw.random() < 0.2:
                member["instance_id"] = f"i{draw.random()}"
            members.append(member)
        groups[f"g{number}"] = members
    return topics, groups


def table_of(groups: dict[str, list[dict[str, Any]]]) -> pa.Table:
    rows = [
        {
            "group": group,
            "member": member["id"],
            **{name: member.get(name) for name in ("topics", "generation", "instance_id")},
            "owned": [{"topic": topic, "partition": at} for topic, at in member["owned"]]
            if "owned" in member
            else None,
            "more": 1,
        }
        for group, members in groups.items()
        for member in members
    ]
    return pa.Table.from_pylist(rows)


def rows_of(lists: dict[str, list[tuple[str, int]]]) -> list[tuple[str, str, int, int]]:
    return [(name, *pair, at) for name, pairs in lists.items() for at, pair in enumerate(pairs)]


@pytest.mark.parametrize("assignor", [name for name in assignors() if name not in THREADED])
def test_each_group_is_what_assign_says_of_it(assignor: str) -> None:
    topics, groups = random_groups(1, 300)
    said, thrown = {}, {}
    for group, members in groups.items():
        try:
            said[group] = rows_of(pw.assign(topics, members, assignor).to_dict())
        except pw.PartwrightError as error:
            thrown[group] = str(error)
    # server-uniform throws if members own a partition twice.
    assert (assignor == "server-uniform") == bool(thrown)
    for group, sentence in thrown.items():
        with pytest.raises(pw.PartwrightError) as refused:
            pw.assign_groups(table_of({group: groups.pop(group)}), topics, assignor)
        assert str(refused.value) == f"group {group!r}: {sentence}"
    found = pw.assign_groups(table_of(groups), topics, assignor)
    assert found.column_names == ["group", "member", "topic", "partition", "position"]
    given: dict[str, list[tuple[Any, ...]]] = {group: [] for group in groups}
    for group, *row in zip(*found.to_pydict().values(), strict=True):
        given[group].append(tuple(row))
    assert given == said


def test_a_groups_rows_need_not_lie_together_and_keep_their_order() -> None:
    members = [("b", "z"), ("a", "y"), ("b", "x"), ("a", "Aa"), ("b", "Aa"), ("a", "BB")]
    table = pa.table(
        {
            "group": pa.chunked_array([["b", "a"], ["b", "a", "b", "a"]]),
            "member": [name for _, name in members],
            "topics": [["t"]] * 6,
        }
    )
    found = pw.assign_groups(table, {"t": 4}, "sticky")
    for group in "ba":
        ids = {name: ["t"] for each, name in members if each == group}
        rows = [tuple(row.values())[1:] for row in found.to_pylist() if row["group"] == group]
        assert rows == rows_of(pw.assign({"t": 4}, ids, "sticky").to_dict())
    assert pa.compute.unique(found["group"]).to_pylist() == ["b", "a"]


def test_topics_may_be_a_table_with_racks_and_each_groups_own() -> None:
    members = pa.table(
        {"group": [1, 1, 2], "member": ["c1", "c2", "c1"], "topics": [["t"]] * 3, "rack": ["a", "b", None]}
    )
    racks = [[["b"], ["a"]], None]
    shared = pa.table({"topic": ["t", "u"], "partitions": [2, 5], "racks": racks})
    found = pw.assign_groups(members, shared, "range").to_pylist()
    assert [(row["group"], row["member"], row["partition"]) for row in found] == [
        (1, "c1", 1),
        (1, "c2", 0),
        (2, "c1", 0),
        (2, "c1", 1),
    ]
    own = pa.table({"group": [2, 1, 2], "topic": ["u", "t", "t"], "partitions": [9, 1, 1]})
    found = pw.assign_groups(members.slice(0, 2), own, "range").to_pylist()
    assert [(row["member"], row["partition"]) for row in found] == [("c1", 0)]
    assert pw.assign_groups(members.slice(2), own.filter(pa.compute.equal(own["group"], 1))).num_rows == 0


@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky", "server-uniform"])
def test_groups_of_their_own_topics_and_racks_are_what_assign_says(assignor: str, seed: int) -> None:
    """For any seed: a topic's racks are known or not, members have some or none, and rows are in any order."""
    draw = random.Random(seed)
    members: list[dict[str, Any]] = []
    topics: list[dict[str, Any]] = []
    said = {}
    for number in range(150):
        counts = {f"t{draw.randrange(30)}": draw.randint(0, 6) for _ in range(draw.randint(0, 5))}
        racks = {
            name: [
                [draw.choice([None, "a", "b", "c"]) for _ in range(draw.randint(0, 3))] for _ in range(count)
            ]
            for name, count in counts.items()
            if draw.random() < 0.6
        }
        group = []
        for place in range(draw.randint(1, 6)):
            member: dict[str, Any] = {
                "id": f"c{place}",
                "topics": draw.sample([*counts, "absent"], draw.randint(0, len(counts))),
            }
            if draw.random() < 0.6:
                member["rack"] = draw.choice(["", "a", "b", "d"])
            group.append(member)
        said[number] = rows_of(pw.assign(counts, group, assignor, racks=racks).to_dict())
        members += [
            {"group": number, "member": each.pop("id"), "rack": each.get("rack"), **each} for each in group
        ]
        topics += [
            {"group": number, "topic": name, "partitions": count, "racks": racks.get(name), "at": at}
            for at, (name, count) in enumerate(counts.items())
        ]
    # A group's rows need not be next to each other, but a topic's place among them is part of the answer.
    topics.sort(key=lambda row: row["at"])
    kind = pa.schema(
        [
            ("group", pa.int32()),
            ("topic", pa.string()),
            ("partitions", pa.int64()),
            ("racks", pa.list_(pa.list_(pa.string()))),
        ]
    )
    found = pw.assign_groups(pa.Table.from_pylist(members), pa.Table.from_pylist(topics, kind), assignor)
    given: dict[int, list[tuple[Any, ...]]] = {number: [] for number in said}
    for number, *row in zip(*found.to_pydict().values(), strict=True):
        given[number].append(tuple(row))
    assert given == said


def test_of_several_wrong_groups_the_first_is_told() -> None:
    members = pa.table(
        {
            "group": ["a", "b", "c", "c"],
            "member": ["c1", "c1", "c1", "c1"],
            "topics": [["t"], ["t"], ["t"], ["t"]],
            "owned": [None, [{"topic": "t", "partition": at} for at in (1, 2, 3)], None, None],
            "generation": [1, 1, 2**31, 1],
        }
    )
    for first, sentence in [
        (0, "group 'b': sticky has no assignment"),
        (2, "group 'c': member 'c1': generation is"),
    ]:
        with pytest.raises(pw.PartwrightError, match=f"^{sentence}"):
            pw.assign_groups(members.slice(first), {"t": 1}, "sticky")
    own = pa.table(
        {"group": ["b", "a", "a"], "topic": ["t", "t", "t"], "partitions": [None, 1, 1]},
    )
    with pytest.raises(pw.PartwrightError, match=r"^group 'a': topics has 't' twice: each topic once$"):
        pw.assign_groups(members, own)


def test_slices_and_lists_below_nulls_do_not_matter() -> None:
    topics, groups = random_groups(3, 60)
    table = table_of(groups)
    expected = pw.assign_groups(table, topics, "sticky")
    longer = pa.concat_tables([table, table]).combine_chunks()
    assert pw.assign_groups(longer.slice(len(table)), topics, "sticky") == expected
    names = pa.dictionary(pa.int16(), pa.string())
    place = table.column_names.index("topics")
    coded = table.set_column(place, "topics", table["topics"].cast(pa.list_(names)))
    assert pw.assign_groups(coded, topics, "sticky") == expected
    # A null list over pairs that nobody owns.
    lists = pa.array([[{"topic": "t", "partition": 0}], [{"topic": "t", "partition": 1}]])
    below = pa.Array.from_buffers(
        lists.type, 2, [pa.py_buffer(b"\x02"), lists.buffers()[1]], children=[lists.values]
    )
    found = pw.assign_groups(
        {"group": ["g", "g"], "member": ["c1", "c2"], "topics": [["t"], ["t"]], "owned": below},
        {"t": 2},
        "sticky",
    )
    assert list(zip(found["member"].to_pylist(), found["partition"].to_pylist(), strict=True)) == [
        ("c1", 0),
        ("c2", 1),
    ]


def test_other_frames_and_no_rows_at_all() -> None:
    polars = pytest.importorskip("polars")
    members = polars.DataFrame({"group": ["g"], "member": ["c"], "topics": [["t"]]})
    topics = polars.DataFrame({"topic": ["t"], "partitions": [1]})
    expected = [{"group": "g", "member": "c", "topic": "t", "partition": 0, "position": 0}]
    assert pw.assign_groups(members, topics).to_pylist() == expected
    assert pw.assign_groups(members.clear(), topics).num_rows == 0
    assert pw.assign_groups(members, topics.clear()).num_rows == 0
    dictionary = {"group": ["g"], "member": ["c"], "topics": [["t"]], "owned": [None], "generation": [None]}
    assert pw.assign_groups(dictionary, {"t": 1}).to_pylist() == expected


def test_encodings_of_columns_do_not_matter() -> None:
    """polars' categories and views, and Arrow's runs; a column that is not used may have any type."""
    polars = pytest.importorskip("polars")
    plain = polars.DataFrame(
        {"group": ["b", "a", "b"], "member": ["x", "x", "y"], "topics": [["t"], ["t"], ["t"]]}
    )
    topics = polars.DataFrame({"group": ["a", "b"], "topic": ["t", "t"], "partitions": [1, 3]})
    expected = pw.assign_groups(plain, topics)
    assert expected.num_rows == 4
    names = polars.Categorical
    odd = plain.cast({"group": names, "member": names, "topics": polars.List(names)})
    assert pw.assign_groups(odd, topics.cast({"group": names, "topic": names})) == expected
    fixed = plain.cast({"topics": polars.Array(polars.String, 1)})
    assert pw.assign_groups(fixed, topics) == expected
    table = plain.to_arrow()
    runs = pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array(["b", "a", "b"]))
    more = pa.table([runs, table["member"], table["topics"], runs, runs], [*table.column_names, "z", "z"])
    assert pw.assign_groups(more, topics) == expected
    found = pw.assign_groups(plain.cast({"group": polars.Binary}), {"t": 1})
    assert found["group"].to_pylist() == [b"b", b"a"]


def test_a_groups_own_topics_are_found_as_arrow_compares() -> None:
    """Python's NaN equals nothing, and its times are coarser than Arrow's."""
    for kind, values in [
        (pa.float64(), [float("nan"), 1.0]),
        (pa.time64("ns"), [1, 2]),
        (pa.int8(), [-1, 1]),
    ]:
        members = {"group": pa.array(values, kind), "member": ["c", "c"], "topics": [["t"], ["t"]]}
        own = pa.array(values, pa.int64() if kind == pa.int8() else kind)
        found = pw.assign_groups(members, pa.table({"group": own, "topic": ["t", "t"], "partitions": [1, 2]}))
        assert found["partition"].to_pylist() == [0, 0, 1]


ONE = {"group": ["g"], "member": ["c"], "topics": [["t"]]}


@pytest.mark.parametrize(
    ("members", "topics", "sentence"),
    [
        (5, {}, "members is a table of group, member and topics, not int"),
        ({"group": ["g"], "member": ["c"]}, {},
         "members has the columns group, member and topics: 'topics' is there not, but group, member"),
        ({**ONE, "group": [None]}, {}, "members: row 0 has no group: its group is null"),
        ({**ONE, "topics": ["t"]}, {}, "the column topics is a list of names, not string"),
        ({**ONE, "member": ["c", "d"]}, {},
         "members cannot be read as a table: Column 1 named member expected length 1 but got length 2"),
        (pa.table([["g"], ["c"], [["t"]], ["a"], ["b"]], [*ONE, "rack", "rack"]), {},
         "members has the column 'rack' twice: each column once"),
        ({**ONE, "group": [{"a": 1}]}, {},
         "the column group is struct<a: int64>, by which Arrow does not group: text, numbers and dates do"),
        (ONE, pa.table({"group": [7], "topic": ["t"], "partitions": [1]}),
         "the column group is int64 in topics and string in members: give both one type"),
        ({**ONE, "owned": [[1]]}, {},
         "the column owned is a list of structs of topic and partition, not list<item: int64>"),
        ({**ONE, "topics": [None]}, {}, "group 'g': member 'c': topics is a list of names, not None"),
        ({**ONE, "topics": [[None]]}, {}, "group 'g': member 'c': a topic is text, not None"),
        ({**ONE, "member": [None]}, {}, "group 'g': a member's id is text, not None"),
        ({**ONE, "rack": [3]}, {}, "group 'g': member 'c': rack is text, not 3"),
        ({**ONE, "owned": [[{"topic": "t", "partition": None}]]}, {"t": 1},
         "group 'g': member 'c': owned has None, which is not a partition"),
        ({**ONE, "owned": [[None]]}, {}, "group 'g': member 'c': owned is a list of [topic, partition], not of None"),
        ({name: values * 2 for name, values in ONE.items()}, {"t": 1},
         "group 'g': members has 'c' twice: each id once"),
        (ONE, {"t": -1}, "topics: 't' has -1 partitions, not 0 to 2147483647"),
        (ONE, 5, "topics is a table of topic and partitions, not int"),
        (ONE, pa.table({"topic": ["t", "t"], "partitions": [1, 1]}), "topics has 't' twice: each topic once"),
        (ONE, pa.table({"group": ["g"], "topic": ["t"], "partitions": [None]}),
         "group 'g': topics: 't' has None partitions, not 0 to 2147483647"),
        (ONE, pa.table({"group": [None], "topic": ["t"], "partitions": [1]}),
         "topics: row 0 has no group: its group is null"),
        (ONE, pa.table({"topic": ["t"], "partitions": [2], "racks": [[["a"]]]}),
         "racks of topic 't': 1 lists, but it has 2 partitions"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_groups_is_refused(members: Any, topics: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign_groups(members, topics)
    assert str(refused.value) == sentence


def test_a_group_whose_assignor_throws_is_named() -> None:
    table = {"group": ["fine", "wrong"], "member": ["c", "c"], "topics": [["t"], ["t"]]}
    owned = [None, [{"topic": "t", "partition": at} for at in (1, 2, 3)]]
    with pytest.raises(pw.PartwrightError, match=r"^group 'wrong': sticky has no assignment .*IllegalState"):
        pw.assign_groups({**table, "owned": owned}, {"t": 1}, "sticky")
    with pytest.raises(pw.PartwrightError, match=r'there is no assignor "stiky"'):
        pw.assign_groups(table, {"t": 1}, "stiky")


@pytest.mark.parametrize("assignor", THREADED)
def test_threads_are_no_members(assignor: str) -> None:
    members = pa.table({"group": ["a"], "member": ["c1"], "topics": [["t"]]})
    with pytest.raises(pw.PartwrightError, match=f"^{assignor} gives partitions to consumer threads"):
        pw.assign_groups(members, {"t": 1}, assignor)
