"""Changes that others make to a topic during a run, and remains of earlier runs: each is noticed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.pipeline.journal import journal_of
from partwright.pipeline.spark_targets import SparkTopic
from partwright.report import document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.report import Report
    from partwright.pipeline.settings import KafkaTarget

    Go = Callable[..., Report]

pytestmark = [pytest.mark.spark, pytest.mark.broker]

RECORDS = 60


@pytest.fixture
def run(go: Go, tmp_path: Path, topic: str, to: KafkaTarget) -> Callable[..., Report]:
    """Runs 60 records with 20 keys into the topic."""
    file = tmp_path / "some.csv"
    rows = "".join(f"key {number % 20},{number}\n" for number in range(RECORDS))
    file.write_text(f"id,text\n{rows}", encoding="utf-8")
    return lambda **settings: go(
        **{"source": str(file), "key": "id", "topic": topic, "target": to} | settings
    )


def grow(kafka: EmbeddedKafka, topic: str, n: int) -> None:
    with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
        admin.create_partitions([NewPartitions(topic, n)])[topic].result(30)


def produce(kafka: EmbeddedKafka, topic: str, count: int) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for number in range(count):
        producer.send(topic, key=b"foreign", value=b"%d" % number)
    producer.close()


def held(kafka: EmbeddedKafka, topic: str) -> int:
    return sum(topics.end_offsets(kafka.bootstrap_servers, topic).values())


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], Any]], None]:
    """Lets something happen right before a step of the target topic, and of no other topic."""

    def first(step: str, happens: Callable[[], Any]) -> None:
        real = getattr(SparkTopic, step)
        left = [happens]

        def changed(self: SparkTopic, *given: Any, **named: Any) -> Any:
            if left and ".proof-" not in self.topic:
                left.pop()()
            return real(self, *given, **named)

        monkeypatch.setattr(SparkTopic, step, changed)

    return first


def said(report: Report) -> str:
    return "\n".join(verdict.text for verdict in document(report).verdicts)


def test_more_partitions_before_the_write(
    run: Go, topic: str, kafka: EmbeddedKafka, before: Callable[..., None]
) -> None:
    topics.create_topic(kafka.bootstrap_servers, topic, 4)
    before("prepare", lambda: grow(kafka, topic, 6))
    with pytest.raises(PartwrightError, match="had 4 partitions when the run began and has 6 partitions now"):
        run()
    assert held(kafka, topic) == 0
    assert run().n == 6


def test_a_topic_that_is_made_meanwhile(
    run: Go, topic: str, kafka: EmbeddedKafka, before: Callable[..., None]
) -> None:
    before("prepare", lambda: topics.create_topic(kafka.bootstrap_servers, topic, 5))
    with pytest.raises(PartwrightError, match="was not there when the run began and has 5 partitions now"):
        run(partitions=4)
    assert held(kafka, topic) == 0
    before("prepare", lambda: topics.delete_topic(kafka.bootstrap_servers, topic))
    with pytest.raises(
        PartwrightError, match="had 5 partitions when the run began and has been deleted since"
    ):
        run()
    assert topics.partition_count(kafka.bootstrap_servers, topic) is None


@pytest.mark.parametrize("step", ["write", "read"])
def test_more_partitions_after_the_write(
    step: str, run: Go, topic: str, kafka: EmbeddedKafka, before: Callable[..., None]
) -> None:
    """Whenever it happens after the last look before the write: all is written, and the topic has another n."""
    topics.create_topic(kafka.bootstrap_servers, topic, 4)
    before(step, lambda: grow(kafka, topic, 6))
    report = run()
    assert (report.ok, report.n, report.n_now) == (False, 4, 6)
    assert report.checks is not None
    assert report.checks.ok, "all is where it was asked for"
    assert report.proof is None
    assert (
        "all 60 records were placed and written for 4 partitions, and the topic has 6 by now: partitions were added "
        "during or after the write, and clients put keys elsewhere from now on"
    ) in said(report)
    assert json.loads(json.dumps(report.to_dict()))["n_now"] == 6


@pytest.mark.parametrize(("step", "check"), [("read", True), ("partitions_now", False)])
def test_a_topic_that_is_made_anew_after_the_write(
    step: str, check: bool, run: Go, topic: str, kafka: EmbeddedKafka, before: Callable[..., None]
) -> None:
    """Also if nobody reads back, what was written is not called right."""

    def make_anew() -> None:
        topics.delete_topic(kafka.bootstrap_servers, topic)
        topics.create_topic(kafka.bootstrap_servers, topic, 4)

    before(step, make_anew)
    report = run(partitions=4, check=check)
    assert (report.ok, report.n_now, report.proof) == (False, 0, None)
    assert report.checks is None or report.checks.lost == RECORDS
    assert "the topic that 60 records were written to is gone" in said(report)


def test_records_that_came_before_the_write(
    run: Go, topic: str, kafka: EmbeddedKafka, before: Callable[..., None]
) -> None:
    topics.create_topic(kafka.bootstrap_servers, topic, 4)
    before("prepare", lambda: produce(kafka, topic, 7))
    with pytest.raises(
        PartwrightError, match="was empty when the run began and holds 7 records now"
    ) as refused:
        run()
    assert "go on with that run by --resume, take another --topic, or --append" in str(refused.value)
    assert held(kafka, topic) == 7
    assert run(append=True).ok


def test_two_runs_from_two_state_folders(
    run: Go,
    topic: str,
    kafka: EmbeddedKafka,
    before: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """No lock knows of both: the one that writes later refuses, and the one that has begun sees the other's records."""
    other: list[Report] = []

    def once() -> None:
        with monkeypatch.context() as patch:
            patch.setenv("PARTWRIGHT_STATE", str(tmp_path / "another state"))
            other.append(run(append=True))

    before("prepare", once)
    with pytest.raises(PartwrightError, match="was not there when the run began and holds 60 records now"):
        run()
    assert other.pop().ok
    before("write", once)
    report = run(append=True)
    assert not report.ok
    assert other.pop().ok
    assert report.checks is not None
    assert (report.checks.foreign, report.checks.other_runs, report.checks.lost) == (60, 60, 0)
    assert (
        "another run of partwright wrote them to the topic at the same time: the source may be there twice"
        in said(report)
    )
    before("write", lambda: produce(kafka, topic, 3))
    report = run(append=True)
    assert "checked 60 records: 3 not of this run" in said(report)
    assert "another producer wrote to the topic at the same time" in said(report)


