"""A part of a topic, or only the records of some keys: a run reads it as it was when the run began."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partwright as pw
from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.bounds import WHOLE, Bounds, read_offsets, read_partitions
from partwright.pipeline.batch_run import run
from partwright.pipeline.settings import ParquetTarget, RunSettings
from partwright.pipeline.source import find_source
from partwright.pipeline.spark_runner import SparkKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.report import Report
    from partwright.pipeline.settings import KafkaTarget

    Go = Callable[..., Report]

pytestmark = pytest.mark.broker

# Partition p gets p * 10 + 5 records, a second apart.
N, BEGAN = 5, 1_795_478_400_000
COUNTS = {partition: partition * 10 + 5 for partition in range(N)}
TOPIC = "backfill"


@pytest.fixture(scope="module", autouse=True)
def _there(kafka: EmbeddedKafka) -> None:
    topics.create_topic(kafka.bootstrap_servers, TOPIC, N)
    produce(kafka, COUNTS)


def produce(kafka: EmbeddedKafka, counts: dict[int, int]) -> None:
    """Records whose keys are longs, as Java's serializer writes them, and whose values name their places."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for partition, count in counts.items():
        for number in range(count):
            producer.produce(
                TOPIC,
                key=pw.encode(number % 7, "java:long"),
                value=f"{partition}-{number}",
                partition=partition,
                timestamp=BEGAN + 1000 * number,
            )
    assert producer.flush(30) == 0


def windows(to: KafkaTarget, bounds: Bounds) -> Any:
    return find_source(RunSettings(source=f"{to}/{TOPIC}", bounds=bounds)).windows


def test_each_bound_is_offsets_that_are_fixed_as_the_run_begins(to: KafkaTarget) -> None:
    assert windows(to, WHOLE) == {partition: (0, count) for partition, count in COUNTS.items()}
    since = BEGAN + 4500
    assert windows(to, Bounds(since=since)) == {each: (5, count) for each, count in COUNTS.items()}
    assert windows(to, Bounds(until=since, partitions=read_partitions("1,3-4"))) == dict.fromkeys(
        (1, 3, 4), (0, 5)
    )
    assert windows(to, Bounds(last=9)) == {each: (max(0, count - 9), count) for each, count in COUNTS.items()}
    bounds = Bounds(read_offsets("1:3,4:40", "--from-offsets"), read_offsets("4:41", "--to-offsets"))
    assert windows(to, bounds) == {0: (0, 5), 1: (3, 15), 2: (0, 25), 3: (0, 35), 4: (40, 41)}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"bounds": Bounds(since=BEGAN + 10**8)}, "has no records within these bounds, nothing was written"),
        ({"bounds": Bounds({2: 26})}, "--from-offsets has the offset 26 of partition 2, which holds 0 to 25"),
        (
            {"bounds": Bounds(None, {7: 1})},
            "--to-offsets has the offset 1 of partition 7, and the topic has partitions",
        ),
        ({"bounds": Bounds(partitions=read_partitions("2-5"))}, "--only-partitions names 5, and the topic"),
        ({"options": {"startingOffsets": "latest"}}, "--option startingOffsets is fixed by the run"),
    ],
)
def test_what_the_topic_does_not_have(to: KafkaTarget, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PartwrightError, match=sentence):
        find_source(RunSettings(source=f"{to}/{TOPIC}", **settings))


class _Growing:
    """A progress that lets the source grow just before it is read."""

    def __init__(self, kafka: EmbeddedKafka) -> None:
        self.kafka = kafka

    def step(self, name: str) -> AbstractContextManager[None]:
        import contextlib

        if name == "read and place":
            produce(self.kafka, dict.fromkeys(range(N), 3))
        return contextlib.nullcontext()

    def spark(self, spark: SparkSession) -> None:
        del spark


def values(folder: Path) -> list[str]:
    files = sorted(folder.rglob("*.parquet"))
    tables = [pq.read_table(file).column("value").cast(pa.binary()) for file in files]
    return sorted(row.decode() for table in tables for row in table.to_pylist())


def test_what_comes_meanwhile_is_in_nothing(
    spark: SparkSession, to: KafkaTarget, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    """The report lists the offsets that were read, so the same can be read again."""
    before = windows(to, WHOLE)
    bounds = Bounds(since=BEGAN + 2000, partitions=read_partitions("0,3"))
    settings = RunSettings(
        source=f"{to}/{TOPIC}", topic="t", partitions=7, target=ParquetTarget(tmp_path / "out"), bounds=bounds
    )
    report = run(settings, _Growing(kafka), SparkKind(spark))
    assert report.ok
    read = {0: (2, before[0][1]), 3: (2, before[3][1])}
    offsets = sum(end - begin for begin, end in read.values())
    assert json.loads(json.dumps(report.to_dict()))["read"] == {
        "records": offsets,
        "of": sum(end for _, end in before.values()),
        "passed": offsets,
        "whole": False,
        "bounds": {"since": BEGAN + 2000, "partitions": [[0, 0], [3, 3]]},
        "windows": {str(partition): list(window) for partition, window in read.items()},
    }
    assert len(values(tmp_path / "out")) == offsets
    assert windows(to, WHOLE)[0][1] == before[0][1] + 3
    # Once more from the offsets of the report, whatever the topic holds by now.
    source = find_source(settings).within(read)
    assert source.windows == read
    assert source.passed == offsets


@pytest.mark.spark
def test_the_records_of_some_keys_of_a_topic(go: Go, to: KafkaTarget, tmp_path: Path) -> None:
    """A topic's keys are bytes; the key type says how the keys that you name become bytes."""
    bounds = Bounds(dict.fromkeys(COUNTS, 0), dict(COUNTS))
    out = tmp_path / "out"
    report = go(
        source=f"{to}/{TOPIC}", topic="t", partitions=N, target=ParquetTarget(out), key_type="java:long",
        only_keys=("3", "5"), bounds=bounds,
    )  # fmt: skip
    assert report.ok
    wanted = [f"{each}-{at}" for each, count in COUNTS.items() for at in range(count) if at % 7 in {3, 5}]
    assert values(out) == sorted(wanted)
    assert report.read is not None
    assert (report.read["records"], report.read["only_keys"], report.read["whole"]) == (len(wanted), 2, False)
    with pytest.raises(PartwrightError, match="has no record with one of these keys, nothing was written"):
        go(source=f"{to}/{TOPIC}", topic="t", target=ParquetTarget(tmp_path / "no"), only_keys=("3",))


@pytest.mark.spark
def test_the_records_of_some_keys_of_a_file(go: Go, tmp_path: Path) -> None:
    """After the header of a schema registry, whatever the schema's ID; the first ones of the remaining records."""
    keys = [bytes([0, 0, 0, 0, number % 3]) + b"k%d" % (number % 4) for number in range(40)]
    texts = [f"{number:02}" for number in range(40)]
    pq.write_table(
        pa.table({"id": pa.array([*keys, None]), "text": [*texts, "null"]}), tmp_path / "in.parquet"
    )
    out = tmp_path / "out"
    report = go(
        source=str(tmp_path / "in.parquet"), key="id", value="text", topic="t", partitions=N, limit=7,
        target=ParquetTarget(out), key_type="confluent:strip-id", only_keys=("k2", "k3"),
    )  # fmt: skip
    assert report.ok
    assert report.read is None
    assert values(out) == [text for number, text in enumerate(texts) if number % 4 in {2, 3}][:7]
