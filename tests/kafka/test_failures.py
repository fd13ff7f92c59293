"""Obstacles between a client and a Kafka: each is a sentence in ten seconds, and doctor finds the step and the fix."""

from __future__ import annotations

import json
import re
import shlex
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import listeners
import pytest

from partwright.errors import BrokerError
from partwright.kafka import topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.doctor import examine
from partwright.kafka.embedded_certificates import SERVER_NAMES, Authority
from partwright.kafka.probe import way_to
from partwright.kafka.records import TopicRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka
    from partwright.kafka.probe import ProbeStep

    Told = Callable[..., tuple[int, str, str]]

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]

# Ten seconds are promised on a machine with nothing else to do. A busy one takes longer, and code that does not
# check by itself waits for librdkafka's own timeout, which is a minute.
AT_MOST_S = 30.0
TOPIC = "orders"


class Near(NamedTuple):
    """The resources that a case may use; listeners end with its test."""

    kafka: Callable[[str], EmbeddedKafka]
    folder: Path
    ending: ExitStack

    def settings(self, security: str, **otherwise: str) -> dict[str, str]:
        """A client's settings for this security, with some of them changed."""
        told = self.kafka(security).client_properties(form="librdkafka")
        del told["bootstrap.servers"]
        return {**told, **{name.replace("_", "."): value for name, value in otherwise.items()}}

    def certificate(self, *names: str, valid: timedelta = timedelta(days=1)) -> Path:
        """Key and certificate of a broker; the authority is in ca.pem."""
        authority = Authority.new()
        (self.folder / "ca.pem").write_bytes(authority.pem)
        file = self.folder / "server.pem"
        file.touch(0o600)
        file.write_bytes(authority.issue("broker", names, valid=valid).pem)
        return file

    def listening(self, security: str) -> str:
        return self.kafka(security).bootstrap_servers

    def tls(self, pem: Path, **otherwise: bool) -> tuple[str, dict[str, str]]:
        port = self.ending.enter_context(listeners.tls(pem, **otherwise))
        return f"127.0.0.1:{port}", {
            "security.protocol": "SSL",
            "ssl.ca.location": str(self.folder / "ca.pem"),
        }

    def token_server(self) -> int:
        """The port of an authorization server that knows one client."""
        file = self.certificate(*SERVER_NAMES)
        return self.ending.enter_context(listeners.tokens(file, "alice", "us", "hunter2"))

    def oidc(self, port: int) -> dict[str, str]:
        """Its client's settings."""
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": "us",
            "sasl.oauthbearer.client.secret": "hunter2",
            "sasl.oauthbearer.token.endpoint.url": f"https://127.0.0.1:{port}/token",
            "https.ca.location": str(self.folder / "ca.pem"),
        }

    def advertising(self, security: str, host: bytes, port: int) -> str:
        """A Kafka that says that it is elsewhere; the name is as long as its own."""
        kafka = self.kafka(security)
        relay = self.ending.enter_context(listeners.relay(kafka.port, elsewhere=(host, port)))
        return f"127.0.0.1:{relay}"


@pytest.fixture
def near(secured: Callable[[str], EmbeddedKafka], tmp_path: Path) -> Iterator[Near]:
    with ExitStack() as ending:
        yield Near(secured, tmp_path, ending)


# A server, the settings, the step of doctor that fails, and the sentence.
Case = tuple[str, "Mapping[str, str]", str, str]


def no_such_name(_: Near) -> Case:
    sentence = "the name 'broker.invalid' cannot be resolved (…): check it, or this machine's DNS"
    return "broker.invalid:9092", {}, "resolve", sentence


def nothing_listens(_: Near) -> Case:
    sentence = (
        "no Kafka answers at … (Connection refused): is it running? `partwright broker start` starts one"
    )
    return f"127.0.0.1:{listeners.closed_port()}", {}, "connect", sentence


def web_server(near: Near) -> Case:
    port = near.ending.enter_context(listeners.web())
    return f"127.0.0.1:{port}", {}, "Kafka", "no Kafka answers at …, but a web server: check the port"


