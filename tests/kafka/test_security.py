"""The securities of the embedded Kafka, without starting it: names, properties, certificates and refusals."""

from __future__ import annotations

import ssl
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast, get_args

import pytest

from partwright.errors import MissingExtraError, PartwrightError
from partwright.kafka import EmbeddedKafka, embedded, embedded_cluster
from partwright.kafka.connection.config import VARIABLE
from partwright.kafka.embedded_access import Right
from partwright.kafka.embedded_certificates import SERVER_NAMES, Authority
from partwright.kafka.embedded_security import (
    ADMIN,
    USER,
    BrokerSecurity,
    Form,
    Security,
    Stores,
    security_names,
)

if TYPE_CHECKING:
    from partwright.kafka.embedded_properties import BrokerSettings

BOOTSTRAP = "127.0.0.1:1111"
FOLDER = Path("/f")
SECURED = security_names()[1:]


def drawn(name: str) -> BrokerSecurity:
    return BrokerSecurity.new(Security.named(name), FOLDER)


def secrets_of(security: BrokerSecurity) -> list[str]:
    return [*security.passwords.values(), security.store_password]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (None, "PLAINTEXT"),
        ("plaintext", "PLAINTEXT"),
        ("Plain", "PLAIN"),
        ("sasl_plaintext", "PLAIN"),
        ("SASL_PLAINTEXT:SCRAM-SHA-256", "SCRAM-SHA-256"),
        ("scram-sha-512", "SCRAM-SHA-512"),
        ("mtls", "mTLS"),
        ("MTLS", "mTLS"),
        ("sasl_ssl:plain", "SASL_SSL"),
        ("sasl_ssl:oauthbearer", "SASL_SSL:OAUTHBEARER"),
        ("acl", "ACL"),
    ],
)
def test_a_security_is_found_by_what_people_type(typed: str | None, name: str) -> None:
    assert Security.named(typed).name == name


def test_every_name_is_found_by_itself() -> None:
    assert len(SECURED) == 11
    assert [Security.named(name).name for name in SECURED] == SECURED


@pytest.mark.parametrize("name", ["SAL_SSL", "", "SSL:PLAIN", "GSSAPI", "SASL_SSL:", "ACL:PLAIN"])
def test_another_name_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(
        PartwrightError, match=f"^the embedded Kafka has no security '{name}': say one of"
    ) as no:
        EmbeddedKafka(security=name)
    assert ", ".join(security_names()) in str(no.value)
    assert (no.value.field, no.value.value) == ("security", name)


def test_the_nearest_name_is_asked_for() -> None:
    with pytest.raises(PartwrightError, match=r"; did you mean 'SASL_SSL'\?$"):
        Security.named("SAL_SSL")


def test_a_client_of_java_is_told_javas_names() -> None:
    security = drawn("SASL_SSL:SCRAM-SHA-512")
    assert security.client_properties(BOOTSTRAP) == {
        "bootstrap.servers": BOOTSTRAP,
        "security.protocol": "SASL_SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/f/ca.pem",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="alice" password="{security.passwords[USER]}";',
    }


def test_a_client_of_librdkafka_is_told_librdkafkas_names() -> None:
    security = drawn("SASL_SSL")
    assert security.client_properties(BOOTSTRAP, ADMIN, "librdkafka") == {
        "bootstrap.servers": BOOTSTRAP,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": "/f/ca.pem",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "admin",
        "sasl.password": security.passwords[ADMIN],
    }


def test_stores_have_their_formats_and_passwords() -> None:
    security = drawn("mTLS")
    password = security.store_password
    assert security.client_properties(BOOTSTRAP, stores="PKCS12") == {
        "bootstrap.servers": BOOTSTRAP,
        "security.protocol": "SSL",
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": "/f/truststore.p12",
        "ssl.truststore.password": password,
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": "/f/alice.p12",
        "ssl.keystore.password": password,
        "ssl.key.password": password,
    }
    assert security.client_properties(BOOTSTRAP, form="librdkafka", stores="PKCS12") == {
        "bootstrap.servers": BOOTSTRAP,
        "security.protocol": "SSL",
        "ssl.ca.location": "/f/ca.pem",
        "ssl.keystore.location": "/f/alice.p12",
        "ssl.keystore.password": password,
    }


def test_plaintext_needs_nothing() -> None:
    security = drawn("PLAINTEXT")
    assert security.files(BOOTSTRAP) == {}
    assert security.server_properties == {}
    told = {"bootstrap.servers": BOOTSTRAP, "security.protocol": "PLAINTEXT"}
    assert security.client_properties(BOOTSTRAP) == told
    assert security.client_properties(BOOTSTRAP, form="librdkafka", stores="PKCS12") == told


