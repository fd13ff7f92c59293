"""The verbs as functions on a topic: the answers of the commands, and what was read of it."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

import partwright as pw
from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def address(broker: EmbeddedKafka) -> str:
    """A topic that one client wrote, and then another."""
    topics.create_topic(broker.bootstrap_servers, "verbs", 12)
    draw = random.Random(7)
    for partitioner in ("murmur2_random", "consistent_random"):
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "partitioner": partitioner})
        for _ in range(3000):
            key = None if draw.random() < 0.02 else b"user-%d" % draw.randrange(500)
            producer.produce("verbs", b"x" * draw.randrange(50), key)
        producer.flush()
    return f"kafka://{broker.bootstrap_servers}/verbs"


@pytest.mark.parametrize(
    ("verb", "ask", "words"),
    [
        ("check", pw.check, []),
        ("fingerprint", pw.fingerprint, []),
        ("resize", lambda records, **how: pw.resize(records, to=24, **how), ["--to", 24]),
    ],
)
def test_a_topic_gives_the_commands_answer(
    verb: str,
    ask: Callable[..., Any],
    words: list[object],
    address: str,
    told: Callable[..., tuple[int, str, str]],
) -> None:
    answer = json.loads(told(verb, address, *words, "--json")[1])
    del answer["summary"]
    servers = address.removeprefix("kafka://").removesuffix("/verbs")
    for records, how in (
        (address, {}),
        ("kafka:///verbs", {"kafka_config": {"bootstrap.servers": servers}}),
        (pw.RecordSource("kafka:///verbs", kafka_config={"bootstrap.servers": servers}), {}),
    ):
        found = ask(records, **how)
        assert {**json.loads(json.dumps(found.to_dict())), "read": found.question.read} == answer
        assert found.question.read["whole"]


def test_a_part_of_a_topic_says_so(address: str, told: Callable[..., tuple[int, str, str]]) -> None:
    part = pw.TopicPart(last=50, only_partitions="0,3-5")
    plan = pw.resize(pw.RecordSource(address, part=part), to=24)
    out = told("resize", address, "--to", 24, "--last", 50, "--only-partitions", "0,3-5", "--json")[1]
    answer = json.loads(out)
    assert plan.question.read == answer["read"]
    assert (plan.question.read["records"], plan.question.read["whole"]) == (200, False)
    # Later records may move, too.
    assert {each["drain_to"] for each in plan.to_dict()["before"]} == {None}


def test_two_topics_meet_as_in_the_command(address: str, told: Callable[..., tuple[int, str, str]]) -> None:
    table = {"id": [f"user-{row}" for row in range(500)]}
    found = pw.copartition(address, address)
    code, out, _ = told("copartition", address, address, "--json")
    answer = json.loads(out)
    del answer["summary"]
    assert json.loads(json.dumps(found.to_dict())) == answer
    assert code == (0 if found.ok else 1)
    # What is set for both is the table's, because a topic has its own.
    for sides in ((address, table), (table, address)):
        mixed = pw.copartition(*sides, "id", 12)
        assert {mixed.a.rows, mixed.b.rows} == {500, 6000}


def test_a_topic_with_another_number_says_so(address: str, told: Callable[..., tuple[int, str, str]]) -> None:
    _, _, err = told("check", address, "-n", 13)
    assert err == "the topic has 12 partitions, -n says 13\n"
    found = pw.check(address, n=13)
    assert (found.n, found.question.read["partitions"]) == (13, 12)


def test_a_topic_that_is_not_there_is_refused_with_the_nearest(address: str) -> None:
    with pytest.raises(pw.PartwrightError, match="did you mean 'verbs'"):
        pw.check(address.replace("/verbs", "/verb"))
