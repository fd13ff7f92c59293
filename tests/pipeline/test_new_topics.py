"""The topic that a run creates: as the options say, refused before Spark has work, and never altered once it exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.topics import NewTopic, differences
from partwright.pipeline.batch_run import run
from partwright.pipeline.settings import ParquetTarget, RunSettings
from partwright.pipeline.spark_runner import SparkKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright.pipeline.report import Report
    from partwright.pipeline.settings import KafkaTarget

    Go = Callable[..., Report]

broker = [pytest.mark.spark, pytest.mark.broker]


@pytest.fixture
def csv(tmp_path: Path) -> str:
    file = tmp_path / "some.csv"
    rows = "".join(f"key {number % 7},{number}\n" for number in range(40))
    file.write_text(f"id,text\n{rows}large,{'x' * 1_500_000}\n", encoding="utf-8")
    return str(file)


class TestWithABroker:
    """Each test has topics of its own."""

    pytestmark = broker

    def test_a_topic_is_made_as_asked(self, go: Go, csv: str, topic: str, to: KafkaTarget) -> None:
        configs = {"max.message.bytes": "2000000", "retention.ms": "-1"}
        report = go(
            source=csv,
            key="id",
            topic=topic,
            target=to,
            replica_assignment="1,1,1,1,1",
            topic_configs=configs,
        )
        assert (report.ok, report.n) == (True, 5)
        assert report.proof is not None, (
            "records of 1.5 MB get past the producer, to the topic and to that of the proof"
        )
        assert differences(to.config, topic, NewTopic(1, ((1,),) * 5, configs)) == []
        again = go(
            source=csv,
            key="id",
            topic=topic,
            target=to,
            append=True,
            replication_factor=1,
            topic_configs=configs,
        )
        assert (again.ok, again.n) == (True, 5)

    @pytest.mark.parametrize(
        ("settings", "sentence"),
        [
            ({"replication_factor": 3}, r"\(partition 0 has 1 replica, not 3; .*\): nothing was written"),
            (
                {"topic_configs": {"retention.ms": "7"}},
                r"is not as asked \(retention.ms is \S+, not 7\): nothing",
            ),
            ({"replica_assignment": "1,1"}, r"\(it has 5 partitions, not 2\): nothing was written"),
        ],
    )
    def test_a_topic_that_is_there_is_compared_and_not_altered(
        self, csv: str, topic: str, to: KafkaTarget, settings: dict[str, Any], sentence: str
    ) -> None:
        topics.create_topic(to.bootstrap_servers, topic, 5)
        refused(csv, topic, to, settings, sentence)
        assert topics.partition_count(to.bootstrap_servers, topic) == 5
        assert sum(topics.end_offsets(to.bootstrap_servers, topic).values()) == 0

    @pytest.mark.parametrize(
        ("settings", "sentence"),
        [
            ({"replication_factor": 3}, "replication factor of 3 cannot be reached because only 1 broker"),
            ({"replica_assignment": "1,7"}, "includes broker 7, but no such broker is registered"),
            ({"topic_configs": {"cleanup.polcy": "x"}}, "Unknown topic config name: cleanup.polcy"),
        ],
    )
    def test_the_brokers_refuse_before_spark_starts(
        self, csv: str, topic: str, to: KafkaTarget, settings: dict[str, Any], sentence: str
    ) -> None:
        refused(csv, topic, to, settings, sentence)
        assert topics.partition_count(to.bootstrap_servers, topic) is None


class _NoSpark:
    """A progress of a run that must not reach any step."""

    def step(self, name: str) -> Any:
        pytest.fail(f"the run came to the step {name!r}")

    def spark(self, spark: object) -> None:
        del spark


def refused(csv: str, topic: str, to: KafkaTarget, settings: dict[str, Any], sentence: str) -> None:
    """The run refuses before its first step, which starts Spark."""
    with pytest.raises(PartwrightError, match=sentence) as caught:
        run(RunSettings(source=csv, key="id", topic=topic, target=to, **settings), _NoSpark(), SparkKind())
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"replication_factor": 40_000},
            "--replication-factor takes a whole number from 1 to 32767, not 40000",
        ),
        ({"replica_assignment": "0:1,1", "partitions": 3}, "leave out -n 3"),
        ({"replica_assignment": "0:1,1"}, "partition 1 has 1 replica and partition 0 has 2"),
    ],
)
def test_options_that_will_not_do(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PartwrightError, match=sentence):
        RunSettings(**settings)


@pytest.mark.parametrize(
    "settings", [{"replication_factor": 1}, {"replica_assignment": "0"}, {"topic_configs": {"a": "b"}}]
)
def test_a_folder_is_no_topic(settings: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(
        PartwrightError, match=r"are for a topic, and --to parquet:.* is a folder: leave them out"
    ):
        RunSettings(target=ParquetTarget(tmp_path), **settings)
