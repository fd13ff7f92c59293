"""The verbs as functions: every kind of records gives the answer that the command prints for the same file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from table_files import write_table

import partwright as pw
from partwright.cli.progress import reading

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, str, str]]

DAY_MS = 1_767_225_600_000
KEYS = [None if row % 50 == 7 else "heavy" if row % 9 == 0 else f"user-{row % 400}" for row in range(3000)]
PLACES = [
    row % 12 if place is None else place
    for row, place in enumerate(pw.partition_for_key(KEYS, 12, "librdkafka").to_pylist())
]
TABLE = pa.table(
    {
        "user": KEYS,
        "p": PLACES,
        "at": [row // 12 for row in range(3000)],
        "ts": [DAY_MS + row for row in range(3000)],
        "bytes": [row % 77 for row in range(3000)],
    }
)
NONE = TABLE.slice(0, 0)


def words(options: str) -> list[str]:
    return options.split()


def duckdb_relation(table: pa.Table) -> Any:
    return duckdb.connect().from_arrow(table)


def in_file(suffix: str) -> Callable[[pa.Table], Any]:
    def written(table: pa.Table) -> str:
        write_table(table, f"records{suffix}")
        return f"records{suffix}"

    return written


def in_two_files(table: pa.Table) -> list[Path]:
    write_table(table.slice(0, 1000), "part-0.parquet")
    write_table(table.slice(1000), "part-1.parquet")
    return [Path("part-0.parquet"), Path("part-1.parquet")]


def in_pattern(table: pa.Table) -> str:
    in_two_files(table)
    return "part-*.parquet"


KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "table": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(700),
    "pandas": lambda table: table.to_pandas(),
    "pandas-arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "duckdb": duckdb_relation,
    "columns": lambda table: table.to_pydict(),
    "rows": lambda table: table.to_pylist(),
    "iterator": lambda table: iter([table.slice(0, 11), table.slice(11).to_pandas()]),
    "batches": lambda table: table.to_batches(500),
    "csv": in_file(".csv"),
    "json": in_file(".jsonl"),
    "parquet": in_file(".parquet"),
    "arrow": in_file(".arrow"),
    "files": in_two_files,
    "pattern": in_pattern,
}
ASKED: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "check": (
        lambda records: pw.check(
            records, "user", 12, "librdkafka", partition="p", limits=pw.CheckLimits("20%", 1.0, 3)
        ),
        words("-n 12 --client librdkafka --partition p --max-share 20% --min-used 100% --show 3"),
    ),
    "fingerprint": (
        lambda records: pw.fingerprint(records, "user", partition="p", timestamp="ts", offset="at"),
        ["--partition", "p", "--timestamp", "ts", "--offset", "at"],
    ),
    "resize": (
        lambda records: pw.resize(
            records, "user", 12, 18, "librdkafka", columns=pw.RecordColumns("p", "at", "bytes")
        ),
        words("--from 12 --to 18 --client librdkafka --partition p --offset at --size bytes"),
    ),
}


def plain(answer: Any) -> Any:
    return json.loads(json.dumps(answer.to_dict()))


def printed(out: str) -> Any:
    """The command's answer, without the sentence that sums it up."""
    answer = json.loads(out)
    assert answer.pop("summary")
    return answer


@pytest.fixture(autouse=True)
def _files(own_folder: None) -> None:
    del own_folder
    write_table(TABLE, "all.parquet")


@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_records_gives_the_commands_answer(verb: str, kind: str, told: Command) -> None:
    function, given = ASKED[verb]
    _, out, err = told(verb, "all.parquet", "--key", "user", *given, "--json")
    assert err == ""
    assert plain(function(KINDS[kind](TABLE))) == printed(out)


@pytest.mark.parametrize("kind", KINDS)
def test_two_tables_of_any_kind_give_the_commands_answer(kind: str, told: Command) -> None:
    write_table(pa.table({"id": KEYS[:500]}), "users.csv")
    code, out, _ = told(
        *["copartition", "all.parquet", "users.csv", "--key", "user", "--partition", "p"],
        *["--key-b", "id", "--client-b", "java", "--n-b", 12, "--json"],
    )
    users = pw.JoinSide({"id": KEYS[:500]}, key="id", client="java", n=12)
    found = pw.copartition(KINDS[kind](TABLE), users, "user", partition="p")
    assert (code, found.ok) == (1, False)
    assert plain(found) == printed(out)
    # The other way round, with what differs named for the first.
    turned = pw.copartition(users, KINDS[kind](TABLE), "user", partition="p")
    assert (turned.b.rows, turned.keys_meeting) == (found.a.rows, found.keys_meeting)


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in {"batch", "duckdb", "files", "pattern"}]
)
def test_no_records_are_an_answer_as_in_the_command(kind: str, told: Command) -> None:
    write_table(NONE, "none.parquet")
    for verb, (function, given) in ASKED.items():
        out = told(verb, "none.parquet", "--key", "user", *given, "--json")[1]
        if kind in {"rows", "iterator", "batches", "json"}:
            # Without a record nobody knows which columns there are.
            continue
        assert plain(function(KINDS[kind](NONE))) == printed(out), verb


