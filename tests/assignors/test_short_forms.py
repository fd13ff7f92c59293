"""Groups as a person types them: members as IDs, what they own by member, tables in files, numbers as floats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partwright as pw
from partwright.assignors.comparison import compare
from partwright.assignors.mixed.group_leaders import leaders

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = {"t": 3, "u": 2}
WHOLE: list[Any] = [{"id": "c1", "topics": ["t", "u"]}, {"id": "c2", "topics": ["t", "u"]}]


@pytest.mark.parametrize(
    "assignor", ["range", "sticky", "old-range", "old-roundrobin", "server-uniform", "sarama:range"]
)
def test_members_as_ids_subscribe_to_all_topics(assignor: str) -> None:
    found = pw.assign(TOPICS, ["c1", "c2"], assignor)
    assert found.to_dict() == pw.assign(TOPICS, WHOLE, assignor).to_dict()
    assert pw.assign(TOPICS, iter(["c1", WHOLE[1]]), assignor).to_dict() == found.to_dict()


def test_members_as_ids_of_a_table_of_topics_in_a_comparison_and_of_leaders() -> None:
    topics = pa.table({"topic": ["t", "u"], "partitions": [3, 2]})
    assert pw.assign(topics, ["c1", "c2"]).to_dict() == pw.assign(TOPICS, WHOLE).to_dict()
    assert compare(topics, ["c1", "c2"]).to_dict() == compare(TOPICS, WHOLE).to_dict()
    assert [each.assignment for each in leaders(TOPICS, ["c1", "c2"])] == [
        each.assignment for each in leaders(TOPICS, WHOLE)
    ]


@pytest.mark.parametrize("members", [[5], ["c1", "c1"], [None], "c1.txt", 5])
def test_what_are_no_members_is_refused(members: Any) -> None:
    with pytest.raises(pw.PartwrightError):
        pw.assign(TOPICS, members)
    with pytest.raises(pw.PartwrightError):
        pw.assign(5, ["c1"], "old-range")


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
@pytest.mark.parametrize(
    "owned",
    [
        {"c2": {"t": [0, 1], "u": [1]}},
        {"c2": [("t", 0), ("t", 1), ("u", 1)]},
        {"c2": [["t", 0], ["t", 1], ["u", 1]], "gone": {"t": [2]}},
    ],
)
def test_what_members_own_is_given_by_member(owned: Any, assignor: str) -> None:
    members = [WHOLE[0], {**WHOLE[1], "owned": [["t", 0], ["t", 1], ["u", 1]]}]
    wanted = pw.assign(TOPICS, members, assignor).to_dict()
    assert pw.assign(TOPICS, ["c1", "c2"], assignor, owned=owned).to_dict() == wanted
    table = pa.table({"member": ["c1", "c2"], "topics": [["t", "u"]] * 2})
    assert pw.assign(TOPICS, table, assignor, owned=owned).to_dict() == wanted


def test_an_earlier_answer_as_a_dict_is_the_answer() -> None:
    first = pw.assign(TOPICS, ["c1", "c2"], "sticky")
    again = pw.assign(TOPICS, ["c1", "c2", "c3"], "sticky", owned=first)
    assert pw.assign(TOPICS, ["c1", "c2", "c3"], "sticky", owned=first.to_dict()).to_dict() == again.to_dict()


@pytest.mark.parametrize(
    ("owned", "sentence"),
    [
        ({"c1": {"t": 0}}, "member 'c1': owned has a list of partitions by topic, not 0"),
        ({"c1": "t"}, "member 'c1': owned is a list of"),
        ({5: {}}, "owned: a member's id is text, not 5"),
        ({"c1": {"t": ["0"]}}, "member 'c1': owned has '0', which is not a partition"),
        ({"c1": [["t"]]}, "member 'c1': owned is a list of"),
    ],
)
def test_what_nobody_can_own_is_refused(owned: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError, match=sentence):
        pw.assign(TOPICS, ["c1", "c2"], "sticky", owned=owned)


def test_tables_may_be_files(tmp_path: Path) -> None:
    wanted = pw.assign(TOPICS, WHOLE).to_dict()
    csv, parquet, lines = tmp_path / "members.csv", tmp_path / "members.parquet", tmp_path / "topics.jsonl"
    csv.write_text('member,topics,generation\nc1,"t, u",3\nc2,"[""t"", ""u""]",\n')
    pq.write_table(pa.table({"member": ["c1", "c2"], "topics": [["t", "u"]] * 2}), parquet)
    lines.write_text('{"topic": "t", "partitions": 3}\n{"topic": "u", "partitions": 2}\n')
    assert pw.assign(TOPICS, str(csv)).to_dict() == wanted
    assert pw.assign(lines, parquet).to_dict() == wanted
    owned = tmp_path / "owned.csv"
    owned.write_text("member,topic,partition\nc2,t,0\nc2,t,1\n")
    assert (
        pw.assign(TOPICS, csv, "sticky", owned=owned).to_dict()
        == pw.assign(TOPICS, ["c1", "c2"], "sticky", owned={"c2": {"t": [0, 1]}}).to_dict()
    )
    with pytest.raises(pw.PartwrightError, match="there is no file"):
        pw.assign(TOPICS, tmp_path / "none.csv")
    csv.write_text("id,topics\nc1,t\n")
    with pytest.raises(
        pw.PartwrightError, match=r"members has the columns .*: 'member' is there not, but id, topics"
    ):
        pw.assign(TOPICS, csv)


def test_whole_numbers_are_taken_as_floats() -> None:
    topics = pd.DataFrame({"topic": ["t", "u"], "partitions": [3.0, 2.0]})
    assert pw.assign(pa.table(topics), WHOLE).to_dict() == pw.assign(TOPICS, WHOLE).to_dict()
    owned = pa.table({"member": ["c2"], "topic": ["t"], "partition": [1.0]})
    assert (
        pw.assign(TOPICS, WHOLE, "sticky", owned=owned).to_dict()
        == pw.assign(TOPICS, WHOLE, "sticky", owned={"c2": {"t": [1]}}).to_dict()
    )
    counts = topics.astype({"partitions": int}).set_index("topic")["partitions"].to_dict()
    assert pw.assign({name: pd.Series([count])[0] for name, count in counts.items()}, WHOLE).to_dict()
    with pytest.raises(pw.PartwrightError, match=r"has 2\.5 partitions"):
        pw.assign(pa.table({"topic": ["t"], "partitions": [2.5]}), ["c1"])


@pytest.mark.parametrize("field", ["topics", "members", "racks"])
def test_a_group_in_json_opens_no_file(field: str, tmp_path: Path, process: Any) -> None:
    group = {"assignor": "range", "topics": {"t": 1}, "members": ["c1"], field: str(tmp_path / "secret.csv")}
    found = process("assign", "-", stdin=json.dumps(group).encode())
    assert found.returncode == 2
    assert f"{field} is JSON within the group, not " in found.stderr.decode()
