"""A write that goes on where an earlier one stopped: which rows are there, and which are left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, StringType, StructField, StructType

from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.last_marks import last_marks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.partition_writer import Mark

__all__ = ["HEADERS", "MARK", "mark_of", "marked", "record_bytes", "rest_of", "rows_there"]

MARK = "partwright"
"""The header by which a record is known again: 8 bytes of the run's id, 8 bytes of the record's row, big endian."""


HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
"""A record's headers, as Spark's Kafka sink takes them."""


def rows_there(config: KafkaConfig, topic: str, begin: Mapping[int, int], mark: Mark) -> dict[int, int]:
    """The row of the last record of a run in each partition that holds any.

    Args:
        config: How the Kafka is reached.
        topic: The topic.
        begin: From which offset on this run's records can be, by partition; 0 where it is not named.
        mark: The header of this run's records.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
    """
    ends = topics.end_offsets(None, topic, kafka_config=config)
    windows = {each: (begin.get(each, 0), end) for each, end in ends.items()}
    found = last_marks(config, topic, windows, mark.header, mark.run)
    return {each: mark.row(value) for each, value in found.items()}


def rest_of(placed: DataFrame, there: Mapping[int, int]) -> tuple[DataFrame, int]:
    """The rows that are left to write, laid out as they were, and how many are there.

    In each partition those are there up to the last one's place: each has one task, which writes its rows in order.

    Args:
        placed: `partition`, `file` and `row` of all rows, task i holding partition i in the order of the last two.
        there: By partition the row of the last record that is there.

    Raises:
        PartwrightError: Such a row is not among them.
    """
    if not there:
        return placed, 0
    spark = placed.sparkSession
    rows = spark.createDataFrame(sorted(there.items()), "at_partition int, at_row long")
    on = (sf.col("partition") == sf.col("at_partition")) & (sf.col("row") == sf.col("at_row"))
    places = placed.join(sf.broadcast(rows), on).select("at_partition", "file", "row").collect()
    if len(places) != len(there):
        lost = min(there.keys() - {place.at_partition for place in places})
        raise PartwrightError(
            f"row {there[lost]}, the last one in partition {lost}, is not in the source any more: the source has "
            "changed, so this run cannot go on"
        )
    ends = spark.createDataFrame(list(map(tuple, places)), "at_partition int, at_file string, at_row long")
    joined = placed.join(sf.broadcast(ends), sf.col("partition") == sf.col("at_partition"), "left")
    place = sf.struct(sf.col("at_file").alias("file"), sf.col("at_row").alias("row"))
    is_there = sf.col("at_row").isNotNull() & (sf.struct("file", "row") <= place)
    return joined.where(~is_there).drop("at_partition", "at_file", "at_row"), joined.where(is_there).count()


def marked(mark: Mark, row: str = "row", headers: str = "headers") -> Column:
    """A row's headers with its mark; that of an earlier run goes."""
    number = sf.unhex(sf.lpad(sf.hex(row), 16, "0"))
    ours = sf.array(
        sf.struct(sf.lit(mark.header).alias("key"), sf.concat(sf.lit(mark.run), number).alias("value"))
    )
    theirs = sf.filter(headers, lambda header: header["key"] != mark.header)
    return sf.concat(sf.coalesce(theirs, sf.array().cast(HEADERS)), ours)


def mark_of(headers: str) -> Column:
    """The value of our header among a record's, null where it has none."""
    ours = sf.filter(headers, lambda header: header["key"] == MARK)
    last = sf.try_element_at(headers, sf.lit(-1))
    # It is written as the last one, and behind it stands only what a producer's interceptor has added: to look there
    # first takes half the time of a search.
    return sf.when(last["key"] == MARK, last["value"]).otherwise(sf.get(ours, sf.lit(0))["value"])


def record_bytes() -> Column:
    """How many bytes the columns `key` and `value` of a record have together."""
    return sf.coalesce(sf.octet_length("key"), sf.lit(0)) + sf.coalesce(sf.octet_length("value"), sf.lit(0))
