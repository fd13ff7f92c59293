"""A broker of the embedded Kafka and its supervisor: launched by this process, or found running."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from partwright.errors import BrokerError
from partwright.kafka.extras import extra_package

if TYPE_CHECKING:
    from psutil import Process

    from partwright.kafka.embedded_properties import BrokerSettings

_POLL_S = 0.02
_TAIL_BYTES = 1 << 16
_LINE_CHARACTERS = 400


def psutil_module() -> ModuleType:
    """The module psutil, which an extra installs.

    Raises:
        MissingExtraError: It is not installed.
    """
    with extra_package("psutil"):
        import psutil
    module: ModuleType = psutil
    return module


def log_tail(log: Path, lines: int) -> list[str]:
    """The last lines of a log that carry information.

    Indented lines are left out: they are Java's stack frames or the broker's few hundred settings, and would hide the
    cause.

    Args:
        log: The file; it may be absent.
        lines: How many lines at most.

    Returns:
        The lines, oldest first, each cut to a few hundred characters.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    shown = [line[:_LINE_CHARACTERS] for line in text.splitlines() if line and not line.startswith("\t")]
    return shown[-lines:]


def runs_for(pid: int, folder: Path) -> Process | None:
    """The process with this id, as `psutil.Process`, if it was started for a broker's folder.

    Args:
        pid: Its process id; by now another process may have it.
        folder: The broker's folder; its name is unique.

    Returns:
        The process; None if it has ended (even if its parent has yet to collect it) or if another process has the id.
    """
    psutil = psutil_module()
    try:
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE and any(
            str(folder) in word for word in process.cmdline()
        ):
            return process
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        pass
    return None


def started_by(supervisor: int, folder: Path) -> Process | None:
    """The child of a broker's supervisor that runs in the broker's folder; None if there is no such process."""
    psutil = psutil_module()
    try:
        children = psutil.Process(supervisor).children()
    except psutil.NoSuchProcess:
        return None
    return next((process for child in children if (process := runs_for(child.pid, folder))), None)


