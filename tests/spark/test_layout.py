"""Layouts: Spark's task i holds Kafka's partition i, sorted, and two tables meet where their keys do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.spark import partition_layout
from partwright.spark.words import salt_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession

    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]

N = 6
ROWS = 12_000
ODD_WORDS = (593_689_054, 933_211_791, 800_369_651, 1_235_802_829)


@pytest.fixture
def orders(spark: SparkSession) -> DataFrame:
    """Rows of which one in three has no key, and columns whose hashing or naming needs care."""
    user = sf.when(sf.col("id") % 3 != 0, sf.concat(sf.lit("user "), sf.col("id") % 500))
    return spark.range(ROWS).select(
        user.alias("user"),
        (sf.col("id") * 7919 % ROWS).alias("ts"),
        sf.create_map(sf.lit("a"), sf.col("id")).alias("map"),
        sf.lit(1).alias("a.b"),
        sf.lit(2).alias("a`b"),
    )


def in_tasks(df: DataFrame) -> list[dict[str, Any]]:
    """The table's rows in the order in which the tasks have them, with the task."""
    return [row.asDict() for row in df.withColumn("task", sf.spark_partition_id()).collect()]


@pytest.fixture
def laid_out(orders: DataFrame, layout_columns: list[str]) -> list[dict[str, Any]]:
    del layout_columns
    found = orders.transform(pws.kafka_layout("user", N, "ts"))
    assert found.columns == [*orders.columns, "partition"]
    return in_tasks(found)


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
    again = in_tasks(orders.transform(pws.kafka_layout("user", N, "ts")))
    assert again == laid_out
    # Even if its rows come from other tasks and in another order.
    shuffled = in_tasks(orders.repartition(5, "ts").transform(pws.kafka_layout("user", N, "ts")))
    assert shuffled == laid_out


def test_the_order_may_be_several_columns_and_fall(orders: DataFrame) -> None:
    by = [sf.col("user").desc_nulls_last(), "ts"]
    rows = in_tasks(orders.transform(pws.kafka_layout("user", N, by)))
    for task in range(N):
        mine = [(row["user"] or "", row["ts"]) for row in rows if row["task"] == task]
        by_user = sorted(sorted(mine, key=lambda row: row[1]), key=lambda row: row[0], reverse=True)
        assert mine == by_user


@pytest.mark.usefixtures("layout_columns")
def test_one_partition_and_more_partitions_than_keys(spark: SparkSession) -> None:
    few = spark.createDataFrame([("a", 3), ("b", 2), (None, 1)], "id string, ts int")
    one = in_tasks(few.transform(pws.kafka_layout("id", 1, "ts")))
    assert [row["ts"] for row in one] == [1, 2, 3]
    many = in_tasks(few.where("id IS NOT NULL").transform(pws.kafka_layout("id", 100, "ts")))
    assert [row["task"] for row in many] == [row["partition"] for row in many]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_spark_hashes_a_salt_to_its_partition(spark: SparkSession, configured: Configured, ansi: str) -> None:
    last = 2**31 - 1
    numbers = spark.range(10_000).union(spark.range(last - 100, last + 1))
    # Numbers with a word that is 0 or has all bits set when it is rotated.
    numbers = numbers.union(spark.createDataFrame([[each] for each in ODD_WORDS], "id bigint"))
    numbers = numbers.select(sf.col("id").cast("int"))
    with configured({"spark.sql.ansi.enabled": ansi}):
        salts = numbers.select("id", salt_of(sf.col("id")).alias("salt"))
        assert dict(salts.dtypes)["salt"] == "int"
        assert salts.where(sf.hash("salt") != sf.col("id")).count() == 0
        assert salts.where("salt IS NOT NULL").count() == 10_101 + len(ODD_WORDS)
        assert numbers.select(salt_of(sf.lit(None).cast("int"))).first()[0] is None


@pytest.mark.usefixtures("layout_columns")
@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_no_row_is_in_a_wrong_task(
    spark: SparkSession, configured: Configured, adaptive: str, ansi: str
) -> None:
    with configured({"spark.sql.adaptive.enabled": adaptive, "spark.sql.ansi.enabled": ansi}):
        for n in (1, 2, 3, 7, 48, *([1000] if adaptive == ansi == "true" else [])):
            rows = spark.range(3 * n).withColumn("partition", (sf.col("id") % n).cast("int"))
            found = partition_layout.laid_out(rows, rows, n, [sf.col("id")])
            tasks = found.select("id", "partition", sf.spark_partition_id().alias("task")).collect()
            assert {row.task for row in tasks} == set(range(n))
            assert [(row.task, row.id) for row in tasks] == [
                (each, each + n * turn) for each in range(n) for turn in range(3)
            ]


def test_no_row(orders: DataFrame) -> None:
    assert orders.where("ts < 0").transform(pws.kafka_layout("user", N, "ts")).count() == 0


def test_a_number_is_a_key_under_its_key_type(spark: SparkSession) -> None:
    numbers = spark.range(1000).withColumnRenamed("id", "ts")
    rows = in_tasks(numbers.transform(pws.kafka_layout("ts", N, "ts", key_type="java:long")))
    assert len(rows) == 1000
    assert [row["task"] for row in rows] == [row["partition"] for row in rows]
    expected = pw.partition_for_key([row["ts"] for row in rows], N, key_type="java:long")
    assert [row["partition"] for row in rows] == expected.to_pylist()


