"""PySpark's own worker with a clock around each task and around each call of ours in it.

Spark takes it by `spark.python.worker.module`, for which a module's name has to begin with pyspark. A line of JSON
a task is appended to the file that the variable PARTWRIGHT_TIMES names.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, BinaryIO

import pyarrow as pa
from pyspark import worker

from partwright import hashing

__all__ = ["main"]

_place = hashing.partition_for_key
_spent = {"calls": 0, "rows": 0, "call_s": 0.0, "call_cpu_s": 0.0}


def _timed(keys: Any, *rest: Any) -> Any:  # noqa: ANN401 - what it stands before takes any keys
    if not isinstance(keys, pa.Array):
        return _place(keys, *rest)
    cpu, began = time.thread_time(), time.perf_counter()
    placed = _place(keys, *rest)
    _spent["call_s"] += time.perf_counter() - began
    _spent["call_cpu_s"] += time.thread_time() - cpu
    _spent["calls"] += 1
    _spent["rows"] += len(keys)
    return placed


def main(infile: BinaryIO, outfile: BinaryIO) -> None:
    """One task, as `pyspark.worker.main`, which the daemon calls for each.

    The clock starts with the first byte that Spark sends: a worker that waits for a task is not at work.
    """
    infile.peek(1)  # type: ignore[attr-defined]  # the daemon's file is a BufferedReader
    _spent.update(calls=0, rows=0, call_s=0.0, call_cpu_s=0.0)
    cpu, began = time.process_time(), time.perf_counter()
    try:
        worker.main(infile, outfile)
    finally:
        about = {**_spent, "worker_s": time.perf_counter() - began, "worker_cpu_s": time.process_time() - cpu}
        if about["calls"]:
            # A short line at a file's end is written in one piece.
            with open(os.environ["PARTWRIGHT_TIMES"], "a", encoding="ascii") as times:  # noqa: PTH123
                times.write(json.dumps(about) + "\n")


hashing.partition_for_key = _timed  # type: ignore[assignment]
