"""Addresses on the command line, and `bootstrap.servers`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwright.errors import PartwrightError
from partwright.kafka.address import parse_kafka
from partwright.kafka.connection import KafkaConfig


@pytest.mark.parametrize(
    ("address", "servers", "topic"),
    [
        ("kafka://a", "a:9092", None),
        ("kafka://a/", "a:9092", None),
        ("kafka://a/t", "a:9092", "t"),
        ("kafka://a:1,b,c:3/t", "a:1,b:9092,c:3", "t"),
        ("kafka://[::1]/t", "[::1]:9092", "t"),
        ("kafka://[2001:db8::1]:9093,a/t", "[2001:db8::1]:9093,a:9092", "t"),
        ("kafka:///t", None, "t"),
        ("kafka://", None, None),
        ("kafka://a/t.with-all_9", "a:9092", "t.with-all_9"),
        ("kafka://xn--mnchen-3ya.de/t", "xn--mnchen-3ya.de:9092", "t"),
    ],
)
def test_an_address_has_servers_and_a_topic(address: str, servers: str | None, topic: str | None) -> None:
    assert parse_kafka(address) == (servers, topic)


@pytest.mark.parametrize(
    "address",
    [
        *[
            "kafka://a b/t",
            "kafka://a:x/t",
            "kafka://a:0/t",
            "kafka://a:65536/t",
            "kafka://::1/t",
            "kafka://a,,b/t",
        ],
        *[
            "kafka://a,/t",
            "kafka:// a/t",
            "kafka://münchen/t",
            "kafka://a:\uff19/t",
            "http://a/t",
            "",
            "kafka:/a",
            "a:9092",
        ],
        *["kafka://[::1/t", "kafka://a:9092:9092/t", "kafka://a?b/t", "kafka://a\n/t", "kafka://a\x1b[31m/t"],
    ],
)
def test_what_is_not_an_address_is_one_sentence(address: str) -> None:
    with pytest.raises(PartwrightError, match="does not name a Kafka: write kafka://host:port") as refused:
        parse_kafka(address)
    assert "\n" not in str(refused.value)
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    ["kafka://alice:hunter2@a/t", "kafka://a/t@hunter2", "kafka://alice:hun/ter2@a", "alice:hunter2@a"],
)
def test_a_password_in_an_address_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(PartwrightError, match=r"^an address has no user or password") as refused:
        parse_kafka(address)
    assert "ter2" not in f"{refused.value}{vars(refused.value)}"
    with pytest.raises(PartwrightError, match=r"bootstrap\.servers has an @") as refused:
        KafkaConfig.read({"bootstrap.servers": address})
    assert "ter2" not in f"{refused.value}{vars(refused.value)}"


@pytest.mark.parametrize(
    ("given", "servers"),
    [
        ("a:1", "a:1"),
        (" a:1 , b:2 ,", "a:1,b:2"),
        ("SSL://a:1,PLAINTEXT://[::1]:2", "a:1,[::1]:2"),
        ("[fe80::1%eth0]:9092", "[fe80::1%eth0]:9092"),
        ("a:09092", "a:9092"),
    ],
)
def test_servers_are_host_and_port(given: str, servers: str) -> None:
    assert KafkaConfig.read({"bootstrap.servers": given}).servers == servers


@pytest.mark.parametrize(
    "given", ["a", "a:", ":1", "a:0", "a:65536", "a b:1", "ä:1", "a:\uff11", "a:1;b:2", "a:b:1", ","]
)
def test_what_is_not_a_server_is_refused(given: str) -> None:
    with pytest.raises(PartwrightError, match=r"^(kafka_config: )?bootstrap\.servers"):
        KafkaConfig.read({"bootstrap.servers": given})


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_a_sentence(text: str) -> None:
    for address in (text, f"kafka://{text}"):
        try:
            servers, _ = parse_kafka(address)
        except PartwrightError as error:
            said = str(error)
        else:
            assert servers is None or KafkaConfig.read({"bootstrap.servers": servers}).servers
            continue
        assert "\n" not in said
