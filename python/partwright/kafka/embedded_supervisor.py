"""Runs a broker for another process; once that process is gone, stops the broker and removes its folder.

It is run by its path and isolated, so that it needs the standard library alone and starts at once:
`python -I -S embedded_supervisor.py FOLDER PARENT`.  Its standard input is the lifeline: the first line says, as JSON,
what to run; the line `detach` says that the broker is to outlive the other process; the end of the input,
which also comes when that process is killed, says to stop.  On standard output it tells, one JSON object
a line, what it started and what ended.

FOLDER is made here and not by the other process, so that at no moment would nobody remove it.
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

# A broker that is told to stop closes its logs within about two seconds.
_GRACE_S = 20.0
# How soon the other process's end is seen where a child that it forked still holds the lifeline.
_LOOK_S = 1.0


class Supervisor:
    """Looks after one broker.

    Args:
        folder: What the broker writes into; made at the beginning, removed at the end.
        parent: The process id of the process for which it runs.
    """

    def __init__(self, folder: Path, parent: int) -> None:
        self._folder = folder
        self._parent = parent
        self._detached = False
        self._made = False
        self._child: subprocess.Popen[bytes] | None = None
        self._waiter = threading.Thread()
        # A simple queue may be put to by a signal's handler.
        self._events: queue.SimpleQueue[str] = queue.SimpleQueue()

    def run(self) -> None:
        """Run what the first line of the lifeline says, and leave nothing behind."""
        # What the broker writes is its user's alone, whatever the umask of whoever started it.
        os.umask(0o077)
        # Ctrl-C and a closed terminal are for the other process: when it ends, so does the lifeline.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: self._events.put("stop"))
        order = sys.stdin.buffer.readline()
        if not order:
            return
        threading.Thread(target=self._read_lifeline, daemon=True).start()
        keep_for_reading = False
        try:
            keep_for_reading = self._serve(**json.loads(order))
        finally:
            if not keep_for_reading:
                self._stop_child()
                if self._made:
                    shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self, files: dict[str, str], commands: list[list[str]]) -> bool:
        """Write the files and run the commands until told to stop.

        Args:
            files: What is in each file, in base64, by its name in the folder.
            commands: The commands, the broker last.

        Returns:
            Whether the log of a broker that ended unasked is to stay.
        """
        try:
            self._folder.mkdir(mode=0o700)
            self._made = True
            (self._folder / "tmp").mkdir()
            for name, content in files.items():
                (self._folder / name).write_bytes(base64.b64decode(content))
            for command in commands:
                child = self._start(command)
                if self._next_event() == "stop":
                    return False
                _tell(event="ended", code=child.returncode)
                if child.returncode:
                    break
        except OSError as error:
            _tell(event="failed", why=str(error))
        # The other process still reads the log; a detached broker's is read by the next start or stop.
        return self._detached or self._next_event() != "stop"

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "broker.log").open("ab") as log:
            # The command was put together by partwright.kafka.embedded_properties; no secret is in it.
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

    def _next_event(self) -> str:
        """`ended` when the child has, `stop` when it shall."""
        while True:
            try:
                event = self._events.get(timeout=None if self._detached else _LOOK_S)
            except queue.Empty:
                if os.getppid() != self._parent:
                    return "stop"
                continue
            if event == "detach":
                self._detached = True
            elif event != "cut":
                return event
            elif not self._detached:
                return "stop"

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
    # Nobody listens any more when the other process is gone or the broker detached.
    with suppress(OSError):
        os.write(sys.stdout.fileno(), json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    Supervisor(Path(sys.argv[1]), int(sys.argv[2])).run()
