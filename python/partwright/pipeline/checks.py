"""Reads back what was written and checks every record; asks the Java producer itself for the same records."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from partwright.keys.key_text import shown_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, Row

__all__ = ["Checks", "PartitionRead", "Proof", "check", "compare", "shown_key"]

_EXAMPLES = 5


@dataclass(frozen=True)
class PartitionRead:
    """What one partition holds of a run's records; null_keys are those that were asked for in no partition."""

    partition: int | None
    records: int
    null_keys: int
    first_offset: int
    last_offset: int


@dataclass(frozen=True)
class Checks:
    """How many records broke each promise; a run is sound when all are 0.

    Attributes:
        records: How many records were asked for.
        lost: They were asked for and are not there.
        twice: They are there more than once.
        foreign: They are there and this run did not write them.
        other_runs: How many of these another run of partwright wrote.
        misplaced: They are in another partition than the one that was asked for.
        key_changed: Their key's bytes are not those that were written.
        value_changed: The 64-bit hash (xxHash64) of their value is not that of what was written.
        out_of_order: They come before a record of the same key that stands before them in the source.
        offset_gaps: How many partitions' offsets do not count up from their first one without a gap.
        examples: The first records that broke a promise, in words.
        partitions: What each partition holds.
    """

    records: int
    lost: int
    twice: int
    foreign: int
    misplaced: int
    key_changed: int
    value_changed: int
    out_of_order: int
    offset_gaps: int
    other_runs: int = 0
    examples: tuple[str, ...] = ()
    partitions: tuple[PartitionRead, ...] = field(default=())

    PROMISES = (
        "lost",
        "twice",
        "foreign",
        "misplaced",
        "key_changed",
        "value_changed",
        "out_of_order",
        "offset_gaps",
    )

    @property
    def ok(self) -> bool:
        """Whether every promise was kept."""
        return not any(getattr(self, promise) for promise in self.PROMISES)


@dataclass(frozen=True)
class Proof:
    """What the Java producer chose for the same records, given no partition.

    Attributes:
        keyed: How many records have a key.
        equal: For how many of them it chose the partition that was asked for.
        different: For how many it did not.
        lost: How many keyed records did not arrive.
        examples: The first that differ, in words.
    """

    keyed: int
    equal: int
    different: int
    lost: int
    examples: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it chose the same partition for every record with a key."""
        return self.equal == self.keyed


def check(
    placed: DataFrame, read: DataFrame, run: bytes, begin: Mapping[int, int], *, markers: bool = False
) -> Checks:
    """Every record of `placed` against what was read back.

    Args:
        placed: `key`, `value`, `partition`, `file`, `row` of every record that was asked for.
        read: `partition`, `offset`, `key`, `value`, `header` of every record that is there.
        run: The 8 bytes that begin the header of this run's records.
        begin: The offset that each partition's first record of this run has; 0 where it is not named.
        markers: Whether offsets may be left out, as transactions' marks leave them.
    """
    there = _identified(read, run).persist()
    pairs = _pairs(placed, there).persist()
    try:
        partitions, foreign, other_runs = _partitions(there, pairs)
        counts = _counted(pairs, F.count_if("wanted").alias("records"), *_broken_counts())
        examples = _examples(pairs, _any_broken()) if any(counts[promise] for promise in _broken()) else []
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
        offset_gaps=0 if markers else sum(not _without_gap(part, begin) for part in partitions),
        other_runs=other_runs,
        examples=tuple(examples),
        partitions=tuple(partitions),
    )


def compare(placed: DataFrame, chosen: DataFrame, run: bytes) -> Proof:
    """The partition asked for against the one that the producer chose, for every record with a key.

    Args:
        placed: As for `check`.
        chosen: What was read back from a topic that was written without a partition.
        run: The 8 bytes that begin the header of this run's records.
    """
    keyed = F.col("wanted") & F.col("asked").isNotNull() & F.col("asked_key").isNotNull()
    arrived = F.col("copies").isNotNull()
    same = F.col("asked") == F.col("partition")
    pairs = _pairs(placed, _identified(chosen, run)).where(keyed).persist()
    try:
        counts = _counted(
            pairs,
            F.count("*").alias("keyed"),
            F.count_if(arrived & same).alias("equal"),
            F.count_if(arrived & ~same).alias("different"),
            F.count_if(~arrived).alias("lost"),
        )
        examples = _examples(pairs, ~arrived | ~same) if counts["equal"] < counts["keyed"] else []
    finally:
        pairs.unpersist()
    return Proof(**counts, examples=tuple(examples))


def _identified(read: DataFrame, run: bytes) -> DataFrame:
    """What is there, each record with the row that its header says; null for a record that is not this run's."""
    marked = F.coalesce(F.length("header") == 2 * len(run), F.lit(False))
    ours = marked & (F.substring("header", 1, len(run)) == F.lit(run))
    row = F.conv(F.hex(F.substring("header", len(run) + 1, len(run))), 16, 10).cast("long")
    return read.select(
        "partition",
        "offset",
        "key",
        F.xxhash64("value").alias("value_hash"),
        F.when(ours, row).alias("row"),
        (marked & ~ours).alias("of_other_run"),
    )


