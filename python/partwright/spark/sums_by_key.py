"""Sum up a table's records by key and partition on the cluster, and bring what an audit needs to the driver.

Spark groups; only sums cross to Python. The driver gets no more keys than `partwright.audit.key_sums` keeps of a file;
if there are too many, the same ones: those with the smallest hashes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    BinaryType,
    ByteType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from partwright.audit.key_sums import EARLIEST, ORDER, Level, Observed, scale_of
from partwright.errors import PartwrightError
from partwright.spark.columns import as_column, encode, murmur2
from partwright.spark.engines.arrow import to_arrow
from partwright.spark.engines.choice import exact
from partwright.spark.errors import first_sentence
from partwright.spark.schema import check_frame, check_key, type_of

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE = (ByteType, ShortType, IntegerType, LongType)
_FRACTIONAL = (FloatType, DoubleType, DecimalType)
# How many of the heaviest keys come to the driver if not all do.
_HEAVY = 100
_PARTITIONS = 1_000_000
_COALESCED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
# A session's settings are shared by all its threads.
_SETTING = threading.Lock()
# By name: the column that is summed up, and how records and then sums are combined.
_OF_RECORDS = {
    "bytes": ("size", sf.sum),
    "first": ("time", sf.min),
    "last": ("time", sf.max),
    "first_offset": ("offset", sf.min),
    "last_offset": ("offset", sf.max),
    "least_size": ("size", sf.min),
}
_SUMS = ("rows", "bytes", "first", "last", "first_offset", "last_offset")


def records(
    df: DataFrame,
    key: str | Column,
    partition: str | Column | None = None,
    *,
    timestamp: str | Column | None = None,
    offset: str | Column | None = None,
    size: str | Column | None = None,
    key_type: str | None = None,
) -> DataFrame:
    """The columns of an audit: key bytes, partition, time in milliseconds, offset and size; the last three if given.

    Raises:
        KeyTypeError: The key's type has no key bytes under the key type.
        PartwrightError: A column is not there or of another type, an unknown key type.
    """
    columns = [
        _key_bytes(df, key, key_type).alias("key"),
        _whole(df, partition, "partition").alias("partition"),
    ]
    if offset is not None:
        columns.append(_whole(df, offset, "offset").alias("offset"))
    if size is not None:
        columns.append(_whole(df, size, "size").alias("size"))
    if timestamp is not None:
        columns.append(_milliseconds(df, timestamp).alias("time"))
    return df.select(*columns)


def refuse_other_than_tables(df: DataFrame) -> None:
    """Refuse what is no DataFrame, or a stream.

    Raises:
        PartwrightError: It is one.
    """
    check_frame(df)
    if df.isStreaming:
        raise PartwrightError(
            "an audit looks at all rows and a stream has no end: audit each of its batches in foreachBatch, or what "
            "it has written"
        )


def sums(rows: DataFrame) -> DataFrame:
    """The sums of `records` by key and partition: rows, bytes, first and last times and offsets, if they are known.

    Columns of nulls are not summed up, because Spark would carry them through every step.
    """
    columns = rows.columns
    summed = (how(column).alias(name) for name, (column, how) in _OF_RECORDS.items() if column in columns)
    return rows.groupBy("key", "partition").agg(sf.count("*").alias("rows"), *summed)


def summed_again(pairs: DataFrame) -> DataFrame:
    """Sums merged again to one row for each key and partition, after several got the same."""
    columns = pairs.columns
    summed = (how(name).alias(name) for name, (_, how) in _OF_RECORDS.items() if name in columns)
    return pairs.groupBy("key", "partition").agg(sf.sum("rows").alias("rows"), *summed)


def completed(sums_: DataFrame) -> DataFrame:
    """The sums with all their columns: nulls where nothing is known."""
    unknown = (sf.lit(None).cast("long").alias(name) for name in _OF_RECORDS if name not in sums_.columns)
    return sums_.select("*", *unknown)


def observed(
    sums_: DataFrame,
    order: Callable[[], pa.Table] | None = None,
    *,
    is_by_key: bool = False,
    counts_heaviest: bool = True,
) -> Observed:
    """The `partwright.audit.key_sums.Observed` of the same records, made from their sums.

    Args:
        sums_: The result of `sums`, preferably kept by Spark; with `level_of_key` as `level` if the keys were also
            placed, because one step does both.
        order: A function that returns the earliest records, called if needed.
        is_by_key: Whether it is known that each key is in only one partition.
        counts_heaviest: Whether the heaviest keys will be asked for. Unless `is_by_key`, they cost a shuffle.

    Raises:
        PartwrightError: There are more partitions than any topic has, or an offset or a size is negative.
    """
    sums_ = completed(sums_)
    has_key = sf.col("key").isNotNull()
    totals = to_arrow(
        sums_.groupBy("partition")
        .agg(
            sf.sum("rows").alias("rows"),
            sf.sum(sf.when(has_key, 0).otherwise(sf.col("rows"))).alias("null_keys"),
            sf.sum("bytes").alias("bytes"),
            sf.count("key").alias("pairs"),
            sf.sum(sf.octet_length("key")).alias("key_bytes"),
            sf.min("first_offset").alias("offset"),
            sf.min("least_size").alias("size"),
        )
        .limit(_PARTITIONS + 1)
    )
    if totals.num_rows > _PARTITIONS:
        raise PartwrightError(
            f"the rows are in more than {_PARTITIONS:,} partitions, more than any Kafka has: name another column"
        )
    for name in ("offset", "size"):
        least = min((value for value in totals[name].to_pylist() if value is not None), default=0)
        if least < 0:
            raise PartwrightError(f"a row has the {name} {least}, which is not a whole number from 0 on")
    keyed = sums_.where(has_key)
    pairs, key_bytes = (
        sum(value or 0 for value in totals[name].to_pylist()) for name in ("pairs", "key_bytes")
    )
    if scale_of([Level(0, pairs, key_bytes)]) == 1:
        return Observed.of_sums(totals, _pairs(keyed), 1, None, order)
    heavy = _heaviest(keyed, is_by_key=is_by_key) if counts_heaviest else None
    # If hashes spread well, each next level has half of the pairs.
    spread = [Level(level, pairs >> (level + 1), key_bytes >> (level + 1)) for level in range(32)]
    return Observed.of_sums(totals, *_sample(keyed, scale_of(spread).bit_length() - 1), heavy, order)


def _heaviest(keyed: DataFrame, *, is_by_key: bool) -> pa.Table:
    by_key = keyed if is_by_key else keyed.groupBy("key").agg(sf.sum("rows").alias("rows"))
    heaviest = by_key.orderBy(sf.desc("rows"), "key").limit(_HEAVY).select("key")
    # All partitions of each key, so that no part of the heaviest is left out.
    of_them = keyed.join(sf.broadcast(heaviest), "key", "left_semi")
    return to_arrow(of_them.select("partition", "key", "rows"))


def order_of(rows: DataFrame) -> Callable[[], pa.Table]:
    """A function that returns the times and partitions of the earliest records."""

    def order() -> pa.Table:
        if "time" not in rows.columns:
            return ORDER.empty_table()
        dated = rows.where(sf.col("time").isNotNull()).orderBy("time").limit(EARLIEST)
        return to_arrow(dated.select("time", "partition"))

    return order


@contextmanager
def kept(df: DataFrame) -> Iterator[DataFrame]:
    """The table, computed once for several jobs, or each time if the cluster cannot keep it, as a serverless one."""
    stored = _stored(df)
    try:
        yield df if stored is None else stored
    finally:
        if stored is not None:
            stored.unpersist()


def _stored(df: DataFrame) -> DataFrame | None:
    conf = df.sparkSession.conf
    try:
        with _SETTING:
            before = conf.get(_COALESCED) or "false"
            # Otherwise a few sums would be in all 200 parts of a shuffle, and each job would have a task for each part.
            conf.set(_COALESCED, "true")
            try:
                return df.persist()
            finally:
                conf.set(_COALESCED, before)
    except PySparkException:
        return None


@contextmanager
def refused() -> Iterator[None]:
    """A refusal by partwright in a worker is raised here as its one sentence."""
    try:
        yield
    # PySpark 3.5 raises an expression's error as py4j does, which Spark Connect's clients lack.
    except Exception as error:
        sentence = first_sentence(error)
        if sentence is None:
            raise
        raise PartwrightError(sentence) from error


def _pairs(keyed: DataFrame) -> pa.Table:
    return to_arrow(keyed.select("partition", "key", *_SUMS))


def _sample(keyed: DataFrame, likely: int) -> tuple[pa.Table, int]:
    """The pairs of the keys that are kept if there are too many, and how many keys each kept key stands for.

    Without the column `level`, normally only pairs near the likely level are hashed once and looked at twice. If their
    number shows that the level differs, as with keys chosen by their hashes, all pairs are.
    """
    if "level" in keyed.columns:
        level = scale_of(_levels(keyed)).bit_length() - 1
        return _pairs(keyed.where(sf.col("level") >= level)), 1 << level
    least = max(likely - 1, 0)
    with kept(keyed.withColumn("level", level_of_key()).where(sf.col("level") >= least)) as high:
        level = scale_of(_levels(high)).bit_length() - 1
        if level > least or not least:
            return _pairs(high.where(sf.col("level") >= level)), 1 << level
    return _sample(keyed, 0)


def _levels(with_level: DataFrame) -> list[Level]:
    by_level = with_level.select("level", sf.octet_length("key").alias("bytes")).groupBy("level")
    level_counts = to_arrow(by_level.agg(sf.count("*").alias("pairs"), sf.sum("bytes").alias("bytes")))
    return [Level(row["level"], row["pairs"], row["bytes"]) for row in level_counts.to_pylist()]


def level_of_key() -> Column:
    """How many halvings of the range of kept hashes the key of a row survives."""
    return _level_of(exact(lambda engine: murmur2("key", engine=engine)))


def _level_of(hashed: Column) -> Column:
    # The half keeps away from whole logarithms, which are rounded.
    unsigned = hashed.cast("long") + sf.lit((1 << 31) + 0.5)
    return sf.lit(31) - sf.floor(sf.log2(unsigned))


def _key_bytes(df: DataFrame, key: str | Column, key_type: str | None) -> Column:
    kind = check_key(df, key, key_type)
    col = as_column(key, "key")
    as_they_are = {None, "utf8", "java:string"} if isinstance(kind, StringType) else {None, "bytes"}
    # Spark's own cast needs no Python.
    if isinstance(kind, (StringType, BinaryType)) and key_type in as_they_are:
        return col.cast("binary")
    return encode(col, key_type)


def _whole(df: DataFrame, col: str | Column | None, name: str) -> Column:
    if col is None:
        return sf.lit(None).cast("long")
    kind = type_of(df, col, name)
    if isinstance(kind, _FRACTIONAL):
        return _if_whole(as_column(col, name), name)
    if not isinstance(kind, _WHOLE):
        raise PartwrightError(
            f"the column of {name}s is {kind.simpleString()}, and they are whole numbers: cast it to int or bigint"
        )
    return as_column(col, name).cast("long")


def _if_whole(column: Column, name: str) -> Column:
    """Whole numbers of a column of fractional ones, as pandas has them beside a null; any other is refused."""
    size = sf.abs(column.cast("double"))
    is_known = column.isNotNull() & ~sf.isnan(size)
    sentence = sf.concat(
        sf.lit(f"partwright.errors.PartwrightError: a row has the {name} "),
        column.cast("string"),
        sf.lit(", which is not a whole number"),
    )
    whole = sf.when(size < 2.0**63, column.cast("long"))
    return sf.when(is_known, sf.when(whole == column, whole).otherwise(sf.raise_error(sentence)))


def _milliseconds(df: DataFrame, col: str | Column) -> Column:
    kind = type_of(df, col, "timestamp")
    time = as_column(col, "timestamp")
    if isinstance(kind, _WHOLE):
        return time.cast("long")
    if isinstance(kind, _FRACTIONAL):
        return _if_whole(time, "timestamp")
    if isinstance(kind, TimestampType):
        return sf.unix_millis(time)
    if isinstance(kind, TimestampNTZType):
        # As UTC, whatever the session's zone is.
        day = sf.datediff(time.cast("date"), sf.lit("1970-01-01").cast("date")).cast("long")
        minutes = (day * 24 + sf.hour(time)) * 60 + sf.minute(time)
        millis = sf.floor(sf.date_part(sf.lit("SECOND"), time) * 1000).cast("long")
        return minutes * 60_000 + millis
    raise PartwrightError(
        f"the column of timestamps is {kind.simpleString()}: cast it to timestamp, or give milliseconds as bigint"
    )
