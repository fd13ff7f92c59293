"""`with_partition`: the column that Spark's Kafka sink uses, and each refusal before a job runs."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.spark.engines.arrow import to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession

    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]
    Table = Callable[[pa.Table], DataFrame]

IDS = ["TT0124", None, "", "N14228"]


@pytest.fixture
def flights(table: Table) -> DataFrame:
    return table(pa.table({"id": IDS, "number": [1, 2, 3, None], "plane.tail": IDS}))


def test_the_column_is_an_int_and_the_last(flights: DataFrame) -> None:
    placed = pws.with_partition(flights, "id", 15)
    assert placed.columns == ["id", "number", "plane.tail", "partition"]
    assert placed.dtypes[-1] == ("partition", "int")
    assert to_arrow(placed)["partition"].to_pylist() == [10, None, 6, pw.partition_for_key("N14228", 15)]


def test_a_key_is_a_name_or_any_column(flights: DataFrame) -> None:
    expected = pw.partition_for_key(IDS, 12).to_pylist()
    for key in ("id", "ID", "`plane.tail`", sf.col("id"), flights["id"], sf.encode("id", "utf-8")):
        placed = to_arrow(pws.with_partition(flights, key, 12))
        assert placed["partition"].to_pylist() == expected


def test_a_key_may_be_a_field_of_a_struct(flights: DataFrame) -> None:
    nested = flights.select(sf.struct("id").alias("plane"))
    assert pws.with_partition(nested, "plane.id", 15).first()["partition"] == 10


def test_numbers_with_their_key_type(flights: DataFrame) -> None:
    placed = to_arrow(pws.with_partition(flights, "number", 12, key_type="java:long"))
    expected = pw.partition_for_key([1, 2, 3, None], 12, key_type="java:long")
    assert placed["partition"].to_pylist() == expected.to_pylist()


def test_nothing_guesses_data(flights: DataFrame) -> None:
    for function in (pws.with_partition, pws.kafka_layout, pws.copartition, pws.check, pws.resize):
        for name, parameter in inspect.signature(function).parameters.items():
            if name in {"key", "n", "from_", "to"} or (name == "order_by" and function == pws.kafka_layout):
                # None stands for a topic's own columns, and is refused for any other table.
                assert parameter.default in (inspect.Parameter.empty, None), (function, name)
    with pytest.raises(pw.PartwrightError, match="key"):
        pws.check(flights, n=12)
    with pytest.raises(pw.PartwrightError, match="n="):
        pws.check(flights, "id")
    with pytest.raises(pw.PartwrightError, match="key"):
        pws.resize(flights, from_=12, to=24)
    with pytest.raises(TypeError, match="missing 2 required positional arguments: 'key' and 'n'"):
        pws.with_partition(flights)  # type: ignore[call-arg]


@pytest.mark.parametrize("other", [None, "flights", ["id"]])
def test_another_thing_than_a_frame_of_spark_is_refused(flights: DataFrame, other: Any) -> None:
    sentence = f"a DataFrame of Spark is needed, not {type(other).__name__}"
    for call in (
        lambda: pws.with_partition(other, "id", 12),
        lambda: pws.copartition(other, flights, "id", 12),
        lambda: pws.copartition(flights, other, "id", 12),
    ):
        with pytest.raises(pw.PartwrightError, match=sentence):
            call()


def test_placing_by_key_may_be_named(flights: DataFrame) -> None:
    workload = pws.Workload(key="id", value="id", size="id")
    named = pws.with_partition(flights, workload, 12, pws.ProducerConfig("key", seed=7), order_by="id")
    assert to_arrow(named) == to_arrow(pws.with_partition(flights, "id", 12))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"key": "tail"}, "there is no column 'tail' for key; the columns are id, number, plane.tail"),
        (
            {"key": "plane.tail"},
            "'plane.tail' is a path into a struct to Spark: write a column of this name in backquotes, '`plane.tail`'",
        ),
        ({"key": "id.x"}, "key cannot be taken from the column 'id.x': [INVALID_EXTRACT_BASE_FIELD_TYPE]"),
        ({"key": 7}, "key must be a column's name or a Column, not 7"),
        ({"n": 0}, "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ({"client": "jav"}, 'there is no client "jav"; did you mean java?'),
        ({"key_type": "java:lnog"}, 'there is no key type "java:lnog"; known: utf8, '),
        ({"client": pws.ProducerConfig("stiky")}, 'there is no strategy "stiky"; known: sticky, '),
        (
            {"key": "number"},
            "the key column 'number' is bigint: int64 has no key bytes of its own: name the key type that ",
        ),
        (
            {"key_type": "java:long"},
            "the key column 'id' is string: key type java:long takes whole numbers, not ",
        ),
        ({"key": pws.Workload()}, "key must be a column's name or a Column, not None"),
        (
            {"client": pws.ProducerConfig("key"), "key_type": "utf8"},
            "a ProducerConfig has a key_type of its own: leave out key_type",
        ),
        (
            {"n": {"t": 5}},
            "n, the number of partitions, must be a whole number from 1 to 2147483647, not {'t': 5}",
        ),
        ({"key": sf.lit}, "key must be a column's name or a Column, not <function lit"),
    ],
)
def test_a_refusal_is_one_sentence_before_any_job(
    flights: DataFrame, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pws.with_partition(flights, **{"key": "id", "n": 12, **arguments})
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_types_without_key_bytes_are_refused_by_their_spark_name(spark: SparkSession) -> None:
    df = spark.range(1).select(
        sf.current_date().alias("day"),
        sf.array("id").alias("list"),
        sf.lit(1.5).cast("decimal(5,2)").alias("money"),
        # PySpark 3.5 itself does not know such a type.
        *([sf.expr("make_interval(1, 2)").alias("span")] if pyspark.__version__ >= "4" else []),
    )
    for key, name in (
        ("day", "date"),
        ("list", "array<bigint>"),
        ("money", "decimal(5,2)"),
        *([("span", "interval")] if "span" in df.columns else []),
    ):
        with pytest.raises(pw.KeyTypeError, match="has no key bytes") as refused:
            pws.with_partition(df, key, 12)
        assert str(refused.value).startswith(f"the key column '{key}' is {name}")


def test_each_key_type_of_text_is_taken_wherever_a_table_is(
    spark: SparkSession, configured: Configured
) -> None:
    df = spark.sql(
        "SELECT id, CAST(id AS DECIMAL(5,2)) AS decimal, DATE_ADD(DATE'2024-01-31', CAST(id AS INT)) AS date, "
        "TIMESTAMP'2024-01-31 12:00:00Z' + MAKE_INTERVAL(0, 0, 0, 0, CAST(id AS INT)) AS timestamp, "
        "TIMESTAMP_NTZ'2024-01-31 12:00:00' AS timestamp_ntz FROM RANGE(50)"
    )
    for key, key_type in (
        ("id", "digits"),
        ("decimal", "decimal"),
        ("date", "iso-date"),
        ("timestamp", "iso-timestamp"),
        ("timestamp_ntz", "iso-timestamp"),
    ):
        texts = [bytes(row[0]).decode() for row in df.select(pws.encode(key, key_type)).collect()]
        expected = Counter(pw.partition_for_key(texts, 7).to_pylist())
        placed = pws.with_partition(df, key, 7, key_type=key_type)
        laid = df.transform(pws.kafka_layout(key, 7, key, key_type=key_type))
        with configured({"spark.sql.requireAllClusterKeysForCoPartition": "false"}):
            other, _ = pws.copartition(df, df, key, 7, key_type=key_type)
        for each in (placed, laid, other):
            assert Counter(row[0] for row in each.select("partition").collect()) == expected
        assert pws.check(df, key, 7, key_type=key_type).used == len(expected)


@pytest.mark.parametrize(
    ("key", "way"),
    [
        ("STRUCT(1 AS a, 2 AS b)", "; name a field of it, such as key.a, or make text of it with to_json"),
        ("ARRAY(1)", "; make text of it with to_json"),
        ("MAP('a', 1)", "; make text of it with to_json"),
    ],
)
def test_a_key_of_several_values_has_a_way_to_its_bytes(spark: SparkSession, key: str, way: str) -> None:
    df = spark.sql(f"SELECT {key} AS key")
    with pytest.raises(pw.KeyTypeError) as refused:
        pws.with_partition(df, "key", 7)
    assert str(refused.value) == (
        f"the key column 'key' is {df.dtypes[0][1]}, which has no key bytes: a key is a string, binary, a number, a "
        f"boolean, a date or a timestamp{way}, in the form that its producer writes"
    )
    assert pws.with_partition(df.withColumn("key", sf.to_json("key")), "key", 7).count() == 1


def test_a_column_called_partition_is_refused(flights: DataFrame) -> None:
    for name in ("partition", "Partition"):
        with pytest.raises(pw.PartwrightError) as refused:
            pws.with_partition(flights.withColumnRenamed("number", name), "id", 12)
        assert str(refused.value) == f"the table has a column '{name}' already: rename it or drop it first"


def test_spark_s_words_are_kept_about_the_user_s_own_expression(flights: DataFrame) -> None:
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        pws.with_partition(flights, sf.upper("nowhere"), 12)
