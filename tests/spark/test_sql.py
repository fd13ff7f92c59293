"""The SQL functions agree with `partwright`, with settings that are literals or differ by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import PythonException

import partwright as pw
from partwright import spark as pws
from partwright.spark.engines.arrow import to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession

    Table = Callable[[pa.Table], DataFrame]


@pytest.fixture(autouse=True)
def functions(spark: SparkSession) -> None:
    pws.register(spark)


@pytest.fixture
def records(table: Table) -> dict[str, Any]:
    keys = [None if row % 7 == 0 else f"key {row}" for row in range(5000)]
    rows = {
        "key": keys,
        "number": pa.array(range(5000)),
        "n": pa.array([1 + row % 50 for row in range(5000)], pa.int32()),
        "kind": ["utf8" if row % 3 else None for row in range(5000)],
    }
    table(pa.table(rows)).createOrReplaceTempView("records")
    return rows


def test_literals(spark: SparkSession) -> None:
    row = spark.sql("""
        SELECT kafka_partition('TT0124', 15), kafka_partition(CAST('TT0124' AS BINARY), 15L),
            kafka_partition('TT0124', 15, 'java'), kafka_partition('TT0124', 15, 'java', 'java:string'),
            kafka_partition(42L, 12, 'java', 'java:long'), kafka_partition('', 15), kafka_partition(NULL, 15),
            kafka_murmur2('foobar'), kafka_murmur2(42L, 'java:long'), kafka_murmur2(NULL)
    """)
    assert {kind for _, kind in row.dtypes} == {"int"}
    assert list(row.first()) == [10, 10, 10, 10, 4, 6, None, -790332482, 506863552, None]


def test_the_names_are_pythons_too_and_key_types_may_be_short(
    spark: SparkSession, records: dict[str, Any]
) -> None:
    found = spark.sql("""
        SELECT partition_for_key(key, n, 'sarama') <=> kafka_partition(key, n, 'sarama') AS partitions,
            murmur2(number, 'long') = kafka_murmur2(number, 'java:long') AS hashes,
            partition_for_key(number, 12, 'java', 'long') = kafka_partition(number, 12, 'java', 'java:long') AS numbers
        FROM records
    """)
    assert found.distinct().collect() == [(True, True, True)]
    col = pws.partition_for_key("number", 12, key_type="long")
    assert to_arrow(spark.table("records").select(col.alias("p")))["p"].to_pylist() == (
        pw.partition_for_key(records["number"], 12, key_type="java:long").to_pylist()
    )


@pytest.mark.skipif(pyspark.__version__ < "4", reason="PySpark 3.5 knows no names of a function's arguments")
def test_arguments_by_name(spark: SparkSession) -> None:
    row = spark.sql("SELECT kafka_partition(key => 'TT0124', key_type => 'utf8', n => 15)")
    assert list(row.first()) == [10]


def test_the_client_may_differ_by_row(spark: SparkSession, table: Table) -> None:
    table(pw.clients()).createOrReplaceTempView("clients")
    rows = spark.sql("""
        SELECT client, key, kafka_partition(key, 7, client) AS partition
        FROM clients, (SELECT explode(array('TT0124', '', CAST(NULL AS STRING))) AS key)
    """).collect()
    assert len(rows) == 3 * pw.clients().num_rows
    for row in rows:
        assert row.partition == pw.partition_for_key(row.key, 7, row.client), (row.client, row.key)


def test_n_and_the_key_type_may_differ_by_row(spark: SparkSession, records: dict[str, Any]) -> None:
    given = to_arrow(
        spark.sql("SELECT key, n, kafka_partition(key, n, 'java', kind) AS partition FROM records")
    )
    assert given["key"].to_pylist() == records["key"]
    expected = [
        pw.partition_for_key(key, n) for key, n in zip(records["key"], records["n"].to_pylist(), strict=True)
    ]
    assert given["partition"].to_pylist() == expected


def test_a_column_and_no_row_at_all(spark: SparkSession, records: dict[str, Any]) -> None:
    given = to_arrow(spark.sql("SELECT kafka_partition(key, 12) AS p, kafka_murmur2(key) AS m FROM records"))
    assert given["p"].to_pylist() == pw.partition_for_key(records["key"], 12).to_pylist()
    assert given["m"].to_pylist() == pw.murmur2(records["key"]).to_pylist()
    assert spark.sql("SELECT kafka_partition(key, n) FROM records WHERE n = 0").count() == 0


def test_where_only_deterministic_functions_may_stand(spark: SparkSession, records: dict[str, Any]) -> None:
    wrong = spark.sql("SELECT count_if(kafka_partition(key, 12) <> kafka_murmur2(key) % 1) FROM records")
    partitions = pw.partition_for_key(records["key"], 12)
    assert wrong.first()[0] == sum(p not in {0, None} for p in partitions.to_pylist())
    joined = spark.sql(
        "SELECT count(*) FROM records a JOIN records b ON kafka_partition(a.key, 12) = b.number"
    )
    assert joined.first()[0] == 5000 - partitions.null_count
    grouped = spark.sql("SELECT kafka_partition(key, 12) AS p, count(*) FROM records GROUP BY p").collect()
    assert len(grouped) == 13


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("kafka_partition('a', 0)",
         "kafka_partition: n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ("kafka_partition('a', -3)",
         "kafka_partition: n, the number of partitions, must be from 1 to 2147483647, not -3"),
        ("kafka_partition('a', 2147483648)",
         "kafka_partition: n, the number of partitions, must be from 1 to 2147483647, not 2147"),
        ("kafka_partition('a', '12')",
         "kafka_partition: n, the number of partitions, must be a whole number from 1 to 2147483647, n"),
        ("partition_for_key('a', 0)", "partition_for_key: n, the number of partitions, must be from 1"),
        ("partition_for_key('a', 12, NULL)", "partition_for_key: client is NULL"),
        ("murmur2(42)", "murmur2: int32 has no key bytes of its own: name the key type that its producer"),
        ("kafka_partition('a', NULL)", "kafka_partition: n, the number of partitions, is NULL"),
        ("kafka_partition(NULL, NULL)", "kafka_partition: n, the number of partitions, is NULL"),
        ("kafka_partition('a')", "kafka_partition: it takes a key and n, the topic's number of partitions, and n is"),
        ("kafka_partition('a', 12, NULL)", "kafka_partition: client is NULL"),
        ("kafka_partition('a', 12, 'jav')", 'kafka_partition: there is no client "jav"; did you mean java?'),
        ("kafka_partition('a', 12, 'java', 'x')", 'kafka_partition: there is no key type "x"; known: utf8, '),
        ("kafka_partition(42, 12)",
         "kafka_partition: int32 has no key bytes of its own: name the key type that its producer"),
        ("kafka_murmur2(42)", "kafka_murmur2: int32 has no key bytes of its own: name the key type that its producer"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_sentence(spark: SparkSession, call: str, sentence: str) -> None:
    with pytest.raises(PythonException) as failed:
        spark.sql(f"SELECT {call}").collect()
    assert pws.first_sentence(failed.value).startswith(sentence)


@pytest.mark.usefixtures("records")
def test_one_bad_n_among_many_is_an_error(spark: SparkSession) -> None:
    with pytest.raises(PythonException) as failed:
        spark.sql("SELECT kafka_partition(key, IF(number = 4000, 0, n)) FROM records").collect()
    assert pws.first_sentence(failed.value) == (
        "kafka_partition: n, the number of partitions, must be from 1 to 2147483647, not 0"
    )
