"""A run between secured clusters: each with its own configuration and the least rights, and no secret shown."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from confluent_kafka import Producer

import partwright as pw
from partwright.errors import PartwrightError
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline.settings import KafkaTarget, RunSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from partwright.pipeline.report import Report

    Go = Callable[..., Report]

pytestmark = [pytest.mark.spark, pytest.mark.broker]


class Right(NamedTuple):
    """One right of docs/rights.md."""

    operation: str
    kind: str
    name: str
    pattern: str = "literal"


RECORDS = 300
# With the two cases that need their own process, each way in which a broker may be secured.
PAIRS = [
    ("PLAIN", "SSL"),
    ("SCRAM-SHA-256", "OAUTHBEARER"),
    ("SCRAM-SHA-512", "SASL_SSL"),
    ("SASL_SSL:OAUTHBEARER", "SASL_SSL:SCRAM-SHA-256"),
]
SOURCE_READ = Right("READ", "topic", "orders")
TARGET = [Right(operation, "topic", "copied") for operation in ("CREATE", "READ", "WRITE")]
PROOF = [
    Right(operation, "topic", "copied.proof-", "prefixed")
    for operation in ("CREATE", "READ", "WRITE", "DELETE")
]


def fill(kafka: EmbeddedKafka) -> None:
    """A topic with records."""
    topics.create_topic(kafka.internal_bootstrap_servers, "orders", 5)
    settings = {"bootstrap.servers": kafka.internal_bootstrap_servers, "partitioner": "murmur2_random"}
    with Producer(settings) as producer:
        for row in range(RECORDS):
            producer.produce("orders", b"v%d" % row, key=b"k%d" % (row % 100))


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    """A source with a password over TLS, which has records, and a target that asks for a certificate."""
    with EmbeddedKafka(security="SASL_SSL:SCRAM-SHA-512") as source, EmbeddedKafka(security="mTLS") as target:
        fill(source)
        yield source, target


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "partwright", "run", "--runner", "spark", *map(str, words)]
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
    ends = topics.end_offsets(KafkaConfig.read(config, servers=target.bootstrap_servers), "copied")
    assert sum(ends.values()) == RECORDS
    # The proof's topic is gone again; the run's ledger stays.
    assert sorted(topics_of(target)) == ["__partwright_runs", "copied"]
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
    assert done.stderr.startswith(f"partwright: no Kafka answers at {source.bootstrap_servers} (")


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


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
def test_each_security_is_read_from_or_written_to(source: str, target: str, go: Go) -> None:
    with EmbeddedKafka(security=source, heap="192m") as read, EmbeddedKafka(security=target) as written:
        fill(read)
        report = go(
            source="kafka:///orders",
            source_config=KafkaConfig.read(read.command_config),
            topic="copied",
            target=KafkaTarget(KafkaConfig.read(written.client_properties(form="librdkafka"))),
            partitions=3,
            proof=False,
        )
    assert report.ok
    assert report.records == RECORDS


@pytest.fixture(scope="module")
def authorizing() -> Iterator[EmbeddedKafka]:
    """A Kafka whose users need rights, with records."""
    with EmbeddedKafka(security="ACL") as kafka:
        fill(kafka)
        yield kafka


@pytest.fixture
def as_alice(authorizing: EmbeddedKafka, go: Go) -> Iterator[Callable[[Iterable[Right]], Report]]:
    """Runs the job within one Kafka with only these rights; topics and rights are removed with the test."""
    config, inside = KafkaConfig.read(authorizing.command_config), authorizing.internal_bootstrap_servers
    given: list[Right] = []

    def run_with(rights: Iterable[Right], **settings: object) -> Report:
        for right in rights:
            authorizing.allow("alice", *right[:3], pattern=right.pattern)
            given.append(right)
        return go(
            source="kafka:///orders",
            source_config=config,
            topic="copied",
            target=KafkaTarget(config),
            **{"partitions": 3, **settings},
        )

    yield run_with
    for right in given:
        assert authorizing.revoke("alice", *right[:3], pattern=right.pattern) == 1
    for name in topics_of(authorizing):
        if name.startswith("copied"):
            topics.delete_topic(inside, name)


def test_these_rights_are_enough(as_alice: Callable[..., Report]) -> None:
    report = as_alice([SOURCE_READ, *TARGET, *PROOF])
    assert report.ok
    assert report.proof is not None
    assert report.proof.equal == RECORDS


def test_a_topic_that_is_there_needs_no_create(
    authorizing: EmbeddedKafka, as_alice: Callable[..., Report]
) -> None:
    topics.create_topic(authorizing.internal_bootstrap_servers, "copied", 3)
    assert as_alice([SOURCE_READ, *TARGET[1:]], proof=False).ok


def test_to_describe_the_source_is_not_to_read_it(as_alice: Callable[..., Report]) -> None:
    with pytest.raises(
        PartwrightError, match=r"cannot be read: Kafka gives this user no right to READ the topic 'orders'"
    ):
        as_alice([SOURCE_READ._replace(operation="DESCRIBE"), *TARGET], proof=False)


def words(right: Right) -> str:
    return f"{right.operation} {right.name}"


@pytest.mark.parametrize("missing", [SOURCE_READ, *TARGET], ids=words)
def test_one_right_fewer_is_named(missing: Right, as_alice: Callable[..., Report]) -> None:
    with pytest.raises(PartwrightError) as refused:
        as_alice([each for each in (SOURCE_READ, *TARGET) if each != missing], proof=False)
    said = f"no right to {missing.operation} the topic '{missing.name}': grant it (kafka-acls.sh"
    assert said in str(refused.value)
    if missing.operation == "WRITE":
        assert str(refused.value).endswith("; 0 of 300 records are written, the others are not")


def of_the_proof(report: Report) -> list[str]:
    return [note for note in report.notes if "proof" in note]


def test_who_may_not_make_the_proofs_topic_is_told(as_alice: Callable[..., Report]) -> None:
    report = as_alice([SOURCE_READ, *TARGET])
    assert report.ok
    assert report.proof is None
    (note,) = of_the_proof(report)
    assert note.startswith(
        "no proof by the Java producer: this user has no rights on its topic: grant CREATE, READ, WRITE and DELETE on "
        "topics that begin with copied.proof- (kafka-acls.sh --resource-pattern-type prefixed)"
    )
    # Nothing is left that the next run would have to remove.
    assert of_the_proof(as_alice([], append=True, proof=False)) == []


def test_who_may_not_keep_a_ledger_is_told(as_alice: Callable[..., Report]) -> None:
    (note,) = [each for each in as_alice([SOURCE_READ, *TARGET], proof=False).notes if "ledger" in each]
    assert "no right to WRITE the topic '__partwright_runs'" in note
    assert "--state FOLDER keeps it elsewhere" in note


@pytest.mark.parametrize("missing", PROOF[1:3], ids=words)
def test_a_proof_that_stops_says_what_is_done(missing: Right, as_alice: Callable[..., Report]) -> None:
    with pytest.raises(PartwrightError) as refused:
        as_alice([each for each in (SOURCE_READ, *TARGET, *PROOF) if each != missing])
    said = str(refused.value)
    assert said.startswith("the 300 records are written to topic 'copied' at ")
    assert f"no right to {missing.operation} the topic 'copied.proof-" in said


def test_a_proofs_topic_that_cannot_be_removed_is_named(as_alice: Callable[..., Report]) -> None:
    report = as_alice([SOURCE_READ, *TARGET, *PROOF[:3]])
    assert report.ok
    (note,) = of_the_proof(report)
    assert re.search(
        "^the topic copied.proof-[0-9a-f]{16} of the proof is still there: .* no right to DELETE", note
    )


def test_a_stream_asks_for_these_rights_and_no_other(
    authorizing: EmbeddedKafka, spark: SparkSession, tmp_path: Path
) -> None:
    from partwright.pipeline.stream_run import stream
    from partwright.spark import StreamOptions

    config, inside = KafkaConfig.read(authorizing.command_config), authorizing.internal_bootstrap_servers
    settings = RunSettings(
        source="kafka:///orders",
        source_config=config,
        topic="streamed",
        target=KafkaTarget(config),
        partitions=3,
        exactly_once=True,
    )
    checkpoint, options = str(tmp_path / "checkpoint"), StreamOptions(available_now=True)
    silent: Any = SimpleNamespace(
        step=lambda _: contextlib.nullcontext(), spark=lambda _: None, say=lambda _: None
    )
    own = [Right(each, "topic", "streamed") for each in ("CREATE", "READ", "WRITE")]
    in_transactions = Right("WRITE", "transactional_id", "partwright.", "prefixed")
    given: list[Right] = []
    try:
        while True:
            try:
                stream(settings, checkpoint, options, silent, spark)
            except PartwrightError as error:
                said = str(error)
            else:
                break
            found = re.search(r"no right to (\w+) (?:the topic|as transactional id) '([^']+)'", said)
            assert found, said
            is_id = found[2].startswith("partwright.")
            right = in_transactions if is_id else Right(found[1], "topic", found[2])
            assert right not in given, said
            given.append(right)
            authorizing.allow("alice", *right[:3], pattern=right.pattern)
        # The right to read is asked for last: what is read back was written by then, and is not written again.
        assert pw.check(f"kafka://{inside}/streamed").rows == RECORDS
    finally:
        for right in given:
            authorizing.revoke("alice", *right[:3], pattern=right.pattern)
        if "streamed" in topics_of(authorizing):
            topics.delete_topic(inside, "streamed")
    # To READ includes to DESCRIBE, which is asked for first.
    asked_for = {*given} - {Right("DESCRIBE", "topic", "streamed")}
    assert asked_for == {SOURCE_READ, *own, in_transactions}