def web_server_for_tls(near: Near) -> Case:
    port = near.ending.enter_context(listeners.web())
    server, settings = f"127.0.0.1:{port}", {"security.protocol": "SSL"}
    return server, settings, "TLS", "no Kafka answers at …, but a web server: check the port"


def tls_expected(near: Near) -> Case:
    sentence = "… expects TLS: set security.protocol to SSL, or to SASL_SSL if that Kafka asks for a password"
    return near.listening("mTLS"), {}, "Kafka", sentence


def tls_expected_of_a_user(near: Near) -> Case:
    settings = near.settings("SASL_SSL", security_protocol="SASL_PLAINTEXT")
    del settings["ssl.ca.location"]
    return near.listening("SASL_SSL"), settings, "Kafka", "… expects TLS: set security.protocol to SASL_SSL"


def tls_not_expected(near: Near) -> Case:
    sentence = "… does not speak TLS (…): set security.protocol to PLAINTEXT, or to SASL_PLAINTEXT if that Kafka asks …"
    return near.listening("PLAIN"), {"security.protocol": "SSL"}, "TLS", sentence


def wrong_authority(near: Near) -> Case:
    near.certificate("localhost")
    settings = near.settings("SASL_SSL", ssl_ca_location=str(near.folder / "ca.pem"))
    sentence = (
        "the certificate of … is not signed by an authority that the configuration trusts (self-signed …): …"
    )
    return near.listening("SASL_SSL"), settings, "TLS", sentence


def no_authority(near: Near) -> Case:
    settings = near.settings("SASL_SSL")
    del settings["ssl.ca.location"]
    sentence = "the certificate of … is not signed by an authority that the system trusts (…): name the file of its …"
    return near.listening("SASL_SSL"), settings, "TLS", sentence


def expired_certificate(near: Near) -> Case:
    server, settings = near.tls(near.certificate(*SERVER_NAMES, valid=timedelta(days=-1)))
    sentence = "the certificate of … has expired: whoever runs that Kafka has to renew it"
    return server, settings, "TLS", sentence


def wrong_host_name(near: Near) -> Case:
    server, settings = near.tls(near.certificate("elsewhere.example"))
    sentence = "the certificate of … is for another name (…'127.0.0.1'): use a name that it has, or, …"
    return server, settings, "TLS", sentence


def another_server_of_tls(near: Near) -> Case:
    server, settings = near.tls(near.certificate("elsewhere.example"))
    settings["ssl.endpoint.identification.algorithm"] = ""
    sentence = "no Kafka answers at … (it ends the connection at the first word): check the port, or does it ask for …"
    return server, settings, "Kafka", sentence


def no_client_certificate(near: Near) -> Case:
    settings = near.settings("mTLS")
    del settings["ssl.certificate.location"], settings["ssl.key.location"]
    sentence = "… asks for a client's certificate (…): name one with ssl.certificate.location and ssl.key.location, …"
    return near.listening("mTLS"), settings, "Kafka", sentence


def no_client_certificate_for_tls_1_2(near: Near) -> Case:
    server, settings = near.tls(near.certificate(*SERVER_NAMES), asks=True)
    return server, settings, "TLS", "TLS with … fails (…): does it ask for a client's certificate? If not, …"


def foreign_client_certificate(near: Near) -> Case:
    file = str(near.certificate("alice"))
    settings = near.settings("mTLS", ssl_certificate_location=file, ssl_key_location=file)
    sentence = "… refuses the client's certificate (…): is it signed by an authority that this Kafka trusts, and still…"
    return near.listening("mTLS"), settings, "Kafka", sentence


def wrong_mechanism(near: Near) -> Case:
    settings = near.settings("PLAIN", sasl_mechanism="SCRAM-SHA-256")
    sentence = "… does not take the mechanism SCRAM-SHA-256: set sasl.mechanism to PLAIN"
    return near.listening("PLAIN"), settings, "SASL", sentence


def wrong_password(near: Near) -> Case:
    settings = near.settings("PLAIN", sasl_password="hunter2")  # noqa: S106
    sentence = (
        "Kafka at … refuses the user (Invalid username or password): check sasl.username and sasl.password; …"
    )
    return near.listening("PLAIN"), settings, "log in", sentence


