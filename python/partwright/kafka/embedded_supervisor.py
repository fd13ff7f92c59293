"""Run a broker for another process; when that process is gone, stop the broker and remove its folder.

It is run by its path and isolated, so that it needs only the standard library and starts at once: `python -I -S
embedded_supervisor.py FOLDER PARENT`.  Its standard input is the lifeline: the first line says, as JSON, what to run;
the line `detach` says that the broker shall outlive the other process; the end of the input, which also comes when that
process is killed, means stop. SIGTERM means stop too, and SIGUSR1 means: run a broker that has ended again. It reports
on standard output, one JSON object a line, what it started and what ended.

FOLDER is made here and not by the other process, so that there is always somebody who will remove it.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

# After a signal to stop, a broker closes its logs within about two seconds.
_GRACE_S = 20.0
# How soon the end of the other process is noticed if a child that it forked still holds the lifeline.
_LOOK_S = 1.0


class _ToldToStopError(Exception):
    """The other process is gone or no longer needs the broker."""


class Supervisor:
    """Looks after one broker.

    Args:
        folder: The folder for everything that the broker writes. It is made at the beginning and removed at the end.
        parent: The process id of the process for which the broker runs.
    """

    def __init__(self, folder: Path, parent: int) -> None:
        self._folder = folder
        self._parent = parent
        self._detached = False
        self._made = False
        self._again = False
        self._child: subprocess.Popen[bytes] | None = None
        self._waiter = threading.Thread()
        # A signal handler may put something into a simple queue.
        self._events: queue.SimpleQueue[str] = queue.SimpleQueue()

    def run(self) -> None:
        """Run the commands in the first line of the lifeline, and leave nothing behind."""
        # Only the user may read what the broker writes, whatever umask the starter has.
        os.umask(0o077)
        # Ctrl-C and a closed terminal concern the other process: when it ends, the lifeline ends too.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: self._events.put("stop"))
        signal.signal(signal.SIGUSR1, lambda *_: self._events.put("again"))
        order = sys.stdin.buffer.readline()
        if not order:
            return
        threading.Thread(target=self._read_lifeline, daemon=True).start()
        try:
            with suppress(_ToldToStopError):
                self._serve(**json.loads(order))
        finally:
            self._stop_child()
            if self._made:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self, files: dict[str, str], commands: list[list[str]]) -> None:
        """Write the files and run the commands until told to stop; run a broker that has ended again on request.

        Args:
            files: The contents of each file, in base64, by its name in the folder.
            commands: The commands, the broker last.

        Raises:
            _ToldToStopError: Always, in the end.
        """
        try:
            self._folder.mkdir(mode=0o700)
            self._made = True
            (self._folder / "tmp").mkdir()
            for name, content in files.items():
                (self._folder / name).write_bytes(base64.b64decode(content))
            *preparing, broker = commands
            while not any(self._run(command) for command in preparing):
                preparing.clear()
                self._run(broker)
                # Its files stay until then.
                self._wait("again")
        except OSError as error:
            _tell(event="failed", why=str(error))
        # The other process may still read the log.
        self._wait("")

    def _run(self, command: list[str]) -> int:
        """Run a command until it ends, and return its exit code."""
        child = self._start(command)
        self._wait("ended")
        _tell(event="ended", code=child.returncode)
        return int(child.returncode)

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "broker.log").open("ab") as log:
            # partwright.kafka.embedded_properties built the command; it contains no secret.
            child = subprocess.Popen(  # noqa: S603 - a list, no shell: the broker's command
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                start_new_session=True,
            )
        self._child = child
        self._waiter = threading.Thread(target=self._wait_for, args=(child,), daemon=True)
        self._waiter.start()
        _tell(event="started", pid=child.pid)
        return child

    def _wait(self, awaited: str) -> None:
        """Wait until the child has `ended` or shall run `again`.

        Raises:
            _ToldToStopError: It shall stop.
        """
        # A process that saw the child end may have asked for a restart before its end was noticed here.
        while not (awaited == "again" and self._again):
            try:
                event = self._events.get(timeout=None if self._detached else _LOOK_S)
            except queue.Empty:
                if os.getppid() != self._parent:
                    raise _ToldToStopError from None
                continue
            if event == "detach":
                self._detached = True
            elif event == "again":
                self._again = True
            elif event == "stop" or (event == "cut" and not self._detached):
                raise _ToldToStopError
            elif event == awaited:
                return
        self._again = False

    def _read_lifeline(self) -> None:
        for line in sys.stdin.buffer:
            self._events.put(line.decode().strip())
        self._events.put("cut")

    def _wait_for(self, child: subprocess.Popen[bytes]) -> None:
        child.wait()
        self._events.put("ended")

    def _stop_child(self) -> None:
        if self._child is None:
            return
        self._child.terminate()
        self._waiter.join(_GRACE_S)
        self._child.kill()
        self._waiter.join()


def _tell(**message: object) -> None:
    # Nobody listens any more if the other process is gone or the broker is detached.
    with suppress(OSError):
        os.write(sys.stdout.fileno(), json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    Supervisor(Path(sys.argv[1]), int(sys.argv[2])).run()
