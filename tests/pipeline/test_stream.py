"""`partwright stream` in the tests' session: what its options do to the records."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest

from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.pipeline.settings import RunSettings
from partwright.pipeline.stream_run import stream
from partwright.spark import StreamOptions

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.settings import KafkaTarget

pytestmark = [pytest.mark.spark, pytest.mark.broker]


class Silent:
    """A progress that nobody sees."""

    def step(self, name: str) -> AbstractContextManager[None]:
        del name
        return contextlib.nullcontext()

    def spark(self, spark: SparkSession) -> None:
        del spark

    def say(self, sentence: str) -> None:
        del sentence


def test_a_folders_timestamps_and_the_strategys_seed(
    spark: SparkSession, kafka: EmbeddedKafka, to: KafkaTarget, topic: str, tmp_path: Path
) -> None:
    """`--timestamp` names a column of files too, and each seed draws its own partitions."""
    (inbox := tmp_path / "inbox").mkdir()
    rows = [
        {"id": f"key {number}", "at": 1_700_000_000_000 + number, "text": str(number)}
        for number in range(200)
    ]
    (inbox / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    places = []
    for turn, seed in enumerate((1, 1, 2)):
        name = f"{topic}-{turn}"
        settings = RunSettings(
            source=str(inbox),
            key="id",
            value="text",
            topic=name,
            partitions=5,
            target=to,
            exactly_once=True,
            timestamp="at",
            strategy="random",
            seed=seed,
        )
        report = stream(settings, str(tmp_path / name), StreamOptions(available_now=True), Silent(), spark)
        assert (report.ok, report.records, report.written) == (True, 200, 200)
        read = spark.read.format("kafka").option("kafka.bootstrap.servers", kafka.bootstrap_servers)
        read = read.option("subscribe", name).option("kafka.isolation.level", "read_committed")
        found = (
            read.load()
            .selectExpr("string(value) AS text", "unix_millis(timestamp) AS at", "partition")
            .collect()
        )
        assert {row.text: row.at for row in found} == {row["text"]: row["at"] for row in rows}
        places.append({row.text: row.partition for row in found})
    assert places[0] == places[1] != places[2]


def test_a_topic_is_not_written_to_itself(
    spark: SparkSession, kafka: EmbeddedKafka, to: KafkaTarget, topic: str, tmp_path: Path
) -> None:
    """Each batch would be the source of the next; the host's other name is the same cluster, too."""
    topics.create_topic(kafka.bootstrap_servers, topic, 2)
    for servers in (kafka.bootstrap_servers, kafka.bootstrap_servers.replace("127.0.0.1", "localhost")):
        settings = RunSettings(source=f"kafka://{servers}/{topic}", target=to, append=True)
        options = StreamOptions(available_now=True)
        with pytest.raises(PartwrightError, match="into itself would read its own records without an end"):
            stream(settings, str(tmp_path / "checkpoint"), options, Silent(), spark)
