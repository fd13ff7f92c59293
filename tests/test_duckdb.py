"""`partwright.duckdb`: SQL functions and relations agree with the functions, whatever type a key has."""

from __future__ import annotations

import subprocess
import sys
import uuid
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import partwright as pw
import partwright.duckdb

# More than DuckDB's 2,048 rows per vector.
KEYS = ["TT0124", "", None, "N14228", "ключ", "polygenelubricants"] * 1000
TABLE = pa.table({"k": KEYS, "i": pa.array(range(len(KEYS)), pa.int32()), "n": [7, 12, 50] * 2000})
CLIENTS = [client for client in pw.clients()["client"].to_pylist() if client != "java:string-hash"]


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    partwright.duckdb.register(con)
    con.register("keys", TABLE)
    return con


def column(con: duckdb.DuckDBPyConnection, expression: str) -> list[Any]:
    return [row[0] for row in con.sql(f"SELECT {expression} FROM keys").fetchall()]  # noqa: S608


@pytest.mark.parametrize("client", CLIENTS)
def test_a_column_has_the_partitions_of_the_function(con: duckdb.DuckDBPyConnection, client: str) -> None:
    assert (
        column(con, f"kafka_partition(k, 7, '{client}')") == pw.partition_for_key(KEYS, 7, client).to_pylist()
    )


def test_settings_may_differ_by_row(con: duckdb.DuckDBPyConnection) -> None:
    found = column(con, "kafka_partition(k, n, CASE WHEN i % 2 = 0 THEN 'java' ELSE 'librdkafka' END)")
    assert found == [
        pw.partition_for_key(key, n, "java" if row % 2 == 0 else "librdkafka")
        for row, (key, n) in enumerate(zip(KEYS, TABLE["n"].to_pylist(), strict=True))
    ]


def test_each_type_of_keys_is_taken_as_it_is(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TYPE letter AS ENUM ('a', 'b')")
    one = uuid.UUID("0188c0f2-7a93-7000-8000-00000000abcd")
    for sql, key, key_type in [
        (r"'\xFF\x00'::BLOB", b"\xff\x00", None),
        ("'b'::letter", "b", None),
        (f"'{one}'::UUID", str(one), None),
        (f"'{one}'::UUID", one, "java:uuid"),
        ("42::BIGINT", 42, "java:long"),
        ("42", 42, "java:int"),
        ("42::USMALLINT", 42, "java:short"),
        ("1.5::FLOAT", 1.5, "java:float"),
        ("true", True, "java:boolean"),
    ]:
        named = "" if key_type is None else f", 'java', '{key_type}'"
        assert con.sql(f"SELECT kafka_partition({sql}, 1000{named})").fetchall() == [
            (pw.partition_for_key(key, 1000, key_type=key_type),)
        ], sql


def test_a_hugeint_is_taken_as_digits_alone(con: duckdb.DuckDBPyConnection) -> None:
    assert column(con, "kafka_partition(i::HUGEINT, 12, 'java', 'digits')") == column(
        con, "kafka_partition(i::VARCHAR, 12)"
    )
    with pytest.raises(duckdb.InvalidInputException, match="java:long takes whole numbers, not decimal128"):
        column(con, "kafka_partition(i::HUGEINT, 12, 'java', 'java:long')")


def test_the_hash_is_javas(con: duckdb.DuckDBPyConnection) -> None:
    assert column(con, "kafka_murmur2(k)") == pw.murmur2(KEYS).to_pylist()
    assert (
        column(con, "kafka_murmur2(i, 'java:int')") == pw.murmur2(TABLE["i"], key_type="java:int").to_pylist()
    )
    # SQL's own NULL has a type of its own.
    assert con.sql("SELECT kafka_murmur2(NULL), kafka_partition(NULL, 3)").fetchall() == [(None, None)]


def test_an_empty_table_a_filter_and_an_aggregate(con: duckdb.DuckDBPyConnection) -> None:
    assert con.sql("SELECT kafka_partition(k, 3) FROM keys WHERE i < 0").fetchall() == []
    expected = pw.partition_for_key(KEYS, 3).to_pylist().count(2)
    assert con.sql("SELECT count(*) FROM keys WHERE kafka_partition(k, 3) = 2").fetchall() == [(expected,)]
    assert con.sql("SELECT count(*) FILTER (kafka_partition(k, 3) = 2) FROM keys").fetchall() == [(expected,)]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "kafka_partition(42, 12)",
            "KeyTypeError: kafka_partition: int32 has no key bytes of its own: name the key type",
        ),
        (
            "kafka_partition('a', 0)",
            "PartwrightError: kafka_partition: n, the number of partitions, must be from 1 to 2147483647, not 0",
        ),
        (
            "partition_for_key('a', 0)",
            "PartwrightError: partition_for_key: n, the number of partitions, must be",
        ),
        ("murmur2(42)", "KeyTypeError: murmur2: int32 has no key bytes of its own: name the key type"),
        ("kafka_partition('a', NULL)", "kafka_partition: n, the number of partitions, is NULL"),
        ("kafka_partition('a')", "kafka_partition: it takes a key and n"),
        ("kafka_partition('a', 3, 'jave')", 'there is no client "jave"; did you mean java'),
        ("kafka_partition('a', 3, 'java', 'utf8', 5)", "this call has 5 arguments"),
        ("kafka_murmur2(70000, 'java:short')", "70000 does not fit into a 16-bit short"),
    ],
)
def test_what_is_wrong_is_said_by_duckdbs_error(
    con: duckdb.DuckDBPyConnection, call: str, sentence: str
) -> None:
    with pytest.raises(duckdb.InvalidInputException) as refused:
        con.sql(f"SELECT {call}").fetchall()
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("call", "key_type"),
    [
        ("partition_for_key(i, 7, key_type := 'java:int')", "java:int"),
        ("partition_for_key(i, 7, key_type := 'int')", "java:int"),
        ("partition_for_key(i::BIGINT, 7, client := 'java', key_type := 'java:long')", "java:long"),
        ("partition_for_key(i, 7, 'java', 'java:int')", "java:int"),
        ("partition_for_key(i::VARCHAR, 7)", "digits"),
    ],
)
def test_the_functions_names_are_pythons_and_take_settings_by_name(
    con: duckdb.DuckDBPyConnection, call: str, key_type: str
) -> None:
    numbers = TABLE["i"].to_pylist()
    assert column(con, call) == pw.partition_for_key(numbers, 7, key_type=key_type).to_pylist()
    assert column(con, "murmur2(i, key_type := 'java:int')") == column(con, "kafka_murmur2(i, 'java:int')")
    assert column(con, "partition_for_key(k, n, 'sarama')") == column(con, "kafka_partition(k, n, 'sarama')")


