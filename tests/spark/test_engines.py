"""Engine jvm agrees with the core, or refuses: the cases that classic Spark and Spark Connect share."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from engine_jvm import BY_BYTES, BY_CRC32, CLIENTS, IS_REMOTE, LARGEST, USUAL, check, drawn, mode
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.errors import PartwrightError
from partwright.keys.client_profiles import key_types
from partwright.spark.engines import jvm_proof

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine_jvm import Configured, Table
    from pyspark.sql import DataFrame, SparkSession

    Plan = Callable[[DataFrame], str]

__all__ = ["drawn", "mode"]

WHOLE = {"java:short": 16, "java:int": 32, "java:long": 64}


@pytest.mark.usefixtures("mode")
def test_crc32_of_random_keys(table: Table, drawn: list[bytes | None]) -> None:
    keys = pa.array(drawn, pa.binary())
    texts = pa.array([None if key is None else key.hex() for key in drawn])
    for some in (keys, texts):
        check(table(pa.table({"key": some})), some, BY_CRC32, ns=(1, 12, LARGEST))


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("key_type", WHOLE)
def test_murmur2_of_random_numbers(
    table: Table, key_type: str, seed: int, cases: Callable[[int], int]
) -> None:
    source, most = random.Random(seed), 2 ** (WHOLE[key_type] - 1)
    some = [0, -1, 1, most - 1, -most, None, *(source.randrange(-most, most) for _ in range(cases(USUAL)))]
    for kind in (pa.int64(), pa.int8()):
        half = 2 ** (kind.bit_width - 1)
        keys = pa.array([each for each in some if each is None or -half <= each < half], kind)
        df = table(pa.table({"key": keys}))
        hashes = df.select(pws.murmur2("key", key_type, engine="jvm")).collect()
        assert [row[0] for row in hashes] == pw.murmur2(keys, key_type=key_type).to_pylist()
        check(df, keys, ["java", "librdkafka:murmur2"], key_type, ns=(12, LARGEST))


@pytest.mark.parametrize("key_type", [None, "bytes", "utf8", "java:string"])
def test_a_column_of_nulls_has_a_type_that_any_rule_takes(spark: SparkSession, key_type: str | None) -> None:
    df = spark.sql("SELECT NULL AS key")
    for client in BY_CRC32 if IS_REMOTE else (*BY_CRC32, *BY_BYTES):
        place = pws.partition_for_key("key", 12, client, key_type, engine="jvm")
        assert df.select(place).first()[0] == pw.partition_for_key(None, 12, client), client


@pytest.mark.parametrize("client", CLIENTS)
def test_every_other_rule_is_refused_by_name(spark: SparkSession, client: str) -> None:
    del spark
    by_bytes = client in BY_BYTES
    for key_type in key_types():
        known = (key_type in WHOLE and by_bytes) or (
            key_type in {"utf8", "bytes", "java:string"} and (by_bytes or client in BY_CRC32)
        )
        # The core itself gives this client only texts.
        if known or (client == "java:string-hash" and key_type not in {"utf8", "bytes", "java:string"}):
            continue
        with pytest.raises(
            PartwrightError, match=f"no exact expression for client '{client}' with the key type '{key_type}'"
        ):
            pws.partition_for_key("key", 12, client, key_type, engine="jvm")


@pytest.mark.parametrize(
    ("keys", "key_type"),
    [
        (pa.array(["a"]), "java:long"),
        (pa.array([1.5]), "java:long"),
        (pa.array([True]), "java:int"),
        (pa.array([2**31]), "java:int"),
        (pa.array([-(2**15) - 1]), "java:short"),
    ],
)
def test_keys_of_another_type_or_size_end_the_job(table: Table, keys: pa.Array, key_type: str) -> None:
    df = table(pa.table({"key": keys}))
    # PySpark 3.5 leaves Java's error unchanged, and does not look for its class in Spark Connect.
    with pytest.raises(
        Exception, match=r"no key bytes in engine jvm under the key type|does not fit the key type"
    ):
        df.select(pws.partition_for_key("key", 12, key_type=key_type, engine="jvm")).collect()


def test_the_setting_of_the_session_is_the_default(
    spark: SparkSession, configured: Configured, plan: Plan
) -> None:
    df = spark.range(3)

    def runs_python() -> bool:
        return "ArrowEval" in plan(df.select(pws.partition_for_key("id", 12, key_type="java:long")))

    assert runs_python()
    with configured({"spark.partwright.engine": "jvm"}):
        assert not runs_python()
        assert "ArrowEval" in plan(pws.with_partition(df, "id", 12, key_type="java:long", engine="arrow"))
        assert "ArrowEval" not in plan(df.transform(pws.kafka_layout("id", 12, "id", key_type="java:long")))
    with (
        configured({"spark.partwright.engine": "rust"}),
        pytest.raises(PartwrightError, match=r"no engine 'rust' .*spark\.partwright\.engine"),
    ):
        pws.partition_for_key("id", 12)


def test_both_engines_name_their_columns_alike(spark: SparkSession) -> None:
    df = spark.range(3)
    for column in ("id", sf.col("id")):
        for call in (
            lambda engine, of=column: pws.partition_for_key(of, 12, key_type="java:long", engine=engine),
            lambda engine, of=column: pws.murmur2(of, "java:long", engine=engine),
        ):
            assert df.select(call("jvm")).columns == df.select(call("arrow")).columns


def test_strategies_have_no_such_engine(spark: SparkSession, configured: Configured) -> None:
    def placed(engine: str | None) -> DataFrame:
        producer = pws.ProducerConfig("round-robin", key_type="java:long")
        return pws.with_partition(spark.range(3), "id", 12, producer, engine=engine)

    with pytest.raises(PartwrightError, match="engine jvm places by the key alone"):
        placed("jvm")
    with configured({"spark.partwright.engine": "jvm"}):
        with pytest.raises(PartwrightError, match="engine jvm places by the key alone"):
            placed(None)
        assert placed("arrow").columns == ["id", "partition"]


@pytest.mark.parametrize("engine", ["rust", "JVM", "", 7, ["jvm"], b"jvm"])
def test_an_engine_that_does_not_exist(spark: SparkSession, engine: Any) -> None:
    df = spark.range(3).withColumn("ts", sf.lit(1))
    calls = (
        lambda: pws.partition_for_key("id", 12, engine=engine),
        lambda: pws.murmur2("id", engine=engine),
        lambda: pws.with_partition(df, "id", 12, key_type="java:long", engine=engine),
        lambda: df.transform(pws.kafka_layout("id", 12, "ts", key_type="java:long", engine=engine)),
        lambda: pws.copartition(df, df, "id", 12, key_type="java:long", engine=engine),
        lambda: pws.register(spark, engine=engine),
    )
    for call in calls:
        with pytest.raises(PartwrightError, match=r"there is no engine .*(: t|\? T)here are arrow and jvm"):
            call()


def test_n_and_names_are_looked_at_first(spark: SparkSession) -> None:
    del spark
    for arguments, sentence in (
        ({"n": 0}, "must be from 1 to 2147483647, not 0"),
        ({"n": 2**31}, "must be from 1 to 2147483647"),
        ({"client": "jav"}, "did you mean java"),
        ({"key_type": "java:lnog"}, "there is no key type"),
        ({"col": 7}, "not 7"),
    ):
        with pytest.raises(PartwrightError, match=sentence):
            pws.partition_for_key(**{"col": "key", "n": 12, "engine": "jvm", **arguments})


def test_a_proof_that_fails_is_told(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    del spark
    monkeypatch.setattr(jvm_proof, "_PROVEN", set())
    monkeypatch.setattr(jvm_proof.zlib, "crc32", len)
    with pytest.raises(
        PartwrightError, match=r"not exact in this session \(its crc32 of b'a' is 3904355907, not 1\)"
    ):
        pws.partition_for_key("key", 12, "librdkafka", engine="jvm")


def test_another_thread_has_the_same_engine(spark: SparkSession, configured: Configured) -> None:
    """A new thread has no active session."""
    with configured({"spark.partwright.engine": "jvm"}), ThreadPoolExecutor(1) as pool:
        found = pool.submit(
            lambda: pws.engine_of(spark.range(3).select(pws.murmur2("id", "java:long")))
        ).result()
    assert found == {"jvm"}


def test_connect_has_no_murmur2_of_bytes(spark: SparkSession) -> None:
    if IS_REMOTE:
        for call in (
            lambda: pws.partition_for_key("key", 12, engine="jvm"),
            lambda: pws.murmur2("key", engine="jvm"),
        ):
            with pytest.raises(
                PartwrightError, match="cannot hash strings and binaries by murmur2 in Spark Connect"
            ):
                call()
        with pytest.raises(PartwrightError, match="no SQL functions in Spark Connect"):
            pws.register(spark, engine="jvm")
    else:
        assert spark.range(1).select(pws.murmur2(sf.lit("foobar"), engine="jvm")).collect() == [(-790332482,)]


def test_engine_of_takes_no_other_function_for_ours(spark: SparkSession) -> None:
    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return batches

    df = spark.range(3).select(sf.col("id").cast("string").alias("k"))
    assert pws.engine_of(df.select(sf.encode("k", "UTF-8"))) == set()
    assert pws.engine_of(df.mapInArrow(mapped, "k string")) == set()
    assert pws.engine_of(df.select(pws.encode("k"))) == {"arrow"}


def test_engine_of_looks_at_all_columns(spark: SparkSession) -> None:
    keys = spark.range(3).select("id", sf.col("id").cast("string").alias("key"))
    wide = keys.select("*", *(sf.lit(at).alias(f"c{at}") for at in range(60)))
    assert pws.engine_of(wide) == set()
    for client, key, key_type in (
        ("librdkafka", "key", None),
        ("java", "id", "java:long"),
        ("java", "id", "java:int"),
    ):
        by_jvm = pws.with_partition(wide, key, 12, client, key_type, engine="jvm")
        assert pws.engine_of(by_jvm) == {"jvm"}
    by_arrow = pws.with_partition(wide, "key", 12, engine="arrow")
    assert pws.engine_of(by_arrow) == {"arrow"}
    assert pws.engine_of(wide.select(pws.encode("key"))) == {"arrow"}
    in_turns = pws.with_partition(keys, "id", 12, pws.ProducerConfig("round-robin", key_type="java:long"))
    assert pws.engine_of(in_turns) == {"arrow"}
    assert pws.engine_of(by_arrow.join(by_jvm.select("id", "partition"), "id")) == {"arrow", "jvm"}
    assert spark.conf.get("spark.sql.debug.maxToStringFields") == "25"
