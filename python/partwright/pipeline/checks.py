"""Read back what was written and check every record; let the Java producer place the same records.

Sums come first: each partition's contents, in order, as a few numbers, so that no record has to leave its task. Where
they do not show that all is as asked for, the placed records are joined with those read back, to find which ones broke
a promise.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Window
from pyspark.sql import functions as F

from partwright.kafka.marks import MARK, Mark
from partwright.pipeline.report import EXAMPLES, Checks, PartitionRead, Proof, record_in_words
from partwright.spark.marks import is_mark, row_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

_CONTENT = ("row", "key_hash", "value_hash")
# Spark numbers the rows of each task from a multiple of 2^33 on.
_WITHIN_A_TASK = 2**33 - 1


def check(
    placed: DataFrame, read: DataFrame, run: bytes, begin: Mapping[int, int], *, markers: bool = False
) -> Checks:
    """Compare every record of `placed` with what was read back.

    First both are added up in one pass: for each partition, its number of records, a 64-bit sum of their contents, and
    a 64-bit sum of their contents and positions. If these agree, and no row was asked for twice, every promise was
    kept. Otherwise both are read again and joined record by record, to find the broken promises; so are records that
    were asked for without a partition and that the producer placed.

    Args:
        placed: `key`, `value`, `partition`, `file` and `row` of every record that was asked for; a task has all records
            of its partition.
        read: `partition`, `offset`, `key`, `value` and `header` of every record that is there, the same ones each time
            that Spark reads it.
        run: The 8 bytes of the run's ID, which its records' header names.
        begin: The offset of each partition's first record of this run; 0 if it is not named.
        markers: Whether offsets may be missing between the records, because transactions wrote them: each leaves a
            marker at an offset of its own. Then a partition has a gap only if an offset is before the beginning, or if
            there are fewer offsets than records; and a task reads all records of its partition.

    Returns:
        How many records broke each promise.
    """
    sound = _without_fault(placed, identified(read, run), begin, markers=markers)
    return each_record(placed, read, run, begin, markers=markers) if sound is None else sound


def doubles(read: DataFrame, run: bytes) -> DataFrame:
    """The copies beyond each record's first, lazily: `partition`, `offset`, `row`.

    The first copy is the one with the smallest offset, and among those the one in the smallest partition. A record with
    three copies has two rows here.

    Args:
        read: As for `check`.
        run: The 8 bytes of the run's ID, which its records' header names.
    """
    ours = identified(read, run).select("partition", "offset", "row").where(F.col("row").isNotNull())
    copies = Window.partitionBy("row").orderBy("offset", "partition")
    return ours.withColumn("copy", F.row_number().over(copies)).where(F.col("copy") > 1).drop("copy")


def compare(placed: DataFrame, read: DataFrame, run: bytes) -> Proof:
    """Compare the partition asked for with the one that the producer chose, for every record with a key.

    As in `check`, sums come first.

    Args:
        placed: As for `check`.
        read: What was read back from a topic that was written without a partition.
        run: The 8 bytes of the run's ID, which its records' header names.

    Returns:
        How many records it put into the same partition.
    """
    read_back = identified(read, run)
    sound = _chosen_alike(placed, read_back)
    return each_choice(placed, read_back) if sound is None else sound


def _without_fault(
    placed: DataFrame, read_back: DataFrame, begin: Mapping[int, int], *, markers: bool
) -> Checks | None:
    """The answer of `check` if the sums show that all records are as asked for; None if they do not."""
    # Records asked for without a partition have no position: they come after the others of their task.
    expected = _in_order(asked_for(placed), F.col("asked").isNull(), "file", "row").select(
        F.col("asked").alias("partition"), F.lit(None).cast("long").alias("offset"), "position", *_CONTENT
    )
    # Transaction markers have offsets between the records'.
    ordered = _in_order(read_back, "offset") if markers else read_back.withColumn("position", _since(begin))
    expected_sequences, read_sequences = _sequences(
        expected, ordered.select("partition", "offset", "position", *_CONTENT)
    )
    if _summed(expected_sequences) != _summed(read_sequences) or _has_doubles(placed):
        return None
    partitions = [
        PartitionRead(
            partition,
            records=each.records,
            null_keys=each.records if partition is None else 0,
            first_offset=each.first,
            last_offset=each.last,
        )
        for partition, each in read_sequences.items()
    ]
    return Checks(
        sum(part.records for part in partitions),
        *(0,) * 7,
        offset_gaps=sum(not part.without_gap(begin, markers=markers) for part in partitions),
        # In Spark's order: the one without a number first.
        partitions=tuple(
            sorted(partitions, key=lambda part: -1 if part.partition is None else part.partition)
        ),
    )


class _Sequence(NamedTuple):
    """The records of one partition.

    Attributes:
        records: How many records there are.
        first: Their smallest offset.
        last: Their largest offset.
        contents: A 64-bit sum of their rows, keys and values, the same in any order.
        order: A 64-bit sum of the same and of each one's position in the partition.
    """

    records: int
    first: int
    last: int
    contents: int
    order: int


def _sequences(*sides: DataFrame) -> list[dict[int | None, _Sequence]]:
    """What each of two tables holds, by partition, added up in one job without shuffling any record."""
    expected_sums, read_sums = (
        records.groupBy("partition")
        .agg(
            F.count("*").alias("records"),
            F.min("offset").alias("first"),
            F.max("offset").alias("last"),
            F.bit_xor(F.xxhash64(*_CONTENT)).alias("contents"),
            F.bit_xor(F.xxhash64("position", *_CONTENT)).alias("order"),
        )
        .withColumn("side", F.lit(side))
        for side, records in enumerate(sides)
    )
    sequences: list[dict[int | None, _Sequence]] = [{} for _ in sides]
    for partition, *sums, side in expected_sums.union(read_sums).collect():
        sequences[side][partition] = _Sequence(*sums)
    return sequences


def _summed(sequences: Mapping[int | None, _Sequence]) -> dict[int | None, tuple[int, ...]]:
    """What must be the same on both sides; without a partition, records have no order."""
    return {
        partition: (each.records, each.contents, 0 if partition is None else each.order)
        for partition, each in sequences.items()
    }


def _in_order(records: DataFrame, *order: str | Column) -> DataFrame:
    """The records with their `position`: how many records of the same task come before them in this order.

    Each task sorts its own records. In a task with one whole partition, that is the position in the partition.
    """
    # As one column of its own, so that records already in this order are sorted again: otherwise Spark would trust its
    # own claim.
    within = records.sortWithinPartitions(F.struct(*order))
    return within.withColumn("position", F.monotonically_increasing_id().bitwiseAND(F.lit(_WITHIN_A_TASK)))


def _since(begin: Mapping[int, int]) -> Column:
    """How many offsets lie between a record and the beginning of its partition."""
    if not any(begin.values()):
        return F.col("offset")
    # An array, because Spark finds an item in it at once.
    known = ", ".join(str(begin.get(number, 0)) for number in range(max(begin) + 1))
    first = F.get(F.expr(f"array({known})"), F.col("partition"))
    return F.col("offset") - F.coalesce(first, F.lit(0)).cast("long")


def _has_doubles(placed: DataFrame) -> bool:
    """Whether a row was asked for more than once, which makes its copies correct."""
    return not placed.groupBy("row").count().where("count > 1").isEmpty()


def _chosen_alike(placed: DataFrame, read_back: DataFrame) -> Proof | None:
    """The answer of `compare` if the sums show that all keyed records are in place; None if they do not."""
    sides = [
        asked_for(placed).withColumn("partition", F.col("asked")),
        read_back.where(F.col("row").isNotNull()),
    ]
    expected, seen = (
        {
            row.partition: (row.records, row.rows)
            for row in side.where(F.col("key").isNotNull())
            .groupBy("partition")
            .agg(F.count("*").alias("records"), F.bit_xor(F.xxhash64("row")).alias("rows"))
            .collect()
        }
        for side in sides
    )
    # Some clients leave more than null keys to the producer: then each of these is looked at.
    if None in expected or expected != seen:
        return None
    keyed = sum(records for records, _ in expected.values())
    return Proof(keyed=keyed, equal=keyed, different=0, lost=0)


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
    read_back = identified(read, run).persist()
    pairs = _pairs(placed, read_back).persist()
    try:
        partitions, foreign, other_runs = _partitions(read_back, pairs)
        promises = _broken()
        counted = [F.count_if(broken).alias(promise) for promise, broken in promises.items()]
        counts = _counted(pairs, F.count_if("wanted").alias("records"), *counted)
        any_broken = functools.reduce(operator.or_, promises.values())
        is_one_broken = any(counts[promise] for promise in promises)
        examples = _examples(pairs, any_broken, placed, read_back) if is_one_broken else []
        out_of_order = _out_of_order(pairs)
    finally:
        pairs.unpersist()
        read_back.unpersist()
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


def each_choice(placed: DataFrame, read_back: DataFrame) -> Proof:
    """The answer of `compare`, from each record; `read_back` is what `identified` made of the records read back."""
    keyed = F.col("wanted") & F.col("asked").isNotNull() & F.col("asked_key").isNotNull()
    arrived = F.col("copies").isNotNull()
    same = F.col("asked") == F.col("partition")
    pairs = _pairs(placed, read_back).where(keyed).persist()
    try:
        counts = _counted(
            pairs,
            F.count("*").alias("keyed"),
            F.count_if(arrived & same).alias("equal"),
            F.count_if(arrived & ~same).alias("different"),
            F.count_if(~arrived).alias("lost"),
        )
        examples = (
            _examples(pairs, ~arrived | ~same, placed, read_back) if counts["equal"] < counts["keyed"] else []
        )
    finally:
        pairs.unpersist()
    return Proof(**counts, examples=tuple(examples))


def _pairs(placed: DataFrame, read_back: DataFrame) -> DataFrame:
    """One row per record: what was asked for, and where it is (its first copy, if there are several).

    Keys and values stay where they are: a shuffle moves only their hashes.
    """
    expected = asked_for(placed).select(
        "row",
        "file",
        "asked",
        F.col("key_hash").alias("asked_key"),
        F.col("value_hash").alias("asked_value"),
        F.lit(True).alias("wanted"),
    )
    seen = (
        read_back.where(F.col("row").isNotNull())
        .groupBy("row")
        .agg(
            F.count("*").alias("copies"),
            F.min(F.struct("offset", "partition", "key_hash", "value_hash")).alias("first"),
        )
        .select("row", "copies", "first.*")
    )
    return expected.join(seen, "row", "full_outer").withColumn("wanted", F.coalesce("wanted", F.lit(False)))


def _broken() -> dict[str, Column]:
    """For each promise, the condition under which a row of `_pairs` breaks it."""
    is_wanted, is_there = F.col("wanted"), F.col("copies").isNotNull()
    both = is_wanted & is_there
    return {
        "lost": is_wanted & ~is_there,
        "twice": F.coalesce(F.col("copies") > 1, F.lit(False)),
        "foreign": ~is_wanted,
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


def _partitions(read_back: DataFrame, pairs: DataFrame) -> tuple[list[PartitionRead], int, int]:
    """What each partition holds, how many records are not this run's, and how many of these are another run's."""
    rows = (
        read_back.groupBy("partition")
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
    partitions = [{**row.asDict(), "null_keys": null_keys.get(row.partition, 0)} for row in rows]
    foreign = sum(row.pop("foreign") for row in partitions)
    other_runs = sum(row.pop("other_runs") for row in partitions)
    return [PartitionRead(**row) for row in partitions], foreign, other_runs


def _examples(pairs: DataFrame, broken: Column, placed: DataFrame, read_back: DataFrame) -> list[str]:
    rows = pairs.where(broken).orderBy("row").limit(EXAMPLES).collect()
    wanted_rows = [row.row for row in rows if row.wanted]
    others = [row.row for row in rows if not row.wanted]
    keys = {
        row.row: row.key
        for row in placed.where(F.col("row").isin(wanted_rows)).select("row", "key").collect()
    }
    if others:
        # The key of a record's first copy.
        copies = read_back.where(F.col("row").isin(others)).orderBy(F.desc("offset"), F.desc("partition"))
        keys |= {row.row: row.key for row in copies.select("row", "key").collect()}
    return [_row_in_words(row, keys[row.row]) for row in rows]


def _row_in_words(row: Row, key: bytes | None) -> str:
    target = "any partition" if row.asked is None else f"partition {row.asked}"
    request = f"asked for {target}" if row.wanted else "was not asked for"
    place = None if row.copies is None else (row.partition, row.offset)
    return record_in_words(row.row, key, request, place, row.copies or 0)
