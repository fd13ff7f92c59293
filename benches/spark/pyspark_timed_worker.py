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
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from pyspark import worker

from partwright import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

__all__ = ["main"]

_Placer = _core.Placer
_NOTHING = {"rows": 0, "call_rows": 0, "call_s": 0.0}
_NOTHING |= {"kernel_rows": 0, "kernel_s": 0.0, "kernel_more_s": 0.0}
_spent = dict(_NOTHING)
# Both ways take turns over all tasks of a worker, because some tasks have only one batch.
_turns = itertools.cycle((True, False))


class _Timed:
    """The function that a UDF on this worker calls."""

    _place: Callable[[pa.Array], Any]

    def __new__(cls, *settings: Any) -> Self:
        made = super().__new__(cls)
        made._place = _Placer(*settings).place
        return made

    def place(self, keys: pa.Array) -> Any:
        _spent["rows"] += len(keys)
        return _a_call(self._place, keys) if next(_turns) else _the_kernel(self._place, keys)


def _a_call(place: Callable[[pa.Array], Any], keys: pa.Array) -> Any:
    """Timed as it comes: most of the code that it runs is no longer cached."""
    began = time.perf_counter()
    placed = place(keys)
    _spent["call_s"] += time.perf_counter() - began
    _spent["call_rows"] += len(keys)
    return placed


def _the_kernel(place: Callable[[pa.Array], Any], keys: pa.Array) -> Any:
    """A call minus the way in and out, which calls on one row before and after it measure."""
    one = keys.slice(0, 1)
    first = time.perf_counter()
    place(one)
    began = time.perf_counter()
    placed = place(keys)
    ended = time.perf_counter()
    place(one)
    last = time.perf_counter()
    _spent["kernel_s"] += (ended - began) - (last - ended)
    _spent["kernel_more_s"] += (began - first) + (last - ended)
    _spent["kernel_rows"] += len(keys)
    return placed


def main(infile: BinaryIO, outfile: BinaryIO) -> None:
    """One task, as `pyspark.worker.main`, which the daemon calls for each.

    The clock starts with the first byte that Spark sends, because a worker that waits for a task does no work.
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


_core.Placer = _Timed  # type: ignore[misc, assignment]
