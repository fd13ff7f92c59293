"""Spark's columns give the answers of `partwright`."""

from __future__ import annotations

import random
import uuid
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.spark.engines.arrow import to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession

    Table = Callable[[pa.Table], DataFrame]
    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]

RANDOM = random.Random(20130101)


def random_text(length: int) -> str:
    return "".join(RANDOM.choice("abcXYZ019-_:äß漢🦀") for _ in range(length))


TEXT = pa.array(["TT0124", None, "", "N14228", "漢字", "a" * 1000, None, "100:48069"])
KEYS = {
    "string": (TEXT, None),
    "string under utf8": (TEXT, "utf8"),
    "string under java:string": (TEXT, "java:string"),
    "binary": (TEXT.cast(pa.binary()), None),
    "smallint": (pa.array([0, -1, None, 32767], pa.int16()), "java:short"),
    "int": (pa.array([0, -1, None, 2**31 - 1], pa.int32()), "java:int"),
    "bigint": (pa.array([0, -1, None, 2**63 - 1, 42]), "java:long"),
    "bigint as int": (pa.array([0, -1, None, 42]), "java:int"),
    "float": (pa.array([0.0, -0.0, None, 1.5, float("nan")], pa.float32()), "java:float"),
    "double": (pa.array([0.0, -0.0, None, 1.5, float("nan")]), "java:double"),
    "boolean": (pa.array([True, False, None]), "java:boolean"),
    "uuid": (pa.array([str(uuid.UUID(int=7)).upper(), None]), "java:uuid"),
    "strip-id": (pa.array([b"\0\0\0\0\1abc", None]), "confluent:strip-id"),
}


def test_every_client_is_there(table: Table) -> None:
    keys = pa.array(["TT0124", None, "", "1468509572224", "漢字"])
    clients = pw.clients()["client"].to_pylist()
    placed = [pws.partition_for_key("key", 50, client).alias(client) for client in clients]
    rows = to_arrow(table(pa.table({"key": keys})).select(*placed))
    for client in clients:
        assert rows[client].to_pylist() == pw.partition_for_key(keys, 50, client).to_pylist(), client


@pytest.mark.parametrize(("keys", "key_type"), KEYS.values(), ids=KEYS)
def test_each_function_gives_what_it_gives_outside_of_spark(
    table: Table, keys: pa.Array, key_type: str | None
) -> None:
    df = table(pa.table({"key": keys, "other": pa.nulls(len(keys), pa.int32())}))
    rows = df.select(
        pws.partition_for_key("key", 12, key_type=key_type).alias("partition"),
        pws.murmur2(sf.col("key"), key_type).alias("murmur2"),
        pws.encode("key", key_type).alias("bytes"),
    )
    assert dict(rows.dtypes) == {"partition": "int", "murmur2": "int", "bytes": "binary"}
    given = to_arrow(rows).to_pydict()
    assert given["partition"] == pw.partition_for_key(keys, 12, key_type=key_type).to_pylist()
    assert given["murmur2"] == pw.murmur2(keys, key_type=key_type).to_pylist()
    assert given["bytes"] == pw.encode(keys, key_type).to_pylist()


def test_a_hundred_thousand_random_keys(table: Table) -> None:
    keys = [None if RANDOM.random() < 0.1 else random_text(RANDOM.randrange(40)) for _ in range(100_000)]
    df = table(pa.table({"key": keys}))
    for n in (1, 7, 12, 1000, 2**31 - 1):
        given = to_arrow(df.select(pws.partition_for_key("key", n))).column(0).to_pylist()
        assert given == pw.partition_for_key(keys, n).to_pylist()


def test_no_row_and_one_row_and_null_rows_alone(table: Table) -> None:
    for keys in (["TT0124"], pa.nulls(3, pa.string())):
        df = table(pa.table({"key": keys}))
        for rows in (df, df.limit(1), df.where("key = 'nobody'")):
            given = to_arrow(rows.select("key", pws.partition_for_key("key", 15).alias("partition")))
            assert given["partition"].type == pa.int32()
            assert given["partition"].to_pylist() == pw.partition_for_key(given["key"], 15).to_pylist()


