"""Every command and function that reaches a Kafka, with each security, with Java's settings and with librdkafka's."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

import partwright as pw
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.connection.properties import properties_text
from partwright.kafka.groups import any_group, coordinator
from partwright.kafka.records import TopicRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Told = Callable[..., tuple[int, str, str]]

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]

MODES = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "SSL", "mTLS", "SASL_SSL", "OAUTHBEARER"]
RECORDS, N = 300, 3
PATIENCE_S = 30.0


@pytest.fixture(scope="module", params=MODES)
def kafka(request: pytest.FixtureRequest) -> Iterator[EmbeddedKafka]:
    """Two topics of the same keys, and a group of one member that has read one of them."""
    with EmbeddedKafka(security=request.param, heap="192m") as running:
        inside = running.internal_bootstrap_servers
        for topic in ("orders", "users"):
            topics.create_topic(inside, topic, N)
            with Producer({"bootstrap.servers": inside, "partitioner": "murmur2_random"}) as producer:
                for row in range(RECORDS):
                    producer.produce(topic, b"v", key=b"key %d" % row)
        member = Consumer(
            {"bootstrap.servers": inside, "group.id": "billing", "auto.offset.reset": "earliest"}
        )
        member.subscribe(["orders"])
        while not member.assignment():
            member.consume(1, 0.1)
        member.commit(offsets=[TopicPartition("orders", each, 5) for each in range(N)], asynchronous=False)
        yield running
        member.close()


@pytest.fixture(params=["client.properties", "librdkafka.properties"])
def file(kafka: EmbeddedKafka, request: pytest.FixtureRequest) -> Path:
    """The lines that the broker's starter prints, in both forms."""
    return kafka.folder / request.param


def answered(told: Told, *words: object) -> dict[str, object]:
    """The output of a command that has an answer and no complaint."""
    code, out, err = told(*words, "--json")
    assert (code, err) == (0, "")
    found: dict[str, object] = json.loads(out)
    return found


def test_which_asks_how_many_partitions_there_are(kafka: EmbeddedKafka, file: Path, told: Told) -> None:
    topic = f"kafka://{kafka.bootstrap_servers}/orders"
    asked = ["which", "key 7", "--topic", topic, "--command-config", file]
    assert answered(told, *asked)["n"] == N
    # The printed commands do not contain how such a Kafka is reached, and the user is told so.
    protocol = kafka.client_properties()["security.protocol"]
    words = " ".join(told(*asked)[1].split())
    assert f"This Kafka needs {protocol}: give each command its configuration too" in words


def test_every_record_is_read(kafka: EmbeddedKafka, file: Path, told: Told) -> None:
    del kafka
    # Without a host, the file's servers are used.
    read = answered(told, "check", "kafka:///orders", "--command-config", file)
    assert (read["ok"], read["rows"], read["n"]) == (True, RECORDS, N)
    found = answered(told, "fingerprint", "kafka:///orders", "--command-config", file)
    assert (found["verdict"], found["rows"]) == ("one-writer", RECORDS)
    moved = answered(told, "resize", "kafka:///orders", "--to", 6, "--command-config", file)
    assert (moved["from"], moved["rows"]) == (N, RECORDS)
    met = answered(told, "copartition", "kafka:///orders", "kafka:///users", "--command-config", file)
    assert met["ok"]


def test_the_group_is_asked_for(kafka: EmbeddedKafka, file: Path, told: Told) -> None:
    where = answered(
        told, *["coordinator", "billing", "--broker", kafka.bootstrap_servers, "--command-config", file]
    )
    offsets = where["offsets"]
    assert isinstance(offsets, list)
    assert {each["topic"] for each in offsets} == {"orders"}
    found = answered(
        told,
        *["assign", f"kafka://{kafka.bootstrap_servers}", "--group", "billing", "--compare"],
        *["--command-config", file],
    )
    assert found


def test_doctor_goes_the_whole_way(kafka: EmbeddedKafka, file: Path, told: Told) -> None:
    found = answered(told, "doctor", "--topic", "orders", "--group", "billing", "--command-config", file)
    steps = found["steps"]
    assert isinstance(steps, list)
    names = ["configuration", "resolve", "connect", "TLS", "Kafka", "SASL"]
    if "SSL" not in kafka.process.settings.security.security.protocol:
        names.remove("TLS")
    assert [each["name"] for each in steps] == [*names, "log in", "broker", "topic", "read", "group"]
    assert steps[-1]["said"] == "stable, 1 member"


