"""Layouts: Spark's task i holds Kafka's partition i, sorted, and two tables meet where their keys do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession

    Table = Callable[[pa.Table], DataFrame]
    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]

N = 6
ROWS = 12_000


@pytest.fixture
def orders(spark: SparkSession) -> DataFrame:
    """Rows with one key in three missing, and columns that cannot be hashed or named without care."""
    user = sf.when(sf.col("id") % 3 != 0, sf.concat(sf.lit("user "), sf.col("id") % 500))
    return spark.range(ROWS).select(
        user.alias("user"),
        (sf.col("id") * 7919 % ROWS).alias("ts"),
        sf.create_map(sf.lit("a"), sf.col("id")).alias("map"),
        sf.lit(1).alias("a.b"),
        sf.lit(2).alias("a`b"),
    )


def in_tasks(df: DataFrame) -> pa.Table:
    """The table's rows in the order in which the tasks have them, with the task."""
    return df.withColumn("task", sf.spark_partition_id()).toArrow()


@pytest.fixture
def laid_out(orders: DataFrame) -> list[dict[str, Any]]:
    return in_tasks(orders.transform(pws.kafka_layout("user", N))).to_pylist()


def test_a_task_holds_its_partition_and_no_other(laid_out: list[dict[str, Any]]) -> None:
    assert len(laid_out) == ROWS
    keyed = [row for row in laid_out if row["user"] is not None]
    assert {row["task"] for row in keyed} == set(range(N))
    assert [row["task"] for row in keyed] == [row["partition"] for row in keyed]
    assert [row["partition"] for row in keyed] == pw.partition_for_key(
        [r["user"] for r in keyed], N
    ).to_pylist()


def test_each_task_is_sorted(laid_out: list[dict[str, Any]]) -> None:
    for task in range(N):
        order = [row["ts"] for row in laid_out if row["task"] == task]
        assert order == sorted(order)


def test_rows_without_a_key_are_dealt_out_and_left_to_the_producer(laid_out: list[dict[str, Any]]) -> None:
    keyless = [row for row in laid_out if row["user"] is None]
    assert {row["partition"] for row in keyless} == {None}
    counts = Counter(row["task"] for row in keyless)
    fair = len(keyless) / N
    assert all(0.85 * fair < counts[task] < 1.15 * fair for task in range(N))


def test_a_row_goes_to_the_same_task_again(orders: DataFrame, laid_out: list[dict[str, Any]]) -> None:
    again = in_tasks(orders.transform(pws.kafka_layout("user", N))).to_pylist()
    assert again == laid_out
    # Also where its rows come from other tasks and in another order.
    shuffled = in_tasks(orders.repartition(5, "ts").transform(pws.kafka_layout("user", N))).to_pylist()
    assert shuffled == laid_out


def test_the_order_may_be_several_columns_and_fall(orders: DataFrame) -> None:
    by = [sf.col("user").desc_nulls_last(), "ts"]
    rows = in_tasks(orders.transform(pws.kafka_layout("user", N, by))).to_pylist()
    for task in range(N):
        mine = [(row["user"] or "", row["ts"]) for row in rows if row["task"] == task]
        by_user = sorted(sorted(mine, key=lambda row: row[1]), key=lambda row: row[0], reverse=True)
        assert mine == by_user


def test_one_partition_and_more_partitions_than_keys(table: Table) -> None:
    few = table(pa.table({"id": ["a", "b", None], "ts": [3, 2, 1]}))
    one = in_tasks(few.transform(pws.kafka_layout(n=1)))
    assert one["ts"].to_pylist() == [1, 2, 3]
    many = in_tasks(few.where("id IS NOT NULL").transform(pws.kafka_layout(n=100)))
    assert many["task"] == many["partition"]


def test_no_row(orders: DataFrame) -> None:
    assert orders.where("ts < 0").transform(pws.kafka_layout("user", N)).count() == 0


