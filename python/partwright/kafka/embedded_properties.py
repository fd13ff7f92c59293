"""The set-up of an embedded broker: its server.properties, and the Java commands that format and run it."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from partwright._check import counted
from partwright.errors import BrokerError
from partwright.kafka.connection.names import words
from partwright.kafka.connection.properties import properties_text
from partwright.kafka.embedded_security import BrokerSecurity
from partwright.kafka.java import SHORT_LIVED

FOLDER_PREFIX = "partwright-kafka-"

# These keep the brokers on loopback, each in its own folder.
_FIXED = words(
    """
    advertised.listeners broker.id broker.rack controller.listener.names controller.quorum.bootstrap.servers
    controller.quorum.voters inter.broker.listener.name listener.security.protocol.map listeners log.dir log.dirs
    metadata.log.dir node.id process.roles
    """
)
_SERVER = {
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    # A mistyped topic must be an error, not a new topic.
    "auto.create.topics.enable": "false",
    # A group does not wait for further members.
    "group.initial.rebalance.delay.ms": "0",
    # Kafka's default of 50 partitions each would cost files and start-up time for nothing.
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
    # Records may carry timestamps that are years old. With Kafka's default of a week they would be deleted while
    # someone reads them.
    "log.retention.ms": "-1",
    "log.retention.bytes": "-1",
    # Kafka's default of 128 MiB for compaction would be a quarter of the heap.
    "log.cleaner.dedupe.buffer.size": "16777216",
}
# How many replicas the internal topics have, and how many of them must be in sync.
_FACTORS = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "share.coordinator.state.topic.replication.factor",
)
_MIN_ISR = ("transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr")
_MOST_REPLICAS = 3
_HOST = "127.0.0.1"
_SETTINGS = "settings.json"
_LOGGER = "-Dorg.slf4j.simpleLogger."


def new_cluster_id() -> str:
    """A random cluster id in Kafka's form: 16 bytes in URL-safe base64. It never starts with `-`."""
    while (cluster_id := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return cluster_id


def check_overrides(overrides: Mapping[str, str], brokers: int) -> None:
    """Refuse server properties with which the embedded Kafka could be reached from outside or would not work.

    Args:
        overrides: The properties.
        brokers: How many brokers the cluster starts with.

    Raises:
        BrokerError: A property would take a broker off loopback or out of its folder, or asks for more replicas than
            there are brokers.
    """
    for name, value in overrides.items():
        if name == "broker.rack":
            raise BrokerError("'broker.rack' is one broker's own: name the racks of all by racks (--rack)")
        if name in _FIXED:
            raise BrokerError(f"{name!r} is set by the embedded Kafka itself: leave it out of overrides")
        if name.endswith("replication.factor") and value.strip().isdecimal() and int(value) > brokers:
            are = f"{'is' if brokers == 1 else 'are'} {counted(brokers, 'broker')}"
            raise BrokerError(
                f"{name} asks for {counted(int(value), 'replica')}, and there {are}: "
                "start more (--brokers), or ask for fewer"
            )


@dataclass(frozen=True)
class BrokerSettings:
    """All settings of a broker.

    Attributes:
        java: The `java` to run.
        class_path: The broker's jars.
        folder: The folder for everything that the broker writes; it need not exist yet.
        node_id: The broker's id in its cluster.
        rack: Its `broker.rack`, or None.
        ports: The clients' ports, on 127.0.0.1, of the brokers that the cluster starts with.
        voters: The ports of the cluster's controllers on 127.0.0.1, by node id.
        port: The broker's port for clients, on 127.0.0.1.
        internal_port: The port on 127.0.0.1 that takes plain text without a login. It is the same as `port` if that is
            not secured; otherwise it serves only the brokers and their starter.
        cluster_id: It identifies a broker that answers as one of this cluster.
        heap: Java's `-Xmx`, such as `512m`.
        overrides: More server properties, which win over those set here.
        security: How clients connect and log in.
    """

    java: Path
    class_path: Sequence[Path]
    folder: Path
    node_id: int
    rack: str | None
    ports: Sequence[int]
    voters: Mapping[int, int]
    port: int
    internal_port: int
    cluster_id: str
    heap: str
    overrides: Mapping[str, str]
    security: BrokerSecurity

    @classmethod
    def of_folder(cls, folder: Path) -> Self:
        """The settings of the broker that runs, or ran, in a folder.

        Raises:
            OSError: The folder is gone.
            ValueError: The folder's files are not those of a broker.
        """
        fields = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
        return cls(
            **fields
            | {
                "java": Path(fields["java"]),
                "class_path": [Path(jar) for jar in fields["class_path"]],
                "voters": {int(node): port for node, port in fields["voters"].items()},
                "security": BrokerSecurity.of_folder(folder, **fields["security"]),
            },
            folder=folder,
        )

    def of_another(self, node_id: int, rack: str | None, port: int, internal_port: int) -> Self:
        """The settings of another broker of the cluster, which has its own folder next to this one's."""
        last = self.folder.name.rpartition("-")[2]
        folder = self.folder.with_name(f"{FOLDER_PREFIX}{node_id}-{last}")
        return replace(
            self,
            folder=folder,
            node_id=node_id,
            rack=rack,
            port=port,
            internal_port=internal_port if self.security.security.is_secured else port,
            security=self.security.in_folder(folder),
        )

    @property
    def bootstrap_servers(self) -> str:
        """The broker's address for clients, as `host:port`."""
        return f"{_HOST}:{self.port}"

    @property
    def internal_bootstrap_servers(self) -> str:
        """The address that takes plain text without a login, as `host:port`."""
        return f"{_HOST}:{self.internal_port}"

    @property
    def properties(self) -> str:
        """The text of server.properties."""
        is_voter = self.node_id in self.voters
        protocols = {"PLAINTEXT": "PLAINTEXT", self.security.listener: self.security.security.protocol}
        addresses = {
            "PLAINTEXT": self.internal_bootstrap_servers,
            self.security.listener: self.bootstrap_servers,
        }
        advertised = [f"{name}://{address}" for name, address in addresses.items()]
        controllers = {node: f"{_HOST}:{port}" for node, port in self.voters.items()}
        own = [f"CONTROLLER://{controllers[self.node_id]}"] if is_voter else []
        replicas = min(len(self.ports), _MOST_REPLICAS)
        placed = {
            "process.roles": "broker,controller" if is_voter else "broker",
            "node.id": str(self.node_id),
            **({} if self.rack is None else {"broker.rack": self.rack}),
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocol}" for name, protocol in {**protocols, "CONTROLLER": "PLAINTEXT"}.items()
            ),
            "listeners": ",".join([*advertised, *own]),
            "advertised.listeners": ",".join(advertised),
            "controller.quorum.voters": ",".join(f"{node}@{at}" for node, at in controllers.items()),
            "log.dirs": str(self.folder / "data"),
            **dict.fromkeys(_FACTORS, str(replicas)),
            **dict.fromkeys(_MIN_ISR, str(max(1, replicas - 1))),
        }
        return properties_text({**_SERVER, **placed, **self.security.server_properties, **self.overrides})

    @property
    def files(self) -> dict[str, bytes]:
        """The files that the commands need in the folder: their contents by name."""
        fields = {name: value for name, value in vars(self).items() if name not in {"folder", "security"}}
        fields["security"] = self.security.facts
        return {
            _SETTINGS: json.dumps(fields, default=str).encode(),
            "server.properties": self.properties.encode("ascii"),
            **self.security.files(",".join(f"{_HOST}:{port}" for port in self.ports)),
        }

    @property
    def commands(self) -> list[list[str]]:
        """The commands, in order: format the data folder, run the broker."""
        properties = str(self.folder / "server.properties")
        format_tool = ["kafka.tools.StorageTool", "format", "-t", self.cluster_id, "-c", properties]
        return [
            [*self._java(*SHORT_LIVED), *format_tool],
            [*self._java(f"-Xmx{self.heap}", "-XX:+ExitOnOutOfMemoryError"), "kafka.Kafka", properties],
        ]

    def _java(self, *options: str) -> list[str]:
        return [
            str(self.java),
            *options,
            # Files that the JVM and the native codecs would otherwise leave in the temporary folder when killed.
            "-XX:-UsePerfData",
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            "-Djava.net.preferIPv4Stack=true",
            f"{_LOGGER}defaultLogLevel=info",
            f"{_LOGGER}showDateTime=true",
            f"{_LOGGER}dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            "-cp",
            os.pathsep.join(map(str, self.class_path)),
        ]
