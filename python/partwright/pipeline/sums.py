"""A run's records, added up by partition and by key before the first one is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from partwright.pipeline import checks
from partwright.pipeline.report import KeyShare, PartitionShare
from partwright.spark.resumed_rows import record_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, Row

__all__ = ["RecordSums", "sum_records"]

_HEAVIEST = 10


@dataclass(frozen=True)
class RecordSums:
    """The records that a run writes, added up.

    Attributes:
        partitions: What each partition gets, without records that the client does not place by their key.
        heaviest_keys: Those with the most records.
        records: All records.
        unplaced: Records that the client does not place by their key.
        with_key: Records that have a key.
        keys: Different keys.
        bytes: The bytes of all keys and values.
        digest: A number that changes with any record, place or order.
    """

    partitions: tuple[PartitionShare, ...]
    heaviest_keys: tuple[KeyShare, ...]
    records: int
    unplaced: int
    with_key: int
    keys: int
    bytes: int
    digest: str


def _share(number: int, sums: Row | None, nulls: Mapping[int, int] | None) -> PartitionShare:
    left = None if nulls is None else nulls.get(number, 0)
    if sums is None:
        return PartitionShare(number, 0, 0, 0, left)
    return PartitionShare(number, sums.records, sums.bytes, sums.keys, left)


def sum_records(placed: DataFrame, n: int) -> RecordSums:
    """Add up records that have their partition.

    Args:
        placed: `key`, `value`, `file`, `row`, `partition` (null if the producer chooses) and `unplaced` (whether the
            client does not place the record by its key).
        n: How many partitions there are.
    """
    by_key = (
        placed.groupBy("partition", "key", "unplaced")
        .agg(
            F.count("*").alias("records"),
            F.sum(record_bytes()).alias("bytes"),
            F.bit_xor(F.xxhash64("file", "row", "partition", "key", "value")).alias("digest"),
        )
        .persist()
    )
    # A strategy that ignores keys puts a key into several partitions.
    over_partitions = (
        by_key.where("key is not null")
        .groupBy("key")
        .agg(
            F.sum("records").alias("records"),
            F.count_if(~F.col("unplaced")).alias("partitions"),
            F.min(F.when(~F.col("unplaced"), F.col("partition"))).alias("partition"),
        )
    )
    try:
        heaviest = over_partitions.orderBy(F.desc("records"), "key").limit(_HEAVIEST).collect()
        (keys,) = over_partitions.agg(
            F.count("partition").alias("placed"), F.sum("records").alias("records")
        ).collect()
        sums = (
            F.sum("records").alias("records"),
            F.sum("bytes").alias("bytes"),
            F.count("key").alias("keys"),
            F.bit_xor("digest").alias("digest"),
        )
        rows = by_key.groupBy("partition", "unplaced").agg(*sums).collect()
    finally:
        by_key.unpersist()
    by_place = {row.partition: row for row in rows if not row.unplaced}
    left = {row.partition: row.records for row in rows if row.unplaced}
    digest = 0
    for row in rows:
        digest ^= row.digest
    # Nobody knows where the producer will put its records.
    nulls = None if None in left else left
    return RecordSums(
        partitions=tuple(_share(number, by_place.get(number), nulls) for number in range(n)),
        heaviest_keys=tuple(
            KeyShare(checks.shown_key(row.key), row.records, row.partition if row.partitions == 1 else None)
            for row in heaviest
        ),
        records=sum(row.records for row in rows),
        unplaced=sum(left.values()),
        with_key=keys.records or 0,
        keys=keys.placed,
        bytes=sum(row.bytes for row in rows),
        digest=f"{digest & (2**64 - 1):016x}",
    )
