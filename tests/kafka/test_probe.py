"""Servers that are not a Kafka, or an unusual one, and doctor's sentence about several brokers; without a broker."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import listeners
import pytest

from partwright.kafka import doctor
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.doctor import _explain_address, examine
from partwright.kafka.probe import ProbeStep, way_to

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"
PLAIN = {"sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "x"}
# An answer to ApiVersions: no error, and no request.
VERSIONS = bytes(6)


def handshake(code: int, *mechanisms: bytes) -> bytes:
    """An answer to SaslHandshake."""
    named = b"".join(len(each).to_bytes(2, "big") + each for each in mechanisms)
    return code.to_bytes(2, "big") + len(mechanisms).to_bytes(4, "big") + named


def last(port: int, protocol: str, timeout: float = 2) -> ProbeStep:
    settings = {"security.protocol": protocol} | (PLAIN if protocol.startswith("SASL") else {})
    return list(way_to(HOST, port, KafkaConfig.read(settings), timeout))[-1]


def test_who_hangs_up_during_tls_is_not_told_to_do_without_it() -> None:
    # It may be anybody, so nobody is asked to send it a password in clear.
    with listeners.answering() as port:
        step = last(port, "SASL_SSL", 0.5)
    assert (step.name, step.passed) == ("TLS", False)
    assert step.said.startswith(f"{HOST}:{port} ends the connection during TLS (")
    assert "PLAINTEXT" not in step.said


def test_a_kafka_without_tls_is_told_as_one() -> None:
    with listeners.answering(VERSIONS) as port:
        step = last(port, "SASL_SSL")
    assert (step.name, step.passed) == ("TLS", False)
    assert step.said.startswith(f"{HOST}:{port} does not speak TLS (")
    assert "set security.protocol to PLAINTEXT" in step.said


@pytest.mark.parametrize(
    "answers",
    [
        (VERSIONS,),
        (VERSIONS, b""),
        (VERSIONS, b"\0"),
        (VERSIONS, handshake(35)),
        (VERSIONS, handshake(0, b"\xff")),
        (VERSIONS, handshake(0, b"PLAIN")[:-6]),
    ],
)
def test_a_kafka_that_does_not_know_sasl_is_one(answers: tuple[bytes, ...]) -> None:
    with listeners.answering(*answers) as port:
        assert last(port, "PLAINTEXT") == ProbeStep(
            "SASL", f"{HOST}:{port}", True, "no user is asked for, as far as can be told"
        )
        step = last(port, "SASL_PLAINTEXT")
    assert (step.name, step.passed) == ("SASL", False)
    assert step.said.endswith(" as it is asked for SASL: see the broker's log")


@pytest.mark.parametrize(
    ("answer", "protocol", "passed", "said"),
    [
        (handshake(34), "PLAINTEXT", True, "no user is asked for"),
        (
            handshake(33, b"GSSAPI"),
            "PLAINTEXT",
            False,
            "… asks for a user: set security.protocol to SASL_PLAINTEXT",
        ),
        (handshake(0, b"PLAIN"), "SASL_PLAINTEXT", True, "… takes PLAIN"),
        (
            handshake(33, b"GSSAPI"),
            "SASL_PLAINTEXT",
            False,
            "… does not take the mechanism PLAIN: set sasl.mechanism",
        ),
        (
            None,
            "PLAINTEXT",
            False,
            "… does not answer in 0.2 s as it is asked for SASL: see the broker's log",
        ),
        (
            None,
            "SASL_PLAINTEXT",
            False,
            "… does not answer in 0.2 s as it is asked for SASL: see the broker's log",
        ),
    ],
)
def test_what_a_listener_says_of_sasl_is_told(
    answer: bytes | None, protocol: str, passed: bool, said: str
) -> None:
    with listeners.answering(VERSIONS, answer) as port:
        step = last(port, protocol, 2 if answer else 0.2)
    assert (step.name, step.passed) == ("SASL", passed)
    assert step.said.replace(f"{HOST}:{port}", "…").startswith(said)


def test_an_address_of_ipv6_has_its_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr("socket.create_connection", refused)
    step = list(way_to("::1", 21302, KafkaConfig.read({}), 0.2))[-1]
    assert step.where == "[::1]:21302"
    assert step.said.startswith("no Kafka answers at [::1]:21302 (Connection refused)")
    assert _explain_address(1, "::1", 21302, step).startswith("broker 1 advertises [::1]:21302, which")


def test_doctor_asks_silent_servers_together_and_tells_them_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, float]] = []
    together = threading.Barrier(4)

    def silent(host: str, port: int, config: KafkaConfig, timeout: float) -> Iterator[ProbeStep]:
        del config
        asked.append((port, timeout))
        # Nobody continues before all of them have been asked.
        together.wait(20)
        yield ProbeStep("connect", f"{host}:{port}", False, "silent", "silent")

    monkeypatch.setattr(doctor, "way_to", silent)
    steps = list(examine({"bootstrap.servers": "a:1,b:2,c:3,d:4"}))
    assert [step.where for step in steps[1:]] == ["a:1", "b:2", "c:3", "d:4"]
    assert sorted(asked) == [(port, 3.0) for port in (1, 2, 3, 4)]
