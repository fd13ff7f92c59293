"""Engine jvm's murmur2 of strings and binaries, which only classic sessions have, agrees with the core."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from engine_jvm import BY_BYTES, IS_REMOTE, LARGEST, USUAL, check, drawn, mode
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.errors import KeyTypeError, PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine_jvm import Table
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["drawn", "mode"]

pytestmark = pytest.mark.skipif(IS_REMOTE, reason="Spark Connect has no such expression")


@pytest.mark.usefixtures("mode")
def test_murmur2_of_random_binaries(table: Table, drawn: list[bytes | None]) -> None:
    keys = pa.array(drawn, pa.binary())
    df = table(pa.table({"key": keys}))
    hashes = df.select(pws.murmur2("key", engine="jvm")).collect()
    assert [row[0] for row in hashes] == pw.murmur2(keys).to_pylist()
    check(df, keys, BY_BYTES, ns=(1, 12, LARGEST))


@pytest.mark.usefixtures("mode")
def test_murmur2_of_random_texts(table: Table, seed: int, cases: Callable[[int], int]) -> None:
    source = random.Random(seed)
    some = ["".join(source.choices("ab9-ß漢🦀", k=source.randrange(30))) for _ in range(cases(USUAL))]
    keys = pa.array([*some, "", None])
    df = table(pa.table({"key": keys}))
    for key_type in (None, "utf8", "java:string"):
        check(df, keys, ["java"], key_type, ns=(12, LARGEST))


def test_keys_of_another_type_have_no_bytes(table: Table) -> None:
    for keys, key_type, sentence in (
        (
            pa.array(["a"]),
            "bytes",
            "the key column is string, which has no key bytes in engine jvm under the key type bytes",
        ),
        (
            pa.array([b"a"]),
            "utf8",
            "the key column is binary, which has no key bytes in engine jvm under the key type utf8",
        ),
    ):
        df = table(pa.table({"key": keys})).cache()
        # PySpark 3.5 leaves Java's error unchanged.
        with pytest.raises((PySparkException, Py4JJavaError)) as refused:
            df.select(pws.murmur2("key", key_type, engine="jvm")).collect()
        assert pws.first_sentence(refused.value) == sentence
        # A table's schema is checked before that.
        with pytest.raises(KeyTypeError, match=f"the key type {key_type}|key type"):
            pws.with_partition(df, "key", 12, key_type=key_type, engine="jvm")


@pytest.mark.parametrize("client", ["java", "librdkafka", "librdkafka:murmur2_random"])
@pytest.mark.parametrize(
    "key",
    [
        "1L",
        "CAST(1 AS TINYINT)",
        "1.5D",
        "CAST(1.5 AS DECIMAL(5,2))",
        "true",
        "DATE'2024-01-31'",
        "TIMESTAMP'2024-01-31 12:00:00'",
        "STRUCT(1 AS a)",
        "ARRAY(1)",
        "MAP('a', 1)",
    ],
)
def test_keys_that_need_a_key_type_are_refused_by_one_sentence_in_each_function(
    spark: SparkSession, key: str, client: str
) -> None:
    df = spark.sql(f"SELECT {key} AS key")
    kind = dict(df.dtypes)["key"]
    pws.register(spark, engine="jvm")
    df.createOrReplaceTempView("keys")
    try:
        tables: list[Callable[[], DataFrame]] = [
            lambda: df.select(pws.partition_for_key("key", 12, client, engine="jvm")),
            lambda: df.select(pws.murmur2("key", engine="jvm")),
            lambda: spark.table("keys").select(
                sf.call_function("kafka_partition", "key", sf.lit(12), sf.lit(client))
            ),
            lambda: spark.sql("SELECT kafka_murmur2(key) FROM keys"),
        ]
        for made in tables:
            # PySpark 3.5 leaves Java's error unchanged.
            with pytest.raises((PySparkException, Py4JJavaError)) as refused:
                made().collect()
            assert pws.first_sentence(refused.value) == (
                f"the key column is {kind}, which has no key bytes in engine jvm without a key type"
            )
    finally:
        pws.register(spark, engine="arrow")


def test_a_class_path_without_murmur2_is_told(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    del spark
    from partwright.spark.engines import static_invoke

    monkeypatch.setattr(static_invoke, "_FOUND", {})
    absent = static_invoke._Hasher("org.example.Murmur", "murmur2", takes_length=False)
    other = static_invoke._Hasher("org.apache.commons.codec.digest.MurmurHash2", "hash64", takes_length=True)
    monkeypatch.setattr(static_invoke, "_HASHERS", (absent, other))
    with pytest.raises(
        PartwrightError, match=r"finds no murmur2 .*org\.example\.Murmur is not there; .*MurmurHash2\.hash64 "
    ):
        pws.murmur2("key", engine="jvm")


def test_the_murmur2_of_kafkas_client_serves_as_well(
    table: Table, drawn: list[bytes | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If commons-codec is too old: the tests' session has Spark's Kafka connector."""
    from partwright.spark.engines import static_invoke

    monkeypatch.setattr(static_invoke, "_FOUND", {})
    monkeypatch.setattr(static_invoke, "_HASHERS", static_invoke._HASHERS[1:2])
    keys = pa.array(drawn[:1000], pa.binary())
    check(table(pa.table({"key": keys})), keys, BY_BYTES[:1])
    assert [found.method for found in static_invoke._FOUND.values()] == ["murmur2"]
