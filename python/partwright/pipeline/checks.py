"""Read back what was written and check every record; let the Java producer place the same records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from partwright.keys.key_text import shown_key
from partwright.pipeline.each_record import asked_for, each_choice, each_record, identified
from partwright.pipeline.promises import Checks, PartitionRead, Proof
from partwright.pipeline.sequences import FOREIGN, all_as_asked, in_order, kind_of, sequences, unplaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from partwright.pipeline.sequences import Sequence

__all__ = ["Checks", "PartitionRead", "Proof", "check", "compare", "doubles", "shown_key"]

_COMPARED = ("position", "row", "key_hash", "value_hash")


def check(
    placed: DataFrame,
    read: DataFrame,
    run: bytes,
    begin: Mapping[int, int],
    *,
    markers: bool = False,
    mixed: bool = False,
) -> Checks:
    """Compare every record of `placed` with what was read back.

    First both are added up in one pass: for each partition, its number of records, a 64-bit sum of their contents, and
    a 64-bit sum of their contents and positions. If these agree, and no row was asked for twice, every promise was
    kept. Otherwise both are read again and joined record by record, to find the broken promises.

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
        mixed: Whether records for which no partition was asked may be among the others, because the producer placed
            them. Then, too, a task reads all records of its partition.

    Returns:
        How many records broke each promise.
    """
    sound = _without_fault(placed, identified(read, run), begin, markers=markers, mixed=mixed)
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


def compare(placed: DataFrame, chosen: DataFrame, run: bytes) -> Proof:
    """Compare the partition asked for with the one that the producer chose, for every record with a key.

    As in `check`, sums come first.

    Args:
        placed: As for `check`.
        chosen: What was read back from a topic that was written without a partition.
        run: The 8 bytes of the run's ID, which its records' header names.

    Returns:
        How many records it put into the same partition.
    """
    there = identified(chosen, run)
    sound = _chosen_alike(placed, there)
    return each_choice(placed, there) if sound is None else sound


def _without_fault(
    placed: DataFrame, there: DataFrame, begin: Mapping[int, int], *, markers: bool, mixed: bool
) -> Checks | None:
    """The answer of `check` if the sums show that all records are as asked for; None if they do not."""
    # Records asked for without a partition have no position: they come after the others of their task.
    asked = in_order(asked_for(placed), F.col("asked").isNull(), "file", "row").select(
        F.col("asked").alias("partition"),
        kind_of("key").alias("kind"),
        F.lit(None).cast("long").alias("offset"),
        *_COMPARED,
    )
    ours = F.when(F.col("row").isNull(), FOREIGN).otherwise(kind_of("key"))
    left = _kinds_left(placed) if mixed else []
    if markers or left:
        # Transaction markers have offsets between the records', and so do records that the producer placed; these come
        # after the others here, too.
        ordered = in_order(there, ours.isin(left), "offset")
    else:
        ordered = there.withColumn("position", _since(begin))
    seen = ordered.select("partition", ours.alias("kind"), "offset", *_COMPARED)
    found = sequences(asked=asked, there=seen)
    if not all_as_asked(found["asked"], found["there"]) or _has_doubles(placed):
        return None
    free = unplaced(found["asked"])
    by_partition: dict[int | None, list[tuple[int, Sequence]]] = {}
    for (partition, kind), each in found["there"].items():
        by_partition.setdefault(partition, []).append((kind, each))
    partitions = [
        PartitionRead(
            partition,
            records=sum(each.records for _, each in several),
            null_keys=sum(each.records for kind, each in several if kind in free),
            first_offset=min(each.first for _, each in several),
            last_offset=max(each.last for _, each in several),
        )
        for partition, several in by_partition.items()
    ]
    kept = Checks(sum(part.records for part in partitions), 0, 0, 0, 0, 0, 0, 0, 0)
    return replace(
        kept,
        offset_gaps=sum(not part.without_gap(begin, markers=markers) for part in partitions),
        # In Spark's order: the one without a number first.
        partitions=tuple(
            sorted(partitions, key=lambda part: -1 if part.partition is None else part.partition)
        ),
    )


def _kinds_left(placed: DataFrame) -> list[int]:
    """The kinds of keys with records for which no partition was asked."""
    left = placed.where(F.col("partition").isNull()).select(kind_of("key").alias("kind"))
    return [row.kind for row in left.distinct().collect()]


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


def _chosen_alike(placed: DataFrame, there: DataFrame) -> Proof | None:
    """The answer of `compare` if the sums show that all keyed records are in place; None if they do not."""
    sides = [asked_for(placed).withColumn("partition", F.col("asked")), there.where(F.col("row").isNotNull())]
    summed = [
        side.where(F.col("key").isNotNull())
        .groupBy("partition", kind_of("key").alias("kind"))
        .agg(F.count("*"), F.bit_xor(F.xxhash64("row")))
        .withColumn("asked", F.lit(number == 0))
        for number, side in enumerate(sides)
    ]
    asked: dict[tuple[int | None, int], tuple[int, int]] = {}
    seen: dict[tuple[int | None, int], tuple[int, int]] = {}
    for partition, kind, count, prints, was_asked in summed[0].union(summed[1]).collect():
        (asked if was_asked else seen)[partition, kind] = (count, prints)
    free = unplaced(asked)
    asked = {of: sums for of, sums in asked.items() if of[0] is not None}
    if asked != {of: sums for of, sums in seen.items() if of[1] not in free}:
        return None
    keyed = sum(count for count, _ in asked.values())
    return Proof(keyed=keyed, equal=keyed, different=0, lost=0)
