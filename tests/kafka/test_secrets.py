"""A secret in any setting is in nothing that a command prints, writes, logs or raises."""

from __future__ import annotations

import json
import logging
import traceback
from typing import TYPE_CHECKING, NamedTuple, cast

import pytest
from confluent_kafka import Producer

import partwright as pw
from partwright.cli import main
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    import builtins
    from pathlib import Path

    from confluent_kafka import KafkaError

SECRET = "s3cr3t-Hunter2&Co"  # noqa: S105 - it is no secret
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
SASL = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}
TOKENS = {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}
OIDC = {
    **TOKENS,
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.token.endpoint.url": "http://127.0.0.1:9/token",
}
KEY = f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----"
PLANTED: dict[str, dict[str, str]] = {
    "sasl.password": {**SASL, "sasl.username": "alice", "sasl.password": SECRET},
    "a password without a user": {**SASL, "sasl.password": SECRET},
    "sasl.jaas.config": {
        **SASL,
        "sasl.jaas.config": f'{PLAIN} required username="alice" password="{SECRET}";',
    },
    "a text of JAAS that does not end": {**SASL, "sasl.jaas.config": f'{PLAIN} required password="{SECRET}'},
    "a module that there is not": {**SASL, "sasl.jaas.config": f'no.Module required password="{SECRET}";'},
    "another mechanism's module": {
        **SASL,
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.jaas.config": f'{PLAIN} required username="a" password="{SECRET}";',
    },
    "both spellings": {
        **SASL,
        "sasl.username": "alice",
        "sasl.password": SECRET + "1",
        "sasl.jaas.config": f'{PLAIN} required username="alice" password="{SECRET}";',
    },
    "sasl.oauthbearer.client.secret": {**OIDC, "sasl.oauthbearer.client.secret": SECRET},
    "a client's secret in JAAS": {
        **TOKENS,
        "sasl.oauthbearer.token.endpoint.url": "http://127.0.0.1:9/token",
        "sasl.jaas.config": f'{OAUTH} required clientId="me" clientSecret="{SECRET}";',
    },
    "ssl.key.password": {"security.protocol": "SSL", "ssl.key.password": SECRET},
    "ssl.key.pem": {"security.protocol": "SSL", "ssl.key.pem": KEY, "ssl.certificate.pem": "none"},
    "ssl.keystore.key": {"security.protocol": "SSL", "ssl.keystore.type": "PEM", "ssl.keystore.key": KEY},
    "ssl.keystore.password": {
        "security.protocol": "SSL",
        "ssl.keystore.location": "/absent/store.p12",
        "ssl.keystore.password": SECRET,
    },
    "ssl.truststore.password": {
        "security.protocol": "SSL",
        "ssl.truststore.location": "/absent/store.p12",
        "ssl.truststore.password": SECRET,
    },
}
COMMANDS = {
    "check": ["check", "kafka://127.0.0.1:9/orders"],
    "fingerprint": ["fingerprint", "kafka://127.0.0.1:9/orders", "--json"],
    "which": ["which", "k", "--topic", "kafka://127.0.0.1:9/orders"],
    "coordinator": ["coordinator", "billing", "--broker", "127.0.0.1:9"],
    "assign": ["assign", "kafka://127.0.0.1:9", "--group", "billing"],
    "doctor": ["doctor", "--bootstrap", "127.0.0.1:9", "--json"],
    "doctor in words": ["doctor", "--bootstrap", "127.0.0.1:9", "--topic", "orders"],
}


def parts(text: str) -> list[str]:
    """The parts of a text that look like the secret, however they are escaped."""
    return [line for line in text.splitlines() if "s3cr3t" in line or "Hunter2" in line]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("planted", PLANTED)
