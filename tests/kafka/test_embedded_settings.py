"""The embedded Kafka's settings for brokers, racks and properties, and each refusal, without starting it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import EmbeddedKafka
from partwright.kafka.embedded_properties import BrokerSettings, check_overrides
from partwright.kafka.embedded_security import BrokerSecurity, Security

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TOO_MANY = (
    "default.replication.factor asks for 4 replicas, and there are 3 brokers: start more (--brokers), "
    "or ask for fewer"
)


def told(folder: Path, ports: list[int], voters: Mapping[int, int], security: str) -> BrokerSettings:
    """The settings of a cluster's first broker."""
    return BrokerSettings(
        java=folder / "java",
        class_path=[folder / "kafka.jar"],
        folder=folder / "partwright-kafka-0123",
        node_id=1,
        rack="a",
        ports=ports,
        voters=voters,
        port=ports[0],
        internal_port=ports[0] if security == "PLAINTEXT" else 9,
        cluster_id="MkU3OEVBNTcwNTJENDM2Qg",
        heap="256m",
        overrides={"offsets.topic.num.partitions": "50"},
        security=BrokerSecurity.new(Security.named(security), folder / "partwright-kafka-0123"),
    )


def lines(settings: BrokerSettings) -> dict[str, str]:
    return dict(line.split("=", 1) for line in settings.properties.splitlines())


@pytest.mark.parametrize(("brokers", "replicas", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (5, "3", "2")])
def test_internal_topics_have_as_many_replicas_as_there_are_brokers(
    tmp_path: Path, brokers: int, replicas: str, in_sync: str
) -> None:
    found = lines(told(tmp_path, list(range(2001, 2001 + brokers)), {1: 3001}, "PLAINTEXT"))
    assert found["offsets.topic.replication.factor"] == replicas
    assert found["transaction.state.log.replication.factor"] == replicas
    assert found["transaction.state.log.min.isr"] == in_sync
    assert found["offsets.topic.num.partitions"] == "50"


def test_another_broker_has_its_own_place_and_the_same_cluster(tmp_path: Path) -> None:
    first = told(tmp_path, [2001, 2002], {1: 3001}, "PLAINTEXT")
    other = lines(first.of_another(2, "b", 2002, 4002))
    assert {name for name, value in lines(first).items() if other.get(name) != value} == {
        *("process.roles", "node.id", "broker.rack", "listeners", "advertised.listeners", "log.dirs")
    }
    assert (other["process.roles"], other["node.id"], other["broker.rack"]) == ("broker", "2", "b")
    assert other["listeners"].replace("\\", "") == "PLAINTEXT://127.0.0.1:2002"


@pytest.mark.parametrize("security", ["PLAINTEXT", "SASL_SSL:SCRAM-SHA-256", "mTLS"])
def test_what_a_broker_was_told_is_found_again_in_its_folder(tmp_path: Path, security: str) -> None:
    first = told(tmp_path, [2001, 2002, 2003], {1: 3001, 2: 3002, 3: 3003}, security)
    first.folder.mkdir()
    for name, content in first.files.items():
        (first.folder / name).write_bytes(content)
    assert BrokerSettings.of_folder(first.folder) == first


@pytest.mark.parametrize(
    ("brokers", "racks", "said"),
    [
        (3, ["a", "b"], "2 racks cannot be those of 3 brokers: name one for each"),
        (1, ["a", "b"], "2 racks cannot be those of 1 broker: name one for each"),
        (3, [], "0 racks cannot be those of 3 brokers: name one for each"),
        (3, ["a", " ", "c"], "the rack of broker 2 is missing: name one for each broker"),
        (0, None, "0 brokers cannot be started: use 1 to 100"),
        (101, None, "101 brokers cannot be started: use 1 to 100"),
    ],
)
def test_a_rack_that_is_missing_is_a_sentence(brokers: int, racks: list[str] | None, said: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        EmbeddedKafka(brokers=brokers, racks=racks)
    assert str(refused.value) == said


def test_the_last_brokers_port_must_be_one() -> None:
    with pytest.raises(PartwrightError, match=r"^65534 is not a port: use 1 to 65533, or leave it out"):
        EmbeddedKafka(brokers=3, port=65534)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("broker.rack", "a", "'broker.rack' is one broker's own: name the racks of all by racks (--rack)"),
        ("node.id", "7", "'node.id' is set by the embedded Kafka itself: leave it out of overrides"),
        (
            *("default.replication.factor", "4"),
            TOO_MANY,
        ),
    ],
)
def test_properties_that_would_not_work_are_sentences(name: str, value: str, said: str) -> None:
    with pytest.raises(BrokerError) as refused:
        check_overrides({"default.replication.factor": "3", name: value}, 3)
    assert str(refused.value) == said
    with pytest.raises(BrokerError), EmbeddedKafka(brokers=3, overrides={name: value}):
        pass
