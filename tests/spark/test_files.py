"""`partwright place` on files that Spark and parquet-avro wrote: they read them as before, with one more column."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pyspark
import pytest

import partwright as pw
from partwright import spark as pws
from partwright.cli import main
from partwright.kafka.java import java_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

# Types that Arrow lacks or writes in another way: INT96, decimals in integers, times beyond nanoseconds' range.
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
    """Maps cannot be compared, but their text can."""
    return rows.selectExpr("cast(struct(*) AS string) AS row")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_spark_reads_what_it_wrote_and_the_partition(
    spark: SparkSession, configured: Callable[..., Any], tmp_path: Path, version: str
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
    # PySpark 3.5 asks for the calendar of old times; later ones write them as they are.
    rebase = dict.fromkeys(("int96RebaseModeInWrite", "datetimeRebaseModeInWrite"), "CORRECTED")
    with configured({f"spark.sql.parquet.{name}": mode for name, mode in rebase.items()}):
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
    # Through the new column's statistics and dictionary, and the old ones' bloom filter.
    assert after.where("partition = 3").count() == expected.where("expected = 3").count() > 0
    assert after.where("k = 'key 77'").count() == 40

    old, new = pq.ParquetFile(file).metadata, pq.ParquetFile(out).metadata
    assert old.num_row_groups == new.num_row_groups > 1
    assert old.schema.column(old.schema.names.index("at")).physical_type == "INT96"
    for group in range(old.num_row_groups):
        for leaf in range(old.num_columns):
            assert new.row_group(group).column(leaf).to_dict() == old.row_group(group).column(leaf).to_dict()


@pytest.fixture(scope="module")
def avro(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs AvroFiles.java with PySpark's jars and the others that parquet-avro needs."""
    jars, extra = Path(pyspark.__file__).parent / "jars", tmp_path_factory.mktemp("parquet-avro")
    (parquet,) = jars.glob("parquet-hadoop-*.jar")
    version = parquet.stem.removeprefix("parquet-hadoop-")
    mvn = shutil.which("mvn")
    assert mvn, "parquet-avro comes by Maven: install Maven 3.8 or later (mvn)"
    # parquet-avro reads variants from 1.16 on.
    minor = tuple(map(int, version.split(".")[:2]))
    for name in ["parquet-avro"] + ["parquet-variant"] * (minor >= (1, 16)):
        artifact = f"-Dartifact=org.apache.parquet:{name}:{version}"
        subprocess.run(
            [mvn, "-q", "-B", "dependency:copy", artifact, f"-DoutputDirectory={extra}"], check=True
        )
    java = [str(java_command()), "-cp", os.pathsep.join([f"{jars}/*", f"{extra}/*"])]

    def run(*words: object) -> str:
        program = Path(__file__).parent / "AvroFiles.java"
        done = subprocess.run(
            [*java, str(program), *map(str, words)], capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_parquet_avro_reads_what_it_wrote_and_the_partition(avro: Callable[..., str], tmp_path: Path) -> None:
    """It refuses a file that has a column which the Avro schema in the footer lacks."""
    written, out = tmp_path / "written.parquet", tmp_path / "placed.parquet"
    avro("write", written)
    before = [json.loads(line) for line in avro("read", written).splitlines()]
    assert len(before) == 5
    with pytest.raises(SystemExit) as ended:
        main(["place", str(written), "--key", "customer", "-n", "12", "--out", str(out)])
    assert not ended.value.code
    after = [json.loads(line) for line in avro("read", out).splitlines()]
    partitions = pw.partition_for_key([row["customer"] for row in before], 12).to_pylist()
    assert after == [{**row, "partition": place} for row, place in zip(before, partitions, strict=True)]
    assert None in partitions
