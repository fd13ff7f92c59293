"""The column in streams: each trigger, output mode and engine, stateful operators after it, restarts, Kafka's sink."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.kafka import topics
from partwright.kafka.bounds import WHOLE
from partwright.kafka.records import TopicRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from partwright.kafka import EmbeddedKafka

N, ROWS, FILES = 12, 60, 3
AT = 1_767_225_600
KEYS = [f"user-{row % 7}" if row % 5 else None for row in range(ROWS)]
PLACED = list(zip(KEYS, range(ROWS), pw.partition_for_key(KEYS, N).to_pylist(), strict=True))
PATIENCE_S = 120
ENGINES = ("arrow", "jvm")
TRIGGERS: list[dict[str, Any]] = [{"processingTime": "0 seconds"}, {"availableNow": True}, {"once": True}]
NOW: dict[str, Any] = {"availableNow": True}


def in_order(rows: list[Any]) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, rows), key=str)


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> Callable[..., DataFrame]:
    """A stream of records, one file per micro-batch; the same one again with more files."""

    def stream(files: int = FILES) -> DataFrame:
        folder = tmp_path / "records"
        folder.mkdir(exist_ok=True)
        for file in range(files):
            path = folder / f"{file}.json"
            if not path.exists():
                rows = range(file * ROWS // FILES, (file + 1) * ROWS // FILES)
                lines = [json.dumps({"key": KEYS[row], "row": row, "ts": AT + row}) for row in rows]
                path.write_text("\n".join(lines), encoding="utf-8")
                # Spark takes the files in the order of their times.
                os.utime(path, (AT + file, AT + file))
        read = spark.readStream.schema("key string, row int, ts bigint").option("maxFilesPerTrigger", 1)
        return read.json(str(folder)).withColumn("at", sf.timestamp_seconds("ts"))

    return stream


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Runs a stream to the end of the existing data."""

    def to_its_end(writer: DataStreamWriter, trigger: dict[str, Any], checkpoint: str = "checkpoint") -> None:
        folder = str(tmp_path / checkpoint)
        query = writer.option("checkpointLocation", folder).trigger(**trigger).start()
        try:
            if "processingTime" in trigger:
                query.processAllAvailable()
            else:
                assert query.awaitTermination(PATIENCE_S)
        finally:
            query.stop()

    yield to_its_end
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def rows_of(run: Callable[..., None]) -> Callable[..., list[tuple[Any, ...]]]:
    """The output of a stream, batch after batch."""

    def collected(
        df: DataFrame, mode: str = "append", trigger: dict[str, Any] = NOW
    ) -> list[tuple[Any, ...]]:
        batches: list[list[Any]] = []

        def keep(batch: DataFrame, number: int) -> None:
            del number
            batches.append(batch.collect())

        run(df.writeStream.outputMode(mode).foreachBatch(keep), trigger)
        # In complete mode, the last output has everything.
        return in_order(batches[-1] if mode == "complete" else [row for batch in batches for row in batch])

    return collected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("trigger", TRIGGERS, ids=str)
def test_each_trigger_gives_each_record_its_partition(
    source: Callable[..., DataFrame],
    rows_of: Callable[..., list[tuple[Any, ...]]],
    engine: str,
    trigger: dict[str, Any],
) -> None:
    placed = pws.with_partition(source(), "key", N, engine=engine).select("key", "row", "partition")
    assert placed.isStreaming
    assert rows_of(placed, trigger=trigger) == in_order(PLACED)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_continuous_stream_is_placed_as_well(spark: SparkSession, engine: str) -> None:
    # Each of its partitions occupies one of the session's two slots.
    rate = spark.readStream.format("rate").option("numPartitions", 1).option("rowsPerSecond", 50).load()
    keyed = rate.select(sf.concat(sf.lit("user-"), "value").alias("key"))
    writer = pws.with_partition(keyed, "key", N, engine=engine).writeStream.format("memory")
    query = writer.queryName(f"continuous_{engine}").trigger(continuous="1 second").start()
    deadline = time.monotonic() + PATIENCE_S
    try:
        while spark.table(query.name).count() < 20 and query.isActive and time.monotonic() < deadline:
            time.sleep(0.2)
    finally:
        query.stop()
    rows = spark.table(query.name).collect()
    assert len(rows) >= 20
    assert [row.partition for row in rows] == pw.partition_for_key([row.key for row in rows], N).to_pylist()


