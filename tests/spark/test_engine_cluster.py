"""Engine jvm on executors without Python, on executors that lack a jar, and in a stopped session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from partwright.kafka.jars import connector_set, jar_files
from partwright.spark.classic import installed_spark

if TYPE_CHECKING:
    from pathlib import Path

# Two executors, each its own Java process, whose Python does not exist.
PROGRAM = """
import json, sys
import pyarrow as pa
from pyspark.sql import SparkSession, functions as sf
import partwright as pw
from partwright import spark as pws
from partwright.spark.engines import static_invoke

builder = SparkSession.builder.master("local-cluster[2,1,1024]")
for setting in (
    "spark.ui.enabled=false", "spark.driver.bindAddress=127.0.0.1",
    "spark.driver.host=127.0.0.1", "spark.task.maxFailures=1", f"spark.driver.extraClassPath={sys.argv[1]}",
):
    builder = builder.config(*setting.split("="))
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
keys = spark.range(1000, numPartitions=4).select("id", sf.col("id").cast("string").alias("key"))

def sentence(df):
    try:
        df.write.format("noop").mode("overwrite").save()
    except Exception as error:
        return pws.first_sentence(error) or str(error)

placed = pws.with_partition(keys, "key", 12, engine="jvm").orderBy("id").collect()
core = pw.partition_for_key(pa.array([row.key for row in placed]), 12).to_pylist()
said = {"wrong": sum(row.partition != want for row, want in zip(placed, core)), "rows": len(placed)}
said["executors"] = spark._jsc.sc().getExecutorMemoryStatus().size() - 1
said["arrow"] = sentence(pws.with_partition(keys, "key", 12, engine="arrow"))
# As where the driver alone has a jar.
static_invoke._FOUND.clear()
static_invoke._HASHERS = static_invoke._HASHERS[1:]
said["absent"] = sentence(pws.with_partition(keys, "key", 12, engine="jvm"))
print(json.dumps(said), flush=True)
spark.stop()
"""


@pytest.mark.timeout(600)
def test_executors_need_no_python_and_no_wheel(tmp_path: Path) -> None:
    client = next(
        file for file in jar_files(connector_set(installed_spark())) if file.name.startswith("kafka-clients-")
    )
    command = [sys.executable, "-c", PROGRAM, client]
    environment = os.environ | {"PYSPARK_PYTHON": "/there/is/no/python", "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert (said["wrong"], said["rows"], said["executors"]) == (0, 1000, 2)
    assert "/there/is/no/python" in said["arrow"]
    assert said["absent"] == (
        "an executor lacks the class org.apache.kafka.common.utils.Utils, which the driver has: give both the same "
        "jars, or use engine='arrow'"
    )


STOPPED = """
import json
from partwright import spark as pws

spark = pws.session(master="local[1]", log_file="spark.log")
df = spark.range(3)
spark.stop()
said = []
for call in (
    lambda: pws.partition_for_key("id", 12, engine="jvm"),
    lambda: pws.partition_for_key("id", 12, key_type="java:long", engine="jvm"),
    lambda: pws.with_partition(df, "id", 12, key_type="java:long", engine="jvm"),
    lambda: pws.engine_of(df),
):
    try:
        call()
    except ValueError as error:
        said.append(str(error))
print(json.dumps(said))
"""


def test_a_session_that_was_stopped_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    column, number, placed, asked = json.loads(done.stdout.splitlines()[-1])
    assert column == number == "no Spark session is active: start one before you name a column"
    assert (
        placed
        == asked
        == "the Spark session of this table was stopped: start another, and read the table in it"
    )
