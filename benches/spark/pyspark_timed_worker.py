"""PySpark's own worker with a clock around each task and around each call of ours in it.

Of one call it times the whole, of the next the kernel alone. Spark takes it by `spark.python.worker.module`, for which
a module's name has to begin with pyspark. A line of JSON a task is appended to the file that the variable
PARTWRIGHT_TIMES names.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from typing import Any, BinaryIO

import pyarrow as pa
from pyspark import worker

from partwright.keys import hashing

__all__ = ["main"]

_place = hashing.partition_for_key
_NOTHING = {"rows": 0, "call_rows": 0, "call_s": 0.0}
_NOTHING |= {"kernel_rows": 0, "kernel_s": 0.0, "kernel_more_s": 0.0}
_spent = dict(_NOTHING)
# Both ways take turns over all tasks of a worker, some of which have one batch alone.
_turns = itertools.cycle((True, False))


def _timed(keys: Any, *rest: Any) -> Any:
    if not isinstance(keys, pa.Array):
        return _place(keys, *rest)
    _spent["rows"] += len(keys)
    return _a_call(keys, *rest) if next(_turns) else _the_kernel(keys, *rest)


def _a_call(keys: pa.Array, *rest: Any) -> Any:
    """As it comes: most of what it runs is in no cache any more."""
    began = time.perf_counter()
    placed = _place(keys, *rest)
    _spent["call_s"] += time.perf_counter() - began
    _spent["call_rows"] += len(keys)
    return placed


def _the_kernel(keys: pa.Array, *rest: Any) -> Any:
    """A call less the way in and out, which calls on one row before and after it have made and measured."""
    one = keys.slice(0, 1)
    first = time.perf_counter()
    _place(one, *rest)
    began = time.perf_counter()
    placed = _place(keys, *rest)
    ended = time.perf_counter()
    _place(one, *rest)
    last = time.perf_counter()
    _spent["kernel_s"] += (ended - began) - (last - ended)
    _spent["kernel_more_s"] += (began - first) + (last - ended)
    _spent["kernel_rows"] += len(keys)
    return placed


def main(infile: BinaryIO, outfile: BinaryIO) -> None:
    """One task, as `pyspark.worker.main`, which the daemon calls for each.

    The clock starts with the first byte that Spark sends: a worker that waits for a task is not at work.
    """
    infile.peek(1)  # type: ignore[attr-defined]  # the daemon's file is a BufferedReader
    _spent.update(_NOTHING)
    cpu, began = time.process_time(), time.perf_counter()
    try:
        worker.main(infile, outfile)
    finally:
        about = {**_spent, "worker_s": time.perf_counter() - began, "worker_cpu_s": time.process_time() - cpu}
        if about["rows"]:
            # A short line at a file's end is written in one piece.
            with open(os.environ["PARTWRIGHT_TIMES"], "a", encoding="ascii") as times:  # noqa: PTH123
                times.write(json.dumps(about) + "\n")


hashing.partition_for_key = _timed  # type: ignore[assignment]