def wrong_password_of_scram(near: Near) -> Case:
    settings = near.settings("SCRAM-SHA-256", sasl_password="hunter2")  # noqa: S106
    sentence = "Kafka at … refuses the user (Authentication failed …): check sasl.username and …"
    return near.listening("SCRAM-SHA-256"), settings, "log in", sentence


def unknown_user(near: Near) -> Case:
    settings = near.settings("SASL_SSL", sasl_username="bob")
    sentence = (
        "Kafka at … refuses the user (Invalid username or password): check sasl.username and sasl.password; …"
    )
    return near.listening("SASL_SSL"), settings, "log in", sentence


def refused_token(near: Near) -> Case:
    settings = near.settings("OAUTHBEARER")
    settings["sasl.oauthbearer.config"] += " principalClaimName=azp"
    sentence = "Kafka at … refuses the token (invalid_token): check the settings that get it (…)"
    return near.listening("OAUTHBEARER"), settings, "log in", sentence


def no_token(near: Near) -> Case:
    near.certificate(*SERVER_NAMES)
    settings = near.oidc(listeners.closed_port())
    sentence = "there is no token for Kafka at … (Failed to connect to …): check the settings that get it (…)"
    return near.listening("OAUTHBEARER"), settings, "log in", sentence


def refused_client(near: Near) -> Case:
    port = near.token_server()
    settings = near.oidc(port) | {"sasl.oauthbearer.client.secret": "another"}
    sentence = "there is no token for Kafka at … (…invalid_client…): check the settings that get it (…)"
    return near.listening("OAUTHBEARER"), settings, "log in", sentence


def untrusted_token_server(near: Near) -> Case:
    settings = near.oidc(near.token_server())
    del settings["https.ca.location"]
    sentence = "there is no token for Kafka at … (…): check the settings that get it (…)"
    return near.listening("OAUTHBEARER"), settings, "log in", sentence


def user_expected(near: Near) -> Case:
    sentence = "… asks for a user: set security.protocol to SASL_PLAINTEXT, and sasl.mechanism to PLAIN"
    return near.listening("PLAIN"), {}, "SASL", sentence


def user_not_expected(near: Near) -> Case:
    server = near.kafka("PLAIN").internal_bootstrap_servers
    sentence = "… asks for no user, and security.protocol is SASL_PLAINTEXT: set it to PLAINTEXT"
    return server, near.settings("PLAIN"), "SASL", sentence


def advertised_port_is_closed(near: Near) -> Case:
    server = near.advertising("PLAIN", b"127.0.0.1", 1)
    sentence = (
        "broker 1 advertises 127.0.0.1:1, which does not work from here: no Kafka answers at 127.0.0.1:1 (Connection …)"
        "; start it, correct its advertised.listeners, or go where that address works"
    )
    return server, near.settings("PLAIN"), "broker", sentence


def advertised_name_is_unknown(near: Near) -> Case:
    sentence = (
        "broker 1 advertises k.invalid:9092, which does not work from here: the name 'k.invalid' cannot be …"
    )
    return (
        near.advertising("SCRAM-SHA-256", b"k.invalid", 9092),
        near.settings("SCRAM-SHA-256"),
        "broker",
        sentence,
    )


CASES: list[Callable[[Near], Case]] = [
    *[no_such_name, nothing_listens, web_server, web_server_for_tls, tls_expected, tls_expected_of_a_user],
    *[tls_not_expected, wrong_authority, no_authority, expired_certificate, wrong_host_name],
    *[another_server_of_tls, no_client_certificate, no_client_certificate_for_tls_1_2],
    *[foreign_client_certificate, wrong_mechanism, wrong_password, wrong_password_of_scram, unknown_user],
    *[
        refused_token,
        no_token,
        refused_client,
        untrusted_token_server,
        user_expected,
        user_not_expected,
        advertised_port_is_closed,
    ],
    advertised_name_is_unknown,
]


