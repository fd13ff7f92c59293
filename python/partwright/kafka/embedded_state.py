"""`broker.json` in the state folder: the brokers that outlive their starter, and whether they still run."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import filelock

from partwright.errors import BrokerError
from partwright.folders import private_file, private_state, state_folder, write_file
from partwright.kafka.embedded_process import log_tail, runs_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psutil import Process

    from partwright.kafka.embedded_node import Node

__all__ = ["DetachedBroker", "DetachedKafka", "alone", "described", "forget", "status", "write"]

# Longer than a start may take, including the download of the jars.
_OTHER_PROCESS_S = 900
# The system gives a process's creation by a clock. It may have been set by this many seconds since.
_CLOCK_SET_S = 3600.0


@dataclass(frozen=True)
class DetachedBroker:
    """A broker that was started to outlive its starter.

    Attributes:
        id: Its id.
        rack: Its `broker.rack`, or None.
        bootstrap_servers: `host:port` of only this broker.
        pid: The process id of its Java.
        pid_created: When that process was created, in seconds since 1970, as psutil reports it.
        supervisor: The process id of its supervisor.
        supervisor_created: When the supervisor was created.
        folder: The folder of its records and its log, until all brokers are stopped.
        running: Whether it runs.
    """

    id: int
    rack: str | None
    bootstrap_servers: str
    pid: int
    pid_created: float
    supervisor: int
    supervisor_created: float
    folder: str
    running: bool = True

    @property
    def log(self) -> Path:
        """The broker's log."""
        return Path(self.folder) / "broker.log"

    @property
    def java(self) -> Process | None:
        """Its Java, as `psutil.Process`; None if that has ended."""
        return _process(self.pid, self.pid_created, self.folder)

    @property
    def supervisor_process(self) -> Process | None:
        """Its supervisor, as `psutil.Process`; None if that has ended."""
        return _process(self.supervisor, self.supervisor_created, self.folder)

    def log_tail(self, lines: int) -> list[str]:
        """The last lines of the broker's log, without Java's stack frames."""
        return log_tail(self.log, lines)


@dataclass(frozen=True)
class DetachedKafka:
    """The brokers that were started to outlive their starter.

    Attributes:
        bootstrap_servers: `host:port` of each broker, separated by commas, as every Kafka client takes it.
        version: Kafka's version.
        started: When they were started, in ISO 8601, UTC.
        brokers: Its brokers.
        security: How clients connect, for example `SASL_SSL`.
        command_config: The file with the client's configuration, passwords included; None for PLAINTEXT.
    """

    bootstrap_servers: str
    version: str
    started: str
    brokers: tuple[DetachedBroker, ...]
    security: str = "PLAINTEXT"
    command_config: str | None = None

    def __post_init__(self) -> None:
        if not self.brokers:
            raise ValueError("it names no broker")

    @property
    def running(self) -> bool:
        """Whether any broker runs; if not, all ended without a clean-up."""
        return any(broker.running for broker in self.brokers)


def status() -> DetachedKafka | None:
    """The brokers that were started and not yet stopped, whether they still run or not; None if there are none.

    Raises:
        BrokerError: The state file cannot be read.
    """
    file = _state_file()
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        brokers = [DetachedBroker(**each) for each in told.pop("brokers")]
        found = DetachedKafka(**told, brokers=tuple(brokers))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise BrokerError(
            f"{file} cannot be read ({error}): end the broker that it was about, and delete it"
        ) from error
    seen = (replace(each, running=each.java is not None) for each in found.brokers)
    return replace(found, brokers=tuple(seen))


def described(nodes: Mapping[int, Node]) -> tuple[DetachedBroker, ...]:
    """The text of the state file for brokers."""
    return tuple(
        DetachedBroker(
            id=broker,
            rack=node.settings.rack,
            bootstrap_servers=node.settings.bootstrap_servers,
            pid=node.pid,
            pid_created=_created(node.pid, node.settings.folder),
            supervisor=node.supervisor_pid,
            supervisor_created=_created(node.supervisor_pid, node.settings.folder),
            folder=str(node.settings.folder),
            running=node.is_running,
        )
        for broker, node in nodes.items()
    )


def _created(pid: int, folder: Path) -> float:
    """When a process of a broker was created; 0 if it has ended."""
    process = runs_for(pid, folder) if pid else None
    return 0.0 if process is None else float(process.create_time())


def _state_file() -> Path:
    return state_folder() / "broker.json"


def forget() -> None:
    """Remove the state file, since no broker is left."""
    _state_file().unlink(missing_ok=True)


def write(kafka: DetachedKafka) -> None:
    """Write the state file in one step, so that nobody reads it half written."""
    file = _state_file()
    written = asdict(kafka)
    for broker in written["brokers"]:
        del broker["running"]
    try:
        write_file(file, f"{json.dumps(written, indent=2)}\n".encode(), 0o600)
    except OSError as error:
        raise BrokerError(f"{file} cannot be written ({error}): see PARTWRIGHT_STATE") from error


@contextmanager
def alone() -> Iterator[Path]:
    """The state folder, locked against every other start and stop."""
    folder = private_state()
    try:
        file = private_file(folder / "broker.lock")
        lock = filelock.FileLock(file, timeout=_OTHER_PROCESS_S, mode=0o600)
        lock.acquire()
    except filelock.Timeout as error:
        raise BrokerError(
            f"another start or stop still holds {folder / 'broker.lock'}: wait, or end it"
        ) from error
    except OSError as error:
        raise BrokerError(f"the folder {folder} cannot be used ({error}): see PARTWRIGHT_STATE") from error
    try:
        yield folder
    finally:
        lock.release()


def _process(pid: int, created: float, folder: str) -> Process | None:
    """The process that was started, as `psutil.Process`; None if it has ended or another process has its id."""
    process = runs_for(pid, Path(folder))
    same = process is not None and abs(process.create_time() - created) < _CLOCK_SET_S
    return process if same else None
