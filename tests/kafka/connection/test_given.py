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
from partwright.kafka.doctor import examine
from partwright.kafka.groups import any_group, coordinator

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def said(call: Callable[..., object], given: object) -> list[tuple[str, str]]:
    """The warnings of a function, and the file that they name, when it is asked for a Kafka that does not exist."""
    with warnings.catch_warnings(record=True) as caught, suppress(BrokerError):
        warnings.simplefilter("always")
        call(given)
    assert {each.category for each in caught} <= {UserWarning}
    return [(str(each.message), each.filename) for each in caught]


@pytest.mark.parametrize(
    "call",
    [
        topics.cluster_id,
        lambda given: topics.partition_count(given, "t"),
        lambda given: topics.create_topic(given, "t", 1),
        lambda given: topics.delete_topic(given, "t"),
        lambda given: topics.end_offsets(given, "t"),
        lambda given: coordinator(given, "g"),
        lambda given: any_group(given, "g"),
        lambda given: list(examine(given)),
        lambda given: pw.Cluster.from_kafka(None, kafka_config=given),
    ],
)
def test_a_function_warns_its_caller_of_what_a_configuration_has(
    call: Callable[..., object], tmp_path: Path
) -> None:
    note = "not used, since they do not matter for reaching a Kafka: acks"
    file = tmp_path / "client.properties"
    file.write_text("acks=1\nbootstrap.servers=127.0.0.1:1\n", encoding="ascii")
    servers = {"bootstrap.servers": "127.0.0.1:1"}
    for given in ({"acks": "1", **servers}, file, str(file)):
        assert said(call, given) == [(note, __file__)]
    # Its notes stay with whoever has read it.
    assert said(call, KafkaConfig.read({"acks": "1", **servers})) == []
    assert said(call, servers) == []


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
    with pytest.raises(pw.PartwrightError, match="'b' has no port"):
        KafkaConfig.read("c:9092,b")
    with pytest.raises(pw.PartwrightError, match="'a' cannot be read: no such file"):
        KafkaConfig.read("a")