def test_a_check_without_partitions_compares_no_places() -> None:
    found = pw.check(TABLE, "user", 12)
    assert (found.misplaced, found.rows) == (None, 3000)


def test_the_second_form_is_fed_batch_by_batch() -> None:
    found = pw.audit.Check(12, "librdkafka")
    plan = pw.audit.Resize(12, 18)
    for batch in TABLE.to_batches(700):
        found.add(batch["user"], batch["p"])
        plan.add(batch["user"])
    assert plain(found) == plain(pw.check(TABLE, "user", 12, "librdkafka", partition="p"))
    assert plain(plan) == plain(pw.resize(TABLE, "user", 12, 18))


def test_a_source_says_what_its_name_does_not(own_folder: None) -> None:
    del own_folder
    Path("records.txt").write_text("user;p\na;4\nb;8\n", encoding="utf-8")
    source = pw.RecordSource("records.txt", format="csv", delimiter=";", watch=reading)
    found = pw.check(source, "user", 12, partition="p")
    assert (found.rows, found.misplaced) == (2, 0)
    assert found.question.source == "records.txt"


def test_numbers_are_keys_in_every_kind() -> None:
    table = pa.table({"id": pa.array(range(500), pa.int64())})
    written = table.append_column("p", pw.partition_for_key(table["id"], 7, key_type="java:long"))
    for kind in ("table", "pandas", "polars", "columns", "rows", "csv", "json", "parquet"):
        found = pw.fingerprint(KINDS[kind](written), "id", key_type="java:long", partition="p")
        assert (found.verdict, found.n, found.family[0]) == ("one-writer", 7, "java"), kind


class WithoutAName:
    columns = ("user",)


class SparkFrame:
    """It has Arrow's stream as well, which would run a job and bring every row here."""

    mapInArrow = None  # noqa: N815 - its own name

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise AssertionError


