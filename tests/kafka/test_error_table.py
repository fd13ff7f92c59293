"""The table of Kafka's errors, the policy for trying again, and what librdkafka's events come to, without a broker."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import confluent_kafka
import pytest
from confluent_kafka import KafkaError

import partwright
from partwright.errors import BrokerError
from partwright.kafka import errors, troubles
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.errors import Meaning, RetriableError, hint_at_doctor, meaning, refusal, try_again
from partwright.kafka.jars import jar_files
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterator

CONFIG = KafkaConfig.read({}, servers="a:1,b:2")
SOURCES = Path(partwright.__file__).parent


def test_every_error_in_the_table_is_one_of_confluent_kafka() -> None:
    for name in errors._TABLE:
        assert KafkaError(getattr(KafkaError, name)).name() == name
    assert len(errors._TABLE) == sum(len(row.names.split()) for row in errors._ROWS)


def test_no_source_has_an_error_by_its_number() -> None:
    found = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for folder in ("kafka", "migration", "pipeline", "spark", "cli")
        for path in sorted((SOURCES / folder).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\.code\(\)|error_code\W+\d|KafkaError\(-?\d", line)
    ]
    assert found == []


@pytest.mark.broker
def test_what_is_tried_again_is_what_java_tries_again(tmp_path: Path) -> None:
    (tmp_path / "Retriable.java").write_text(
        """
        import org.apache.kafka.common.errors.RetriableException;
        import org.apache.kafka.common.protocol.Errors;
        public class Retriable {
            public static void main(String[] none) {
                for (Errors each : Errors.values())
                    System.out.println(each.code() + " " + (each.exception() instanceof RetriableException));
            }
        }
        """
    )
    java = shutil.which("java")
    assert java is not None
    command = [java, "-cp", ":".join(map(str, jar_files("broker"))), str(tmp_path / "Retriable.java")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    ours = {getattr(KafkaError, name): row.again for name, row in errors._TABLE.items() if name[0] != "_"}
    javas = {int(code): word == "true" for code, word in map(str.split, lines)}
    assert len(javas) > 100
    named = {getattr(KafkaError, name) for name in dir(KafkaError) if name.isupper() and name[0] != "_"}
    wrong = {code for code in javas.keys() & named if javas[code] != ours.get(code, False)}
    assert {KafkaError(code).name() for code in wrong} == set()


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        (
            "TOPIC_AUTHORIZATION_FAILED",
            BrokerError,
            "Kafka at a:1,b:2 gives this user no right to READ the topic 't': ",
        ),
        (
            "NOT_LEADER_FOR_PARTITION",
            RetriableError,
            "Kafka at a:1,b:2 refuses the topic 't' (why): see the broker's log",
        ),
        ("INVALID_CONFIG", BrokerError, "Kafka at a:1,b:2 refuses the topic 't' (why): see the broker's log"),
        (
            "MSG_SIZE_TOO_LARGE",
            BrokerError,
            "Kafka at a:1,b:2 refuses the topic 't' (why): raise its max.message.bytes",
        ),
    ],
)
def test_a_refusal_is_of_its_kind(name: str, kind: type[BrokerError], sentence: str) -> None:
    found = refusal(CONFIG, KafkaError(getattr(KafkaError, name), "why"), "READ", "the topic 't'")
    assert (type(found), found.value) == (kind, name)
    assert str(found).startswith(sentence)
    assert meaning(found) is meaning(KafkaError(getattr(KafkaError, name)))


def test_an_answer_is_asked_for_again_until_it_is_final_or_late() -> None:
    def ask() -> str:
        said = next(script)
        if said == "error":
            raise ValueError(said)
        return said

    def tried(seconds: float) -> str:
        return try_again(
            ask,
            seconds,
            error=lambda error: isinstance(error, ValueError),
            answer=lambda said: said == "moving",
        )

    script: Iterator[str] = iter(["moving", "error", "final", "unasked"])
    assert tried(5) == "final"
    assert next(script) == "unasked"
    script = iter(["moving"] * 1000)
    assert tried(0.1) == "moving"
    script = iter(["error"] * 1000)
    with pytest.raises(ValueError, match="error"):
        tried(0.1)
    assert len([*script]) > 900
    # What will not pass is raised at once.
    with pytest.raises(StopIteration):
        tried(5)


class Event(NamedTuple):
    """An event of librdkafka's."""

    kind: str
    text: str = ""

    def name(self) -> builtins.str:
        return self.kind

    def str(self) -> builtins.str:
        return self.text


ALL_DOWN = Event("_ALL_BROKERS_DOWN", "2/2 brokers are down")
REFUSED = Event(
    "_TRANSPORT",
    "a:1/bootstrap: Connect to ipv4#10.0.0.1:1 failed: Connection refused (after 1ms in state CONNECT)",
)
BROKER_GONE = Event(
    "_TRANSPORT",
    "ssl://[::1]:9/2: Connect to ipv6#[::1]:9 failed: Connection refused (after 1ms in state CONNECT, 1 identical "
    "error(s) suppressed)",
)
HINT = "`partwright doctor --bootstrap a:1,b:2` names the step that fails"


