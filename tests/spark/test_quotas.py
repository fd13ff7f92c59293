"""Quotas and ranges as Spark columns and SQL functions agree with `partwright.quotas`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.assignors import quotas
from partwright.spark.engines.arrow import to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    Table = Callable[[pa.Table], DataFrame]

ROWS = {
    "i": pa.array([0, 1, None, 4, 6, 2], pa.int32()),
    "p": pa.array([0, 8, 8, None, 2**31 - 1, 12]),
    "m": pa.array([1, 3, 3, 5, 7, None], pa.int16()),
}
FUNCTIONS = {
    "min_quota": "pm",
    "max_quota": "pm",
    "under_min_quota": "ipm",
    "over_max_quota": "ipm",
    "range_start": "ipm",
    "range_length": "ipm",
}


def test_columns_and_sql_give_what_it_gives_outside_of_spark(spark: SparkSession, table: Table) -> None:
    assert set(FUNCTIONS) == set(quotas.__all__)
    df = table(pa.table(ROWS))
    df.createOrReplaceTempView("shares")
    pws.register(spark)
    columns = [getattr(pws, name)(*named) for name, named in FUNCTIONS.items()]
    calls = [f"kafka_{name}({', '.join(named)})" for name, named in FUNCTIONS.items()]
    found = df.select(*columns)
    assert found.columns == [f"{name}({', '.join(named)})" for name, named in FUNCTIONS.items()]
    for given in (found, spark.table("shares").selectExpr(*calls)):
        assert [kind for _, kind in given.dtypes] == ["int", "int", "boolean", "boolean", "int", "int"]
        rows = to_arrow(given)
        for place, (name, named) in enumerate(FUNCTIONS.items()):
            expected = getattr(quotas, name)(*(ROWS[each] for each in named))
            assert rows.column(place).to_pylist() == expected.to_pylist(), name


def test_numbers_stand_for_columns(spark: SparkSession) -> None:
    df = spark.range(3).select(sf.col("id").alias("i"))
    starts = df.select(pws.range_start("i", 8, 3), pws.range_length(sf.col("i"), 8, 3)).collect()
    assert starts == [(0, 3), (3, 3), (6, 2)]
    pws.register(spark)
    sql = spark.sql("SELECT kafka_max_quota(8, 3), kafka_min_quota(8, NULL), kafka_over_max_quota(4, 8, 3)")
    assert sql.collect() == [(3, None, True)]


@pytest.mark.skipif(pyspark.__version__ < "4", reason="PySpark 3.5 knows no names of a function's arguments")
def test_arguments_by_name(spark: SparkSession) -> None:
    pws.register(spark)
    named = spark.sql("SELECT kafka_range_start(index => 1, members => 3, partitions => 8)")
    assert named.collect() == [(3,)]


def test_a_wrong_number_is_refused_before_a_job(spark: SparkSession) -> None:
    df = spark.range(1)
    with pytest.raises(pw.PartwrightError, match=r"^members is 1 to 2147483647, not 0$"):
        df.select(pws.min_quota("id", 0))
    with pytest.raises(
        pw.PartwrightError, match=r"^min_quota takes columns, .* and whole numbers, not list$"
    ):
        pws.min_quota([1, 2], 3)  # type: ignore[arg-type]
    with pytest.raises(PythonException) as failed:
        df.select(pws.min_quota(8, "id")).collect()
    assert pws.first_sentence(failed.value) == "row 0: members is 1 to 2147483647, not 0"
