"""Warnings about a configuration reach the caller of a function that gets one."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

import partwright as pw
from partwright.errors import BrokerError
from partwright.kafka import topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.coordinators import coordinator
from partwright.kafka.doctor import examine
from partwright.kafka.groups import any_group

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def said(call: Callable[..., object], given: object) -> list[tuple[str, str]]:
    """The warnings of a function, and the file that they name, when it is asked for a Kafka that does not exist."""
    with warnings.catch_warnings(record=True) as caught, suppress(BrokerError):
        warnings.simplefilter("always")
        call("127.0.0.1:1", given)
    assert {each.category for each in caught} <= {UserWarning}
    return [(str(each.message), each.filename) for each in caught]


@pytest.mark.parametrize(
    "call",
    [
        lambda at, given: topics.cluster_id(at, kafka_config=given),
        lambda at, given: topics.partition_count(at, "t", kafka_config=given),
        lambda at, given: topics.create_topic(at, "t", 1, kafka_config=given),
        lambda at, given: topics.delete_topic(at, "t", kafka_config=given),
        lambda at, given: topics.end_offsets(at, "t", kafka_config=given),
        lambda at, given: coordinator(at, "g", kafka_config=given),
        lambda at, given: any_group(at, "g", kafka_config=given),
        lambda at, given: list(examine(at, kafka_config=given)),
        lambda at, given: pw.Cluster.from_kafka(at, kafka_config=given),
    ],
)
def test_a_function_warns_its_caller_of_what_a_configuration_has(
    call: Callable[..., object], tmp_path: Path
) -> None:
    note = "not used, since they do not matter for reaching a Kafka: acks"
    file = tmp_path / "client.properties"
    file.write_text("acks=1\n", encoding="ascii")
    for given in ({"acks": "1"}, file, str(file)):
        assert said(call, given) == [(note, __file__)]
    # Its notes stay with whoever has read it.
    assert said(call, KafkaConfig.read({"acks": "1"})) == []
    assert said(call, {}) == []


def test_servers_alone_are_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KafkaConfig.read("a:9092,[::1]:9093").servers == "a:9092,[::1]:9093"
    # The file that the environment names still says how they are reached.
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=b:1\nsecurity.protocol=SSL\n", encoding="ascii")
    monkeypatch.setenv("PARTWRIGHT_COMMAND_CONFIG", str(file))
    assert (KafkaConfig.read("a:9092").servers, KafkaConfig.read("a:9092").security_protocol) == (
        "a:9092",
        "SSL",
    )
    # A file of that name is a file.
    monkeypatch.chdir(tmp_path)
    file.rename("a:9092")
    monkeypatch.delenv("PARTWRIGHT_COMMAND_CONFIG")
    assert KafkaConfig.read("a:9092").servers == "b:1"
    for wrong in ("a", "a:9092,b", "a:99999"):
        with pytest.raises(pw.PartwrightError, match=r"cannot be read|there is no"):
            KafkaConfig.read(wrong)