def counts() -> dict[int | None, int]:
    found: dict[int | None, int] = {}
    for _, _, partition in PLACED:
        found[partition] = found.get(partition, 0) + 1
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_each_output_mode_counts_the_records_of_a_partition(
    source: Callable[..., DataFrame],
    rows_of: Callable[..., list[tuple[Any, ...]]],
    engine: str,
    tmp_path: Path,
) -> None:
    placed = pws.with_partition(source(), "key", N, engine=engine)
    by_partition = placed.groupBy("partition").count()
    assert dict(rows_of(by_partition, "complete")) == counts()
    (tmp_path / "checkpoint").rename(tmp_path / "complete")
    # The last count for each partition is the largest.
    assert dict(sorted(rows_of(by_partition, "update"), key=lambda row: row[1])) == counts()
    (tmp_path / "checkpoint").rename(tmp_path / "update")
    in_windows = placed.withWatermark("at", "0 seconds").groupBy(sf.window("at", "10 seconds"), "partition")
    found = rows_of(in_windows.count().select(sf.col("window.start").cast("long"), "partition", "count"))
    expected: dict[tuple[int, int | None], int] = {}
    for _, row, partition in PLACED:
        # The watermark never passes the last window's end.
        if row < ROWS - 10:
            window = (AT + row // 10 * 10, partition)
            expected[window] = expected.get(window, 0) + 1
    assert {(start, partition): count for start, partition, count in found} == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_stateful_operators_go_by_the_column(
    source: Callable[..., DataFrame],
    rows_of: Callable[..., list[tuple[Any, ...]]],
    engine: str,
    tmp_path: Path,
) -> None:
    placed = pws.with_partition(source(), "key", N, engine=engine).withWatermark("at", "1 hour")
    once = placed.dropDuplicatesWithinWatermark(["partition", "key"]).select("key", "partition")
    assert rows_of(once) == in_order(list({(key, partition) for key, _, partition in PLACED}))
    (tmp_path / "checkpoint").rename(tmp_path / "once")
    other = pws.with_partition(source(), "key", N, engine=engine).withWatermark("at", "1 hour")
    other = other.select("partition", "key", sf.col("row").alias("other"))
    met = placed.join(other, ["partition", "key"]).where("row = other").select("key", "row", "partition")
    assert rows_of(met) == in_order([each for each in PLACED if each[0] is not None])


@pytest.mark.parametrize(("first", "second"), [("arrow", "arrow"), ("arrow", "jvm"), ("jvm", "arrow")])
def test_a_restart_goes_on_with_the_same_answers_also_with_the_other_engine(
    source: Callable[..., DataFrame],
    run: Callable[..., None],
    spark: SparkSession,
    tmp_path: Path,
    first: str,
    second: str,
) -> None:
    """Each record is written once, and the second engine uses the state that the first one left."""
    last: dict[int | None, int] = {}
    for engine, files in ((first, 2), (second, FILES)):
        placed = pws.with_partition(source(files), "key", N, engine=engine)
        sink = placed.select("key", "row", "partition").writeStream.format("parquet")
        run(sink.option("path", str(tmp_path / "out")), NOW, "of the sink")
        counted = placed.groupBy("partition").count().writeStream.outputMode("update")
        run(counted.foreachBatch(lambda batch, _: last.update(batch.collect())), NOW, "of the counts")
        rows = ROWS * files // FILES
        assert in_order(spark.read.parquet(str(tmp_path / "out")).collect()) == in_order(PLACED[:rows])
    assert last == counts()


@pytest.mark.parametrize("engine", ENGINES)
def test_kafkas_sink_writes_where_the_column_says(
    source: Callable[..., DataFrame], run: Callable[..., None], broker: EmbeddedKafka, engine: str
) -> None:
    """By a rule that is not the Java producer's, whose own rule would put most of them elsewhere."""
    topic = f"streamed-{engine}"
    topics.create_topic(broker.bootstrap_servers, topic, N)
    keyed = source().where("key IS NOT NULL")
    placed = pws.with_partition(keyed, "key", N, "librdkafka", engine=engine).select("key", "partition")
    placed = placed.withColumn("value", sf.lit("v"))
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": topic}
    run(placed.writeStream.format("kafka").options(**options), NOW)
    chunks = list(TopicRecords(broker.bootstrap_servers, topic, bounds=WHOLE).batches())
    found = [
        pair
        for chunk in chunks
        for pair in zip(chunk.keys.to_pylist(), chunk.partitions.to_pylist(), strict=True)
    ]
    keys = [key.encode() for key in KEYS if key is not None]
    assert sorted(found) == sorted(
        zip(keys, pw.partition_for_key(keys, N, "librdkafka").to_pylist(), strict=True)
    )
