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

__all__ = ["Asking", "in_time"]

_MOST_JOBS = 64


class RoundAnswers(NamedTuple):
    """The answers of one round of tasks."""

    found: list[Json]
    errors: list[Exception]
    is_late: bool


class Asking(NamedTuple):
    """A question to a session's executors, and how its jobs are marked and cancelled."""

    spark: SparkSession
    question: Callable[[int], str]
    """A function that is sent by value and returns JSON."""
    mark: Callable[[], None]
    cancel: Callable[[], None]

    def round(self, tasks: int, deadline: float) -> RoundAnswers:
        """Run this many tasks in one job; if one fails, run one job per task, because Spark drops the others' answers.

        The question is a plain Python UDF, which needs neither pyarrow nor pandas in workers.
        """
        udf: Any = sf.udf(self.question, "string", useArrow=False).asNondeterministic()

        def ask(of: int) -> list[Json]:
            self.mark()
            rows = self.spark.range(0, of, 1, of).select(udf("id")).collect()
            return [json.loads(row[0]) for row in rows]

        told = self._answers([lambda: ask(tasks)], deadline)
        if told.errors and not told.is_late:
            told = self._answers([lambda: ask(1)] * min(tasks, _MOST_JOBS), deadline)
        return told

    def _answers(self, jobs: list[Callable[[], list[Json]]], deadline: float) -> RoundAnswers:
        lists, errors, is_late = in_time(jobs, deadline)
        if is_late:
            in_time([self.cancel], time.monotonic() + 1)
        return RoundAnswers([each for answers in lists for each in answers], errors, is_late)


def in_time(jobs: list[Callable[[], Any]], deadline: float) -> tuple[list[Any], list[Exception], bool]:
    """Run all at once; return their results, their errors, and whether one was still running at the time limit."""
    given: list[Any] = []
    raised: list[Exception] = []

    def run(job: Callable[[], Any]) -> None:
        try:
            given.append(job())
        except Exception as error:  # noqa: BLE001 - whatever Spark, py4j or gRPC raise
            raised.append(error)

    # A thread whose Spark never answers must not keep this process from ending.
    threads = [threading.Thread(target=run, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [*given], [*raised], any(thread.is_alive() for thread in threads)