def test_what_is_wrong_in_a_named_call_is_said(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.InvalidInputException, match='there is no key type "lnog"'):
        con.sql("SELECT partition_for_key(42, 12, key_type := 'lnog')").fetchall()
    with pytest.raises(duckdb.BinderException, match="key_type := NULL"):
        con.sql("SELECT partition_for_key(42, 12, keytype := 'long')").fetchall()


def test_only_a_connection_is_one_and_it_may_be_registered_again(con: duckdb.DuckDBPyConnection) -> None:
    partwright.duckdb.register(con)
    assert con.cursor().sql("SELECT kafka_partition('TT0124', 15)").fetchall() == [(10,)]
    with pytest.raises(
        pw.PartwrightError, match=r"a module is not a DuckDB connection: pass duckdb\.connect"
    ):
        partwright.duckdb.register(duckdb)  # type: ignore[arg-type]


def test_a_relation_of_one_column_is_a_column(con: duckdb.DuckDBPyConnection) -> None:
    keys = con.sql("SELECT k, i FROM keys")
    assert pw.partition_for_key(keys["k"], 7).to_pylist() == pw.partition_for_key(KEYS, 7).to_pylist()
    assert pw.murmur2(keys["i"], key_type="java:int").to_pylist() == column(
        con, "kafka_murmur2(i, 'java:int')"
    )
    assert pw.encode(keys["k"]).to_pylist()[:3] == [b"TT0124", b"", None]
    assert pw.check_contract(keys, key="k", n=7, max_share=0.9) is not None
    with pytest.raises(pw.KeyTypeError, match=r"pass one of its columns, relation\['key'\]"):
        pw.partition_for_key(keys, 7)
    with pytest.raises(pw.KeyTypeError, match=r"pass the column itself, relation\['key'\]"):
        pw.partition_for_key(duckdb.ColumnExpression("k"), 7)


def test_nobody_imports_duckdb_unasked() -> None:
    asked = "import sys, partwright as pw; pw.partition_for_key(['a'], 3); print('duckdb' in sys.modules, end=' ')"
    code = f"{asked}; import partwright.duckdb; print('duckdb' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "False True\n"


def test_no_name_leaks() -> None:
    assert [name for name in dir(partwright.duckdb) if name[0] not in "_@"] == ["register"]