@pytest.mark.parametrize("rows_a_batch", [1, 7, 10_000])
def test_batches_of_any_size(table: Table, configured: Configured, rows_a_batch: int) -> None:
    keys = [None if row % 11 == 0 else f"key {row}" for row in range(1000)]
    with configured({"spark.sql.execution.arrow.maxRecordsPerBatch": rows_a_batch}):
        given = to_arrow(table(pa.table({"key": keys})).select(pws.partition_for_key("key", 12)))
    assert given.column(0).to_pylist() == pw.partition_for_key(keys, 12).to_pylist()


def test_large_arrow_types(table: Table, configured: Configured) -> None:
    df = table(pa.table({"key": TEXT}))
    with configured({"spark.sql.execution.arrow.useLargeVarTypes": "true"}):
        given = to_arrow(
            df.select(pws.partition_for_key("key", 12).alias("partition"), pws.encode("key").alias("key"))
        )
    assert given["partition"].to_pylist() == pw.partition_for_key(TEXT, 12).to_pylist()
    assert given["key"].to_pylist() == pw.encode(TEXT).to_pylist()


def test_n_is_any_whole_number(table: Table) -> None:
    numpy = pytest.importorskip("numpy")
    df = table(pa.table({"key": ["TT0124"]}))
    assert df.select(pws.partition_for_key("key", numpy.int64(15))).first()[0] == 10


def test_a_column_is_called_after_its_function(spark: SparkSession) -> None:
    df = spark.range(1).select(sf.lit("TT0124").alias("id"))
    columns = [pws.partition_for_key("id", 15), pws.murmur2("id"), pws.encode("id")]
    assert df.select(*columns).columns == ["partition_for_key(id)", "murmur2(id)", "encode(id)"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0,), "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ((-1,), "n, the number of partitions, must be from 1 to 2147483647, not -1"),
        ((2**31,), "n, the number of partitions, must be from 1 to 2147483647, not 2147483648"),
        (("12",), "n, the number of partitions, must be a whole number from 1 to 2147483647, not '12'"),
        ((12, "jav"), 'there is no client "jav"; did you mean java?'),
        ((12, "java", "java:lnog"), 'there is no key type "java:lnog"; known: '),
    ],
)
@pytest.mark.usefixtures("spark")
def test_what_can_be_refused_before_any_job_is(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pws.partition_for_key("id", *arguments)
    assert str(refused.value).startswith(sentence)


@pytest.mark.usefixtures("spark")
def test_an_unknown_key_type_is_refused_at_once_by_each_function() -> None:
    for function in (pws.murmur2, pws.encode):
        with pytest.raises(pw.PartwrightError, match="there is no key type"):
            function("id", "java:lnog")


@pytest.mark.usefixtures("spark")
def test_only_a_name_or_a_column_is_a_column() -> None:
    with pytest.raises(pw.PartwrightError, match=r"^col must be a column's name or a Column, not 3$"):
        pws.partition_for_key(3, 12)


def test_a_worker_s_refusal_is_one_sentence(table: Table) -> None:
    df = table(pa.table({"key": [1, 2], "text": ["a", "a"]}))
    cases = [
        (pws.partition_for_key("key", 12), "int64 has no key bytes of its own: name the key type"),
        (pws.murmur2("text", "java:uuid"), 'row 0: "a" is not the 36-character text of a UUID'),
        (pws.encode("text", "java:int"), "key type java:int takes whole numbers, not "),
    ]
    for column, sentence in cases:
        with pytest.raises(PythonException) as failed:
            df.select(column).collect()
        assert pws.first_sentence(failed.value).startswith(sentence)
        assert "\n" not in pws.first_sentence(failed.value)


def test_a_write_s_refusal_is_one_sentence_too(table: Table) -> None:
    placed = table(pa.table({"key": [1, 2]})).select(pws.partition_for_key("key", 12))
    with pytest.raises(
        Exception, match=r"PythonException|PYTHON_EXCEPTION|Python worker|PythonRDD"
    ) as failed:
        placed.write.format("noop").mode("overwrite").save()
    assert pws.first_sentence(failed.value).startswith("int64 has no key bytes of its own")


def test_other_errors_have_no_sentence_of_ours(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="nowhere") as failed:
        spark.read.parquet("/nowhere").collect()
    assert pws.first_sentence(failed.value) is None


def test_a_worker_without_partwright_is_said() -> None:
    error = RuntimeError(
        "... line 3, in x\nModuleNotFoundError: No module named 'partwright'\n\tat org.apache"
    )
    assert pws.first_sentence(error) == (
        "the Python of Spark's workers has no 'partwright': install the wheel of partwright there too, or send it with "
        "partwright.spark.ship"
    )
