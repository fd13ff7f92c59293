"""Scripts that name a client, a version or an assignor that there is not: one sentence, with the event in it."""

from __future__ import annotations

from typing import Any

import pytest

import partwright as pw
from partwright.group import play

TOPICS = {"orders": 7, "users": 4}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"client": "sarma"}, "there is no client 'sarma' in a script: did you mean 'sarama'"),
        ({"client": 7}, "there is no client 7 in a script"),
        ({"client": "sarama@9"}, "no client 'sarama@9' in a script: did you mean 'sarama"),
        ({"client": "java@2.8"}, "no client 'java@2.8' in a script"),
        (
            {"client": "java@4.9", "protocol": "consumer"},
            "did you mean 'java@4.4'? There are java, java@4.0, java@4.1, java@4.2, java@4.3 and java@4.4",
        ),
        (
            {"client": "sarama", "protocol": "consumer"},
            "sarama does not speak the protocol consumer (KIP-848)",
        ),
        ({"client": "librdkafka@1.6", "protocol": "consumer"}, "librdkafka@1.6 does not speak"),
        (
            {"client": "librdkafka", "assignor": "sticky"},
            "the member is of librdkafka, which has no assignor",
        ),
        ({"client": "sarama@1.27", "assignor": "sticky"}, "sticky has no answers for sarama@1.27"),
        ({"client": "kafkajs", "assignor": "RoundRobin"}, "there is no assignor 'RoundRobin'"),
        ({"client": "librdkafka", "assignor": ["range", "cooperative-sticky"]}, "librdkafka refuses"),
        ({"client": "kafka-go", "static": True}, "kafka-go does not have static members, and 'c1' is its"),
        ({"client": "kafka-python@2.2", "static": True}, "kafka-python@2.2 does not have static members"),
        (
            {"assignor": "RoundRobinAssigner"},
            "the member is of java, which has no assignor 'RoundRobinAssigner'",
        ),
    ],
)
def test_a_client_or_an_assignor_that_there_is_not_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        play({"topics": TOPICS, "events": "+2", **change})
    assert sentence in str(refused.value), str(refused.value)
    assert "\n" not in str(refused.value)
    client = change.pop("client", None)
    event = {"at_ms": 0, "join": "c1", **({} if client is None else {"client": client})}
    with pytest.raises(pw.PartwrightError) as refused:
        play({"topics": TOPICS, "events": [event], **change})
    if client is not None and "assignor" not in change:
        assert "event 1" in str(refused.value), str(refused.value)


def test_consumers_of_4_0_cannot_be_told_how_to_close() -> None:
    events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 9000, "leave": "c1", "operation": "REMAIN_IN_GROUP"}]
    script = {"topics": TOPICS, "protocol": "consumer", "events": events}
    assert play({**script, "client": "java@4.1"}).generations()
    with pytest.raises(pw.PartwrightError, match=r"event 2: java@4\.0 cannot be told to close by REMAIN"):
        play({**script, "client": "java@4.0"})


def test_a_comparison_is_of_javas_consumers() -> None:
    with pytest.raises(pw.PartwrightError, match="a comparison plays Java's consumers"):
        pw.group.compare({"topics": TOPICS, "client": "sarama", "events": "+2"})
