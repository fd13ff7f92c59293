"""Which engine computes a partition in Spark: the core in Python workers, or an expression of Spark's own."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress

from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import Column, DataFrame, SparkSession

from partwright._check import unknown
from partwright.errors import PartwrightError
from partwright.spark.requirements import is_stopped


def explained(df: DataFrame, mode: str) -> str:
    """The text that `df.explain(mode)` prints; PySpark offers no other way to get it, classic or Connect."""
    text = io.StringIO()
    with redirect_stdout(text):
        df.explain(mode)
    return text.getvalue()


ARROW = "arrow"
JVM = "jvm"
SETTING = "spark.partwright.engine"
"""The session's setting that names the engine if a call does not."""
MARK = ", which has no key bytes in engine jvm"
"""Text in each expression of engine jvm, in its error for a key of another type; `engine_of` looks for it."""
OF_TASKS = "partwright_tasks"
"""A plan's name for each function of engine arrow that works task by task."""

# The functions that Python workers run. In a plan, a number follows their brackets, and their arguments are columns
# with a number, as in `murmur2(key#7)#8`. A column of engine jvm may have the same name, but without that number
# inside: `murmur2(key)#8`.
_OF_KEYS = ("partition_for_key", "murmur2", "encode", "kafka_partition", "kafka_murmur2")
_CALL = re.compile(rf"\b(?:{'|'.join([*_OF_KEYS, OF_TASKS])})\(")
_NUMBER = re.compile(r"\)#\d")
_FIELDS = "spark.sql.debug.maxToStringFields"
_ALL_FIELDS = 2**31 - 1
_ONE_AT_A_TIME = threading.Lock()


def choose_engine(engine: str | None, spark: SparkSession | None = None) -> str:
    """The engine that a call names; otherwise the session's setting; otherwise `arrow`.

    Args:
        engine: The engine that the call names.
        spark: The session; the active one by default.

    Raises:
        PartwrightError: There is no such engine.

    Examples:
        >>> choose_engine("jvm")
        'jvm'
        >>> choose_engine("rust")
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: there is no engine 'rust' in partwright.spark: there are arrow and jvm
    """
    where = "partwright.spark"
    if engine is None:
        engine = _setting(spark or active_session())
        where = f"partwright.spark, and the session's {SETTING} names it"
    if engine not in (ARROW, JVM):
        raise unknown(engine, "engine", (ARROW, JVM), where)
    return engine


def exact(column: Callable[[str], Column]) -> Column:
    """A column by engine `jvm`, or by `arrow` if `jvm` lacks the rule in this session or the setting says `arrow`.

    For audits, which look at key bytes and take any client. Both engines give the same, and with `jvm` the keys do not
    go to Python workers.

    Args:
        column: Takes an engine and returns the column, or raises a PartwrightError if the engine has no such rule.
    """
    if _setting(active_session(), JVM) == ARROW:
        return column(ARROW)
    try:
        return column(JVM)
    except PartwrightError:
        return column(ARROW)


def _setting(spark: SparkSession | None, default: str = ARROW) -> str:
    if spark is None:
        return default
    try:
        return str(spark.conf.get(SETTING, default))
    except PySparkException:
        # A server that does not show the setting does not let anybody set it.
        return default


def active_session() -> SparkSession | None:
    """The session for new columns, classic or Spark Connect; None if there is none."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def refuse_stopped(spark: SparkSession) -> None:
    """Refuse a session that has ended, on which PySpark fails without an explanation.

    Raises:
        PartwrightError: It has ended.
    """
    if is_stopped(spark):
        raise PartwrightError(
            "the Spark session of this table was stopped: start another, and read the table in it"
        )


def engine_of(df: DataFrame) -> set[str]:
    """The engines that work for `partwright.spark` in a table's plan, found in the plan's text.

    The plan is read before Spark optimises it, so a column that nobody reads counts. Whatever was written or
    checkpointed before is no longer part of the plan; whatever is cached is.

    Args:
        df: The table, or a stream.

    Returns:
        A set of `arrow` and `jvm`; empty if nothing in the plan places, hashes or encodes keys or assigns groups.

    Raises:
        PartwrightError: The table's session was stopped.

    Examples:
        >>> from partwright.spark import with_partition
        >>> engine_of(with_partition(flights, "tailnum", 12))
        {'arrow'}
        >>> engine_of(flights)
        set()
    """
    refuse_stopped(df.sparkSession)
    plan = _analyzed(df)
    engines = {JVM} if MARK in plan else set()
    if any(_is_of_worker(plan, call.end()) for call in _CALL.finditer(plan)):
        engines.add(ARROW)
    return engines


def _is_of_worker(plan: str, begin: int) -> bool:
    """Whether a call whose arguments begin here calls a Python function."""
    depth = 1
    for bracket in re.compile(r"[()]").finditer(plan, begin):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            end = bracket.start()
            return "#" in plan[begin:end] and _NUMBER.match(plan, end) is not None
    return False


def _analyzed(df: DataFrame) -> str:
    """A table's analyzed plan as text, with all its columns."""
    with _all_fields(df.sparkSession):
        plan = explained(df, "extended")
    begins, ends = "== Analyzed Logical Plan ==", "== Optimized Logical Plan =="
    return plan.partition(begins)[2].partition(ends)[0]


@contextmanager
def _all_fields(spark: SparkSession) -> Iterator[None]:
    """Let Spark print all columns of a table; by default it prints 25."""
    # Two threads at once would restore each other's setting instead of the original one.
    with _ONE_AT_A_TIME:
        before = None
        # Some platforms refuse settings; then the plan is as long as they print it.
        with suppress(PySparkException):
            before = spark.conf.get(_FIELDS, None)
            spark.conf.set(_FIELDS, _ALL_FIELDS)
        try:
            yield
        finally:
            with suppress(PySparkException):
                spark.conf.unset(_FIELDS) if before is None else spark.conf.set(_FIELDS, before)
