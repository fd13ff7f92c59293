"""As a script, a run on a master that retries tasks: the first attempt of one task fails in the middle of its write."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.cli.progress import ConsoleProgress
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline.batch_run import run
from partwright.pipeline.settings import KafkaTarget, RunSettings
from partwright.pipeline.spark_runner import SparkKind
from partwright.pipeline.spark_targets import Placed, SparkTopic, TargetWriter
from partwright.pipeline.targets import Wrote

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

ROWS_BEFORE = 900


def failing_once(placed: DataFrame, flag: str) -> DataFrame:
    """The same rows; the first task that has passed this many fails, the first time."""

    def passed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        count = 0
        for batch in batches:
            yield batch
            count += batch.num_rows
            if count >= ROWS_BEFORE and not Path(flag).exists():
                Path(flag).touch()
                raise RuntimeError("this task fails once")

    return placed.mapInArrow(passed, placed.schema)


def main(servers: str, source: str, topic: str, flag: str, exactly_once: str) -> None:
    """Runs, and prints the report."""
    writer = SparkTopic.writer

    def failing(self: SparkTopic, *, in_transactions: bool, goes_on: bool) -> TargetWriter:
        how, write = writer(self, in_transactions=in_transactions, goes_on=goes_on)

        def write_failing_once(placed: Placed) -> Wrote:
            placed.frame.sparkSession.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "300")
            return write(dataclasses.replace(placed, frame=failing_once(placed.frame, flag)))

        return TargetWriter(how, write_failing_once)

    SparkTopic.writer = failing  # type: ignore[method-assign]
    settings = RunSettings(
        source=source,
        key="id",
        partitions=5,
        topic=topic,
        target=KafkaTarget(KafkaConfig.read({}, servers=servers)),
        proof=False,
        exactly_once=bool(exactly_once),
        master="local[2,4]",
    )
    with ConsoleProgress() as progress:
        json.dump(
            run(settings, progress, SparkKind(master=settings.master, configs=settings.configs)).to_dict(),
            sys.stdout,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
