"""The meaning of a configuration for librdkafka and for Java, row by row, in both directions."""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from confluent_kafka import Consumer
from hypothesis import given
from hypothesis import strategies as st

from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig, jaas
from partwright.kafka.connection.sasl import Signer, region_of

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "org.apache.kafka.common.security"
OAUTH = f"{PACKAGE}.oauthbearer.OAuthBearerLoginModule"
HANDLER = f"{PACKAGE}.oauthbearer.OAuthBearerLoginCallbackHandler"
SASL = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SASL_SSL"}
URL = "https://example.com/token"
OIDC = {
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.token.endpoint.url": URL,
    "sasl.oauthbearer.client.id": "a",
    "sasl.oauthbearer.client.secret": "s",
}
MSK = {
    "bootstrap.servers": "b-1.orders.a1b2c3.c2.kafka.eu-central-1.amazonaws.com:9098",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "AWS_MSK_IAM",
    "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
    "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
}


def password(mechanism: str, module: str) -> tuple[dict[str, str], dict[str, str]]:
    jaas = f'{PACKAGE}.{module} required username="alice" password="a\\"b\\\\c";'
    own = {"sasl.username": "alice", "sasl.password": 'a"b\\c'}
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": jaas}, {"sasl.mechanism": mechanism} | own


