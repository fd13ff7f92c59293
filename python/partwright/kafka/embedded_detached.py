"""The embedded Kafka of `partwright broker`: it outlives the process that started it, until it is stopped.

`broker.json` in the user's state folder, or in the one that `PARTWRIGHT_STATE` names, records what runs; the brokers'
own folders are next to it. The next start or stop finds brokers that ended without being stopped there, and cleans up
after them.
"""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import filelock

from partwright._check import counted
from partwright.errors import BrokerError, PartwrightError
from partwright.folders import private_file, private_state, state_folder, write_file
from partwright.kafka.embedded import EmbeddedKafka
from partwright.kafka.embedded_cluster import EmbeddedCluster
from partwright.kafka.embedded_node import Node, collect_ended, log_tail, runs_for, wait_until_gone
from partwright.kafka.embedded_properties import FOLDER_PREFIX, BrokerSettings
from partwright.kafka.embedded_security import Security

if TYPE_CHECKING:
    from psutil import Process


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
        state = json.loads(file.read_text(encoding="utf-8"))
        brokers = [DetachedBroker(**each) for each in state.pop("brokers")]
        kafka = DetachedKafka(**state, brokers=tuple(brokers))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise BrokerError(
            f"{file} cannot be read ({error}): end the broker that it was about, and delete it"
        ) from error
    seen = (replace(each, running=each.java is not None) for each in kafka.brokers)
    return replace(kafka, brokers=tuple(seen))


def _brokers_of(nodes: Mapping[int, Node]) -> tuple[DetachedBroker, ...]:
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


def _remove_state() -> None:
    """Remove the state file, since no broker is left."""
    _state_file().unlink(missing_ok=True)


def _write_state(kafka: DetachedKafka) -> None:
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
def _locked_state() -> Iterator[Path]:
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


_START_S = 90.0
_STOP_S = 30.0
_KILL_S = 5.0


@dataclass(frozen=True)
class Started:
    """The result of a start.

    Attributes:
        kafka: What runs now.
        already: Whether it ran before.
        cleaned: What had ended without being stopped and was cleaned up first.
    """

    kafka: DetachedKafka
    already: bool
    cleaned: DetachedKafka | None


def start(
    port: int | None = None,
    *,
    brokers: int | None = None,
    racks: Sequence[str] | None = None,
    heap: str | None = None,
    overrides: Mapping[str, str] | None = None,
    security: str | None = None,
    timeout: float = _START_S,
    progress: Callable[[str], None] | None = None,
) -> Started:
    """Start brokers that outlive this process, unless some already run.

    Args:
        port: The first broker's port; a free one by default.
        brokers: How many; one by default.
        racks: The rack of each.
        heap: Java's `-Xmx`, as `EmbeddedKafka` takes it.
        overrides: More server properties by Kafka's names.
        security: How clients reach it, as `EmbeddedKafka` takes it; PLAINTEXT for a new one by default.
        timeout: Seconds until it must answer.
        progress: Called with a few words at each step.

    Returns:
        What runs, and what else had to be done.

    Raises:
        PartwrightError: Other brokers than the requested ones already run, there is no such security, or the jars
            cannot be fetched.
        BrokerError: One does not start; the log's last lines are in the message.

    Examples:
        >>> start(9092).kafka.bootstrap_servers  # doctest: +SKIP
        '127.0.0.1:9092'
    """
    name = Security.named(security).name
    with _locked_state() as folder:
        earlier = status()
        if earlier is not None and earlier.running:
            other = next(_differences(earlier, port, brokers, racks, overrides, security and name), None)
            if other is not None:
                raise PartwrightError(
                    f"a broker runs already at {earlier.bootstrap_servers}{other}: stop it first with "
                    "`partwright broker stop`"
                )
            return Started(earlier, already=True, cleaned=None)
        kafka = EmbeddedKafka(
            brokers=1 if brokers is None else brokers,
            racks=racks,
            port=port,
            heap=heap,
            overrides=overrides,
            security=name,
            timeout=timeout,
            parent=folder,
            progress=progress,
        )
        if earlier is not None:
            _clean(earlier)
        with kafka:
            started = DetachedKafka(
                bootstrap_servers=kafka.bootstrap_servers,
                version=kafka.version,
                started=datetime.now(UTC).isoformat(timespec="seconds"),
                brokers=_brokers_of(kafka.nodes),
                security=kafka.security,
                command_config=str(kafka.command_config) if kafka.command_config else None,
            )
            try:
                _write_state(started)
                kafka.detach()
            except BaseException:
                _remove_state()
                raise
        return Started(started, already=False, cleaned=earlier)


