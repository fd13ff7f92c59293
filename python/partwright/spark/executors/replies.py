"""Which executors a session has, and each one's answer to a question.

Each round has as many tasks as there are slots, so that each free executor takes some, and rounds go on until all have
answered. Barrier mode would reach all at once, but it waits for minutes if a slot is taken or an executor is late, and
dynamic allocation refuses it. A failing task does not lose the others' answers.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from partwright._check import Json, first_line
from partwright.errors import PartwrightError
from partwright.spark.requirements import is_of_server, is_stopped

_MOST_JOBS = 64


class RoundAnswers(NamedTuple):
    """The answers of one round of tasks."""

    facts: list[Json]
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

        for jobs in ([partial(ask, tasks)], [partial(ask, 1)] * min(tasks, _MOST_JOBS)):
            lists, errors, is_late = in_time(jobs, deadline)
            if is_late:
                in_time([self.cancel], time.monotonic() + 1)
            if is_late or not errors:
                break
        return RoundAnswers([each for answers in lists for each in answers], errors, is_late)


def in_time(jobs: Sequence[Callable[[], Any]], deadline: float) -> tuple[list[Any], list[Exception], bool]:
    """Run all at once; return their results, their errors, and whether one was still running at the time limit."""
    results: list[Any] = []
    raised: list[Exception] = []

    def run(job: Callable[[], Any]) -> None:
        try:
            results.append(job())
        except Exception as error:  # noqa: BLE001 - whatever Spark, py4j or gRPC raise
            raised.append(error)

    # A thread whose Spark never answers must not keep this process from ending.
    threads = [threading.Thread(target=run, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [*results], [*raised], any(thread.is_alive() for thread in threads)


_POLL_S = 0.1
# Executors of one application start within seconds of each other.
_SETTLED_S = 5.0
_ROUNDS = 3
_MOST_TASKS = 100_000
_MOST_SLOTS = 10_000


class Reply(NamedTuple):
    """One executor's answer: `facts`, or `error` if its Python did not run, or neither if it did not answer."""

    executor: str | None
    host: str | None
    facts: Json | None
    error: str | None


def is_classic(spark: object) -> bool:
    """Whether this session has a Java process of its own; False for one of Spark Connect.

    Raises:
        PartwrightError: It is not a session, or it was stopped.
    """
    is_remote = is_of_server(spark)
    if not (is_remote or isinstance(spark, SparkSession)):
        raise PartwrightError(f"spark must be a SparkSession, not {type(spark).__name__}")
    if is_stopped(spark):
        raise PartwrightError("this Spark session was stopped: make a new one")
    return not is_remote


def ask_executors(spark: SparkSession, question: Callable[[int], str], timeout: float) -> list[Reply]:
    """Ask each executor a question.

    Args:
        spark: The session.
        question: A function that is sent by value and gives JSON: an object that has `task` (the number of Spark's
            task attempt), `host` and `process` (the one that started the worker), and more.
        timeout: Seconds after which executors that have not answered are given up.

    Returns:
        In a classic session an answer for each executor, in the order of their names. Through Spark Connect, which
        names no executors, an answer for each process that answered, and one for each error.

    Raises:
        PartwrightError: There is no session; no executor answered within the time limit.
    """
    deadline = time.monotonic() + timeout
    answers = _of_classic if is_classic(spark) else _of_remote
    replies = list(answers(spark, question, deadline))
    if not any(each.facts or each.error for each in replies):
        raise PartwrightError(
            f"no executor answered within {timeout:g} s: the cluster is busy, or gives this application no executor; "
            "look at the cluster's manager, or give a longer timeout"
        )
    return replies