def test_what_a_killed_run_left_is_named_and_removed(
    run: Go, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    left = f"{topic}.proof-0011223344556677"
    topics.create_topic(kafka.bootstrap_servers, left, 2)
    with journal_of(str(SparkTopic(to.config, topic))) as journal:
        journal.begin("0011223344556677", RECORDS)
        journal.proof(left)
    report = run()
    assert report.ok
    assert f"the topic {left}, which an earlier run left behind as it was killed, was removed" in report.notes
    assert report.steps[0].name == f"remove the topic {left}, left behind by an earlier run"
    assert topics.partition_count(kafka.bootstrap_servers, left) is None
    assert not run(append=True).notes


def test_a_damaged_note_is_one_sentence(run: Go, tmp_path: Path) -> None:
    assert run().ok
    (file,) = (tmp_path / "state" / "runs").glob("*.json")
    file.write_text('{"a":1}')
    with pytest.raises(
        PartwrightError, match=r"holds 60 records already \(.*is damaged \('run' is missing\): delete it"
    ) as e:
        run()
    assert str(file) in str(e.value)
    assert len(str(e.value).splitlines()) == 1
    again = run(append=True)
    assert again.ok
    assert any(str(file) in note for note in again.notes)
    assert not run(append=True).notes


@pytest.mark.parametrize("packed", [False, True])
def test_a_csv_that_ends_within_quotes(
    packed: bool, run: Go, tmp_path: Path, kafka: EmbeddedKafka, topic: str
) -> None:
    import gzip

    text = b'id,text\na,"b"\nd,"e\nf,g\n'
    file = tmp_path / f"a b.csv{'.gz' if packed else ''}"
    file.write_bytes(gzip.compress(text) if packed else text)
    with pytest.raises(PartwrightError) as refused:
        run(source=str(file))
    assert str(refused.value) == (
        f"the quote that is opened in line 3 of {str(file)!r} is not closed: look for a quote at the start of a field"
    )
    assert topics.partition_count(kafka.bootstrap_servers, topic) is None
    assert run(source=str(file), options={"quote": "'"}).records == 3