def add(rack: str | None = None) -> DetachedKafka:
    """Start one more broker next to those that run; as `EmbeddedKafka.add`.

    Returns:
        What runs now; the new broker is the last one.

    Raises:
        PartwrightError: No broker is there, or the rack does not fit the others.
        BrokerError: It does not start.
    """
    return _changed(lambda cluster: cluster.add(rack))


def start_again(brokers: Sequence[int]) -> DetachedKafka:
    """Start stopped or killed brokers again; as `EmbeddedKafka.start`."""
    return _changed(lambda cluster: cluster.start(brokers))


def kill(brokers: Sequence[int], *, in_order: bool = False) -> DetachedKafka:
    """End brokers at once, or stop them in an orderly way; their records stay. As `EmbeddedKafka.kill`."""
    return _changed(lambda cluster: cluster.end(brokers, signal.SIGTERM if in_order else signal.SIGKILL))


def stop() -> DetachedKafka | None:
    """Stop all brokers and remove everything that they wrote, or clean up after those that ended without being stopped.

    Returns:
        What was there before; None if nothing was.

    Raises:
        BrokerError: One does not stop.
    """
    with _locked_state():
        kafka = status()
        if kafka is not None:
            _clean(kafka)
        return kafka


def internal_servers() -> str:
    """The plain-text addresses of the running brokers for a super user, separated by commas.

    Raises:
        PartwrightError: None runs.
    """
    kafka = status()
    servers = (
        [_settings(each).internal_bootstrap_servers for each in kafka.brokers if each.running]
        if kafka
        else []
    )
    if not servers:
        raise PartwrightError("no broker is running: `partwright broker start` starts one")
    return ",".join(servers)


def _differences(
    kafka: DetachedKafka,
    port: int | None,
    brokers: int | None,
    racks: Sequence[str] | None,
    overrides: Mapping[str, str] | None,
    security: str | None,
) -> Iterator[str]:
    """How the running brokers differ from the requested ones, a clause for each difference."""
    first = kafka.brokers[0]
    if port is not None and not first.bootstrap_servers.endswith(f":{port}"):
        yield f", not on port {port}"
    if security is not None and kafka.security != security:
        yield f" with {kafka.security}, not {security}"
    if brokers is not None and len(kafka.brokers) != brokers:
        yield f" with {counted(len(kafka.brokers), 'broker')}, not {brokers}"
    own_racks = [each.rack for each in kafka.brokers]
    if racks is not None and own_racks != list(racks):
        named = ", ".join(map(str, own_racks)) if any(own_racks) else "none"
        yield f" with the racks {named}, not {', '.join(racks)}"
    known = _settings(first).overrides if overrides else {}
    for name, value in (overrides or {}).items():
        if known.get(name) != value:
            yield f", not started with --config {name}={value}"


def _changed(change: Callable[[EmbeddedCluster], object]) -> DetachedKafka:
    """The state after a change of its brokers."""
    with _locked_state():
        kafka = status()
        if kafka is None:
            raise PartwrightError("no broker is there: `partwright broker start` starts one")
        nodes = [Node(_settings(each), each.supervisor, each.pid) for each in kafka.brokers]
        cluster = EmbeddedCluster(nodes, _START_S)
        try:
            change(cluster)
        finally:
            servers = ",".join(each.settings.bootstrap_servers for each in cluster.nodes.values())
            kafka = replace(kafka, bootstrap_servers=servers, brokers=_brokers_of(cluster.nodes))
            try:
                _write_state(kafka)
                for node in cluster.launched:
                    node.detach()
            except BaseException:
                cluster.close()
                raise
        return kafka


def _settings(broker: DetachedBroker) -> BrokerSettings:
    try:
        return BrokerSettings.of_folder(Path(broker.folder))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BrokerError(
            f"the settings of broker {broker.id} cannot be read ({error}): stop all with `partwright broker stop`"
        ) from error


def _clean(kafka: DetachedKafka) -> None:
    """End whatever is left of a Kafka, and remove its folders and the state file."""
    # A supervisor ends its broker with itself; only if the supervisor was killed is the broker ended here.
    left = [process for each in kafka.brokers if (process := each.supervisor_process)]
    _end(left)
    _end([process for each in kafka.brokers if (process := each.java)])
    collect_ended()
    for each in kafka.brokers:
        if each.java:
            raise BrokerError(
                f"the broker at {each.bootstrap_servers} does not stop: end its process {each.pid} yourself"
            )
        folder = Path(each.folder)
        if folder.parent == state_folder() and folder.name.startswith(FOLDER_PREFIX):
            shutil.rmtree(folder, ignore_errors=True)
    _remove_state()


def _end(processes: Sequence[Process]) -> None:
    """End processes side by side, and kill those that do not stop by themselves."""
    for process in processes:
        process.terminate()
    for process in processes:
        if not wait_until_gone(process, _STOP_S):
            process.kill()
            wait_until_gone(process, _KILL_S)