CLOSED, CERTIFICATE = (
    "Disconnected: connection closed by peer",
    "SSL handshake failed: certificate verify failed: broker certificate could not be verified, verify that …",
)
# What commands other than doctor say: the reason in librdkafka's own words. {at} is the server.
SAID = {
    no_such_name: "no Kafka answers at {at} (Failed to resolve '{at}': Name or service not known): ",
    nothing_listens: "no Kafka answers at {at} (Connection refused): ",
    web_server: "no Kafka answers at {at} (Receive failed: Invalid response size …): ",
    web_server_for_tls: "no Kafka answers at {at} (…wrong version number): ",
    tls_expected: f"no Kafka answers at {{at}} ({CLOSED}): ",
    tls_expected_of_a_user: f"no Kafka answers at {{at}} ({CLOSED}): ",
    tls_not_expected: "no Kafka answers at {at} (SSL handshake failed: …connecting to a PLAINTEXT broker listener?): ",
    wrong_authority: f"no Kafka answers at {{at}} ({CERTIFICATE}): ",
    no_authority: f"no Kafka answers at {{at}} ({CERTIFICATE}): ",
    expired_certificate: f"no Kafka answers at {{at}} ({CERTIFICATE}): ",
    wrong_host_name: f"no Kafka answers at {{at}} ({CERTIFICATE}): ",
    another_server_of_tls: "no Kafka answers at {at} (Disconnected: SSL connection closed by peer): ",
    no_client_certificate: "no Kafka answers at {at} (Receive failed: …alert bad certificate: …): ",
    no_client_certificate_for_tls_1_2: "no Kafka answers at {at} (…alert handshake failure: …): ",
    foreign_client_certificate: "no Kafka answers at {at} (Receive failed: …alert certificate unknown: …): ",
    wrong_mechanism: "Kafka at {at} refuses the mechanism SCRAM-SHA-256 (Unsupported SASL mechanism: broker's "
    "supported mechanisms: PLAIN): check sasl.mechanism and security.protocol; ",
    user_expected: f"no Kafka answers at {{at}} ({CLOSED}): ",
    user_not_expected: "Kafka at {at} refuses the mechanism PLAIN (Request not valid in …): check sasl.mechanism …; ",
    advertised_port_is_closed: "broker 1 advertises 127.0.0.1:1, which does not work from here (Connection refused): ",
    advertised_name_is_unknown: "broker 1 advertises k.invalid:9092, which does not work from here (Failed to resolve "
    "'k.invalid:9092': Name or service not known): ",
}


def is_said(said: str, sentence: str) -> bool:
    """Whether it is this sentence, in which … stands for any text."""
    return re.fullmatch(re.escape(sentence).replace("…", ".*"), said) is not None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_command_says_why_and_names_doctor(
    case: Callable[[Near], Case],
    near: Near,
    refusal: Callable[..., str],
    settings_file: Callable[[Mapping[str, str]], Path],
) -> None:
    server, settings, step, sentence = case(near)
    file = settings_file(settings)
    began = time.monotonic()
    said = refusal("check", f"kafka://{server}/{TOPIC}", "--command-config", file)
    assert time.monotonic() - began < AT_MOST_S
    # A refused login says the same everywhere.
    why = f"{sentence}; " if step == "log in" else SAID[case].format(at=server)
    hint = f"`partwright doctor --bootstrap {server} --command-config {file}` names the step that fails"
    assert is_said(said.removeprefix("partwright: ").rstrip("\n"), why + hint), said


