"""As a script, a run on a cluster that runs slow tasks a second time: one task waits for its second attempt.

Spark runs no second attempt on the host of the first, so the cluster's two workers have different addresses.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from partwright.cli.progress import ConsoleProgress
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline.batch_run import run
from partwright.pipeline.settings import KafkaTarget, RunSettings
from partwright.pipeline.spark_runner import SparkKind
from partwright.pipeline.spark_targets import Placed, SparkTopic, TargetWriter
from partwright.pipeline.targets import Wrote
from partwright.spark import exactly_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

ROWS, SLOW, BEFORE = 100, 1, 3
# For a second attempt; and its least duration, in which a third would begin if the first had failed.
PATIENCE_S, LASTS_S = 200.0, 4.0


def slow(placed: DataFrame, tries: str) -> DataFrame:
    """The same rows; in the middle of its write, one task's first attempt waits for the second, and then continues."""

    def passed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        is_slow = context.partitionId() == SLOW
        if is_slow:
            Path(tries, str(context.taskAttemptId())).touch()
        for number, batch in enumerate(batches):
            if is_slow and number == BEFORE:
                deadline = time.monotonic() + PATIENCE_S
                while len(list(Path(tries).iterdir())) == 1 and time.monotonic() < deadline:
                    time.sleep(0.1)
                if context.attemptNumber():
                    time.sleep(LASTS_S)
            yield batch

    return placed.mapInArrow(passed, placed.schema)


@contextmanager
def spark_class(log: Path, name: str, host: str, *words: str) -> Iterator[None]:
    """One of Spark's own Java processes, which ends with the block."""
    home = Path(pyspark.__file__).parent
    given: list[str | Path] = [
        home / "bin" / "spark-class",
        f"org.apache.spark.deploy.{name}",
        "--host",
        host,
    ]
    environment = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": host, "SPARK_DAEMON_MEMORY": "128m"}
    with (
        log.open("w") as lines,
        subprocess.Popen(
            [*given, "--webui-port", "0", *words], stdout=lines, stderr=lines, env=os.environ | environment
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


def waited(log: Path, pattern: str, times: int) -> list[str]:
    """The matches in a log, once there are this many; a slow worker registers again."""
    for _ in range(3000):
        if len(found := re.findall(pattern, log.read_text())) >= times:
            return found
        time.sleep(0.1)
    raise TimeoutError(log.read_text())


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a cluster with a worker on each of two addresses of this machine."""
    with ExitStack() as running:
        log = folder / "master.log"
        running.enter_context(spark_class(log, "master.Master", "127.0.0.1", "--port", "0"))
        address = waited(log, r"Starting Spark master at (spark://\S+)", 1)[0]
        for host in ("127.0.0.2", "127.0.0.3"):
            words = ("--cores", "2", "--memory", "700m", "--work-dir", str(folder / host), address)
            running.enter_context(spark_class(folder / f"{host}.log", "worker.Worker", host, *words))
        waited(log, r"Registering (worker)", 2)
        yield address


def main(servers: str, source: str, topic: str, folder: str) -> None:
    """Runs, and prints the report."""
    writer = SparkTopic.writer
    (tries := Path(folder, "tries")).mkdir()

    def slowly(self: SparkTopic, *, in_transactions: bool, goes_on: bool) -> TargetWriter:
        how, write = writer(self, in_transactions=in_transactions, goes_on=goes_on)

        def write_slowly(placed: Placed) -> Wrote:
            return write(dataclasses.replace(placed, frame=slow(placed.frame, str(tries))))

        return TargetWriter(how, write_slowly)

    SparkTopic.writer = slowly  # type: ignore[method-assign]
    exactly_once._BATCH_ROWS = ROWS
    with cluster(Path(folder)) as master, ConsoleProgress() as progress:
        settings = RunSettings(
            source=source,
            key="id",
            partitions=4,
            topic=topic,
            target=KafkaTarget(KafkaConfig.read({}, servers=servers)),
            exactly_once=True,
            master=master,
            configs={
                "spark.speculation": "true",
                "spark.speculation.interval": "50ms",
                "spark.speculation.efficiency.enabled": "false",
                "spark.speculation.quantile": "0.5",
                "spark.speculation.multiplier": "1.1",
                "spark.speculation.minTaskRuntime": "50ms",
                "spark.sql.shuffle.partitions": "4",
                "spark.executor.memory": "600m",
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            },
        )
        json.dump(
            run(settings, progress, SparkKind(master=settings.master, configs=settings.configs)).to_dict(),
            sys.stdout,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
