"""The main job from one secured cluster to another, each by its own configuration; it leaves no secret behind."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.connection import KafkaConfig

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.broker]

RECORDS = 2000


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    """A source with a password over TLS, which has records, and a target that asks for a certificate."""
    with EmbeddedKafka(security="SASL_SSL:SCRAM-SHA-512") as source, EmbeddedKafka(security="mTLS") as target:
        topics.create_topic(source.internal_bootstrap_servers, "orders", 5)
        producer = Producer({**source.client_properties(form="librdkafka"), "partitioner": "murmur2_random"})
        for row in range(RECORDS):
            producer.produce("orders", b"v%d" % row, key=b"k%d" % (row % 100))
        producer.flush()
        yield source, target


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "partwright", "run", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_each_side_has_its_own_configuration(
    clusters: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
) -> None:
    source, target = clusters
    events = tmp_path / "events"
    events.mkdir()
    logged = {"enabled": "true", "compress": "false", "dir": events.as_uri()}
    done = run(
        f"kafka://{source.bootstrap_servers}/orders",
        *("--to", f"kafka://{target.bootstrap_servers}", "--topic", "copied", "-n", 7, "--json"),
        *("--from-config", source.command_config, "--to-config", target.command_config),
        *(word for name, value in logged.items() for word in ("--conf", f"spark.eventLog.{name}={value}")),
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["ok"], answer["records"]) == (True, RECORDS)
    config = KafkaConfig.read(target.command_config)
    ends = topics.end_offsets(target.bootstrap_servers, "copied", kafka_config=config)
    assert sum(ends.values()) == RECORDS
    # The proof's topic is gone again.
    assert list(topics_of(target)) == ["copied"]
    secrets = KafkaConfig.read(source.command_config).secrets() | config.secrets()
    assert len(secrets) > 1
    written = [file for file in events.rglob("*") if file.is_file()]
    texts = [done.stdout, done.stderr, *(file.read_text(errors="replace") for file in written)]
    assert sum(map(len, texts)) > 100_000, "the event log was looked at"
    for secret in secrets:
        for text in texts:
            assert secret not in text
            assert json.dumps(secret)[1:-1] not in text


def topics_of(kafka: EmbeddedKafka) -> dict[str, object]:
    import partwright as pw

    return dict(pw.Cluster.from_kafka(kafka.internal_bootstrap_servers).topics)


def test_a_side_without_its_configuration_is_told_before_spark_starts(
    clusters: tuple[EmbeddedKafka, EmbeddedKafka],
) -> None:
    source, target = clusters
    address = f"kafka://{source.bootstrap_servers}/orders"
    done = run(address, "--to", f"kafka://{target.bootstrap_servers}", "--to-config", target.command_config)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"partwright: {source.bootstrap_servers} expects TLS: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.csv", "--from-config", "x"], "--from-config 'x' is for a SOURCE that is kafka://"),
        (["a.csv", "--to-config", "x"], "--to-config 'x' is for --to kafka://"),
        (["a.csv", "-X", "client.id=me"], "--command-config and -X are for reaching a Kafka"),
        (["kafka:///t", "--from-config", "absent"], "'absent' cannot be read"),
        (["kafka://u:hunter2@h:1/t"], "an address has no user or password"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_one_sentence(words: list[str], said: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
    assert "hunter2" not in done.stderr
