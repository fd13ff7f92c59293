"""Runs that are killed, stopped or retried during their write, and resumed from elsewhere."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import topics
from partwright.kafka.compacted import last_values, put
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline.ledger import RUNS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.report import Report
    from partwright.pipeline.settings import KafkaTarget

    Go = Callable[..., Report]

pytestmark = [pytest.mark.spark, pytest.mark.broker]

RECORDS, N = 40_000, 7
RETRIED = Path(__file__).with_name("retried_task.py")
WRITERS = [False, True]
CUTS = ["spark.sql.files.maxPartitionBytes", "spark.sql.files.minPartitionNum"]


def records_file(path: Path, count: int, seed: int = 5) -> Path:
    """Records of a few keys, some without any, as JSON lines: Spark cuts such a file."""
    drawn = random.Random(seed)
    lines = [
        json.dumps({"id": None if drawn.random() < 0.06 else f"key {drawn.randrange(900)}", "text": number})
        for number in range(count)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def held(kafka: EmbeddedKafka, topic: str) -> int:
    try:
        return sum(topics.end_offsets(kafka.bootstrap_servers, topic).values())
    except BrokerError:
        # It does not exist yet, or its partitions have no leader yet.
        return 0


@pytest.fixture
def amid(kafka: EmbeddedKafka, topic: str) -> Callable[[subprocess.Popen[str], int], None]:
    """Waits until a process has written this many records."""

    def wait(process: subprocess.Popen[str], count: int) -> None:
        deadline = time.monotonic() + 240
        while held(kafka, topic) < count:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    return wait


def words_of(source: Path, topic: str, to: KafkaTarget, exactly_once: bool) -> list[object]:
    """A run that writes slowly: each record travels alone, or with one other."""
    return [
        *[source, "--key", "id", "--topic", topic, "-n", N, "--to", f"kafka://{to.config.servers}"],
        *[
            "--runner",
            "spark",
            "-X",
            "batch.size=150",
            "-X",
            "linger.ms=0",
            "--no-proof",
            *(["--exactly-once"] * exactly_once),
        ],
    ]


@pytest.mark.parametrize("exactly_once", WRITERS, ids=["Spark's sink", "exactly once"])
def test_stopped_then_killed_then_gone_on_with_elsewhere(
    exactly_once: bool,
    go: Go,
    started: Callable[..., subprocess.Popen[str]],
    amid: Callable[[subprocess.Popen[str], int], None],
    tmp_path: Path,
    topic: str,
    kafka: EmbeddedKafka,
    to: KafkaTarget,
    spark: SparkSession,
) -> None:
    source = records_file(tmp_path / "some.jsonl", RECORDS)
    words = words_of(source, topic, to, exactly_once)
    # Cut into several tasks; the other runs must cut it the same way.
    cut = ["--master", "local[3]", "--conf", "spark.sql.files.maxPartitionBytes=500000b"]
    first = started(*words, *cut)
    amid(first, 500)
    os.kill(first.pid, signal.SIGINT if exactly_once else signal.SIGTERM)
    out, err = first.communicate(timeout=120)
    assert (first.returncode, out) == (130 if exactly_once else 143, ""), err
    assert "interrupted while writing to" in err
    assert "Traceback" not in err
    assert "twice" not in err

    there = held(kafka, topic)
    second = started(*words, "--resume", "--master", "local[1]")
    amid(second, there + 900)
    os.killpg(second.pid, signal.SIGKILL)
    assert second.wait() == -signal.SIGKILL

    before = {name: spark.conf.get(name, None) for name in CUTS}
    settings: dict[str, Any] = {
        "source": str(source),
        "key": "id",
        "topic": topic,
        "target": to,
        "exactly_once": exactly_once,
        "proof": False,
        "resume": True,
    }
    third = go(**settings)
    assert third.checks is not None
    assert third.ok
    assert (third.checks.lost, third.checks.twice, third.checks.misplaced) == (0, 0, 0)
    assert third.written + third.already_there == third.records == RECORDS
    assert 1_000 < third.already_there < RECORDS
    assert third.resumed
    assert {name: spark.conf.get(name, None) for name in CUTS} == before
    # Those without a key are spread, and each has its place.
    shares = [part.records for part in third.partitions]
    assert sum(shares) + third.null_keys in {RECORDS, RECORDS + third.null_keys}
    assert all(0.5 < (part.null_keys or 0) * N / third.null_keys < 1.6 for part in third.partitions)

    again = go(**settings)
    assert again.ok
    assert (again.written, again.already_there) == (0, RECORDS)


@pytest.mark.parametrize("exactly_once", WRITERS, ids=["Spark's sink", "exactly once"])
def test_a_task_that_is_tried_again(
    exactly_once: bool, kafka: EmbeddedKafka, topic: str, tmp_path: Path
) -> None:
    """Spark's own sink writes the task again from its first record, which is counted. Transactions undo that."""
    source = records_file(tmp_path / "some.jsonl", 8_000)
    flag = tmp_path / "failed"
    words = [kafka.bootstrap_servers, source, topic, flag, "yes" if exactly_once else ""]
    done = subprocess.run(
        [sys.executable, RETRIED, *map(str, words)], capture_output=True, text=True, check=False, timeout=300
    )
    assert flag.exists(), done.stderr
    report = json.loads(done.stdout)
    assert (report["lost"], report["moved"]) == (0, 0)
    if exactly_once:
        assert report["ok"]
        assert report["twice"] == 0
    else:
        assert not report["ok"]
        assert report["twice"] >= 900
    assert report["written"] == 8_000


