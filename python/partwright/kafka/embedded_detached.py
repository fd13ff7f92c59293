"""The embedded Kafka of `partwright broker`: it outlives the process that started it, until it is stopped.

What runs is written in `broker.json` in the user's state folder, or in the one that `PARTWRIGHT_STATE` names;
the broker's own folder lies beside it.  A broker that ended without being stopped is found there, and cleaned
up by the next start or stop.
"""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import filelock

from partwright.errors import BrokerError, PartwrightError
from partwright.folders import opened_privately, private_file, private_state, state_folder
from partwright.kafka.embedded import FOLDER_PREFIX, EmbeddedKafka
from partwright.kafka.embedded_process import log_tail, psutil_module, runs_for, wait_until_gone
from partwright.kafka.embedded_security import Security

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from subprocess import Popen

    from psutil import Process

__all__ = ["DetachedBroker", "Started", "start", "status", "stop"]

# Longer than a start may take, jars included.
_OTHER_PROCESS_S = 900
_STOP_S = 30.0
_KILL_S = 5.0
# By so much may the clock, by which the system tells a process's creation, have been set meanwhile.
_CLOCK_SET_S = 3600.0

# Supervisors that this very process started: it must collect them when they end.
_collect: list[Popen[bytes]] = []


@dataclass(frozen=True)
class DetachedBroker:
    """A broker that was started to outlive its starter.

    Attributes:
        bootstrap_servers: `host:port`, as every Kafka client takes it.
        version: Kafka's version.
        pid: The process id of its Java.
        pid_created: When that process was created, in seconds since 1970, as psutil says it.
        supervisor: The process id of its supervisor.
        supervisor_created: When that one was created.
        folder: Where its records and its log are, until it is stopped.
        started: When it was started, in ISO 8601, UTC.
        security: How clients reach it, such as `SASL_SSL`.
        command_config: The file with what a client is told, passwords included; None for PLAINTEXT.
        running: Whether it still runs; otherwise it ended without being stopped, and is to be cleaned up.
    """

    bootstrap_servers: str
    version: str
    pid: int
    pid_created: float
    supervisor: int
    supervisor_created: float
    folder: str
    started: str
    security: str = "PLAINTEXT"
    command_config: str | None = None
    running: bool = True

    @property
    def log(self) -> Path:
        """The broker's log."""
        return Path(self.folder) / "broker.log"

    def log_tail(self, lines: int) -> list[str]:
        """The last lines of the broker's log, without Java's stack frames."""
        return log_tail(self.log, lines)


@dataclass(frozen=True)
class Started:
    """What a start did.

    Attributes:
        broker: The broker that runs now.
        already: Whether it ran before.
        cleaned: The one that had ended without being stopped, and was cleaned up first.
    """

    broker: DetachedBroker
    already: bool
    cleaned: DetachedBroker | None


def start(
    port: int | None = None,
    *,
    heap: str = "512m",
    overrides: Mapping[str, str] | None = None,
    security: str | None = None,
    timeout: float = 90.0,
    progress: Callable[[str], None] | None = None,
) -> Started:
    """Start a broker that outlives this process, unless one runs already.

    Args:
        port: Where clients reach it; a free port by default.
        heap: Java's `-Xmx`, such as `512m`.
        overrides: More server properties by Kafka's names.
        security: How clients reach it, as `EmbeddedKafka` takes it; PLAINTEXT for a new one by default.
        timeout: Seconds until it must answer.
        progress: Called with a few words at each step.

    Returns:
        The broker, and what else had to be done.

    Raises:
        PartwrightError: One runs already on another port or with another security, there is no such security, or
            the jars cannot be had.
        BrokerError: It does not start; the log's last lines are in the message.

    Examples:
        >>> start(9092).broker.bootstrap_servers  # doctest: +SKIP
        '127.0.0.1:9092'
    """
    wanted = Security.named(security).name
    with _alone() as folder:
        found = status()
        if found is not None and found.running:
            if port is not None and not found.bootstrap_servers.endswith(f":{port}"):
                raise PartwrightError(
                    f"a broker runs already at {found.bootstrap_servers}, not on port {port}: stop it first "
                    "with `partwright broker stop`"
                )
            if security is not None and found.security != wanted:
                raise PartwrightError(
                    f"a broker runs already at {found.bootstrap_servers} with {found.security}, not {wanted}: stop "
                    "it first with `partwright broker stop`"
                )
            return Started(found, already=True, cleaned=None)
        if found is not None:
            _clean(found)
        kafka = EmbeddedKafka(
            port=port,
            heap=heap,
            overrides=overrides,
            security=wanted,
            timeout=timeout,
            parent=folder,
            progress=progress,
        )
        with kafka:
            broker = _describe(kafka)
            supervisor = kafka.process.supervisor
            try:
                _write(broker)
                kafka.detach()
            except BaseException:
                _state_file().unlink(missing_ok=True)
                raise
        _collect.append(supervisor)
        return Started(broker, already=False, cleaned=found)


