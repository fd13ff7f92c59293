"""One launch of the embedded Kafka: the supervisor's process, what it tells, and how both are ended."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.errors import BrokerError, MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType

    from psutil import Process

    from partwright.kafka.embedded_properties import BrokerSettings

__all__ = ["BrokerProcess", "log_tail", "psutil_module", "runs_for", "wait_until_gone"]

_SUPERVISE = Path(__file__).with_name("embedded_supervisor.py")
# The supervisor gives the broker twenty seconds to stop.
_STOP_S = 30.0
_POLL_S = 0.02
_TAIL_BYTES = 1 << 16
_LINE_CHARACTERS = 400


def psutil_module() -> ModuleType:
    """The module psutil, which belongs to an extra.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import psutil
    except ImportError as error:
        raise MissingExtraError("psutil is missing: pip install 'partwright[kafka]'") from error
    module: ModuleType = psutil
    return module


def log_tail(log: Path, lines: int) -> list[str]:
    """The last lines of a log that say something.

    Indented lines are left out: they are Java's stack frames, or the broker's few hundred settings, behind
    which the cause would be lost.

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
    said = [line[:_LINE_CHARACTERS] for line in text.splitlines() if line and not line.startswith("\t")]
    return said[-lines:]


def runs_for(pid: int, folder: Path) -> Process | None:
    """The process of that id if it is one that was started for a broker's folder, as `psutil.Process`.

    Args:
        pid: Its process id, which by now may have been given to some other process.
        folder: The broker's folder, whose name no other broker's has.

    Returns:
        The process; None where it has ended, also if its parent has yet to collect it, or is another one.
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


def wait_until_gone(process: Process, seconds: float) -> bool:
    """Whether a `psutil.Process` ends within some seconds, and with it all that it held open."""
    deadline = time.monotonic() + seconds
    while _is_left(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _is_left(process: Process) -> bool:
    """Whether a process has not ended; one that only waits for its parent to collect it has.

    A killed JVM is a zombie before the last of its threads is gone, and till then its ports are taken.
    """
    psutil = psutil_module()
    try:
        if not process.is_running():
            return False
        return bool(process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1)
    except psutil.NoSuchProcess:
        return False


class BrokerProcess:
    """A supervisor that was launched, and the broker that it runs for this process.

    Args:
        settings: What the broker is told.

    Attributes:
        settings: The same.
        supervisor: The supervisor's process.
        pid: The process id of the Java that runs, or ran last; 0 before the first.
        serving: Whether that Java is the broker itself, the data folder being formatted.
        why_ended: In words, why nothing runs any more; None while something does.
    """

    def __init__(self, settings: BrokerSettings) -> None:
        files = {name: base64.b64encode(content).decode() for name, content in settings.files.items()}
        commands = settings.commands
        self.settings = settings
        self.pid = 0
        self.serving = False
        self.why_ended: str | None = None
        self._steps_left = len(commands)
        self._unread = b""
        # Its own session keeps Ctrl-C away; the pipes are closed in whatever else this process starts.
        self.supervisor = subprocess.Popen(  # noqa: S603 - a list, no shell: our own supervisor
            [sys.executable, "-I", "-S", str(_SUPERVISE), str(settings.folder), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        self._say(json.dumps({"files": files, "commands": commands}))

    @property
    def log(self) -> Path:
        """The broker's log."""
        return self.settings.folder / "broker.log"

    def listen(self, seconds: float) -> None:
        """Take in what the supervisor has told, waiting for it at most so many seconds."""
        if self.why_ended is not None or self.supervisor.stdout is None:
            return
        pipe = self.supervisor.stdout.fileno()
        if not select.select([pipe], [], [], seconds)[0]:
            return
        told = os.read(pipe, 1 << 16)
        if not told:
            self.why_ended = "lost its supervisor"
        *lines, self._unread = (self._unread + told).split(b"\n")
        for line in lines:
            self._take(**json.loads(line))

    def detach(self) -> None:
        """Let the broker outlive this process: from now on only SIGTERM to the supervisor stops it."""
        self._say("detach")
        self._close_pipes()

    def kill(self) -> None:
        """End the broker at once, as a crash would, and return when it is gone."""
        java = runs_for(self.pid, self.settings.folder)
        if java is not None:
            with suppress(psutil_module().NoSuchProcess):
                java.kill()
            wait_until_gone(java, _STOP_S)

    def stop(self) -> None:
        """Stop the broker and remove its folder; once the lifeline is closed, that happens in any case."""
        self._close_pipes()
        try:
            self.supervisor.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.supervisor.kill()
            self.supervisor.wait()
        if self.supervisor.returncode:
            # It was killed, and could not clean up.
            self.kill()
            shutil.rmtree(self.settings.folder, ignore_errors=True)

    def _take(self, event: str, pid: int = 0, code: int = 0, why: str = "") -> None:
        """One line that the supervisor told."""
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