def test_functions_take_a_file_or_a_dict(kafka: EmbeddedKafka, file: Path) -> None:
    given = kafka.client_properties(form="librdkafka" if file.name.startswith("lib") else "java")
    for config in (given, file, str(file)):
        cluster = pw.Cluster.from_kafka(None, ["orders"], kafka_config=config)
        assert len(cluster.topics["orders"]) == N
        assert topics.partition_count(config, "orders") == N
    server = kafka.bootstrap_servers
    assert topics.cluster_id(KafkaConfig.read(file, servers=server))
    assert sum(topics.end_offsets(KafkaConfig.read(file, servers=server), "orders").values()) == RECORDS
    assert sum(topics.beginning_offsets(KafkaConfig.read(file, servers=server), "orders").values()) == 0
    assert len(pw.Cluster.from_kafka(server, kafka_config=file).topics) >= 2
    assert coordinator(KafkaConfig.read(file, servers=server), "billing")["leader"]["id"] == 1
    assert len(any_group(KafkaConfig.read(file, servers=server), "billing")["members"]) == 1
    assert (
        sum(
            len(each.keys)
            for each in TopicRecords(KafkaConfig.read(file, servers=server), "orders").batches()
        )
        == RECORDS
    )
    name = f"made-{file.stem}"
    topics.create_topic(KafkaConfig.read(file, servers=server), name, 2)
    topics.delete_topic(KafkaConfig.read(file, servers=server), name)
    assert topics.partition_count(KafkaConfig.read(file, servers=server), name) is None


def test_single_settings_and_the_environment_do_as_well(
    kafka: EmbeddedKafka, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = kafka.client_properties()
    single = [word for name, value in given.items() for word in ("-X", f"{name}={value}")]
    code, out, err = told("check", "kafka:///orders", *single, "--json")
    assert (code, json.loads(out)["rows"]) == (0, RECORDS)
    warned = "a secret given by -X is in the process list: use --command-config FILE\n"
    assert err == (warned if "sasl.jaas.config" in given else "")
    # One of them may make sense together with the file's settings.
    protocol = f"security.protocol={given['security.protocol'].lower()}"
    read = answered(
        told, "check", "kafka:///orders", "-X", protocol, "--command-config", kafka.command_config
    )
    assert read["rows"] == RECORDS
    monkeypatch.setenv("PARTWRIGHT_COMMAND_CONFIG", str(kafka.command_config))
    assert answered(told, "check", "kafka:///orders")["rows"] == RECORDS
    assert pw.Cluster.from_kafka(None, ["orders"]).topics.keys() == {"orders"}


def with_jks(kafka: EmbeddedKafka, folder: Path) -> Path:
    """A file of the client's settings with JKS stores, which Java's keytool makes of the PKCS12 ones."""
    settings = kafka.client_properties(stores="PKCS12")
    for store in ("truststore", "keystore"):
        if (source := settings.get(f"ssl.{store}.location")) is not None:
            target, password = str(folder / f"{store}.jks"), settings[f"ssl.{store}.password"]
            convert = [
                "keytool",
                "-importkeystore",
                "-noprompt",
                "-srckeystore",
                source,
                "-srcstorepass",
                password,
            ]
            convert += ["-destkeystore", target, "-deststoretype", "JKS", "-deststorepass", password]
            subprocess.run(convert, check=True, capture_output=True)
            settings |= {f"ssl.{store}.location": target, f"ssl.{store}.type": "JKS"}
    file = folder / "client-jks.properties"
    file.touch(0o600)
    file.write_text(properties_text(settings), encoding="ascii")
    return file


def test_every_kind_of_store_does_as_well(kafka: EmbeddedKafka, told: Told, tmp_path: Path) -> None:
    if not kafka.process.settings.security.security.encrypted:
        pytest.skip("there are no certificates")
    for file in (kafka.folder / "client-pkcs12.properties", with_jks(kafka, tmp_path)):
        assert answered(told, "check", "kafka:///orders", "--command-config", file)["rows"] == RECORDS
        assert answered(told, "doctor", "--topic", "orders", "--command-config", file)["ok"]


def test_what_nobody_may_know_is_asked_without_settings(
    kafka: EmbeddedKafka, refusal: Callable[..., str], told: Told
) -> None:
    said = refusal("check", f"kafka://{kafka.bootstrap_servers}/orders")
    _, command, then = said.split("`")
    assert then == " names the step that fails\n"
    code, out, _ = told(*command.split()[1:])
    assert (code, "set security.protocol to" in " ".join(out.split())) == (1, True)