def test_a_number_is_a_key_under_its_key_type(spark: SparkSession) -> None:
    numbers = spark.range(1000).withColumnRenamed("id", "ts")
    rows = in_tasks(numbers.transform(pws.kafka_layout("ts", N, key_type="java:long")))
    assert rows["task"] == rows["partition"]
    expected = pw.partition_for_key(rows["ts"], N, key_type="java:long")
    assert rows["partition"].to_pylist() == expected.to_pylist()


def test_a_stream_is_placed_but_not_laid_out(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("string(value) AS id", "timestamp AS ts")
    assert pws.with_partition(stream, "id", N).isStreaming
    with pytest.raises(pw.PartwrightError, match=r"^Spark sorts no stream: lay out each of its batches"):
        stream.transform(pws.kafka_layout("id", N))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": 0}, "the number of partitions must be from 1 to 2147483647, not 0"),
        ({"key": "nowhere"}, "there is no column 'nowhere' for key; the columns are user, ts"),
        ({"order_by": "time"}, "there is no column 'time' for order_by; the columns are user, ts"),
        ({"order_by": ["ts", "time"]}, "there is no column 'time' for order_by; the columns are user, ts"),
        ({"order_by": 7}, "order_by must be a column's name or a Column, not 7"),
        ({"order_by": []}, "order_by is empty: name the columns that each task is sorted by"),
        ({"key": "ts"}, "the key column 'ts' is bigint: int64 has no key bytes of its own"),
    ],
)
def test_a_layout_s_refusal_is_one_sentence(
    orders: DataFrame, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        orders.select("user", "ts").transform(pws.kafka_layout(**{"key": "user", **arguments}))
    assert str(refused.value).startswith(sentence)


def test_tables_that_were_laid_out_together_join_to_the_same_rows(
    orders: DataFrame, spark: SparkSession, configured: Configured
) -> None:
    users = spark.range(400).select(
        sf.when(sf.col("id") > 0, sf.concat(sf.lit("user "), "id")).alias("user"), sf.col("id").alias("age")
    )
    orders = orders.select("user", "ts")
    a, b = pws.copartition(orders, users, key="user", n=N)
    with configured({"spark.sql.autoBroadcastJoinThreshold": -1}):
        for how in ("inner", "left", "full", "left_anti"):
            columns = ["user", "ts"] if how == "left_anti" else ["user", "ts", "age"]
            ours = a.join(b, ["partition", "user"], how).select(columns)
            plain = orders.join(users, "user", how).select(columns)
            assert Counter(map(tuple, ours.collect())) == Counter(map(tuple, plain.collect())), how
        grouped = a.groupBy("partition", "user").count().drop("partition")
        plain = orders.groupBy("user").count()
        assert Counter(map(tuple, grouped.collect())) == Counter(map(tuple, plain.collect()))


def test_copartitioned_rows_without_a_key_stay_together(orders: DataFrame) -> None:
    a, _ = pws.copartition(orders, orders, key="user", n=N)
    keyless = in_tasks(a.where("user IS NULL"))
    assert len(keyless) == ROWS / 3
    assert set(keyless["task"].to_pylist()) == {0}
    assert set(keyless["partition"].to_pylist()) == {None}


def test_keys_of_two_types_are_refused(orders: DataFrame) -> None:
    numbers = orders.select(sf.col("ts").alias("user"))
    with pytest.raises(pw.KeyTypeError) as refused:
        pws.copartition(orders, numbers, key="user", n=N)
    assert str(refused.value) == (
        "keys of two types do not meet: 'user' is string in the first table and bigint in the second"
    )
    with pytest.raises(pw.PartwrightError, match=r"^there is no column 'user' for key; the columns are ts$"):
        pws.copartition(orders, orders.select("ts"), key="user")
    with pytest.raises(pw.KeyTypeError, match=r"^the key column 'user' is bigint"):
        pws.copartition(numbers, numbers, key="user")
