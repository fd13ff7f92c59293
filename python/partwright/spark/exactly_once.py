"""The exactly-once writer: each Spark task runs the producer of one partition, with transactions."""

from __future__ import annotations

import time

# Spark reads the annotations of functions that its workers call.
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.errors import Meaning, meaning
from partwright.kafka.partition_writer import EARLIEST_MS, PartitionWriter, too_early
from partwright.spark.executors.sealed import seal

if TYPE_CHECKING:
    from partwright.kafka.marks import Mark

_SCHEMA = "already_there bigint"
# About how many bytes of rows go to a task's Python at once.
_BATCH_BYTES, _BATCH_ROWS = 16 << 20, 10_000
# How long an attempt of a task that another attempt has fenced waits for Spark to end it.
_SHUT_OUT_S = 600.0
_ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def write_exactly_once(
    placed: DataFrame,
    config: KafkaConfig,
    topic: str,
    begin: Mapping[int, int],
    mark: Mark,
    mean_bytes: float,
) -> int:
    """Write a table to a topic; readers of committed records see each row once.

    Args:
        placed: `key`, `value`, `partition`, `row`; `headers` with the mark if records have other headers; `timestamp`
            (milliseconds) if they keep theirs. All rows of a task are of one partition, in the same order each time.
        config: How the Kafka is reached.
        topic: The topic.
        begin: By partition, the offset from which on this run's records can be; 0 if a partition is left out.
        mark: The header of this run's records.
        mean_bytes: How large a record is on average.

    Returns:
        How many records an earlier run, or an earlier attempt of a task, had written.

    Raises:
        PartwrightError: A row has no partition or too early a timestamp, or the rows differ from the earlier attempt's.
        BrokerError: No Kafka answers, or it refuses.
    """
    from partwright.spark.classic import runs_tasks_twice  # noqa: PLC0415 - workers need nothing of what it imports

    _refuse_early(placed)
    spark = placed.sparkSession
    before = spark.conf.get(_ARROW_ROWS)
    function = _task(dict(config.librdkafka()), topic, dict(begin), mark, runs_tasks_twice(spark))
    # The mark follows from the row, so it is not sent: headers would take Spark and Python as long as all other
    # columns.
    column_names = ["key", "value", "partition", "row", *({"headers", "timestamp"} & set(placed.columns))]
    spark.conf.set(_ARROW_ROWS, str(max(1, min(_BATCH_ROWS, int(_BATCH_BYTES / (mean_bytes + 1))))))
    try:
        rows = placed.select(*column_names).mapInArrow(seal(function), _SCHEMA).collect()
    finally:
        spark.conf.set(_ARROW_ROWS, str(before))
    return sum(row.already_there for row in rows)


def _refuse_early(placed: DataFrame) -> None:
    """Refuse a timestamp that cannot be kept before any task writes, because written records stay."""
    if "timestamp" not in placed.columns:
        return
    early = placed.where(sf.col("timestamp") < EARLIEST_MS).select("row", "timestamp").first()
    if early is not None:
        raise too_early(early.row, early.timestamp)


def _task(
    settings: dict[str, object], topic: str, begin: dict[int, int], mark: Mark, twice: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def exactly_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from written(batches)
        except BrokerError as error:
            if twice and meaning(error) is Meaning.FENCED:
                # Fenced by another attempt of this task, which goes on; Spark then ends this one. If this one failed,
                # Spark would count the failure, start a third attempt, which fences the second, and give up at the
                # fourth failure.
                time.sleep(_SHUT_OUT_S)
            raise

    def written(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        writer: PartitionWriter | None = None
        for batch in batches:
            if not batch.num_rows:
                continue
            partition = _the_partition(batch)
            if writer is None:
                config = KafkaConfig.read(settings)
                writer = PartitionWriter(config, topic, partition, begin.get(partition, 0), mark)
            if partition != writer.partition:
                raise PartwrightError(f"one task holds partitions {writer.partition} and {partition}")
            rows = batch.column("row").to_pylist()
            own = [
                batch.column(name) if name in batch.schema.names else None
                for name in ("headers", "timestamp")
            ]
            writer.write(rows, batch.column("key"), batch.column("value"), *own)
        if writer is not None:
            writer.end()
            yield pa.record_batch({"already_there": pa.array([writer.already_there])})

    return exactly_once


def _the_partition(batch: pa.RecordBatch) -> int:
    """The single partition of all rows of a batch."""
    partitions = pc.unique(batch.column("partition")).to_pylist()
    if len(partitions) == 1 and partitions[0] is not None:
        return int(partitions[0])
    if None in partitions:
        raise PartwrightError(
            "a record without a partition cannot be written exactly once: leave out --null-keys producer"
        )
    raise PartwrightError(f"one task holds the partitions {', '.join(map(str, partitions))}")
