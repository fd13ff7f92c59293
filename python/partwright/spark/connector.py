"""Spark's Kafka connector: how it reaches a Kafka, and what to say where a session does not have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from partwright.kafka.connection import KafkaConfig

__all__ = ["no_connector", "spark_options"]


def spark_options(config: KafkaConfig, *, reading: bool = False) -> dict[str, str]:
    """The options by which Spark's Kafka connector, a Java client, reaches what a configuration is for.

    Args:
        config: The client configuration.
        reading: Whether what only a consumer takes is among them, such as `isolation.level`.
    """
    settings = config.java() | (config.java_reading() if reading else {})
    return {f"kafka.{name}": value for name, value in settings.items()}


def no_connector(spark: SparkSession) -> PartwrightError:
    """The session has no Kafka connector: the error, with where it comes from."""
    version = spark.version
    # PySpark's own 3.5 is built for 2.12; later ones have 2.13 alone.
    scala = "2.12" if version.startswith("3.") else "2.13"
    return PartwrightError(
        "this Spark session has no Kafka connector: make it with pws.session(kafka=True), or start Spark with "
        f"--packages org.apache.spark:spark-sql-kafka-0-10_{scala}:{version}"
    )
