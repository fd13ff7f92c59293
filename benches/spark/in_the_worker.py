"""Measures how much of a Python worker's time is ours, inside the worker, by task.

`python benches/spark/in_the_worker.py [--rows N] [--repeats N] [--json FILE]`: our column over 5,000,000
cached keys. The workers are PySpark's own, with the clocks of pyspark_timed_worker.py. The call is the whole of
what `hashing.placer` gives, on a batch, as it comes: the way into the kernel, the kernel, and the way back. The
kernel is what such a call takes less one on a single row, where one on a single row has just gone before.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lab

import partwright.spark as pws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

BATCHES = (1_000, 10_000, 100_000)
SUMMED = (
    "rows",
    "call_rows",
    "call_s",
    "kernel_rows",
    "kernel_s",
    "kernel_more_s",
    "worker_s",
    "worker_cpu_s",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the sums of each round."""
    options = lab.parser(
        __doc__, "spark_worker.json", rows=(lab.ROWS, "keys in the table"), repeats=(9, "rounds")
    ).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times"
        # Spark's Java process passes both to its workers, so they are set before it starts.
        os.environ["PYTHONPATH"] = str(Path(__file__).parent)
        os.environ["PARTWRIGHT_TIMES"] = str(times)
        spark = lab.start(
            options.json.with_suffix(".log"), {"spark.python.worker.module": "pyspark_timed_worker"}
        )
        try:
            file = lab.write_keys(Path(folder), options.rows)
            table = lab.cached(spark.read.parquet(str(file)).repartition(lab.TABLE_PARTITIONS))
            placed = table.select("key", pws.partition_for_key("key", lab.N).alias("found"))
            lab.compare(table.withColumn("found", pws.partition_for_key("key", lab.N)), "ours")
            found: dict[int, list[dict[str, float]]] = {batch: [] for batch in BATCHES}
            for round_number in range(options.repeats + 1):
                for batch in BATCHES:
                    spark.conf.set(lab.BATCH, batch)
                    times.write_text("", encoding="ascii")
                    spark.sparkContext.setJobGroup(f"{round_number} {batch}", "the clocks")
                    lab.drop(placed)
                    sums = _sums(times, options.rows)
                    sums["task_s"] = _task_seconds(spark, f"{round_number} {batch}") - sums["kernel_more_s"]
                    # The first round warms Java up.
                    if round_number > 0:
                        found[batch].append(sums)
            about = lab.settings(spark)
        finally:
            spark.stop()
    report = {"settings": about, "rows": options.rows, "batches": found}
    lab.write(report, options.json)
    _print(options.rows, found)
    return 0


def _sums(times: Path, rows: int) -> dict[str, float]:
    tasks = [json.loads(line) for line in times.read_text(encoding="ascii").splitlines()]
    sums = {name: sum(task[name] for task in tasks) for name in SUMMED}
    # The clocks' own cost, the calls on one row, is not counted for either side.
    for name in ("worker_s", "worker_cpu_s"):
        sums[name] -= sums["kernel_more_s"]
    assert sums["rows"] == rows, f"{sums['rows']} rows were timed, not {rows}"
    return sums


def _task_seconds(spark: SparkSession, group: str) -> float:
    """The time that Spark itself calls the run time of a job's tasks."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = {stage for job in jobs if job is not None for stage in job.stageIds}
    store: Any = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001 - no public door
    return sum(store.lastStageAttempt(stage).executorRunTime() for stage in stages) / 1e3


def _print(rows: int, found: dict[int, list[dict[str, float]]]) -> None:
    rounds = len(next(iter(found.values())))
    print(f"\n{rows:,} keys; what the kernel and our calls take of all, medians of {rounds} rounds")
    heads = ("a batch", "", "of worker", "of tasks", "of CPU", "ns a key")
    print("".join(f"{head:>12}" for head in heads))
    for batch, sums in found.items():
        for what in ("kernel", "call"):
            # With a small table a worker has no more than one batch, which is timed one way or the other.
            timed = [each for each in sums if each[f"{what}_rows"]]
            if not timed:
                print(f"{batch:12,}{what:>12}   no batch was timed so: take more --rows")
                continue
            key = [each[f"{what}_s"] / each[f"{what}_rows"] for each in timed]
            of_all = [
                [ours * each["rows"] / each[below] for ours, each in zip(key, timed, strict=True)]
                for below in ("worker_s", "task_s", "worker_cpu_s")
            ]
            shares = "".join(f"{statistics.median(each):12.2%}" for each in of_all)
            spread = f"{min(of_all[0]):.2%} to {max(of_all[0]):.2%} of worker"
            print(f"{batch:12,}{what:>12}{shares}{statistics.median(key) * 1e9:12.2f}   {spread}")
        cpu = statistics.median(each["worker_cpu_s"] / each["rows"] for each in sums)
        print(f"{'':24}CPU of all, ns a key: {cpu * 1e9:.1f}")


if __name__ == "__main__":
    sys.exit(main())
