"""Each partition's contents, in order, as a few sums, so that no record has to leave its task for the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

__all__ = ["FOREIGN", "Sequence", "all_as_asked", "in_order", "kind_of", "sequences", "unplaced"]

# The kinds of keys. A client places either all keys of a kind or none.
_NULL_KEY, _EMPTY_KEY, _KEY = range(3)
# The kind of any record that the run did not write.
FOREIGN = 3
# Spark numbers the rows of each task from a multiple of 2^33 on.
_WITHIN_A_TASK = 2**33 - 1


@dataclass(frozen=True)
class Sequence:
    """The records of one partition with one kind of key.

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


Sequences = dict[tuple[int | None, int], Sequence]
"""By partition (None: none was asked for) and kind of key."""


def kind_of(key: str) -> Column:
    """The kind of a key, as a number."""
    return F.when(F.col(key).isNull(), _NULL_KEY).when(F.octet_length(key) == 0, _EMPTY_KEY).otherwise(_KEY)


def in_order(records: DataFrame, *order: str | Column) -> DataFrame:
    """The records with their `position`: how many records of the same task come before them in this order.

    Each task sorts its own records. In a task with one whole partition, that is the position in the partition.
    """
    # As one column of its own, so that records already in this order are sorted again: otherwise Spark would trust its
    # own claim.
    within = records.sortWithinPartitions(F.struct(*order))
    return within.withColumn("position", F.monotonically_increasing_id().bitwiseAND(F.lit(_WITHIN_A_TASK)))


def sequences(**sides: DataFrame) -> dict[str, Sequences]:
    """Add up several tables in one job, without shuffling any record.

    Args:
        sides: Tables of records with the columns `partition` (int), `kind` (int), `offset`, `position`, `row`,
            `key_hash` and `value_hash` (bigint), by name.

    Returns:
        What each holds, by the same names.
    """
    content = ("row", "key_hash", "value_hash")
    summed = [
        records.withColumn("contents", F.xxhash64(*content))
        .withColumn("order", F.xxhash64("position", *content))
        .groupBy("partition", "kind")
        .agg(
            F.count("*").alias("records"),
            F.min("offset").alias("first"),
            F.max("offset").alias("last"),
            F.bit_xor("contents").alias("contents"),
            F.bit_xor("order").alias("order"),
        )
        .withColumn("side", F.lit(side))
        for side, records in sides.items()
    ]
    together = summed[0]
    for one in summed[1:]:
        together = together.union(one)
    found: dict[str, Sequences] = {side: {} for side in sides}
    for partition, kind, *sums, side in together.collect():
        found[side][partition, kind] = Sequence(*sums)
    return found


def unplaced(asked: Mapping[tuple[int | None, int], object]) -> set[int]:
    """The kinds of keys with records for which no partition was asked."""
    return {kind for partition, kind in asked if partition is None}


def all_as_asked(asked: Sequences, there: Sequences) -> bool:
    """Whether every record is there once, unchanged, in its partition and in the order of the source.

    False may also mean that sums cannot show it, for example because a record's offset is not its position.

    Args:
        asked: What was asked for, by the partition asked for, with positions in the source's order.
        there: What is there, by the partition where it is, with positions there.
    """
    free = unplaced(asked)
    for kind in free:
        # Any place and any order will do: only the records themselves were asked for.
        if _all_of(asked, kind) != _all_of(there, kind):
            return False
    placed_asked = {of: _summed(found) for of, found in asked.items() if of[0] is not None}
    return placed_asked == {of: _summed(found) for of, found in there.items() if of[1] not in free}


def _summed(found: Sequence) -> tuple[int, int, int]:
    return found.records, found.contents, found.order


def _all_of(found: Sequences, kind: int) -> tuple[int, int]:
    """How many records a kind has, and a 64-bit sum of their contents."""
    records = contents = 0
    for (_, of_kind), each in found.items():
        if of_kind == kind:
            records += each.records
            contents ^= each.contents
    return records, contents
