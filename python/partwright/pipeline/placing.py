"""Give each record its partition, and lay records out: task i has partition i, in the source's order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from partwright import spark as pws
from partwright.pipeline.source import key_bytes
from partwright.spark.layout import laid_out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from partwright.cluster import Cluster
    from partwright.pipeline.settings import RunSettings
    from partwright.producer.configs import ProducerConfig

__all__ = ["placed_records"]

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
    key_type = settings.source_key_type
    if settings.is_by_strategy:
        placed = _by_strategy(
            records,
            settings.producer,
            cluster or n,
            partition="named" if settings.partition is not None else None,
            field="field" if settings.field is not None else None,
        )
    else:
        placed = pws.with_partition(records, "id", n, settings.client, key_type)
    placed = placed.withColumn("unplaced", F.col("partition").isNull())
    if spreads:
        by_place = F.pmod(F.xxhash64(*_ORDER), F.lit(n)).cast("int")
        placed = placed.withColumn("partition", F.coalesce("partition", by_place))
    placed = laid_out(placed, records, n, [F.col(name) for name in _ORDER])
    return placed.withColumn("key", key_bytes("id", placed, key_type)).drop("id")


def _by_strategy(
    records: DataFrame, producer: ProducerConfig, among: Cluster | int, **columns: str | None
) -> DataFrame:
    """Place by a strategy: each task that reads the source is a producer, whose records are in order."""
    workload = pws.Workload(key="id", value="value", **columns)
    producer = replace(producer, strategy=producer.strategy or "key")
    placed = pws.with_partition(records, workload, among, producer, order_by=list(_ORDER))
    return placed.drop("named", "field")
