"""The cost of a partition column in Spark: both engines, next to other ways and to `length(key)`.

`python benches/spark/engines.py [--rows N] [--repeats N] [--json FILE]`: from a Parquet file of 12-byte keys, the key
and one computed column go to Spark's no-op sink, each way once a round, in another order each round. The interpreter's
own PySpark is measured: run it with that of `.venv-spark-3.5.9` for that version.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import lab
import pandas as pd
import pyarrow as pa
from confluent_kafka import murmur2 as confluent_partition
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType

import partwright.spark as pws
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

ROWS = 10_000_000


@dataclass(frozen=True)
class Way:
    """One way to compute a column next to the key."""

    name: str
    title: str
    column: Column | None
    """None where only the key is read."""
    is_exact: bool = True
    """Whether it gives partitions, to be checked."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the runs for compare.py."""
    options = lab.parser(
        __doc__, "spark.json", rows=(ROWS, "keys in the file"), repeats=(5, "rounds")
    ).parse_args(arguments)
    spark = lab.start(options.json.with_suffix(".log"))
    try:
        about = lab.settings(spark)
        print("\n".join(f"{name}: {value}" for name, value in about.items()))
        ways = [*_ways(spark)]
        with tempfile.TemporaryDirectory() as folder:
            table = _table(spark, Path(folder), options.rows)
            expected = table.withColumn("expected", lab.java_udf("key"))
            for way in ways:
                if way.is_exact:
                    lab.compare(expected.withColumn("found", way.column), way.title)
            seconds = lab.rounds(
                {way.name: lambda way=way: _run(table, way) for way in ways}, options.repeats
            )
    finally:
        spark.stop()
    report = {
        "settings": about,
        "rows": options.rows,
        "runs": [{"name": way.name, "title": way.title, "seconds": seconds[way.name]} for way in ways],
    }
    lab.write(report, options.json)
    lab.print_rounds(options.rows, {way.name: way.title for way in ways}, seconds)
    return 0


def _table(spark: SparkSession, folder: Path, rows: int) -> DataFrame:
    """The keys in several files, as an earlier job would have left them."""
    files = str(folder / "keys")
    spark.read.parquet(str(lab.write_keys(folder, rows))).repartition(lab.TABLE_PARTITIONS).write.parquet(
        files
    )
    return spark.read.parquet(files)


def _run(table: DataFrame, way: Way) -> None:
    lab.drop(table.select("key") if way.column is None else table.select("key", way.column))


def _ways(spark: SparkSession) -> Iterator[Way]:
    """All ways that are measured; the others are divided by the first."""
    n, partition = lab.N, confluent_partition

    def pandas_loop(keys: pd.Series) -> pd.Series:
        return pd.Series([partition(key, n) for key in keys], dtype="int32")

    # Before 4.1 Spark passes bytes as bytearrays, which confluent-kafka does not take.
    copied = pyspark_version() < (4, 1)

    def one(key: bytes) -> int:
        return partition(bytes(key) if copied else key, n)

    integer = IntegerType()
    yield Way("jvm", "partition_for_key, engine jvm", pws.partition_for_key("key", n, engine="jvm"))
    # The same code: the difference between these two is noise.
    yield Way("jvm_again", "the same once more", pws.partition_for_key("key", n, engine="jvm"))
    yield Way("arrow", "partition_for_key, engine arrow", pws.partition_for_key("key", n, engine="arrow"))
    yield Way("none", "nothing computed", None, is_exact=False)
    yield Way("length", "length(key)", sf.length("key"), is_exact=False)
    yield Way("java", "Java UDF over kafka-clients", lab.java_udf("key"))
    if hasattr(sf, "arrow_udf"):
        yield from _arrow_udfs(spark)
    yield Way("pandas_loop", "pandas_udf over confluent-kafka", sf.pandas_udf(pandas_loop, integer)("key"))
    # From 4.2 on Spark passes a Parquet file's columns on as they are, does not tell such a function's worker their
    # types, and both wait for each other.
    if pyspark_version() < (4, 2):
        yield Way(
            "udf_arrow",
            "Python udf over confluent-kafka, by Arrow",
            sf.udf(one, integer, useArrow=True)("key"),
        )
    yield Way(
        "udf_pickle",
        "Python udf over confluent-kafka, pickled",
        sf.udf(one, integer, useArrow=False)("key"),
    )


def _arrow_udfs(spark: SparkSession) -> Iterator[Way]:
    """Ways that only PySpark 4.1 and later have."""
    n, partition = lab.N, confluent_partition
    # As many rows as a worker gets at once.
    ready = pa.array(range(int(spark.conf.get(lab.BATCH))), pa.int32())

    def floor(keys: pa.Array) -> pa.Array:
        return ready[: len(keys)]

    def arrow_loop(keys: pa.Array) -> pa.Array:
        return pa.array([partition(key, n) for key in keys.to_pylist()], pa.int32())

    integer = IntegerType()
    floor_column = sf.arrow_udf(floor, integer)("key")
    yield Way("floor", "arrow_udf that returns a ready array", floor_column, is_exact=False)
    yield Way("arrow_loop", "arrow_udf over confluent-kafka", sf.arrow_udf(arrow_loop, integer)("key"))


if __name__ == "__main__":
    sys.exit(main())
