"""Which of the locked sets of jars is the Kafka connector of a Spark: by Spark's minor version and Scala's."""

from __future__ import annotations

import re
from typing import NamedTuple

from partwright.kafka.jars import JarError

__all__ = ["CONNECTORS", "SparkBuild", "connector_set"]

# Where Maven Central lacks the connector of a Spark, the nearest that works with it.
CONNECTORS = {
    ("3.5", "2.12"): "connector-3.5.7_2.12",
    ("3.5", "2.13"): "connector-3.5.9_2.13",
    ("4.0", "2.13"): "connector-4.0.4_2.13",
    ("4.1", "2.13"): "connector-4.1.3_2.13",
    ("4.2", "2.13"): "connector-4.2.0_2.13",
    ("4.3", "2.13"): "connector-4.2.0_2.13",
}


class SparkBuild(NamedTuple):
    """A Spark, and the Scala that its jars are compiled for: one version of Spark may come for two."""

    spark: str
    scala: str

    @property
    def minor(self) -> str:
        """Spark's minor version."""
        return ".".join(self.spark.split(".")[:2])


def connector_set(build: SparkBuild) -> str:
    """The name of the set, for `partwright.kafka.jars.jars`.

    A Spark that is newer than all of them gets the newest: it is tried, as the rest of a newer PySpark is.

    Args:
        build: The Spark, such as 3.5.9 for Scala 2.12.

    Raises:
        JarError: There is no set for it, with those there are and what to do.

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
    """The numbers of a minor version, as 4.10 is newer than 4.9."""
    return [int(number) for number in re.findall(r"\d+", key[0])]
