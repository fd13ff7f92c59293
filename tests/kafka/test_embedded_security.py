"""The embedded Kafka with each security: who may use it, who may not, and that nothing shows its secrets."""

from __future__ import annotations

import secrets
import subprocess
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import psutil
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from partwright.errors import BrokerError
from partwright.kafka import EmbeddedKafka, embedded_security
from partwright.kafka.embedded_certificates import SERVER_NAMES, Authority
from partwright.kafka.embedded_security import ADMIN, USER, security_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]

# Enough for a machine on which other tests run too.
PATIENCE_S = 60.0
SECURED = security_names()[1:]
WITH_PASSWORDS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "SASL_SSL", "SASL_SSL:SCRAM-SHA-512", "ACL"]
ENCRYPTED = ["SSL", "mTLS", "SASL_SSL"]
# librdkafka writes all its messages to stderr.
QUIET: dict[str, str | int] = {"log_level": 0}


@pytest.fixture(scope="module", params=SECURED)
def kafka(request: pytest.FixtureRequest) -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(security=request.param) as running:
        yield running


def user_of(kafka: EmbeddedKafka) -> str:
    """The users that may do something from the start."""
    return ADMIN if kafka.security == "ACL" else USER


def settings_of(kafka: EmbeddedKafka, **given: str) -> dict[str, str | int]:
    user = given.pop("user", user_of(kafka))
    return {**kafka.client_properties(user, form="librdkafka"), **QUIET, **given}


def new_topic(kafka: EmbeddedKafka) -> str:
    name = f"topic-{secrets.token_hex(4)}"
    with AdminClient({"bootstrap.servers": kafka.internal_bootstrap_servers, **QUIET}) as admin:
        for made in admin.create_topics([NewTopic(name, 1, 1)]).values():
            made.result(PATIENCE_S)
    return name


def write(settings: dict[str, str | int], topic: str) -> None:
    with Producer(settings) as producer:
        producer.produce(topic, b"value", b"key")
        assert producer.flush(PATIENCE_S) == 0


def first_of(settings: dict[str, str | int], topic: str) -> Message:
    """The first record of a topic, or the first error."""
    with Consumer({**settings, "group.id": "readers", "enable.auto.commit": False}) as consumer:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        deadline = time.monotonic() + PATIENCE_S
        while True:
            found = consumer.poll(1)
            # A reader that commits nothing needs no right on groups.
            error = found.error() if found is not None else None
            if found is not None and (error is None or error.name() != "GROUP_AUTHORIZATION_FAILED"):
                return found
            assert time.monotonic() < deadline, "nothing came"


def reasons(settings: dict[str, str | int]) -> set[str]:
    """Why a client is refused: the names of the errors until one says that no broker is left."""
    found: set[str] = set()

    def take(error: KafkaError) -> None:
        found.add(error.name())

    with AdminClient({**settings, "error_cb": take}) as client:  # type: ignore[dict-item]
        deadline = time.monotonic() + PATIENCE_S
        while "_ALL_BROKERS_DOWN" not in found:
            client.poll(0.1)
            assert time.monotonic() < deadline, "it is not refused"
    return found - {"_ALL_BROKERS_DOWN"}


def secrets_of(kafka: EmbeddedKafka) -> list[str]:
    security = kafka.process.settings.security
    keys = [
        text.decode() for name, text in security.stores.items() if name.endswith(".pem") and b" KEY" in text
    ]
    return [*security.passwords.values(), security.store_password, *(key.splitlines()[1] for key in keys)]


def test_a_record_comes_back(kafka: EmbeddedKafka) -> None:
    topic = new_topic(kafka)
    write(settings_of(kafka), topic)
    record = first_of(settings_of(kafka), topic)
    assert (record.error(), record.key(), record.value()) == (None, b"key", b"value")


def test_a_client_with_an_address_alone_is_refused(kafka: EmbeddedKafka) -> None:
    assert not reasons({"bootstrap.servers": kafka.bootstrap_servers, **QUIET}) - {"_TRANSPORT"}


