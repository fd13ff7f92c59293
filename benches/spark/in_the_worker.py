"""How much of a Python worker's time is ours: measured inside of the worker, by task.

`python benches/spark/in_the_worker.py [--rows N] [--repeats N] [--json FILE]`: our column over the cached keys of
columns.py. The workers are PySpark's own, with the clocks of pyspark_timed_worker.py. What is called ours is the whole
call of `partwright.partition_for_key` on a batch: the kernel, and the way into it and back.
"""

from __future__ import annotations

import argparse
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
SUMMED = ("calls", "rows", "call_s", "call_cpu_s", "worker_s", "worker_cpu_s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the sums of each round."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times"
        # Spark's Java process hands both on to its workers, and so they are set before it starts.
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
                    sums["task_s"] = _task_seconds(spark, f"{round_number} {batch}")
                    # The first round warms Java up.
                    if round_number > 0:
                        found[batch].append(sums)
            about = lab.settings(spark)
        finally:
            spark.stop()
    report = {"settings": about, "rows": options.rows, "batches": found}
    options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    _print(options.rows, found)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=lab.ROWS, help="keys in the table (%(default)s)")
    parser.add_argument("--repeats", type=int, default=9, help="rounds (%(default)s)")
    parser.add_argument(
        "--json", type=Path, default=lab.RESULTS / "spark_worker.json", help="where the sums are written"
    )
    return parser


def _sums(times: Path, rows: int) -> dict[str, float]:
    tasks = [json.loads(line) for line in times.read_text(encoding="ascii").splitlines()]
    sums = {name: sum(task[name] for task in tasks) for name in SUMMED}
    assert sums["rows"] == rows, f"{sums['rows']} rows were timed, not {rows}"
    return sums


def _task_seconds(spark: SparkSession, group: str) -> float:
    """What Spark itself calls the run time of a job's tasks."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = {stage for job in jobs if job is not None for stage in job.stageIds}
    store: Any = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001 - no public door
    return sum(store.lastStageAttempt(stage).executorRunTime() for stage in stages) / 1e3


def _print(rows: int, found: dict[int, list[dict[str, float]]]) -> None:
    def middle(batch: int, above: str, below: str) -> float:
        return statistics.median(sums[above] / sums[below] for sums in found[batch])

    print(f"\n{rows:,} keys; the share of our calls, medians of {len(next(iter(found.values())))} rounds")
    print(
        f"{'a batch':>10}{'of CPU':>12}{'of worker':>12}{'of tasks':>12}{'ns a key':>12}{'CPU, ns a key':>16}"
    )
    for batch in found:
        cpu = middle(batch, "call_cpu_s", "worker_cpu_s")
        shares = (cpu, middle(batch, "call_s", "worker_s"), middle(batch, "call_s", "task_s"))
        shown = "".join(f"{share:12.2%}" for share in shares)
        all_cpu = middle(batch, "worker_cpu_s", "rows") * 1e9
        print(f"{batch:10,}{shown}{middle(batch, 'call_s', 'rows') * 1e9:12.2f}{all_cpu:16.1f}")


if __name__ == "__main__":
    sys.exit(main())