def status() -> DetachedBroker | None:
    """The broker that was started and not yet stopped, whether it still runs or not; None if there is none.

    Raises:
        BrokerError: What is written of it cannot be read.
    """
    file = _state_file()
    try:
        broker = DetachedBroker(**json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise BrokerError(
            f"{file} cannot be read ({error}): end the broker that it was about, and delete it"
        ) from error
    return replace(broker, running=_process(broker.pid, broker.pid_created, broker.folder) is not None)


def stop() -> DetachedBroker | None:
    """Stop the broker and remove all that it wrote, or clean up after one that ended without being stopped.

    Returns:
        The broker as it was before; None where there was none.

    Raises:
        BrokerError: It does not stop.
    """
    with _alone():
        found = status()
        if found is not None:
            _clean(found)
        return found


def _clean(broker: DetachedBroker) -> None:
    """End whatever is left of a broker, and remove its folder and the state file."""
    folder = Path(broker.folder)
    # The supervisor ends the broker with itself; only where it was killed is the broker ended here.
    for pid, created in ((broker.supervisor, broker.supervisor_created), (broker.pid, broker.pid_created)):
        process = _process(pid, created, broker.folder)
        if process is not None:
            process.terminate()
            if not wait_until_gone(process, _STOP_S):
                process.kill()
                wait_until_gone(process, _KILL_S)
    _collect[:] = [child for child in _collect if child.poll() is None]
    if _process(broker.pid, broker.pid_created, broker.folder):
        raise BrokerError(
            f"the broker at {broker.bootstrap_servers} does not stop: end its process {broker.pid} yourself"
        )
    if folder.parent == state_folder() and folder.name.startswith(FOLDER_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)
    _state_file().unlink(missing_ok=True)


def _process(pid: int, created: float, folder: str) -> Process | None:
    """The process as it was started, as `psutil.Process`; None if it has ended or another got its number."""
    process = runs_for(pid, Path(folder))
    same = process is not None and abs(process.create_time() - created) < _CLOCK_SET_S
    return process if same else None


def _describe(kafka: EmbeddedKafka) -> DetachedBroker:
    psutil = psutil_module()
    supervisor = kafka.process.supervisor.pid
    return DetachedBroker(
        bootstrap_servers=kafka.bootstrap_servers,
        version=kafka.version,
        pid=kafka.pid,
        pid_created=psutil.Process(kafka.pid).create_time(),
        supervisor=supervisor,
        supervisor_created=psutil.Process(supervisor).create_time(),
        folder=str(kafka.folder),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        security=kafka.security,
        command_config=str(kafka.command_config) if kafka.command_config else None,
    )


def _state_file() -> Path:
    return state_folder() / "broker.json"


def _write(broker: DetachedBroker) -> None:
    """Write the state file in one step, so that it is never read half written."""
    file = _state_file()
    part = file.with_suffix(".part")
    written = asdict(broker)
    del written["running"]
    try:
        part.unlink(missing_ok=True)
        with open(part, "w", encoding="utf-8", opener=opened_privately) as unfinished:
            unfinished.write(json.dumps(written, indent=2) + "\n")
        part.replace(file)
    except OSError as error:
        raise BrokerError(f"{file} cannot be written ({error}): see PARTWRIGHT_STATE") from error


@contextmanager
def _alone() -> Iterator[Path]:
    """The state folder, with every other start and stop kept out."""
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