def test_a_stream_is_placed_but_not_laid_out(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("string(value) AS id", "timestamp AS ts")
    assert pws.with_partition(stream, "id", N).isStreaming
    with pytest.raises(pw.PartwrightError, match=r"^Spark sorts no stream: lay out each of its batches"):
        stream.transform(pws.kafka_layout("id", N, "ts"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": 0}, "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ({"key": "nowhere"}, "there is no column 'nowhere' for key; the columns are user, ts"),
        ({"key": "usr"}, "there is no column 'usr' for key: did you mean 'user'? It has user, ts"),
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
        orders.select("user", "ts").transform(
            pws.kafka_layout(**{"key": "user", "n": 48, "order_by": "ts", **arguments})
        )
    assert str(refused.value).startswith(sentence)


def test_tables_that_were_laid_out_together_join_to_the_same_rows(
    orders: DataFrame, spark: SparkSession, configured: Configured, layout_columns: list[str]
) -> None:
    users = spark.range(400).select(
        sf.when(sf.col("id") > 0, sf.concat(sf.lit("user "), "id")).alias("user"), sf.col("id").alias("age")
    )
    orders = orders.select("user", "ts")
    a, b = pws.copartition(orders, users, key="user", n=N)
    with configured({"spark.sql.autoBroadcastJoinThreshold": -1}):
        for how in ("inner", "left", "full", "left_anti"):
            columns = ["user", "ts"] if how == "left_anti" else ["user", "ts", "age"]
            ours = a.join(b, [*layout_columns, "user"], how).select(columns)
            plain = orders.join(users, "user", how).select(columns)
            assert Counter(map(tuple, ours.collect())) == Counter(map(tuple, plain.collect())), how
        grouped = a.groupBy(*layout_columns, "user").count().drop(*layout_columns)
        plain = orders.groupBy("user").count()
        assert Counter(map(tuple, grouped.collect())) == Counter(map(tuple, plain.collect()))


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_a_join_leaves_each_row_in_its_task(
    orders: DataFrame, configured: Configured, layout_columns: list[str], adaptive: str
) -> None:
    users = orders.select("user", sf.lit("x").alias("name")).distinct()
    settings = {"spark.sql.adaptive.enabled": adaptive, "spark.sql.autoBroadcastJoinThreshold": -1}
    with configured(settings):
        a, b = pws.copartition(orders.select("user", "ts"), users, key="user", n=N)
        assert a.columns == ["user", "ts", *layout_columns]
        joined = a.join(b, [*layout_columns, "user"])
        for found in (
            a.where("user IS NOT NULL"),
            joined,
            joined.groupBy(*layout_columns, "user", "ts").count(),
        ):
            rows = in_tasks(found)
            assert len(rows) == ROWS * 2 / 3
            assert {row["task"] for row in rows} == set(range(N))
            assert [row["task"] for row in rows] == [row["partition"] for row in rows]


def test_copartitioned_rows_without_a_key_stay_together(orders: DataFrame, layout_columns: list[str]) -> None:
    a, _ = pws.copartition(orders, orders, key="user", n=N)
    keyless = in_tasks(a.where("user IS NULL"))
    assert len(keyless) == ROWS / 3
    assert {row["task"] for row in keyless} == {0}
    assert {row["partition"] for row in keyless} == {None}
    assert len({row[layout_columns[-1]] for row in keyless}) == 1


def test_the_columns_to_join_on_are_those_of_this_pyspark(orders: DataFrame, configured: Configured) -> None:
    with configured({"spark.sql.requireAllClusterKeysForCoPartition": "false"}):
        a, _ = pws.copartition(orders.select("user"), orders, key="user", n=N)
    assert a.columns == ["user", *pws.LAYOUT_COLUMNS]


def test_a_layout_is_a_function_for_transform(orders: DataFrame) -> None:
    with pytest.raises(pw.PartwrightError, match=r"write df\.transform\(pws\.kafka_layout\('key', 12, "):
        pws.kafka_layout(orders, 12, "ts")  # type: ignore[arg-type]


def test_joins_that_would_lose_the_layout_are_refused(
    orders: DataFrame, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_layout, "_BY_ID", False)
    with configured({"spark.sql.requireAllClusterKeysForCoPartition": "true"}):
        with pytest.raises(pw.PartwrightError) as refused:
            pws.copartition(orders, orders, key="user", n=N)
        assert str(refused.value) == (
            "before PySpark 4.1 joins keep this layout only where spark.sql.requireAllClusterKeysForCoPartition is "
            'false, and it is true: call spark.conf.set("spark.sql.requireAllClusterKeysForCoPartition", "false") first'
        )
    with configured({"spark.sql.requireAllClusterKeysForCoPartition": "false"}):
        salted = orders.withColumn("Salt", sf.lit(1))
        with pytest.raises(pw.PartwrightError, match=r"^the table has a column 'Salt' already: rename it"):
            pws.copartition(orders, salted, key="user", n=N)


def test_keys_of_two_types_are_refused(orders: DataFrame) -> None:
    numbers = orders.select(sf.col("ts").alias("user"))
    with pytest.raises(pw.KeyTypeError) as refused:
        pws.copartition(orders, numbers, key="user", n=N)
    assert str(refused.value) == (
        "keys of two types do not meet: 'user' is string in the first table and bigint in the second"
    )
    with pytest.raises(pw.PartwrightError, match=r"^there is no column 'user' for key; the columns are ts$"):
        pws.copartition(orders, orders.select("ts"), key="user", n=N)
    with pytest.raises(pw.KeyTypeError, match=r"^the key column 'user' is bigint"):
        pws.copartition(numbers, numbers, key="user", n=N)
