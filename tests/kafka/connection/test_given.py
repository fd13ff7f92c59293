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
