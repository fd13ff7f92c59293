"""The Spark that PySpark starts: its version and Scala's, read from its jars."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyspark
from pyspark.find_spark_home import _find_spark_home

from partwright.errors import PartwrightError
from partwright.kafka.jars import SparkBuild

__all__ = ["check_spark_home", "installed_spark"]

_CORE = re.compile(r"spark-core_(\d+\.\d+)-(.+)\.jar")


def check_spark_home() -> None:
    """Refuse a SPARK_HOME of another Spark: PySpark would start that one, and fail oddly.

    Raises:
        PartwrightError: With the Spark that is there.
    """
    home = os.environ.get("SPARK_HOME")
    if home is None:
        return
    theirs = [build.spark for build in _sparks(home)]
    # PySpark's own version may have a suffix, as in 4.3.0.dev1.
    if not any(pyspark.__version__.startswith(version.removesuffix("-SNAPSHOT")) for version in theirs):
        found = f"Spark {', '.join(theirs)}" if theirs else "no Spark"
        raise PartwrightError(
            f"SPARK_HOME is {home!r}, which has {found}, but PySpark is {pyspark.__version__}: unset it"
        )


def installed_spark() -> SparkBuild:
    """The Spark that a session of this process would start.

    Raises:
        PartwrightError: Its folder has no jar of Spark's core.
    """
    home = _find_spark_home()
    found = _sparks(home)
    if not found:
        raise PartwrightError(
            f"there is no jar spark-core in {home!r}/jars, whose name has the versions of Spark and Scala: "
            "install PySpark anew"
        )
    return found[0]


def _sparks(home: str) -> list[SparkBuild]:
    names = (_CORE.fullmatch(jar.name) for jar in Path(home, "jars").glob("spark-core_*.jar"))
    return [SparkBuild(spark=name[2], scala=name[1]) for name in names if name]
