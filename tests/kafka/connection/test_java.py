"""The meaning of a configuration for Java, asked of Kafka's own admin client: it starts, and reads what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwright.kafka.connection import KafkaConfig, jaas, properties

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

# No half characters, and no NUL, which ends a text in librdkafka.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
AWKWARD = ["\\", '"', "a\"b\\c; 'ä'", " a ", "//a", "\t\r\n\\n", "😀=#!:", "1-2", "${x}"]
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
UNSECURED = f"{MODULE} required unsecuredLoginStringClaim_sub=a;"
SERVERS = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SASL_PLAINTEXT"}
SETTINGS: list[dict[str, Any]] = [
    {"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": UNSECURED},
    {
        "sasl.mechanism": "OAUTHBEARER",
        "enable.sasl.oauthbearer.unsecure.jwt": True,
        "sasl.oauthbearer.config": "principal=a scope=b,c lifeSeconds=60 extension_traceId=d",
    },
    {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "none"},
    {"security.protocol": "PLAINTEXT", "socket.timeout.ms": 5000, "client.id": "a", "send.buffer.bytes": -1},
    *(
        {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": text, "sasl.password": text}
        for text in AWKWARD[:3]
    ),
]


@pytest.mark.reference
def test_javas_client_takes_what_it_is_given(reference: Callable[[str], ModuleType], tmp_path: Path) -> None:
    asking = reference("connection")
    clients = [{"client": KafkaConfig.read(SERVERS | each).java()} for each in SETTINGS]
    contradictory = {
        "client": {**SERVERS, "sasl.mechanism": "PLAIN", "sasl.jaas.config": "x.Module required"}
    }
    _, answers = asking.ask(asking.build(tmp_path), [*clients, contradictory])
    assert answers == [*({"made": True} for _ in clients), {"error": "KafkaException"}]


@pytest.mark.reference
def test_kafka_reads_each_password_out_of_the_text_that_we_write(
    reference: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    asking = reference("connection")
    settings = {"sasl.mechanism": "PLAIN", "sasl.username": "alice"}
    texts = [KafkaConfig.read(SERVERS | settings | {"sasl.password": each}).java() for each in AWKWARD]
    questions = [{"jaas": each["sasl.jaas.config"]} for each in texts]
    _, answers = asking.ask(asking.build(tmp_path), questions)
    assert [each["options"] for each in answers] == [
        {"username": "alice", "password": each} for each in AWKWARD
    ]


@given(st.dictionaries(st.from_regex(r"[a-zA-Z]{1,8}", fullmatch=True), TEXTS, max_size=3))
def test_a_text_of_jaas_is_read_back(options: dict[str, str]) -> None:
    assert jaas.parse(jaas.jaas_text("x.Module", options)).options == options


@given(st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_a_file_is_read_back(settings: dict[str, str]) -> None:
    text = properties.properties_text(settings)
    assert text.isascii()
    assert {each.key: each.value for each in properties.read(text)} == settings


@given(st.sampled_from(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]), TEXTS, TEXTS)
def test_there_and_back_it_means_the_same(mechanism: str, user: str, password: str) -> None:
    settings = {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password}
    if not user.strip() or not password.strip():
        return
    config = KafkaConfig.read(SERVERS | settings)
    assert KafkaConfig.read(config.java()) == config == KafkaConfig.read(config.librdkafka())
    assert hash(KafkaConfig.read(config.java())) == hash(config)
    assert config.librdkafka()["sasl.password"] == password


def test_a_client_of_an_authorization_server_means_the_same_there_and_back() -> None:
    settings = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "i",
        "sasl.oauthbearer.client.secret": "s",
        "sasl.oauthbearer.token.endpoint.url": "https://127.0.0.1:1/token",
        "sasl.oauthbearer.scope": "a b",
        "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,identityPoolId=p",
    }
    config = KafkaConfig.read(SERVERS | settings)
    assert KafkaConfig.read(config.java()) == config == KafkaConfig.read(config.librdkafka())
    assert KafkaConfig.read({**SERVERS, **settings, "sasl.oauthbearer.client.secret": "other"}) != config
