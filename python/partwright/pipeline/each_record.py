"""Join the placed records with those read back, one by one, and find those that broke a promise."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from partwright.kafka.marks import MARK, Mark
from partwright.keys.key_text import shown_key
from partwright.pipeline.promises import Checks, PartitionRead, Proof
from partwright.spark.marks import is_mark, row_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, Row

__all__ = ["asked_for", "each_choice", "each_record", "identified"]

_EXAMPLES = 5


def identified(read: DataFrame, run: bytes) -> DataFrame:
    """The records that are there, each with the row that its header names; null for a record that is not this run's."""
    mark = Mark(MARK, run)
    return read.select(
        "partition",
        "offset",
        "key",
        _hash_of_key(),
        F.xxhash64("value").alias("value_hash"),
        row_of("header", mark).alias("row"),
        (is_mark("header") & ~is_mark("header", mark)).alias("of_other_run"),
    )


def asked_for(placed: DataFrame) -> DataFrame:
    """The records that were asked for, each with the hashes that are compared."""
    return placed.select(
        "row",
        "file",
        "key",
        F.col("partition").alias("asked"),
        _hash_of_key(),
        F.xxhash64("value").alias("value_hash"),
    )


def _hash_of_key() -> Column:
    """A key's 64-bit hash, moved and compared in its place; null for a null key, which Spark would hash to a number."""
    return F.when(F.col("key").isNotNull(), F.xxhash64("key")).alias("key_hash")


def each_record(
    placed: DataFrame, read: DataFrame, run: bytes, begin: Mapping[int, int], *, markers: bool
) -> Checks:
    """The answer of `check`, from each record; takes the same arguments."""
    there = identified(read, run).persist()
    pairs = _pairs(placed, there).persist()
    try:
        partitions, foreign, other_runs = _partitions(there, pairs)
        promises = _broken()
        counted = [F.count_if(broken).alias(promise) for promise, broken in promises.items()]
        counts = _counted(pairs, F.count_if("wanted").alias("records"), *counted)
        any_broken = functools.reduce(operator.or_, promises.values())
        is_one_broken = any(counts[promise] for promise in promises)
        examples = _examples(pairs, any_broken, placed, there) if is_one_broken else []
        out_of_order = _out_of_order(pairs)
    finally:
        pairs.unpersist()
        there.unpersist()
    return Checks(
        records=counts["records"],
        lost=counts["lost"],
        twice=counts["twice"],
        foreign=foreign + counts["foreign"],
        misplaced=counts["misplaced"],
        key_changed=counts["key_changed"],
        value_changed=counts["value_changed"],
        out_of_order=out_of_order,
        offset_gaps=sum(not part.without_gap(begin, markers=markers) for part in partitions),
        other_runs=other_runs,
        examples=tuple(examples),
        partitions=tuple(partitions),
    )


def each_choice(placed: DataFrame, there: DataFrame) -> Proof:
    """The answer of `compare`, from each record; `there` is what `identified` made of the records read back."""
    keyed = F.col("wanted") & F.col("asked").isNotNull() & F.col("asked_key").isNotNull()
    arrived = F.col("copies").isNotNull()
    same = F.col("asked") == F.col("partition")
    pairs = _pairs(placed, there).where(keyed).persist()
    try:
        counts = _counted(
            pairs,
            F.count("*").alias("keyed"),
            F.count_if(arrived & same).alias("equal"),
            F.count_if(arrived & ~same).alias("different"),
            F.count_if(~arrived).alias("lost"),
        )
        examples = (
            _examples(pairs, ~arrived | ~same, placed, there) if counts["equal"] < counts["keyed"] else []
        )
    finally:
        pairs.unpersist()
    return Proof(**counts, examples=tuple(examples))


