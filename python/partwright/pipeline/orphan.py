"""Spark's Java of a killed run may still write for a moment; the next run waits for its end."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from partwright.errors import PartwrightError
from partwright.kafka.embedded_node import psutil_module, wait_until_gone

__all__ = ["JavaProcess", "java_of_pid", "wait_for_orphan"]

WAIT_S = 30.0
"""Java ends within two seconds of its Python, unless a task hangs on a silent broker."""


class JavaProcess(NamedTuple):
    """A process of Spark's Java.

    Attributes:
        pid: Its process id.
        created: When it began, in seconds since 1970: systems reuse process IDs.
        driver: The process id of the run's Python.
    """

    pid: int
    created: float
    driver: int


def java_of_pid(pid: int | None) -> JavaProcess | None:
    """The Java process with that ID, which runs Spark for this process; None if there is none."""
    if pid is None:
        return None
    psutil = psutil_module()
    try:
        return JavaProcess(pid, psutil.Process(pid).create_time(), os.getpid())
    except psutil.Error:
        return None


def _orphan(java: JavaProcess) -> Any:
    """The process (psutil's), if it still runs and its Python does not; else None."""
    psutil = psutil_module()
    try:
        process = psutil.Process(java.pid)
        if process.create_time() == java.created and process.ppid() != java.driver:
            return process
    except psutil.Error:
        pass
    return None


def wait_for_orphan(java: JavaProcess, target: str) -> None:
    """Wait until nothing of an earlier run writes any more.

    Raises:
        PartwrightError: It does not end.
    """
    process = _orphan(java)
    if process is not None and not wait_until_gone(process, WAIT_S):
        raise PartwrightError(
            f"Spark's Java of an earlier run (process {java.pid}) may still write to {target}, although that run was "
            "killed: wait for its end, or end it"
        )