@pytest.mark.parametrize("name", SECURED)
def test_a_brokers_secrets_are_its_own_and_stay_in_its_files(name: str) -> None:
    one, other = drawn(name), drawn(name)
    assert all(len(secret) >= 24 for secret in secrets_of(one))
    assert not set(secrets_of(one)) & set(secrets_of(other))
    shown = repr(one)
    assert [secret for secret in secrets_of(one) if secret in shown] == []
    assert "PRIVATE KEY" not in shown


@pytest.mark.parametrize("name", SECURED)
def test_every_file_that_a_client_is_told_of_is_there(name: str) -> None:
    security = drawn(name)
    there = set(security.files(BOOTSTRAP))
    named = [
        value
        for form in get_args(Form)
        for stores in get_args(Stores)
        for key, value in security.client_properties(BOOTSTRAP, form=form, stores=stores).items()
        if key.endswith(".location")
    ]
    assert bool(named) == security.security.encrypted
    assert [path for path in named if path.removeprefix("/f/") not in there] == []


@pytest.mark.parametrize(
    ("name", "asked", "sentence"),
    [
        ("PLAIN", {"user": "bob"}, "there is no user 'bob' in a Kafka with PLAIN: there are alice and admin"),
        ("mTLS", {"user": "admin"}, "there is no user 'admin' in a Kafka with mTLS: there are alice"),
        ("SSL", {"form": "python"}, "there is no form 'python' in a Kafka with SSL"),
        (
            "SSL",
            {"stores": "JKS"},
            "there is no format of stores 'JKS' in a Kafka with SSL: there are PEM and PKCS12",
        ),
    ],
)
def test_what_no_client_can_be_told_is_a_sentence(name: str, asked: dict[str, str], sentence: str) -> None:
    with pytest.raises(PartwrightError, match=f"^{sentence}"):
        drawn(name).client_properties(BOOTSTRAP, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [("SSL", "cryptography", "cryptography"), ("PLAIN", "confluent_kafka", "confluent-kafka")],
)
def test_a_missing_extra_is_named(
    name: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None if name == module else object())
    with pytest.raises(MissingExtraError, match=rf"^{package} is missing: pip install 'partwright\[kafka\]'"):
        EmbeddedKafka(security=name).__enter__()


@pytest.mark.parametrize(
    ("right", "sentence"),
    [
        (
            ("alice", "REED", "topic", "t", "literal"),
            "there is no operation 'REED' in ACLs: did you mean 'READ'",
        ),
        (("alice", "READ", "topics", "t", "literal"), "there is no resource type 'topics' in ACLs"),
        (("alice", "READ", "topic", "t", "match"), "there is no pattern 'match' in ACLs"),
    ],
)
def test_a_right_that_does_not_exist_is_a_sentence(
    right: tuple[str, str, str, str, str], sentence: str
) -> None:
    with pytest.raises(PartwrightError, match=f"^{sentence}"):
        Right(*right).checked()


def handshake(certificate: bytes, authority: bytes, name: str, folder: Path) -> int | None:
    """Why a client refuses a server's certificate, by OpenSSL's number; None if it accepts it."""
    (folder / "server.pem").write_bytes(certificate)
    of_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    of_server.load_cert_chain(folder / "server.pem")
    of_client = ssl.create_default_context(cadata=authority.decode())
    of_client.verify_flags |= ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = of_server.wrap_bio(to_server, to_client, server_side=True)
    client = of_client.wrap_bio(to_client, to_server, server_hostname=name)
    for side in (client, server, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLCertVerificationError as error:
            return error.verify_code
    return None


@pytest.mark.parametrize("name", SERVER_NAMES)
def test_a_servers_certificate_is_taken_for_its_names(name: str, tmp_path: Path) -> None:
    authority = Authority.new()
    issued = authority.issue("broker", SERVER_NAMES)
    assert handshake(issued.pem, authority.pem, name, tmp_path) is None
    assert handshake(issued.pem, Authority.new().pem, name, tmp_path) in {19, 20}


def test_the_users_own_configuration_is_not_for_the_embedded_kafka(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/nowhere/client.properties")
    settings = cast(
        "BrokerSettings", SimpleNamespace(internal_bootstrap_servers="127.0.0.1:1", cluster_id="x")
    )
    assert embedded_cluster.brokers_seen(settings) == set()


def test_certificates_that_clients_must_refuse_can_be_made(tmp_path: Path) -> None:
    authority = Authority.new()
    expired = authority.issue("broker", SERVER_NAMES, valid=timedelta(days=-1))
    assert handshake(expired.pem, authority.pem, "localhost", tmp_path) == 10
    elsewhere = authority.issue("broker", ["elsewhere.example"])
    assert handshake(elsewhere.pem, authority.pem, "localhost", tmp_path) == 62
