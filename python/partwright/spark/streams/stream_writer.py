"""`write_stream`: any streaming table into a topic; each key in order, nothing lost or written twice by a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from partwright._check import options as options_of
from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.connection import KafkaConfig, KafkaConfigLike, configured
from partwright.producer.configs import ProducerConfig
from partwright.producer.records import Workload
from partwright.spark.columns import as_column
from partwright.spark.connector import PRODUCER, refuse_second_tasks, spark_options
from partwright.spark.executors.replies import is_classic
from partwright.spark.schema import order_columns, type_of
from partwright.spark.streams.batches import BatchWriter, StreamNotes, StreamOptions, refuse_together
from partwright.spark.tables import with_partition

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["StreamOptions", "write_stream"]


def write_stream(
    df: DataFrame,
    *,
    topic: str,
    checkpoint: str,
    workload: Workload | None = None,
    producer: ProducerConfig | None = None,
    kafka_config: KafkaConfigLike = None,
    options: StreamOptions | None = None,
) -> StreamingQuery:
    """Start a query that writes a streaming table to a topic, each record into its exact partition.

    For each micro-batch, the topic's number of partitions is checked, the batch is laid out so that one task writes one
    partition in order, and it is noted in the checkpoint's folder `partwright` before its first record. A batch that
    runs again after a crash reads back the end of the topic's partitions, and writes the missing records. Spark's own
    sink writes it (at least once: only a task that Spark retries within a batch writes records twice); with
    `exactly_once` tasks write in transactions.

    Args:
        df: A streaming table.
        topic: The topic, which must exist.
        checkpoint: The folder of Spark's checkpoint, on any file system that Spark knows.
        workload: The columns of the records: `key`, and `value`, text or binary, by default those of these names;
            `headers`, `array<struct<key: string, value: binary>>`; with `exactly_once`, `time`, the records' timestamps
            in milliseconds. None of the last two means no headers, and now.
        producer: The client and key type that place records by their key. Its strategy places the others, by name or as
            the dotted path of a partitioner, and starts anew with each batch; None spreads them evenly, by their
            contents.
        kafka_config: The client configuration: `host:port`, a dict of settings by Kafka's or by librdkafka's names, or
            the path of a properties file.
        options: How the query runs; see `StreamOptions`.

    Returns:
        The running query.

    Raises:
        PartwrightError: The table is not a stream, the session is Spark Connect, the topic does not exist, the
            checkpoint is of another stream, columns do not exist, options contradict each other, or the
            session runs slow tasks a second time (spark.speculation) without `exactly_once`.
        BrokerError: No Kafka answers, or it refuses.

    Examples:
        >>> query = write_stream(  # doctest: +SKIP
        ...     spark.readStream.format("rate").load().selectExpr("string(value % 7) AS key", "string(value) AS value"),
        ...     topic="numbers",
        ...     checkpoint="checkpoints/numbers",
        ...     kafka_config="127.0.0.1:9092",
        ... )
    """
    workload = options_of(workload, Workload, "workload")
    producer = options_of(producer, ProducerConfig, "producer")
    options = options_of(options, StreamOptions, "options")
    _check(df, options, workload)
    refuse_together(options)
    config = configured(kafka_config)
    with admin_client(config, TIMEOUT_S) as admin:
        description = topics.existing(admin, topic, "WRITE")
    key = "key" if workload.key is None else workload.key
    value = "value" if workload.value is None else workload.value
    columns = {"key": key, "value": value, "headers": workload.headers, "time": workload.time}
    for name, column in columns.items():
        if isinstance(column, str):
            type_of(df, column, name)
    if options.real_time is not None:
        rows = df.select(
            as_column(key, "key").alias("key"), as_column(value, "value").cast("binary").alias("value")
        )
        return _in_real_time(
            with_partition(
                rows, "key", len(description.partitions), producer.client, producer.key_type, engine="jvm"
            ),
            config,
            topic,
            checkpoint,
            options.real_time,
        )
    settings = {
        "key": str(key),
        "client": producer.client,
        "key_type": producer.key_type,
        "strategy": producer.strategy,
        "seed": str(producer.seed),
        "configs": ", ".join(f"{name}={value}" for name, value in sorted((producer.configs or {}).items())),
        "exactly_once": str(options.exactly_once),
    }
    notes = StreamNotes(df.sparkSession, checkpoint)
    stream = notes.stream(topic, str(description.topic_id), settings)
    record_columns = {name: as_column(column, name) for name, column in columns.items() if column is not None}
    by: Any = [] if options.order_by is None else options.order_by
    order = order_columns(df, by if isinstance(by, (list, tuple)) else [by])
    write = BatchWriter(config, topic, record_columns, order, producer, options, stream, notes)
    writer = df.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
    if options.available_now:
        writer = writer.trigger(availableNow=True)
    elif options.every is not None:
        writer = writer.trigger(processingTime=f"{options.every} seconds")
    return writer.start()


def _check(df: DataFrame, options: StreamOptions, workload: Workload) -> None:
    if not is_classic(df.sparkSession):
        raise PartwrightError(
            "write_stream needs a classic Spark session: under Spark Connect its batches would run on the server"
        )
    if not df.isStreaming:
        raise PartwrightError(
            "the table is not a stream: read it with spark.readStream, or write it with partwright run"
        )
    if workload.time is not None and not options.exactly_once:
        raise PartwrightError(
            "timestamps would be lost, for Spark's Kafka sink ignores them: add exactly_once=True, whose writer keeps "
            "them"
        )
    if not options.exactly_once:
        refuse_second_tasks(df.sparkSession)
    for name in ("partition", "size", "field"):
        if getattr(workload, name) is not None:
            raise PartwrightError(
                f"write_stream does not use the column {name}: leave it out of the workload"
            )


def _in_real_time(
    placed: DataFrame, config: KafkaConfig, topic: str, checkpoint: str, lasts: str
) -> StreamingQuery:
    """Write with Spark's own sink and a JVM expression: real-time mode refuses Python and foreachBatch."""
    placed = placed.withColumn("key", as_column("key", "key").cast("binary"))
    writer = (
        placed.writeStream.format("kafka")
        .options(**spark_options(config))
        .options(**PRODUCER)
        .option("topic", topic)
        .option("checkpointLocation", checkpoint)
        .outputMode("update")
    )
    trigger: Any = writer.trigger
    try:
        query: StreamingQuery = trigger(realTime=lasts).start()
    except TypeError:
        raise PartwrightError(
            "this PySpark has no real-time mode, which 4.2 brought: leave out real_time"
        ) from None
    return query