@pytest.fixture
def begun(go: Go, tmp_path: Path, topic: str, to: KafkaTarget) -> Callable[..., Report]:
    """A run of 600 records, and the same again with other settings."""
    source = records_file(tmp_path / "small.jsonl", 600)

    def once(**settings: Any) -> Report:
        given = {"source": str(source), "key": "id", "topic": topic, "target": to, "proof": False}
        return go(**given | settings)

    return once


def refused(run: Callable[..., Report], match: str, **settings: Any) -> None:
    with pytest.raises(PartwrightError, match=match) as told:
        run(resume=True, **settings)
    assert len(str(told.value).splitlines()) == 1


def test_what_cannot_go_on_is_one_sentence(
    begun: Callable[..., Report],
    refusal: Callable[..., str],
    kafka: EmbeddedKafka,
    topic: str,
    tmp_path: Path,
) -> None:
    servers, small = kafka.bootstrap_servers, tmp_path / "small.jsonl"
    # A run that was killed before its first record left nothing: --resume begins.
    first = begun(partitions=5, resume=True)
    assert first.ok
    assert (first.resumed, first.already_there) == (False, 0)
    assert "began anew" in " ".join(first.notes)
    for settings, why in [
        ({"partitions": 6}, "it was begun with -n 5, not 6"),
        ({"key": "text", "key_type": "digits"}, "it was begun with --key id, not text"),
        ({"client": "sarama"}, "it was begun with --client java, not sarama"),
        ({"exactly_once": True}, "it was begun without --exactly-once"),
        ({"limit": 7}, "it was begun without --limit 7"),
        ({"strategy": "sticky"}, "--strategy"),
        ({"state": str(tmp_path / "elsewhere")}, "no run of .* is known that could go on"),
    ]:
        refused(begun, why, **settings)
    # The command ends with code 2, before it starts Spark.
    words = [
        "run",
        "--runner",
        "spark",
        small,
        "--key",
        "id",
        "--topic",
        topic,
        "--to",
        f"kafka://{servers}",
        "--resume",
    ]
    assert "begun with -n 5, not 6" in refusal(*words, "-n", 6)
    assert "null-keys" in refusal(*words, "--null-keys", "producer")
    # A later partwright may have begun it.
    ledger = KafkaConfig.read({}, servers=servers)
    (key, plan), *_ = [each for each in last_values(ledger, RUNS).items() if topic.encode() in each[0]]
    put(ledger, RUNS, key, json.dumps(json.loads(plan) | {"version": 99}).encode())
    assert "has version 99, and this partwright reads version 2: go on with the partwright that" in refusal(
        *words
    )
    put(ledger, RUNS, key, plan)

    first = small.read_text(encoding="utf-8")
    at = small.stat().st_mtime
    small.write_text(first.replace("key 1", "key 2"), encoding="utf-8")
    refused(begun, "small.jsonl' of its source was changed since")
    # As `cp -p` would.
    os.utime(small, (at, at))
    refused(begun, "its source has other records, or the same ones in another order")
    small.write_text(first, encoding="utf-8")
    os.utime(small, (at, at))
    assert begun(resume=True).already_there == 600

    with AdminClient({"bootstrap.servers": servers}) as admin:
        admin.create_partitions([NewPartitions(topic, 9)])[topic].result(30)
    refused(begun, "its topic had 5 partitions, and has 9 now")
    topics.delete_topic(servers, topic)
    refused(begun, "is gone")
    topics.create_topic(servers, topic, 5)
    refused(begun, "was deleted since, and made again")
    assert held(kafka, topic) == 0


