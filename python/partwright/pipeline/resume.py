"""Going on with a run: what it read then and reads now, which of its rows are there, and which are left to write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.last_marks import last_marks
from partwright.pipeline.source import HEADER
from partwright.spark import classic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from partwright.pipeline.ledger import Ledger, Plan
    from partwright.pipeline.settings import RunSettings
    from partwright.pipeline.source import Source
    from partwright.pipeline.targets import KafkaTopic

__all__ = [
    "SourceFacts",
    "asked_of",
    "begun",
    "cannot_go_on",
    "cut_as",
    "rest_of",
    "rows_there",
    "source_facts",
]

# By these Spark cuts files into tasks, by which rows are numbered; the last one is the number of cores by default.
_CUT = (
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.openCostInBytes",
    "spark.sql.files.minPartitionNum",
)
_LEAF = "spark.sql.leafNodeDefaultParallelism"


@dataclass(frozen=True)
class SourceFacts:
    """What tells a source that has changed from one that has not; see the same fields of `Plan`."""

    files: Mapping[str, tuple[int, int]]
    cut: Mapping[str, str]
    tasks: int


def begun(ledger: Ledger, settings: RunSettings, source: Source, target: KafkaTopic) -> Plan:
    """The run that `--resume` goes on with, refused where Spark need not even start to see that it cannot.

    Raises:
        PartwrightError: There is none, it was another one, or its topic is another one by now.
    """
    plan = ledger.read(source.topic, source.name)
    if plan is None:
        raise PartwrightError(
            f"no run of {source.name} into {target} is known that could go on: run it without --resume, or name its "
            "ledger with --state"
        )
    asked = asked_of(settings, source)
    for option, was in plan.asked.items():
        if asked.get(option) != was:
            raise cannot_go_on(plan, _other_option(option, was, asked.get(option)))
    if plan.exactly_once != settings.exactly_once:
        raise cannot_go_on(plan, f"it was begun {'with' if plan.exactly_once else 'without'} --exactly-once")
    if settings.partitions not in {None, plan.n}:
        raise cannot_go_on(plan, f"it was begun with -n {plan.n}, not {settings.partitions}")
    found = topics.partition_count(None, source.topic, kafka_config=target.config)
    if found is None:
        raise cannot_go_on(plan, f"the topic {source.topic!r} is gone")
    if target.topic_id() != plan.topic_id:
        raise cannot_go_on(plan, f"the topic {source.topic!r} was deleted since, and made again")
    if found != plan.n:
        raise cannot_go_on(plan, f"its topic had {plan.n} partitions, and has {found} now")
    return plan


def cannot_go_on(plan: Plan, why: str) -> PartwrightError:
    """The run is another one than that of before: the error."""
    return PartwrightError(
        f"the run of {plan.began} cannot go on, because {why}: give it what it was begun with, or run without --resume "
        "into another --topic"
    )


def _other_option(option: str, was: str | None, given: str | None) -> str:
    if was is None:
        return f"it was begun without {option} {given}"
    return f"it was begun with {option} {was}" + (f", not {given}" if given is not None else "")


def asked_of(settings: RunSettings, source: Source) -> dict[str, str | None]:
    """The settings that decide which records a run writes and where, by their option."""
    found = {
        "--format": source.format,
        "--key": source.key,
        "--key-type": settings.key_type,
        "--value": settings.value,
        "--timestamp": settings.timestamp,
        "--client": settings.client,
        "--strategy": settings.strategy_name,
        "--partition": settings.partition,
        "--field": settings.field,
        "--seed": settings.seed if settings.is_by_strategy else None,
        "--limit": settings.limit,
        "--null-keys": settings.null_keys,
        "--producer-property": ", ".join(
            f"{key}={value}" for key, value in sorted(settings.properties.items())
        )
        or None,
    }
    return {option: None if value is None else str(value) for option, value in found.items()}


def cut_as(spark: SparkSession, plan: Plan) -> None:
    """Has Spark cut the source's files as it did when the run began, on a machine with other cores, say."""
    for name, value in plan.cut.items():
        spark.conf.set(name, value)


def source_facts(spark: SparkSession, records: DataFrame) -> SourceFacts:
    """What a source is right now.

    Args:
        spark: The session.
        records: What `read_records` gives.
    """
    parallelism = spark.conf.get(_LEAF, None) or str(spark.sparkContext.defaultParallelism)
    cut = {name: str(spark.conf.get(name, None) or parallelism) for name in _CUT}
    return SourceFacts(classic.file_facts(spark, records.inputFiles()), cut, records.rdd.getNumPartitions())


def rows_there(target: KafkaTopic, run: bytes) -> dict[int, int]:
    """The row of the last record of a run in each partition that holds any.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
    """
    ends = topics.end_offsets(None, target.topic, kafka_config=target.config)
    windows = {each: (target.begin.get(each, 0), end) for each, end in ends.items()}
    found = last_marks(target.config, target.topic, windows, HEADER, run)
    return {each: int.from_bytes(value[len(run) :], "big", signed=True) for each, value in found.items()}


def rest_of(placed: DataFrame, there: Mapping[int, int]) -> tuple[DataFrame, int]:
    """The rows that are left to write, laid out as they were, and how many are there.

    In each partition those are there up to the last one's place: each has one task, which writes its rows in order.

    Args:
        placed: `partition`, `file` and `row` of all rows, task i holding partition i in the order of the last two.
        there: By partition the row of the last record that is there.

    Raises:
        PartwrightError: Such a row is not in the source.
    """
    if not there:
        return placed, 0
    spark = placed.sparkSession
    rows = spark.createDataFrame(sorted(there.items()), "at_partition int, at_row long")
    on = (F.col("partition") == F.col("at_partition")) & (F.col("row") == F.col("at_row"))
    places = placed.join(F.broadcast(rows), on).select("at_partition", "file", "row").collect()
    if len(places) != len(there):
        lost = min(there.keys() - {place.at_partition for place in places})
        raise PartwrightError(
            f"row {there[lost]}, the last one in partition {lost}, is not in the source any more: the source has "
            "changed, so this run cannot go on"
        )
    ends = spark.createDataFrame(list(map(tuple, places)), "at_partition int, at_file string, at_row long")
    joined = placed.join(F.broadcast(ends), F.col("partition") == F.col("at_partition"), "left")
    is_there = F.coalesce(
        F.struct("file", "row") <= F.struct(F.col("at_file").alias("file"), F.col("at_row").alias("row")),
        F.lit(False),
    )
    is_there = F.col("at_row").isNotNull() & is_there
    already = joined.where(is_there).count()
    return joined.where(~is_there).drop("at_partition", "at_file", "at_row"), already
