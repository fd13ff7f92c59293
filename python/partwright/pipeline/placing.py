"""Give each record its partition, and lay records out: task i has partition i, in the source's order. Add them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from partwright import spark as pws
from partwright.keys.key_text import shown_key
from partwright.pipeline.report import HEAVIEST, KeyShare, PartitionShare, RecordSums
from partwright.pipeline.spark_records import key_bytes
from partwright.spark.partition_layout import laid_out
from partwright.spark.resumed_rows import record_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from partwright.cluster import Cluster
    from partwright.pipeline.settings import RunSettings

_ORDER = ("file", "row")


def placed_records(
    records: DataFrame, settings: RunSettings, n: int, cluster: Cluster | None, *, spreads: bool
) -> DataFrame:
    """Every record with its key bytes and partition, lazily.

    Args:
        records: What `read_records` reads.
        settings: The client or strategy that places them.
        n: How many partitions there are.
        cluster: Where these are; None if no strategy looks at it.
        spreads: Whether records that the client does not place by their key get a partition here, by their place in the
            source.

    Returns:
        `key`, `value`, `headers`, `file`, `row`, `partition` and `unplaced` (whether the client does not place the
        record by its key), and a topic's `timestamp`.
    """
    workload = pws.Workload(
        key="id",
        value="value",
        partition="named" if settings.partition is not None else None,
        field="field" if settings.field is not None else None,
    )
    # By a strategy, each task that reads the source is a producer, whose records are in order.
    producer = replace(settings.producer, strategy=settings.producer.strategy or "key")
    placed = pws.with_partition(records, workload, cluster or n, producer, order_by=list(_ORDER))
    placed = placed.drop("named", "field")
    placed = placed.withColumn("unplaced", F.col("partition").isNull())
    if spreads:
        by_place = F.pmod(F.xxhash64(*_ORDER), F.lit(n)).cast("int")
        placed = placed.withColumn("partition", F.coalesce("partition", by_place))
    placed = laid_out(placed, records, n, [F.col(name) for name in _ORDER])
    return placed.withColumn("key", key_bytes("id", placed, settings.source_key_type)).drop("id")


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
        heaviest = over_partitions.orderBy(F.desc("records"), "key").limit(HEAVIEST).collect()
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
            KeyShare(shown_key(row.key), row.records, row.partition if row.partitions == 1 else None)
            for row in heaviest
        ),
        records=sum(row.records for row in rows),
        unplaced=sum(left.values()),
        with_key=keys.records or 0,
        keys=keys.placed,
        bytes=sum(row.bytes for row in rows),
        digest=f"{digest & (2**64 - 1):016x}",
    )
