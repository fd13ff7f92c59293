"""A real Kafka of one broker or several on loopback, for the length of a `with` block."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from partwright._check import counted
from partwright.errors import BrokerError, MissingExtraError, PartwrightError
from partwright.kafka import embedded_access
from partwright.kafka.embedded_cluster import (
    EmbeddedCluster,
    PortTakenError,
    check_rack,
    free_ports,
    kafka_version,
)
from partwright.kafka.embedded_properties import (
    FOLDER_PREFIX,
    BrokerSettings,
    check_overrides,
    new_cluster_id,
)
from partwright.kafka.embedded_security import CLIENT_PROPERTIES, USER, BrokerSecurity, Form, Security, Stores
from partwright.kafka.jars import jar_files
from partwright.kafka.java import java_command

if TYPE_CHECKING:
    from partwright.kafka.embedded_node import BrokerProcess, Node

_HIGHEST_PORT = 65535
_TRIES = 3
_LOG_LINES = 20
# Several times what a broker writes in its first minute.
_FREE_BYTES = 64 << 20
_MOST_BROKERS = 100
_MOST_VOTERS = 5


class EmbeddedKafka:
    """A KRaft Kafka on 127.0.0.1, each broker with its own port and its own folder, for one `with` block.

    It is ready when the block is entered; when the block is left, it is stopped and removed with all its records, also
    after an exception or Ctrl-C. If this process is killed, supervisors do that.

    Args:
        brokers: How many brokers it starts with; their ids are 1, 2, 3, ...  With three or more, an odd number of them
            are controllers too, so that one of three may fail.
        racks: The `broker.rack` of each of them; None for no racks.
        port: The port of the first broker; the others have the next ports. By default, free ports.
        heap: Java's `-Xmx` for each broker, such as `512m`, the default for one broker; for several it is 256m.
        overrides: More server properties, by Kafka's names, which override the embedded Kafka's own.
        security: How clients reach it: `PLAINTEXT` (the default), `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512`,
            `OAUTHBEARER`, `SSL`, `mTLS`, `SASL_SSL` (PLAIN over TLS), `SASL_SSL:SCRAM-SHA-256` and the like, or `ACL`
            (PLAIN, and only what `allow` allows).  It has its own passwords and certificates, which are deleted with
            it.
        timeout: Seconds until it must answer.
        parent: The folder for its own folder; the temporary folder by default.
        progress: Called with a few words at each step, such as `starting Kafka 4.3.1`.

    Raises:
        PartwrightError: The port or the security does not exist, or there is not a rack for each broker.
        BrokerError: An override is not for this Kafka, or asks for more replicas than there are brokers.

    Examples:
        >>> with EmbeddedKafka() as kafka:  # doctest: +ELLIPSIS
        ...     print(kafka.bootstrap_servers)
        127.0.0.1:...
        >>> with EmbeddedKafka(security="SCRAM-SHA-512") as kafka:
        ...     kafka.client_properties()["sasl.mechanism"]
        'SCRAM-SHA-512'
    """

    def __init__(  # noqa: PLR0913 - eight say which Kafka it is; the ninth only watches it start
        self,
        *,
        brokers: int = 1,
        racks: Sequence[str] | None = None,
        port: int | None = None,
        heap: str | None = None,
        overrides: Mapping[str, str] | None = None,
        security: str | None = None,
        timeout: float = 90.0,
        parent: Path | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        if not 1 <= brokers <= _MOST_BROKERS:
            raise PartwrightError(f"{counted(brokers, 'broker')} cannot be started: use 1 to {_MOST_BROKERS}")
        if port is not None and not 1 <= port <= _HIGHEST_PORT - brokers + 1:
            raise PartwrightError(
                f"{port} is not a port: use 1 to {_HIGHEST_PORT - brokers + 1}, or leave it out for a free one"
            )
        if racks is not None and len(racks) != brokers:
            raise PartwrightError(
                f"{counted(len(racks), 'rack')} cannot be those of {counted(brokers, 'broker')}: name one for each"
            )
        for broker, rack in enumerate(racks or (), 1):
            check_rack(rack, broker, racks or ())
        self._brokers = brokers
        self._racks = list(racks) if racks else [None] * brokers
        self._wanted_port = port
        self._heap = heap or ("512m" if brokers == 1 else "256m")
        self._overrides = dict(overrides or {})
        self._security = Security.named(security)
        self._timeout = timeout
        self._parent = (parent or Path(tempfile.gettempdir())).absolute()
        self._progress = progress
        self._cluster: EmbeddedCluster | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of each broker with commas between, as every Kafka client takes it."""
        return ",".join(node.settings.bootstrap_servers for node in self.nodes.values())

    @property
    def internal_bootstrap_servers(self) -> str:
        """Where it accepts all clients in plain text, as a super user: the same address, unless it is secured."""
        return ",".join(node.settings.internal_bootstrap_servers for node in self.nodes.values())

    @property
    def security(self) -> str:
        """How clients reach it, such as `SASL_SSL`."""
        return self._security.name

    @property
    def command_config(self) -> Path | None:
        """The file with a client's settings, by Java's names and passwords included; None for PLAINTEXT."""
        return self.folder / CLIENT_PROPERTIES if self._security.is_secured else None

    @property
    def port(self) -> int:
        """The port on which clients reach the first broker."""
        return self.process.settings.port

    @property
    def pid(self) -> int:
        """The process id of the first broker's Java."""
        return self.process.pid

    @property
    def folder(self) -> Path:
        """The folder of everything that the first broker writes, and of the files for clients."""
        return self.process.settings.folder

    @property
    def version(self) -> str:
        """Kafka's version, such as `4.3.1`."""
        return kafka_version()

    @property
    def nodes(self) -> Mapping[int, Node]:
        """The brokers by their ids, running or not: their `pid`, `log`, `is_running` and `settings`.

        Raises:
            BrokerError: The block is not entered.
        """
        return self._entered.nodes

    @property
    def process(self) -> BrokerProcess:
        """The processes behind the first broker.

        Raises:
            BrokerError: The block is not entered.
        """
        return self._entered.launched[0]

    def client_properties(
        self, user: str = USER, *, form: Form = "java", stores: Stores = "PEM"
    ) -> dict[str, str]:
        """A client's settings, passwords and `bootstrap.servers` included.

        Args:
            user: The user: `alice`, or `admin` if there is SASL; without SASL, `alice` stands for everybody.
            form: `java` for the names of Kafka's own clients, `librdkafka` for those of confluent-kafka or kcat.
            stores: The format of the stores with keys and certificates: `PEM` or `PKCS12`.

        Returns:
            The settings by their names.

        Raises:
            PartwrightError: The user, form or format is unknown.
            BrokerError: The block is not entered.
        """
        return self.process.settings.security.client_properties(self.bootstrap_servers, user, form, stores)

    def allow(
        self, user: str, operation: str, resource_type: str, name: str, *, pattern: str = "literal"
    ) -> None:
        """Allow a user something by an ACL, and return when that applies.

        Args:
            user: The user's name, such as `alice`.
            operation: Kafka's name of an operation, such as `READ`, `DESCRIBE` or `ALL`.
            resource_type: `topic`, `group`, `cluster` or `transactional_id`.
            name: The resource's name, such as a topic's; `*` for all, and `kafka-cluster` for the cluster.
            pattern: `literal`, or `prefixed` for all names that begin with `name`.

        Raises:
            PartwrightError: The operation, resource type or pattern is unknown.
            BrokerError: The block is not entered, or this Kafka has no ACLs.
        """
        right = embedded_access.Right(user, operation, resource_type, name, pattern)
        embedded_access.add_acl(self._running, right, "ALLOW")

    def deny(
        self, user: str, operation: str, resource_type: str, name: str, *, pattern: str = "literal"
    ) -> None:
        """Deny a user something by an ACL, which overrides whatever is allowed; as `allow`."""
        right = embedded_access.Right(user, operation, resource_type, name, pattern)
        embedded_access.add_acl(self._running, right, "DENY")

    def revoke(
        self, user: str, operation: str, resource_type: str, name: str, *, pattern: str = "literal"
    ) -> int:
        """Take back what `allow` or `deny` set for the same; returns how many ACLs that were."""
        right = embedded_access.Right(user, operation, resource_type, name, pattern)
        return embedded_access.remove_acls(self._running, right)

    def log_tail(self, lines: int = _LOG_LINES, broker: int = 1) -> list[str]:
        """The last lines of a broker's log, without Java's stack frames."""
        return self.nodes[broker].log_tail(lines)

    def add(self, rack: str | None = None) -> int:
        """Start one more broker, on free ports, and return when all others know of it.

        Args:
            rack: Its `broker.rack`; None if the others have none either.

        Returns:
            Its ID, the next one. It holds no partition until one is moved there or a topic is created.

        Raises:
            PartwrightError: The others have racks and this one has none, or the other way round.
            BrokerError: It does not start.
        """
        return self._entered.add(rack)

    def stop(self, *brokers: int) -> None:
        """Stop brokers in an orderly way, all of them by default: other brokers, if any, take over first.

        Args:
            brokers: Their ids.  What they have written stays, for `start` or until the block is left.

        Raises:
            PartwrightError: There is no such broker.
        """
        self._entered.end(brokers, signal.SIGTERM)

    def kill(self, *brokers: int) -> None:
        """End brokers at once, as a crash would, all of them by default; as `stop`."""
        self._entered.end(brokers, signal.SIGKILL)

    def start(self, *brokers: int) -> None:
        """Start brokers again that were stopped or killed, all such by default, at the same ports with all they had.

        Args:
            brokers: Their ids.

        Raises:
            PartwrightError: There is no such broker, or one runs.
            BrokerError: One does not start.
        """
        self._entered.start(brokers)

    def detach(self) -> None:
        """Let the brokers outlive the block and this process, as `partwright broker start` does."""
        for node in self._entered.launched:
            node.detach()
        self._cluster = None

    def __enter__(self) -> Self:
        """Start the broker, and return when it answers.

        Raises:
            MissingExtraError: Java 17 or a package of the extra `kafka` is missing.
            BrokerError: The broker does not start; the log's last lines are in the message.
            PartwrightError: The jars cannot be had.
        """
        self._check_possible()
        java = java_command()
        class_path = jar_files("broker", self._jars_progress())
        if self._progress:
            self._progress(f"starting Kafka {self.version}")
        for left in reversed(range(_TRIES)):
            cluster = EmbeddedCluster([], self._timeout)
            try:
                cluster.launch(self._settings(java, class_path))
                break
            except PortTakenError:
                if not left or self._wanted_port:
                    raise
        self._cluster = cluster
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the brokers and remove their folders."""
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            cluster.close()

    @property
    def _entered(self) -> EmbeddedCluster:
        if self._cluster is None:
            raise BrokerError("the embedded Kafka is not running: use it as `with EmbeddedKafka() as kafka:`")
        return self._cluster

    @property
    def _running(self) -> list[str]:
        """Where each broker that runs is reached as a super user."""
        return [node.settings.internal_bootstrap_servers for node in self.nodes.values() if node.is_running]

    def _check_possible(self) -> None:
        if self._cluster is not None:
            raise BrokerError(
                f"this embedded Kafka is already running at {self.bootstrap_servers}: make another"
            )
        if os.name != "posix":
            raise BrokerError(
                "the embedded Kafka runs on Linux and macOS: elsewhere start a Kafka of your own"
            )
        needed = [("confluent_kafka", "confluent-kafka"), ("psutil", "psutil")]
        if self._security.encrypted:
            needed.append(("cryptography", "cryptography"))
        for module, package in needed:
            if find_spec(module) is None:
                raise MissingExtraError(f"{package} is missing: pip install 'partwright[kafka]'")
        if not self._parent.is_dir():
            raise BrokerError(f"the folder {self._parent} is not there: make it, or name another")
        free, needed_bytes = shutil.disk_usage(self._parent).free, _FREE_BYTES * self._brokers
        if free < needed_bytes:
            raise BrokerError(
                f"only {free >> 20} MiB are free in {self._parent}, and the embedded Kafka needs "
                f"{needed_bytes >> 20}: make room, or name another folder"
            )
        check_overrides(self._overrides, self._brokers)

    def _jars_progress(self) -> Callable[[int, int], None] | None:
        progress = self._progress
        if progress is None:
            return None
        words = f"fetching Kafka {self.version}"
        return lambda done, total: progress(f"{words}: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    def _settings(self, java: Path, class_path: list[Path]) -> list[BrokerSettings]:
        """Each broker's settings."""
        count = self._brokers
        # An odd number can lose most of them; the rest are brokers alone.
        voters = min(count - 1 + count % 2, _MOST_VOTERS)
        clients = [None if self._wanted_port is None else self._wanted_port + at for at in range(count)]
        free = free_ports([*clients, *[None] * (count + voters)])
        ports, internal = free[:count], free[count : 2 * count]
        folder = self._parent / f"{FOLDER_PREFIX}{secrets.token_hex(6)}"
        first = BrokerSettings(
            java=java,
            class_path=class_path,
            folder=folder,
            node_id=1,
            rack=self._racks[0],
            ports=ports,
            voters=dict(enumerate(free[2 * count :], 1)),
            port=ports[0],
            internal_port=internal[0] if self._security.is_secured else ports[0],
            cluster_id=new_cluster_id(),
            heap=self._heap,
            overrides=self._overrides,
            security=BrokerSecurity.new(self._security, folder),
        )
        others = zip(range(2, count + 1), self._racks[1:], ports[1:], internal[1:], strict=True)
        return [first, *(first.of_another(*each) for each in others)]