def test_the_named_command_finds_the_step(told: Told) -> None:
    server = f"127.0.0.1:{listeners.closed_port()}"
    words = ["-X", "security.protocol=SASL_SSL", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=al ice"]
    code, out, err = told("check", f"kafka://{server}/{TOPIC}", *words, "-X", "sasl.password=hunter2")
    assert (code, out, "hunter2" in err) == (2, "", False)
    _, command, _ = err.split("`")
    named = shlex.split(command)
    assert named == ["partwright", "doctor", "--bootstrap", server, *words, "-X", "sasl.password=..."]
    code, out, _ = told(*named[1:], "--json")
    assert (code, json.loads(out)["steps"][-1]["name"]) == (1, "connect")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_doctor_ends_at_the_step_that_fails(
    case: Callable[[Near], Case],
    near: Near,
    told: Told,
    settings_file: Callable[[Mapping[str, str]], Path],
) -> None:
    server, settings, step, sentence = case(near)
    began = time.monotonic()
    code, out, err = told(
        *["doctor", "--bootstrap", server, "--topic", TOPIC, "--json", "--command-config"],
        settings_file(settings),
    )
    assert (code, err) == (1, "")
    assert time.monotonic() - began < AT_MOST_S
    steps = json.loads(out)["steps"]
    assert [each["name"] for each in steps if not each["passed"]] == [step] == [steps[-1]["name"]]
    assert is_said(steps[-1]["said"], sentence), steps[-1]["said"]


def timed(call: Callable[[], list[ProbeStep]]) -> tuple[float, list[ProbeStep], str]:
    """Seconds, the answer, and the error instead of an answer."""
    began, found, said = time.monotonic(), [], ""
    try:
        found = call()
    except BrokerError as error:
        said = str(error)
    return time.monotonic() - began, found, said


@pytest.fixture(scope="module")
def silent(
    secured: Callable[[str], EmbeddedKafka], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[float, list[ProbeStep], str]]]:
    """The answers of a reading and of doctor about a server that takes a connection and says nothing, all at once."""
    with ExitStack() as ending, ThreadPoolExecutor(8) as threads:
        near = Near(secured, tmp_path_factory.mktemp("silent"), ending)
        near.certificate(*SERVER_NAMES)
        port = ending.enter_context(listeners.mute())
        cases: dict[str, tuple[str, Mapping[str, str]]] = {
            "plain": (f"127.0.0.1:{port},127.0.0.1:{port}", {}),
            "tls": (f"127.0.0.1:{port}", {"security.protocol": "SSL"}),
            "advertised": (near.advertising("PLAIN", b"127.0.0.1", port), near.settings("PLAIN")),
            "token": (near.listening("OAUTHBEARER"), near.oidc(port)),
        }
        asked = {}
        for name, (server, settings) in cases.items():
            config = KafkaConfig.read(settings, servers=server)
            read = partial(TopicRecords, config, TOPIC)
            gone = partial(list, examine(config))
            asked[f"read {name}"] = threads.submit(timed, read)
            asked[f"doctor {name}"] = threads.submit(timed, gone)
        yield {name: each.result() for name, each in asked.items()}


@pytest.mark.parametrize(
    ("name", "step", "sentence"),
    [
        (
            "plain",
            "Kafka",
            "no Kafka answers at … (it took the connection and says nothing in … s): check the port",
        ),
        (
            "tls",
            "TLS",
            "no Kafka answers at … (it took the connection and does not answer to TLS in … s): check the port, and …",
        ),
        (
            "advertised",
            "broker",
            "broker 1 advertises …, which does not work from here: no Kafka answers at … (…); start it, correct …",
        ),
        ("token", "log in", "there is no token for Kafka at … in time: check the settings that get it …"),
    ],
)
def test_silence_is_not_waited_for(
    silent: dict[str, tuple[float, list[ProbeStep], str]], name: str, step: str, sentence: str
) -> None:
    seconds, _, said = silent[f"read {name}"]
    late = "Kafka at … does not answer in time (it may be too busy, or just starting): "
    why = f"{sentence}; " if name == "token" else late
    assert is_said(said, f"{why}`partwright doctor …` names the step that fails"), said
    assert seconds < AT_MOST_S
    seconds, steps, said = silent[f"doctor {name}"]
    failed = [each for each in steps if not each.passed]
    assert (said, {each.name for each in failed}) == ("", {step})
    assert is_said(failed[0].said, sentence), failed
    assert seconds < AT_MOST_S


def test_a_name_that_the_system_never_resolves_is_not_waited_for(
    plaintext: KafkaConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [time.sleep(2)][:0])
    (step,) = way_to("broker.example", 9092, plaintext, 0.2)
    assert step.said == (
        "the name 'broker.example' is not resolved in 0.2 s: check this machine's DNS, or its VPN"
    )


