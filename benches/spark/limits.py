"""Shows what limits an Arrow UDF in Spark: our column under one other setting, source or shape, in the same rounds.

`python benches/spark/limits.py [--rows N] [--repeats N] [--visits N] [--json FILE]`: the first line is our column
of cached keys; each other line differs from it by what it says. Settings that a session takes only at its start are
measured in sessions of their own, in turn, each divided by the same case in its own plain session's turn.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import lab
import pyarrow as pa
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType, StructField, StructType

import partwright as pw
import partwright.spark as pws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

# The function's module must be this file: it goes to the workers, which cannot import lab.
N = lab.N
ARROW = "spark.sql.execution.arrow"
PLAIN = "plain"
AT_START = {
    PLAIN: {},
    "new Python workers for each task": {"spark.python.worker.reuse": "false"},
    "Unix domain sockets": {"spark.python.unix.domain.socket.enabled": "true"},
    "1 GiB off the heap": {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g"},
}


class Point(NamedTuple):
    """One line of the table."""

    table: DataFrame
    settings: Mapping[str, object] = {}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the runs."""
    options = lab.parser(
        __doc__,
        "spark_limits.json",
        rows=(lab.ROWS, "keys in the table"),
        repeats=(5, "rounds"),
        visits=(2, "turns of each session"),
    ).parse_args(arguments)
    log = options.json.with_suffix(".log")
    with tempfile.TemporaryDirectory() as folder:
        file = lab.write_keys(Path(folder), options.rows)
        spark = lab.start(log)
        try:
            about = lab.settings(spark)
            points = _points(spark, file)
            runs = lab.rounds({title: _run(spark, point) for title, point in points.items()}, options.repeats)
        finally:
            spark.stop()
        at_start: dict[str, list[float]] = {title: [] for title in AT_START}
        for _ in range(options.visits):
            for title, settings in AT_START.items():
                at_start[title].extend(_visit(file, log, settings, options.repeats))
    report = {"settings": about, "rows": options.rows, "points": runs, "at start": at_start}
    lab.write(report, options.json)
    lab.print_rounds(options.rows, {title: title for title in points}, runs)
    lab.print_rounds(options.rows, {title: title for title in AT_START}, at_start)
    return 0


def _run(spark: SparkSession, point: Point) -> Callable[[], None]:
    def run() -> None:
        before = {name: spark.conf.get(name, None) for name in point.settings}
        for name, value in point.settings.items():
            spark.conf.set(name, str(value))
        try:
            # A plan of its own, because Spark reads settings when it makes the plan.
            lab.drop(point.table.select("*"))
        finally:
            for name, value in before.items():
                if value is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, value)

    return run


def _visit(file: Path, log: Path, settings: Mapping[str, str], repeats: int) -> list[float]:
    """Our column in a session of its own."""
    spark = lab.start(log, settings)
    try:
        table = spark.read.parquet(str(file)).repartition(lab.TABLE_PARTITIONS).cache()
        table.count()
        way = table.withColumn("found", pws.partition_for_key("key", lab.N))
        return lab.rounds({"": lambda: lab.drop(way)}, repeats)[""]
    finally:
        spark.stop()


def _points(spark: SparkSession, file: Path) -> dict[str, Point]:
    def placed(table: DataFrame, key: str = "key") -> DataFrame:
        return table.withColumn("found", pws.partition_for_key(key, lab.N))

    def kept(table: DataFrame) -> DataFrame:
        table = table.cache()
        table.count()
        return table

    parquet = spark.read.parquet(str(file))
    keys = kept(parquet.repartition(lab.TABLE_PARTITIONS))
    text = kept(keys.select(sf.col("key").cast("string").alias("key")))
    wide = kept(keys.select("key", *_others()))
    points = {
        "our column: binary keys, cached, batches of 10,000": Point(placed(keys)),
        "the same once more": Point(placed(keys)),
        "nothing computed": Point(keys),
    }
    for batch in (1_000, 30_000, 100_000, 1_000_000):
        points[f"batches of {batch:,}"] = Point(placed(keys), {lab.BATCH: batch})
    points |= {
        "keys as string": Point(placed(text)),
        "large types": Point(placed(keys), {f"{ARROW}.useLargeVarTypes": "true"}),
        "Arrow's buffers compressed, lz4": Point(placed(keys), {f"{ARROW}.compression.codec": "lz4"}),
        "1 MiB of buffer to Python": Point(
            placed(keys), {"spark.sql.execution.python.udf.buffer.size": 1 << 20}
        ),
        "concurrency level 2": Point(
            placed(keys), {"spark.sql.execution.pythonUDF.arrow.concurrency.level": 2}
        ),
        "mapInArrow": Point(keys.mapInArrow(_append, "key binary, found int")),
        "mapInArrow, the partition alone comes back": Point(keys.mapInArrow(_alone, "found int")),
        "five columns beside: nothing computed": Point(wide),
        "five columns beside: our column": Point(placed(wide)),
        "five columns beside: mapInArrow": Point(
            wide.mapInArrow(_append, StructType([*wide.schema, StructField("found", IntegerType())]))
        ),
        "Parquet, not cached: nothing computed": Point(parquet),
        "Parquet, not cached: our column": Point(placed(parquet)),
        "Parquet, not cached: columnar input": Point(
            placed(parquet), {f"{ARROW}.pythonUDF.columnarInput.enabled": "true"}
        ),
    }
    for tasks in (2, 64):
        points[f"{tasks} tasks"] = Point(placed(kept(parquet.repartition(tasks))))
    return points


def _others() -> Iterator[Column]:
    """The columns that a table has besides its key."""
    yield sf.xxhash64("key").alias("id")
    yield sf.hash("key").cast("double").alias("amount")
    yield sf.timestamp_millis(sf.abs(sf.hash("key")).cast("bigint")).alias("at")
    yield sf.concat(sf.lit("customer "), sf.hash("key")).alias("customer")
    yield sf.repeat(sf.hex("key"), 2).alias("text")


def _append(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.append_column("found", pw.partition_for_key(batch.column("key"), N))


def _alone(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"found": pw.partition_for_key(batch.column("key"), N)})


if __name__ == "__main__":
    sys.exit(main())