def test_nothing_that_others_see_holds_a_secret(kafka: EmbeddedKafka) -> None:
    known = secrets_of(kafka)
    settings = kafka.process.settings
    java = psutil.Process(kafka.pid)
    supervisor = psutil.Process(kafka.process.supervisor.pid)
    assert java.ppid() == supervisor.pid
    seen = {
        "arguments": str([java.cmdline(), supervisor.cmdline(), settings.commands]),
        "environment": str([java.environ(), supervisor.environ()]),
        "repr": repr([kafka, settings, settings.security]),
        "log": (kafka.folder / "broker.log").read_text(encoding="utf-8"),
    }
    assert [(where, secret) for where, text in seen.items() for secret in known if secret in text] == []


def test_its_files_are_its_users_alone(kafka: EmbeddedKafka) -> None:
    files = [path for path in kafka.folder.rglob("*") if path.is_file()]
    assert kafka.command_config in files
    assert kafka.folder / "librdkafka.properties" in files
    assert [path for path in [kafka.folder, *files] if path.stat().st_mode & 0o077] == []


def test_only_loopback_is_listened_on(kafka: EmbeddedKafka) -> None:
    listening = [
        c.laddr for c in psutil.Process(kafka.pid).net_connections("inet") if c.status == psutil.CONN_LISTEN
    ]
    assert {address.ip for address in listening} == {"127.0.0.1"}
    assert len(listening) == 3
    assert kafka.internal_bootstrap_servers != kafka.bootstrap_servers


@pytest.mark.parametrize("kafka", WITH_PASSWORDS, indirect=True)
def test_a_wrong_password_is_refused(kafka: EmbeddedKafka) -> None:
    found = settings_of(kafka)
    assert reasons({**found, "sasl.password": "guessed"}) == {"_AUTHENTICATION"}
    assert reasons({**found, "sasl.username": "bob"}) == {"_AUTHENTICATION"}


@pytest.mark.parametrize("kafka", ["OAUTHBEARER", "SCRAM-SHA-256"], indirect=True)
def test_another_mechanism_is_refused(kafka: EmbeddedKafka) -> None:
    other = {"sasl.mechanism": "PLAIN", "sasl.username": USER, "sasl.password": "guessed"}
    told = {"bootstrap.servers": kafka.bootstrap_servers, "security.protocol": "SASL_PLAINTEXT"}
    assert reasons({**told, **other, **QUIET}) <= {"_AUTHENTICATION", "_TRANSPORT"}


@pytest.mark.parametrize("kafka", ENCRYPTED, indirect=True)
def test_a_client_that_trusts_another_authority_is_refused(kafka: EmbeddedKafka) -> None:
    found = settings_of(kafka)
    del found["ssl.ca.location"]
    # On a busy machine librdkafka sees the end of the connection before its reason.
    told = reasons({**found, "ssl.ca.pem": Authority.new().pem.decode()})
    assert set() < told <= {"_SSL", "_TRANSPORT"}


@pytest.mark.parametrize("kafka", ["mTLS"], indirect=True)
def test_a_client_without_a_certificate_is_refused(kafka: EmbeddedKafka) -> None:
    found = {
        key: value
        for key, value in settings_of(kafka).items()
        if "certificate" not in key and "key" not in key
    }
    assert "ssl.ca.location" in found
    assert reasons(found) <= {"_TRANSPORT", "_SSL"}


