"""What a column of partitions costs in Spark: ours, beside the other ways to the same column and beside none.

`python benches/spark/columns.py [--rows N] [--repeats N] [--json FILE]`: from a cached table of 12-byte keys,
the key and one computed column go to Spark's no-op sink, each way once a round, in another order each round.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from confluent_kafka import murmur2 as confluent_partition
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType

import partwright.spark as pws
from partwright.jars import jars
from partwright.java import java_command

BENCHES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCHES))

from bench_cases import LAB, check, column  # noqa: E402 - only now can it be found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

N = LAB["n"]
CASE, LAYOUT = LAB["calls"]["case"], LAB["calls"]["layout"]
# Several a core, so that neither waits long for the other's last one.
TABLE_PARTITIONS = 8
RESULTS = BENCHES.parent / "target" / "bench"
KAFKA_CLIENTS = "kafka-clients"


@dataclass(frozen=True)
class Way:
    """One way to a column beside the key."""

    name: str
    title: str
    column: Column | None
    """None where only the key is read."""
    is_exact: bool = True
    """Whether it gives partitions, to be checked."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the runs for compare.py."""
    options = _parser().parse_args(arguments)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    udf, clients = _build()
    spark = pws.session(
        "partwright bench",
        master="local[2]",
        configs={
            "spark.driver.memory": "2g",
            "spark.jars": ",".join(file.as_uri().replace(",", "%2C") for file in (udf, clients)),
        },
        log_file=options.json.with_suffix(".log"),
    )
    try:
        settings = _settings(spark, clients)
        print("\n".join(f"{name}: {value}" for name, value in settings.items()))
        spark.udf.registerJavaFunction("kafka_clients_partition", "PartitionUdf", IntegerType())
        ways = _ways(int(settings["records a batch"]))
        table = _table(spark, options.rows)
        _check(table, ways)
        seconds = _measure(table, ways, options.repeats)
    finally:
        spark.stop()
    report = {
        "settings": settings,
        "rows": options.rows,
        "runs": [{"name": way.name, "title": way.title, "seconds": seconds[way.name]} for way in ways],
    }
    options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    _print(options.rows, ways, seconds)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, default=LAB["rows"]["spark"], help="keys in the table (%(default)s)"
    )
    parser.add_argument("--repeats", type=int, default=9, help="rounds (%(default)s)")
    parser.add_argument(
        "--json", type=Path, default=RESULTS / "spark.json", help="where the runs are written"
    )
    return parser


def _build() -> tuple[Path, Path]:
    """The jar of java/PartitionUdf.java, compiled anew, and that of Kafka's client."""
    clients = next(file for file in jars("connector") if file.name.startswith(f"{KAFKA_CLIENTS}-"))
    javac = shutil.which("javac", path=java_command().resolve().parent)
    if javac is None:
        raise SystemExit(f"there is no javac beside {java_command()}: install a JDK 17 or later")
    folder = BENCHES / "java" / "build"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    spark_jars = Path(pyspark.__file__).parent / "jars" / "*"
    path = os.pathsep.join(map(str, (clients, spark_jars)))
    source = BENCHES / "java" / "PartitionUdf.java"
    # The programs and the files are this project's own.
    subprocess.run([javac, "--release", "17", "-cp", path, "-d", folder, source], check=True)  # noqa: S603
    jar = folder / "partition-udf.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.write(folder / "PartitionUdf.class", "PartitionUdf.class")
    return jar, clients


