"""The jar that makes a Spark into a Connect server, if PySpark has none of its own, before 4.0."""

from __future__ import annotations

from partwright.spark.requirements import pyspark_version

__all__ = ["CONNECT_JAR"]

# The newest of 3.5 that was available.
CONNECT_JAR = "" if pyspark_version() >= (4, 0) else "org.apache.spark:spark-connect_2.12:3.5.1"
