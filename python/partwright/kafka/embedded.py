"""A real Kafka of one node on loopback, which lives as long as the `with` block that started it."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.errors import BrokerError, MissingExtraError, PartwrightError
from partwright.kafka import embedded_access, topics
from partwright.kafka.embedded_process import BrokerProcess, log_tail
from partwright.kafka.embedded_properties import BrokerSettings, new_cluster_id
from partwright.kafka.embedded_security import CLIENT_PROPERTIES, USER, BrokerSecurity, Form, Security, Stores
from partwright.kafka.jars import jars, locked
from partwright.kafka.java import java_command, keytool_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Self

__all__ = ["FOLDER_PREFIX", "EmbeddedKafka"]

FOLDER_PREFIX = "partwright-kafka-"

_HOST = "127.0.0.1"
_HIGHEST_PORT = 65535
_TRIES = 3
_LISTEN_S = 0.05
_ANSWER_S = 5.0
_LOG_LINES = 20
# What the broker writes in its first minute, several times over.
_FREE_BYTES = 64 << 20
_WHOLE_LOG = 10_000
_INFORMATION = "] INFO "
_PORT_TAKEN = "failed to bind to"


class _PortTakenError(BrokerError):
    """Between the choice of a port and the broker's start, somebody else took it."""


class EmbeddedKafka:
    """A single-node KRaft Kafka on 127.0.0.1, with its own port and its own folder, for one `with` block.

    It is ready when the block is entered; when the block is left it is stopped and removed with all its
    records.  So it is after an exception or Ctrl-C, and when this process is killed a supervisor sees to it.

    Args:
        port: Where clients reach it; a free port by default.
        heap: Java's `-Xmx`, such as `512m`.
        overrides: More server properties by Kafka's names, which win over the embedded Kafka's own.
        security: How clients reach it: `PLAINTEXT` (the default), `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512`,
            `OAUTHBEARER`, `SSL`, `mTLS`, `SASL_SSL` (PLAIN over TLS), `SASL_SSL:SCRAM-SHA-256` and the like, or `ACL`
            (PLAIN, and only what `allow` allows may be done).  Passwords and certificates are its own and go with it.
        timeout: Seconds until it must answer.
        parent: The folder in which it makes its own; the temporary folder by default.
        progress: Called with a few words at each step, such as `starting Kafka 4.3.1`.

    Raises:
        PartwrightError: The port or the security does not exist.

    Examples:
        >>> with EmbeddedKafka() as kafka:  # doctest: +ELLIPSIS
        ...     print(kafka.bootstrap_servers)
        127.0.0.1:...
        >>> with EmbeddedKafka(security="SCRAM-SHA-512") as kafka:
        ...     kafka.client_properties()["sasl.mechanism"]
        'SCRAM-SHA-512'
    """

    def __init__(
        self,
        *,
        port: int | None = None,
        heap: str = "512m",
        overrides: Mapping[str, str] | None = None,
        security: str | None = None,
        timeout: float = 90.0,
        parent: Path | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        if port is not None and not 1 <= port <= _HIGHEST_PORT:
            raise PartwrightError(
                f"{port} is no port: use 1 to {_HIGHEST_PORT}, or leave it out for a free one"
            )
        self._wanted_port = port
        self._heap = heap
        self._overrides = dict(overrides or {})
        self._security = Security.named(security)
        self._timeout = timeout
        self._parent = (parent or Path(tempfile.gettempdir())).absolute()
        self._progress = progress
        self._process: BrokerProcess | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`, as every Kafka client takes it."""
        return f"{_HOST}:{self.port}"

    @property
    def internal_bootstrap_servers(self) -> str:
        """Where it takes all clients in plain text, as a super user: the same, unless it is secured."""
        return self.process.settings.internal_bootstrap_servers

    @property
    def security(self) -> str:
        """How clients reach it, such as `SASL_SSL`."""
        return self._security.name

    @property
    def command_config(self) -> Path | None:
        """The file with what a client is told, by Java's names and passwords included; None for PLAINTEXT."""
        return self.folder / CLIENT_PROPERTIES if self._security.is_secured else None

    @property
    def port(self) -> int:
        """The port on which clients reach the broker."""
        return self.process.settings.port

    @property
    def pid(self) -> int:
        """The process id of the broker's Java."""
        return self.process.pid

    @property
    def folder(self) -> Path:
        """The folder of everything that the broker writes."""
        return self.process.settings.folder

    @property
    def version(self) -> str:
        """Kafka's version, such as `4.3.1`."""
        return locked("broker").version("kafka_2.13")

    @property
    def process(self) -> BrokerProcess:
        """The processes behind it.

        Raises:
            BrokerError: The block is not entered.
        """
        if self._process is None:
            raise BrokerError("the embedded Kafka is not running: use it as `with EmbeddedKafka() as kafka:`")
        return self._process

    def client_properties(
        self, user: str = USER, *, form: Form = "java", stores: Stores = "PEM"
    ) -> dict[str, str]:
        """What a client is told, passwords and `bootstrap.servers` included.

        Args:
            user: Who logs in: `alice`, or `admin` where there is SASL; without SASL, `alice` stands for everybody.
            form: `java` for the names of Kafka's own clients, `librdkafka` for those of confluent-kafka or kcat.
            stores: The format of the stores with keys and certificates: `PEM`, `PKCS12` or `JKS`.

        Returns:
            The settings by their names.

        Raises:
            PartwrightError: There is no such user, form or format.
            BrokerError: The block is not entered, or there are no JKS stores: for lack of keytool, or since
                librdkafka reads none.
        """
        settings = self.process.settings
        return settings.security.client_properties(settings.bootstrap_servers, user, form, stores)

    def allow(
        self, user: str, operation: str, resource_type: str, name: str, *, pattern: str = "literal"
    ) -> None:
        """Allow a user something by an ACL, and return when it is so.

        Args:
            user: The user's name, such as `alice`.
            operation: Kafka's name of an operation, such as `READ`, `DESCRIBE` or `ALL`.
            resource_type: `topic`, `group`, `cluster` or `transactional_id`.
            name: The topic's name, say; `*` for all, and `kafka-cluster` for the cluster.
            pattern: `literal`, or `prefixed` for all whose names begin with `name`.

        Raises:
            PartwrightError: There is no such operation, resource type or pattern.
            BrokerError: The block is not entered, or this Kafka has no ACLs.
        """
        right = embedded_access.Right(user, operation, resource_type, name, pattern)
        embedded_access.add_acl(self.internal_bootstrap_servers, right, deny=False)

    def deny(
        self, user: str, operation: str, resource_type: str, name: str, *, pattern: str = "literal"
    ) -> None:
        """Deny a user something by an ACL, which wins over whatever is allowed; as `allow`."""
        right = embedded_access.Right(user, operation, resource_type, name, pattern)
        embedded_access.add_acl(self.internal_bootstrap_servers, right, deny=True)

    def revoke(
        self, user: str, operation: str, resource_type: str, name: str, *, pattern: str = "literal"
    ) -> int:
        """Take back what `allow` or `deny` said of the same; how many ACLs that were."""
        right = embedded_access.Right(user, operation, resource_type, name, pattern)
        return embedded_access.remove_acls(self.internal_bootstrap_servers, right)

    def log_tail(self, lines: int = _LOG_LINES) -> list[str]:
        """The last lines of the broker's log, without Java's stack frames."""
        return log_tail(self.process.log, lines)

    def kill(self) -> None:
        """End the broker at once, as a crash would; its folder stays until the block is left."""
        self.process.kill()

    def detach(self) -> None:
        """Let the broker outlive the block and this process, as `partwright broker start` does."""
        self.process.detach()
        self._process = None

    def __enter__(self) -> Self:
        """Start the broker, and return when it answers.

        Raises:
            MissingExtraError: Java 17 or a package of the extra `kafka` is missing.
            BrokerError: The broker does not start; the log's last lines are in the message.
            PartwrightError: The jars cannot be had.
        """
        self._check_possible()
        java = java_command()
        class_path = jars("broker", self._jars_progress())
        if self._progress:
            self._progress(f"starting Kafka {self.version}")
        for left in reversed(range(_TRIES)):
            try:
                self._process = self._launch(java, class_path)
                break
            except _PortTakenError:
                if not left or self._wanted_port:
                    raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the broker and remove its folder."""
        process, self._process = self._process, None
        if process is not None:
            process.stop()

    def _check_possible(self) -> None:
        if self._process is not None:
            raise BrokerError(
                f"this embedded Kafka is running already at {self.bootstrap_servers}: make another"
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
        free = shutil.disk_usage(self._parent).free
        if free < _FREE_BYTES:
            raise BrokerError(
                f"only {free >> 20} MiB are free in {self._parent}, and the embedded Kafka needs "
                f"{_FREE_BYTES >> 20}: make room, or name another folder"
            )

    def _jars_progress(self) -> Callable[[int, int], None] | None:
        progress = self._progress
        if progress is None:
            return None
        words = f"fetching Kafka {self.version}"
        return lambda done, total: progress(f"{words}: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    def _launch(self, java: Path, class_path: list[Path]) -> BrokerProcess:
        port, internal_port, controller_port = _free_ports(self._wanted_port)
        folder = self._parent / f"{FOLDER_PREFIX}{secrets.token_hex(6)}"
        settings = BrokerSettings(
            java=java,
            class_path=class_path,
            folder=folder,
            port=port,
            internal_port=internal_port if self._security.is_secured else port,
            controller_port=controller_port,
            cluster_id=new_cluster_id(),
            heap=self._heap,
            overrides=self._overrides,
            security=BrokerSecurity.new(self._security, folder, keytool_command(java)),
        )
        process = BrokerProcess(settings)
        try:
            self._wait_until_ready(process)
        except BaseException:
            process.stop()
            raise
        return process

    def _wait_until_ready(self, process: BrokerProcess) -> None:
        settings, deadline = process.settings, time.monotonic() + self._timeout
        self._wait_until(process, deadline, lambda: process.serving and _answers(settings))
        mechanism = self._security.mechanism
        if self._security.scram and mechanism:
            internal, passwords = settings.internal_bootstrap_servers, settings.security.passwords
            embedded_access.add_scram_users(internal, mechanism, passwords)
            client = settings.security.client_properties(settings.bootstrap_servers, form="librdkafka")
            self._wait_until(process, deadline, lambda: embedded_access.can_log_in(client, _ANSWER_S))

    def _wait_until(self, process: BrokerProcess, deadline: float, so: Callable[[], bool]) -> None:
        settings = process.settings
        while not so():
            process.listen(_LISTEN_S)
            if process.why_ended is not None:
                raise self._failure(process, f"{process.why_ended} while starting")
            if time.monotonic() > deadline:
                raise self._failure(
                    process, f"did not answer at {settings.bootstrap_servers} in {self._timeout:g} s"
                )

    def _failure(self, process: BrokerProcess, what: str) -> BrokerError:
        lines = log_tail(process.log, _WHOLE_LOG)
        kind = _PortTakenError if any(_PORT_TAKEN in line for line in lines) else BrokerError
        if process.why_ended:
            # An orderly shutdown has more to say than what it was for.
            lines = [line for line in lines if _INFORMATION not in line] or lines
        text = "".join(f"\n  {line}" for line in lines[-_LOG_LINES:]) or " nothing"
        return kind(f"Kafka {self.version} {what}; the last lines of its log:{text}")


def _answers(settings: BrokerSettings) -> bool:
    """Whether it is this broker, and not some other on the same port, that answers."""
    try:
        internal = settings.internal_bootstrap_servers
        # The user's own configuration, which a variable may name, is for another Kafka.
        return topics.cluster_id(internal, timeout=_ANSWER_S, kafka_config={}) == settings.cluster_id
    except BrokerError:
        return False


def _free_ports(wanted: int | None) -> tuple[int, int, int]:
    """A port for clients, one for the broker itself and one for the controller; nothing holds them any more."""
    with socket.socket() as clients, socket.socket() as internal, socket.socket() as controller:
        # As Java does: a port whose last connection has just been closed can be had.
        clients.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            clients.bind((_HOST, wanted or 0))
        except OSError as error:
            raise BrokerError(
                f"port {wanted} on {_HOST} cannot be had ({error.strerror}): name another, or leave it out "
                "for a free one"
            ) from error
        internal.bind((_HOST, 0))
        controller.bind((_HOST, 0))
        return clients.getsockname()[1], internal.getsockname()[1], controller.getsockname()[1]
