"""Three ways of the same records into Kafka: Spark's own sink as it is, a run's default writer, and `--exactly-once`.

    python benches/spark/writers.py [--records 500000] [--rounds 5]

One Spark and one Kafka for all; each write goes to a new topic. The table is placed and kept before anything is timed,
as `partwright run` keeps it; Spark's own sink is given the same records without a partition.
The ways take turns, each round in another order, and the first round is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from main_job import PARTITIONS, make
from pyspark.sql import functions as sf

from partwright import spark as pws
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.marks import MARK, Mark
from partwright.pipeline.spark_targets import SparkTopic
from partwright.spark.exactly_once import write_exactly_once
from partwright.spark.marks import HEADERS, marked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RUN = b"\0" * 8
MEAN_BYTES = 112


def placed_and_kept(spark: SparkSession, file: Path) -> DataFrame:
    """The records as a run has them before its first write."""
    read = spark.read.parquet(str(file)).withColumn("row", sf.monotonically_increasing_id())
    placed = read.transform(pws.kafka_layout("key", PARTITIONS, "row")).withColumn(
        "headers", sf.lit(None).cast(HEADERS)
    )
    kept = placed.withColumn("headers", marked(Mark(MARK, RUN))).persist()
    kept.count()
    return kept


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--records", type=int, default=500_000)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, EmbeddedKafka() as kafka:
        os.environ["PARTWRIGHT_STATE"] = folder
        file = Path(folder, "records.parquet")
        make(file, given.records)
        config = KafkaConfig.read({}, servers=kafka.bootstrap_servers)
        with pws.session(kafka=True, master="local[*]") as spark:
            kept = placed_and_kept(spark, file)

            def sink(topic: str) -> None:
                SparkTopic(config, topic).write(kept.select("key", "value", "headers"))

            def run(topic: str) -> None:
                SparkTopic(config, topic).write(kept)

            def exactly_once(topic: str) -> None:
                # As in a run: the writer adds the mark, which is the records' only header.
                write_exactly_once(kept.drop("headers"), config, topic, {}, Mark(MARK, RUN), MEAN_BYTES)

            ways = {"Spark's own sink": sink, "run": run, "run --exactly-once": exactly_once}
            seconds: dict[str, list[float]] = {name: [] for name in ways}
            for number in range(given.rounds + 1):
                order = list(ways)
                random.Random(number).shuffle(order)  # noqa: S311 - nothing secret
                for name in order:
                    topic = f"round-{number}-{list(ways).index(name)}"
                    topics.create_topic(config, topic, PARTITIONS)
                    began = time.monotonic()
                    ways[name](topic)
                    took = time.monotonic() - began
                    if number:
                        seconds[name].append(took)
                    topics.delete_topic(config, topic)
                print(
                    json.dumps({name: round(each[-1], 2) for name, each in seconds.items() if each}),
                    flush=True,
                )
    first = seconds["Spark's own sink"]
    print(f"\nmedians of {given.rounds}, {given.records:,} records, load {os.getloadavg()[0]:.1f}")
    for name, each in seconds.items():
        ratio = statistics.median(one / other for one, other in zip(each, first, strict=True))
        print(f"  {name:20}{statistics.median(each):8.2f} s{ratio:8.2f} of Spark's own sink")


if __name__ == "__main__":
    main()
