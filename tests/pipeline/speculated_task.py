"""A run on a cluster that runs slow tasks a second time, as a script: each try of one task is slow amid its write."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.cli.progress import ConsoleProgress
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline.run import _Run, run
from partwright.pipeline.settings import KafkaTarget, RunSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from partwright.pipeline.given import Given

ROWS, SLEEP_S, SLOW = 100, 0.3, 1


def slow(placed: DataFrame, tries: str) -> DataFrame:
    """The same rows; each try of one task takes seconds, and says that it began."""

    def passed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        is_slow = context is not None and context.partitionId() == SLOW
        if is_slow:
            Path(tries, str(context.taskAttemptId())).touch()
        for batch in batches:
            if is_slow:
                time.sleep(SLEEP_S)
            yield batch

    return placed.mapInArrow(passed, placed.schema)


def main(servers: str, source: str, topic: str, tries: str, log: str) -> None:
    """Runs, and prints the report."""
    writes = _Run._writes

    def slowly(self: _Run, placed: DataFrame, summed: Given) -> None:
        self.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(ROWS))
        writes(self, slow(placed, tries), summed)

    _Run._writes = slowly  # type: ignore[method-assign]
    settings = RunSettings(
        source=source,
        key="id",
        partitions=4,
        topic=topic,
        target=KafkaTarget(KafkaConfig.read({}, servers=servers)),
        exactly_once=True,
        master="local-cluster[2,2,1024]",
        configs={
            "spark.speculation": "true",
            "spark.speculation.interval": "50ms",
            "spark.speculation.quantile": "0.5",
            "spark.speculation.multiplier": "1.1",
            "spark.speculation.minTaskRuntime": "50ms",
            "spark.sql.shuffle.partitions": "4",
        },
    )
    with ConsoleProgress() as progress:
        report = run(settings, progress)
    Path(log).write_text(Path(str(report.log)).read_text(encoding="utf-8"), encoding="utf-8")
    json.dump(report.to_dict(), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