def wait_until_gone(process: Process, seconds: float) -> bool:
    """Whether a `psutil.Process` ends within some seconds and releases everything that it held open."""
    deadline = time.monotonic() + seconds
    while _is_left(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _is_left(process: Process) -> bool:
    """Whether a process still runs. A process that only waits for its parent to collect it has ended.

    A killed JVM becomes a zombie before its last thread is gone; until then its ports are in use.
    """
    psutil = psutil_module()
    try:
        if not process.is_running():
            return False
        return bool(process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1)
    except psutil.NoSuchProcess:
        return False


_SUPERVISE = Path(__file__).with_name("embedded_supervisor.py")
# The supervisor gives the broker twenty seconds to stop.
_STOP_S = 30.0
_LISTEN_S = 0.05
_LOG_LINES = 20

# Supervisors that this process launched and detached: it must collect them when they end.
_detached: list[subprocess.Popen[bytes]] = []


def collect_ended() -> None:
    """Collect the supervisors that were detached and have ended since, which otherwise stay as zombies."""
    _detached[:] = [child for child in _detached if child.poll() is None]


class Node:
    """A broker with its supervisor, whoever launched them.

    Args:
        settings: The broker's settings.
        supervisor_pid: The process id of its supervisor.
        pid: The process ID of its Java; 0 if that is not known yet.

    Attributes:
        settings: As given.
        supervisor_pid: As given.
        pid: The process id of the Java that runs, or ran last; 0 before the first.
        serving: Whether that Java is the broker itself, the data folder being formatted.
        why_ended: In words, why nothing runs any more; None while something does.
    """

    def __init__(self, settings: BrokerSettings, supervisor_pid: int, pid: int) -> None:
        self.settings = settings
        self.supervisor_pid = supervisor_pid
        self.pid = pid
        self.serving = pid != 0
        self.why_ended: str | None = None

    @property
    def log(self) -> Path:
        """The broker's log."""
        return self.settings.folder / "broker.log"

    @property
    def is_running(self) -> bool:
        """Whether its Java runs now."""
        return self._java() is not None

    def log_tail(self, lines: int = _LOG_LINES) -> list[str]:
        """The last lines of the broker's log, without Java's stack frames."""
        return log_tail(self.log, lines)

    def end(self, number: int) -> None:
        """Send its Java a signal that ends it; `wait_until_ended` returns when it has."""
        java = self._java()
        if java is not None:
            with suppress(psutil_module().NoSuchProcess):
                java.send_signal(number)

    def wait_until_ended(self) -> None:
        """Return when its Java is gone; one that does not stop in half a minute is killed."""
        java = self._java()
        if java is not None and not wait_until_gone(java, _STOP_S):
            self.end(signal.SIGKILL)
            wait_until_gone(java, _STOP_S)

    def run_again(self) -> None:
        """Let the supervisor start the ended broker again, in the same folder with its data.

        Raises:
            BrokerError: The supervisor is gone.
        """
        supervisor = runs_for(self.supervisor_pid, self.settings.folder)
        if supervisor is None:
            raise BrokerError(
                f"the supervisor of broker {self.settings.node_id}, process {self.supervisor_pid}, was killed, and "
                "nobody can start the broker again: stop all brokers, and start them anew"
            )
        self.pid, self.serving, self.why_ended = 0, False, None
        supervisor.send_signal(signal.SIGUSR1)

    def listen(self, seconds: float) -> None:
        """Check what runs, after that many seconds."""
        time.sleep(seconds)
        java = self._java()
        if java is not None:
            self.pid, self.serving = java.pid, True
        elif self.pid:
            self.why_ended = "ended"

    def _java(self) -> Process | None:
        folder = self.settings.folder
        return runs_for(self.pid, folder) if self.pid else started_by(self.supervisor_pid, folder)


class BrokerProcess(Node):
    """A supervisor that this process launched, and the broker that the supervisor runs.

    Args:
        settings: The settings of the broker.

    Attributes:
        supervisor: The supervisor's process.
    """

    def __init__(self, settings: BrokerSettings) -> None:
        files = {name: base64.b64encode(content).decode() for name, content in settings.files.items()}
        commands = settings.commands
        self._steps_left = len(commands)
        self._unread = b""
        # Its own session keeps Ctrl-C away. Other children of this process do not inherit the pipes.
        self.supervisor = subprocess.Popen(  # noqa: S603 - a list, no shell: our own supervisor
            [sys.executable, "-I", "-S", str(_SUPERVISE), str(settings.folder), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        super().__init__(settings, self.supervisor.pid, 0)
        self._say(json.dumps({"files": files, "commands": commands}))

    def run_again(self) -> None:
        """Let the supervisor start the ended broker again, in the same folder with its data."""
        while self.why_ended is None:
            # A late message about the ended broker must not be taken for the end of the next one.
            self.listen(_LISTEN_S)
        self._steps_left = 1
        super().run_again()

    def listen(self, seconds: float) -> None:
        """Read the supervisor's messages, waiting for them at most that many seconds."""
        if self.why_ended is not None or self.supervisor.stdout is None:
            return
        pipe = self.supervisor.stdout.fileno()
        if not select.select([pipe], [], [], seconds)[0]:
            return
        received = os.read(pipe, 1 << 16)
        if not received:
            self.why_ended = "lost its supervisor"
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in lines:
            self._take(**json.loads(line))

    def detach(self) -> None:
        """Let the broker outlive this process: from now on only SIGTERM to the supervisor stops it."""
        self._say("detach")
        self._close_pipes()
        _detached.append(self.supervisor)

    def let_go(self) -> None:
        """Tell the supervisor to stop the broker and to remove its folder; `stop` returns when that is done."""
        self._close_pipes()

    def stop(self) -> None:
        """Stop the broker and remove its folder; once the lifeline is closed, that happens in any case."""
        self.let_go()
        try:
            self.supervisor.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.supervisor.kill()
            self.supervisor.wait()
        if self.supervisor.returncode:
            # The supervisor was killed and could not clean up.
            self.end(signal.SIGKILL)
            self.wait_until_ended()
            shutil.rmtree(self.settings.folder, ignore_errors=True)

    def _take(self, event: str, pid: int = 0, code: int = 0, why: str = "") -> None:
        """Handle one line of the supervisor's output."""
        if event == "started":
            self.pid = pid
            self._steps_left -= 1
            self.serving = self._steps_left == 0
        elif event == "failed":
            self.why_ended = f"cannot be run ({why})"
        elif code or self.serving:
            self.why_ended = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def _say(self, line: str) -> None:
        if self.supervisor.stdin is None:
            return
        try:
            self.supervisor.stdin.write(line.encode() + b"\n")
            self.supervisor.stdin.flush()
        except BrokenPipeError as error:
            raise BrokerError("the embedded Kafka's supervisor has ended: was it killed?") from error

    def _close_pipes(self) -> None:
        for pipe in (self.supervisor.stdin, self.supervisor.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
