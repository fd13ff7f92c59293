"""The embedded Kafka's settings, without starting it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from partwright.errors import BrokerError
from partwright.kafka.embedded_properties import BrokerSettings, check_overrides, new_cluster_id
from partwright.kafka.embedded_security import BrokerSecurity, Security


def settings(overrides: dict[str, str] | None = None, security: str | None = None) -> BrokerSettings:
    jars = [Path("a.jar"), Path("b.jar")]
    secured = BrokerSecurity.new(Security.named(security), Path("/f"))
    internal = 3333 if secured.security.is_secured else 1111
    return BrokerSettings(
        java=Path("java"),
        class_path=jars,
        folder=Path("/f"),
        node_id=1,
        rack=None,
        ports=[1111],
        voters={1: 2222},
        port=1111,
        internal_port=internal,
        cluster_id="id",
        heap="256m",
        overrides=overrides or {},
        security=secured,
    )


def properties(overrides: dict[str, str] | None = None, security: str | None = None) -> dict[str, str]:
    return dict(line.split("=", 1) for line in settings(overrides, security).properties.splitlines())


def test_only_loopback_is_listened_on() -> None:
    read = properties()
    assert read["listeners"] == "PLAINTEXT://127.0.0.1:1111,CONTROLLER://127.0.0.1:2222"
    assert read["advertised.listeners"] == "PLAINTEXT://127.0.0.1:1111"
    assert read["controller.quorum.voters"] == "1@127.0.0.1:2222"


def test_a_secured_one_is_reached_in_plain_text_by_itself_alone() -> None:
    read = properties(security="SASL_SSL")
    clear, secured = "PLAINTEXT://127.0.0.1:3333", "CLIENTS://127.0.0.1:1111"
    assert read["listeners"] == f"{clear},{secured},CONTROLLER://127.0.0.1:2222"
    assert read["advertised.listeners"] == f"{clear},{secured}"
    assert (
        read["listener.security.protocol.map"] == "PLAINTEXT:PLAINTEXT,CLIENTS:SASL_SSL,CONTROLLER:PLAINTEXT"
    )
    assert read["inter.broker.listener.name"] == "PLAINTEXT"


def test_an_override_wins() -> None:
    assert properties()["offsets.topic.num.partitions"] == "4"
    assert properties({"offsets.topic.num.partitions": "50"})["offsets.topic.num.partitions"] == "50"
    assert properties({"message.max.bytes": "7"})["message.max.bytes"] == "7"


@pytest.mark.parametrize("name", ["listeners", "advertised.listeners", "log.dirs", "log.dir", "node.id"])
def test_what_makes_it_ours_cannot_be_overridden(name: str) -> None:
    with pytest.raises(BrokerError, match=f"^'{name}' is set by the embedded Kafka itself"):
        check_overrides({name: "x"}, 1)


def test_values_are_escaped_as_java_reads_them() -> None:
    assert properties({"x": "a\\b\nlisteners=y"})["x"] == "a\\\\b\\nlisteners=y"


def test_the_folder_is_formatted_before_the_broker_runs() -> None:
    first, second = settings().commands
    assert first[-6:] == ["kafka.tools.StorageTool", "format", "-t", "id", "-c", "/f/server.properties"]
    assert second[-2:] == ["kafka.Kafka", "/f/server.properties"]
    assert "-Xmx256m" in second
    assert "a.jar:b.jar" in second


def test_a_cluster_id_is_sixteen_bytes_and_no_option() -> None:
    made = {new_cluster_id() for _ in range(2000)}
    assert len(made) == 2000
    assert not any(name.startswith("-") for name in made)
    assert {len(base64.urlsafe_b64decode(name + "==")) for name in made} == {16}
