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
from partwright.kafka import topics
from partwright.kafka.embedded_process import BrokerProcess, log_tail
from partwright.kafka.embedded_properties import BrokerSettings, new_cluster_id
from partwright.kafka.jars import jars, locked
from partwright.kafka.java import java_command

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
        timeout: Seconds until it must answer.
        parent: The folder in which it makes its own; the temporary folder by default.
        progress: Called with a few words at each step, such as `starting Kafka 4.3.1`.

    Raises:
        PartwrightError: The port is none.

    Examples:
        >>> with EmbeddedKafka() as kafka:  # doctest: +ELLIPSIS
        ...     print(kafka.bootstrap_servers)
        127.0.0.1:...
    """

    def __init__(
        self,
        *,
        port: int | None = None,
        heap: str = "512m",
        overrides: Mapping[str, str] | None = None,
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
        self._timeout = timeout
        self._parent = (parent or Path(tempfile.gettempdir())).absolute()
        self._progress = progress
        self._process: BrokerProcess | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`, as every Kafka client takes it."""
        return f"{_HOST}:{self.port}"

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
            MissingExtraError: Java 17, kafka-python or psutil is missing.
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
        for module, package in (("kafka", "kafka-python"), ("psutil", "psutil")):
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
        port, controller_port = _free_ports(self._wanted_port)
        folder = self._parent / f"{FOLDER_PREFIX}{secrets.token_hex(6)}"
        process = BrokerProcess(
            BrokerSettings(
                java, class_path, folder, port, controller_port, new_cluster_id(), self._heap, self._overrides
            )
        )
        try:
            self._wait_until_ready(process)
        except BaseException:
            process.stop()
            raise
        return process

    def _wait_until_ready(self, process: BrokerProcess) -> None:
        settings, deadline = process.settings, time.monotonic() + self._timeout
        while not (process.serving and _answers(settings)):
            process.listen(_LISTEN_S)
            if process.why_ended is not None:
                raise self._failure(process, f"{process.why_ended} while starting")
            if time.monotonic() > deadline:
                raise self._failure(
                    process, f"did not answer at {_HOST}:{settings.port} in {self._timeout:g} s"
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
        return topics.cluster_id(f"{_HOST}:{settings.port}", timeout=_ANSWER_S) == settings.cluster_id
    except BrokerError:
        return False


def _free_ports(wanted: int | None) -> tuple[int, int]:
    """A port for clients and one for the controller; nothing holds them once this has returned."""
    with socket.socket() as clients, socket.socket() as controller:
        # As Java does: a port whose last connection has just been closed can be had.
        clients.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            clients.bind((_HOST, wanted or 0))
        except OSError as error:
            raise BrokerError(
                f"port {wanted} on {_HOST} cannot be had ({error.strerror}): name another, or leave it out "
                "for a free one"
            ) from error
        controller.bind((_HOST, 0))
        return clients.getsockname()[1], controller.getsockname()[1]