def _of_classic(spark: SparkSession, question: Callable[[int], str], deadline: float) -> Iterator[Reply]:
    context = spark.sparkContext
    state = _StatusStore(context, f"partwright {uuid.uuid4()}")
    asking = Asking(
        spark,
        question,
        lambda: context.setJobGroup(state.group, "partwright looks at the executors"),
        lambda: context.cancelJobGroup(state.group),
    )
    facts: dict[str, Json] = {}
    while True:
        executors = state.executors()
        errors = state.errors()
        missing = executors.keys() - facts.keys() - errors.keys()
        if time.monotonic() > deadline or (not missing and state.is_settled(executors)):
            break
        if executors and not missing:
            time.sleep(_POLL_S)
            continue
        # A cluster with dynamic allocation starts executors now.
        answers = asking.round(sum(each.slots for each in executors.values()) or 1, deadline)
        owners = state.owners({each["task"] for each in answers.facts}, deadline)
        facts |= {owners[each["task"]]: each for each in answers.facts if each["task"] in owners}
        if answers.errors and not (facts or answers.is_late or state.errors()):
            # No task is to blame; Spark may have been stopped meanwhile, for example.
            raise PartwrightError(f"Spark ran no task: {first_line(answers.errors[0])}") from answers.errors[
                0
            ]
        time.sleep(_POLL_S)
    for name, each in sorted(executors.items(), key=lambda item: (len(item[0]), item[0])):
        yield Reply(name, each.host, facts.get(name), None if name in facts else errors.get(name))


class _Executor(NamedTuple):
    host: str
    slots: int
    since_ms: int


class _StatusStore:
    """Spark's own status store, for executors and for the tasks of one group of jobs."""

    def __init__(self, context: Any, group: str) -> None:
        self.group = group
        self._tracker = context.statusTracker()
        self._store = context._jsc.sc().statusStore()
        self._is_local = context._jsc.sc().isLocal()
        is_fixed = context.getConf().get("spark.dynamicAllocation.enabled", "false") != "true"
        self._instances = int(context.getConf().get("spark.executor.instances", "0")) if is_fixed else 0

    def executors(self) -> dict[str, _Executor]:
        """The executors that are registered, by their names."""
        rows = _sequence(self._store.executorList(True))
        return {
            row.id(): _Executor(row.hostPort().rpartition(":")[0], row.maxTasks(), row.addTime().getTime())
            for row in rows
            if self._is_local or row.id() != "driver"
        }

    def is_settled(self, executors: dict[str, _Executor]) -> bool:
        """Whether no more executors need to be waited for."""
        if self._is_local:
            return True
        newest = max((each.since_ms for each in executors.values()), default=0) / 1000
        return 0 < len(executors) >= self._instances and time.time() - newest > _SETTLED_S

    def owners(self, tasks: set[int], deadline: float) -> dict[int, str]:
        """The executors that ran these tasks; the store learns of them a moment late."""
        while True:
            known = {row.taskId(): row.executorId() for row in self._tasks()}
            if tasks <= known.keys() or time.monotonic() > deadline:
                return known
            time.sleep(_POLL_S)

    def errors(self) -> dict[str, str]:
        """Why tasks failed, by executor."""
        return {
            row.executorId(): row.errorMessage().get()
            for row in self._tasks()
            if row.status() == "FAILED" and row.errorMessage().isDefined()
        }

    def _tasks(self) -> Iterator[Any]:
        for job in self._tracker.getJobIdsForGroup(self.group):
            info = self._tracker.getJobInfo(job)
            for stage in [] if info is None else info.stageIds:
                yield from _sequence(self._store.taskList(stage, 0, _MOST_TASKS))


def _sequence(listed: Any) -> Iterator[Any]:
    """The items of a Scala sequence."""
    return (listed.apply(at) for at in range(listed.size()))


def _of_remote(spark: SparkSession, question: Callable[[int], str], deadline: float) -> Iterator[Reply]:
    session: Any = spark
    tag = f"partwright-{uuid.uuid4()}"
    asking = Asking(spark, question, lambda: session.addTag(tag), lambda: session.interruptTag(tag))
    # Spark splits a range into as many parts as it has slots.
    parts = spark.range(_MOST_SLOTS).select(sf.spark_partition_id())
    numbers, errors, is_late = in_time([parts.collect], deadline)
    facts: dict[tuple[str, int], Json] = {}
    for _ in range(_ROUNDS):
        if not numbers or is_late:
            break
        answers = asking.round(len({row[0] for row in numbers[0]}), deadline)
        errors, is_late, before = answers.errors, answers.is_late, len(facts)
        facts |= {(each["host"], each["process"]): each for each in answers.facts}
        if before == len(facts):
            break
    for (host, process), each in facts.items():
        yield Reply(f"process {process}", host, each, None)
    for error in dict.fromkeys(map(str, errors)):
        yield Reply(None, None, None, error)
