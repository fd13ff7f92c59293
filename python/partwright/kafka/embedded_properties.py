"""How the embedded Kafka is set up: its server.properties, and the Java commands that format and run it."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright.errors import BrokerError
from partwright.kafka.java import properties

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from partwright.kafka.embedded_security import BrokerSecurity

__all__ = ["BrokerSettings", "new_cluster_id"]

# What makes the broker ours: one node, on loopback, in its own folder.
_FIXED = (
    "advertised.listeners",
    "controller.listener.names",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.voters",
    "inter.broker.listener.name",
    "listener.security.protocol.map",
    "listeners",
    "log.dir",
    "log.dirs",
    "metadata.log.dir",
    "node.id",
    "process.roles",
)
_SERVER = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    # A mistyped topic must be an error, not a new topic.
    "auto.create.topics.enable": "false",
    # One node has one replica, and a group on it waits for nobody.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    # Kafka's 50 each would be files and start-up time for nothing.
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
    # Records may carry timestamps of years ago; Kafka's week would delete them under the reader.
    "log.retention.ms": "-1",
    "log.retention.bytes": "-1",
    # Kafka's 128 MiB for compaction would be a quarter of the heap.
    "log.cleaner.dedupe.buffer.size": "16777216",
}
_HOST = "127.0.0.1"
_LOGGER = "-Dorg.slf4j.simpleLogger."


def new_cluster_id() -> str:
    """A random cluster id in Kafka's form: 16 bytes in URL-safe base64, not starting like an option."""
    while (cluster_id := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return cluster_id


@dataclass(frozen=True)
class BrokerSettings:
    """Everything that one start of the broker is told.

    Attributes:
        java: The `java` to run.
        class_path: The broker's jars.
        folder: The folder that holds all the broker writes; it need not exist yet.
        port: Where clients reach the broker, on 127.0.0.1.
        internal_port: Where it can be reached in plain text and without a name, on 127.0.0.1: the same where that
            is not secured, otherwise one for the broker itself and its starter.
        controller_port: Where the broker reaches its own controller, on 127.0.0.1.
        cluster_id: By which the broker that answers is known to be this one.
        heap: Java's `-Xmx`, such as `512m`.
        overrides: More server properties, which win over those set here.
        security: How clients reach it.
    """

    java: Path
    class_path: Sequence[Path]
    folder: Path
    port: int
    internal_port: int
    controller_port: int
    cluster_id: str
    heap: str
    overrides: Mapping[str, str]
    security: BrokerSecurity

    @property
    def bootstrap_servers(self) -> str:
        """Where clients reach the broker, as `host:port`."""
        return f"{_HOST}:{self.port}"

    @property
    def internal_bootstrap_servers(self) -> str:
        """Where it can be reached in plain text and without a name, as `host:port`."""
        return f"{_HOST}:{self.internal_port}"

    @property
    def properties(self) -> str:
        """The text of server.properties.

        Raises:
            BrokerError: An override would take the broker off loopback or out of its folder.
        """
        for name in _FIXED:
            if name in self.overrides:
                raise BrokerError(f"{name!r} is set by the embedded Kafka itself: leave it out of overrides")
        protocols = {"PLAINTEXT": "PLAINTEXT", self.security.listener: self.security.security.protocol}
        addresses = {
            "PLAINTEXT": self.internal_bootstrap_servers,
            self.security.listener: self.bootstrap_servers,
        }
        advertised = [f"{name}://{address}" for name, address in addresses.items()]
        controller = f"{_HOST}:{self.controller_port}"
        placed = {
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocol}" for name, protocol in {**protocols, "CONTROLLER": "PLAINTEXT"}.items()
            ),
            "listeners": ",".join([*advertised, f"CONTROLLER://{controller}"]),
            "advertised.listeners": ",".join(advertised),
            "controller.quorum.voters": f"1@{controller}",
            "log.dirs": str(self.folder / "data"),
        }
        return properties({**_SERVER, **placed, **self.security.server_properties, **self.overrides})

    @property
    def files(self) -> dict[str, bytes]:
        """What has to be in the folder before the commands run: what is in each file, by its name."""
        return {
            "server.properties": self.properties.encode("ascii"),
            **self.security.files(self.bootstrap_servers),
        }

    @property
    def commands(self) -> list[list[str]]:
        """The commands, one after the other: stores are made, the data folder is formatted, then the broker runs."""
        properties = str(self.folder / "server.properties")
        format_tool = ["kafka.tools.StorageTool", "format", "-t", self.cluster_id, "-c", properties]
        return [
            *self.security.commands,
            # It lives half a second: an optimising compiler and a concurrent collector only cost it.
            [*self._java("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"), *format_tool],
            [*self._java(f"-Xmx{self.heap}", "-XX:+ExitOnOutOfMemoryError"), "kafka.Kafka", properties],
        ]

    def _java(self, *options: str) -> list[str]:
        return [
            str(self.java),
            *options,
            # What the JVM and the native codecs would otherwise leave in the temporary folder when killed.
            "-XX:-UsePerfData",
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            "-Djava.net.preferIPv4Stack=true",
            f"{_LOGGER}defaultLogLevel=info",
            f"{_LOGGER}showDateTime=true",
            f"{_LOGGER}dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            "-cp",
            os.pathsep.join(map(str, self.class_path)),
        ]
