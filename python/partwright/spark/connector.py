"""Spark's Kafka connector: how it reaches a Kafka, and what to do if a session does not have it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from partwright.errors import PartwrightError
from partwright.kafka.jars import CONNECTORS, SparkBuild
from partwright.spark.executors.replies import is_classic

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig

PRODUCER = {
    "kafka.delivery.timeout.ms": "30000",
    "kafka.request.timeout.ms": "10000",
    "kafka.max.block.ms": "20000",
}
"""A broker that went away is noticed within half a minute instead of two; requests are still retried many times."""


READER = {
    "kafka.request.timeout.ms": "10000",
    "kafka.default.api.timeout.ms": "20000",
    "kafkaConsumer.pollTimeoutMs": "60000",
}
"""The same for reading: Spark asks three times for offsets, and would wait a minute each time, and two minutes for
records."""


_OLDER_READERS = "spark.sql.sources.useV1SourceList"


def spark_options(config: KafkaConfig, *, reading: bool = False) -> dict[str, str]:
    """The options with which Spark's Kafka connector, a Java client, reaches the Kafka of a configuration.

    Args:
        config: The client configuration.
        reading: Whether to include options that only a consumer takes, such as `isolation.level`.
    """
    settings = config.java() | (config.java_reading() if reading else {})
    return {f"kafka.{name}": value for name, value in settings.items()}


def windows_read(topic: str, windows: Mapping[int, tuple[int, int]]) -> dict[str, str]:
    """The options with which Spark reads some partitions of a topic, each from one offset to another."""
    begin, end = ({str(partition): window[side] for partition, window in windows.items()} for side in (0, 1))
    return {
        "assign": json.dumps({topic: [*windows]}),
        "startingOffsets": json.dumps({topic: begin}),
        "endingOffsets": json.dumps({topic: end}),
    }


def load_topic(spark: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """A topic as a table, through the newer of the connector's two readers, which streams use.

    For a table, Spark uses the older one by default, which first makes a Java object of each record and takes half as
    long again.

    Args:
        spark: A session with the connector.
        options: All of the reader's options.
    """
    before = str(spark.conf.get(_OLDER_READERS))
    spark.conf.set(_OLDER_READERS, ",".join(name for name in before.split(",") if name != "kafka"))
    try:
        return spark.read.format("kafka").options(**options).load()
    finally:
        spark.conf.set(_OLDER_READERS, before)


def write_topic(
    records: DataFrame, config: KafkaConfig, topic: str, options: Mapping[str, str] | None = None
) -> None:
    """Write a table with Spark's own Kafka sink, at least once.

    Args:
        records: `key`, `value`, and `headers` and `partition` if it has them; without `partition` the Java producer
            chooses. Other columns are not written.
        config: How the Kafka is reached.
        topic: The topic.
        options: More of the sink's options.
    """
    column_names = [name for name in ("key", "value", "headers", "partition") if name in records.columns]
    (
        records.select(*column_names)
        .write.format("kafka")
        .options(**spark_options(config))
        .option("topic", topic)
        .options(**PRODUCER, **(options or {}))
        .save()
    )


def refuse_second_tasks(spark: SparkSession) -> None:
    """Refuse a session that may run slow tasks a second time: with Spark's own sink, each run writes all its records.

    Raises:
        PartwrightError: It is such a session.
    """
    from partwright.spark.classic import runs_tasks_twice  # noqa: PLC0415 - pyspark-client has nothing of its imports

    if is_classic(spark) and runs_tasks_twice(spark):
        raise PartwrightError(
            "this Spark session runs slow tasks a second time (spark.speculation=true), and Spark's Kafka sink would "
            "write their records twice: start it with spark.speculation=false, or write exactly once"
        )


def no_connector(spark: SparkSession) -> PartwrightError:
    """The error that the session has no Kafka connector, with where to get it."""
    if is_classic(spark):
        from partwright.spark.classic import installed_spark  # noqa: PLC0415 - pyspark-client starts no Spark

        build, start = installed_spark(), "make it with pws.session(kafka=True), or start Spark"
    else:
        # A server does not tell its Scala version: PySpark 3.5 comes with 2.12, later versions only with 2.13.
        build = SparkBuild(spark.version, "2.12" if spark.version.startswith("3.") else "2.13")
        start = "start its server"
    name = CONNECTORS.get((build.minor, build.scala), f"connector-{build.spark}_{build.scala}")
    version, _, scala = name.removeprefix("connector-").partition("_")
    return PartwrightError(
        f"this Spark session has no Kafka connector: {start} with "
        f"--packages org.apache.spark:spark-sql-kafka-0-10_{scala}:{version}"
    )
