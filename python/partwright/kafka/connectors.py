"""The locked set of jars for a Spark's Kafka connector, by the minor versions of Spark and Scala."""

from __future__ import annotations

import re
from typing import NamedTuple

from partwright.kafka.jars import JarError

__all__ = ["CONNECTORS", "SparkBuild", "connector_set"]

# If Maven Central lacks a Spark's connector, the nearest one that works with it.
CONNECTORS = {
    ("3.5", "2.12"): "connector-3.5.7_2.12",
    ("3.5", "2.13"): "connector-3.5.9_2.13",
    ("4.0", "2.13"): "connector-4.0.4_2.13",
    ("4.1", "2.13"): "connector-4.1.3_2.13",
    ("4.2", "2.13"): "connector-4.2.0_2.13",
    ("4.3", "2.13"): "connector-4.2.0_2.13",
}


class SparkBuild(NamedTuple):
    """A Spark, and the Scala that its jars are compiled for; one version of Spark may exist for two."""

    spark: str
    scala: str

    @property
    def minor(self) -> str:
        """Spark's minor version."""
        return ".".join(self.spark.split(".")[:2])


def connector_set(build: SparkBuild) -> str:
    """The name of the set, for `partwright.kafka.jars.jars`.

    A Spark that is newer than all of them gets the newest connector; that is an attempt, as is the rest of a newer
    PySpark.

    Args:
        build: The Spark, such as 3.5.9 for Scala 2.12.

    Raises:
        JarError: There is no set for it; the error lists the existing ones and what to do.

    Examples:
        >>> connector_set(SparkBuild("4.3.0", "2.13"))
        'connector-4.2.0_2.13'
    """
    key = build.minor, build.scala
    name = CONNECTORS.get(key)
    newest = max(CONNECTORS, key=_numbers)
    if name is None and build.scala == newest[1] and _numbers(key) > _numbers(newest):
        name = CONNECTORS[newest]
    if name is None:
        known = ", ".join(f"{spark} (Scala {scala})" for spark, scala in CONNECTORS)
        raise JarError(
            f"there is no Kafka connector here for Spark {build.spark} (Scala {build.scala}), only for Spark {known}: "
            "leave out kafka and name the connector in spark.jars.packages"
        )
    return name


def _numbers(key: tuple[str, str]) -> list[int]:
    """The numbers of a minor version, because 4.10 is newer than 4.9."""
    return [int(number) for number in re.findall(r"\d+", key[0])]
