"""Going on with a run: what it was asked for and read then, and what it is asked for and reads now."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.spark import classic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from partwright.pipeline.ledger import Ledger, Plan
    from partwright.pipeline.settings import RunSettings
    from partwright.pipeline.source import Source
    from partwright.pipeline.target_state import Look
    from partwright.pipeline.targets import KafkaTopic

__all__ = [
    "SourceFacts",
    "asked_of",
    "begun",
    "cannot_go_on",
    "cut_as",
    "source_facts",
]

# By these Spark cuts files into tasks, by which rows are numbered; the last one is the number of cores by default.
_SIZES = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
_LEAST = "spark.sql.files.minPartitionNum"
_LEAF = "spark.sql.leafNodeDefaultParallelism"


@dataclass(frozen=True)
class SourceFacts:
    """What tells a source that has changed from one that has not; see the same fields of `Plan`."""

    files: Mapping[str, tuple[int, int]]
    cut: Mapping[str, str]
    tasks: int


def begun(
    ledger: Ledger, settings: RunSettings, source: Source, target: KafkaTopic, first: Look
) -> Plan | None:
    """The run that `--resume` goes on with, refused where Spark need not even start to see that it cannot.

    Args:
        ledger: Where runs are written down.
        settings: What the run is asked to do.
        source: What it reads.
        target: Where it writes.
        first: What is there.

    Returns:
        The plan; None where no run is known and nothing is there, as one leaves it that was killed before its first
        record.

    Raises:
        PartwrightError: None is known and records are there, it was another one, or its topic is another one by now.
    """
    plan = ledger.read(source.topic, source.identity)
    if plan is None:
        if not first.records:
            return None
        raise PartwrightError(
            f"no run of {source.name} into {target} is known that could go on: run it without --resume, or name its "
            "ledger with --state"
        )
    asked = asked_of(settings, source)
    # In this order, for the seed of another strategy is not what somebody changed.
    for option, given in asked.items():
        if plan.asked.get(option) != given:
            raise cannot_go_on(plan, _other_option(option, plan.asked.get(option), given))
    if plan.exactly_once != settings.exactly_once:
        raise cannot_go_on(plan, f"it was begun {'with' if plan.exactly_once else 'without'} --exactly-once")
    if settings.asked_partitions not in {None, plan.n}:
        raise cannot_go_on(plan, f"it was begun with -n {plan.n}, not {settings.asked_partitions}")
    if first.partitions is None:
        raise cannot_go_on(plan, f"the topic {source.topic!r} is gone")
    if target.topic_id() != plan.topic_id:
        raise cannot_go_on(plan, f"the topic {source.topic!r} was deleted since, and made again")
    if first.partitions != plan.n:
        raise cannot_go_on(plan, f"its topic had {plan.n} partitions, and has {first.partitions} now")
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
        "--only-keys": ", ".join(settings.only_keys) or None,
        "--null-keys": settings.null_keys,
        "--producer-property": ", ".join(
            f"{key}={value}" for key, value in sorted(settings.properties.items())
        )
        or None,
    }
    return {option: None if value is None else str(value) for option, value in found.items()}


@contextlib.contextmanager
def cut_as(spark: SparkSession, plan: Plan | None) -> Iterator[None]:
    """Has Spark cut the source's files as it did when the run began, on a machine with other cores, say."""
    if plan is None:
        yield
        return
    before: dict[str, str | None] = {name: spark.conf.get(name, None) for name in plan.cut}
    for name, value in plan.cut.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        # The session may be the caller's; its Java may be gone, which somebody else says.
        with contextlib.suppress(Exception):
            for name, was in before.items():
                spark.conf.unset(name) if was is None else spark.conf.set(name, was)


def source_facts(spark: SparkSession, records: DataFrame) -> SourceFacts:
    """What a source is right now.

    Args:
        spark: The session.
        records: What `read_records` gives.
    """
    parallelism = spark.conf.get(_LEAF, None) or str(spark.sparkContext.defaultParallelism)
    # With a default of ours Spark would give that for what nobody has set, and not its own.
    cut = {name: str(spark.conf.get(name)) for name in _SIZES}
    least: str | None = spark.conf.get(_LEAST, None)
    cut[_LEAST] = parallelism if least is None else least
    return SourceFacts(classic.file_facts(spark, records.inputFiles()), cut, records.rdd.getNumPartitions())
