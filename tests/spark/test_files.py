"""`partwright place` on files that Spark wrote: Spark reads them as before, with one column more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from partwright import spark as pws
from partwright.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

# What Arrow has no type for, or writes otherwise: INT96, decimals within integers, times out of nanoseconds' reach.
QUERY = """
SELECT id, CASE WHEN id % 10 = 0 THEN NULL ELSE concat('key ', id % 500) END AS k,
       cast(id AS decimal(9, 2)) AS small, cast(id AS decimal(38, 5)) AS large,
       timestamp '9999-12-31 23:59:59.123456' AS at,
       timestamp_ntz '0001-01-01 00:00:00' AS local, date '0001-01-01' AS day,
       map(concat('m', id), array(named_struct('a.b', id))) AS nested, cast(concat(id, '') AS binary) AS bytes,
       interval '3' day AS gap
FROM range(0, 20000, 1, 1)
"""


def text(rows: DataFrame) -> DataFrame:
    """Maps cannot be compared, and their text can."""
    return rows.selectExpr("cast(struct(*) AS string) AS row")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_spark_reads_what_it_wrote_and_the_partition(
    spark: SparkSession, tmp_path: Path, version: str
) -> None:
    folder, out = tmp_path / "written", tmp_path / "placed.parquet"
    before = spark.sql(QUERY)
    options: dict[str, Any] = {
        "parquet.bloom.filter.enabled#k": "true",
        "parquet.bloom.filter.expected.ndv#k": "500",
        "parquet.block.size": "200000",
        "parquet.writer.version": version,
        "compression": "zstd" if version == "v2" else "snappy",
    }
    before.write.options(**options).parquet(str(folder))
    (file,) = folder.glob("*.parquet")
    with pytest.raises(SystemExit) as ended:
        main(["place", str(file), "--key", "k", "-n", "12", "--out", str(out)])
    assert not ended.value.code

    after, written = spark.read.parquet(str(out)), spark.read.parquet(str(folder))
    assert after.columns == [*before.columns, "partition"]
    assert after.schema["partition"].simpleString() == "partition:int"
    assert after.drop("partition").schema == written.schema
    assert text(after.drop("partition")).exceptAll(text(written)).isEmpty()
    assert after.count() == written.count() == 20_000
    expected = after.select("partition", pws.partition_for_key("k", 12).alias("expected"))
    assert expected.where("NOT partition <=> expected").isEmpty()
    assert after.where("partition IS NULL").count() == 2_000
    # By the new column's statistics and dictionary, and by the old ones' bloom filter.
    assert after.where("partition = 3").count() == expected.where("expected = 3").count() > 0
    assert after.where("k = 'key 77'").count() == 40

    old, new = pq.ParquetFile(file).metadata, pq.ParquetFile(out).metadata
    assert old.num_row_groups == new.num_row_groups > 1
    assert old.schema.column(old.schema.names.index("at")).physical_type == "INT96"
    for group in range(old.num_row_groups):
        for leaf in range(old.num_columns):
            assert new.row_group(group).column(leaf).to_dict() == old.row_group(group).column(leaf).to_dict()