@pytest.mark.parametrize("kafka", ["mTLS"], indirect=True)
def test_a_client_with_a_certificate_of_another_authority_is_refused(
    kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    (tmp_path / "other.pem").write_bytes(Authority.new().issue(USER).pem)
    other = {name: str(tmp_path / "other.pem") for name in ("ssl.certificate.location", "ssl.key.location")}
    assert reasons(settings_of(kafka, **other)) <= {"_TRANSPORT", "_SSL"}


@pytest.mark.parametrize("kafka", ["mTLS"], indirect=True)
def test_librdkafka_takes_the_key_from_pkcs12(kafka: EmbeddedKafka) -> None:
    topic = new_topic(kafka)
    write({**kafka.client_properties(form="librdkafka", stores="PKCS12"), **QUIET}, topic)
    assert first_of(settings_of(kafka), topic).value() == b"value"


@pytest.fixture(scope="module")
def java_writes(
    reference: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[EmbeddedKafka, Path], bytes]:
    """Lets Kafka's Java client write a key with a properties file, and returns the key that is read then."""
    writer = [*reference("builds").build_java(tmp_path_factory.mktemp("java")), "partwright.TopicWriter"]

    def write_by(kafka: EmbeddedKafka, file: Path) -> bytes:
        topic = new_topic(kafka)
        done = subprocess.run(
            [*writer, kafka.bootstrap_servers, topic, str(file)],
            input=b"6b6579\n",
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return first_of(settings_of(kafka), topic).key() or b""

    return write_by


@pytest.mark.reference
def test_a_client_of_java_is_served(
    kafka: EmbeddedKafka, java_writes: Callable[[EmbeddedKafka, Path], bytes]
) -> None:
    assert kafka.command_config is not None
    file = kafka.command_config if kafka.security != "ACL" else kafka.folder / "admin.properties"
    assert java_writes(kafka, file) == b"key"


@pytest.mark.reference
@pytest.mark.parametrize("kafka", ENCRYPTED, indirect=True)
def test_a_client_of_java_takes_pkcs12(
    kafka: EmbeddedKafka, java_writes: Callable[[EmbeddedKafka, Path], bytes]
) -> None:
    assert java_writes(kafka, kafka.folder / "client-pkcs12.properties") == b"key"


def refusal(settings: dict[str, str | int], topic: str) -> str | None:
    """The name of the error with which reading a topic is refused; None if it is not."""
    with AdminClient(settings) as client:
        # A reader who may not even know of the topic would get no answer at all.
        error = client.list_topics(topic, timeout=PATIENCE_S).topics[topic].error
    error = error or first_of(settings, topic).error()
    return error and error.name()


@pytest.mark.parametrize("kafka", ["ACL"], indirect=True)
def test_a_user_may_do_what_is_allowed_and_no_more(kafka: EmbeddedKafka) -> None:
    topic = new_topic(kafka)
    alice = settings_of(kafka, user=USER)
    write(settings_of(kafka), topic)
    assert refusal(alice, topic) == "TOPIC_AUTHORIZATION_FAILED"

    kafka.allow(USER, "read", "topic", topic)
    assert refusal(alice, topic) is None
    assert refusal(alice, new_topic(kafka)) == "TOPIC_AUTHORIZATION_FAILED"

    kafka.deny(USER, "READ", "TOPIC", "topic-", pattern="prefixed")
    assert refusal(alice, topic) == "TOPIC_AUTHORIZATION_FAILED"
    assert kafka.revoke(USER, "READ", "topic", "topic-", pattern="prefixed") == 1
    assert refusal(alice, topic) is None

    assert kafka.revoke(USER, "READ", "topic", topic) == 1
    assert refusal(alice, topic) == "TOPIC_AUTHORIZATION_FAILED"
    assert kafka.revoke(USER, "READ", "topic", topic) == 0


@pytest.mark.parametrize("kafka", ["PLAIN"], indirect=True)
def test_rights_without_acls_are_a_sentence(kafka: EmbeddedKafka) -> None:
    for change in (kafka.allow, kafka.deny, kafka.revoke):
        with pytest.raises(BrokerError, match=r"^this Kafka has no ACLs: start one with security='ACL'$"):
            change(USER, "READ", "topic", "t")


@pytest.mark.parametrize(
    ("names", "valid"), [(SERVER_NAMES, timedelta(days=-1)), (["elsewhere.example"], timedelta(days=1))]
)
def test_a_bad_certificate_of_the_broker_can_be_tried(
    names: list[str], valid: timedelta, tmp_path: Path
) -> None:
    authority = Authority.new()
    (tmp_path / "server.pem").write_bytes(authority.issue("broker", names, valid=valid).pem)
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    overrides = {"listener.name.clients.ssl.keystore.location": str(tmp_path / "server.pem")}
    with EmbeddedKafka(security="SSL", overrides=overrides) as kafka:
        assert reasons(settings_of(kafka, **{"ssl.ca.location": str(tmp_path / "ca.pem")})) == {"_SSL"}


def test_a_start_that_fails_shows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    draw, drawn = secrets.token_urlsafe, []

    def remember(size: int) -> str:
        drawn.append(draw(size))
        return drawn[-1]

    monkeypatch.setattr(embedded_security.secrets, "token_urlsafe", remember)
    with pytest.raises(BrokerError) as failure:
        EmbeddedKafka(security="SASL_SSL", overrides={"num.io.threads": "-1"}).__enter__()
    said = str(failure.value)
    assert "Invalid value -1 for configuration num.io.threads" in said
    assert len(drawn) >= 3
    assert [secret for secret in drawn if secret in said] == []