SPARKS = "a Spark DataFrame is read by Spark: call check, fingerprint, resize or check_copartition of partwright.spark"
TOPIC = "kafka://127.0.0.1:9/t"


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: pw.check(TABLE, n=12), "name the key's column with key="),
        (lambda: pw.check("all.parquet", n=12), "name the key's column of 'all.parquet' with key=: there are user, "),
        (lambda: pw.fingerprint("all.parquet"),
         "name the key's column and the partition's column of 'all.parquet' with key= and partition=: there are"),
        (lambda: pw.check("al.parquet", n=12), "there is no file 'al.parquet': check its name; did you mean"),
        (lambda: pw.check(TABLE, "user"), "give the number of partitions with n="),
        (lambda: pw.check(TABLE, "usr", 12), "there is no column 'usr' in 'Table': did you mean 'user'?"),
        (lambda: pw.check(TABLE.to_pandas(), "usr", 12), "did you mean 'user'?"),
        (lambda: pw.check(TABLE.to_pydict(), "usr", 12), "did you mean 'user'?"),
        (lambda: pw.check(TABLE.to_pylist(), "usr", 12), "did you mean 'user'?"),
        (lambda: pw.check("all.parquet", "usr", 12), "did you mean 'user'?"),
        (lambda: pw.check(TABLE, "user", 12, partition="ts_"), "there is no column 'ts_' in 'Table'"),
        (lambda: pw.check(TABLE, "user", 12, partition="user"), "cannot be both the key and the partition"),
        (lambda: pw.check(TABLE, 7), "key= is the name of a column, which comes before n, not 7: there are user, "),
        (lambda: pw.check(TABLE, "user", "12"), "n, the number of partitions, must be a whole number"),
        (lambda: pw.check(TABLE, "user", 12, limits=0.5), "limits is a partwright.CheckLimits(...), not 0.5"),
        (lambda: pw.check(TABLE, "user", 12, kafka_config={}), "kafka_config= is for reaching a Kafka"),
        (lambda: pw.check("all.parquet", "user", 12, kafka_config={}), "'all.parquet' is a file: leave it out"),
        (lambda: pw.check(SparkFrame(), "user", 12), SPARKS),
        (lambda: pw.resize(SparkFrame(), "user", 12, 24), SPARKS),
        (lambda: pw.check(TABLE, ["user"] * 1000, 12), "is the name of a column, not ['user', 'user', "),
        (lambda: pw.resize(TABLE, "user", 12, "24"), "to= must be a whole number from 1 to 2147483647, not '24'"),
        (lambda: pw.resize(TABLE, "user", 0, 24), "from_= must be from 1 to 2147483647, not 0"),
        (lambda: pw.audit.Resize("12", 24), "from_= must be a whole number from 1 to 2147483647, not '12'"),
        (lambda: pw.check({"user": [1]}, "user", 12), "digits (the number as text), with key_type="),
        (lambda: pw.check(None, "user", 12), "this NoneType is not a table of records"),
        (lambda: pw.check(42, "user", 12), "this int is not a table of records"),
        (lambda: pw.check(WithoutAName(), "user", 12), "this WithoutAName is not a table of records"),
        (lambda: pw.check({"user": "a"}, "user", 12), "one dict is one row"),
        (lambda: pw.check({"user": ["a"], "p": [1, 2]}, "user", 12, partition="p"), "'user' has 1 row and 'p' 2"),
        (lambda: pw.check(pl.from_arrow(TABLE).lazy(), "user", 12), "this LazyFrame is not a table of records"),
        (lambda: pw.check("absent.csv", "user", 12), "there is no file 'absent.csv'"),
        (lambda: pw.check("al.parquet", "user", 12), "check its name; did you mean 'all.parquet'?"),
        (lambda: pw.check([], "user", 12), None),
        (lambda: pw.check("kafka:t"), "is not a topic's address: write kafka://host:port/topic"),
        (lambda: pw.check([TOPIC, "all.parquet"]), "a topic is read alone"),
        (lambda: pw.check(TOPIC, "user"), "key= 'user' names a column of a file"),
        (lambda: pw.check(TOPIC, n=0), "n, the number of partitions, must be from 1"),
        (lambda: pw.check(TOPIC, key_type="java:int"), "a topic's keys are bytes already"),
        (lambda: pw.check(TOPIC), "no Kafka answers at 127.0.0.1:9"),
        (lambda: pw.check(pw.RecordSource(TOPIC, format="csv")),
         "RecordSource(format=) and RecordSource(delimiter=) are for files"),
        (lambda: pw.check(pw.RecordSource(TOPIC, part=pw.TopicPart(last=0))), "last is a whole number"),
        (lambda: pw.check(pw.RecordSource(TABLE, format="csv"), "user", 12), "a table is given"),
        (lambda: pw.check(pw.RecordSource(TABLE, part=pw.TopicPart()), "user", 12), "part= is for a topic"),
        (lambda: pw.check(pw.RecordSource("all.parquet", format="xml"), "user", 12),
         "RecordSource(format=) is one of csv,"),
        (lambda: pw.check(pw.RecordSource("all.parquet", delimiter=5), "user", 12),
         "RecordSource(delimiter=) is one character"),
        (lambda: pw.check(TOPIC, kafka_config=5), "a configuration is host:port, a dict of settings or"),
        (lambda: pw.check(TOPIC, kafka_config="127.0.0.1:2"),
         "the address names the Kafka at 127.0.0.1:9, and kafka_config= the one at 127.0.0.1:2: leave one of them"),
        (lambda: pw.check(pw.RecordSource(TOPIC, part="x")), "part is a partwright.TopicPart(...), not 'x'"),
        (lambda: pw.check(TABLE, "user", 12, 5), "client"),
        (lambda: pw.check(TABLE, "user", 12, key_type=5), "a key type is named by text, not 5"),
        (lambda: pw.check(TABLE, "user", 12, partition=5), "partition= is the name of a column, not 5"),
        (lambda: pw.copartition(TABLE, None, "user", 12), "this NoneType is not a table of records"),
        (lambda: pw.fingerprint(TABLE, "user"), "name the partition's column with partition="),
        (lambda: pw.resize(TABLE, "user", 12), "give the new number of partitions with to="),
        (lambda: pw.resize(TABLE, "user", to=12), "give the number of partitions with from_="),
        (lambda: pw.resize(TABLE, "user", 12, 12), "nothing would move"),
        (lambda: pw.resize(TABLE, "user", 12, 24, columns=["p"]), "columns is a partwright.RecordColumns(...)"),
        (lambda: pw.copartition(TABLE, TABLE, "user"), "the table would have with n="),
        (lambda: pw.copartition(TABLE, pw.JoinSide(TABLE, key="usr"), "user", 12), "there is no column 'usr'"),
        (lambda: pw.copartition(TABLE, pw.JoinSide(TABLE, partition="p", client="java"), "user", 12),
         "JoinSide(partition=) says where the records of the table are, and JoinSide(client=)"),
        (lambda: pw.copartition(TOPIC, pw.JoinSide(TOPIC, n=3)), "JoinSide(n=) 3 is for a file"),
        (lambda: pw.copartition(TABLE, TABLE, "user", 12, kafka_config={}), "neither is a topic"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_parameter(ask: Callable[[], Any], sentence: str | None) -> None:
    if sentence is None:
        assert ask().rows == 0
        return
    with pytest.raises(pw.PartwrightError) as refused:
        ask()
    assert sentence in str(refused.value)
    # A command that it names has options, though.
    assert "--" not in re.sub("`.*`", "", str(refused.value))
