"""docs/connect.md: each file there is read with its intended meaning, and the library accepts it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient

from partwright.kafka.connection import KafkaConfig
from partwright.kafka.embedded_certificates import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (Path(__file__).parents[2] / "docs" / "connect.md").read_text(encoding="utf-8")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
FILE = re.compile(r"```properties\n(.*?)```", re.DOTALL)
# By the heading above a file: how its Kafka is reached; one for each file.
MEANT = [
    ("Confluent Cloud", "SASL_SSL", "PLAIN"),
    ("Amazon MSK with SCRAM", "SASL_SSL", "SCRAM-SHA-512"),
    ("Amazon MSK with IAM", "SASL_SSL", "AWS_MSK_IAM"),
    ("Aiven", "SSL", None),
    ("Aiven", "SASL_SSL", "SCRAM-SHA-256"),
    ("Redpanda", "SASL_SSL", "SCRAM-SHA-256"),
    ("Strimzi", "SSL", None),
    ("Strimzi", "SASL_SSL", "SCRAM-SHA-512"),
    ("OAuth 2.0 (OIDC client credentials)", "SASL_SSL", "OAUTHBEARER"),
]


def files() -> Iterator[tuple[str, str]]:
    parts = HEADING.split(PAGE)
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        for file in FILE.findall(text):
            yield heading, file


def test_each_file_has_its_meaning_here() -> None:
    assert [heading for heading, _ in files()] == [heading for heading, _, _ in MEANT]


@pytest.mark.parametrize("number", range(len(MEANT)), ids=lambda at: f"{MEANT[at][0]} {at}")
def test_each_file_is_read_as_it_is_meant(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, protocol, mechanism = MEANT[number]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA" + "A" * 16)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a" * 40)
    authority = Authority.new()
    for name in ("ca.pem", "ca.crt"):
        Path(name).write_bytes(authority.pem)
    issued = authority.issue("alice", [])
    for name in ("service.cert", "service.key", "user.crt", "user.key"):
        Path(name).touch(0o600)
        Path(name).write_bytes(issued.pem)
    file = tmp_path / "client.properties"
    file.touch(0o600)
    file.write_text(list(files())[number][1], encoding="utf-8")
    config = KafkaConfig.read(file)
    assert (config.security_protocol, config.mechanism, config.notes) == (protocol, mechanism, ())
    with AdminClient({**config.librdkafka(), "log_level": 0}):
        pass
    # Java's settings mean the same.
    assert KafkaConfig.read(config.java()).librdkafka().keys() == config.librdkafka().keys()
