"""The cost of an audit of a table in Spark, next to the grouping that any answer needs, with 2 GiB of memory.

`python benches/spark/audits.py [--rows N] [--repeats N] [--folder DIR]`: a Parquet table of keys of 6 to 13 bytes with
partition, offset and time, once with 100,000 different keys and once with nearly as many as rows. Each way once a
round, in another order each round; a local session with two cores, whose one Java process does all of Spark's work.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import lab
from pyspark.sql import functions as sf

import partwright.spark as pws

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, SparkSession

N = 48
MEMORY = "2g"
FEW = 100_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = lab.parser(
        __doc__, folder=True, rows=(20_000_000, "rows of the table"), repeats=(3, "rounds")
    ).parse_args(arguments)
    report = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        log = Path(folder) / "spark.log"
        spark = pws.session(
            "partwright audits", master="local[2]", configs={"spark.driver.memory": MEMORY}, log_file=log
        )
        try:
            for keys in (FEW, options.rows):
                table = _table(spark, Path(folder) / f"{keys}.parquet", options.rows, keys)
                report[keys] = _measure(table, options)
        finally:
            spark.stop()
    print(json.dumps(report))
    return 0


def _table(spark: SparkSession, path: Path, rows: int, keys: int) -> DataFrame:
    ids = sf.xxhash64("id") % keys
    made = spark.range(rows).select(
        sf.concat(sf.lit("user-"), sf.abs(ids)).alias("key"),
        (sf.col("id") / N).cast("bigint").alias("offset"),
        sf.timestamp_millis(sf.lit(1_767_225_600_000) + sf.col("id")).alias("timestamp"),
    )
    pws.with_partition(made, key="key", n=N).write.parquet(str(path))
    return spark.read.parquet(str(path))


def _measure(table: DataFrame, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    dated = {"timestamp": "timestamp", "offset": "offset"}
    ways: dict[str, Callable[[], object]] = {
        "reading alone": lambda: (
            table.select("key", "partition").write.format("noop").mode("overwrite").save()
        ),
        "grouped by key and partition, counted": lambda: (
            table.groupBy("partition", "key").count().write.format("noop").mode("overwrite").save()
        ),
        "fingerprint": lambda: (
            pws.fingerprint(table, "key", partition="partition").verdict == "one-writer" or 1 / 0
        ),
        "fingerprint with times and offsets": lambda: (
            pws.fingerprint(table, "key", partition="partition", **dated).verdict
        ),
        "resize": lambda: pws.resize(table, "key", N, 2 * N).to_dict(),
        "check": lambda: pws.check(table, "key", N, partition="partition").ok or 1 / 0,
        "copartition of two, which are one": lambda: (
            pws.check_copartition(table, table, "key", N, partition="partition").ok or 1 / 0
        ),
    }
    found = {way: statistics.median(each) for way, each in lab.rounds(ways, options.repeats).items()}
    grouped = found["grouped by key and partition, counted"]
    for way, median in found.items():
        print(
            f"{way:40} {median:7.2f} s {options.rows / median / 1e6:7.2f} million rows/s, {median / grouped:5.2f} "
            "times the grouping"
        )
    return {way: {"seconds": median, "ratio": median / grouped} for way, median in found.items()}


if __name__ == "__main__":
    raise SystemExit(main())