def _pairs(placed: DataFrame, there: DataFrame) -> DataFrame:
    """One row a record: what was asked for beside where it is, its first copy where there are several."""
    asked = placed.select(
        "row",
        "file",
        F.col("partition").alias("asked"),
        F.col("key").alias("asked_key"),
        F.xxhash64("value").alias("asked_hash"),
        F.lit(True).alias("wanted"),
    )
    seen = (
        there.where(F.col("row").isNotNull())
        .groupBy("row")
        .agg(
            F.count("*").alias("copies"),
            F.min(F.struct("offset", "partition", "key", "value_hash")).alias("first"),
        )
        .select("row", "copies", "first.*")
    )
    return asked.join(seen, "row", "full_outer").withColumn("wanted", F.coalesce("wanted", F.lit(False)))


def _broken() -> dict[str, Column]:
    """What it means for one of `_pairs` to break each promise."""
    wanted, there = F.col("wanted"), F.col("copies").isNotNull()
    both = wanted & there
    return {
        "lost": wanted & ~there,
        "twice": F.coalesce(F.col("copies") > 1, F.lit(False)),
        "foreign": ~wanted,
        "misplaced": both & F.col("asked").isNotNull() & ~F.col("asked").eqNullSafe(F.col("partition")),
        "key_changed": both & ~F.col("asked_key").eqNullSafe(F.col("key")),
        "value_changed": both & (F.col("asked_hash") != F.col("value_hash")),
    }


def _broken_counts() -> list[Column]:
    return [F.count_if(broken).alias(promise) for promise, broken in _broken().items()]


def _any_broken() -> Column:
    return functools.reduce(operator.or_, _broken().values())


def _counted(frame: DataFrame, *columns: Column) -> dict[str, int]:
    (row,) = frame.agg(*columns).collect()
    return {name: int(count) for name, count in row.asDict().items()}


def _out_of_order(pairs: DataFrame) -> int:
    """How many records that the client places stand before one of the same key that the source has before them."""
    place = F.struct("file", "row")
    same_key = Window.partitionBy("partition", "key").orderBy("offset")
    keyed = pairs.where(F.col("wanted") & F.col("copies").isNotNull() & F.col("asked").isNotNull())
    return keyed.withColumn("before", F.lag(place).over(same_key)).where(F.col("before") > place).count()


def _without_gap(part: PartitionRead, begin: Mapping[int, int]) -> bool:
    first = begin.get(part.partition, 0) if part.partition is not None else 0
    return (part.first_offset, part.last_offset) == (first, first + part.records - 1)


def _partitions(there: DataFrame, pairs: DataFrame) -> tuple[list[PartitionRead], int, int]:
    """What each partition holds, how many of all records are not this run's, and how many of these another run's."""
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
    # Of some clients not only null keys are left to the producer.
    left = pairs.where(F.col("wanted") & F.col("asked").isNull() & F.col("copies").isNotNull())
    null_keys = {row.partition: row["count"] for row in left.groupBy("partition").count().collect()}
    found = [{**row.asDict(), "null_keys": null_keys.get(row.partition, 0)} for row in rows]
    foreign = sum(row.pop("foreign") for row in found)
    other_runs = sum(row.pop("other_runs") for row in found)
    return [PartitionRead(**row) for row in found], foreign, other_runs


def _examples(pairs: DataFrame, broken: Column) -> list[str]:
    return [_told(row) for row in pairs.where(broken).orderBy("row").limit(_EXAMPLES).collect()]


def _told(row: Row) -> str:
    asked = "any partition" if row.asked is None else f"partition {row.asked}"
    where = "is nowhere" if row.copies is None else f"is in partition {row.partition} at offset {row.offset}"
    wanted = f"asked for {asked}" if row.wanted else "was not asked for"
    key = shown_key(row.asked_key if row.wanted else row.key)
    return f"row {row.row} with key {key} {wanted} and {where}" + (
        f", {row.copies} times" if (row.copies or 0) > 1 else ""
    )