class Clock:
    """A clock that stands still between events."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(troubles, "time", found)
    return found


def noted(clock: Clock, *events: tuple[float, Event]) -> Troubles:
    """What has been collected after some events, each after a time."""
    found = Troubles(CONFIG)
    for seconds, event in events:
        clock.now += seconds
        found.note(cast("KafkaError", event))
    return found


def said(found: Troubles) -> str:
    """The sentence of a check; empty if there may be something to wait for."""
    try:
        found.check()
    except RetriableError as error:
        return str(error)
    return ""


def test_all_brokers_are_down_once_other_addresses_were_tried(clock: Clock) -> None:
    assert said(noted(clock, (0, REFUSED), (0, ALL_DOWN))) == ""
    assert said(noted(clock, (0, REFUSED), (0, ALL_DOWN), (0.4, REFUSED))) == ""
    found = noted(clock, (0, REFUSED), (0, ALL_DOWN), (0.6, REFUSED))
    assert said(found) == f"no Kafka answers at a:1,b:2 (Connection refused): {HINT}"
    # An answer ends it.
    found.clear()
    assert said(found) == ""
    # So does time without a failure: the connection must be there again.
    found = noted(clock, (0, ALL_DOWN), (0.6, REFUSED))
    clock.now += 20
    assert said(found) == ""
    found.note(cast("KafkaError", BROKER_GONE))
    assert said(found) == ""


def test_one_broker_may_be_gone_while_others_are_there(clock: Clock) -> None:
    found = noted(clock, (0, BROKER_GONE), (10, BROKER_GONE))
    assert said(found) == ""
    late = found.late()
    assert type(late) is RetriableError
    assert (
        str(late)
        == f"broker 2 advertises [::1]:9, which does not work from here (Connection refused): {HINT}"
    )
    with pytest.raises(RetriableError, match="broker 2"):
        found.check(0)


def test_without_an_event_nobody_knows_why(clock: Clock) -> None:
    del clock
    assert str(Troubles(CONFIG).late()) == (
        f"Kafka at a:1,b:2 does not answer in time (it may be too busy, or just starting): {HINT}"
    )


def test_the_fuller_words_are_kept(clock: Clock) -> None:
    short = "a:1/bootstrap: error:0A000086:SSL routines::certificate verify failed (after 1ms in state SSL_HANDSHAKE)"
    full = short.replace("error:", "SSL handshake failed: error:").replace(
        "failed (", "failed: see ssl.ca.location ("
    )
    for texts in ((short, full, short), (full, short, short)):
        found = noted(clock, (0, ALL_DOWN), *((0.3, Event("_SSL", text)) for text in texts))
        assert said(found).startswith(
            "no Kafka answers at a:1,b:2 (SSL handshake failed: certificate verify failed: see ssl.ca.location): "
        )


def test_closed_connections_are_read_from_the_log(clock: Clock) -> None:
    found = Troubles(CONFIG)
    line = (
        "FAIL [rdkafka#producer-1] [thrd:a:1/bootstrap]: a:1/bootstrap: Disconnected: connection closed by peer: "
        "receive 0 after POLLIN (after 1ms in state UP)"
    )
    for each in (line, line):
        found.log.error(each)
        found.note(cast("KafkaError", ALL_DOWN))
        clock.now += 1
    assert said(found) == f"no Kafka answers at a:1,b:2 (Disconnected: connection closed by peer): {HINT}"
    # A broker's words about a login may contain the password.
    found = Troubles(CONFIG)
    found.log.error(
        "FAIL [x] [thrd:a:1/bootstrap]: a:1/bootstrap: not with hunter2 (after 1ms in state AUTH_REQ)"
    )
    assert "hunter2" not in str(found.late())


def test_the_hint_has_the_options_but_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "a b.properties"
    file.touch(0o600)
    file.write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=hunter2\n"
    )
    config = KafkaConfig.read(str(file), settings={"client.id": "x" * 201}, servers="a:1")
    assert hint_at_doctor(config) == (
        f"`partwright doctor --bootstrap a:1 --command-config '{file}' -X client.id=...` names the step that fails"
    )
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    given = {"sasl.jaas.config": f'{module} required username="u" password="hunter2";'}
    named = hint_at_doctor(KafkaConfig.read(given | {"sasl.mechanism": "PLAIN"}, servers="a:1"))
    assert "hunter2" not in named
    assert "sasl.jaas.config=..." in named


def test_confluent_kafka_is_not_needed_for_the_names() -> None:
    assert meaning(None) is None
    assert meaning(BrokerError("no", value="orders")) is Meaning.OTHER
    assert confluent_kafka.OFFSET_INVALID == -1001
