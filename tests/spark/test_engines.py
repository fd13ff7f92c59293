"""Engine jvm gives what the core gives, or says that it has no expression; it runs no Python and hinders nothing."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.errors import PartwrightError
from partwright.keys.clients import key_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    Table = Callable[[pa.Table], DataFrame]
    Plan = Callable[[DataFrame], str]
    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]

USUAL = 20_000
NS = (12, 1000, 2**31 - 1)
CLIENTS = {row["client"]: row for row in pw.clients().to_pylist()}
BY_BYTES = [name for name, row in CLIENTS.items() if row["hash"] == "murmur2"]
BY_CRC32 = [name for name, row in CLIENTS.items() if row["hash"] == "crc32"]
WHOLE = {"java:short": 16, "java:int": 32, "java:long": 64}
# The method that hashes bytes is reached in a session with a Java process of its own alone.
IS_REMOTE = "PARTWRIGHT_TEST_REMOTE" in os.environ
classic = pytest.mark.skipif(IS_REMOTE, reason="Spark Connect has no such expression")


@pytest.fixture
def drawn(seed: int, cases: Callable[[int], int]) -> Callable[[], bytes]:
    """Random keys, all lengths and all bytes among them."""
    del cases
    source = random.Random(seed)

    def one() -> bytes:
        return source.randbytes(source.randrange(65))

    return one


def answers(df: DataFrame, client: str, key_type: str | None = None) -> dict[int, list[int | None]]:
    """What engine jvm says of the column `key`, by the number of partitions."""
    columns = [pws.partition_for_key("key", n, client, key_type, engine="jvm").alias(str(n)) for n in NS]
    return {n: column.to_pylist() for n, column in zip(NS, df.select(*columns).toArrow(), strict=True)}


def wanted(keys: pa.Array, client: str, key_type: str | None = None) -> dict[int, list[int | None]]:
    return {n: pw.partition_for_key(keys, n, client, key_type).to_pylist() for n in NS}


@pytest.fixture(params=["true", "false"], ids=["ANSI", "not ANSI"])
def ansi(request: pytest.FixtureRequest, configured: Configured) -> Iterator[None]:
    with configured({"spark.sql.ansi.enabled": request.param}):
        yield


@classic
@pytest.mark.usefixtures("ansi")
def test_murmur2_of_random_binaries(
    table: Table, drawn: Callable[[], bytes], cases: Callable[[int], int]
) -> None:
    some = [b"", None, b"\xff" * 64, bytes(100_003), *(drawn() for _ in range(cases(USUAL)))]
    keys = pa.array(some, pa.binary())
    df = table(pa.table({"key": keys}))
    hashes = df.select(pws.murmur2("key", engine="jvm")).toArrow()[0]
    assert hashes.to_pylist() == pw.murmur2(keys).to_pylist()
    for client in BY_BYTES:
        assert answers(df, client) == wanted(keys, client), client


@classic
@pytest.mark.usefixtures("ansi")
def test_murmur2_of_random_texts(table: Table, seed: int, cases: Callable[[int], int]) -> None:
    source = random.Random(seed)
    some = ["".join(source.choices("ab9-ß漢🦀", k=source.randrange(30))) for _ in range(cases(USUAL))]
    keys = pa.array([*some, "", None])
    df = table(pa.table({"key": keys}))
    for key_type in (None, "utf8", "java:string"):
        assert answers(df, "java", key_type) == wanted(keys, "java", key_type)


@pytest.mark.usefixtures("ansi")
def test_crc32_of_random_keys(table: Table, drawn: Callable[[], bytes], cases: Callable[[int], int]) -> None:
    keys = pa.array([b"", None, *(drawn() for _ in range(cases(USUAL)))], pa.binary())
    texts = pa.array(
        [None if key is None else key.as_py().hex() for key in keys if key.is_valid] + [None, ""]
    )
    for client in BY_CRC32:
        assert answers(table(pa.table({"key": keys})), client) == wanted(keys, client), client
        assert answers(table(pa.table({"key": texts})), client) == wanted(texts, client), client


@pytest.mark.usefixtures("ansi")
@pytest.mark.parametrize("key_type", WHOLE)
def test_murmur2_of_random_numbers(
    table: Table, key_type: str, seed: int, cases: Callable[[int], int]
) -> None:
    source, most = random.Random(seed), 2 ** (WHOLE[key_type] - 1)
    some = [0, -1, 1, most - 1, -most, None, *(source.randrange(-most, most) for _ in range(cases(USUAL)))]
    for kind in (pa.int64(), pa.int8()):
        fits = [
            each
            for each in some
            if each is None or -(2 ** (kind.bit_width - 1)) <= each < 2 ** (kind.bit_width - 1)
        ]
        keys = pa.array(fits, kind)
        df = table(pa.table({"key": keys}))
        hashes = df.select(pws.murmur2("key", key_type, engine="jvm")).toArrow()[0]
        assert hashes.to_pylist() == pw.murmur2(keys, key_type=key_type).to_pylist()
        assert answers(df, "librdkafka:murmur2", key_type) == wanted(keys, "librdkafka:murmur2", key_type)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_other_rule_is_refused_by_name(spark: SparkSession, client: str) -> None:
    del spark
    by_bytes = client in BY_BYTES
    for key_type in key_types():
        known = (key_type in WHOLE and by_bytes) or (
            key_type in {"utf8", "bytes", "java:string"} and (by_bytes or client in BY_CRC32)
        )
        if known:
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
    with pytest.raises(PySparkException, match=r"no key bytes under the key type|does not fit the key type"):
        df.select(pws.partition_for_key("key", 12, key_type=key_type, engine="jvm")).collect()


@classic
def test_keys_of_another_type_have_no_bytes(table: Table) -> None:
    for keys, key_type in ((pa.array(["a"]), "bytes"), (pa.array([b"a"]), "utf8"), (pa.array([1]), None)):
        df = table(pa.table({"key": keys}))
        with pytest.raises(
            PySparkException, match=r"no key bytes under the key type|requires the .BINARY. type"
        ):
            df.select(pws.murmur2("key", key_type, engine="jvm")).collect()


@classic
def test_no_python_runs_and_filters_are_pushed_below(spark: SparkSession, tmp_path: Path, plan: Plan) -> None:
    path = str(tmp_path / "keys")
    spark.range(1000).select(sf.col("id").cast("string").alias("key"), "id").write.parquet(path)
    placed = pws.with_partition(spark.read.parquet(path), "key", 12, engine="jvm")
    said = plan(placed.where("id > 5"))
    assert "ArrowEval" not in said
    assert "GreaterThan(id,5)" in said
    # Whole-stage code is marked with a star.
    assert "*(1) Project" in said
    assert "MurmurHash2.hash32" in said


@classic
def test_it_may_stand_where_an_arrow_udf_may_not(spark: SparkSession) -> None:
    keys = spark.range(1000).select(sf.col("id").cast("string").alias("key"))
    place = pws.partition_for_key("key", 12, engine="jvm")
    core = pw.partition_for_key(pa.array([str(at) for at in range(1000)]), 12).to_pylist()
    counted = keys.agg(sf.max(place), sf.count_distinct(place), sf.count_if(place == 3)).first()
    assert counted is not None
    assert tuple(counted) == (max(core), len(set(core)), core.count(3))
    partitions = spark.range(12).withColumnRenamed("id", "partition")
    joined = keys.join(partitions, place == sf.col("partition"))
    assert joined.count() == 1000
    assert keys.groupBy(place.alias("p")).count().count() == 12


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


def test_strategies_have_no_such_engine(spark: SparkSession) -> None:
    with pytest.raises(PartwrightError, match="engine jvm places by the key alone"):
        pws.with_partition(spark.range(3), "id", 12, key_type="java:long", strategy="sticky", engine="jvm")


@pytest.mark.skipif(not IS_REMOTE, reason="a classic session has this expression")
def test_connect_has_no_murmur2_of_bytes(spark: SparkSession) -> None:
    del spark
    with pytest.raises(PartwrightError, match="no murmur2 of texts and binaries in Spark Connect"):
        pws.partition_for_key("key", 12, engine="jvm")
