"""What works out a partition in Spark: the core in Python workers, or an expression of Spark's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import unknown
from partwright.spark.requirements import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["ARROW", "JVM", "SETTING", "active_session", "chosen"]

ARROW, JVM = "arrow", "jvm"
SETTING = "spark.partwright.engine"
"""The session's setting that names the engine where no call does."""


def chosen(engine: str | None) -> str:
    """The engine that a call names, or else the session's setting, or else `arrow`.

    Raises:
        PartwrightError: There is no such engine.

    Examples:
        >>> chosen("jvm")
        'jvm'
        >>> chosen("rust")
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: there is no engine 'rust' in partwright.spark: say arrow or jvm
    """
    where = "partwright.spark"
    if engine is None:
        spark = active_session()
        engine = ARROW if spark is None else spark.conf.get(SETTING, ARROW)
        where = f"partwright.spark, which the session's {SETTING} asks for"
    if engine not in {ARROW, JVM}:
        raise unknown(engine, "engine", (ARROW, JVM), where)
    return engine


def active_session() -> SparkSession | None:
    """The session in which columns are made; None where there is none yet."""
    if is_remote():
        from pyspark.sql.connect.session import SparkSession as Remote

        return Remote.getActiveSession()
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()
