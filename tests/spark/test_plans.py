"""Spark's plans for the columns: the UDF runs once per row, only over the key, and layouts shuffle once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as sf

from partwright import spark as pws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]
    Plan = Callable[[DataFrame], str]


def runs(text: str) -> int:
    """How often the plan runs the UDF."""
    return text.count("ArrowEvalPython [")


def shuffles(text: str) -> int:
    """How often the plan shuffles; a reused shuffle counts once, and a broadcast does not count."""
    return len(re.findall(r"[-:] (?:\*\(\d+\) )?Exchange ", text))


@pytest.fixture
def orders(spark: SparkSession) -> DataFrame:
    ids = sf.when(sf.col("id") % 10 != 0, sf.concat(sf.lit("user "), sf.col("id") % 97))
    return spark.range(1000).select(ids.alias("user"), sf.col("id").alias("ts"), sf.lit("x").alias("note"))


@pytest.fixture
def users(spark: SparkSession) -> DataFrame:
    return spark.range(97).select(sf.concat(sf.lit("user "), "id").alias("user"), sf.col("id").alias("age"))


@pytest.fixture(params=["true", "false"], ids=["adaptive", "not adaptive"])
def adaptive(request: pytest.FixtureRequest, configured: Configured) -> Iterator[None]:
    # Small tables would be broadcast, which would not test a shuffle.
    settings = {"spark.sql.adaptive.enabled": request.param, "spark.sql.autoBroadcastJoinThreshold": -1}
    with configured(settings):
        yield


def test_a_filter_on_the_column_runs_it_once(orders: DataFrame, plan: Plan) -> None:
    placed = pws.with_partition(orders, "user", 12)
    for condition in ("partition = 3", "partition IS NOT NULL", "coalesce(partition, 0) = 0 AND ts > 5"):
        assert runs(plan(placed.where(condition))) == 1
    assert runs(plan(placed.select(sf.coalesce("partition", sf.lit(0)), "partition"))) == 1


def test_a_filter_on_another_column_stays_above_it(orders: DataFrame, plan: Plan) -> None:
    text = plan(pws.with_partition(orders, "user", 12).where("ts > 5"))
    assert text.index("Filter") < text.index("ArrowEvalPython")
    below = plan(pws.with_partition(orders.where("ts > 5"), "user", 12))
    assert below.index("ArrowEvalPython") < below.index("Filter")


def test_only_the_key_goes_to_python(orders: DataFrame, plan: Plan) -> None:
    # A pandas UDF contains its bytes, next to a constant for its type.
    key = r"(user#\d+|0, cast\(user#\d+ as binary\))"
    assert re.search(
        rf"ArrowEvalPython \[partition_for_key\({key}\)", plan(pws.with_partition(orders, "user", 12))
    )


@pytest.mark.usefixtures("adaptive")
def test_grouping_by_the_column_runs_it_once(orders: DataFrame, plan: Plan) -> None:
    grouped = orders.groupBy(pws.partition_for_key("user", 12).alias("partition")).count()
    assert runs(plan(grouped)) == 1
    assert grouped.agg(sf.sum("count")).first()[0] == 1000


def test_spark_refuses_it_inside_of_aggregates_and_join_conditions(
    orders: DataFrame, users: DataFrame
) -> None:
    column = pws.partition_for_key("user", 12)
    with pytest.raises(AnalysisException, match="AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION"):
        orders.agg(sf.max(column)).collect()
    with pytest.raises(AnalysisException, match="INVALID_NON_DETERMINISTIC_EXPRESSIONS"):
        orders.join(users.withColumnRenamed("user", "name"), column == sf.col("age")).collect()


@pytest.mark.usefixtures("adaptive")
def test_a_layout_shuffles_once_and_runs_it_once(
    orders: DataFrame, plan: Plan, layout_columns: list[str]
) -> None:
    text = plan(orders.transform(pws.kafka_layout("user", 12, "ts")))
    assert (runs(text), shuffles(text)) == (1, 1)
    assert (
        "shufflepartitionidpassthrough" if layout_columns == ["partition"] else "hashpartitioning"
    ) in text
    assert text.index("Sort [ts") < text.index("Exchange")


@pytest.mark.usefixtures("adaptive")
def test_copartitioned_tables_join_without_another_shuffle(
    orders: DataFrame, users: DataFrame, plan: Plan, layout_columns: list[str]
) -> None:
    a, b = pws.copartition(orders, users, key="user", n=6)
    text = plan(a.join(b, [*layout_columns, "user"]))
    assert (runs(text), shuffles(text)) == (2, 2)
    for how in ("left", "right", "full"):
        assert shuffles(plan(a.join(b, [*layout_columns, "user"], how))) == 2, how


@pytest.mark.usefixtures("adaptive")
def test_a_copartitioned_table_groups_without_another_shuffle(
    orders: DataFrame, users: DataFrame, plan: Plan, layout_columns: list[str]
) -> None:
    a, _ = pws.copartition(orders, users, key="user", n=6)
    assert shuffles(plan(a.groupBy(*layout_columns, "user").count())) == 1
    # The saving of the layout: without the partition among the columns, Spark does not see it.
    assert shuffles(plan(a.groupBy("user").count())) == 2


@pytest.mark.usefixtures("adaptive")
def test_a_join_and_a_group_use_one_layout(
    orders: DataFrame, users: DataFrame, plan: Plan, layout_columns: list[str]
) -> None:
    a, b = pws.copartition(orders, users, key="user", n=6)
    both = [*layout_columns, "user"]
    joined = a.join(b, both).groupBy(*both).agg(sf.max("age"), sf.count("*"))
    assert shuffles(plan(joined)) == 2
    assert joined.count() == 97