ROWS: list[tuple[dict[str, str], dict[str, str]]] = [
    password("PLAIN", "plain.PlainLoginModule"),
    password("SCRAM-SHA-256", "scram.ScramLoginModule"),
    password("SCRAM-SHA-512", "scram.ScramLoginModule"),
    (
        {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": ""},
        {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "none"},
    ),
    (
        {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "https"},
        {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "https"},
    ),
    (
        {"security.protocol": "PLAINTEXT", "request.timeout.ms": "7000", "client.id": "a"},
        {"security.protocol": "PLAINTEXT", "socket.timeout.ms": "7000", "client.id": "a"},
    ),
    (
        {"security.protocol": "PLAINTEXT", "client.dns.lookup": "use_all_dns_ips", "send.buffer.bytes": "99"},
        {"security.protocol": "PLAINTEXT", "client.dns.lookup": "use_all_dns_ips", "socket.send.buffer.bytes": "99"},
    ),
    (
        {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.jaas.config": f'{OAUTH} required clientId="a" clientSecret="s" scope="all" extension_c="l";',
            "sasl.login.callback.handler.class": HANDLER,
            "sasl.oauthbearer.token.endpoint.url": URL,
        },
        {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.credentials.client.id": "a",
            "sasl.oauthbearer.client.credentials.client.secret": "s",
            "sasl.oauthbearer.scope": "all",
            "sasl.oauthbearer.extensions": "c=l",
            "sasl.oauthbearer.token.endpoint.url": URL,
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("java", "own"), ROWS)
def test_each_row_is_said_in_both_directions(java: dict[str, str], own: dict[str, str]) -> None:
    of_java, of_own = KafkaConfig.read(SASL | java), KafkaConfig.read(SASL | own)
    assert of_java == of_own
    for config in (of_java, of_own):
        assert config.librdkafka().items() >= (SASL | own).items()
        assert config.java().items() >= (SASL | java).items()
        Consumer({**config.librdkafka(), "group.id": "g"}).close()
        # The translation is read back with the same meaning.
        assert KafkaConfig.read(config.java()) == config
        assert KafkaConfig.read(config.librdkafka()) == config


def test_the_names_before_kafka_4_1_and_since_are_one() -> None:
    new = {"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": URL}
    new |= {"sasl.oauthbearer.client.credentials.client.id": "a"}
    new |= {"sasl.oauthbearer.client.credentials.client.secret": "s"}
    old = dict(new, **{"sasl.oauthbearer.client.id": "a", "sasl.oauthbearer.client.secret": "s"})
    for name in ("id", "secret"):
        del old[f"sasl.oauthbearer.client.credentials.client.{name}"]
    assert KafkaConfig.read(SASL | new) == KafkaConfig.read(SASL | old)


def test_the_unsecured_token_is_said_in_both_directions() -> None:
    jaas = (
        f'{OAUTH} required unsecuredLoginStringClaim_sub="alice" unsecuredLoginLifetimeSeconds="60" '
        'unsecuredLoginListClaim_scope="|a|b" unsecuredLoginExtension_x="y";'
    )
    of_java = KafkaConfig.read(SASL | {"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": jaas})
    config = "principal=alice lifeSeconds=60 scope=a,b extension_x=y"
    own = {"enable.sasl.oauthbearer.unsecure.jwt": True, "sasl.oauthbearer.config": config}
    of_own = KafkaConfig.read(SASL | {"sasl.mechanism": "OAUTHBEARER"} | own)
    assert of_java == of_own == KafkaConfig.read(of_own.java()) == KafkaConfig.read(of_java.librdkafka())
    Consumer({**of_java.librdkafka(), "group.id": "g"}).close()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "sasl.mechanism is missing, and without it Kafka's clients take GSSAPI"),
        ({"sasl.mechanism": "PLAIN"}, "sasl.mechanism PLAIN needs sasl.username and sasl.password"),
        ({"sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "a"}, "sasl.mechanism SCRAM-SHA-256 needs sasl.password"),
        ({"sasl.mechanism": "SCRAM-SHA-1"}, "is not a mechanism of SASL: did you mean 'SCRAM-SHA-512'"),
        ({"sasl.mechanism": "OAUTHBEARER"}, "needs a place that its token comes from: set sasl.oauthbearer.token"),
        (
            {"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": URL},
            "by OIDC needs sasl.oauthbearer.client.credentials.client.id",
        ),
        (
            OIDC | {"sasl.oauthbearer.token.endpoint.url": "file:///token"},
            "is an address that begins with https://",
        ),
        *(
            (OIDC | {f"sasl.oauthbearer.{name}": value}, f"{name} asks for a token in another way")
            for name, value in {
                "grant.type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                "metadata.authentication.type": "azure_imds",
                "jwt.retriever.class": "org.apache.kafka.common.security.oauthbearer.JwtBearerJwtRetriever",
                "assertion.claim.iss": "us",
            }.items()
        ),
        ({"sasl.mechanism": "PLAIN", "sasl.login.class": "a.B"}, "is a class that runs in Java alone"),
        (
            {"sasl.mechanism": "OAUTHBEARER", "sasl.login.callback.handler.class": "a.B"},
            "is a class that runs in Java alone",
        ),
        (
            {"sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true",
             "sasl.oauthbearer.config": "who=a"},
            "sasl.oauthbearer.config has principal=NAME",
        ),
    ],
)  # fmt: skip
def test_what_a_mechanism_lacks_is_told(given: dict[str, str], said: str) -> None:
    with pytest.raises(PartwrightError, match=said):
        KafkaConfig.read(SASL | given)


def test_kerberos_is_a_sentence_where_the_library_lacks_it() -> None:
    krb = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab=k principal=p;"
    config = KafkaConfig.read(SASL | {"sasl.mechanism": "GSSAPI", "sasl.jaas.config": krb})
    java = config.java()
    assert java["sasl.kerberos.service.name"] == "kafka"
    assert 'keyTab="k"' in java["sasl.jaas.config"]
    again = KafkaConfig.read(java).java()
    assert jaas.parse(again.pop("sasl.jaas.config")) == jaas.parse(java.pop("sasl.jaas.config"))
    assert again == java
    with pytest.raises(PartwrightError, match="needs a librdkafka with Kerberos"):
        config.librdkafka()


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-aws")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.mark.usefixtures("credentials")
def test_iam_of_msk_signs_a_token_that_ends_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    config = KafkaConfig.read(MSK)
    said = config.librdkafka()
    assert said["sasl.mechanism"] == "OAUTHBEARER"
    call: Any = said["oauth_cb"]
    assert call == Signer("eu-central-1")
    for zone in ("UTC", "Pacific/Auckland"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        token, end = call("")
        assert 60 < end - time.time() <= 900
    monkeypatch.delenv("TZ")
    time.tzset()
    signed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    assert urlsplit(signed).hostname == "kafka.eu-central-1.amazonaws.com"
    assert parse_qs(urlsplit(signed).query)["X-Amz-Expires"] == ["900"]
    assert "secret-of-aws" not in f"{token}{signed}{call!r}"
    assert config.java().items() >= (MSK | {"sasl.jaas.config": MSK["sasl.jaas.config"]}).items()
    assert KafkaConfig.read(config.java()) == config
    Consumer({**said, "group.id": "g"}).close()


@pytest.mark.usefixtures("credentials")
def test_what_aws_lacks_is_told_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    profile = "software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName=of-nobody;"
    for one in (MSK, MSK | {"sasl.jaas.config": profile}):
        with pytest.raises(PartwrightError, match=r"^AWS's signer makes no token for AWS_MSK_IAM: "):
            KafkaConfig.read(one).librdkafka()


@pytest.mark.usefixtures("credentials")
def test_the_region_is_the_names_else_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    assert region_of("boot-a1.c1.kafka-serverless.us-east-1.amazonaws.com:9098") == "us-east-1"
    assert region_of("b-1.o.a1.c2.kafka.cn-north-1.amazonaws.com.cn:9098") == "cn-north-1"
    with pytest.raises(PartwrightError, match=r"set AWS_REGION$"):
        KafkaConfig.read(MSK | {"bootstrap.servers": "a:1"}).librdkafka()
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert region_of("a:1") == "eu-west-1"


def test_a_function_is_called_as_it_is_and_is_nothing_to_java() -> None:
    def token(config: str) -> tuple[str, float]:
        return config, 1.0

    config = KafkaConfig.read(SASL | {"sasl.mechanism": "OAUTHBEARER", "oauth_cb": token})
    assert config.librdkafka()["oauth_cb"] is token
    with pytest.raises(PartwrightError, match="oauth_cb is a function of Python, which Java cannot call"):
        config.java()


@given(
    name=st.text("abcé\"\\;=' ", min_size=1).map("u{}".format),
    secret=st.text(st.characters(exclude_categories=["Cs", "Cc"])),
)
def test_what_is_said_is_read_as_the_same(name: str, secret: str) -> None:
    given = {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": name.strip(), "sasl.password": f"p{secret}p"}
    config = KafkaConfig.read(SASL | given | {"request.timeout.ms": 7000, "fetch.min.bytes": 5})
    again = KafkaConfig.read({**config.librdkafka(), **config.reading()})
    assert again == config
    # Java's side has no settings for reading records: Spark reads in its own way.
    assert KafkaConfig.read(config.java() | {"fetch.min.bytes": "5"}) == config
