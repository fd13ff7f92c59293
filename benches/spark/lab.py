"""Shared by the Spark benches: the session, the keys, Kafka's own partitioner as a column, and rounds by the clock."""

from __future__ import annotations

import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import time
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from confluent_kafka import murmur2 as confluent_partition
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType

import partwright.spark as pws
from partwright.kafka.jars import connector_set, jar_files
from partwright.kafka.java import java_command
from partwright.spark.classic import installed_spark
from partwright.spark.engines.static_invoke import called

BENCHES = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCHES), str(BENCHES / "python")]

from programs import parser, write  # noqa: E402, F401 - only now can it be found; the benches call both

from bench_cases import LAB, check, column  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

N: int = LAB["n"]
CASE, LAYOUT = LAB["calls"]["case"], LAB["calls"]["layout"]
ROWS: int = LAB["rows"]["spark"]
# Several per core, so that neither core waits long for the other's last one.
TABLE_PARTITIONS = 8
KAFKA_CLIENTS = "kafka-clients"
PARTITIONER = "org.apache.kafka.clients.producer.internals.BuiltInPartitioner"
JAVA_UDF = "kafka_clients_partition"
BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


def start(log_file: Path, configs: Mapping[str, str] | None = None) -> SparkSession:
    """A session of two cores with Kafka's client and the Java UDF over it."""
    log_file.parent.mkdir(parents=True, exist_ok=True)
    spark = pws.session(
        "partwright bench",
        master="local[2]",
        configs={
            "spark.driver.memory": "2g",
            "spark.jars": ",".join(file.as_uri().replace(",", "%2C") for file in (_udf(), _clients())),
            **(configs or {}),
        },
        log_file=log_file,
    )
    spark.udf.registerJavaFunction(JAVA_UDF, "PartitionUdf", IntegerType())
    return spark


def settings(spark: SparkSession) -> dict[str, str]:
    """The versions and the machine on which the figures depend, for the report."""
    java: Any = spark._jvm.java.lang.System  # noqa: SLF001 - PySpark has no public door to Java
    return {
        "Spark": spark.version,
        "Java": f"{java.getProperty('java.version')} ({java.getProperty('java.vm.name')})",
        "Python": platform.python_version(),
        **{name: version(name) for name in ("partwright", "pyarrow", "pandas", "confluent-kafka")},
        KAFKA_CLIENTS: _clients().stem.removeprefix(f"{KAFKA_CLIENTS}-"),
        "master": spark.sparkContext.master,
        "records a batch": str(spark.conf.get(BATCH)),
    }


def write_keys(folder: Path, rows: int, case: str = CASE, layout: str = LAYOUT) -> Path:
    """A Parquet file of keys; createDataFrame would send them all inside its tasks."""
    first = column(CASE, LAYOUT, LAB["checked_rows"])
    check(CASE, pa.array([confluent_partition(key, N) for key in first.to_pylist()]))
    file = folder / f"{case}.parquet"
    pq.write_table(pa.table({"key": column(case, layout, rows)}), file)
    return file


def cached(made: DataFrame, key_bytes: str | Column = "key") -> DataFrame:
    """The table in Spark's cache, with the answer of Kafka's own client for each key."""
    table = made.withColumn("expected", java_udf(key_bytes)).cache()
    table.count()
    return table


def java_udf(key: str | Column) -> Column:
    """Kafka's own partitioner, by a UDF written in Java."""
    return sf.call_udf(JAVA_UDF, key, sf.lit(N))


def static_call(spark: SparkSession, java_class: str, method: str, *columns: Column) -> Column:
    """A static Java method that returns an int, called in the code that Spark generates; it has no public API."""
    return called(spark, java_class, method, columns)


def compare(table: DataFrame, title: str) -> None:
    """Fails if `found` gives a partition that Kafka's own client does not; also warms the way up."""
    wrong = table.select("expected", "found").where(~sf.col("found").eqNullSafe(sf.col("expected"))).count()
    assert wrong == 0, f"{title}: {wrong} other partitions than the Java client's"


def drop(table: DataFrame) -> None:
    """Computes a whole table for Spark's no-op sink."""
    table.write.format("noop").mode("overwrite").save()


def rounds(ways: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds by way: each once per round, in another order each round. A round before the first is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    shuffled = random.Random(repeats)  # noqa: S311 - an order, no secret
    for round_number in range(repeats + 1):
        for name in shuffled.sample([*ways], len(ways)):
            began = time.perf_counter()
            ways[name]()
            if round_number > 0:
                seconds[name].append(time.perf_counter() - began)
    return seconds


def print_rounds(rows: int, titles: Mapping[str, str], seconds: Mapping[str, list[float]]) -> None:
    """A line for each way; the first way is 1."""
    width = max(map(len, titles.values())) + 2
    ours = statistics.median(seconds[next(iter(titles))])
    print(f"\n{'':{width}}{'million rows/s':>16}{'time, first = 1':>17}{'fastest to slowest, s':>24}")
    for name, title in titles.items():
        runs = seconds[name]
        median = statistics.median(runs)
        span = f"{min(runs):.2f} .. {max(runs):.2f}"
        print(f"{title:{width}}{rows / median / 1e6:16.2f}{median / ours:17.2f}{span:>24}")


def _clients() -> Path:
    return next(
        file
        for file in jar_files(connector_set(installed_spark()))
        if file.name.startswith(f"{KAFKA_CLIENTS}-")
    )


def _udf() -> Path:
    """The jar of java/PartitionUdf.java, compiled anew."""
    javac = shutil.which("javac", path=java_command().resolve().parent)
    if javac is None:
        raise SystemExit(f"there is no javac beside {java_command()}: install a JDK 17 or later")
    folder = BENCHES / "java" / "build"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    spark_jars = Path(pyspark.__file__).parent / "jars" / "*"
    path = os.pathsep.join(map(str, (_clients(), spark_jars)))
    source = BENCHES / "java" / "PartitionUdf.java"
    # The programs and the files are part of this project.
    subprocess.run([javac, "--release", "17", "-cp", path, "-d", folder, source], check=True)  # noqa: S603
    jar = folder / "partition-udf.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.write(folder / "PartitionUdf.class", "PartitionUdf.class")
    return jar