def _pairs(placed: DataFrame, there: DataFrame) -> DataFrame:
    """One row per record: what was asked for, and where it is (its first copy, if there are several).

    Keys and values stay where they are: a shuffle moves only their hashes.
    """
    asked = asked_for(placed).select(
        "row",
        "file",
        "asked",
        F.col("key_hash").alias("asked_key"),
        F.col("value_hash").alias("asked_value"),
        F.lit(True).alias("wanted"),
    )
    seen = (
        there.where(F.col("row").isNotNull())
        .groupBy("row")
        .agg(
            F.count("*").alias("copies"),
            F.min(F.struct("offset", "partition", "key_hash", "value_hash")).alias("first"),
        )
        .select("row", "copies", "first.*")
    )
    return asked.join(seen, "row", "full_outer").withColumn("wanted", F.coalesce("wanted", F.lit(False)))


def _broken() -> dict[str, Column]:
    """For each promise, the condition under which a row of `_pairs` breaks it."""
    wanted, there = F.col("wanted"), F.col("copies").isNotNull()
    both = wanted & there
    return {
        "lost": wanted & ~there,
        "twice": F.coalesce(F.col("copies") > 1, F.lit(False)),
        "foreign": ~wanted,
        "misplaced": both & F.col("asked").isNotNull() & ~F.col("asked").eqNullSafe(F.col("partition")),
        "key_changed": both & ~F.col("asked_key").eqNullSafe(F.col("key_hash")),
        "value_changed": both & (F.col("asked_value") != F.col("value_hash")),
    }


def _counted(frame: DataFrame, *columns: Column) -> dict[str, int]:
    (row,) = frame.agg(*columns).collect()
    return {name: int(count) for name, count in row.asDict().items()}


def _out_of_order(pairs: DataFrame) -> int:
    """How many records that the client places come before one of the same key that precedes them in the source."""
    place = F.struct("file", "row")
    same_key = Window.partitionBy("partition", "key_hash").orderBy("offset")
    keyed = pairs.where(F.col("wanted") & F.col("copies").isNotNull() & F.col("asked").isNotNull())
    return keyed.withColumn("before", F.lag(place).over(same_key)).where(F.col("before") > place).count()


def _partitions(there: DataFrame, pairs: DataFrame) -> tuple[list[PartitionRead], int, int]:
    """What each partition holds, how many records are not this run's, and how many of these are another run's."""
    rows = (
        there.groupBy("partition")
        .agg(
            F.count("*").alias("records"),
            F.min("offset").alias("first_offset"),
            F.max("offset").alias("last_offset"),
            F.count_if(F.col("row").isNull()).alias("foreign"),
            F.count_if("of_other_run").alias("other_runs"),
        )
        .orderBy("partition")
        .collect()
    )
    # Some clients leave more than null keys to the producer.
    left = pairs.where(F.col("wanted") & F.col("asked").isNull() & F.col("copies").isNotNull())
    null_keys = {row.partition: row["count"] for row in left.groupBy("partition").count().collect()}
    found = [{**row.asDict(), "null_keys": null_keys.get(row.partition, 0)} for row in rows]
    foreign = sum(row.pop("foreign") for row in found)
    other_runs = sum(row.pop("other_runs") for row in found)
    return [PartitionRead(**row) for row in found], foreign, other_runs


def _examples(pairs: DataFrame, broken: Column, placed: DataFrame, there: DataFrame) -> list[str]:
    rows = pairs.where(broken).orderBy("row").limit(_EXAMPLES).collect()
    wanted = [row.row for row in rows if row.wanted]
    others = [row.row for row in rows if not row.wanted]
    keys = {
        row.row: row.key for row in placed.where(F.col("row").isin(wanted)).select("row", "key").collect()
    }
    if others:
        # The key of a record's first copy.
        copies = there.where(F.col("row").isin(others)).orderBy(F.desc("offset"), F.desc("partition"))
        keys |= {row.row: row.key for row in copies.select("row", "key").collect()}
    return [_row_in_words(row, keys[row.row]) for row in rows]


def _row_in_words(row: Row, key: bytes | None) -> str:
    asked = "any partition" if row.asked is None else f"partition {row.asked}"
    where = "is nowhere" if row.copies is None else f"is in partition {row.partition} at offset {row.offset}"
    wanted = f"asked for {asked}" if row.wanted else "was not asked for"
    return f"row {row.row} with key {shown_key(key)} {wanted} and {where}" + (
        f", {row.copies} times" if (row.copies or 0) > 1 else ""
    )
