"""Engine jvm works wherever Spark's own expressions do: below filters, in aggregates, joins, SQL and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from engine_jvm import IS_REMOTE
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from partwright.kafka import EmbeddedKafka

    Plan = Callable[[DataFrame], str]
    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]

pytestmark = pytest.mark.skipif(IS_REMOTE, reason="Spark Connect has no such expression of texts")
ROWS, N = 1000, 12
CORE: list[int] = pw.partition_for_key(pa.array([str(at) for at in range(ROWS)]), N).to_pylist()


@pytest.fixture
def keys(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).select(sf.col("id").cast("string").alias("key"), "id")


@pytest.fixture
def placed(keys: DataFrame) -> DataFrame:
    return pws.with_partition(keys, "key", N, engine="jvm")


def partitions(df: DataFrame) -> list[int]:
    return [row[0] for row in df.orderBy("id").select("partition").collect()]


def test_no_python_runs_and_filters_are_pushed_below(
    keys: DataFrame, spark: SparkSession, tmp_path: Path, plan: Plan
) -> None:
    keys.write.parquet(str(tmp_path / "keys"))
    said = plan(
        pws.with_partition(spark.read.parquet(str(tmp_path / "keys")), "key", N, engine="jvm").where("id > 5")
    )
    assert "Python" not in said
    assert "GreaterThan(id,5)" in said
    # A star marks whole-stage code.
    assert "*(1) Project" in said
    assert "MurmurHash2" in said


def test_it_may_stand_where_an_arrow_udf_may_not(spark: SparkSession, keys: DataFrame) -> None:
    place = pws.partition_for_key("key", N, engine="jvm")
    counted = keys.agg(sf.max(place), sf.count_distinct(place), sf.count_if(place == 3)).collect()
    assert [tuple(row) for row in counted] == [(max(CORE), len(set(CORE)), CORE.count(3))]
    named = spark.range(N).withColumnRenamed("id", "at")
    for how in ("inner", "left_semi", "left"):
        assert keys.join(named, place == sf.col("at"), how).count() == ROWS, how
    assert {tuple(row) for row in keys.groupBy(place.alias("p")).count().collect()} == {
        (each, CORE.count(each)) for each in set(CORE)
    }
    assert [row.id for row in keys.orderBy(place, "id").collect()] == sorted(
        range(ROWS), key=lambda at: (CORE[at], at)
    )


def test_it_is_kept_and_checkpointed_and_seen_by_sql(
    spark: SparkSession, placed: DataFrame, tmp_path: Path
) -> None:
    kept = placed.cache()
    assert partitions(kept) == CORE
    kept.unpersist()
    assert partitions(placed.localCheckpoint()) == CORE
    spark.sparkContext.setCheckpointDir(str(tmp_path))
    assert partitions(placed.checkpoint()) == CORE
    placed.createOrReplaceTempView("placed")
    assert [row[0] for row in spark.sql("SELECT partition FROM placed ORDER BY id").collect()] == CORE
    placed.write.partitionBy("partition").parquet(str(tmp_path / "by partition"))
    assert partitions(spark.read.parquet(str(tmp_path / "by partition"))) == CORE


def test_a_layout_and_two_tables_that_meet(keys: DataFrame, configured: Configured) -> None:
    laid_out = keys.transform(pws.kafka_layout("key", N, "id", engine="jvm"))
    tasks = laid_out.select("id", "partition", sf.spark_partition_id().alias("task")).collect()
    assert all(row.partition == row.task == CORE[row.id] for row in tasks)
    assert len(tasks) == ROWS
    # Before PySpark 4.1 the latter has to be off.
    settings = {
        "spark.sql.autoBroadcastJoinThreshold": -1,
        "spark.sql.requireAllClusterKeysForCoPartition": "false",
    }
    with configured(settings):
        a, b = pws.copartition(keys, keys.withColumnRenamed("id", "other"), "key", N, engine="jvm")
        assert pws.engine_of(a) == pws.engine_of(b) == {"jvm"}
        assert a.join(b, [*pws.LAYOUT_COLUMNS, "key"]).where("id = other").count() == ROWS


@pytest.fixture
def registered(spark: SparkSession, keys: DataFrame) -> Iterator[SparkSession]:
    pws.register(spark, engine="jvm")
    keys.createOrReplaceTempView("keys")
    yield spark
    pws.register(spark, engine="arrow")


def test_sql_functions(registered: SparkSession, plan: Plan) -> None:
    spark = registered
    found = spark.sql("SELECT kafka_partition(key, 12), kafka_murmur2(id, 'java:long') FROM keys ORDER BY id")
    assert found.columns == ["kafka_partition(key, 12)", "kafka_murmur2(id, java:long)"]
    assert "Python" not in plan(found)
    assert pws.engine_of(found) == {"jvm"}
    hashes = pw.murmur2(pa.array(range(ROWS)), key_type="java:long").to_pylist()
    assert [tuple(row) for row in found.collect()] == list(zip(CORE, hashes, strict=True))
    assert spark.sql("SELECT kafka_partition('TT0124', 15)").collect() == [(10,)]
    named = spark.sql("SELECT partition_for_key(key, 12), murmur2(id, 'long') FROM keys ORDER BY id")
    assert named.columns == ["partition_for_key(key, 12)", "murmur2(id, long)"]
    assert [tuple(row) for row in named.collect()] == list(zip(CORE, hashes, strict=True))
    assert spark.sql("SELECT kafka_partition(NULL, 15), kafka_partition('', 15, 'librdkafka')").collect() == [
        (None, None)
    ]
    counted = spark.sql(
        "SELECT count_if(kafka_partition(key, 12, 'java', NULL) = 3), max(kafka_partition(key, 12)) FROM keys"
    )
    assert counted.collect() == [(CORE.count(3), max(CORE))]
    grouped = spark.sql(
        "SELECT kafka_partition(key, 12), count(*) FROM keys GROUP BY kafka_partition(key, 12)"
    )
    assert {tuple(row) for row in grouped.collect()} == {(each, CORE.count(each)) for each in set(CORE)}
    joined = spark.sql(
        "SELECT count(*) FROM keys JOIN range(12) AS r ON kafka_partition(keys.key, 12) = r.id"
    )
    assert joined.collect() == [(ROWS,)]
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW seen AS SELECT id, kafka_partition(key, 12) AS partition FROM keys"
    )
    assert partitions(spark.table("seen")) == CORE


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("kafka_partition(key, 0)", "must be from 1 to 2147483647, not 0"),
        ("kafka_partition(key, NULL)", "n, the number of partitions, is NULL"),
        ("kafka_partition(key, 12, NULL)", "client is NULL"),
        ("kafka_partition(key, id)", "engine jvm takes constants for n, client and key type in SQL, not "),
        ("kafka_partition(key, 12, 'sarama')", "no exact expression for client 'sarama'"),
        ("kafka_partition(key, 12, 'jav')", "did you mean java"),
        ("kafka_partition(key)", "takes a key and n"),
        ("kafka_partition()", "takes a key, and it is missing"),
        ("kafka_murmur2(key, 'utf8', 7)", "takes a key and perhaps a key type, not 3 arguments"),
        ("kafka_murmur2(id, 'java:double')", "no exact expression for the key type 'java:double'"),
    ],
)
def test_sql_functions_refuse(registered: SparkSession, call: str, sentence: str) -> None:
    # Java shows a Python error as an error of py4j.
    with pytest.raises(Exception, match="Python Proxy") as refused:
        registered.table("keys").selectExpr(call)
    said = pws.first_sentence(refused.value)
    assert said is not None
    assert sentence in said


def test_engine_of_tells_what_is_in_a_plan(
    spark: SparkSession, keys: DataFrame, placed: DataFrame, tmp_path: Path
) -> None:
    by_arrow = pws.with_partition(keys, "key", N, engine="arrow")
    assert pws.engine_of(keys) == set()
    assert pws.engine_of(placed) == {"jvm"}
    assert pws.engine_of(by_arrow) == {"arrow"}
    assert pws.engine_of(placed.cache()) == {"jvm"}
    placed.unpersist()
    assert pws.engine_of(by_arrow.join(placed, "partition").groupBy("partition").count()) == {"arrow", "jvm"}
    # A column is called like an Arrow UDF.
    assert pws.engine_of(keys.select(pws.partition_for_key("key", N, engine="jvm"))) == {"jvm"}
    assert pws.engine_of(keys.select(pws.murmur2(sf.upper("key"), engine="arrow"))) == {"arrow"}
    for client, key, key_type in (
        ("librdkafka", "key", None),
        ("java", "id", "java:long"),
        ("java", "id", "java:int"),
    ):
        assert pws.engine_of(pws.with_partition(keys, key, N, client, key_type, engine="jvm")) == {"jvm"}
    assert pws.engine_of(placed.localCheckpoint()) == set()
    local = spark.createDataFrame([("a",)], "key string")
    assert pws.engine_of(pws.with_partition(local, "key", N, engine="jvm")) == {"jvm"}
    keys.write.parquet(str(tmp_path / "stream"))
    stream = spark.readStream.schema(keys.schema).parquet(str(tmp_path / "stream"))
    assert pws.engine_of(pws.with_partition(stream, "key", N, engine="jvm")) == {"jvm"}


def test_streams(spark: SparkSession, keys: DataFrame, tmp_path: Path) -> None:
    keys.repartition(4).write.parquet(str(tmp_path / "source"))
    stream = (
        spark.readStream.schema(keys.schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "source"))
    )
    placed = pws.with_partition(stream, "key", N, engine="jvm")

    def run(df: DataFrame, name: str, mode: str) -> Iterator[tuple[int, ...]]:
        query = (
            df.writeStream.format("memory" if mode == "complete" else "parquet")
            .queryName(name)
            .outputMode(mode)
            .trigger(availableNow=True)
            .option("checkpointLocation", str(tmp_path / f"{name} checkpoint"))
            .option("path", str(tmp_path / name))
            .start()
        )
        assert query.awaitTermination(120)
        df = spark.table(name) if mode == "complete" else spark.read.parquet(str(tmp_path / name))
        return (tuple(row) for row in df.collect())

    filtered = run(
        placed.where("id >= 500 AND partition <> 3").select("id", "partition"), "filtered", "append"
    )
    assert sorted(filtered) == [(at, CORE[at]) for at in range(500, ROWS) if CORE[at] != 3]
    counted = run(placed.groupBy("partition").count(), "counted", "complete")
    assert sorted(counted) == [(each, CORE.count(each)) for each in sorted(set(CORE))]


@pytest.mark.skipif(pyspark_version() < (4, 2), reason="real-time mode came with 4.2")
def test_real_time_mode_takes_it(spark: SparkSession, broker: EmbeddedKafka, tmp_path: Path) -> None:
    """Real-time mode refuses Python functions: the Arrow column ends the query."""
    from partwright.kafka.topics import create_topic

    for topic, n in (("real-time source", 1), ("real-time target", N)):
        create_topic(broker.bootstrap_servers, topic.replace(" ", "-"), n)
    kafka = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    spark.range(100).select(sf.col("id").cast("string").alias("value")).write.format("kafka").options(
        **kafka, topic="real-time-source"
    ).save()
    source = (
        spark.readStream.format("kafka")
        .options(**kafka, subscribe="real-time-source", startingOffsets="earliest")
        .load()
    )
    keyed = source.select(sf.col("value").cast("string").alias("key"), sf.lit("x").alias("value"))

    def started(engine: str) -> object:
        return (
            pws.with_partition(keyed, "key", N, engine=engine)
            .writeStream.format("kafka")
            .options(**kafka, topic="real-time-target")
            .outputMode("update")
            .option("checkpointLocation", str(tmp_path / engine))
            .trigger(realTime="5 seconds")
            .start()
        )

    with pytest.raises(Exception, match="OPERATOR_OR_SINK_NOT_IN_ALLOWLIST"):
        started("arrow").awaitTermination(60)
    query = started("jvm")
    written = spark.read.format("kafka").options(**kafka, subscribe="real-time-target")
    for _ in range(60):
        assert query.exception() is None
        if (found := written.load().selectExpr("CAST(key AS STRING)", "partition").collect()) and len(
            found
        ) >= 100:
            break
        query.awaitTermination(1)
    query.stop()
    assert sorted((int(row.key), row.partition) for row in found) == [(at, CORE[at]) for at in range(100)]
