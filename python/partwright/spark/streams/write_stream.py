"""`write_stream`: any streaming table into a topic; each key in order, nothing lost or written twice by a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.connection.given import configured
from partwright.spark.columns import as_column
from partwright.spark.connector import PRODUCER, refuse_second_tasks, spark_options
from partwright.spark.executors.ask import is_classic
from partwright.spark.schema import type_of
from partwright.spark.streams.batches import BatchWriter, Columns
from partwright.spark.streams.notes import StreamNotes
from partwright.spark.tables import with_partition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.connection.given import KafkaConfigLike
    from partwright.spark.streams.batches import BatchDone

__all__ = ["write_stream"]


def write_stream(
    df: DataFrame,
    *,
    topic: str,
    key: str | Column = "key",
    value: str | Column = "value",
    checkpoint: str,
    bootstrap: str | None = None,
    kafka_config: KafkaConfigLike = None,
    headers: str | Column | None = None,
    timestamp: str | Column | None = None,
    order_by: str | Column | Sequence[str | Column] | None = None,
    client: str = "java",
    key_type: str | None = None,
    engine: str | None = None,
    strategy: str | None = None,
    exactly_once: bool = False,
    follow_partitions: bool = False,
    available_now: bool = False,
    every: float | None = None,
    real_time: str | None = None,
    on_batch: Callable[[BatchDone], None] | None = None,
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
        key: The column of the keys.
        value: The column of the values, text or binary.
        checkpoint: The folder of Spark's checkpoint, on any file system that Spark knows.
        bootstrap: The broker; None for the `bootstrap.servers` of the configuration.
        kafka_config: The client configuration: a dict of settings by Kafka's or by librdkafka's names, or the path of a
            properties file.
        headers: The column of the headers, `array<struct<key: string, value: binary>>`; None for none.
        timestamp: With `exactly_once`, the column of the records' timestamps in milliseconds; None for now.
        order_by: The columns that order a key's records in a batch; None keeps their order, as from Kafka or from
            files. Name columns after a shuffle in the query.
        client: The client profile.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        engine: `arrow` or `jvm`; see `partition_for_key`.
        strategy: Places records that the client does not place by their key, by name or as the dotted path of a
            partitioner; it starts anew with each batch. None spreads them evenly, by their contents.
        exactly_once: Whether each task writes in transactions.
        follow_partitions: Whether the stream continues if the topic gets more partitions; by default it stops.
        available_now: Whether the query ends once it has written what is there now.
        every: Seconds from one batch to the next; None for as soon as possible.
        real_time: How long a batch of Spark's real-time mode lasts, such as `5 minutes`: records pass at once, by the
            `jvm` engine and Spark's own sink, at least once, for the topic's present number of partitions.
        on_batch: Called with each finished batch.

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
        ...     bootstrap="127.0.0.1:9092",
        ... )
    """
    _check(df, exactly_once, follow_partitions, available_now, every, real_time, timestamp)
    config = configured(kafka_config, bootstrap)
    with admin_client(config, TIMEOUT_S) as admin:
        found = topics.existing(admin, topic, "WRITE")
    for column, name in ((key, "key"), (value, "value"), (headers, "headers"), (timestamp, "timestamp")):
        if isinstance(column, str):
            type_of(df, column, name)
    if real_time is not None:
        return _in_real_time(
            df, config, topic, len(found.partitions), key, value, client, key_type, checkpoint, real_time
        )
    asked = {
        "key": str(key),
        "client": client,
        "key_type": key_type,
        "strategy": strategy,
        "exactly_once": str(exactly_once),
    }
    notes = StreamNotes(df.sparkSession, checkpoint)
    stream = notes.stream(topic, str(found.topic_id), asked)
    columns = Columns(
        as_column(key, "key"),
        as_column(value, "value").cast("binary"),
        None if headers is None else as_column(headers, "headers"),
        None if timestamp is None else as_column(timestamp, "timestamp"),
        [as_column(each, "order_by") for each in _as_list(order_by)],
    )
    write = BatchWriter(
        config,
        topic,
        columns,
        client=client,
        key_type=key_type,
        engine=engine,
        strategy=strategy,
        exactly_once=exactly_once,
        follow_partitions=follow_partitions,
        stream=stream,
        notes=notes,
        told=on_batch,
    )
    writer = df.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
    if available_now:
        writer = writer.trigger(availableNow=True)
    elif every is not None:
        writer = writer.trigger(processingTime=f"{every} seconds")
    return writer.start()


def _check(
    df: DataFrame,
    exactly_once: bool,
    follow_partitions: bool,
    available_now: bool,
    every: float | None,
    real_time: str | None,
    timestamp: str | Column | None,
) -> None:
    if not is_classic(df.sparkSession):
        raise PartwrightError(
            "write_stream needs a classic Spark session: under Spark Connect its batches would run on the server"
        )
    if not df.isStreaming:
        raise PartwrightError(
            "the table is not a stream: read it with spark.readStream, or write it with partwright run"
        )
    if available_now and every is not None:
        raise PartwrightError("available_now ends after what is there, every goes on: give only one of them")
    if every is not None and not 0 <= every < float("inf"):
        raise PartwrightError(f"every takes seconds, 0 or more, not {every}")
    if timestamp is not None and not exactly_once:
        raise PartwrightError(
            "timestamps would be lost, for Spark's Kafka sink ignores them: add exactly_once=True, whose writer keeps "
            "them"
        )
    if not exactly_once:
        refuse_second_tasks(df.sparkSession)
    if real_time is not None:
        for name, given in [
            ("exactly_once", exactly_once),
            ("follow_partitions", follow_partitions),
            ("available_now", available_now),
            ("every", every is not None),
        ]:
            if given:
                raise PartwrightError(
                    f"Spark's real-time mode has no batches that {name} could act on: leave out {name} or real_time"
                )


def _in_real_time(
    df: DataFrame,
    config: KafkaConfig,
    topic: str,
    n: int,
    key: str | Column,
    value: str | Column,
    client: str,
    key_type: str | None,
    checkpoint: str,
    lasts: str,
) -> StreamingQuery:
    """Write with Spark's own sink and a JVM expression: real-time mode refuses Python and foreachBatch."""
    rows = df.select(
        as_column(key, "key").alias("key"), as_column(value, "value").cast("binary").alias("value")
    )
    placed = with_partition(rows, "key", n, client, key_type, engine="jvm")
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


def _as_list(order_by: str | Column | Sequence[str | Column] | None) -> list[str | Column]:
    if order_by is None:
        return []
    return list(order_by) if isinstance(order_by, (list, tuple)) else [cast("str | Column", order_by)]
