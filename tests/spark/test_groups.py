"""Each of ten thousand groups on Spark gets the answer of `assign`; a table that does not hold groups is refused."""

from __future__ import annotations

import random
import re
import threading
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.assignors.names import CLIENT_ASSIGNORS
from partwright.spark.engines.arrow import to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    Table = Callable[[pa.Table], DataFrame]

TOPICS = {f"t{number}": number % 13 for number in range(60)}


def groups(count: int) -> list[dict[str, Any]]:
    """The members of this many groups, in the order in which they joined."""
    draw = random.Random(20)
    rows = []
    for number in range(count):
        subscribed = draw.sample(list(TOPICS), draw.randint(1, 4))
        for _ in range(draw.randint(1, 6)):
            owned = [{"topic": topic, "partition": at} for topic in subscribed for at in range(TOPICS[topic])]
            rows.append(
                {
                    "group": f"group-{number}",
                    "member": f"c-{draw.randrange(10**9)}",
                    "topics": subscribed if draw.random() < 0.8 else subscribed[:1],
                    "owned": draw.sample(owned, len(owned) // 3) if draw.random() < 0.5 else None,
                    "generation": number % 3 or None,
                    "instance_id": f"i-{draw.random()}" if draw.random() < 0.1 else None,
                    "joined": len(rows),
                }
            )
    return rows


def by_group(table: pa.Table) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for group, *row in zip(*table.to_pydict().values(), strict=True):
        found.setdefault(group, []).append(tuple(row))
    return found


def test_ten_thousand_groups_are_what_assign_says_of_each(table: Table) -> None:
    rows = groups(10_000)
    of_group: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        fields = ("topics", "generation", "instance_id")
        member = {"id": row["member"], **{name: row[name] for name in fields}}
        if row["owned"] is not None:
            member["owned"] = [(pair["topic"], pair["partition"]) for pair in row["owned"]]
        of_group.setdefault(row["group"], []).append(member)
    members = table(pa.Table.from_pylist(rows)).orderBy(sf.rand(3))
    for assignor in CLIENT_ASSIGNORS:
        found = pws.assign(members, TOPICS, assignor, order_by="joined")
        assert found.dtypes == [
            ("group", "string"),
            ("member", "string"),
            ("topic", "string"),
            ("partition", "int"),
            ("position", "int"),
        ]
        given = by_group(to_arrow(found))
        for group, those in of_group.items():
            lists = pw.assign(TOPICS, those, assignor).to_dict()
            expected = [(name, *pair, at) for name, pairs in lists.items() for at, pair in enumerate(pairs)]
            assert given.get(group, []) == expected, (assignor, group)


def test_the_order_of_members_is_that_of_order_by(table: Table) -> None:
    """Three IDs with one hash: their order decides who keeps one more partition."""
    owned = [[{"topic": "t", "partition": at} for at in those] for those in ((0, 1), (2, 3), ())]
    rows = {
        "group": [1, 1, 1],
        "member": ["Aa", "BB", "C#"],
        "topics": [["t", "u"]] * 3,
        "owned": [*owned[:2], None],
        "generation": [1, 1, 1],
        "a": [1, 1, 1],
        "b": [3.0, 2.0, 1.0],
    }
    members = table(pa.table(rows))
    forth = {("Aa", 0), ("Aa", 1), ("BB", 2), ("C#", 3)}
    back = {("C#", 1), ("BB", 2), ("BB", 3), ("Aa", 0)}
    for order_by, expected in [
        ("member", forth),
        (["a", "b"], back),
        (-sf.col("b"), forth),
        ([sf.col("b")], back),
    ]:
        found = pws.assign(members, {"t": 4, "u": 0}, "sticky", order_by=order_by)
        assert {(row.member, row.partition) for row in found.collect()} == expected


def test_topics_may_be_a_table_with_racks_and_each_groups_own(table: Table) -> None:
    members = table(
        pa.table(
            {
                "group": [1, 1, 2],
                "member": ["c1", "c2", "c1"],
                "topics": [["t"]] * 3,
                "rack": ["a", "b", None],
            }
        )
    )
    racks = pa.array([[["b"], ["a"]], None], pa.list_(pa.list_(pa.string())))
    shared = table(pa.table({"topic": ["t", "u"], "partitions": [2, 5], "racks": racks}))
    found = by_group(to_arrow(pws.assign(members, shared, order_by="member")))
    assert found == {1: [("c1", "t", 1, 0), ("c2", "t", 0, 0)], 2: [("c1", "t", 0, 0), ("c1", "t", 1, 1)]}
    own = table(pa.table({"group": [1, 3], "topic": ["t", "t"], "partitions": [1, 1]}))
    assert by_group(to_arrow(pws.assign(members, own, order_by="member"))) == {1: [("c1", "t", 0, 0)]}


def test_columns_are_found_in_any_case_and_pairs_may_hold_more(table: Table) -> None:
    rows = {"Group": [1, 1], "Member": ["c1", "c2"], "Topics": [["t"]] * 2, "Generation": [1, 1]}
    owned = [[{"topic": "t", "partition": 1}], [{"topic": "t", "partition": 0}]]
    members = table(pa.table({**rows, "pairs": owned}))
    members = members.selectExpr(
        *rows,
        "transform(pairs, x -> named_struct('topic', x.topic, 'partition', x.partition, 'more', map(1, 2))) AS Owned",
    )
    topics = table(pa.table({"GROUP": [1], "Topic": ["t"], "Partitions": [2], "Racks": [[["a"], ["a"]]]}))
    for own in (topics, topics.drop("GROUP")):
        found = pws.assign(members, own, "sticky", order_by="member")
        assert {(row.member, row.partition) for row in found.collect()} == {("c1", 1), ("c2", 0)}


def test_a_group_may_be_bytes(table: Table) -> None:
    rows = {"group": [b"\xff", b"g"], "member": ["c", "c"], "topics": [["t"]] * 2}
    found = by_group(to_arrow(pws.assign(table(pa.table(rows)), {"t": 1}, order_by="member")))
    assert found == {b"\xff": [("c", "t", 0, 0)], b"g": [("c", "t", 0, 0)]}
    sentence = failed(table, {"group": [b"\xff", b"\xff"], "member": ["c", "c"]})
    assert (sentence or "").startswith("group 'FF': two members")


def test_python_is_asked_once(table: Table, plan: Callable[[DataFrame], str]) -> None:
    members = table(pa.table({"group": ["g"], "member": ["c"], "topics": [["t"]]}))
    found = pws.assign(members, {"t": 3}, order_by="member").where("partition > 0")
    assert len(re.findall("ArrowEvalPython|MapInArrow", plan(found))) == 1
    assert found.count() == 2
    assert pws.assign(members.limit(0), {"t": 3}, order_by="member").count() == 0


def failed(table: Table, rows: dict[str, Any], assignor: str = "range") -> str | None:
    members = table(pa.table({"group": ["g", "g"], "member": ["c", "d"], "topics": [["t"]] * 2, **rows}))
    with pytest.raises(PythonException) as error:
        pws.assign(members, {"t": 1}, assignor, order_by="member").collect()
    return pws.first_sentence(error.value)


def test_what_a_job_finds_is_one_sentence_with_the_group(table: Table) -> None:
    assert failed(table, {"member": ["c", "c"]}) == (
        "group 'g': two members are equal in order_by, and ties between members depend on their order: name columns "
        "that are unique in a group"
    )
    nobody = pa.array([None, "g"])
    assert failed(table, {"group": nobody}) == "members: a row has no group: its group is null"
    owned = [[{"topic": "t", "partition": at} for at in (1, 2, 3)], None]
    assert (failed(table, {"owned": owned}, "sticky") or "").startswith("group 'g': sticky has no assignment")
    assert failed(table, {"generation": [-7, 0]}) == (
        "group 'g': member 'c': generation is -1 to 2147483647, not -7"
    )


@pytest.mark.parametrize(
    ("rows", "topics", "order_by", "assignor", "sentence"),
    [
        ({}, {"t": -1}, "member", "range", "topics: 't' has -1 partitions, not 0 to 2147483647"),
        ({}, {"t": 1}, "joined", "range", "there is no column 'joined' for order_by; the columns are group, member"),
        ({}, {"t": 1}, [], "range", "order_by is empty: name the columns by which a group's members are ordered"),
        ({}, {"t": 1}, None, "range", "order_by must be a column's name or a Column, not None"),
        ({}, {"t": 1}, "member", "stiky", 'there is no assignor "stiky"; known: '),
        ({}, 5, "member", "range", "topics is a DataFrame of Spark, not int: partwright.assign_groups takes other"),
        ({"topics": ["t"]}, {"t": 1}, "member", "range", "the column topics must be array<string>, not string"),
        ({"rack": [1]}, {"t": 1}, "member", "range", "the column rack must be string, not bigint"),
        ({"owned": [["t"]]}, {}, "member", "range", "the column owned must be array<struct<topic: string, partition: "),
    ],
)  # fmt: skip
def test_what_can_be_refused_before_any_job_is(
    table: Table, rows: dict[str, Any], topics: Any, order_by: Any, assignor: str, sentence: str
) -> None:
    members = table(pa.table({"group": ["g"], "member": ["c"], "topics": [["t"]], **rows}))
    with pytest.raises(pw.PartwrightError) as refused:
        pws.assign(members, topics, assignor, order_by=order_by)
    assert str(refused.value).startswith(sentence)


def test_ones_own_assignor_is_sent_to_the_workers(table: Table) -> None:
    # The workers do not know a test's module.
    class Last:
        """Everything goes to the last member that subscribes to it."""

        name = "last"

        def assign(self, cluster: Any, group_subscription: Any) -> dict[str, list[tuple[str, int]]]:
            last = {topic: name for name, said in group_subscription.items() for topic in said.topics}
            given: dict[str, list[tuple[str, int]]] = {name: [] for name in group_subscription}
            for topic, name in last.items():
                given[name] += [pair[:2] for pair in cluster.partitions_for_topic(topic)]
            return given

    members = table(pa.table({"group": ["g", "g"], "member": ["c", "d"], "topics": [["t", "u"], ["t"]]}))
    for assignor in (Last, Last()):
        found = pws.assign(members, {"t": 2, "u": 1}, assignor, order_by="member")
        expected = {"g": [("c", "u", 0, 0), ("d", "t", 0, 0), ("d", "t", 1, 1)]}
        assert by_group(to_arrow(found)) == expected
    with pytest.raises(pw.PartwrightError, match=r"the assignor 'nowhere\.Mine' cannot be imported"):
        pws.assign(members, {"t": 2}, "nowhere.Mine", order_by="member")
    unsent = Last()
    unsent.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(pw.PartwrightError, match=r"^the assignor cannot be sent to the workers: .*lock"):
        pws.assign(members, {"t": 2}, unsent, order_by="member")


def test_topics_of_another_type_are_refused_before_any_job(table: Table) -> None:
    members = table(pa.table({"group": ["g"], "member": ["c"], "topics": [["t"]]}))
    for more, sentence in [
        ({"group": [1]}, "the column group is bigint in topics and string in members: give both one type"),
        ({"racks": [["a"]]}, "the column racks must be array<array<string>>, not array<string>"),
    ]:
        topics = table(pa.table({"topic": ["t"], "partitions": [1], **more}))
        with pytest.raises(pw.PartwrightError) as refused:
            pws.assign(members, topics, order_by="member")
        assert str(refused.value) == sentence
    with pytest.raises(pw.PartwrightError, match=r"^members is a DataFrame of Spark, not list"):
        pws.assign([], {"t": 1}, order_by="member")  # type: ignore[arg-type]
