"""partwright in Spark: partitions as columns, tables laid out as Kafka lays out its topic, SQL functions.

    from partwright import spark as pws

    spark = pws.session()
    flights = pws.with_partition(flights, key="tailnum", n=12)

Columns, tables, layouts, audits and SQL functions work in classic Spark and in Spark Connect, on PySpark 3.5 and later;
from 4.1 on they need no pandas.
"""

from typing import TYPE_CHECKING

from partwright.spark.requirements import require_pyspark

require_pyspark()

# ruff: noqa: E402 - the rest imports PySpark
from partwright._check import meant_name
from partwright.audit.check import CheckLimits
from partwright.audit.copartition import JoinSide
from partwright.audit.resize import RecordColumns
from partwright.kafka.bounds import TopicPart
from partwright.kafka.point_reads import assign_json
from partwright.producer.configs import ProducerConfig
from partwright.producer.records import Workload
from partwright.spark.audits import check, check_copartition, fingerprint, resize
from partwright.spark.columns import encode, murmur2, partition_for_key
from partwright.spark.engines.choice import engine_of
from partwright.spark.errors import first_sentence
from partwright.spark.executors.diagnosis import doctor
from partwright.spark.executors.shipping import ship
from partwright.spark.groups import assign
from partwright.spark.partition_layout import LAYOUT_COLUMNS, copartition, kafka_layout
from partwright.spark.quotas import (
    max_quota,
    min_quota,
    over_max_quota,
    range_length,
    range_start,
    under_min_quota,
)
from partwright.spark.sessions import session
from partwright.spark.sql import register
from partwright.spark.streams.stream_writer import StreamOptions, write_stream
from partwright.spark.tables import with_partition
from partwright.spark.topic import read_topic

__all__ = [
    "LAYOUT_COLUMNS",
    "CheckLimits",
    "JoinSide",
    "ProducerConfig",
    "RecordColumns",
    "StreamOptions",
    "TopicPart",
    "Workload",
    "assign",
    "assign_json",
    "check",
    "check_copartition",
    "copartition",
    "doctor",
    "encode",
    "engine_of",
    "fingerprint",
    "first_sentence",
    "kafka_layout",
    "max_quota",
    "min_quota",
    "murmur2",
    "over_max_quota",
    "partition_for_key",
    "range_length",
    "range_start",
    "read_topic",
    "register",
    "resize",
    "session",
    "ship",
    "under_min_quota",
    "with_partition",
    "write_stream",
]

if not TYPE_CHECKING:

    def __dir__() -> list[str]:
        return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})

    def __getattr__(name: str) -> object:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant_name(name, __all__)}")
