"""`with_partition` with a strategy: each task is one producer, and a task that runs again is the same producer."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.spark.engines.arrow import to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

TASKS, ROWS = 4, 500
CONFIGS = {"batch.size": 1000}
SEED = 3


@pytest.fixture
def records(spark: SparkSession) -> DataFrame:
    """Four tasks with 500 rows each: keys in every third row, values of 0 to 149 bytes, every 50th of them null."""
    number = sf.col("id")
    return spark.range(0, TASKS * ROWS, 1, TASKS).select(
        number.alias("no"),
        sf.when(number % 3 == 0, sf.concat(sf.lit("k"), number)).alias("key"),
        sf.when(number % 50 != 0, sf.expr("repeat('x', CAST(id % 150 AS int))")).alias("value"),
    )


def expected(strategy: str, n: int = 5, **options: Any) -> list[int]:
    """The same records, placed by one producer per task."""
    found: list[int] = []
    for task in range(TASKS):
        numbers = range(task * ROWS, (task + 1) * ROWS)
        keys = [f"k{number}" if number % 3 == 0 else None for number in numbers]
        sizes = [number % 150 if number % 50 else None for number in numbers]
        producer = pw.Producer({"t": n}, pw.ProducerConfig(strategy, CONFIGS, seed=SEED + task, **options))
        found += producer.place({"key": keys, "size": sizes}).to_pylist()
    return found


def with_partition(df: DataFrame, n: Any = 5, **options: Any) -> DataFrame:
    """`pws.with_partition` by the names of the settings of its options objects."""
    workload, producer = (
        kind(**{each.name: options.pop(each.name) for each in fields(kind) if each.name in options})
        for kind in (pws.Workload, pws.ProducerConfig)
    )
    return pws.with_partition(df, workload, n, producer, **options)


def partitions(df: DataFrame, **options: Any) -> list[int]:
    named = {"key": "key", "seed": SEED, "strategy": "key", "configs": CONFIGS}
    placed = with_partition(df, **{**named, **options})
    assert placed.columns == [*df.columns, "partition"]
    rows = to_arrow(placed.select("no", "partition")).sort_by("no")
    found: list[int] = rows["partition"].to_pylist()
    return found


@pytest.mark.parametrize(
    "strategy",
    [
        "sticky",
        "sticky@3.3",
        "sticky@2.4",
        "uniform-sticky@2.4",
        "round-robin",
        "round-robin@2.8",
        "random",
        "default@2.3",
    ],
)
def test_each_task_is_one_producer(records: DataFrame, strategy: str) -> None:
    found = partitions(records, strategy=strategy, value="value")
    assert found == expected(strategy)
    assert set(found) == set(range(5))


def test_batches_of_arrow_do_not_show(records: DataFrame, configured: Callable[..., Any]) -> None:
    with configured({"spark.sql.execution.arrow.maxRecordsPerBatch": 7}):
        assert partitions(records, strategy="sticky@2.4", value="value") == expected("sticky@2.4")


def test_sizes_stand_for_values_and_other_clients_for_keys(records: DataFrame) -> None:
    sized = records.withColumn("bytes", sf.octet_length("value"))
    assert partitions(sized, strategy="sticky", size="bytes") == expected("sticky")
    binary = records.withColumn("value", sf.col("value").cast("binary"))
    assert partitions(binary, strategy="sticky", value=sf.col("value"), client="librdkafka") == expected(
        "sticky", client="librdkafka"
    )


def test_a_partitioner_of_ones_own_has_to_be_there(records: DataFrame) -> None:
    with pytest.raises(pw.PartwrightError, match="cannot be imported"):
        with_partition(records, key="key", strategy="no_module_of_this_name.Last")


def test_shuffled_rows_need_an_order(records: DataFrame) -> None:
    shuffled = records.repartition(3)
    with pytest.raises(pw.PartwrightError, match=r"^the rows come out of a shuffle"):
        with_partition(shuffled, key="key", strategy="round-robin")
    first = partitions(shuffled, strategy="sticky", value="value", order_by="no")
    assert first == partitions(
        records.repartition(3), strategy="sticky", value="value", order_by=["no", "key"]
    )
    assert first == partitions(shuffled, strategy="sticky", value="value", order_by=sf.col("no"))
    assert len(first) == TASKS * ROWS


def test_rows_that_are_equal_in_their_order_are_refused(records: DataFrame) -> None:
    for order, value in [(sf.col("no") % 400, "0"), (sf.lit(None).cast("int"), "None")]:
        placed = with_partition(records.repartition(2), key="key", strategy="round-robin", order_by=order)
        with pytest.raises(PythonException) as refused:
            placed.agg(sf.sum("partition")).collect()
        sentence = pws.first_sentence(refused.value)
        assert sentence.startswith("two rows of a task are equal in order_by ("), value
        assert sentence.endswith("name columns that are unique together")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"strategy": "sticky"}, "the strategy sticky@4.4 counts bytes: name the values' column with value="),
        (
            {"strategy": "leader", "configs": {"leader.rack": "a"}},
            "the strategy leader goes by where the partitions' leaders are: give a Cluster with the topic as n",
        ),
        (
            {"strategy": "explicit"},
            "the strategy explicit goes by a column of the records: name it with partition=",
        ),
        ({"strategy": "field"}, "the strategy field goes by a column of the records: name it with field="),
        ({"partition": "key"}, "partition must be a column of whole numbers, not of string"),
        ({"strategy": "random", "partition": "nr"}, "there is no column 'nr'"),
        (
            {"strategy": "random", "time": "key"},
            "time must be a column of timestamps or whole numbers of milliseconds, not",
        ),
        ({"strategy": "random", "headers": "value"}, "with_partition does not count headers: leave them out"),
        (
            {"strategy": "random", "n": pw.Cluster.of({"a": 5, "b": 5})},
            "the cluster has 2 topics: give one with",
        ),
        ({"strategy": "sticky", "size": "value"}, "size must be a column of whole numbers, not of string"),
        ({"strategy": "sticky", "value": "no"}, "value must be a column of string or binary, not of bigint"),
        ({"strategy": "sticky", "value": "valeu"}, "there is no column 'valeu'"),
        ({"strategy": "random", "order_by": "nr"}, "there is no column 'nr'"),
        ({"strategy": "random", "configs": {"batch.size": -1}}, "batch.size is a whole number from 0"),
        ({"strategy": "random", "seed": 0.5}, "the seed is a whole number of 64 bits, not 0.5"),
    ],
)
def test_a_refusal_is_one_sentence_before_any_job(
    records: DataFrame, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        with_partition(records, **{"key": "key", "strategy": "key", **options})
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


CLUSTER = pw.Cluster.from_dict(
    {
        "brokers": [{"id": 0, "rack": "a"}, {"id": 1, "rack": "b"}],
        "topics": {"t": [{"id": number, "leader": number % 2} for number in range(5)]},
    }
)


def test_leaders_and_racks_are_those_of_a_cluster(records: DataFrame) -> None:
    configs = {"leader.rack": "b", "leader.among": "round-robin"}
    found = partitions(records, strategy="leader", n=CLUSTER, configs=configs)
    assert found == [(1, 3)[place % ROWS % 2] for place in range(TASKS * ROWS)]
    aware = {**CONFIGS, "partitioner.rack.aware": True, "client.rack": "a"}
    near = partitions(records, strategy="sticky", n=CLUSTER, configs=aware, value="value")
    keyless = [partition for place, partition in enumerate(near) if place % ROWS and place % 3]
    assert set(keyless) == {0, 2, 4}


def test_rows_may_name_their_partition_and_their_field(records: DataFrame) -> None:
    named = records.withColumn("partition", sf.when(sf.col("no") % 2 == 0, sf.col("no") % 5))
    own = [place % 5 if place % 2 == 0 else None for place in range(TASKS * ROWS)]

    def found(**options: Any) -> list[int | None]:
        placed = with_partition(
            named, **{"key": "key", "partition": "partition", "strategy": "key", **options}
        )
        assert placed.columns == named.columns
        return to_arrow(placed.select("no", "partition")).sort_by("no")["partition"].to_pylist()

    keys = [f"k{place}" if place % 3 == 0 else None for place in range(TASKS * ROWS)]
    keyed = pw.partition_for_key(keys, 5).to_pylist()
    assert found() == [key if mine is None else mine for mine, key in zip(own, keyed, strict=True)]
    turns = iter([number % 5 for _ in range(TASKS) for number in range(ROWS // 2)])
    assert found(strategy="explicit", configs={"otherwise": "round-robin"}) == [
        next(turns) if mine is None else mine for mine in own
    ]
    by_field = pw.partition_for_key([str(place % 7) for place in range(TASKS * ROWS)], 5).to_pylist()
    assert partitions(records, strategy="field", field=(sf.col("no") % 7).cast("string")) == by_field


def test_what_keeps_nothing_needs_no_order(spark: SparkSession, records: DataFrame) -> None:
    shuffled = records.repartition(3).withColumn("own", sf.col("no") % 5)
    assert partitions(shuffled, partition="own") == [place % 5 for place in range(TASKS * ROWS)]
    stream = spark.readStream.format("rate").load().withColumn("key", sf.col("value").cast("string"))
    assert with_partition(stream, key="key", strategy="field", field="key").isStreaming


def test_times_let_batches_linger(spark: SparkSession) -> None:
    rows = spark.range(0, 200, 1, 1).select(
        sf.col("id").alias("no"), sf.lit(None).cast("string").alias("key"), sf.lit(10).alias("size")
    )
    configs = {"linger.ms": 5, "batch.size": 200}
    for time in (sf.col("no"), sf.timestamp_millis("no")):
        found = partitions(rows, strategy="sticky", size="size", time=time, configs=configs)
        table = {"size": [10] * 200, "time": list(range(200))}
        assert (
            found
            == pw.Producer({"t": 5}, pw.ProducerConfig("sticky", configs=configs, seed=SEED))
            .place(table)
            .to_pylist()
        )
        assert found != partitions(rows, strategy="sticky", size="size", configs=configs)


def test_a_stream_is_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    with pytest.raises(pw.PartwrightError, match=r"^a stream's rows have no order that comes again"):
        with_partition(stream, key=sf.col("value").cast("string"), strategy="random")