def test_the_ledger_in_a_folder(
    begun: Callable[..., Report], kafka: EmbeddedKafka, topic: str, tmp_path: Path, to: KafkaTarget
) -> None:
    """Without the cluster's ledger; a topic as a source; foreign records after it; null keys left to nobody."""
    source = f"{topic}.source"
    topics.create_topic(kafka.bootstrap_servers, source, 3)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    times = [1, 86_400_000, int(time.time() * 1000) - 5_000]
    for number in range(300):
        key = None if number % 7 == 0 else b"key %d" % (number % 11)
        producer.produce(source, b"%d" % number, key, partition=number % 3, timestamp=times[number % 3])
    producer.flush(30)
    before = held(kafka, RUNS)
    given: dict[str, Any] = {
        "source": f"kafka://{kafka.bootstrap_servers}/{source}",
        "source_config": to.config,
        "key": None,
        "partitions": 5,
        "exactly_once": True,
        "state": (tmp_path / "the state").as_uri(),
    }
    assert begun(**given).ok
    assert held(kafka, RUNS) == before
    # More records came into both topics; the run's own part of the source is unchanged.
    for number in range(90):
        producer.produce(source, b"later", b"key", partition=number % 3)
        producer.produce(topic, b"foreign", partition=number % 5)
    producer.flush(30)
    again = begun(**given, resume=True)
    assert (again.written, again.already_there) == (0, 300)
    assert again.checks is not None
    assert (again.checks.lost, again.checks.twice, again.checks.foreign) == (0, 0, 90)
    # What retention has removed from the source cannot be read again.
    there = held(kafka, topic)
    with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
        for done in admin.delete_records([TopicPartition(source, 1, 40)]).values():
            done.result(30)
    refused(begun, "Kafka has deleted 40 offsets of partition 1 of its source since", **given)
    assert held(kafka, topic) == there


def test_rows_that_are_missing_before_the_last_ones(
    begun: Callable[..., Report], kafka: EmbeddedKafka, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a delivery that timed out leaves them, with a foreign record among them: they come late, and are named."""
    from partwright.pipeline.spark_targets import SparkTopic

    write = SparkTopic.write

    def timed_out(self: SparkTopic, placed: DataFrame) -> None:
        write(self, placed.where("row % 10 <> 3 AND partition < 3 AND row < 500"))
        raise PartwrightError("a delivery timed out")

    with monkeypatch.context() as patch:
        patch.setattr(SparkTopic, "write", timed_out)
        with pytest.raises(PartwrightError, match=r"a delivery timed out; .*; add --resume to go on"):
            begun(partitions=5)
    there = held(kafka, topic)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    producer.produce(topic, b"foreign", partition=1)
    producer.flush(30)
    report = begun(resume=True)
    assert (report.written, report.already_there) == (600 - there, there)
    assert report.checks is not None
    assert (report.checks.lost, report.checks.twice, report.checks.misplaced) == (0, 0, 0)
    assert report.checks.foreign == 1
    assert report.checks.out_of_order > 0
    (note,) = report.notes
    assert "records were missing before the last ones in their partitions" in note
    assert 15 < int(note.split()[0]) < 45
    again = begun(resume=True)
    assert again.written == 0
    assert again.notes == ()
