"""Processes on this machine: which one runs a broker, when it is gone, and the last lines of its log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from partwright.errors import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from psutil import Process

__all__ = ["log_tail", "psutil_module", "runs_for", "started_by", "wait_until_gone"]

_POLL_S = 0.02
_TAIL_BYTES = 1 << 16
_LINE_CHARACTERS = 400


def psutil_module() -> ModuleType:
    """The module psutil, which an extra installs.

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
    said = [line[:_LINE_CHARACTERS] for line in text.splitlines() if line and not line.startswith("\t")]
    return said[-lines:]


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
    return next((found for child in children if (found := runs_for(child.pid, folder))), None)


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
