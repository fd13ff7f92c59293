"""Spark's Java of a run whose own process was killed: it may write for a moment more, which its successor waits for."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from partwright.errors import PartwrightError
from partwright.kafka.embedded_process import psutil_module, wait_until_gone

__all__ = ["Java", "java_of_pid", "wait_for_orphan"]

WAIT_S = 30.0
"""Java ends within two seconds of its Python, unless a task does not let go of a broker that is silent."""


class Java(NamedTuple):
    """A process of Spark's Java.

    Attributes:
        pid: Its process id.
        created: When it began, in seconds since 1970: a process id is given again.
        driver: The process id of the run's Python.
    """

    pid: int
    created: float
    driver: int


def java_of_pid(pid: int | None) -> Java | None:
    """The process of that id, for which this process runs Spark; None where there is none."""
    if pid is None:
        return None
    psutil = psutil_module()
    try:
        return Java(pid, psutil.Process(pid).create_time(), os.getpid())
    except psutil.Error:
        return None


def _orphan(java: Java) -> Any:
    """The process, as psutil has it, where it still runs and its Python does not; else None."""
    psutil = psutil_module()
    try:
        process = psutil.Process(java.pid)
        if process.create_time() == java.created and process.ppid() != java.driver:
            return process
    except psutil.Error:
        pass
    return None


def wait_for_orphan(java: Java, target: str) -> None:
    """Returns once nothing of an earlier run writes any more.

    Raises:
        PartwrightError: It does not end.
    """
    process = _orphan(java)
    if process is not None and not wait_until_gone(process, WAIT_S):
        raise PartwrightError(
            f"Spark's Java of an earlier run (process {java.pid}) may still write to {target}, although that run was "
            "killed: wait for its end, or end it"
        )