def _settings(spark: SparkSession, clients: Path) -> dict[str, str]:
    """What the figures depend on, for the report."""
    java: Any = spark._jvm.java.lang.System  # noqa: SLF001 - PySpark has no public door to Java
    return {
        "Spark": spark.version,
        "Java": f"{java.getProperty('java.version')} ({java.getProperty('java.vm.name')})",
        "Python": platform.python_version(),
        **{name: version(name) for name in ("partwright", "pyarrow", "pandas", "confluent-kafka")},
        KAFKA_CLIENTS: clients.stem.removeprefix(f"{KAFKA_CLIENTS}-"),
        "master": spark.sparkContext.master,
        "records a batch": str(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")),
    }


def _ways(batch: int) -> list[Way]:
    """Everything that is measured; `batch` is the most rows that a worker gets at once."""
    n, partition = N, confluent_partition
    ready = pa.array(range(batch), pa.int32())

    def floor(keys: pa.Array) -> pa.Array:
        return ready[: len(keys)]

    def arrow_loop(keys: pa.Array) -> pa.Array:
        return pa.array([partition(key, n) for key in keys.to_pylist()], pa.int32())

    def pandas_loop(keys: pd.Series) -> pd.Series:
        return pd.Series([partition(key, n) for key in keys], dtype="int32")

    def one(key: bytes) -> int:
        return partition(key, n)

    integer = IntegerType()
    return [
        Way("ours", "partwright.spark.partition_for_key", pws.partition_for_key("key", n)),
        # The same code: what these two differ by is noise.
        Way("ours_again", "the same once more", pws.partition_for_key("key", n)),
        Way("none", "nothing computed", None, is_exact=False),
        Way(
            "floor",
            "arrow_udf that returns a ready array",
            sf.arrow_udf(floor, integer)("key"),
            is_exact=False,
        ),
        Way("java", "Java UDF over kafka-clients", sf.call_udf("kafka_clients_partition", "key", sf.lit(n))),
        Way("arrow_loop", "arrow_udf over confluent-kafka", sf.arrow_udf(arrow_loop, integer)("key")),
        Way("pandas_loop", "pandas_udf over confluent-kafka", sf.pandas_udf(pandas_loop, integer)("key")),
        Way(
            "udf_arrow",
            "Python udf over confluent-kafka, by Arrow",
            sf.udf(one, integer, useArrow=True)("key"),
        ),
        Way(
            "udf_pickle",
            "Python udf over confluent-kafka, pickled",
            sf.udf(one, integer, useArrow=False)("key"),
        ),
    ]


def _table(spark: SparkSession, rows: int) -> DataFrame:
    """The keys, and what Kafka's own client says of each, in Spark's cache."""
    with tempfile.TemporaryDirectory() as folder:
        # Not createDataFrame, which would send them all inside of its tasks.
        pq.write_table(pa.table({"key": column(CASE, LAYOUT, rows)}), f"{folder}/keys.parquet")
        made = spark.read.parquet(folder).repartition(TABLE_PARTITIONS)
        expected = sf.call_udf("kafka_clients_partition", "key", sf.lit(N))
        table = made.withColumn("expected", expected).cache()
        assert table.count() == rows
    return table


def _check(table: DataFrame, ways: Sequence[Way]) -> None:
    """Fail where a way gives one partition that Kafka's own client does not; warms them up besides."""
    first = column(CASE, LAYOUT, LAB["checked_rows"])
    check(CASE, pa.array([confluent_partition(key, N) for key in first.to_pylist()]))
    for way in ways:
        if way.is_exact:
            wrong = table.select("expected", way.column.alias("found")).where(
                ~sf.col("found").eqNullSafe(sf.col("expected"))
            )
            assert wrong.count() == 0, f"{way.title}: other partitions than the Java client's"


def _measure(table: DataFrame, ways: Sequence[Way], repeats: int) -> dict[str, list[float]]:
    """Seconds by way. The round before the first is not counted."""
    seconds: dict[str, list[float]] = {way.name: [] for way in ways}
    shuffled = random.Random(repeats)  # noqa: S311 - an order, no secret
    for round_number in range(repeats + 1):
        for way in shuffled.sample(ways, len(ways)):
            columns = ["key"] if way.column is None else ["key", way.column]
            query = table.select(*columns).write.format("noop").mode("overwrite")
            start = time.perf_counter()
            query.save()
            if round_number > 0:
                seconds[way.name].append(time.perf_counter() - start)
    return seconds


def _print(rows: int, ways: Sequence[Way], seconds: dict[str, list[float]]) -> None:
    ours = statistics.median(seconds["ours"])
    print(f"\n{'':44}{'million rows/s':>16}{'time, ours = 1':>16}{'fastest to slowest, s':>24}")
    for way in ways:
        runs = seconds[way.name]
        median = statistics.median(runs)
        span = f"{min(runs):.2f} .. {max(runs):.2f}"
        print(f"{way.title:44}{rows / median / 1e6:16.2f}{median / ours:16.2f}{span:>24}")


if __name__ == "__main__":
    sys.exit(main())
