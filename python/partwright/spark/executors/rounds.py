"""Ask many Spark tasks the same question within a time limit; a failing task does not lose the other answers."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import functions as sf

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from partwright._check import Json

__all__ = ["Asking", "Told", "in_time"]

_MOST_JOBS = 64


class Told(NamedTuple):
    """What one round of tasks said."""

    found: list[Json]
    errors: list[Exception]
    is_late: bool


class Asking(NamedTuple):
    """A question to a session's executors, and how its jobs are marked and cancelled."""

    spark: SparkSession
    question: Callable[[int], str]
    """Sent by value; gives JSON."""
    mark: Callable[[], None]
    cancel: Callable[[], None]

    def round(self, tasks: int, deadline: float) -> Told:
        """So many tasks at once; where one fails, so many jobs of one task, for Spark drops what others answered.

        The question is a plain Python UDF, which needs neither pyarrow nor pandas in workers.
        """
        udf: Any = sf.udf(self.question, "string", useArrow=False).asNondeterministic()

        def ask(of: int) -> list[Json]:
            self.mark()
            rows = self.spark.range(0, of, 1, of).select(udf("id")).collect()
            return [json.loads(row[0]) for row in rows]

        told = self._told([lambda: ask(tasks)], deadline)
        if told.errors and not told.is_late:
            told = self._told([lambda: ask(1)] * min(tasks, _MOST_JOBS), deadline)
        return told

    def _told(self, jobs: list[Callable[[], list[Json]]], deadline: float) -> Told:
        lists, errors, is_late = in_time(jobs, deadline)
        if is_late:
            in_time([self.cancel], time.monotonic() + 1)
        return Told([each for answers in lists for each in answers], errors, is_late)


def in_time(jobs: list[Callable[[], Any]], deadline: float) -> tuple[list[Any], list[Exception], bool]:
    """Runs all at once: what they gave, what they raised, and whether one was still at it at the end."""
    given: list[Any] = []
    raised: list[Exception] = []

    def run(job: Callable[[], Any]) -> None:
        try:
            given.append(job())
        except Exception as error:  # noqa: BLE001 - whatever Spark, py4j or gRPC raise
            raised.append(error)

    # A thread whose Spark never answers must not keep this process from its end.
    threads = [threading.Thread(target=run, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [*given], [*raised], any(thread.is_alive() for thread in threads)