def test_no_command_says_a_secret(
    planted: str,
    command: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    file = tmp_path / "client.properties"
    escaped = {name: value.replace("\n", "\\n") for name, value in PLANTED[planted].items()}
    file.write_text("".join(f"{name}={value}\n" for name, value in escaped.items()), encoding="utf-8")
    file.chmod(0o600)
    with caplog.at_level(logging.DEBUG), pytest.raises(SystemExit) as ended:
        main([*COMMANDS[command], "--command-config", str(file)])
    assert ended.value.code in {1, 2}
    out, err = capfd.readouterr()
    assert out + err != ""
    assert parts(out + err + caplog.text) == []
    assert "Traceback" not in err


@pytest.mark.parametrize("planted", PLANTED)
def test_no_error_and_no_part_of_a_configuration_shows_a_secret(planted: str) -> None:
    try:
        config = KafkaConfig.read(PLANTED[planted], servers="127.0.0.1:9")
        said = [
            repr(config),
            str(config),
            f"{config}",
            repr(vars(config)),
            *config.notes,
        ]
        pw.Cluster.from_kafka(None, kafka_config=config, timeout=1)
    except pw.PartwrightError as error:
        said = ["".join(traceback.format_exception(error)), repr(error), repr(vars(error))]
    assert parts("\n".join(said)) == []


@pytest.mark.parametrize("given", [f"sasl.password:{SECRET}", SECRET, f"={SECRET}", f" ={SECRET}"])
def test_what_is_no_pair_on_the_command_line_is_not_shown(
    given: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", "kafka://127.0.0.1:9/orders", "-X", given])
    assert ended.value.code == 2
    out, err = capfd.readouterr()
    assert "-X takes NAME=VALUE, not what was given (not shown: it may be a secret)" in " ".join(err.split())
    assert parts(out + err) == []


class Denied(NamedTuple):
    """An event of librdkafka: a broker refuses our login."""

    told: str

    def name(self) -> builtins.str:
        return "_AUTHENTICATION"

    def str(self) -> builtins.str:
        return self.told


BEFORE = "sasl_plaintext://127.0.0.1:9092/bootstrap: "
LATER = " (after 5ms in state AUTH_REQ)"
SCRAM = (
    "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"
)


@pytest.mark.parametrize("password", ["password", "e", "Authentication failed", "in state"])
@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (
            "SASL authentication error: Authentication failed: Invalid username or password",
            "Invalid username or password",
        ),
        (f"SASL authentication error: {SCRAM}", SCRAM),
    ],
)
def test_a_weak_password_is_not_read_out_of_a_brokers_own_words(
    told: str, reason: str, password: str
) -> None:
    settings = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "alice"}
    troubles = Troubles(KafkaConfig.read({**settings, "sasl.password": password}, servers="127.0.0.1:9"))
    troubles.note(cast("KafkaError", Denied(f"{BEFORE}{told}{LATER}")))
    with pytest.raises(pw.BrokerError) as refused:
        troubles.check()
    assert str(refused.value).startswith(
        f"Kafka at 127.0.0.1:9 refuses the user ({reason}): check sasl.username"
    )


def test_other_words_of_a_broker_go_without_the_password() -> None:
    settings = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "alice"}
    troubles = Troubles(KafkaConfig.read({**settings, "sasl.password": SECRET}, servers="127.0.0.1:9"))
    troubles.note(cast("KafkaError", Denied(f"{BEFORE}SASL authentication error: not with {SECRET}{LATER}")))
    with pytest.raises(pw.BrokerError, match=r"refuses the user \(not with \[hidden\]\): check"):
        troubles.check()


def test_a_secret_on_the_command_line_is_warned_of(capfd: pytest.CaptureFixture[str]) -> None:
    words = [word for name, value in PLANTED["sasl.password"].items() for word in ("-X", f"{name}={value}")]
    with pytest.raises(SystemExit) as ended:
        main(["check", "kafka://127.0.0.1:9/orders", *words])
    assert ended.value.code == 2
    _, err = capfd.readouterr()
    assert err.count("process list") == 1
    assert parts(err) == []


@pytest.mark.broker
def test_neither_an_answer_nor_its_page_has_a_secret(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with EmbeddedKafka(security="SASL_SSL") as kafka:
        topics.create_topic(kafka.internal_bootstrap_servers, "orders", 3)
        settings = kafka.client_properties(form="librdkafka")
        with Producer({**settings, "partitioner": "murmur2_random"}) as producer:
            for row in range(100):
                producer.produce("orders", b"v", b"%d" % row)
        secrets = KafkaConfig.read(settings).secrets()
        assert settings["sasl.password"] in secrets
        words = [word for name, value in settings.items() for word in ("-X", f"{name}={value}")]
        page = tmp_path / "check.html"
        for command in (["check", "--json", "--report", str(page)], ["fingerprint"], ["resize", "--to", "6"]):
            with pytest.raises(SystemExit) as ended:
                main([command[0], "kafka:///orders", *command[1:], *words])
            assert ended.value.code == 0
            out, err = capfd.readouterr()
            for secret in secrets:
                assert secret not in out + err
        text = page.read_text(encoding="utf-8")
        for secret in secrets:
            assert secret not in text
            assert json.dumps(secret)[1:-1] not in text
