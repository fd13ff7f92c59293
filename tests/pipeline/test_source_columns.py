"""A source's columns and types are looked at in its files, before Spark or Kafka starts."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partwright.errors import KeyTypeError, PartwrightError
from partwright.pipeline.settings import RunSettings
from partwright.pipeline.source import find_source
from partwright.pipeline.source_columns import refuse_by_files
from partwright.pipeline.spark_records import inspect_source
from partwright.pipeline.topic_source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TABLE = pa.table(
    {
        "customer": ["a", "b"],
        "number": pa.array([1, 2], pa.int64()),
        "small": pa.array([1, 2], pa.uint16()),
        "price": [1.5, 2.5],
        "tags": [["a"], []],
        "user": [{"id": 1}, {"id": 2}],
        "raw": [b"a", b"b"],
        "word": pa.array(["a", "b"]).dictionary_encode(),
        "fixed": pa.array([b"ab", b"cd"], pa.binary(2)),
        "huge": pa.array([1, 2], pa.uint64()),
    }
)
ALL = "customer, number, small, price, tags, user, raw, word, fixed, huge"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def parquet(path: Path, table: pa.Table = TABLE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def jsonl(path: Path, records: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def looked_at(settings: RunSettings, *, endless: bool = False) -> Source:
    source = find_source(settings, endless=endless)
    inspect_source(source, settings)
    return source


def refusal(source: str, **settings: Any) -> str:
    with pytest.raises(PartwrightError) as refused:
        looked_at(RunSettings(source=source, **settings))
    return str(refused.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"key": "custmer"},
            f"there is no column 'custmer' (--key) in 'o.parquet': did you mean 'customer' or 'user'? It has {ALL}",
        ),
        ({"key": "q"}, f"there is no column 'q' (--key) in 'o.parquet': it has {ALL}"),
        ({}, f"say which column is the key with --key: o.parquet has {ALL}"),
        ({"key": "raw", "value": "raww"}, "there is no column 'raww' (--value) in 'o.parquet': did you mean 'raw'?"),
        ({"key": "raw", "partition": "q"}, "there is no column 'q' (--partition) in 'o.parquet': it has"),
        ({"key": "tags"}, "the key column 'tags' is array<string>, which has no key bytes"),
        (
            {"key": "user"},
            (
                "the key column 'user' is struct<id:bigint>, which has no key bytes: a key is a string, binary, a "
                "number, a boolean, a date or a timestamp; name a column of such a type"
            ),
        ),
        ({"key": "price"}, "the key column 'price' is double: double has no key bytes of its own"),
        ({"key": "number"}, "the key column 'number' is bigint: int64 has no key bytes of its own"),
        ({"key": "small"}, "the key column 'small' is int: int32 has no key bytes of its own"),
        ({"key": "price", "key_type": "java:int"}, "the key column 'price' is double: key type java:int takes"),
        ({"key": "raw", "value": "number"}, "the value column 'number' is bigint, but a record's value is text or"),
        ({"key": "raw", "partition": "price"}, "the column 'price' (--partition) is double: partitions are whole"),
    ],
)  # fmt: skip
def test_what_a_parquet_file_shows_is_refused(
    settings: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    parquet(tmp_path / "o.parquet")
    assert refusal("o.parquet", **settings).startswith(sentence)


@pytest.mark.parametrize(
    "settings",
    [
        {"key": "customer"},
        {"key": "customer", "value": "raw"},
        {"key": "word", "value": "word"},
        {"key": "number", "key_type": "java:long", "partition": "number"},
        {"key": "small", "key_type": "java:int"},
        # Only Spark knows what it makes of these.
        {"key": "fixed", "value": "fixed"},
        {"key": "huge", "key_type": "digits"},
    ],
)
def test_what_spark_takes_is_left_to_it(settings: dict[str, Any], tmp_path: Path) -> None:
    parquet(tmp_path / "o.parquet")
    assert looked_at(RunSettings(source="o.parquet", **settings)).key == settings["key"]


def test_a_csv_has_text_in_each_column(tmp_path: Path) -> None:
    text = "customer,total\nc1, +7 \nc2,8\n"
    (tmp_path / "o.csv").write_text(text, encoding="utf-8")
    (tmp_path / "o.csv.gz").write_bytes(gzip.compress(text.encode()))
    for file in ("o.csv", "o.csv.gz", "file://" + str(tmp_path / "o.csv")):
        assert "did you mean 'customer'? It has customer, total" in refusal(file, key="custmer", format="csv")
        assert f"row 0 of '{file}': 'c1' in column 'customer' is not a whole number of 64 bits" in refusal(
            file, key="customer", key_type="java:int", format="csv"
        )
        # Spark reads a number between blanks, and with a plus.
        looked_at(RunSettings(source=file, key="total", key_type="java:long", format="csv"))
    (tmp_path / "other.csv").write_text("customer;total\nc1;7\n", encoding="utf-8")
    for sep, shown in ((";", ";"), ("\t", "\\t"), ("|", "|")):
        (tmp_path / "other.csv").write_text(f"customer{sep}total\nc1{sep}7\n", encoding="utf-8")
        name = f"customer{sep}total"
        assert refusal("other.csv", key="customer") == (
            f"there is no column 'customer' (--key) in 'other.csv', whose only column is {name!r}: if '{shown}' stands "
            f"between its fields, add --option 'sep={shown}'"
        )
    # With an option of Spark's reader, columns may have other names.
    looked_at(RunSettings(source="o.csv", key="_c0", options={"header": "false"}))


@pytest.mark.parametrize("text", ["a,a\n1,2\n", "a,A\n1,2\n", "a,\n1,2\n", "a,b\n\xff,2\n"])
def test_a_csv_that_spark_reads_in_its_own_way_is_left_to_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_bytes(text.encode("latin-1"))
    looked_at(RunSettings(source="o.csv", key="a0" if "\xff" not in text else "a"))


def test_a_json_column_may_come_in_any_line(tmp_path: Path) -> None:
    many = [{"id": number, "text": "x" * 1000} for number in range(3000)]
    jsonl(tmp_path / "o.jsonl", [*many, {"late": "a", "id": 7}])
    looked_at(RunSettings(source="o.jsonl", key="late"))
    assert refusal("o.jsonl", key="lat") == (
        "there is no column 'lat' (--key) in 'o.jsonl': did you mean 'late'? It has id, text, late"
    )
    assert refusal("o.jsonl", key="id").startswith("the key column 'id' is bigint: int64 has no key bytes")
    # To Spark, numbers and text in one column are text.
    jsonl(tmp_path / "o.jsonl", [*many, {"id": "a"}])
    looked_at(RunSettings(source="o.jsonl", key="id"))
    looked_at(RunSettings(source="o.jsonl", key="id", key_type="java:long"))
    jsonl(tmp_path / "o.jsonl", [{"a": None}, {"a": None, "b": 1}, {"b": 2.5}])
    looked_at(RunSettings(source="o.jsonl", key="a"))
    with pytest.raises(KeyTypeError, match=r"^the key column 'b' is double"):
        looked_at(RunSettings(source="o.jsonl", key="b", key_type="java:long"))


def test_a_folder_has_the_columns_of_its_files_and_names(tmp_path: Path) -> None:
    parquet(tmp_path / "d" / "day=1" / "0.parquet", TABLE.select(["price"]))
    parquet(tmp_path / "d" / "day=2" / "1.parquet", TABLE.select(["customer"]))
    for key in ("customer", "day"):
        looked_at(RunSettings(source="d", key=key))
    assert refusal("d", key="dai") == (
        "there is no column 'dai' (--key) in 'd': did you mean 'day'? It has day, price, customer"
    )
    (tmp_path / "empty").mkdir()
    looked_at(RunSettings(source="empty", key="q", format="csv"), endless=True)


@pytest.mark.parametrize(
    "content", [b"not parquet at all\n", b"x", b"PAR1" + bytes(100), b"PAR1\xff\xff\xff\x7fPAR1"]
)
@pytest.mark.parametrize("endless", [False, True])
def test_what_is_not_parquet_is_refused(content: bytes, endless: bool, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.parquet").write_bytes(content)
    with pytest.raises(PartwrightError, match=r"^'in/bad.parquet' is not a whole Parquet file \(") as refused:
        looked_at(RunSettings(source="in" if endless else "in/bad.parquet", key="id"), endless=endless)
    assert "\n" not in str(refused.value)
    # With an option, Spark may pass over such a file.
    looked_at(RunSettings(source="in", key="id", options={"ignoreCorruptFiles": "true"}))
    looked_at(RunSettings(source="in", key="id", configs={"spark.sql.files.ignoreCorruptFiles": "true"}))


def test_a_parquet_file_that_only_spark_may_read_is_left_to_it(tmp_path: Path) -> None:
    # As an encrypted one, and one with a footer of another kind.
    for content in (b"PARE" + bytes(100) + b"\x10\0\0\0PARE", b"PAR1" + b"x" * 100 + b"\x10\0\0\0PAR1"):
        (tmp_path / "o.parquet").write_bytes(content)
        looked_at(RunSettings(source="o.parquet", key="id"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"id":"a"}\n{"id":"b\n', 2),
        ("hello\n", 1),
        ('{"id":"a"}\n\n{"id":}\n{"id":"b"}\n', 3),
        ("5\n", 1),
        ("null\n", 1),
        ('{id:"a"}\n', 1),
        ('{"id":"a",}\n', 1),
        ('{"id":007}\n', 1),
        # Spark reads the first object of each line, and no more.
        ('{"id":"a"}{"id":"b"}\n', 1),
    ],
)
@pytest.mark.parametrize("endless", [False, True])
def test_a_line_that_is_not_json_is_refused(text: str, line: int, endless: bool, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(
        PartwrightError, match=f"^line {line} of 'in/bad.json' is not a JSON object "
    ) as refused:
        looked_at(RunSettings(source="in" if endless else "in/bad.json", key="id"), endless=endless)
    assert "\n" not in str(refused.value)
    looked_at(RunSettings(source="in/bad.json", key="id", options={"mode": "DROPMALFORMED"}))


@pytest.mark.parametrize(
    "text",
    ["{'id':'a'}\n", '{"id":"a","v":+INF}\n', '{"id":"a"}\r{"id":"b"}\r', '{"id":"a"}\n[{"id":"c"}]\n'],
)
def test_json_that_spark_reads_in_its_own_way_is_left_to_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "o.json").write_bytes(text.encode())
    looked_at(RunSettings(source="o.json", key="id"))


def test_an_address_that_only_spark_can_reach_is_left_to_it(tmp_path: Path) -> None:
    looked_at(RunSettings(source="none://bucket/o.parquet", key="q", format="parquet"))
    parquet(tmp_path / "o.parquet")
    address = f"file://{tmp_path}/o.parquet"
    looked_at(
        RunSettings(source=address, key="q", format="parquet", configs={"spark.hadoop.fs.defaultFS": "x"})
    )
    assert "there is no column 'q'" in refusal(address, key="q", format="parquet")


def test_the_demo_s_own_null_is_none_of_its_numbers() -> None:
    looked_at(RunSettings(key="air_time", key_type="java:int"))
    with pytest.raises(PartwrightError, match="did you mean 'tailnum'"):
        looked_at(RunSettings(key="tailnam"))


@pytest.mark.parametrize("name", ["o.csv", "o.jsonl", "o.parquet"])
def test_an_empty_file_is_refused_as_such(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    assert refusal(name, key="k") == f"{name} has no records: it is empty"
    # To other readers of Spark, an empty file may be a record.
    looked_at(RunSettings(source=name, key="k", format="binaryFile"))


def test_a_folder_without_one_format_is_no_matter_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for name in ("_SUCCESS", "a.csv", "b.json"):
        (tmp_path / "d" / name).touch()
        if name == "a.csv":
            continue
        assert refusal("d", key="k") == (
            "the folder 'd' is empty, or its files have several formats or one that their names do not tell: give "
            "--format csv, json, parquet or another of Spark's, or name one of the files"
        )


def test_a_table_without_columns_has_none(tmp_path: Path) -> None:
    parquet(tmp_path / "o.parquet", pa.table({}))
    assert refusal("o.parquet", key="k") == "there is no column 'k' (--key) in 'o.parquet': it has no columns"


def test_a_topic_has_fixed_columns() -> None:
    source = Source("kafka://h:1/t", "kafka", None, {}, "key", "t")
    columns = RunSettings(source=source.name).columns
    with pytest.raises(
        PartwrightError, match=r"^there is no column 'custmer' \(--key\) in 'kafka://h:1/t': it has"
    ):
        refuse_by_files(None, source, columns._replace(key="custmer"))
    refuse_by_files(None, source, columns._replace(key="key", value="value"))
    with pytest.raises(PartwrightError, match="the value column 'offset' is bigint"):
        refuse_by_files(None, source, columns._replace(key="key", value="offset"))


def test_a_refused_type_needs_no_pandas(tmp_path: Path) -> None:
    """Its import takes longer than all the rest."""
    parquet(tmp_path / "o.parquet")
    lines = [
        "import sys",
        "from partwright.pipeline.settings import RunSettings",
        "from partwright.pipeline.source import find_source",
        "from partwright.pipeline.spark_records import inspect_source",
        "settings = RunSettings(source='o.parquet', key='price')",
        "try: inspect_source(find_source(settings), settings)",
        "except Exception as error: print(error, 'pandas' in sys.modules)",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True, timeout=60
    )
    assert "has no key bytes of its own" in done.stdout
    assert done.stdout.endswith("False\n")