def test_the_other_addresses_of_a_name_are_tried(
    secured: Callable[[str], EmbeddedKafka], plaintext: KafkaConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if localhost were ::1, where nothing listens, and 127.0.0.1."""
    ask = socket.getaddrinfo

    def both(host: str, port: int | None, *words: int, **more: int) -> list[object]:
        if host != "broker.example":
            return list(ask(host, port, *words, **more))
        return [*ask("127.0.0.2", port, *words, **more), *ask("127.0.0.1", port, *words, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    port = int(secured("PLAIN").internal_bootstrap_servers.rpartition(":")[2])
    steps = list(way_to("broker.example", port, plaintext, 2))
    assert [(each.name, each.passed) for each in steps] == [
        ("resolve", True),
        ("connect", True),
        ("Kafka", True),
        ("SASL", True),
    ]
    assert steps[0].said == "broker.example is 127.0.0.2, 127.0.0.1"


def test_a_token_server_opens_the_way(near: Near) -> None:
    config = KafkaConfig.read(near.oidc(near.token_server()), servers=near.listening("OAUTHBEARER"))
    assert [each.name for each in examine(config) if not each.passed] == []


@pytest.fixture
def plaintext() -> KafkaConfig:
    return KafkaConfig.read({})


def test_one_server_that_answers_is_enough(
    secured: Callable[[str], EmbeddedKafka], told: Told, refusal: Callable[..., str]
) -> None:
    kafka = secured("PLAIN").internal_bootstrap_servers
    servers = f"127.0.0.1:{listeners.closed_port()},{kafka}"
    topics.create_topic(kafka, "two-servers", 1)
    assert told("which", "k", "--topic", f"kafka://{servers}/two-servers", "--json")[0] == 0
    code, out, _ = told("doctor", "--bootstrap", servers, "--topic", "two-servers", "--json")
    steps = json.loads(out)["steps"]
    assert code == 1
    assert [each["name"] for each in steps if not each["passed"]] == ["connect"]
    assert steps[-1]["name"] == "read"
    neither = f"127.0.0.1:{listeners.closed_port()},127.0.0.1:{listeners.closed_port()}"
    assert "Connection refused" in refusal("which", "k", "--topic", f"kafka://{neither}/two-servers")


def test_an_unknown_topic_has_the_nearest_name(
    secured: Callable[[str], EmbeddedKafka], refusal: Callable[..., str], told: Told
) -> None:
    server = secured("PLAIN").internal_bootstrap_servers
    topics.create_topic(server, "flights", 3)
    for words in (["check"], ["fingerprint"], ["resize", "--to", "6"]):
        said = refusal(*words, f"kafka://{server}/flihgts")
        assert said == f"partwright: there is no topic 'flihgts' at {server}: did you mean 'flights'?\n"
    said = refusal("check", f"kafka://{server}/zzz")
    assert said == f"partwright: there is no topic 'zzz' at {server}: check its name, or make it first\n"
    # A question makes no topic.
    assert topics.partition_count(server, "zzz") is None
    code, out, _ = told("doctor", "--bootstrap", server, "--topic", "flihgts")
    assert code == 1
    said = f"✗ topic flihgts: there is no topic 'flihgts' at {server}: did you mean 'flights'?"
    assert said in " ".join(out.split())
    assert out.endswith(" steps failed: topic flihgts.\n")
    assert topics.partition_count(server, "flihgts") is None


def test_unknown_partitions_are_a_sentence(
    secured: Callable[[str], EmbeddedKafka], refusal: Callable[..., str]
) -> None:
    server = secured("PLAIN").internal_bootstrap_servers
    for n, sentence in (
        (1, "has 1 partition: name 0 alone"),
        (4, "has 4 partitions: name some of 0 to 3"),
    ):
        topics.create_topic(server, f"of-{n}", n)
        said = refusal("check", f"kafka://{server}/of-{n}", "--only-partitions", "0,7-9")
        assert said == f"partwright: --only-partitions names 9, and the topic 'of-{n}' {sentence}\n"
