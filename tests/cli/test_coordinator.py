"""`partwright coordinator`: its text about a group, the same as JSON, and each refusal."""

from __future__ import annotations

import json
import shlex
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from partwright.kafka import groups
from partwright.keys.coordinators import Coordination, broker_kind_named

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


def test_a_group_s_partition_and_how_it_is_found(command: Command) -> None:
    code, out, err = command("coordinator", "KafkaConsumerDemo")
    assert (code, err) == (0, "")
    lines = out.decode().splitlines()
    assert lines[0] == "KafkaConsumerDemo: partition 35 of the 50 of __consumer_offsets."
    assert lines[1] == "abs(hashCode) % n: abs(-2039247585) % 50 = 35."
    assert "--topic __consumer_offsets --partition 35 " in lines[-1]


def test_the_same_as_json(command: Command) -> None:
    code, out, _ = command("coordinator", "group", "-n", 7, "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer.pop("read").startswith("kafka-console-consumer.sh --bootstrap-server localhost:9092 ")
    assert answer.pop("summary").startswith("group: partition ")
    hashed = answer.pop("hash")
    rule = {
        "broker_kind": "kafka",
        "formula": "abs(hashCode) % n",
        "evidence": "compared with a running Kafka",
    }
    assert answer.pop("rule") == rule
    assert answer == {"id": "group", "topic": "__consumer_offsets", "n": 7, "partition": abs(hashed) % 7}


def test_redpandas_rule_is_named_and_marked_as_read(command: Command) -> None:
    for words, n in (([], 16), (["-n", 50], 50)):
        code, out, _ = command("coordinator", "panda3", "--broker-kind", "redpanda", *words)
        lines = out.decode().splitlines()
        assert code == 0
        assert lines[0] == f"panda3: partition 13 of the {n} of __consumer_offsets."
        assert lines[1] == f"jump_consistent_hash(xxh64(id), n) = 13 for n = {n}."
        assert lines[2].startswith("This is Redpanda's rule, read from its source, not tried;")
    _, out, _ = command("coordinator", "panda3", "--broker-kind", "redpanda", "--json")
    answer = json.loads(out)
    assert (answer["partition"], answer["hash"]) == (13, None)
    assert answer["rule"]["evidence"] == "read from its source, not tried"


def test_kafkas_rule_is_named(command: Command) -> None:
    _, out, _ = command("coordinator", "panda3", "-n", 16)
    assert out.decode().startswith("panda3: partition 7 of the 16 of __consumer_offsets.\n")
    assert "This is Kafka's rule, compared with a running Kafka; brokers of another kind" in out.decode()


def test_the_least_int_is_said_to_be_0(command: Command) -> None:
    _, out, _ = command("coordinator", "polygenelubricants")
    words = " ".join(out.decode().split())
    assert "abs(-2147483648) % 50 = 0, because Kafka's absolute value of the lowest int is 0." in words


def test_a_transactional_id_is_in_another_topic(command: Command) -> None:
    _, out, _ = command("coordinator", "pay[1]", "--transactional")
    assert out.decode().startswith("pay[1]: partition ")
    assert "TransactionLogMessageFormatter" in out.decode()
    assert "__consumer_offsets" not in out.decode()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("group -n 0", "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ("group -n 4 --broker 127.0.0.1:1", "leave out -n"),
        ("group --broker 127.0.0.1", "bootstrap.servers '127.0.0.1' has no port: write '127.0.0.1:9092'"),
        ("group --broker 127.0.0.1:1", "127.0.0.1:1"),
        ("group --broker kafka://127.0.0.1:1", "no Kafka answers at 127.0.0.1:1"),
        ("group --broker kafka://127.0.0.1:1/orders", "is not the address of brokers alone"),
        ("", "which group? Name it, as in partwright coordinator billing"),
        ("group --broker-kind pulsar", "there is no broker kind 'pulsar' in partwright"),
        ("id --transactional --broker-kind redpanda", "--broker-kind redpanda is for groups"),
    ],
)
def test_what_is_wrong_is_one_sentence(words: str, sentence: str, refusal: Refusal) -> None:
    assert sentence in refusal("coordinator", *shlex.split(words))


def test_an_empty_id_is_refused_as_by_kafka(refusal: Refusal) -> None:
    said = refusal("coordinator", "")
    assert said == (
        "partwright: the group's id is empty, which Kafka's coordinator refuses of members as INVALID_GROUP_ID: "
        "name a group\n"
    )
    said = refusal("coordinator", "", "--transactional")
    assert said == "partwright: a transactional.id is empty, which Kafka's producer refuses: name one\n"


@pytest.mark.parametrize(
    ("asked", "agrees", "words"),
    [
        (1, True, "The broker leads this partition, and FindCoordinator names it too."),
        (
            2,
            False,
            "The rule is wrong here: abs(hashCode) % n: abs(-995544679) % 16 = 7 of __consumer_offsets",
        ),
        (None, None, "no broker could be asked who coordinates this ID."),
    ],
)
def test_the_rule_is_compared_with_the_coordinator_that_a_broker_names(
    asked: int | None, agrees: bool | None, words: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broker 1 leads partition 7 of 16, where Kafka's rule has panda3; broker 2 leads the others."""
    nodes = {id_: SimpleNamespace(id=id_, host="b", port=9090 + id_) for id_ in (1, 2)}
    partitions = [SimpleNamespace(id=at, leader=nodes[1 if at == 7 else 2]) for at in range(16)]
    internal = SimpleNamespace(partitions=partitions)
    monkeypatch.setattr(groups, "described", lambda _, names: dict.fromkeys(names, internal))
    # A broker may give each listener's clients another address.
    named = None if asked is None else {"id": asked, "host": "elsewhere", "port": 9190 + asked}
    monkeypatch.setattr(groups, "_find_coordinator", lambda *_: named)
    monkeypatch.setattr(groups, "_committed", lambda *_: [])
    code, out, err = command("coordinator", "panda3", "--broker", "127.0.0.1:1")
    assert (code, err) == (0, "")
    assert words in " ".join(out.decode().split())
    said = " ".join(out.decode().split())
    asked_for = ": coordinated by broker 2 at elsewhere:9192, as FindCoordinator answers. "
    assert (asked_for in said) == (agrees is False)
    assert (", coordinated by broker 1 at " in said) == (agrees is not False)
    answer = json.loads(command("coordinator", "panda3", "--broker", "127.0.0.1:1", "--json")[1])
    assert (answer["by_rule"], answer["rule_agrees"]) == (7, agrees)
    assert answer["partition"] == (None if agrees is False else 7)
    assert (answer["read"] is None) == (agrees is False)
    assert answer["leader"]["id"] == (asked or 1)


def test_each_form_has_the_answer(command: Command) -> None:
    _, out, _ = command("coordinator", "billing", "--output", "markdown")
    assert "**billing: partition 9 of the 50 of \\_\\_consumer\\_offsets.**" in out.decode()
    _, out, _ = command("coordinator", "billing", "--output", "html")
    assert b"Where billing is coordinated" in out


def test_an_answer_is_a_table_of_offsets() -> None:
    kind = broker_kind_named("kafka")
    offset = {"topic": "orders", "partition": 3, "offset": 17, "metadata": ""}
    place = {"n": 50, "partition": 9, "offsets": [offset]}
    asked = Coordination("billing", "__consumer_offsets", kind, 1, place, None)
    assert asked.to_arrow().to_pylist() == [offset]
    by_rule = Coordination("billing", "__consumer_offsets", kind, 1, {"n": 50, "partition": 9}, None)
    assert by_rule.to_arrow().schema == asked.to_arrow().schema
