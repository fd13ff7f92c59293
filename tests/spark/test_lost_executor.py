"""A strategy's task whose executor is killed runs again on another one, and gives the same partitions."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import partwright as pw

if TYPE_CHECKING:
    from pathlib import Path

CONFIGS = {"batch.size": 1000}

LOST = """
import json, os, signal, sys
from pathlib import Path
import pandas as pd
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.functions import pandas_udf
from partwright import spark as pws
from partwright.spark.engines.arrow import to_arrow

marker, lost = Path(sys.argv[1]), sys.argv[2] == "lost"
spark = pws.session(master="local-cluster[2,1,1024]", log_file=sys.argv[3])

@pandas_udf("bigint")
def killer(numbers: pd.Series) -> pd.Series:
    context = TaskContext.get()
    is_first = context.partitionId() == 1 and context.attemptNumber() == 0
    if lost and is_first and len(numbers) and numbers[0] > 700:
        marker.touch()
        # The worker's parent is PySpark's daemon, and the daemon's is the executor.
        daemon = os.getppid()
        executor = int(Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(executor, signal.SIGKILL)
    return numbers

spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 100)
rows = spark.range(0, 1000, 1, 2).select(killer("id").alias("no"), sf.lit("x" * 100).alias("value"))
placed = pws.with_partition(
    rows,
    pws.Workload(key=sf.lit(None).cast("string"), value="value"),
    5,
    pws.ProducerConfig("sticky", {"batch.size": 1000}, seed=3),
)
found = to_arrow(placed.select("no", "partition")).sort_by("no")
print(json.dumps([marker.exists(), found["no"].to_pylist(), found["partition"].to_pylist()]))
spark.stop()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="an executor is found in /proc")
def test_a_task_whose_executor_was_lost_gives_the_same_partitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A local cluster's workers leave their files where they are told to.
    monkeypatch.setenv("SPARK_WORKER_DIR", str(tmp_path / "work"))
    script = tmp_path / "lost.py"
    script.write_text(LOST, encoding="utf-8")
    said = {}
    for case in ("lost", "kept"):
        done = subprocess.run(
            [sys.executable, str(script), str(tmp_path / case), case, str(tmp_path / f"{case}.log")],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        said[case] = json.loads(done.stdout.splitlines()[-1])
    assert (said["lost"][0], said["kept"][0]) == (True, False)
    assert said["lost"][1:] == said["kept"][1:]
    assert said["kept"][1] == list(range(1000))
    tasks = [
        pw.Producer({"t": 5}, pw.ProducerConfig("sticky", configs=CONFIGS, seed=3 + task))
        for task in range(2)
    ]
    assert said["kept"][2] == [
        each for task in tasks for each in task.place({"size": [100] * 500}).to_pylist()
    ]
