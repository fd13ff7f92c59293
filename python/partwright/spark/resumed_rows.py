"""Continue a write where an earlier one stopped: find which rows are there, and which are left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from partwright.kafka import topics
from partwright.kafka.marks import last_row_gone, last_rows, never_arrived
from partwright.spark.connector import READER, spark_options, windows_read
from partwright.spark.marks import mark_of, row_of

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.marks import Mark


class WrittenRows(NamedTuple):
    """A run's records in one partition.

    Attributes:
        row: The row of the last record that is there.
        offsets: The first offset that this run's records can have, and the one after the partition's last.
    """

    row: int
    offsets: tuple[int, int]


class RemainingRows(NamedTuple):
    """What is left to write.

    Attributes:
        rows: These rows, laid out as they were.
        already_there: How many of the others are there.
        late: How many of these rows precede the last one that is already in their partition.
    """

    rows: DataFrame
    already_there: int
    late: int


def rows_there(
    config: KafkaConfig, topic: str, begin: Mapping[int, int], mark: Mark
) -> dict[int, WrittenRows]:
    """The last record of a run in each partition that holds any.

    Args:
        config: How the Kafka is reached.
        topic: The topic.
        begin: By partition, the offset from which on this run's records can be; 0 if a partition is left out.
        mark: The header of this run's records.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
        PartwrightError: Kafka has deleted offsets at which the run's last record can have been.
    """
    ends = topics.end_offsets(config, topic)
    windows = {each: (begin.get(each, 0), end) for each, end in ends.items()}
    return {
        each: WrittenRows(row, windows[each]) for each, row in last_rows(config, topic, windows, mark).items()
    }


def rest_of(
    placed: DataFrame, written_rows: Mapping[int, WrittenRows], config: KafkaConfig, topic: str, mark: Mark
) -> RemainingRows:
    """The rows that are left to write, laid out as they were.

    In each partition, all rows up to the last one are there, because one task writes them in order. Some can only be
    missing if a delivery timed out. So if a partition has fewer offsets than rows up to there, its records are read.

    Args:
        placed: `partition`, `file` and `row` of all rows, task i holding partition i in the order of the last two.
        written_rows: What `rows_there` has found.
        config: How the Kafka is reached.
        topic: The topic.
        mark: The header of this run's records.

    Raises:
        PartwrightError: The last row is not among them, or records were deleted meanwhile.
    """
    if not written_rows:
        return RemainingRows(placed, 0, 0)
    spark = placed.sparkSession
    last = [(partition, each.row) for partition, each in sorted(written_rows.items())]
    rows = spark.createDataFrame(last, "at_partition int, at_row long")
    on = (sf.col("partition") == sf.col("at_partition")) & (sf.col("row") == sf.col("at_row"))
    places = placed.join(sf.broadcast(rows), on).select("at_partition", "file", "row").collect()
    if len(places) != len(written_rows):
        lost = min(written_rows.keys() - {place.at_partition for place in places})
        raise last_row_gone(written_rows[lost].row, lost)
    ends = spark.createDataFrame(list(map(tuple, places)), "at_partition int, at_file string, at_row long")
    joined = placed.join(sf.broadcast(ends), sf.col("partition") == sf.col("at_partition"), "left")
    place = sf.struct(sf.col("at_file").alias("file"), sf.col("at_row").alias("row"))
    is_there = sf.col("at_row").isNotNull() & (sf.struct("file", "row") <= place)
    counted = joined.where(is_there).groupBy("partition").count().collect()
    up_to: dict[int, int] = dict(map(tuple, counted))
    missing = _missing(joined.where(is_there), up_to, written_rows, config, topic, mark)
    left = joined.where(~is_there)
    if missing:
        late = spark.createDataFrame(missing, "late_partition int, late_row long")
        is_late = (sf.col("partition") == sf.col("late_partition")) & (sf.col("row") == sf.col("late_row"))
        left = joined.join(sf.broadcast(late), is_late, "left").where(
            ~is_there | sf.col("late_row").isNotNull()
        )
    return RemainingRows(left.select(placed.columns), sum(up_to.values()) - len(missing), len(missing))


def _missing(
    passed: DataFrame,
    up_to: Mapping[int, int],
    written_rows: Mapping[int, WrittenRows],
    config: KafkaConfig,
    topic: str,
    mark: Mark,
) -> list[tuple[int, int]]:
    """Partition and row of each record that is missing before the last one that is there."""
    spans = {each: written_rows[each].offsets[1] - written_rows[each].offsets[0] for each in up_to}
    unequal = {each: written_rows[each].offsets for each, span in spans.items() if span != up_to[each]}
    if not unequal:
        return []
    seen = _seen(passed.sparkSession, config, topic, unequal, mark).persist()
    try:
        counts: dict[int, int] = dict(map(tuple, seen.groupBy("partition").count().collect()))
        # If a topic lost records by compaction or age, it cannot show which of them never arrived.
        whole = [each for each in unequal if counts.get(each, 0) == spans[each]]
        for each in unequal.keys() - set(whole):
            if spans[each] < up_to[each]:
                raise never_arrived(topic, each, up_to[each] - spans[each], up_to[each])
        missing_rows = (
            passed.where(sf.col("partition").isin(*whole))
            .select("partition", "row")
            .join(seen, ["partition", "row"], "left_anti")
            .collect()
        )
    finally:
        seen.unpersist()
    return [(row.partition, row.row) for row in missing_rows]


def _seen(
    spark: SparkSession,
    config: KafkaConfig,
    topic: str,
    windows: Mapping[int, tuple[int, int]],
    mark: Mark,
) -> DataFrame:
    """`partition` of all records between offsets, and `row` of those that are this run's."""
    read = (
        spark.read.format("kafka")
        .options(**spark_options(config), **READER, **windows_read(topic, windows), includeHeaders="true")
        .load()
        .select("partition", mark_of("headers").alias("header"))
    )
    return read.select("partition", row_of("header", mark).alias("row"))


def record_bytes() -> Column:
    """The size of a record's columns `key` and `value` together, in bytes."""
    return sf.coalesce(sf.octet_length("key"), sf.lit(0)) + sf.coalesce(sf.octet_length("value"), sf.lit(0))
