"""Reads back what was written and checks every record; asks the Java producer itself for the same records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from partwright.keys.key_text import shown_key
from partwright.pipeline.each_record import asked_for, each_choice, each_record, identified
from partwright.pipeline.promises import Checks, PartitionRead, Proof
from partwright.pipeline.sequences import FOREIGN, all_as_asked, fingerprint, kind_of, sequences, unplaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from partwright.pipeline.sequences import Sequence

__all__ = ["Checks", "PartitionRead", "Proof", "check", "compare", "doubles", "shown_key"]


def check(
    placed: DataFrame, read: DataFrame, run: bytes, begin: Mapping[int, int], *, markers: bool = False
) -> Checks:
    """Every record of `placed` against what was read back.

    Both are summed up first, in one pass without a shuffle: how many records each partition has, the sum of their
    fingerprints of 64 bits, and a digest of these in order. Where the sums agree, every promise was kept. Otherwise
    both are read again and joined, record by record, to say which promises are broken.

    Args:
        placed: `key`, `value`, `partition`, `file`, `row` of every record that was asked for.
        read: `partition`, `offset`, `key`, `value`, `header` of every record that is there; each time that Spark reads
            it, the same ones.
        run: The 8 bytes that begin the header of this run's records.
        begin: The offset that each partition's first record of this run has; 0 where it is not named.
        markers: Whether offsets may be missing among the records, as where they were written in transactions: each
            leaves its mark at an offset of its own. Then a partition has a gap where an offset is before the beginning,
            or where there are fewer offsets than records.

    Returns:
        How many records broke each promise.
    """
    sound = _without_fault(placed, identified(read, run), begin, markers)
    return each_record(placed, read, run, begin, markers=markers) if sound is None else sound


def doubles(read: DataFrame, run: bytes) -> DataFrame:
    """The copies beyond each record's first, lazily: `partition`, `offset`, `row`.

    The first copy is the one with the least offset, and of several such ones in the least partition. A record of which
    there are three copies has two rows here.

    Args:
        read: As for `check`.
        run: The 8 bytes that begin the header of this run's records.
    """
    ours = identified(read, run).select("partition", "offset", "row").where(F.col("row").isNotNull())
    copies = Window.partitionBy("row").orderBy("offset", "partition")
    return ours.withColumn("copy", F.row_number().over(copies)).where(F.col("copy") > 1).drop("copy")


def compare(placed: DataFrame, chosen: DataFrame, run: bytes) -> Proof:
    """The partition asked for against the one that the producer chose, for every record with a key.

    As in `check`, sums come first.

    Args:
        placed: As for `check`.
        chosen: What was read back from a topic that was written without a partition.
        run: The 8 bytes that begin the header of this run's records.

    Returns:
        For how many records it chose the same partition.
    """
    there = identified(chosen, run)
    sound = _chosen_alike(placed, there)
    return each_choice(placed, there) if sound is None else sound


def _without_fault(
    placed: DataFrame, there: DataFrame, begin: Mapping[int, int], markers: bool
) -> Checks | None:
    """What `check` answers where all records are as they were asked for; None where the sums do not say so."""
    prints = fingerprint("row", "key_hash", "value_hash").alias("fingerprint")
    asked = asked_for(placed).select(
        F.col("asked").alias("partition"),
        kind_of("key").alias("kind"),
        "file",
        F.col("row").alias("place"),
        prints,
    )
    ours = F.when(F.col("row").isNull(), FOREIGN).otherwise(kind_of("key"))
    seen = there.select(
        "partition",
        ours.alias("kind"),
        F.lit("").alias("file"),
        F.col("offset").alias("place"),
        prints,
    )
    found = sequences(asked=asked, there=seen)
    if not all_as_asked(found["asked"], found["there"]):
        return None
    free = unplaced(found["asked"])
    by_partition: dict[int | None, list[tuple[int, Sequence]]] = {}
    for (partition, kind), several in found["there"].items():
        by_partition.setdefault(partition, []).extend((kind, each) for each in several)
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
        # As Spark orders them: the one without a number first.
        partitions=tuple(
            sorted(partitions, key=lambda part: -1 if part.partition is None else part.partition)
        ),
    )


def _chosen_alike(placed: DataFrame, there: DataFrame) -> Proof | None:
    """What `compare` answers where all keyed records are where they were asked for; None where sums do not say so."""
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
